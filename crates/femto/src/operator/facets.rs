//! Integrals over boundary facets as terms of an operator.

use super::{AnyForm, Backend, Operator, OperatorError, OperatorParams};
use crate::Number;
use crate::pool::Pool;
use crate::vector::{Entries, VectorOps};
use femto_fem::space::Trace;
use femto_kernel::roofline::Work;
use femto_kernel::vector::{ADD_TO_ENTRIES, GATHER};
use std::fmt;

/// The operator of a form on the facets of a group, between L-vectors of the cells.
pub(crate) struct FacetTerm<T: Number, D: Backend> {
    pub(super) operator: Operator<T, D>,
    entries: Entries<D>,
    /// The same on the host.
    pub(super) entries_on_host: Vec<u32>,
    /// Inputs and outputs of `operator`: a pair for each product at the same time.
    vectors: Pool<[D::Buffer<T>; 2]>,
}

impl<T: Number, D: Backend + VectorOps<T>> FacetTerm<T, D> {
    pub(crate) fn new(
        device: &D,
        trace: &Trace,
        form: &dyn AnyForm,
        params: OperatorParams,
    ) -> Result<Self, OperatorError> {
        let blocks = std::slice::from_ref(&trace.block);
        let term = Self {
            operator: Operator::of_blocks(device, blocks, form, params)?,
            entries: Entries::new(device, &trace.entries)?,
            entries_on_host: trace.entries.clone(),
            vectors: Pool::default(),
        };
        // Applications allocate nothing.
        term.vectors.put(term.new_vectors()?);
        Ok(term)
    }

    /// v = v + A u.
    pub(crate) fn add_product(
        &self,
        u: &D::Buffer<T>,
        v: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError> {
        let device = self.operator.device();
        self.with_vectors(|[input, output]| {
            device.gather(u, &self.entries, input)?;
            self.operator.apply(input, output)?;
            Ok(device.add_to_entries(output, &self.entries, v)?)
        })
    }

    /// Adds the diagonal.
    pub(super) fn add_diagonal(&self, d: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        let device = self.operator.device();
        self.with_vectors(|[_, output]| {
            self.operator.diagonal(output)?;
            Ok(device.add_to_entries(output, &self.entries, d)?)
        })
    }

    fn with_vectors(
        &self,
        body: impl FnOnce(&mut [D::Buffer<T>; 2]) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        let mut vectors = self.take_vectors()?;
        let done = body(&mut vectors);
        self.vectors.put(vectors);
        done
    }

    fn take_vectors(&self) -> Result<[D::Buffer<T>; 2], OperatorError> {
        match self.vectors.take() {
            Some(vectors) => Ok(vectors),
            None => self.new_vectors(),
        }
    }

    fn new_vectors(&self) -> Result<[D::Buffer<T>; 2], OperatorError> {
        let vector = || self.operator.device().zeros(self.operator.dofs());
        Ok([vector()?, vector()?])
    }

    /// As [`Operator::set_nodal`], if the form has such fields.
    pub(super) fn set_nodal(
        &mut self,
        first: usize,
        u: &D::Buffer<T>,
    ) -> Result<(), OperatorError> {
        if self.operator.nodal == 0 {
            return Ok(());
        }
        let mut vectors = self.take_vectors()?;
        self.operator
            .device
            .gather(u, &self.entries, &mut vectors[0])?;
        self.operator.set_nodal(first, &vectors[0])?;
        self.vectors.put(vectors);
        Ok(())
    }

    /// Work of [`FacetTerm::add_product`].
    pub(super) fn work(&self) -> Work {
        let moves = [GATHER, ADD_TO_ENTRIES].map(|cost| cost.listed_work::<T>(self.entries.len()));
        self.operator.work() + moves.into_iter().sum()
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> usize {
        let vectors = 2 * self.operator.dofs() * T::BYTES;
        self.operator.bytes() + self.entries.bytes() + vectors
    }
}

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
    /// Adds ∫_Γ φ·f0 + ∇φ:f1 over a group of boundary facets, `trace` of the operator's space. The form has
    /// the dimension of the cells; gradients are tangential.
    ///
    /// # Errors
    /// As [`Operator::new`]; a trace of a space with other parameters, nodes or cells.
    pub fn add_facets(
        &mut self,
        trace: &Trace,
        form: &dyn AnyForm,
        params: OperatorParams,
    ) -> Result<(), OperatorError> {
        let device = &self.device;
        if !self.shapes.iter().any(|shape| trace.is_of(&shape.space)) {
            return Err(OperatorError::OtherTrace);
        }
        let term = FacetTerm::new(device, trace, form, params)?;
        (term.entries).check("vectors of the trace's cells", self.dofs())?;
        self.facets.push(term);
        Ok(())
    }
}

impl<T: Number, D: Backend> fmt::Debug for FacetTerm<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FacetTerm")
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}
