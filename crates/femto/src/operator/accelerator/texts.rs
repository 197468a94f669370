//! The kernels of an operator as texts, for a device that need not exist.

use super::pack::Packer;
use crate::operator::plan::{FieldPlace, Plan};
use crate::operator::{AnyForm, Binding, OperatorError, OperatorParams};
use femto_fem::space::Block;
use femto_kernel::dialect::Language;
use femto_kernel::family::{BlockKernels, Elements, Limits, Target};
use femto_kernel::scalar::Precision;
use femto_platform::device::DeviceKind;

/// A device that compiles kernels, as far as they depend on it, and a precision.
#[derive(Clone, Copy, Debug)]
pub struct KernelTarget {
    /// The language of its compiler.
    pub language: Language,
    /// Its limits.
    pub limits: Limits,
    /// The precision of vectors and arithmetic.
    pub precision: Precision,
}

impl KernelTarget {
    /// The target of an operator's kernels.
    pub(super) fn of(self, binding: &Binding<'_>) -> Target {
        Target {
            language: self.language,
            limits: self.limits,
            precision: self.precision,
            factors: binding.plan.factors,
            knobs: binding.params.knobs,
            vectors: super::vectors(binding),
            is_applied_once: binding.params.is_applied_once,
        }
    }

    /// The kernels of the operator of `form` on one block, for each kind of map in it, that [`Operator`](crate::Operator) would
    /// choose from.
    ///
    /// # Errors
    /// As [`Operator::new`](crate::Operator::new), but for memory; a form that cannot be printed.
    pub fn kernels(
        self,
        block: &Block,
        form: &dyn AnyForm,
        params: &OperatorParams,
    ) -> Result<Vec<Box<dyn BlockKernels>>, OperatorError> {
        let kind = match self.language {
            Language::Cuda => DeviceKind::Cuda,
            Language::OpenCl => DeviceKind::OpenCl,
        };
        let plan = Plan::new(kind, block, form, params, FieldPlace::default())?;
        let Block { space, geometry } = block;
        let end = FieldPlace {
            cells: plan.elements,
            points: plan.end_of_points(),
        };
        params.check_auxiliary(space.nodes(), end)?;
        let binding = Binding {
            space,
            geometry,
            form,
            params,
            plan: &plan,
        };
        binding.check_geometry()?;
        let target = self.of(&binding);
        let packers = Packer::all(&binding);
        let kernels = packers.iter().map(|packer| {
            let elements: &dyn Elements = packer;
            Ok(packer.block.kernels(&target, elements)?)
        });
        kernels.collect()
    }
}
