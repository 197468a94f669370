//! What an application costs: work, and the memory that is held for it.

use super::facets::FacetTerm;
use super::plan::{KindPlan, Plan};
use super::{Backend, Bound as _, BoundShape, Operator, OperatorError};
use crate::Number;
use crate::vector::{SparseMatrix, VectorOps};
use femto_fem::space::Space;
use femto_kernel::family::FamilyId;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::roofline::Work;
use femto_kernel::scalar::Precision;

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
    /// Counts the wavefronts of the L1 data path that the kernels of one [`Operator::apply`] take, for
    /// [`Operator::work`]: runs counting copies of them once, on zero vectors and all elements. They are many times
    /// slower; where the GPU also drives a display, its driver may end a long one and the context with it. Only on
    /// NVIDIA's GPUs; does nothing elsewhere. Zeroing, summing by other kernels and products with sparse matrices are
    /// not counted.
    ///
    /// # Errors
    /// From the device: not enough memory for two L-vectors, a driver that is older than the compiler.
    pub fn count_wavefronts(&self) -> Result<(), OperatorError> {
        let (context, dofs) = (self.context(), self.sizes.dofs);
        if self.sparse.is_none() {
            let mut shapes = self.shapes.iter();
            shapes.try_for_each(|shape| shape.bound.count_wavefronts(&context, dofs))?;
        }
        let mut facets = self.facets.iter();
        facets.try_for_each(|term| term.operator.count_wavefronts())
    }

    /// The same of one [`Operator::apply_elements`], for [`Operator::element_work`].
    ///
    /// # Errors
    /// As [`Operator::count_wavefronts`].
    pub fn count_element_wavefronts(&self) -> Result<(), OperatorError> {
        let context = self.context();
        let mut shapes = self.shapes.iter();
        shapes.try_for_each(|shape| {
            let dofs = shape.element_dofs();
            shape.bound.count_element_wavefronts(&context, dofs)
        })
    }

    /// Work of one [`Operator::apply`] on L-vectors.
    pub fn work(&self) -> Work {
        let cells = match &self.sparse {
            Some(matrix) => matrix.work(false),
            None => self.work_of_shapes(),
        };
        cells + self.facets.iter().map(FacetTerm::work).sum()
    }

    /// Work of a product with the shapes.
    pub(super) fn work_of_shapes(&self) -> Work {
        let of_shape = |shape: &BoundShape<T, D>| {
            let planned = shape.plan.work(T::PRECISION);
            shape.bound.work(shape.plan.dofs, planned)
        };
        self.shapes.iter().map(of_shape).sum()
    }

    /// Work of one [`Operator::apply_elements`].
    pub fn element_work(&self) -> Work {
        let of_shape = |shape: &BoundShape<T, D>| {
            let planned = shape.plan.element_work(T::PRECISION);
            shape.bound.element_work(shape.element_dofs(), planned)
        };
        self.shapes.iter().map(of_shape).sum()
    }

    /// Flops of one application as the literature counts them (full 1-D products; Świrydowicz et al. 2019).
    pub fn nominal_flops(&self) -> u64 {
        let facets = self.facets.iter().map(|term| term.operator.nominal_flops());
        let shapes = self.shapes.iter().map(|shape| shape.plan.nominal_flops());
        shapes.chain(facets).sum()
    }

    /// Bytes of device memory that the operator holds, apart from vectors. Of lists that operators on the same space
    /// share it counts its part.
    pub fn bytes(&self) -> usize {
        let shapes = self.shapes.iter().map(|shape| shape.bound.bytes());
        let facets = self.facets.iter().map(FacetTerm::bytes);
        let matrix = self.sparse.iter().map(SparseMatrix::bytes);
        shapes.chain(facets).chain(matrix).sum()
    }
}

impl<T: Number, D: Backend> BoundShape<T, D> {
    /// Length of an E-vector of the shape.
    fn element_dofs(&self) -> usize {
        (self.plan.elements as u64 * self.plan.element_dofs()) as usize
    }
}

impl Plan {
    /// Work on L-vectors: input, output, indices, geometry and auxiliary fields, each once.
    pub(crate) fn work(&self, precision: Precision) -> Work {
        let vector = (self.dofs * precision.bytes()) as u64;
        let read = vector + self.nodal_field_bytes(precision) + self.index_bytes;
        self.total(precision, read, vector)
    }

    /// Work on E-vectors.
    pub(crate) fn element_work(&self, precision: Precision) -> Work {
        let numbers: u64 = self
            .kinds
            .iter()
            .map(|plan| plan.elements as u64 * self.element_dofs())
            .sum();
        let vector = numbers * precision.bytes() as u64;
        let fields = match self.nodal_field_bytes(precision) {
            0 => 0,
            bytes => bytes + self.index_bytes,
        };
        self.total(precision, vector + fields, vector)
    }

    /// Bytes of the auxiliary fields at nodes, which elements read from L-vectors.
    fn nodal_field_bytes(&self, precision: Precision) -> u64 {
        let mut kinds = self.kinds.iter();
        let fields = match kinds.all(|kind| kind.block.folds_coefficients()) {
            true => 0,
            false => self.operator.fields.count(FieldKind::Nodal),
        };
        let nodes = self.dofs / self.operator.inspection.components;
        (nodes * fields * precision.bytes()) as u64
    }

    fn total(&self, precision: Precision, read: u64, written: u64) -> Work {
        let elements = |plan: &KindPlan| {
            let stored = plan.block.stored_precision(self.factors, precision);
            let geometry = (plan.block.geometry_numbers() * stored.bytes()) as u64;
            let fields = self.field_numbers(plan).iter().sum::<usize>() * precision.bytes();
            Work {
                bytes_read: plan.elements as u64 * (geometry + fields as u64),
                flops: plan.elements as u64 * plan.block.scheduled_flops(),
                ..Work::default()
            }
        };
        let mut kinds = self.kinds.iter();
        let coordinates = match kinds.any(|kind| kind.block.reads_vertices()) {
            true => self.coordinates * precision.bytes(),
            false => 0,
        };
        let vectors = Work {
            bytes_read: read + coordinates as u64,
            bytes_written: written,
            ..Work::default()
        };
        vectors + self.kinds.iter().map(elements).sum()
    }

    /// Flops as the literature counts them.
    pub(crate) fn nominal_flops(&self) -> u64 {
        self.kinds
            .iter()
            .map(|plan| plan.elements as u64 * plan.block.nominal_flops())
            .sum()
    }
}

/// Bytes of node indices that one application on the host reads: 16-bit tables of the elements,
/// the chunks' lists of shared nodes (read twice) and the list of their sources.
pub(super) fn index_bytes(family: FamilyId, space: &Space) -> u64 {
    let restriction = space.restriction();
    let nodes = (space.degree().horizontal + 1, space.nodes_per_element());
    let table = family.node_table(space.cell(), nodes);
    let table = table.len(1) * space.elements();
    let lists = 2 * restriction.interface.len() + restriction.interface_sources_offsets.len();
    (table * size_of::<u16>() + lists * size_of::<u32>()) as u64
}
