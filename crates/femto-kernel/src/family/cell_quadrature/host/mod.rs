//! Host loops for dense tables: SIMD over cells, each in registers and the first-level cache.

mod diagonal;
mod evaluate;
mod inputs;
mod map;

use super::{FieldKind, Shape};
use crate::family::batch::{
    Batch, ElementKernel, Workspace, gather, gather_any, scatter, scatter_any, scratch_of,
};
use crate::form::Form;
use crate::scalar::{Lanes, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::marker::PhantomData;
use fearless_simd::Simd;
use femto_element::tables::DenseTables;
use inputs::Inputs;
use map::Maps;
use std::sync::Arc;

/// The parameters of a host kernel, besides form and precision.
#[derive(Clone, Copy, Debug)]
pub struct HostPlan<'a> {
    /// The element.
    pub element: &'a DenseTables,
    /// Its sizes and storage.
    pub shape: Shape,
    /// The instruction set.
    pub level: SimdLevel,
}

impl HostPlan<'_> {
    /// The kernel for `form` in precision `T`. Its packed geometry is `[number][lane]`, with numbers as
    /// written by [`pack`](super::pack).
    pub fn build<T, F, const D: usize, const C: usize>(&self, form: &F) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        dispatch(
            self.level,
            Build::<T, F, D, C> {
                plan: *self,
                form,
                precision: PhantomData,
            },
        )
    }
}

/// Builds the kernel once the instruction set is chosen.
struct Build<'a, T, F, const D: usize, const C: usize> {
    plan: HostPlan<'a>,
    form: &'a F,
    precision: PhantomData<T>,
}

impl<T, F, const D: usize, const C: usize> SimdTask for Build<'_, T, F, D, C>
where
    T: Vectorizable,
    F: Form<D, C> + Clone + 'static,
{
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        let HostPlan { element, shape, .. } = self.plan;
        let cast = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect();
        Box::new(HostKernel::<T::Lanes<S>, F, D, C> {
            token,
            identity: Arc::new(()),
            form: self.form.clone(),
            shape,
            nodal_fields: shape.fields_of(FieldKind::Nodal),
            maps: Maps {
                token,
                shape,
                positions: cast(&element.positions),
            },
            weights: cast(&element.weights),
            interp: cast(&element.interp),
            grad: cast(&element.grad),
        })
    }
}

/// The kernel for one kind of lanes.
struct HostKernel<L: Lanes, F, const D: usize, const C: usize> {
    token: L::Token,
    /// Identifies this kernel among all others.
    identity: Arc<()>,
    form: F,
    shape: Shape,
    /// Number of fields in the solution's space.
    nodal_fields: usize,
    /// The maps from stored geometry.
    maps: Maps<L, D>,
    /// `[point]`
    weights: Vec<L::Real>,
    /// `[point][node]`
    interp: Vec<L::Real>,
    /// `[point][node][axis]`
    grad: Vec<L::Real>,
}

/// Scratch arrays of lanes.
struct Scratch<L, const D: usize> {
    /// The solution and the fields in its space, `[component or field][node]`.
    nodal: Vec<L>,
    /// `[component][node]`
    out: Vec<L>,
    /// Inputs of a form; kept, because zeroing them for every batch takes longer than many forms.
    inputs: Inputs<L, D>,
    /// The identity of the kernel that the scratch was made for.
    owner: Arc<()>,
}

impl<L: Lanes, F, const D: usize, const C: usize> HostKernel<L, F, D, C> {
    #[cold]
    #[inline(never)]
    fn scratch(&self) -> Scratch<L, D> {
        let rows = [C + self.nodal_fields, C];
        let [nodal, out] = rows.map(|rows| vec![self.zero(); rows * self.shape.nodes]);
        Scratch {
            nodal,
            out,
            inputs: self.no_inputs(),
            owner: Arc::clone(&self.identity),
        }
    }

    /// The scratch arrays inside a workspace, replaced if it belongs to another kernel.
    fn scratch_of<'a>(&self, workspace: &'a mut Workspace) -> &'a mut Scratch<L, D> {
        let is_own = |it: &Scratch<L, D>| Arc::ptr_eq(&it.owner, &self.identity);
        scratch_of(workspace, is_own, || self.scratch())
    }

    /// Whether gradients are constant in each cell.
    fn is_degree_one(&self) -> bool {
        self.shape.degree_one && self.shape.map_is_constant()
    }

    /// Reads the fields in the solution's space, after the components.
    #[inline(always)]
    fn gather_fields(&self, batch: &Batch<L::Real>, nodes: usize, nodal: &mut [L]) {
        if self.nodal_fields > 0 {
            let places = batch.places(nodes, self.nodal_fields);
            gather_any(self.token, places, batch.nodal, &mut nodal[C * nodes..]);
        }
    }
}

impl<L, F, const D: usize, const C: usize> ElementKernel<L::Real> for HostKernel<L, F, D, C>
where
    L: Lanes,
    F: Form<D, C> + 'static,
{
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        self.shape.geometry_numbers() * L::WIDTH
    }

    fn workspace(&self) -> Workspace {
        Box::new(self.scratch())
    }

    fn apply(
        &self,
        batch: &Batch<L::Real>,
        source: &[L::Real],
        target: &mut [L::Real],
        workspace: &mut Workspace,
    ) {
        let scratch = self.scratch_of(workspace);
        self.token.vectorize(
            #[inline(always)]
            || {
                if self.is_degree_one() {
                    // A length known at compile time.
                    let nodes = D + 1;
                    let places = batch.places(nodes, C);
                    let solution = &mut scratch.nodal[..C * nodes];
                    gather(self.token, places, source, solution);
                    if self.nodal_fields > 0 {
                        let places = batch.places(nodes, self.nodal_fields);
                        let fields = &mut scratch.nodal[C * nodes..];
                        gather(self.token, places, batch.nodal, fields);
                    }
                    self.evaluate_linear(batch, scratch);
                    scatter(places, &scratch.out, target);
                } else {
                    let nodes = self.shape.nodes;
                    let places = batch.places(nodes, C);
                    let solution = &mut scratch.nodal[..C * nodes];
                    gather_any(self.token, places, source, solution);
                    self.gather_fields(batch, nodes, &mut scratch.nodal);
                    self.evaluate(batch, scratch);
                    scatter_any(self.token, places, &scratch.out, target);
                }
            },
        );
    }

    fn diagonal(&self, batch: &Batch<L::Real>, target: &mut [L::Real], workspace: &mut Workspace) {
        let scratch = self.scratch_of(workspace);
        self.token.vectorize(
            #[inline(always)]
            || {
                let nodes = self.shape.nodes;
                self.gather_fields(batch, nodes, &mut scratch.nodal);
                self.element_diagonals(batch, scratch);
                let places = batch.places(nodes, C);
                scatter_any(self.token, places, &scratch.out, target);
            },
        );
    }
}

#[cfg(test)]
mod tests;
