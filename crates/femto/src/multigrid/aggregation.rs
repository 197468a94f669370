//! Levels below degree 1, by smoothed aggregation.
//!
//! ```text
//! P = (I - 4/(3 λ) D⁻¹F) T,  A of the next level = Pᵀ A P
//! ```
//! with the tentative T of [`NearKernel::tentative`], the diagonal D of F and about the largest eigenvalue λ of D⁻¹F
//! (Vaněk, Mandel and Brezina 1996). F is A without its weak couplings, so that P does not spread where aggregates do
//! not. The set-up is on the host, and the same for any number of its threads.

use super::aggregates::{Aggregates, NearKernel, strong};
use super::cycle::{LevelMethod, LevelVectors};
use super::lines::{Chains, LineInverse};
use super::smoother::{Inverse, Smoother};
use super::stopwatch::Stopwatch;
use super::{MultigridError, dense};
use crate::Number;
use crate::operator::OperatorError;
use crate::solve::{Jacobi, LinearOperator};
use crate::vector::csr::RowSums;
use crate::vector::{Csr, SparseMatrix, VectorOps, upload_f64};
use femto_platform::device::{Device, DeviceError};
use rayon::prelude::*;

/// The largest eigenvalue of D⁻¹F by the norm of D^-½ F D^-½ is 0.7 on cubes, 0.97 on cells of 64:1 and 0.56 in
/// elasticity. With this part of the norm as λ of P, which need not be an upper bound, iterations are about those with
/// an estimate by the Lanczos process.
const LARGEST: f64 = 0.85;

/// Order of the smoother: these levels are small, and worth smoothing well.
const ORDER: usize = 4;

/// The most unknowns that are solved for by a dense inverse.
const DENSE: usize = 500;

/// The levels, finest first.
pub(super) struct Aggregation<T: Number, D: Device> {
    pub(super) levels: Vec<MatrixLevel<T, D>>,
    pub(super) coarsest: Coarsest<T, D>,
}

/// A level with its prolongation from the next one.
pub(super) struct MatrixLevel<T: Number, D: Device> {
    pub(super) matrix: SparseMatrix<T, D>,
    pub(super) smoother: Smoother<T, D>,
    pub(super) prolongation: SparseMatrix<T, D>,
    /// Its transpose.
    pub(super) restriction: SparseMatrix<T, D>,
}

/// The last level.
pub(super) enum Coarsest<T: Number, D: Device> {
    /// The inverse of its matrix.
    Inverse(SparseMatrix<T, D>),
    /// Only smoothed, since nodes are hardly coupled and aggregates do not shrink it.
    Smoothed(SparseMatrix<T, D>, Smoother<T, D>),
}

impl<T: Number, D: VectorOps<T>> MatrixLevel<T, D> {
    /// fine = fine + P coarse.
    pub(super) fn prolong(
        &self,
        coarse: &D::Buffer<T>,
        fine: &mut D::Buffer<T>,
    ) -> Result<(), DeviceError> {
        let device = self.smoother.device();
        device.multiply_sparse(&self.prolongation, coarse, true, fine)
    }

    /// Bytes of device memory.
    fn bytes(&self) -> usize {
        let matrices = [&self.matrix, &self.prolongation, &self.restriction];
        matrices.map(SparseMatrix::bytes).iter().sum::<usize>() + self.smoother.bytes()
    }
}

impl<T: Number, D: VectorOps<T>> Coarsest<T, D> {
    /// The matrix, or its inverse.
    pub(super) fn matrix(&self) -> &SparseMatrix<T, D> {
        let (Self::Inverse(matrix) | Self::Smoothed(matrix, _)) = self;
        matrix
    }

    pub(super) fn method(&self) -> LevelMethod {
        match self {
            Self::Inverse(_) => LevelMethod::Inverse,
            Self::Smoothed(_, smoother) => smoother.method(),
        }
    }

    /// Number of rows of the smoother's lines.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Inverse(_) => 0,
            Self::Smoothed(_, smoother) => smoother.rows(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Inverse(inverse) => inverse.bytes(),
            Self::Smoothed(matrix, smoother) => matrix.bytes() + smoother.bytes(),
        }
    }

    /// x = A⁻¹ b, or an approximation.
    pub(super) fn solve(&self, own: &mut LevelVectors<T, D>) -> Result<(), OperatorError> {
        match self {
            Self::Inverse(inverse) => inverse.apply(&own.b, &mut own.x),
            Self::Smoothed(matrix, smoother) => smoother.start(matrix, own),
        }
    }
}

