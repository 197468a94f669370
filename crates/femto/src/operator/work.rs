//! What an application costs: work, and the memory that is held for it.

use super::facets::FacetTerm;
use super::{Backend, Bound as _, BoundShape, Operator, OperatorError};
use crate::Number;
use crate::vector::{SparseMatrix, VectorOps};
use femto_kernel::roofline::Work;

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
