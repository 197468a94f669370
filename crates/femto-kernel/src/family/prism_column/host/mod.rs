//! Host loops: SIMD over prisms, levels of points one after the other.
//!
//! The map of a prism is stored as 12 numbers: x and y of vertex 0 and of two edges of the base, then the coefficients
//! of z by 1, ξ, η, ζ, ξ ζ, η ζ.

mod evaluate;

use super::tables::Tables;
use crate::family::ElementOperator;
use crate::family::batch::{Batch, ElementKernel, Workspace, gather_any, scatter_any, scratch_of};
use crate::family::fields::{FieldKind, Fields};
use crate::form::{Form, MAX_FIELDS};
use crate::scalar::{Lanes, Real, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::marker::PhantomData;
use fearless_simd::Simd;
use std::sync::Arc;

/// Numbers of a prism's map.
pub(super) const MAP_NUMBERS: usize = 12;

/// Packs a map, the coefficients c_m of ξ^a η^b ζ^c, m = a + 2b + 4c.
pub(super) fn pack(map: &[[f64; 3]; 8], out: &mut [f64]) {
    let base = [map[0], map[1], map[2]].map(|c| [c[0], c[1]]);
    let heights = [0, 1, 2, 4, 5, 6].map(|m: usize| map[m][2]);
    let numbers = base.into_iter().flatten().chain(heights);
    out.iter_mut()
        .zip(numbers)
        .for_each(|(out, number)| *out = number);
}

/// The kernel for a form in precision `T`.
pub(super) fn build<T, F, const D: usize, const C: usize>(
    tables: &Tables,
    operator: &ElementOperator,
    form: &F,
    level: SimdLevel,
) -> Box<dyn ElementKernel<T>>
where
    T: Vectorizable,
    F: Form<D, C> + Clone + 'static,
{
    let task = Build::<T, F, D, C> {
        tables,
        operator,
        form,
        precision: PhantomData,
    };
    dispatch(level, task)
}

/// Builds the kernel once the instruction set is chosen.
struct Build<'a, T, F, const D: usize, const C: usize> {
    tables: &'a Tables,
    operator: &'a ElementOperator,
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
        let Tables {
            triangle: [nt, qt],
            line: [nz, qz],
            ..
        } = *self.tables;
        let mut rest = &self.tables.numbers[..];
        let mut take = |count: usize| -> Vec<T> {
            let (head, tail) = rest.split_at(count);
            rest = tail;
            head.iter().map(|&number| T::from_f64(number)).collect()
        };
        let of = &self.operator.inspection;
        let fields = self.operator.fields;
        let mut nodal = fields.of(FieldKind::Nodal);
        Box::new(HostKernel::<T::Lanes<S>, F, D, C> {
            token,
            identity: Arc::new(()),
            form: self.form.clone(),
            fields,
            nodal_fields: fields.count(FieldKind::Nodal),
            reads_gradients: of.reads_gradients,
            field_gradients: nodal.any(|field| of.reads_field_gradient(field)),
            writes: [of.writes_values, of.writes_gradients],
            triangle: Factor {
                interp: take(qt * nt),
                grad: take(2 * qt * nt),
                weights: take(qt),
                positions: take(2 * qt),
            },
            line: Factor {
                interp: take(qz * nz),
                grad: take(qz * nz),
                weights: take(qz),
                positions: take(qz),
            },
            places: self.tables.places.clone(),
            nodes: [nt, nz],
        })
    }
}

/// A basis at the points of its rule.
struct Factor<R> {
    /// `[point][node]`
    interp: Vec<R>,
    /// `[point][node][axis]`
    grad: Vec<R>,
    /// `[point]`
    weights: Vec<R>,
    /// `[point][axis]`
    positions: Vec<R>,
}

/// The kernel for one kind of lanes.
struct HostKernel<L: Lanes, F, const D: usize, const C: usize> {
    token: L::Token,
    /// Identifies this kernel among all others.
    identity: Arc<()>,
    form: F,
    fields: Fields,
    nodal_fields: usize,
    reads_gradients: bool,
    field_gradients: bool,
    /// Whether f0 and f1 are not zero.
    writes: [bool; 2],
    triangle: Factor<L::Real>,
    line: Factor<L::Real>,
    /// The place in the prism of each node, `[t][k]`.
    places: Vec<usize>,
    /// Nodes of the triangle and of the line.
    nodes: [usize; 2],
}

