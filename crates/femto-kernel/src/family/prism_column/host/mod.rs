//! Host loops: SIMD over prisms, levels of points one after the other, or parts of the triangle and of the line.
//!
//! Of the map of a prism are stored x and y of two edges of the base, and of the coefficients of z by 1, ξ, η, ζ, ξ ζ, η ζ
//! those that layers may have ([`map_numbers`]); and the origin only if the form reads positions.

mod evaluate;
mod folded;
mod linear;
mod products;
mod slopes;

use super::parts::{FactorMatrices, LineModes, LinearSums, Parts};
use super::tables::{InPlane, Tables};
use crate::family::ElementOperator;
use crate::family::batch::{
    Batch, ElementKernel, Identity, Matrices, PointMatrix, Source, Target, Workspace, gather_any,
    in_precision, scatter_any,
};
use crate::family::fields::{FieldKind, Fields};
use crate::form::{AtPointsOf, Form, PointForm, PointSizes, Points};
use crate::scalar::{AnyLanes, Lanes, Real, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::marker::PhantomData;
use fearless_simd::Simd;
use femto_element::Layering;
use slopes::ModeAtPoints;

/// Numbers of a prism's map without its origin: two edges of the base, then the coefficients of z by ζ; ξ, η unless layers are
/// level; ξ ζ, η ζ unless they are parallel.
fn map_numbers(layering: Layering) -> usize {
    match layering {
        Layering::Level => 5,
        Layering::Parallel => 7,
        Layering::Any => 9,
    }
}

/// Numbers stored of a prism's map: after those of [`map_numbers`] the position of reference point
/// (0, 0, 0), if positions are read.
pub(super) fn stored_numbers(layering: Layering, reads_position: bool) -> usize {
    map_numbers(layering) + 3 * usize::from(reads_position)
}

/// Packs a map, the coefficients c_m of ξ^a η^b ζ^c, m = a + 2b + 4c.
pub(super) fn pack(map: &[[f64; 3]; 8], layering: Layering, out: &mut [f64]) {
    let [[xr, yr, xi], [xs, ys, eta]] = [map[1], map[2]];
    let [up, xi_up, eta_up] = [map[4][2], map[5][2], map[6][2]];
    let all = [xr, yr, xs, ys, up, xi, eta, xi_up, eta_up];
    let (numbers, origin) = out.split_at_mut(map_numbers(layering));
    numbers.copy_from_slice(&all[..numbers.len()]);
    origin.copy_from_slice(&map[0][..origin.len()]);
}

/// The parameters of a host kernel, besides form and precision.
#[derive(Clone, Copy)]
pub(super) struct HostPlan<'a> {
    pub(super) tables: &'a Tables,
    /// Taken in place of the tables, if given.
    pub(super) parts: Option<&'a Parts<f64>>,
    pub(super) operator: &'a ElementOperator,
    pub(super) level: SimdLevel,
}

impl HostPlan<'_> {
    /// The kernel for a form in precision `T`.
    pub(super) fn build<T, F, const D: usize, const C: usize>(
        &self,
        form: &F,
    ) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        let form = AnyLanes::new::<T, _>(self.level, &AtPointsOf::<F, D, C>(form));
        in_precision::<T, _>(form, |form| self.fp64(form), |form| self.fp32(form))
    }

    #[inline(never)]
    fn fp64(&self, form: AnyLanes) -> Box<dyn ElementKernel<f64>> {
        dispatch(self.level, Build::new(self, form))
    }

    #[inline(never)]
    fn fp32(&self, form: AnyLanes) -> Box<dyn ElementKernel<f32>> {
        dispatch(self.level, Build::new(self, form))
    }
}

/// Builds the kernel around a form once the instruction set is chosen.
struct Build<'a, T> {
    plan: HostPlan<'a>,
    form: AnyLanes,
    precision: PhantomData<T>,
}

