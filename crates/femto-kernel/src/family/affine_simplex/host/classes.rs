//! The matrices of classes of nodes.

use super::rows::RowBlocks;
use crate::family::affine_simplex::Matrices;
use crate::scalar::Real;

/// The matrices of a class of nodes.
pub(super) struct Class<R> {
    /// Derivatives along each axis, of the class that they are, `[axis and rank][sum]`.
    pub(super) slopes: RowBlocks<R>,
    /// Their transpose, then M, `[sum][axis and rank, then sum]`.
    pub(super) back: RowBlocks<R>,
    /// Its first sum.
    pub(super) first: usize,
    /// Its start in the kernel's `Scratch::columns`, and of each axis' derivatives.
    pub(super) start: usize,
    pub(super) starts: Vec<usize>,
}

impl<R: Real> Class<R> {
    pub(super) fn new(matrices: &Matrices, class: usize, start: usize) -> Self {
        let symmetry = &matrices.symmetry;
        let sums = symmetry.sums(class).len();
        // Derivatives of functions of this class are of that class along an axis.
        let of = |axis: usize| symmetry.before(axis, class);
        let (mut rows, mut starts) = (Vec::new(), Vec::new());
        for axis in 0..matrices.axes() {
            starts.push(start + rows.len());
            rows.extend((0..matrices.ranks[of(axis)]).map(|rank| (axis, rank)));
        }
        let slope = |row: usize, sum: usize| {
            let (axis, rank) = rows[row];
            matrices.derivatives[of(axis)][axis][rank * sums + sum]
        };
        let masses = matrices.masses.get(class);
        let back = |sum: usize, column: usize| match column.checked_sub(rows.len()) {
            None => slope(column, sum),
            Some(other) => masses.map_or(0.0, |mass| mass[sum * sums + other]),
        };
        let columns = rows.len() + masses.map_or(0, |_| sums);
        Self {
            slopes: RowBlocks::new((rows.len(), sums), slope),
            back: RowBlocks::new((sums, columns), back),
            first: symmetry.starts()[class],
            start,
            starts,
        }
    }

    /// Its numbers in the kernel's `Scratch::columns`.
    pub(super) fn columns(&self) -> usize {
        self.back.columns
    }
}

/// Derivatives of one class along all axes.
pub(super) struct Flux {
    pub(super) rank: usize,
    /// Their starts in the kernel's `Scratch::columns`, `[axis]`.
    pub(super) starts: Vec<usize>,
}
