//! Values and derivatives of a basis at points, as one matrix that is applied to lanes.

use super::point_classes::{Classes, PointClasses};
use crate::form::{AtPoints, MOST_POINTS};
use crate::scalar::{Lanes, Real};
use core::ops::Range;
use fearless_simd::Simd;
use femto_element::tables::{BasisAtPoints, DenseTables};
use std::sync::Arc;

/// The matrix from nodes to points. It has rows of values, if these are wanted, and of each reference derivative, if they
/// are. Points are taken in chunks of [`MOST_POINTS`].
#[derive(Debug)]
pub(crate) struct PointMatrix<T> {
    nodes: usize,
    /// Rows of a point.
    rows: usize,
    entries: Entries<T>,
}

#[derive(Debug)]
enum Entries<T> {
    /// `[chunk][row][node][point of the chunk]`
    All(Vec<T>),
    /// Between sums over orbits.
    Classes(PointClasses<T>),
}

/// The matrices of an operator: those to points, of the solution and of fields in its space, and that of the test
/// functions.
pub(crate) struct Matrices<T> {
    pub(crate) solution: Arc<PointMatrix<T>>,
    pub(crate) fields: Arc<PointMatrix<T>>,
    pub(crate) test: Arc<PointMatrix<T>>,
}

impl<T: Real> Matrices<T> {
    /// Each with values and derivatives as wanted, of a basis with this many derivatives at a point; what is wanted alike
    /// is kept once.
    pub(crate) fn new(tables: &dyn BasisAtPoints, dim: usize, wanted: [[bool; 2]; 3]) -> Self {
        Self::made(wanted, |wanted| PointMatrix::new(tables, dim, wanted))
    }

    /// Those between sums over orbits, with derivatives along the axes of the classes.
    pub(crate) fn by_classes(
        tables: &DenseTables,
        classes: &Classes,
        wanted: [[bool; 2]; 3],
    ) -> Self {
        Self::made(wanted, |wanted| {
            PointMatrix::by_classes(tables, classes, wanted)
        })
    }

    /// Numbers of a spare array for all of them.
    pub(crate) fn spare(&self) -> usize {
        let all = [&self.solution, &self.fields, &self.test].into_iter();
        all.map(|it| it.spare()).max().unwrap_or(0)
    }

    fn made(
        [solution, fields, test]: [[bool; 2]; 3],
        make: impl Fn([bool; 2]) -> PointMatrix<T>,
    ) -> Self {
        let make = |wanted| Arc::new(make(wanted));
        let first = make(solution);
        let own = |wanted| match wanted == solution {
            true => Arc::clone(&first),
            false => make(wanted),
        };
        Self {
            fields: own(fields),
            test: own(test),
            solution: first,
        }
    }
}

/// The chunks of this many points.
pub(crate) fn chunks(points: usize) -> impl Iterator<Item = Range<usize>> {
    (0..points)
        .step_by(MOST_POINTS)
        .map(move |first| first..points.min(first + MOST_POINTS))
}

impl<T: Real> PointMatrix<T> {
    /// Of a basis with `dim` derivatives at a point; `wanted` tells whether its values and its derivatives are.
    pub(crate) fn new(tables: &dyn BasisAtPoints, dim: usize, wanted: [bool; 2]) -> Self {
        let nodes = tables.nodes();
        let entry = |q: usize, row: usize, node: usize| {
            let (value, derivatives) = tables.at(q, node);
            match row.checked_sub(usize::from(wanted[0])) {
                None => value,
                Some(axis) => derivatives[axis],
            }
        };
        let rows = usize::from(wanted[0]) + dim * usize::from(wanted[1]);
        let mut entries = Vec::with_capacity(rows * nodes * tables.points());
        for chunk in chunks(tables.points()) {
            for row in 0..rows {
                for node in 0..nodes {
                    let own = chunk.clone().map(|q| entry(q, row, node));
                    entries.extend(own.map(T::from_f64));
                }
            }
        }
        Self {
            nodes,
            rows,
            entries: Entries::All(entries),
        }
    }

    /// As [`Self::new`], between sums over orbits.
    fn by_classes(tables: &DenseTables, classes: &Classes, wanted: [bool; 2]) -> Self {
        Self {
            nodes: tables.nodes,
            rows: usize::from(wanted[0]) + tables.dim * usize::from(wanted[1]),
            entries: Entries::Classes(PointClasses::new(tables, classes, wanted)),
        }
    }

