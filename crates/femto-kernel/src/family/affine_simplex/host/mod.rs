//! Host loops: SIMD over cells, products with the matrices' blocks between sums over orbits of nodes, whose rows are taken eight
//! at a time, at degree 1 differences of vertices in registers.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

mod classes;
mod rows;

use super::Matrices;
use crate::family::batch::{
    Batch, ElementKernel, Identity, Orbits, Source, Target, Workspace, gather, gather_any, scatter,
    scatter_any,
};
use crate::scalar::{Lanes, SimdLevel, SimdTask, Vectorizable, dispatch};
use classes::{Class, Flux};
use core::marker::PhantomData;
use fearless_simd::Simd;

/// The kernel of an instruction set; its packed geometry is `[factor][lane]`, see [`Matrices::pack`].
pub fn build<T: Vectorizable>(
    matrices: &Matrices,
    components: usize,
    level: SimdLevel,
) -> Box<dyn ElementKernel<T>> {
    let task = Build {
        matrices,
        components,
        precision: PhantomData,
    };
    dispatch(level, task)
}

/// Builds the kernel once the instruction set is chosen.
struct Build<'a, T> {
    matrices: &'a Matrices,
    components: usize,
    precision: PhantomData<T>,
}

impl<T: Vectorizable> SimdTask for Build<'_, T> {
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        let matrices = self.matrices;
        let (dim, nodes) = (matrices.dim, matrices.nodes);
        let all = matrices.all(true).into_iter();
        let diagonal =
            |matrix: Vec<f64>| (0..nodes).map(move |n| T::from_f64(matrix[n * nodes + n]));
        let (mut classes, mut columns) = (Vec::new(), 0);
        for class in 0..matrices.symmetry.classes {
            let made = Class::new(matrices, class, columns);
            columns += made.columns();
            classes.push(made);
        }
        let flux = |class: usize| Flux {
            rank: matrices.ranks[class],
            starts: (0..matrices.axes())
                .map(|axis| classes[matrices.symmetry.before(axis, class)].starts[axis])
                .collect(),
        };
        let fluxes = (0..classes.len()).map(flux).collect();
        let slope = matrices.derivatives.iter().flatten().flatten().next();
        let slope = slope.copied().unwrap_or(0.0);
        let mass = matrices.mass.as_ref();
        Box::new(Kernel::<T::Lanes<S>> {
            token,
            identity: Identity::default(),
            dim,
            nodes,
            components: self.components,
            factors: matrices.factors(),
            orbits: Orbits::new(&matrices.symmetry, &matrices.symmetry.starts()),
            has_stiffness: matrices.has_stiffness(),
            fluxes,
            columns,
            square: T::from_f64(slope * slope),
            masses: mass.map(|mass| [mass[0] - mass[1], mass[1]].map(T::from_f64)),
            diagonals: all.flat_map(diagonal).collect(),
            classes,
        })
    }
}

/// The kernel for one kind of lanes.
struct Kernel<L: Lanes> {
    token: L::Token,
    identity: Identity,
    dim: usize,
    nodes: usize,
    components: usize,
    /// Numbers of a cell's packed geometry.
    factors: usize,
    orbits: Orbits,
    has_stiffness: bool,
    classes: Vec<Class<L::Real>>,
    fluxes: Vec<Flux>,
    /// Numbers of [`Scratch::columns`].
    columns: usize,
    /// At degree 1 the square of the derivative of a difference.
    square: L::Real,
    /// At degree 1, where M = a δ + b for all pairs of vertices, a and b; `None` without mass.
    masses: Option<[L::Real; 2]>,
    /// The diagonals of the matrices, `[matrix][node]`.
    diagonals: Vec<L::Real>,
}

/// Scratch arrays of lanes.
struct Scratch<L> {
    /// `[component][node]`
    nodal: Vec<L>,
    /// `[component][node]`
    out: Vec<L>,
    /// Sums over orbits, `[class][sum]`.
    sums: Vec<L>,
    /// For each class of nodes derivatives `[axis][rank]`, then values `[sum]`.
    columns: Vec<L>,
}

