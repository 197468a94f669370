//! Host loops for dense tables: SIMD over cells, each in registers and the first-level cache.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over axes read like the formulas"
)]

mod diagonal;
mod evaluate;
mod linear;
mod map;

use super::{FieldKind, Shape};
use crate::family::batch::{
    Batch, Classes, ElementKernel, Identity, Matrices, Source, Target, Workspace, gather_any,
    in_precision, scatter_any,
};
use crate::form::{Form, PointForm, PointSizes, Points};
use crate::scalar::{AnyLanes, ForLanes, Lanes, Real, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::marker::PhantomData;
use fearless_simd::Simd;
use femto_element::Cell;
use femto_element::tables::DenseTables;
use linear::{Linear, LinearForm};
use map::{Map, Maps};
use std::sync::Arc;

/// The parameters of a host kernel, besides form and precision.
#[derive(Clone, Copy, Debug)]
pub struct HostPlan<'a> {
    /// The element.
    pub element: &'a Arc<DenseTables>,
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
        let form = AnyLanes::new::<T, _>(self.level, &CellFormOf::<F, D, C>(form));
        in_precision::<T, _>(form, |form| self.fp64(form), |form| self.fp32(form))
    }

    /// Everything but the form itself is the same for all forms, and compiled here once, not in every crate with
    /// forms.
    #[inline(never)]
    fn fp64(&self, form: AnyLanes) -> Box<dyn ElementKernel<f64>> {
        self.around(form)
    }

    #[inline(never)]
    fn fp32(&self, form: AnyLanes) -> Box<dyn ElementKernel<f32>> {
        self.around(form)
    }

    fn around<T: Vectorizable>(&self, form: AnyLanes) -> Box<dyn ElementKernel<T>> {
        let (plan, precision) = (*self, PhantomData);
        match self.shape.dim {
            2 => dispatch(
                self.level,
                Build::<T, 2> {
                    plan,
                    form,
                    precision,
                },
            ),
            _ => dispatch(
                self.level,
                Build::<T, 3> {
                    plan,
                    form,
                    precision,
                },
            ),
        }
    }
}

/// A form as the loops call it.
struct CellForm<L: Lanes, const D: usize> {
    at_points: Box<dyn PointForm<L, D>>,
    linear: Option<Box<dyn LinearForm<L, D>>>,
}

struct CellFormOf<'a, F, const D: usize, const C: usize>(&'a F);

impl<F, const D: usize, const C: usize> ForLanes for CellFormOf<'_, F, D, C>
where
    F: Form<D, C> + Clone + 'static,
{
    type Made<L: Lanes> = CellForm<L, D>;

    fn make<L: Lanes>(&self) -> CellForm<L, D> {
        CellForm {
            at_points: self.0.at_points(),
            linear: match F::INTERPRETED || L::NARROW {
                true => None,
                false => Some(Box::new(Linear::<F, C>(self.0.clone()))),
            },
        }
    }
}

/// Builds the kernel around a form once the instruction set is chosen.
struct Build<'a, T, const D: usize> {
    plan: HostPlan<'a>,
    form: AnyLanes,
    precision: PhantomData<T>,
}

impl<T: Vectorizable, const D: usize> SimdTask for Build<'_, T, D> {
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        let HostPlan { element, shape, .. } = self.plan;
        let cast = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect();
        let CellForm { at_points, linear } = self.form.take();
        let read = [shape.reads_values, shape.reads_gradients];
        let wanted = [shape.writes_values, shape.writes_gradients];
        let of_fields = [shape.fields_of(FieldKind::Nodal) > 0, shape.field_gradients];
        let all = [read, of_fields, wanted];
        let classes = classes(element);
        Box::new(HostKernel::<T::Lanes<S>, D> {
            token,
            identity: Identity::default(),
            form: at_points,
            linear: linear.filter(|_| shape.degree_one && shape.map_is_constant()),
            shape,
            element: Arc::clone(element),
            nodal_fields: shape.fields_of(FieldKind::Nodal),
            maps: Maps {
                token,
                shape,
                positions: cast(&element.positions),
            },
            weights: cast(&element.weights),
            interp: match shape.degree_one {
                true => cast(&element.interp),
                false => Vec::new(),
            },
            matrices: match &classes {
                None => Matrices::new(&**element, D, all),
                Some(classes) => Matrices::by_classes(element, classes, all),
            },
            classes,
        })
    }
}