    /// Entries of a row at a chunk's points.
    #[inline(always)]
    fn row<'a>(&self, entries: &'a [T], chunk: &Range<usize>, row: usize) -> &'a [T] {
        let len = self.nodes * chunk.len();
        &entries[chunk.start * self.rows * self.nodes + row * len..][..len]
    }

    /// Values at nodes as the matrix multiplies them, in place; `spare` has a number for each node.
    #[inline(always)]
    pub(crate) fn prepare<L: Lanes<Real = T>>(&self, nodal: &mut [L], spare: &mut [L]) {
        if let Entries::Classes(classes) = &self.entries {
            for component in nodal.chunks_exact_mut(self.nodes) {
                classes.prepare(component, spare);
            }
        }
    }

    /// The transpose of [`Self::prepare`], for sums that [`Self::add_to_nodes`] made.
    #[inline(always)]
    pub(crate) fn finish<L: Lanes<Real = T>>(&self, out: &mut [L], spare: &mut [L]) {
        if let Entries::Classes(classes) = &self.entries {
            for component in out.chunks_exact_mut(self.nodes) {
                classes.finish(component, spare);
            }
        }
    }

    /// Numbers of a spare array.
    pub(crate) fn spare(&self) -> usize {
        match &self.entries {
            Entries::All(_) => 0,
            Entries::Classes(_) => self.nodes.max(self.rows * MOST_POINTS),
        }
    }

    /// Values and derivatives at a chunk's points from prepared values at the nodes; `values` and `derivatives` are there
    /// if they are wanted. See [`Self::spare`].
    #[inline(never)]
    pub(crate) fn to_points<L: Lanes<Real = T>>(
        &self,
        token: L::Token,
        chunk: &Range<usize>,
        nodal: &[L],
        values: Option<&mut AtPoints<L>>,
        derivatives: &mut [AtPoints<L>],
        spare: &mut [L],
    ) {
        token.vectorize(
            #[inline(always)]
            || {
                let len = chunk.len();
                let rows = values.into_iter().chain(derivatives);
                match &self.entries {
                    Entries::All(entries) => {
                        for (n, out) in rows.enumerate().take(self.rows) {
                            multiply_by(token, self.row(entries, chunk, n), len, nodal, out);
                        }
                    }
                    Entries::Classes(classes) => {
                        classes.to_points(token, chunk, nodal, rows, spare);
                    }
                }
            },
        );
    }

    /// Adds to `out`, at the nodes, what a chunk's points contribute to values and derivatives; see [`Self::finish`].
    #[inline(never)]
    pub(crate) fn add_to_nodes<L: Lanes<Real = T>>(
        &self,
        token: L::Token,
        chunk: &Range<usize>,
        (values, derivatives): (Option<&AtPoints<L>>, &[AtPoints<L>]),
        out: &mut [L],
        spare: &mut [L],
    ) {
        token.vectorize(
            #[inline(always)]
            || {
                let rows = values.into_iter().chain(derivatives);
                match &self.entries {
                    Entries::All(entries) => {
                        for (n, coefficients) in rows.enumerate().take(self.rows) {
                            let row = self.row(entries, chunk, n);
                            add_by(token, row, chunk.len(), coefficients, out);
                        }
                    }
                    Entries::Classes(classes) => {
                        classes.add_to_nodes(token, chunk, rows, out, spare);
                    }
                }
            },
        );
    }
}

/// [`multiply`] at `len` points.
#[inline(always)]
pub(super) fn multiply_by<L: Lanes>(
    token: L::Token,
    entries: &[L::Real],
    len: usize,
    nodal: &[L],
    out: &mut [L],
) {
    match len {
        1 => multiply::<L, 1>(token, entries, nodal, out),
        2 => multiply::<L, 2>(token, entries, nodal, out),
        3 => multiply::<L, 3>(token, entries, nodal, out),
        4 => multiply::<L, 4>(token, entries, nodal, out),
        5 => multiply::<L, 5>(token, entries, nodal, out),
        6 => multiply::<L, 6>(token, entries, nodal, out),
        7 => multiply::<L, 7>(token, entries, nodal, out),
        _ => multiply::<L, 8>(token, entries, nodal, out),
    }
}

/// [`add_transposed`] of `len` points.
#[inline(always)]
pub(super) fn add_by<L: Lanes>(
    token: L::Token,
    entries: &[L::Real],
    len: usize,
    coefficients: &[L],
    out: &mut [L],
) {
    match len {
        1 => add_transposed::<L, 1>(token, entries, coefficients, out),
        2 => add_transposed::<L, 2>(token, entries, coefficients, out),
        3 => add_transposed::<L, 3>(token, entries, coefficients, out),
        4 => add_transposed::<L, 4>(token, entries, coefficients, out),
        5 => add_transposed::<L, 5>(token, entries, coefficients, out),
        6 => add_transposed::<L, 6>(token, entries, coefficients, out),
        7 => add_transposed::<L, 7>(token, entries, coefficients, out),
        _ => add_transposed::<L, 8>(token, entries, coefficients, out),
    }
}

/// `out` = M `nodal` at N points, with the columns of M: as many sums as hide the latency of an addition.
#[inline(always)]
fn multiply<L: Lanes, const N: usize>(
    token: L::Token,
    columns: &[L::Real],
    nodal: &[L],
    out: &mut [L],
) {
    let mut sums = [L::splat(token, L::Real::from_f64(0.0)); N];
    for (&value, column) in nodal.iter().zip(columns.as_chunks::<N>().0) {
        for n in 0..N {
            sums[n] = value.mul_add(L::splat(token, column[n]), sums[n]);
        }
    }
    if let Some(out) = out.first_chunk_mut::<N>() {
        *out = sums;
    }
}

/// `out` += Mᵀ `coefficients` of N points.
#[inline(always)]
fn add_transposed<L: Lanes, const N: usize>(
    token: L::Token,
    columns: &[L::Real],
    coefficients: &[L],
    out: &mut [L],
) {
    // A copy, which stays in registers.
    let Some(&own) = coefficients.first_chunk::<N>() else {
        return;
    };
    for (out, column) in out.iter_mut().zip(columns.as_chunks::<N>().0) {
        let mut sum = *out;
        for n in 0..N {
            sum = own[n].mul_add(L::splat(token, column[n]), sum);
        }
        *out = sum;
    }
}
