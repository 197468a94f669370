//! Host loops: SIMD over cells, products with dense matrices whose rows are taken eight at a time, at degree 1
//! differences of vertices in registers.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::Matrices;
use crate::family::batch::{
    Batch, ElementKernel, Identity, Source, Target, Workspace, gather, gather_any, scatter,
    scatter_any,
};
use crate::scalar::{Lanes, SimdLevel, SimdTask, Vectorizable, dispatch};
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
        let Matrices {
            dim,
            nodes,
            mass,
            derivatives,
            rank,
            ..
        } = self.matrices;
        let (slopes, masses) = (
            derivatives.len() / nodes,
            usize::from(mass.is_some()) * nodes,
        );
        let back = |row: usize, column: usize| match column.checked_sub(slopes) {
            None => derivatives[column * nodes + row],
            Some(column) => mass.as_ref().map_or(0.0, |mass| mass[row * nodes + column]),
        };
        let all = self.matrices.all(true).into_iter();
        let diagonal =
            |matrix: Vec<f64>| (0..*nodes).map(move |n| T::from_f64(matrix[n * nodes + n]));
        Box::new(Kernel::<T::Lanes<S>> {
            token,
            identity: Identity::default(),
            dim: *dim,
            nodes: *nodes,
            rank: *rank,
            components: self.components,
            factors: self.matrices.factors(),
            slopes: RowBlocks::new((slopes, *nodes), |row, column| {
                derivatives[row * nodes + column]
            }),
            back: RowBlocks::new((*nodes, slopes + masses), back),
            masses: mass
                .as_ref()
                .map(|mass| [mass[0] - mass[1], mass[1]].map(T::from_f64)),
            diagonals: all.flat_map(diagonal).collect(),
        })
    }
}

/// Rows of a matrix that are multiplied at the same time.
const ROWS: usize = 8;

/// A matrix in blocks of rows, `[block][column][ROWS]`; rows beyond the last are zero.
struct RowBlocks<R> {
    columns: usize,
    entries: Vec<[R; ROWS]>,
}

impl<R: crate::scalar::Real> RowBlocks<R> {
    fn new((rows, columns): (usize, usize), entry: impl Fn(usize, usize) -> f64) -> Self {
        let at = |row: usize, column: usize| match row < rows {
            true => R::from_f64(entry(row, column)),
            false => R::from_f64(0.0),
        };
        let blocks = 0..rows.div_ceil(ROWS);
        let entries = blocks.flat_map(|block| {
            let columns = 0..columns;
            columns.map(move |column| core::array::from_fn(|row| (block * ROWS + row, column)))
        });
        let entries = entries
            .map(|places: [(usize, usize); ROWS]| places.map(|(row, column)| at(row, column)));
        Self {
            columns,
            entries: entries.collect(),
        }
    }

    /// The product with a vector, into `out`, `[rows]`.
    #[inline(always)]
    fn multiply<L: Lanes<Real = R>>(&self, token: L::Token, vector: &[L], out: &mut [L]) {
        if self.columns == 0 {
            return;
        }
        let zero = L::splat(token, R::from_f64(0.0));
        let blocks = self.entries.chunks_exact(self.columns);
        for (block, out) in blocks.zip(out.chunks_mut(ROWS)) {
            let mut sums = [zero; ROWS];
            for (entries, &x) in block.iter().zip(vector) {
                for (sum, &entry) in sums.iter_mut().zip(entries) {
                    *sum = L::splat(token, entry).mul_add(x, *sum);
                }
            }
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

/// The kernel for one kind of lanes.
struct Kernel<L: Lanes> {
    token: L::Token,
    identity: Identity,
    dim: usize,
    nodes: usize,
    rank: usize,
    components: usize,
    /// Numbers of a cell's packed geometry.
    factors: usize,
    /// D̂, `[axis and rank][node]`.
    slopes: RowBlocks<L::Real>,
    /// D̂ᵀ, then M, `[node][axis and rank, then node]`.
    back: RowBlocks<L::Real>,
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
    /// Derivatives `[axis][rank]`, then values `[node]`.
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
            columns: zeros(self.back.columns),
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
        if self.rank > 0 {
            let factors = &geometry[..D * (D + 1) / 2 * L::WIDTH];
            let square = self.slopes.entries[1][0] * self.slopes.entries[1][0];
            let mut slope = [u[0]; D];
            for a in 0..D {
                slope[a] = (u[a + 1] - u[0]) * L::splat(token, square);
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
            columns,
        } = scratch;
        let places = batch.places(self.nodes, self.components);
        gather_any(self.token, places, source, nodal);
        for component in 0..self.components {
            let own = component * self.nodes..(component + 1) * self.nodes;
            let u = &nodal[own.clone()];
            self.slopes.multiply(self.token, u, columns);
            match self.dim {
                2 => self.weigh::<2>(batch.geometry, u, columns),
                _ => self.weigh::<3>(batch.geometry, u, columns),
            }
            self.back.multiply(self.token, columns, &mut out[own]);
        }
        scatter_any(self.token, places, out, target);
    }

    /// Multiplies derivatives by the factors G, and values by λ |J|.
    #[inline(always)]
    fn weigh<const D: usize>(&self, geometry: &[L::Real], u: &[L], columns: &mut [L]) {
        let factor = |n: usize| load(self.token, geometry, n);
        let (slopes, values) = columns.split_at_mut(D * self.rank);
        if self.rank > 0 {
            let factors: [[L; D]; D] =
                core::array::from_fn(|a| core::array::from_fn(|b| factor(pair::<D>(a, b))));
            for r in 0..self.rank {
                let slope: [L; D] = core::array::from_fn(|axis| slopes[axis * self.rank + r]);
                for (a, row) in factors.iter().enumerate() {
                    let mut sum = row[0] * slope[0];
                    for b in 1..D {
                        sum = row[b].mul_add(slope[b], sum);
                    }
                    slopes[a * self.rank + r] = sum;
                }
            }
        }
        if !values.is_empty() {
            let lambda = factor(self.factors - 1);
            for (value, &u) in values.iter_mut().zip(u) {
                *value = lambda * u;
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