/// The kernel for one kind of lanes.
struct HostKernel<L: Lanes, const D: usize> {
    token: L::Token,
    identity: Identity,
    form: Box<dyn PointForm<L, D>>,
    /// On affine simplices of degree 1.
    linear: Option<Box<dyn LinearForm<L, D>>>,
    shape: Shape,
    element: Arc<DenseTables>,
    /// Number of fields in the solution's space.
    nodal_fields: usize,
    /// The maps from stored geometry.
    maps: Maps<L, D>,
    /// `[point]`
    weights: Vec<L::Real>,
    /// At degree 1, `[point][node]`.
    interp: Vec<L::Real>,
    /// To points, of the solution and of fields in its space; from points.
    matrices: Matrices<L::Real>,
    /// Of nodes and points, if the matrices are between sums over orbits. Derivatives are then along their axes.
    classes: Option<Classes>,
}

/// The lowest degree at which matrices between sums over orbits were measured to be faster
/// (`docs/families/cell_quadrature.md`).
const fn least_degree_of_classes(cell: Cell) -> usize {
    match cell {
        Cell::Triangle => 6,
        _ => 3,
    }
}

/// The classes of an element's nodes and points, where they are of use.
pub(super) fn classes(element: &DenseTables) -> Option<Classes> {
    let is_of_use = element.degree.most() >= least_degree_of_classes(element.cell);
    is_of_use.then(|| Classes::of(element)).flatten()
}

/// Scratch arrays of lanes.
struct Scratch<L: Lanes, const D: usize> {
    /// The solution and the fields in its space, `[component or field][node]`.
    nodal: Vec<L>,
    /// `[component][node]`
    out: Vec<L>,
    /// For [`PointMatrix`](crate::family::batch::PointMatrix).
    spare: Vec<L>,
    /// The map of the last point, or of all points.
    map: Map<L, D>,
    points: Points<L, D>,
}

impl<L: Lanes, const D: usize> HostKernel<L, D> {
    #[inline(always)]
    fn splat(&self, value: L::Real) -> L {
        L::splat(self.token, value)
    }

    #[inline(always)]
    fn zero(&self) -> L {
        self.splat(L::Real::from_f64(0.0))
    }

    #[cold]
    #[inline(never)]
    fn scratch(&self) -> Scratch<L, D> {
        let (zero, shape) = (self.zero(), &self.shape);
        let components = shape.components;
        let sizes = PointSizes {
            components,
            fields: shape.fields.len(),
            reads_gradients: shape.reads_gradients,
            wanted: [shape.writes_values, shape.writes_gradients],
            constant_map: shape.map_is_constant(),
        };
        Scratch {
            nodal: vec![zero; (components + self.nodal_fields) * self.shape.nodes],
            out: vec![zero; components * self.shape.nodes],
            spare: vec![zero; self.matrices.spare()],
            map: Map::none(zero),
            points: Points::new(self.token, sizes, &*self.form),
        }
    }
}

impl<L: Lanes, const D: usize> ElementKernel<L::Real> for HostKernel<L, D> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        self.shape.geometry_numbers() * L::WIDTH
    }

    fn workspace(&self) -> Workspace {
        self.identity.workspace(self.scratch())
    }

    fn apply(
        &self,
        batch: &Batch<L::Real>,
        source: Source<L::Real>,
        target: Target<L::Real>,
        workspace: &mut Workspace,
    ) {
        let scratch = self.identity.scratch_of(workspace, || self.scratch());
        if let Some(linear) = &self.linear {
            let vectors = (source.numbers, target.numbers);
            return linear.apply(self, batch, vectors, scratch);
        }
        let Shape {
            nodes, components, ..
        } = self.shape;
        let places = batch.places(nodes, components);
        self.token.vectorize(
            #[inline(always)]
            || {
                let solution = &mut scratch.nodal[..components * nodes];
                gather_any(self.token, places, source.numbers, solution);
                self.matrices.solution.prepare(solution, &mut scratch.spare);
                self.gather_fields(batch, scratch);
                self.evaluate(batch, scratch);
                let Scratch { out, spare, .. } = &mut *scratch;
                self.matrices.test.finish(out, spare);
                scatter_any(self.token, places, &scratch.out, target.numbers);
            },
        );
    }

    fn diagonal(&self, batch: &Batch<L::Real>, target: Target<L::Real>, workspace: &mut Workspace) {
        let scratch = self.identity.scratch_of(workspace, || self.scratch());
        self.token.vectorize(
            #[inline(always)]
            || {
                self.gather_fields(batch, scratch);
                self.element_diagonals(batch, scratch);
                let places = batch.places(self.shape.nodes, self.shape.components);
                scatter_any(self.token, places, &scratch.out, target.numbers);
            },
        );
    }
}

#[cfg(test)]
mod tests;
