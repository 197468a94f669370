//! The functions that a linear symmetric form maps to zero, if boundary conditions leave them free: constants,
//! or motions of a rigid body; and those that it holds so weakly that a small residual hides an error along them.
//!
//! The operator says which they are. Of the combinations z of such functions that vanish where u
//! is constrained those are free whose energy (z, A z) is only rounding beside (z, D z), with the diagonal D of A.
//! Equations have a solution if the loads b do no work on them, (z, b) = 0; of all solutions the one with
//! ∫ z u = 0 is taken.

use super::{Discretization, Function, ProblemError};
use crate::eigen::eigenvectors;
use crate::multigrid::NearKernel;
use crate::operator::{Backend, OperatorError};
use crate::vector::{VectorOps, download_f64, upload_f64};
use crate::{Number, Operator};
use femto_fem::space::{Block, Constraints};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;

/// Loads that differ from balanced ones by more than this part of their size are an error. Integrals over curved cells
/// differ from those of the domain, so that loads which balance there do not quite balance here.
const IMBALANCE: f64 = 1e-3;

/// Functions z whose energy (z, A z) is a smaller part than this of (z, D z), D the diagonal of A, are held so weakly that
/// a small residual may hide a large error along them.
const WEAK: f64 = 1e-3;

/// Sums of squares of values at constrained entries below this part of the largest are rounding.
const ROUNDING: f64 = 1e-12;

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

/// A function of the null space; ∫ z z' is one for the same function and zero for others.
struct FreeFunction {
    /// Of the functions of [`NearKernel::new`].
    combination: Vec<f64>,
    /// z, an L-vector.
    values: Vec<f64>,
    /// ∫ φ z, an L-vector.
    weights: Vec<f64>,
}

