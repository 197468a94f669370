//! Energies of candidates, by which they are free, weakly held or held.

use super::candidates::Candidates;
use super::{WeakFunction, pairs, subtract};
use crate::eigen::eigenvectors;
use crate::operator::Backend;
use crate::problem::ProblemError;
use crate::vector::{VectorOps, upload_f64};
use crate::{Number, Operator};
use femto_fem::space::{Block, Constraints};
use std::slice::from_ref;

/// Whether the energy (z, A z) is only rounding beside (z, D z). That of rounding is near ε², that of rounded positions near the
/// square of their error, that of the weakest term which A can have near ε.
pub(super) fn is_rounding<T: Number>(energy: f64, size: f64, of_positions: f64) -> bool {
    energy.abs() <= T::EPSILON.powf(1.5).max(of_positions.powi(2)) * size
}

/// A combination of candidates.
pub(super) struct Mode {
    pub(super) combination: Vec<f64>,
    /// (z, A z).
    pub(super) energy: f64,
    /// (z, D z).
    pub(super) size: f64,
}

/// An operator A with its diagonal D, and candidates.
pub(super) struct Energies<'a, T: Number, B: Backend> {
    operator: &'a Operator<T, B>,
    candidates: &'a Candidates,
    pub(super) diagonal: B::Buffer<T>,
}

impl<'a, T: Number, B: Backend + VectorOps<T>> Energies<'a, T, B> {
    pub(super) fn new(
        operator: &'a Operator<T, B>,
        candidates: &'a Candidates,
    ) -> Result<Self, ProblemError> {
        let mut diagonal = operator.device().zeros(operator.dofs())?;
        operator.diagonal(&mut diagonal)?;
        Ok(Self {
            operator,
            candidates,
            diagonal,
        })
    }

    /// (z, A z') of all pairs of combinations, zero where vectors are constrained, and (z, D z).
    fn of(
        &self,
        combinations: &[Vec<f64>],
        constraints: &Constraints,
    ) -> Result<(Vec<f64>, Vec<f64>), ProblemError> {
        let device = self.operator.device();
        let vector = |it| upload_f64(device, &self.candidates.free_values(it, constraints));
        let vectors: Result<Vec<_>, _> = combinations.iter().map(|it| vector(it)).collect();
        let vectors: Vec<B::Buffer<T>> = vectors?;
        let (mut energies, mut sizes) = (Vec::new(), Vec::new());
        let mut product = device.zeros(self.operator.dofs())?;
        for z in &vectors {
            self.operator.apply(z, &mut product)?;
            for other in &vectors {
                energies.push(device.dot(other, &product)?);
            }
            VectorOps::copy(device, z, &mut product)?;
            device.multiply(&self.diagonal, &mut product)?;
            sizes.push(device.dot(z, &product)?);
        }
        Ok((energies, sizes))
    }

    /// A combination where nothing is constrained.
    pub(super) fn mode(&self, combination: Vec<f64>) -> Result<Mode, ProblemError> {
        let (energies, sizes) = self.of(from_ref(&combination), &Constraints::default())?;
        Ok(Mode {
            combination,
            energy: energies[0],
            size: sizes[0],
        })
    }

    /// The eigenvectors of A, or of its symmetric part, relative to D among combinations: each of them is free, or held
    /// weakly, or not.
    pub(super) fn modes(
        &self,
        combinations: &[Vec<f64>],
        constraints: &Constraints,
    ) -> Result<Vec<Mode>, ProblemError> {
        let (matrix, sizes) = self.of(combinations, constraints)?;
        let factor = |size: &f64| 1.0 / size.sqrt().max(f64::MIN_POSITIVE);
        let factors: Vec<f64> = sizes.iter().map(factor).collect();
        let count = factors.len();
        let entry = |(at, (a, b)): (usize, (f64, f64))| {
            let transposed = matrix[at % count * count + at / count];
            0.5 * (matrix[at] + transposed) * a * b
        };
        let scaled = pairs(&factors, &factors).enumerate().map(entry).collect();
        let combined = eigenvectors(scaled, count).into_iter();
        let combined = combined.map(|(_, vector)| {
            let mut sum = vec![0.0; self.candidates.count()];
            for ((part, factor), combination) in vector.iter().zip(&factors).zip(combinations) {
                subtract(-part * factor, combination, &mut sum);
            }
            sum
        });
        let combined: Vec<Vec<f64>> = combined.collect();
        let (matrix, sizes) = self.of(&combined, constraints)?;
        let modes = combined.into_iter().zip(sizes).enumerate();
        let mode = |(i, (combination, size))| Mode {
            combination,
            energy: matrix[i * count + i],
            size,
        };
        Ok(modes.map(mode).collect())
    }

    /// Whether the energy is only rounding.
    pub(super) fn is_free(&self, mode: &Mode) -> bool {
        let of_positions = self.candidates.rounding(&mode.combination);
        is_rounding::<T>(mode.energy, mode.size, of_positions)
    }
}

/// What an operator at hand, perhaps a Jacobian, holds weakly, but not what it leaves free: of one that is not symmetric by its
/// symmetric part, and with matrices nothing.
pub(in crate::problem) fn weakly_held<T, B>(
    blocks: &[Block],
    operator: &Operator<T, B>,
    constraints: &Constraints,
) -> Result<Vec<WeakFunction>, ProblemError>
where
    T: Number,
    B: Backend + VectorOps<T>,
{
    let executes = operator.device().info().executes;
    if !executes || operator.data_level().stores_matrices() {
        return Ok(Vec::new());
    }
    let candidates = Candidates::new(blocks);
    let vanishing = candidates.vanishing_at(constraints).exactly;
    if vanishing.is_empty() {
        return Ok(Vec::new());
    }
    let energies = Energies::new(operator, &candidates)?;
    let modes = energies.modes(&vanishing, constraints)?.into_iter();
    let held = modes.filter(|mode| !energies.is_free(mode));
    let weak = held.filter_map(|mode| candidates.weak(mode, constraints));
    Ok(weak.collect())
}