/// Scratch arrays of lanes.
struct Scratch<L, const D: usize> {
    /// The solution and the fields in its space, `[component or field][node]`.
    nodal: Vec<L>,
    /// `[component][node]`
    out: Vec<L>,
    /// At a level of points, over the nodes of the triangle: values and derivatives upwards,
    /// `[component or field][2][t]`.
    level: Vec<L>,
    /// What is tested with values and with derivatives upwards there, `[component][2][t]`.
    sums: Vec<L>,
    /// Of a form, kept, as zeroing them takes long: `[field]`, `[field][axis]`, `[parameter]`.
    a: [L; MAX_FIELDS],
    grad_a: [[L; D]; MAX_FIELDS],
    parameters: [L; MAX_FIELDS],
    /// The identity of the kernel that the scratch was made for.
    owner: Arc<()>,
}

impl<L: Lanes, F, const D: usize, const C: usize> HostKernel<L, F, D, C> {
    #[inline(always)]
    fn splat(&self, value: L::Real) -> L {
        L::splat(self.token, value)
    }

    #[inline(always)]
    fn zero(&self) -> L {
        self.splat(L::Real::from_f64(0.0))
    }

    #[inline(always)]
    fn load(&self, packed: &[L::Real], number: usize) -> L {
        L::load(self.token, &packed[number * L::WIDTH..][..L::WIDTH])
    }

    fn count(&self) -> usize {
        self.places.len()
    }

    #[cold]
    #[inline(never)]
    fn scratch(&self) -> Scratch<L, D> {
        let (zero, rows) = (self.zero(), C + self.nodal_fields);
        Scratch {
            nodal: vec![zero; rows * self.count()],
            out: vec![zero; C * self.count()],
            level: vec![zero; rows * 2 * self.nodes[0]],
            sums: vec![zero; C * 2 * self.nodes[0]],
            a: [zero; MAX_FIELDS],
            grad_a: [[zero; D]; MAX_FIELDS],
            parameters: [zero; MAX_FIELDS],
            owner: Arc::clone(&self.identity),
        }
    }

    /// The scratch arrays inside a workspace, replaced if it belongs to another kernel.
    fn scratch_of<'a>(&self, workspace: &'a mut Workspace) -> &'a mut Scratch<L, D> {
        let is_own = |it: &Scratch<L, D>| Arc::ptr_eq(&it.owner, &self.identity);
        scratch_of(workspace, is_own, || self.scratch())
    }

    /// Reads the fields in the solution's space, after the components.
    fn gather_fields(&self, batch: &Batch<L::Real>, nodal: &mut [L]) {
        if self.nodal_fields > 0 {
            let places = batch.places(self.count(), self.nodal_fields);
            let fields = &mut nodal[C * self.count()..];
            gather_any(self.token, places, batch.nodal, fields);
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
        MAP_NUMBERS * L::WIDTH
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
        let places = batch.places(self.count(), C);
        gather_any(
            self.token,
            places,
            source,
            &mut scratch.nodal[..C * self.count()],
        );
        self.gather_fields(batch, &mut scratch.nodal);
        self.token.vectorize(
            #[inline(always)]
            || self.evaluate(batch, scratch),
        );
        scatter_any(self.token, places, &scratch.out, target);
    }

    /// Applies the matrices to one unit vector after the other.
    fn diagonal(&self, batch: &Batch<L::Real>, target: &mut [L::Real], workspace: &mut Workspace) {
        let scratch = self.scratch_of(workspace);
        self.gather_fields(batch, &mut scratch.nodal);
        let zero = self.zero();
        let unknowns = C * self.count();
        let mut diagonal = vec![zero; unknowns];
        scratch.nodal[..unknowns].fill(zero);
        for (n, entry) in diagonal.iter_mut().enumerate() {
            scratch.nodal[n] = zero.constant(1.0);
            self.token.vectorize(
                #[inline(always)]
                || self.evaluate(batch, scratch),
            );
            scratch.nodal[n] = zero;
            *entry = scratch.out[n];
        }
        scatter_any(self.token, batch.places(self.count(), C), &diagonal, target);
    }
}
