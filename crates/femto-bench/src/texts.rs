//! Kernels of operators as texts, for devices that need not exist.

use crate::meshed_space::MeshedSpace;
use crate::{BenchError, MeshShape};
use femto::OperatorParams;
use femto::operator::{AnyForm, Auxiliary, KernelTarget, OperatorError};
use femto_fem::space::{Block, Space, SpaceParams};
use femto_kernel::family::{BlockError, BlockKernels};

impl MeshShape {
    /// The kernels of the operator of a form on a few of these cells; `auxiliary` makes its fields, in place of those of
    /// `params`.
    ///
    /// # Errors
    /// As [`KernelTarget::kernels`].
    pub fn kernels(
        self,
        target: KernelTarget,
        degree: usize,
        form: &dyn AnyForm,
        auxiliary: impl FnOnce(&Space) -> Vec<Auxiliary>,
        params: OperatorParams,
    ) -> Result<Box<dyn BlockKernels>, BenchError> {
        let space = SpaceParams {
            degree: degree.into(),
            components: form.trace().components(),
            ..SpaceParams::default()
        };
        // Enough at low degrees for the blocks of large meshes.
        let cells = (8 / degree.max(1)).max(2);
        let MeshedSpace {
            space, geometry, ..
        } = MeshedSpace::new(self, [cells; 3], space, &[])?;
        let params = OperatorParams {
            auxiliary: auxiliary(&space),
            ..params
        };
        let kernels = target.kernels(&Block { space, geometry }, form, &params)?;
        // The maps of a shape are of one kind.
        let of_kind = kernels.into_iter().next();
        Ok(of_kind
            .ok_or(BlockError::NoSchedule)
            .map_err(OperatorError::from)?)
    }
}