/// The place of factor G_ab, of which those with a ≤ b are kept.
#[inline(always)]
const fn pair<const D: usize>(a: usize, b: usize) -> usize {
    match a <= b {
        true => a * D - a * (a + 1) / 2 + b,
        false => b * D - b * (b + 1) / 2 + a,
    }
}

/// Factor `n` of a batch.
#[inline(always)]
fn load<L: Lanes>(token: L::Token, geometry: &[L::Real], n: usize) -> L {
    L::load(token, &geometry[n * L::WIDTH..][..L::WIDTH])
}

impl<L: Lanes> Kernel<L> {
    fn scratch_of<'a>(&self, workspace: &'a mut Workspace) -> &'a mut Scratch<L> {
        self.identity.scratch_of(workspace, || self.scratch())
    }

    fn scratch(&self) -> Scratch<L> {
        let zeros =
            |len: usize| vec![L::splat(self.token, crate::scalar::Real::from_f64(0.0)); len];
        Scratch {
            nodal: zeros(self.components * self.nodes),
            out: zeros(self.components * self.nodes),
            sums: zeros(self.nodes),
            columns: zeros(self.columns),
        }
    }

    /// Evaluates a batch at degree 1, with N nodes in D dimensions. One component stays in registers from gather to scatter.
    #[inline(always)]
    fn linear<const D: usize, const N: usize>(
        &self,
        batch: &Batch<L::Real>,
        (source, target): (&[L::Real], &mut [L::Real]),
        workspace: &mut Workspace,
    ) {
        if self.components == 1 {
            let places = batch.places(N, 1);
            let mut nodal = [L::splat(self.token, L::Real::default()); N];
            gather(self.token, places, source, &mut nodal);
            self.linear_cells::<D, N>(batch.geometry, &mut nodal);
            scatter(places, &nodal, target);
        } else {
            let places = batch.places(N, self.components);
            let nodal = &mut self.scratch_of(workspace).nodal;
            gather_any(self.token, places, source, nodal);
            for component in nodal.as_chunks_mut::<N>().0 {
                self.linear_cells::<D, N>(batch.geometry, component);
            }
            scatter_any(self.token, places, nodal, target);
        }
    }

    /// One component, in place. Derivatives are differences to the first vertex, which gets the others' sum back; M is
    /// a δ + b.
    #[inline(always)]
    fn linear_cells<const D: usize, const N: usize>(
        &self,
        geometry: &[L::Real],
        nodal: &mut [L; N],
    ) {
        let token = self.token;
        let (u, mut v) = (*nodal, [L::splat(token, L::Real::default()); N]);
        if self.has_stiffness {
            let factors = &geometry[..D * (D + 1) / 2 * L::WIDTH];
            let mut slope = [u[0]; D];
            for a in 0..D {
                slope[a] = (u[a + 1] - u[0]) * L::splat(token, self.square);
            }
            for a in 0..D {
                let mut sum = load::<L>(token, factors, pair::<D>(a, 0)) * slope[0];
                for b in 1..D {
                    sum = load::<L>(token, factors, pair::<D>(a, b)).mul_add(slope[b], sum);
                }
                v[a + 1] = sum;
                v[0] = v[0] - sum;
            }
        }
        if let Some([own, other]) = self.masses {
            let lambda: L = load(token, geometry, self.factors - 1);
            let mut sum = u[0];
            for n in 1..N {
                sum += u[n];
            }
            let (own, sum) = (
                lambda * L::splat(token, own),
                lambda * L::splat(token, other) * sum,
            );
            for n in 0..N {
                v[n] += own.mul_add(u[n], sum);
            }
        }
        *nodal = v;
    }

    /// Evaluates a batch of any degree.
    #[inline(always)]
    fn dense(
        &self,
        batch: &Batch<L::Real>,
        (source, target): (&[L::Real], &mut [L::Real]),
        scratch: &mut Scratch<L>,
    ) {
        let Scratch {
            nodal,
            out,
            sums,
            columns,
        } = scratch;
        let places = batch.places(self.nodes, self.components);
        gather_any(self.token, places, source, nodal);
        for component in 0..self.components {
            let own = component * self.nodes..(component + 1) * self.nodes;
            self.orbits.gather(&nodal[own.clone()], sums);
            self.derivatives(batch.geometry, sums, columns);
            match self.dim {
                2 => self.weigh::<2>(batch.geometry, columns),
                _ => self.weigh::<3>(batch.geometry, columns),
            }
            for class in &self.classes {
                let columns = &columns[class.start..];
                class
                    .back
                    .multiply(self.token, columns, &mut sums[class.first..]);
            }
            self.orbits.scatter(sums, &mut out[own]);
        }
        scatter_any(self.token, places, out, target);
    }

    /// Derivatives of the sums, and the sums times λ |J|.
    #[inline(always)]
    fn derivatives(&self, geometry: &[L::Real], sums: &[L], columns: &mut [L]) {
        for class in &self.classes {
            let (sums, columns) = (&sums[class.first..], &mut columns[class.start..]);
            class.slopes.multiply(self.token, sums, columns);
            let columns = &mut columns[class.slopes.rows..class.back.columns];
            if !columns.is_empty() {
                let lambda: L = load(self.token, geometry, self.factors - 1);
                for (value, &sum) in columns.iter_mut().zip(sums) {
                    *value = lambda * sum;
                }
            }
        }
    }

    /// Multiplies derivatives by the factors G.
    #[inline(always)]
    fn weigh<const D: usize>(&self, geometry: &[L::Real], columns: &mut [L]) {
        if !self.has_stiffness {
            return;
        }
        let factors: [[L; D]; D] = core::array::from_fn(|a| {
            core::array::from_fn(|b| load(self.token, geometry, pair::<D>(a, b)))
        });
        for flux in &self.fluxes {
            let starts: [usize; D] = core::array::from_fn(|axis| flux.starts[axis]);
            for r in 0..flux.rank {
                let slope: [L; D] = core::array::from_fn(|axis| columns[starts[axis] + r]);
                for (a, row) in factors.iter().enumerate() {
                    let mut sum = row[0] * slope[0];
                    for b in 1..D {
                        sum = row[b].mul_add(slope[b], sum);
                    }
                    columns[starts[a] + r] = sum;
                }
            }
        }
    }
}

