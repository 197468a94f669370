//! The functions that a linear symmetric form maps to zero, if boundary conditions leave them free: constants,
//! or motions of a rigid body; and those that it, or the derivative of any form, holds so weakly that a small residual hides an
//! error along them.
//!
//! The operator says which they are. Of the combinations z of such functions that vanish where u
//! is constrained those are free whose energy (z, A z) is only rounding beside (z, D z), with the diagonal D of A.
//! Equations have a solution if the loads b do no work on them, (z, b) = 0; of all solutions the one with
//! ∫ z u = 0 is taken.

mod candidates;
mod correction;
mod loose;
mod modes;

pub use loose::LooseParts;

pub(super) use correction::{Correction, WeakFunction};
pub(super) use modes::weakly_held;

use super::{Discretization, ProblemError};
use crate::operator::Backend;
use crate::vector::{VectorOps, download_f64, upload_f64};
use crate::{Number, Operator};
use candidates::Candidates;
use femto_fem::space::Constraints;
use loose::Apart;
use modes::{Energies, is_rounding};
use serde::Serialize;
use std::fmt;

/// Loads that differ from balanced ones by more than this part of their size are an error. Integrals over curved cells
/// differ from those of the domain, so that loads which balance there do not quite balance here.
const IMBALANCE: f64 = 1e-3;

/// Functions z whose energy (z, A z) is a smaller part than this of (z, D z), D the diagonal of A, are held so weakly that
/// a small residual may hide a large error along them.
const WEAK: f64 = 1e-3;

/// What boundary conditions leave free, and what was done about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FreeFunctions {
    /// Number of independent functions.
    pub count: usize,
    /// Whether they are motions of a rigid body, as opposed to constants.
    pub rigid: bool,
    /// The part of the loads, relative to their size, that was taken off so that they balance.
    pub imbalance: f64,
}

/// The null space of an operator.
pub(super) struct NullSpace {
    functions: Vec<FreeFunction>,
    rigid: bool,
}

/// What boundary conditions do not hold, or hardly.
#[derive(Default)]
pub(super) struct Unheld {
    /// What is free.
    pub(super) free: Option<NullSpace>,
    /// What the operator holds weakly.
    pub(super) weak: Vec<WeakFunction>,
    /// As [`Solution::barely_held`](super::Solution::barely_held).
    pub(super) barely: Option<f64>,
    /// Parts of the mesh where a constant is free.
    pub(super) loose: Option<LooseParts>,
}

/// A function of the null space; ∫ z z' is one for the same function and zero for others.
struct FreeFunction {
    /// Of the functions of [`NearKernel::new`](crate::multigrid::NearKernel::new).
    combination: Vec<f64>,
    /// z, an L-vector.
    values: Vec<f64>,
    /// ∫ φ z, an L-vector.
    weights: Vec<f64>,
}

