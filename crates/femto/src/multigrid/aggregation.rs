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
use crate::vector::{Csr, SparseMatrix, VectorOps, upload_f64};
use femto_fem::parallel;
use femto_platform::device::{Device, DeviceError};

/// The largest eigenvalue of D⁻¹F by the norm of D^-½ F D^-½ is 0.7 on cubes, 0.97 on cells of 64:1 and 0.56 in
/// elasticity. With this part of the norm as λ of P, which need not be an upper bound, iterations are about those with
/// an estimate by the Lanczos process.
const LARGEST: f64 = 0.85;

/// Order of the smoother: these levels are small, and worth smoothing well.
const ORDER: usize = 4;

/// If less than this part of the nodes is on lines, cells are not stretched.
const FEW: f64 = 0.03;

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
        (safety, mut along_lines): (f64, bool),
        (watch, first): (&mut Stopwatch, usize),
    ) -> Result<Self, MultigridError> {
        let mut levels = Vec::new();
        while matrix.rows() > DENSE {
            let own = kernel.block;
            let on_device = SparseMatrix::by_blocks(device, &matrix, [own; 2])?;
            let strong = strong(&matrix, &kernel);
            let (chains, part) = match along_lines {
                true => Chains::of_couplings(&strong),
                false => (None, 0.0),
            };
            let lines = match &chains {
                Some(chains) => LineInverse::of_matrix(device, &matrix, (chains, kernel.block))?,
                None => None,
            };
            let (inverse, chains) = match lines {
                Some(lines) => (Inverse::Lines(lines), chains),
                None => (inverse_of(device, &matrix.diagonal())?, None),
            };
            // Where cells are not stretched, aggregates of several modes seem to be.
            along_lines &= part >= FEW || kernel.modes == 1;
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
            let next = coarse.block;
            let smoothed =
                |f: &Csr, lambda: f64| smoothed(f, lambda, (&tentative, [own, own, next]));
            let prolongation = match filtered.and_then(|f| Some((lambda(&f)?, f))) {
                Some((lambda, filtered)) => smoothed(&filtered, lambda),
                None => smoothed(&matrix, smoother.bound),
            };
            let restriction = prolongation.transposed();
            let product = matrix.times_by_blocks(&prolongation, [own, own, next]);
            matrix = restriction.times_by_blocks(&product, [next, own, next]);
            fill_diagonal(&mut matrix);
            kernel = coarse;
            levels.push(MatrixLevel {
                matrix: on_device,
                smoother,
                prolongation: SparseMatrix::by_blocks(device, &prolongation, [own, next])?,
                restriction: SparseMatrix::by_blocks(device, &restriction, [next, own])?,
            });
            watch.lap(first + levels.len() - 1);
        }
        let null_space = null_space.iter().map(|it| kernel.combined(it)).collect();
        let inverse = dense::inverse(&regular(matrix, null_space))?;
        let inverse = SparseMatrix::by_blocks(device, &inverse, [kernel.block; 2])?;
        let coarsest = Coarsest::Inverse(inverse);
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
    // The function of a column's component there.
    let function = |column: usize| match kernel.modes {
        1 => kernel.values[column],
        _ => 1.0,
    };
    let write = |lumped: &mut Vec<f64>, row: usize, entries: &mut Vec<(u32, f64)>| {
        let (node, component) = (row / block, row % block);
        let near = strong.row_columns(node);
        lumped.clear();
        lumped.resize(block, 0.0);
        let (mut left, mut sum, mut own) = (near, 0.0, None);
        // Both lists ascend.
        for (other, values) in matrix.row_blocks(row, block) {
            let first = other as usize * block;
            sum += values[component] * function(first + component);
            while left.first().is_some_and(|&node| node < other) {
                left = &left[1..];
            }
            if other as usize == node {
                own = Some(entries.len());
            }
            match near.is_empty() || left.first() == Some(&other) {
                true => entries.extend((first as u32..).zip(values.iter().copied())),
                false => {
                    let terms = values.iter().enumerate();
                    let terms = terms.map(|(c, value)| value * function(first + c));
                    lumped
                        .iter_mut()
                        .zip(terms)
                        .for_each(|(sum, it)| *sum += it);
                }
            }
        }
        if !near.is_empty() {
            let own = own.expect("a free node is coupled to itself, and strongly");
            let here = function(row);
            let own = &mut entries[own..own + block];
            own.iter_mut()
                .zip(lumped)
                .for_each(|(entry, weak)| entry.1 += *weak / here);
            own[component].1 -= (sum / here).min(0.0);
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
    Some(LARGEST * parallel::reduce(f.rows(), 0.0, norm, f64::max))
}

/// D⁻¹, on the device.
fn inverse_of<T: Number, D: VectorOps<T>>(
    device: &D,
    diagonal: &[f64],
) -> Result<Inverse<T, D>, MultigridError> {
    let diagonal = upload_f64(device, diagonal)?;
    Ok(Inverse::Diagonal(Jacobi::new(device, &diagonal)?))
}

/// T - 4/(3 λ) D⁻¹F T, of blocks of these sizes in F and T.
fn smoothed(f: &Csr, lambda: f64, (tentative, blocks): (&Csr, [usize; 3])) -> Csr {
    let diagonal = f.diagonal();
    let mut smoothed = f.times_by_blocks(tentative, blocks);
    smoothed.change_rows(|row, columns, values| {
        let scale = -4.0 / (3.0 * lambda * diagonal[row]);
        values.iter_mut().for_each(|value| *value *= scale);
        let Some(first) = tentative.row_columns(row).first() else {
            return;
        };
        let own = columns.binary_search(first);
        let own = own.expect("F has its diagonal, and so its product the columns of T");
        let values = values[own..].iter_mut();
        values
            .zip(tentative.row_values(row))
            .for_each(|(value, of_t)| *value += of_t);
    });
    smoothed
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

/// Sets diagonal entries of zero, of functions that an aggregate does not need, to a typical one.
fn fill_diagonal(matrix: &mut Csr) {
    let diagonal = matrix.diagonal();
    let rows = (0..).zip(&diagonal).filter(|it| *it.1 == 0.0);
    let rows: Vec<u32> = rows.map(|(row, _)| row).collect();
    matrix.set_diagonal(&rows, typical(diagonal.into_iter()));
}

/// The mean of a diagonal's positive entries, or one without any. Rows that nothing depends on take it as their diagonal:
/// with much larger entries, random vectors would be about them alone.
pub(super) fn typical(diagonal: impl Iterator<Item = f64>) -> f64 {
    let positive = diagonal.filter(|&entry| entry > 0.0);
    let (sum, count) = positive.fold((0.0, 0.0), |(sum, count), it| (sum + it, count + 1.0));
    if sum > 0.0 { sum / count } else { 1.0 }
}
