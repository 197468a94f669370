//! The functions among which free and weakly held ones are sought.

use super::modes::Mode;
use super::{FreeFunction, WEAK, WeakFunction, dot, pairs, subtract};
use crate::eigen::eigenvectors;
use crate::multigrid::NearKernel;
use crate::operator::Backend;
use crate::problem::{Discretization, Function, ProblemError};
use crate::vector::{VectorOps, download_f64};
use femto_fem::parallel;
use femto_fem::space::{Block, Constraints};

/// Sums of squares of values at constrained entries below this part of the largest are rounding.
const ROUNDING: f64 = 1e-12;

/// A function nearly has no part along normals if none is larger than this part of its largest value.
const NEARLY: f64 = 0.02;

/// Constants and rotations about the middle of the nodes, of size one.
pub(super) struct Candidates {
    components: usize,
    pub(super) rotations: &'static [[usize; 2]],
    /// Of the nodes, in units of `size` from the middle; empty without rotations.
    positions: Vec<[f64; 3]>,
    middle: [f64; 3],
    size: f64,
    dofs: usize,
}

/// Combinations of candidates that vanish where vectors are constrained.
#[derive(Default)]
pub(super) struct Vanishing {
    pub(super) exactly: Vec<Vec<f64>>,
    /// Along normals that are not quite those of a surface of revolution, with the largest part that is held relative to the
    /// largest value.
    pub(super) nearly: Vec<(Vec<f64>, f64)>,
}

impl Candidates {
    pub(super) fn new(blocks: &[Block]) -> Self {
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

    pub(super) fn count(&self) -> usize {
        self.components + self.rotations.len()
    }

    /// A bound of what rounded positions, far from the origin, change in the rotations of a combination, relative to it.
    pub(super) fn rounding(&self, combination: &[f64]) -> f64 {
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
        parallel::map(self.dofs, value)
    }

    /// The same, zero where vectors are constrained.
    pub(super) fn free_values(&self, combination: &[f64], constraints: &Constraints) -> Vec<f64> {
        let mut values = self.values(combination);
        constraints.project(&mut values);
        values
    }

    /// The function of a mode, if it is held weakly.
    pub(super) fn weak(&self, mode: Mode, constraints: &Constraints) -> Option<WeakFunction> {
        let Mode {
            combination,
            energy,
            size,
        } = mode;
        (energy > 0.0 && energy <= WEAK * size).then(|| {
            let values = self.free_values(&combination, constraints);
            WeakFunction {
                size: dot(&values, &values).sqrt(),
                combination,
                energy,
            }
        })
    }

    /// Independent combinations that vanish where vectors are constrained, or nearly do.
    pub(super) fn vanishing_at(&self, constraints: &Constraints) -> Vanishing {
        if self.components == 1 && !constraints.is_empty() {
            return Vanishing::default();
        }
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
        let mut found = Vanishing::default();
        for (value, vector) in eigenvectors(squares, count) {
            if value <= most {
                found.exactly.push(vector);
            } else if let Some(part) = self.part_along_normals(&vector, constraints) {
                found.nearly.push((vector, part));
            }
        }
        found
    }

    /// The largest part of a combination along the normals at which vectors are constrained, relative to its largest value, if
    /// that is small and nothing else constrains the combination.
    fn part_along_normals(&self, combination: &[f64], constraints: &Constraints) -> Option<f64> {
        if constraints.normals().is_empty() {
            return None;
        }
        let values = self.values(combination);
        let size = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let given = constraints.given().iter();
        let mut given = given.map(|&entry| values[entry as usize].abs());
        let is_given = given.any(|value| value > ROUNDING.sqrt() * size);
        let along = constraints.normals().iter().map(|plane| {
            let own = &values[plane.node as usize * self.components..];
            let parts = own.iter().zip(plane.normal).take(self.components);
            parts.map(|(x, n)| x * n).sum::<f64>().abs()
        });
        let part = along.reduce(f64::max)? / size;
        (!is_given && part < NEARLY).then_some(part)
    }

    /// A combination made orthogonal to others, and of length one.
    pub(super) fn orthonormal<B: Backend + VectorOps<f64>>(
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
