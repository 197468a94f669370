//! Host loops: SIMD over elements, whose matrices are read once.

use crate::family::MatrixStorage;
use crate::family::batch::{
    Batch, ElementKernel, Identity, Source, Target, Workspace, gather_any, scatter_any,
};
use crate::scalar::{Lanes, Real, SimdLevel, SimdTask, Vectorizable, dispatch};
use core::marker::PhantomData;
use fearless_simd::Simd;

/// The kernel of an instruction set, for elements with these numbers of nodes and components; its packed geometry
/// is `[entry][lane]`.
pub(super) fn build<T: Vectorizable>(
    storage: MatrixStorage,
    (nodes, components): (usize, usize),
    level: SimdLevel,
) -> Box<dyn ElementKernel<T>> {
    let task = Build {
        storage,
        nodes,
        components,
        precision: PhantomData,
    };
    dispatch(level, task)
}

/// Builds the kernel once the instruction set is chosen.
struct Build<T> {
    storage: MatrixStorage,
    nodes: usize,
    components: usize,
    precision: PhantomData<T>,
}

impl<T: Vectorizable> SimdTask for Build<T> {
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        Box::new(Kernel::<T::Lanes<S>> {
            token,
            identity: Identity::default(),
            storage: self.storage,
            nodes: self.nodes,
            components: self.components,
        })
    }
}

/// The kernel for one kind of lanes.
struct Kernel<L: Lanes> {
    token: L::Token,
    identity: Identity,
    storage: MatrixStorage,
    nodes: usize,
    components: usize,
}

/// Input and output of a batch, `[component][node]`.
struct Scratch<L> {
    u: Vec<L>,
    v: Vec<L>,
}

impl<L: Lanes> Kernel<L> {
    fn zeros(&self) -> Vec<L> {
        vec![L::splat(self.token, L::Real::from_f64(0.0)); self.nodes * self.components]
    }

    fn scratch(&self) -> Scratch<L> {
        Scratch {
            u: self.zeros(),
            v: self.zeros(),
        }
    }

    /// v = v + A u for a right-hand side.
    #[inline(always)]
    fn multiply(&self, matrix: &[L::Real], u: &[L], v: &mut [L]) {
        let entry =
            |row: &[L::Real], n: usize| L::load(self.token, &row[n * L::WIDTH..][..L::WIDTH]);
        let size = u.len();
        let mut rows = matrix.chunks(size * L::WIDTH);
        if !self.storage.triangle {
            for (column, u) in rows.zip(u) {
                for (n, v) in v.iter_mut().enumerate() {
                    *v = entry(column, n).mul_add(*u, *v);
                }
            }
            return;
        }
        if let Some(main) = rows.next() {
            for (n, v) in v.iter_mut().enumerate() {
                *v = entry(main, n).mul_add(u[n], *v);
            }
        }
        for (d, row) in (1..).zip(rows) {
            // The last diagonal may have half the entries.
            let count = row.len() / L::WIDTH;
            let (straight, wrapped) = (count.min(size - d), count.saturating_sub(size - d));
            for n in 0..straight {
                let a = entry(row, n);
                v[n] = a.mul_add(u[n + d], v[n]);
                v[n + d] = a.mul_add(u[n], v[n + d]);
            }
            for n in 0..wrapped {
                let (a, own) = (entry(row, size - d + n), size - d + n);
                v[own] = a.mul_add(u[n], v[own]);
                v[n] = a.mul_add(u[own], v[n]);
            }
        }
    }
}

impl<L: Lanes> ElementKernel<L::Real> for Kernel<L> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        self.storage.entries() * L::WIDTH
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
        let Scratch { u, v } = self.identity.scratch_of(workspace, || self.scratch());
        self.token.vectorize(
            #[inline(always)]
            || {
                let places = batch.places(self.nodes, self.components);
                gather_any(self.token, places, source.numbers, u);
                v.fill(L::splat(self.token, L::Real::from_f64(0.0)));
                let size = self.storage.unknowns;
                let sides = u.chunks_exact(size).zip(v.chunks_exact_mut(size));
                for (u, v) in sides {
                    self.multiply(batch.geometry, u, v);
                }
                scatter_any(self.token, places, v, target.numbers);
            },
        );
    }

    fn diagonal(&self, batch: &Batch<L::Real>, target: Target<L::Real>, workspace: &mut Workspace) {
        let Scratch { v, .. } = self.identity.scratch_of(workspace, || self.scratch());
        self.token.vectorize(
            #[inline(always)]
            || {
                for (row, v) in v.iter_mut().enumerate() {
                    let row = row % self.storage.unknowns;
                    let place = self.storage.place(row, row).unwrap_or(0);
                    *v = L::load(self.token, &batch.geometry[place * L::WIDTH..][..L::WIDTH]);
                }
                scatter_any(
                    self.token,
                    batch.places(self.nodes, self.components),
                    v,
                    target.numbers,
                );
            },
        );
    }
}