impl NullSpace {
    /// Finds the null space, and what A holds weakly, but with matrices nothing of that: the rounding of their entries is a
    /// stronger term. `unassembled` binds the operator without matrices if `operator` has
    /// some: the rounded entries of a row do not sum to exactly zero.
    pub(super) fn find<T, B>(
        on: Discretization<'_>,
        operator: &Operator<T, B>,
        unassembled: impl FnOnce() -> Result<Option<Operator<T, B>>, ProblemError>,
        constraints: &Constraints,
    ) -> Result<Unheld, ProblemError>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64>,
    {
        let device = operator.device();
        if !device.info().executes {
            return Ok(Unheld::default());
        }
        let apart = Apart::new(on, constraints);
        let candidates = Candidates::new(on.blocks);
        let vanishing = candidates.vanishing_at(constraints);
        let (vanishing, nearly) = (vanishing.exactly, vanishing.nearly);
        if vanishing.is_empty() && nearly.is_empty() && apart.is_none() {
            return Ok(Unheld::default());
        }
        let unassembled = unassembled()?;
        let has_matrices = unassembled.is_some();
        let operator = unassembled.as_ref().unwrap_or(operator);
        let energies = Energies::new(operator, &candidates)?;
        let mut barely: Option<f64> = None;
        for (combination, part) in nearly {
            if energies.is_free(&energies.mode(combination)?) {
                barely = Some(part.max(barely.unwrap_or_default()));
            }
        }
        let of_ones = |ones: &[f64]| {
            let ones = upload_f64(device, ones)?;
            let mut product = device.zeros(operator.dofs())?;
            operator.apply(&ones, &mut product)?;
            let both = [&product, &energies.diagonal].map(|vector| download_f64(device, vector));
            let [product, diagonal] = both;
            Ok::<_, ProblemError>([product?, diagonal?])
        };
        let loose = |apart: Apart<'_>| {
            apart.loose(of_ones, |energy, size| is_rounding::<T>(energy, size, 0.0))
        };
        let loose = apart.map(loose).transpose()?.flatten();
        if vanishing.is_empty() {
            return Ok(Unheld {
                barely,
                loose,
                ..Unheld::default()
            });
        }
        let mut functions: Vec<FreeFunction> = Vec::new();
        let mut weak = Vec::new();
        for mode in energies.modes(&vanishing, constraints)? {
            if energies.is_free(&mode) {
                let combination = mode.combination;
                functions.push(candidates.orthonormal(on, device, combination, &functions)?);
            } else if !has_matrices {
                weak.extend(candidates.weak(mode, constraints));
            }
        }
        let rigid = !candidates.rotations.is_empty();
        let free = (!functions.is_empty()).then_some(Self { functions, rigid });
        Ok(Unheld {
            free,
            weak,
            barely,
            loose,
        })
    }

    /// Takes off the projected loads' part that does work on the free functions, as a load that is a combination of them
    /// where nothing is constrained. Where boundary values are a part of `b`, which does none but for rounding, `given` has the
    /// loads without it: these must balance.
    ///
    /// # Errors
    /// [`ProblemError::Unbalanced`].
    pub(super) fn balance<T: Number, B: VectorOps<T>>(
        &self,
        device: &B,
        constraints: &Constraints,
        (given, b): (Option<&B::Buffer<T>>, &mut B::Buffer<T>),
    ) -> Result<FreeFunctions, ProblemError> {
        let mut loads = download_f64(device, b)?;
        let mut given = match given {
            Some(given) => download_f64(device, given)?,
            None => loads.clone(),
        };
        let mut imbalance: f64 = 0.0;
        // Where loads act a function may be zero but for rounding.
        let rounding = 16.0 * T::EPSILON / IMBALANCE * dot(&given, &given).sqrt();
        for function in &self.functions {
            let values = &function.values;
            let work = dot(&given, values);
            let size: f64 = given.iter().zip(values).map(|(b, z)| (b * z).abs()).sum();
            let size = size.max(rounding * dot(values, values).sqrt());
            if work.abs() > IMBALANCE * size {
                let largest = values
                    .iter()
                    .fold(0.0, |largest: f64, z| largest.max(z.abs()));
                return Err(ProblemError::Unbalanced {
                    rigid: self.rigid,
                    sum: work / largest,
                    part: work.abs() / size,
                });
            }
            if size > 0.0 {
                imbalance = imbalance.max(work.abs() / size);
            }
            subtract(work, &function.weights, &mut given);
            let work = dot(&loads, values);
            subtract(work, &function.weights, &mut loads);
        }
        constraints.project(&mut loads);
        let numbers: Vec<T> = loads.iter().map(|&load| T::from_f64(load)).collect();
        device.write(&numbers, b)?;
        Ok(FreeFunctions {
            count: self.functions.len(),
            rigid: self.rigid,
            imbalance,
        })
    }

    /// Subtracts the free functions' part of an L-vector u, so that ∫ z u = 0.
    pub(super) fn project(&self, u: &mut [f64]) {
        for function in &self.functions {
            let part = dot(&function.weights, u);
            subtract(part, &function.values, u);
        }
    }

    /// The functions, as combinations of those of [`NearKernel::new`](crate::multigrid::NearKernel::new).
    pub(super) fn combinations(&self) -> Vec<Vec<f64>> {
        let functions = self.functions.iter();
        functions.map(|it| it.combination.clone()).collect()
    }
}

impl fmt::Display for FreeFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, many, mean) = match self.rigid {
            true => ("a rigid motion", "rigid motions", "mean motion"),
            false => ("a constant", "constants", "mean"),
        };
        match self.count {
            1 => write!(f, "{one}: the solution's {mean} is zero")?,
            count => write!(f, "{count} {many}: the solution's {mean} is zero")?,
        }
        match self.imbalance {
            part if part > 1e-12 => write!(
                f,
                "; {part:.1e} of the loads was taken off so that they balance"
            ),
            _ => Ok(()),
        }
    }
}

/// All pairs of two lists, row by row.
fn pairs(a: &[f64], b: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    a.iter().flat_map(move |&a| b.iter().map(move |&b| (a, b)))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// y = y - factor x.
fn subtract(factor: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y -= factor * x);
}