/// A constant or motion z that A holds weakly, as by a small Robin term.
pub(super) struct WeakFunction {
    /// Of the functions of [`Candidates`].
    combination: Vec<f64>,
    /// (z, A z), positive.
    energy: f64,
    /// |z|.
    size: f64,
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
    ) -> Result<(Option<Self>, Vec<WeakFunction>), ProblemError>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64>,
    {
        let device = operator.device();
        let is_held = on.space().components() == 1 && !constraints.is_empty();
        if is_held || !device.info().executes {
            return Ok((None, Vec::new()));
        }
        let candidates = Candidates::new(on.blocks);
        let vanishing = candidates.vanishing_at(constraints);
        if vanishing.is_empty() {
            return Ok((None, Vec::new()));
        }
        let unassembled = unassembled()?;
        let has_matrices = unassembled.is_some();
        let operator = unassembled.as_ref().unwrap_or(operator);
        let mut diagonal = device.zeros(operator.dofs())?;
        operator.diagonal(&mut diagonal)?;
        let energies = |combinations: &[Vec<f64>]| {
            let vector =
                |it: &Vec<f64>| upload_f64(device, &candidates.free_values(it, constraints));
            let vectors: Result<Vec<_>, _> = combinations.iter().map(vector).collect();
            energies(operator, &diagonal, &vectors?)
        };
        // Eigenvectors of A relative to D among the candidates: each of them is free or not.
        let (mut matrix, sizes) = energies(&vanishing)?;
        let factor = |size: &f64| 1.0 / size.sqrt().max(f64::MIN_POSITIVE);
        let factors: Vec<f64> = sizes.iter().map(factor).collect();
        for (entry, (a, b)) in matrix.iter_mut().zip(pairs(&factors, &factors)) {
            *entry *= a * b;
        }
        let combined = eigenvectors(matrix, factors.len()).into_iter();
        let combined = combined.map(|(_, vector)| {
            let mut sum = vec![0.0; candidates.count()];
            for ((part, factor), combination) in vector.iter().zip(&factors).zip(&vanishing) {
                subtract(-part * factor, combination, &mut sum);
            }
            sum
        });
        let combined: Vec<Vec<f64>> = combined.collect();
        let (matrix, sizes) = energies(&combined)?;
        let mut functions: Vec<FreeFunction> = Vec::new();
        let mut weak = Vec::new();
        for (i, combination) in combined.into_iter().enumerate() {
            let energy = matrix[i * sizes.len() + i];
            // That of rounding is near ε², that of rounded positions near the square of their error, that of the weakest
            // term which A can have near ε.
            let rounding = candidates.rounding(&combination).powi(2);
            if energy.abs() <= T::EPSILON.powf(1.5).max(rounding) * sizes[i] {
                functions.push(candidates.orthonormal(on, device, combination, &functions)?);
            } else if energy > 0.0 && energy <= WEAK * sizes[i] && !has_matrices {
                let values = candidates.free_values(&combination, constraints);
                weak.push(WeakFunction {
                    size: dot(&values, &values).sqrt(),
                    combination,
                    energy,
                });
            }
        }
        let rigid = !candidates.rotations.is_empty();
        let free = (!functions.is_empty()).then_some(Self { functions, rigid });
        Ok((free, weak))
    }

    /// Takes off the projected loads' part that does work on the free functions, as a load that is a combination of them
    /// where nothing is constrained.
    ///
    /// # Errors
    /// [`ProblemError::Unbalanced`].
    pub(super) fn balance<T: Number, B: VectorOps<T>>(
        &self,
        device: &B,
        constraints: &Constraints,
        b: &mut B::Buffer<T>,
    ) -> Result<FreeFunctions, ProblemError> {
        let mut loads = download_f64(device, b)?;
        let mut imbalance: f64 = 0.0;
        // Where loads act a function may be zero but for rounding.
        let rounding = 16.0 * T::EPSILON / IMBALANCE * dot(&loads, &loads).sqrt();
        for function in &self.functions {
            let values = &function.values;
            let work = dot(&loads, values);
            let size: f64 = loads.iter().zip(values).map(|(b, z)| (b * z).abs()).sum();
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

    /// The functions, as combinations of those of [`NearKernel::new`].
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

/// How to correct a solution along weakly held functions.
pub(super) struct Correction<'a, B> {
    pub(super) device: &'a B,
    pub(super) functions: &'a [WeakFunction],
    pub(super) blocks: &'a [Block],
    pub(super) constraints: &'a Constraints,
    /// Changes of the solution below this part of it do not count.
    pub(super) tolerance: f64,
}

impl<B> Correction<'_, B> {
    /// Corrects the solution x of A x = b, A positive definite, along the functions until its residual does no work on
    /// them, which makes the energy of its error least. `size` is that of the solution. Returns what rounding leaves
    /// undecided along them, relative to it: where that is most of the change, x stays as it was.
    pub(super) fn apply<T: Number>(
        &self,
        residual: impl Fn(&B::Buffer<T>) -> Result<B::Buffer<T>, OperatorError>,
        (x, size): (&mut B::Buffer<T>, f64),
    ) -> Result<f64, OperatorError>
    where
        B: Backend + VectorOps<T>,
    {
        let r = residual(x)?;
        let r_size = self.device.norm(&r)?;
        let hides = |it: &WeakFunction| r_size * it.size * it.size / it.energy;
        let most = self.functions.iter().map(hides).fold(0.0, f64::max);
        let negligible = self.tolerance * size;
        if most.is_nan() || most <= negligible {
            return Ok(0.0);
        }
        let candidates = Candidates::new(self.blocks);
        let vector = |it: &WeakFunction| {
            upload_f64::<T, _>(
                self.device,
                &candidates.free_values(&it.combination, self.constraints),
            )
        };
        let parts = |r: &B::Buffer<T>| {
            let part = |it: &WeakFunction| Ok(self.device.dot(&vector(it)?, r)? / it.energy);
            let parts: Result<Vec<f64>, OperatorError> = self.functions.iter().map(part).collect();
            parts
        };
        let change = |parts: &[f64]| {
            let squares = self.functions.iter().zip(parts);
            squares
                .map(|(it, part)| (part * it.size).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let add = |factor: f64, parts: &[f64], x: &mut B::Buffer<T>| {
            let mut all = self.functions.iter().zip(parts);
            all.try_for_each(|(it, part)| {
                self.device.axpy(factor * part, &vector(it)?, x)?;
                Ok::<(), OperatorError>(())
            })
        };
        let first = parts(&r)?;
        add(1.0, &first, x)?;
        let second = parts(&residual(x)?)?;
        let (done, left) = (change(&first), change(&second));
        if left > negligible && left > 0.5 * done {
            add(-1.0, &first, x)?;
            return Ok(left.max(done) / size);
        }
        if left > negligible {
            add(1.0, &second, x)?;
        }
        Ok(left / size)
    }
}

/// (z, A z') of all pairs, and (z, D z).
fn energies<T: Number, B: Backend + VectorOps<T>>(
    operator: &Operator<T, B>,
    diagonal: &B::Buffer<T>,
    vectors: &[B::Buffer<T>],
) -> Result<(Vec<f64>, Vec<f64>), ProblemError> {
    let device = operator.device();
    let (mut energies, mut sizes) = (Vec::new(), Vec::new());
    let mut product = device.zeros(operator.dofs())?;
    for z in vectors {
        operator.apply(z, &mut product)?;
        for other in vectors {
            energies.push(device.dot(other, &product)?);
        }
        VectorOps::copy(device, z, &mut product)?;
        device.multiply(diagonal, &mut product)?;
        sizes.push(device.dot(z, &product)?);
    }
    Ok((energies, sizes))
}

/// Constants and rotations about the middle of the nodes, of size one.
struct Candidates {
    components: usize,
    rotations: &'static [[usize; 2]],
    /// Of the nodes, in units of `size` from the middle; empty without rotations.
    positions: Vec<[f64; 3]>,
    middle: [f64; 3],
    size: f64,
    dofs: usize,
}

impl Candidates {
    fn new(blocks: &[Block]) -> Self {
        let space = &blocks[0].space;
        let mut found = Self {
            components: space.components(),
            rotations: NearKernel::rotations(space.components(), NearKernel::rotates(blocks)),
            positions: Vec::new(),
            middle: [0.0; 3],
            size: 1.0,
            dofs: space.dofs(),
        };
        if !found.rotations.is_empty() {
            let mut positions = Block::node_positions(blocks);
            let bounds = [0, 1, 2].map(|axis| {
                let along = || positions.iter().map(|x| x[axis]);
                let low = along().fold(f64::INFINITY, f64::min);
                [low, along().fold(low, f64::max)]
            });
            found.middle = bounds.map(|[low, high]| 0.5 * (low + high));
            let sizes = bounds.map(|[low, high]| 0.5 * (high - low));
            found.size = sizes.into_iter().fold(0.0, f64::max);
            for x in &mut positions {
                *x = [0, 1, 2].map(|axis| (x[axis] - found.middle[axis]) / found.size);
            }
            found.positions = positions;
        }
        found
    }

    fn count(&self) -> usize {
        self.components + self.rotations.len()
    }

    /// A bound of what rounded positions, far from the origin, change in the rotations of a combination, relative to it.
    fn rounding(&self, combination: &[f64]) -> f64 {
        let middle = self.middle.iter();
        let farthest = middle.fold(0.0, |most: f64, x| most.max(x.abs()));
        let rotations = &combination[self.components..];
        let share = (dot(rotations, rotations) / dot(combination, combination)).sqrt();
        16.0 * f64::EPSILON * farthest / self.size * share
    }

    /// The values at an entry.
    fn row(&self, entry: usize) -> impl Iterator<Item = f64> {
        let component = entry % self.components;
        let constants = (0..self.components).map(move |c| f64::from(c == component));
        let rotations = self.rotations.iter().map(move |&axes| {
            NearKernel::rotation(axes, component, self.positions[entry / self.components])
        });
        constants.chain(rotations)
    }

    /// A combination, an L-vector.
    fn values(&self, combination: &[f64]) -> Vec<f64> {
        let value = |entry| self.row(entry).zip(combination).map(|(a, b)| a * b).sum();
        (0..self.dofs).into_par_iter().map(value).collect()
    }

    /// The same, zero where vectors are constrained.
    fn free_values(&self, combination: &[f64], constraints: &Constraints) -> Vec<f64> {
        let mut values = self.values(combination);
        constraints.project(&mut values);
        values
    }

    /// Independent combinations that vanish where vectors are constrained.
    fn vanishing_at(&self, constraints: &Constraints) -> Vec<Vec<f64>> {
        let count = self.count();
        let mut squares = vec![0.0; count * count];
        let mut add = |row: &[f64]| {
            for (square, (a, b)) in squares.iter_mut().zip(pairs(row, row)) {
                *square += a * b;
            }
        };
        for &entry in constraints.entries() {
            add(&self.row(entry as usize).collect::<Vec<f64>>());
        }
        for (node, projector) in constraints.slanted().iter() {
            let rows = (0..self.components).map(|c| self.row(node * self.components + c));
            let rows: Vec<Vec<f64>> = rows.map(Iterator::collect).collect();
            // The parts that are not free: (1 - P) times the values.
            for (i, free) in projector.chunks_exact(self.components).enumerate() {
                let mut held = rows[i].clone();
                let parts = free.iter().zip(&rows);
                parts.for_each(|(part, row)| subtract(*part, row, &mut held));
                add(&held);
            }
        }
        let largest = (0..count).map(|i| squares[i * count + i]);
        let most = ROUNDING * largest.fold(0.0, f64::max);
        let found = eigenvectors(squares, count).into_iter();
        let found = found.filter(|(value, _)| *value <= most);
        found.map(|(_, vector)| vector).collect()
    }

    /// A combination made orthogonal to others, and of length one.
    fn orthonormal<B: Backend + VectorOps<f64>>(
        &self,
        on: Discretization<'_>,
        device: &B,
        combination: Vec<f64>,
        others: &[FreeFunction],
    ) -> Result<FreeFunction, ProblemError> {
        let values = self.values(&combination);
        let combination = self.about_origin(combination);
        let parts: Vec<_> = (0..self.components)
            .map(|component| {
                let (constants, factors) = combination.split_at(self.components);
                move |x: [f64; 3]| {
                    let rotations = factors.iter().zip(self.rotations);
                    let rotated = rotations
                        .map(|(factor, &axes)| factor * NearKernel::rotation(axes, component, x));
                    constants[component] + rotated.sum::<f64>()
                }
            })
            .collect();
        let parts: Vec<&dyn Function> = parts.iter().map(|part| part as &dyn Function).collect();
        let integrals = on.source(device, &parts)?;
        let weights = download_f64(device, &integrals)?;
        let mut own = FreeFunction {
            combination,
            values,
            weights,
        };
        for other in others {
            let part = dot(&other.weights, &own.values);
            subtract(part, &other.values, &mut own.values);
            subtract(part, &other.weights, &mut own.weights);
            subtract(part, &other.combination, &mut own.combination);
        }
        let scale = 1.0 / dot(&own.weights, &own.values).sqrt();
        for numbers in [&mut own.values, &mut own.weights, &mut own.combination] {
            numbers.iter_mut().for_each(|number| *number *= scale);
        }
        Ok(own)
    }

    /// Replaces rotations about the middle, of size one, by those about the origin.
    fn about_origin(&self, mut combination: Vec<f64>) -> Vec<f64> {
        let (constants, factors) = combination.split_at_mut(self.components);
        for (factor, &axes) in factors.iter_mut().zip(self.rotations) {
            *factor /= self.size;
            for (component, constant) in constants.iter_mut().enumerate() {
                *constant -= *factor * NearKernel::rotation(axes, component, self.middle);
            }
        }
        combination
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
