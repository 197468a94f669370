//! Host loops: SIMD over cells, everything of a cell in registers and the first-level cache.

mod diagonal;
mod evaluate;
mod inputs;
mod map;

use super::{Element, FieldKind, Shape};
use crate::family::batch::{Batch, ElementKernel, NodeTable, Workspace};
use crate::form::Form;
use crate::scalar::{Lanes, Real, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::marker::PhantomData;
use fearless_simd::Simd;

/// Everything that fixes a host kernel but the form and the precision.
#[derive(Clone, Copy, Debug)]
pub struct SimplexPlan<'a> {
    /// The element.
    pub element: &'a Element,
    /// What is evaluated on it.
    pub shape: Shape,
    /// The instruction set.
    pub level: SimdLevel,
}

impl SimplexPlan<'_> {
    /// The kernel for `form` in precision `T`. Its packed geometry is `[number][lane]`, numbers as
    /// [`pack`](super::pack) puts them.
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

/// Builds the kernel once the instruction set is known.
struct Build<'a, T, F, const D: usize, const C: usize> {
    plan: SimplexPlan<'a>,
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
        let SimplexPlan { element, shape, .. } = self.plan;
        let cast = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect();
        Box::new(Kernel::<T::Lanes<S>, F, D, C> {
            token,
            form: self.form.clone(),
            shape,
            table: NodeTable::listed(shape.nodes),
            weights: cast(&element.weights),
            positions: cast(&element.positions),
            interp: cast(&element.interp),
            grad: cast(&element.grad),
        })
    }
}

/// The kernel for one kind of lanes.
struct Kernel<L: Lanes, F, const D: usize, const C: usize> {
    token: L::Token,
    form: F,
    shape: Shape,
    table: NodeTable,
    /// `[point]`
    weights: Vec<L::Real>,
    /// `[point][axis]`
    positions: Vec<L::Real>,
    /// `[point][node]`
    interp: Vec<L::Real>,
    /// `[point][node][axis]`
    grad: Vec<L::Real>,
}

/// Scratch arrays of lanes.
struct Scratch<L> {
    /// The solution and the fields in its space, `[component or field][node]`.
    nodal: Vec<L>,
    /// `[component][node]`
    out: Vec<L>,
}

impl<L: Lanes, F, const D: usize, const C: usize> Kernel<L, F, D, C> {
    fn scratch(&self) -> Scratch<L> {
        let zero = L::splat(self.token, L::Real::from_f64(0.0));
        let fields = self.shape.fields_of(FieldKind::Nodal);
        Scratch {
            nodal: vec![zero; (C + fields) * self.shape.nodes],
            out: vec![zero; C * self.shape.nodes],
        }
    }

    /// Node values of a vector, `[component][node]`; none where nothing is wanted.
    #[inline(always)]
    fn gather(&self, batch: &Batch<L::Real>, source: &[L::Real], nodal: &mut [L]) {
        if !nodal.is_empty() {
            self.table
                .gather(self.token, batch.elements, &batch.nodes, source, nodal);
        }
    }

    /// The scratch arrays inside a workspace, made anew if the workspace is of another kernel.
    fn scratch_of<'a>(&self, workspace: &'a mut Workspace) -> &'a mut Scratch<L> {
        let fields = self.shape.fields_of(FieldKind::Nodal);
        let lens = [C + fields, C].map(|rows| rows * self.shape.nodes);
        let own = workspace.downcast_ref::<Scratch<L>>();
        if own.is_none_or(|scratch| [scratch.nodal.len(), scratch.out.len()] != lens) {
            *workspace = Box::new(self.scratch());
        }
        workspace
            .downcast_mut()
            .expect("the line above made it of this type")
    }
}

impl<L, F, const D: usize, const C: usize> ElementKernel<L::Real> for Kernel<L, F, D, C>
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
        let Scratch { nodal, out } = self.scratch_of(workspace);
        self.token.vectorize(
            #[inline(always)]
            || {
                let (solution, fields) = nodal.split_at_mut(C * self.shape.nodes);
                self.gather(batch, source, solution);
                self.gather(batch, batch.nodal, fields);
                if self.shape.linear && self.shape.map_is_constant() {
                    self.evaluate_linear(batch, nodal, out);
                } else {
                    self.evaluate(batch, nodal, out);
                }
                self.table
                    .scatter(batch.elements, &batch.nodes, out, target);
            },
        );
    }

    fn diagonal(&self, batch: &Batch<L::Real>, target: &mut [L::Real], workspace: &mut Workspace) {
        let Scratch { nodal, out } = self.scratch_of(workspace);
        self.token.vectorize(
            #[inline(always)]
            || {
                let (_, fields) = nodal.split_at_mut(C * self.shape.nodes);
                self.gather(batch, batch.nodal, fields);
                self.element_diagonals(batch, nodal, out);
                self.table
                    .scatter(batch.elements, &batch.nodes, out, target);
            },
        );
    }
}

#[cfg(test)]
mod tests;