impl<L: Lanes> ElementKernel<L::Real> for Kernel<L> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        self.factors * L::WIDTH
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
        let vectors = (source.numbers, target.numbers);
        self.token.vectorize(
            #[inline(always)]
            || match (self.dim, self.nodes) {
                (2, 3) => self.linear::<2, 3>(batch, vectors, workspace),
                (3, 4) => self.linear::<3, 4>(batch, vectors, workspace),
                _ => self.dense(batch, vectors, self.scratch_of(workspace)),
            },
        );
    }

    fn diagonal(&self, batch: &Batch<L::Real>, target: Target<L::Real>, workspace: &mut Workspace) {
        let Scratch { out, .. } = self.scratch_of(workspace);
        self.token.vectorize(
            #[inline(always)]
            || {
                let nodes = self.nodes;
                for n in 0..nodes {
                    let mut sum = L::splat(self.token, crate::scalar::Real::from_f64(0.0));
                    for m in 0..self.factors {
                        let factor = load::<L>(self.token, batch.geometry, m);
                        let entry = L::splat(self.token, self.diagonals[m * nodes + n]);
                        sum = factor.mul_add(entry, sum);
                    }
                    for component in 0..self.components {
                        out[component * nodes + n] = sum;
                    }
                }
                scatter_any(
                    self.token,
                    batch.places(self.nodes, self.components),
                    out,
                    target.numbers,
                );
            },
        );
    }
}