impl<T: Number, D: VectorOps<T>> Aggregation<T, D> {
    /// From a matrix on, with the functions that it nearly maps to zero, the combinations of them that it does map
    /// to zero, the smoothers' factor of safety, whether they may solve along lines, and a watch with the number of the first
    /// level.
    pub(super) fn new(
        device: &D,
        mut matrix: Csr,
        (mut kernel, null_space): (NearKernel, &[Vec<f64>]),
        (safety, along_lines): (f64, bool),
        (watch, first): (&mut Stopwatch, usize),
    ) -> Result<Self, MultigridError> {
        let mut levels = Vec::new();
        while matrix.rows() > DENSE {
            let on_device = SparseMatrix::new(device, &matrix)?;
            let strong = strong(&matrix, &kernel);
            let chains = along_lines.then(|| Chains::of_couplings(&strong));
            let chains = chains.filter(Chains::are_many);
            let lines = match &chains {
                Some(chains) => LineInverse::of_matrix(device, &matrix, (chains, kernel.block))?,
                None => None,
            };
            let (inverse, chains) = match lines {
                Some(lines) => (Inverse::Lines(lines), chains),
                None => (inverse_of(device, &matrix.diagonal())?, None),
            };
            let smoother = Smoother::new(device, &on_device, inverse, (ORDER, safety))?;
            // Along lines, unless they are too short.
            let along = chains.map(|chains| chains.alone(&strong));
            let of = |strong: Csr| (Aggregates::new(&strong, &kernel), strong);
            let size = |aggregates: &Aggregates| aggregates.count * kernel.modes;
            let shrinks = |aggregates: &Aggregates| 2 * size(aggregates) <= matrix.rows();
            let along = along.map(of).filter(|(aggregates, _)| shrinks(aggregates));
            let (aggregates, strong) = along.unwrap_or_else(|| of(strong));
            if aggregates.count == 0 || !shrinks(&aggregates) {
                let coarsest = Coarsest::Smoothed(on_device, smoother);
                watch.lap(first + levels.len());
                return Ok(Self { levels, coarsest });
            }
            let (tentative, coarse) = kernel.tentative(&aggregates);
            let filtered = without_weak(&matrix, &kernel, &strong);
            let prolongation = match filtered.and_then(|f| Some((lambda(&f)?, f))) {
                Some((lambda, filtered)) => smoothed(&filtered, lambda, &tentative),
                None => smoothed(&matrix, smoother.bound, &tentative),
            };
            let restriction = prolongation.transposed();
            matrix = with_whole_diagonal(restriction.times(&matrix.times(&prolongation)));
            kernel = coarse;
            levels.push(MatrixLevel {
                matrix: on_device,
                smoother,
                prolongation: SparseMatrix::new(device, &prolongation)?,
                restriction: SparseMatrix::new(device, &restriction)?,
            });
            watch.lap(first + levels.len() - 1);
        }
        let null_space = null_space.iter().map(|it| kernel.combined(it)).collect();
        let inverse = dense::inverse(&regular(matrix, null_space))?;
        let coarsest = Coarsest::Inverse(SparseMatrix::new(device, &inverse)?);
        watch.lap(first + levels.len());
        Ok(Self { levels, coarsest })
    }

    /// Lengths of the vectors of all levels.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let levels = self.levels.iter().map(|level| level.matrix.rows());
        levels.chain([self.coarsest.matrix().rows()]).collect()
    }

    /// Bytes of device memory of all levels.
    pub(super) fn level_bytes(&self) -> Vec<usize> {
        let levels = self.levels.iter().map(MatrixLevel::bytes);
        levels.chain([self.coarsest.bytes()]).collect()
    }
}

/// The matrix F without weak couplings, which are added to the diagonal so that the functions of the near kernel, or
/// at least its constants, have the same product.
///
/// With them P would spread over weak couplings, and levels would fill. Of rotations only the changes across weak
/// couplings are lost. Rows with a negative sum, as positive couplings to held nodes leave them, get the sum zero, so that
/// F of one component is not indefinite. For vectors F is not quite symmetric: with only the couplings of the same
/// component on the diagonal it would be, and an elastic beam would take twice the iterations.
///
/// `None` if neither is known to be possible: a coarse level of several functions has no constants.
fn without_weak(matrix: &Csr, kernel: &NearKernel, strong: &Csr) -> Option<Csr> {
    if kernel.modes > 1 && !kernel.has_constants {
        return None;
    }
    let (size, block) = ((matrix.rows(), matrix.columns()), kernel.block);
    let write = |lumped: &mut Vec<f64>, row: usize, entries: &mut Vec<(u32, f64)>| {
        let near = strong.row_columns(row / block);
        // The function of the row's component at a column, relative to the row.
        let factor = |column: u32| match kernel.modes {
            1 => kernel.values[column as usize] / kernel.values[row],
            _ => 1.0,
        };
        let add = |entries: &mut Vec<(u32, f64)>, column: usize, value: f64| match entries
            .binary_search_by_key(&column, |entry| entry.0 as usize)
        {
            Ok(place) => entries[place].1 += value,
            Err(place) => entries.insert(place, (column as u32, value)),
        };
        lumped.clear();
        lumped.resize(block, 0.0);
        // Both lists ascend.
        let mut left = near;
        for (column, value) in matrix.row(row) {
            let node = column / block as u32;
            while left.first().is_some_and(|&first| first < node) {
                left = &left[1..];
            }
            match near.is_empty() || left.first() == Some(&node) {
                true => entries.push((column, value)),
                false => lumped[column as usize % block] += value * factor(column),
            }
        }
        for (component, &value) in lumped.iter().enumerate().filter(|it| *it.1 != 0.0) {
            add(entries, row / block * block + component, value);
        }
        if !near.is_empty() {
            let same = entries
                .iter()
                .filter(|entry| entry.0 as usize % block == row % block);
            let sum: f64 = same.map(|&(column, value)| value * factor(column)).sum();
            add(entries, row, -sum.min(0.0));
        }
    };
    Some(Csr::by_rows_with(size, Vec::new, write))
}