impl<'a, T> Build<'a, T> {
    fn new(plan: &HostPlan<'a>, form: AnyLanes) -> Self {
        Self {
            plan: *plan,
            form,
            precision: PhantomData,
        }
    }
}

impl<T: Vectorizable> SimdTask for Build<'_, T> {
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        let HostPlan {
            tables,
            parts,
            operator,
            ..
        } = self.plan;
        let ([nt, qt], [nz, qz]) = (tables.triangle, tables.line);
        let of = &operator.inspection;
        let fields = operator.fields;
        let mut nodal = fields.of(FieldKind::Nodal);
        let read = [of.reads_values, of.reads_gradients];
        let wanted = [of.writes_values, of.writes_gradients];
        let nodal_fields = fields.count(FieldKind::Nodal);
        let of_fields = [
            nodal_fields > 0,
            nodal.any(|field| of.reads_field_gradient(field)),
        ];
        // After the triangle's values and derivatives.
        let mut rest = &tables.numbers[3 * qt * nt..];
        let numbers = |of: &[f64]| -> Vec<T> { of.iter().map(|&it| T::from_f64(it)).collect() };
        let mut take = |count: usize| -> Vec<T> {
            let (head, tail) = rest.split_at(count);
            rest = tail;
            numbers(head)
        };
        Box::new(HostKernel::<T::Lanes<S>> {
            token,
            identity: Identity::default(),
            form: self.form.take(),
            components: of.components,
            fields,
            nodal_fields,
            position: of.reads_position,
            layering: operator.layering,
            gradients: read[1] || of_fields[1] || wanted[1],
            read,
            of_fields,
            wanted,
            folded: of
                .coefficients
                .as_ref()
                .zip(parts)
                .map(|(coefficients, parts)| Folded {
                    constants: (coefficients
                        .mass
                        .constant()
                        .zip(coefficients.stiffness.constant()))
                    .map(|(mass, stiffness)| [mass, stiffness].map(T::from_f64)),
                    parts: parts.convert(T::from_f64),
                }),
            matrices: Matrices::new(&InPlane(tables), 2, [read, of_fields, wanted]),
            whole: (tables.degree == 1)
                .then(|| Matrices::new(&*operator.tables, 3, [read, of_fields, wanted])),
            upwards: PointMatrix::new(&InPlane(tables), 2, [true, false]),
            weights: take(qt),
            positions: take(2 * qt),
            line: Line {
                interp: take(qz * nz),
                grad: take(qz * nz),
                weights: take(qz),
                positions: take(qz),
            },
            places: tables.places.clone(),
            nodes: [nt, nz],
        })
    }
}

/// A basis of the line at the points of its rule.
struct Line<R> {
    /// `[point][node]`
    interp: Vec<R>,
    /// `[point][node]`
    grad: Vec<R>,
    /// `[point]`
    weights: Vec<R>,
    /// `[point]`
    positions: Vec<R>,
}

/// A form λ u, κ ∇u with coefficients that are constant in each prism.
struct Folded<R> {
    /// λ and κ, if they are the same everywhere.
    constants: Option<[R; 2]>,
    parts: Parts<R>,
}

/// The kernel for one kind of lanes.
struct HostKernel<L: Lanes> {
    token: L::Token,
    identity: Identity,
    form: Box<dyn PointForm<L, 3>>,
    components: usize,
    fields: Fields,
    nodal_fields: usize,
    position: bool,
    layering: Layering,
    /// Whether any gradients are read or f1 is not zero.
    gradients: bool,
    /// Whether values and gradients are read: of the solution, of fields in its space.
    read: [bool; 2],
    of_fields: [bool; 2],
    /// Whether f0 and f1 are not zero.
    wanted: [bool; 2],
    folded: Option<Folded<L::Real>>,
    /// In the plane: values, and derivatives along its axes.
    matrices: Matrices<L::Real>,
    /// Of the whole prism, at degree 1, where sums along one axis after the other save little.
    whole: Option<Matrices<L::Real>>,
    /// In the plane, for derivatives upwards.
    upwards: PointMatrix<L::Real>,
    /// Of the triangle's rule, `[point]` and `[point][axis]`.
    weights: Vec<L::Real>,
    positions: Vec<L::Real>,
    line: Line<L::Real>,
    /// The place in the prism of each node, `[t][k]`.
    places: Vec<usize>,
    /// Nodes of the triangle and of the line.
    nodes: [usize; 2],
}

