//! Values and derivatives of a basis at points, as one matrix that is applied to lanes.

use crate::form::{AtPoints, MOST_POINTS};
use crate::scalar::{Lanes, Real};
use core::ops::Range;
use fearless_simd::Simd;
use femto_element::tables::BasisAtPoints;
use std::sync::Arc;

/// The matrix from nodes to points. It has rows of values, if these are wanted, and of each reference derivative, if they
/// are. Points are taken in chunks of [`MOST_POINTS`].
#[derive(Debug)]
pub(crate) struct PointMatrix<T> {
    nodes: usize,
    /// Rows of a point.
    rows: usize,
    /// `[chunk][row][node][point of the chunk]`
    entries: Vec<T>,
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
        let [solution, fields, test] = wanted;
        let make = |wanted| Arc::new(PointMatrix::new(tables, dim, wanted));
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
            entries,
        }
    }

    /// Entries of a row at a chunk's points.
    #[inline(always)]
    fn row(&self, chunk: &Range<usize>, row: usize) -> &[T] {
        let len = self.nodes * chunk.len();
        &self.entries[chunk.start * self.rows * self.nodes + row * len..][..len]
    }

    /// Values and derivatives at a chunk's points from values at the nodes; `values` and `derivatives` are there if they
    /// are wanted.
    #[inline(never)]
    pub(crate) fn to_points<L: Lanes<Real = T>>(
        &self,
        token: L::Token,
        chunk: &Range<usize>,
        nodal: &[L],
        values: Option<&mut AtPoints<L>>,
        derivatives: &mut [AtPoints<L>],
    ) {
        token.vectorize(
            #[inline(always)]
            || {
                let (first, len) = (usize::from(values.is_some()), chunk.len());
                if let Some(out) = values {
                    multiply_by(token, self.row(chunk, 0), len, nodal, out);
                }
                for (n, out) in (first..self.rows).zip(derivatives) {
                    multiply_by(token, self.row(chunk, n), len, nodal, out);
                }
            },
        );
    }

    /// Adds to `out`, at the nodes, what a chunk's points contribute to values and derivatives.
    #[inline(never)]
    pub(crate) fn add_to_nodes<L: Lanes<Real = T>>(
        &self,
        token: L::Token,
        chunk: &Range<usize>,
        (values, derivatives): (Option<&AtPoints<L>>, &[AtPoints<L>]),
        out: &mut [L],
    ) {
        token.vectorize(
            #[inline(always)]
            || {
                let (first, len) = (usize::from(values.is_some()), chunk.len());
                if let Some(coefficients) = values {
                    add_by(token, self.row(chunk, 0), len, coefficients, out);
                }
                for (n, coefficients) in (first..self.rows).zip(derivatives) {
                    add_by(token, self.row(chunk, n), len, coefficients, out);
                }
            },
        );
    }
}

#[inline(always)]
fn multiply_by<L: Lanes>(
    token: L::Token,
    entries: &[L::Real],
    len: usize,
    nodal: &[L],
    out: &mut AtPoints<L>,
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

#[inline(always)]
fn add_by<L: Lanes>(
    token: L::Token,
    entries: &[L::Real],
    len: usize,
    coefficients: &AtPoints<L>,
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
    out: &mut AtPoints<L>,
) {
    let mut sums = [L::splat(token, L::Real::from_f64(0.0)); N];
    for (&value, column) in nodal.iter().zip(columns.as_chunks::<N>().0) {
        for n in 0..N {
            sums[n] = value.mul_add(L::splat(token, column[n]), sums[n]);
        }
    }
    for (out, &sum) in out.iter_mut().zip(&sums) {
        *out = sum;
    }
}

/// `out` += Mᵀ `coefficients` of N points.
#[inline(always)]
fn add_transposed<L: Lanes, const N: usize>(
    token: L::Token,
    columns: &[L::Real],
    coefficients: &AtPoints<L>,
    out: &mut [L],
) {
    let mut own = [coefficients[0]; N];
    for (own, &coefficient) in own.iter_mut().zip(coefficients) {
        *own = coefficient;
    }
    for (out, column) in out.iter_mut().zip(columns.as_chunks::<N>().0) {
        let mut sum = *out;
        for n in 0..N {
            sum = own[n].mul_add(L::splat(token, column[n]), sum);
        }
        *out = sum;
    }
}