/// λ of P, and `None` if the diagonal of F is not positive. The norm is that of D^-½ F D^-½, whose eigenvalues are
/// those of D⁻¹F: the units of components do not matter.
fn lambda(f: &Csr) -> Option<f64> {
    let diagonal = f.diagonal();
    if diagonal.iter().any(|&entry| entry <= 0.0 || entry.is_nan()) {
        return None;
    }
    let norm = |row: usize| {
        let scaled = f.row(row).map(|(column, value)| {
            value.abs() / (diagonal[row] * diagonal[column as usize]).sqrt()
        });
        scaled.sum::<f64>()
    };
    let norms = (0..f.rows()).into_par_iter().map(norm);
    Some(LARGEST * norms.reduce(|| 0.0, f64::max))
}

/// D⁻¹, on the device.
fn inverse_of<T: Number, D: VectorOps<T>>(
    device: &D,
    diagonal: &[f64],
) -> Result<Inverse<T, D>, MultigridError> {
    let diagonal = upload_f64(device, diagonal)?;
    Ok(Inverse::Diagonal(Jacobi::new(device, &diagonal)?))
}

/// T - 4/(3 λ) D⁻¹F T.
fn smoothed(f: &Csr, lambda: f64, tentative: &Csr) -> Csr {
    let size = (tentative.rows(), tentative.columns());
    let diagonal = f.diagonal();
    let scratch = || RowSums::new(size.1);
    Csr::by_rows_with(size, scratch, |sums, row, entries| {
        let scale = -4.0 / (3.0 * lambda * diagonal[row]);
        for (middle, factor) in f.row(row) {
            for (column, value) in tentative.row(middle as usize) {
                sums.add_product(column, scale * factor, value);
            }
        }
        for (column, value) in tentative.row(row) {
            sums.add_product(column, 1.0, value);
        }
        sums.take(entries);
    })
}

/// With a multiple of n nᵀ added for each n of the null space: then it has an inverse, which acts on vectors
/// orthogonal to n as before.
fn regular(matrix: Csr, null_space: Vec<Vec<f64>>) -> Csr {
    let size = matrix.rows();
    let scale = matrix.diagonal().iter().sum::<f64>() / size as f64;
    null_space.into_iter().fold(matrix, |matrix, n| {
        let factor = scale / n.iter().map(|n| n * n).sum::<f64>();
        Csr::by_rows((size, size), |row, entries| {
            entries.extend((0..).zip(n.iter().map(|other| factor * n[row] * other)));
            for (column, value) in matrix.row(row) {
                entries[column as usize].1 += value;
            }
        })
    })
}

/// With a typical diagonal entry in rows without entries: functions that an aggregate does not need.
fn with_whole_diagonal(matrix: Csr) -> Csr {
    let diagonal = matrix.diagonal();
    if diagonal.iter().all(|&entry| entry != 0.0) {
        return matrix;
    }
    let typical = typical(diagonal.iter().copied());
    let size = (matrix.rows(), matrix.columns());
    Csr::by_rows(size, |row, entries| match diagonal[row] {
        0.0 => entries.push((row as u32, typical)),
        _ => entries.extend(matrix.row(row)),
    })
}

/// The mean of a diagonal's positive entries, or one without any. Rows that nothing depends on take it as their diagonal:
/// with much larger entries, random vectors would be about them alone.
pub(super) fn typical(diagonal: impl Iterator<Item = f64>) -> f64 {
    let positive = diagonal.filter(|&entry| entry > 0.0);
    let (sum, count) = positive.fold((0.0, 0.0), |(sum, count), it| (sum + it, count + 1.0));
    if sum > 0.0 { sum / count } else { 1.0 }
}