/// Scratch arrays of lanes.
struct Scratch<L: Lanes> {
    /// The solution and the fields in its space, `[component or field][node]`.
    nodal: Vec<L>,
    /// `[component][node]`
    out: Vec<L>,
    /// At a level of points, over the nodes of the triangle: values and derivatives upwards,
    /// `[component or field][2][t]`.
    level: Vec<L>,
    /// Products with matrices of the line, `[component][2][t][k]`, or modes and sums of what is tested, `[component][2][j][t]`.
    products: Vec<L>,
    /// Modes of the line at points.
    modes: Vec<ModeAtPoints<L>>,
    /// A row of a matrix of the triangle, `[t]`.
    entries: Vec<L>,
    /// What is tested with values and with derivatives upwards there, `[component][2][t]`.
    sums: Vec<L>,
    /// Of a chunk's points.
    points: Points<L, 3>,
}

impl<L: Lanes> HostKernel<L> {
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
    fn scratch(&self) -> Scratch<L> {
        let (zero, components) = (self.zero(), self.components);
        let rows = components + self.nodal_fields;
        let sizes = PointSizes {
            components,
            fields: self.fields.len(),
            reads_gradients: self.read[1],
            wanted: self.wanted,
            constant_map: self.layering.is_parallel(),
        };
        Scratch {
            nodal: vec![zero; rows * self.count()],
            out: vec![zero; components * self.count()],
            level: vec![zero; rows * 2 * self.nodes[0]],
            products: vec![zero; 2 * components * self.count()],
            modes: vec![ModeAtPoints::new(zero); self.nodes[1]],
            entries: vec![zero; self.nodes[0]],
            sums: vec![zero; components * 2 * self.nodes[0]],
            points: Points::new(self.token, sizes, &*self.form),
        }
    }

    /// Reads the fields in the solution's space, after the components.
    fn gather_fields(&self, batch: &Batch<L::Real>, nodal: &mut [L]) {
        if self.nodal_fields > 0 {
            let places = batch.places(self.count(), self.nodal_fields).of_columns();
            let fields = &mut nodal[self.components * self.count()..];
            gather_any(self.token, places, batch.nodal.numbers, fields);
        }
    }
}

impl<L: Lanes> ElementKernel<L::Real> for HostKernel<L> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        stored_numbers(self.layering, self.position) * L::WIDTH
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
        let places = batch.places(self.count(), self.components).of_columns();
        let solution = &mut scratch.nodal[..self.components * self.count()];
        gather_any(self.token, places, source.numbers, solution);
        self.gather_fields(batch, &mut scratch.nodal);
        self.evaluate(batch, scratch);
        scatter_any(self.token, places, &scratch.out, target.numbers);
    }

    /// Applies the matrices to one unit vector after the other.
    fn diagonal(&self, batch: &Batch<L::Real>, target: Target<L::Real>, workspace: &mut Workspace) {
        let scratch = self.identity.scratch_of(workspace, || self.scratch());
        self.gather_fields(batch, &mut scratch.nodal);
        let zero = self.zero();
        let unknowns = self.components * self.count();
        let mut diagonal = vec![zero; unknowns];
        scratch.nodal[..unknowns].fill(zero);
        for (n, entry) in diagonal.iter_mut().enumerate() {
            scratch.nodal[n] = zero.constant(1.0);
            self.evaluate(batch, scratch);
            scratch.nodal[n] = zero;
            *entry = scratch.out[n];
        }
        let places = batch.places(self.count(), self.components).of_columns();
        scatter_any(self.token, places, &diagonal, target.numbers);
    }
}
