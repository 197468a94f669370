//! Problems with their spaces.

use super::any_assembled::Counted;
use super::assembled::Assembled;
use super::integral::points;
use super::monitor::Stages;
use super::{AnyAssembled, Function, Problem, ProblemError, StageMonitor};
use crate::operator::Backend;
use crate::vector::VectorOps;
use crate::{AnyDevice, Number};
use femto_element::Cell;
use femto_fem::geometry::{CornerWarning, Points};
use femto_fem::parallel;
use femto_fem::space::{Block, Constraints};
use femto_kernel::form::Inspection;
use femto_kernel::scalar::Precision;

/// A problem with its space: maps, numbered unknowns and constraints. See [`Problem::discretize`].
pub struct Discretized<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    pub(super) inspection: Inspection,
    pub(super) blocks: Vec<Block>,
    pub(super) constraints: Constraints,
    pub(super) warnings: Vec<CornerWarning>,
}

impl<'a> Discretized<'_, 'a> {
    /// A position at which a function has a value that `is_wanted`, and the value, from the first cell with
    /// one at its centre, halfway from there to a vertex, or at the form's point next to a vertex. Values on the boundary
    /// are ignored.
    pub fn find_value(
        &self,
        function: &dyn Function,
        is_wanted: impl Fn(f64) -> bool + Sync,
    ) -> Option<([f64; 3], f64)> {
        let time = self.problem.operator.time;
        let form = self.problem.form.form().trace();
        let quadrature = self.problem.rule(&self.blocks, &form);
        let in_block = |Block { geometry, space }: &Block| {
            let mut places = inner_points(geometry.cell());
            // A rule that does not exist is found out later.
            let rule = points(space, quadrature);
            places.extend(
                rule.iter()
                    .flat_map(|it| next_to_vertices(geometry.cell(), it)),
            );
            parallel::find_first(geometry.len(), |cell| {
                let positions: Vec<_> = places.iter().map(|&xi| geometry.map(cell, xi)).collect();
                let mut values = vec![0.0; positions.len()];
                function.evaluate(&positions, time, &mut values);
                let mut both = positions.into_iter().zip(values);
                both.find(|(_, value)| is_wanted(*value))
            })
        };
        self.blocks.iter().find_map(in_block)
    }

    /// Runs the remaining stages of [`Problem::assemble`].
    ///
    /// # Errors
    /// As there.
    pub fn assemble<T, B>(
        self,
        device: &B,
        monitor: &mut dyn StageMonitor,
    ) -> Result<Assembled<'a, T, B>, ProblemError>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
    {
        device.enter(|| self.problem.equations(self, device, Stages(monitor)))
    }

    /// As [`Self::assemble`], on a device of any kind.
    ///
    /// # Errors
    /// As [`Problem::assemble`].
    pub fn assemble_on(
        self,
        device: &AnyDevice,
        precision: Precision,
        monitor: &mut dyn StageMonitor,
    ) -> Result<Box<dyn AnyAssembled + 'a>, ProblemError> {
        match precision {
            Precision::Fp64 => self.assemble_in::<f64>(device, monitor),
            Precision::Fp32 => self.assemble_in::<f32>(device, monitor),
        }
    }

    fn assemble_in<T: Number>(
        self,
        device: &AnyDevice,
        monitor: &mut dyn StageMonitor,
    ) -> Result<Box<dyn AnyAssembled + 'a>, ProblemError> {
        Ok(match device {
            AnyDevice::Host(host) => Box::new(self.assemble::<T, _>(host, monitor)?),
            AnyDevice::Accelerator(device) => Box::new(self.assemble::<T, _>(device, monitor)?),
            AnyDevice::Null(null) => Box::new(Counted(self.assemble::<T, _>(null, monitor)?)),
        })
    }
}

/// The points nearest to each vertex of a reference cell, but for vertices themselves.
fn next_to_vertices(cell: Cell, points: &Points) -> Vec<[f64; 3]> {
    fn nearest<T: Copy>(all: &[T], distance: impl Fn(&T) -> f64) -> Option<T> {
        let nearest = all
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.copied()
    }
    let next = |vertex: usize| {
        let x = cell.vertex(vertex);
        match points {
            Points::Grid(along) => {
                let mut point = [0.0; 3];
                for (axis, at) in point.iter_mut().enumerate().take(cell.dim()) {
                    *at = nearest(along, |it| (it - x[axis]).abs())?;
                }
                Some(point)
            }
            Points::List(points) => nearest(points, |it| {
                (0..3).map(|axis| (it[axis] - x[axis]).powi(2)).sum()
            }),
        }
    };
    let is_inside = |(vertex, point): &(usize, [f64; 3])| *point != cell.vertex(*vertex);
    let nearest = (0..cell.vertices()).filter_map(|vertex| Some((vertex, next(vertex)?)));
    nearest.filter(is_inside).map(|(_, point)| point).collect()
}

/// The centre of a reference cell, and the points halfway from there to its vertices.
fn inner_points(cell: Cell) -> Vec<[f64; 3]> {
    let middle = cell.centre();
    let halfway = |vertex| {
        let x = cell.vertex(vertex);
        [0, 1, 2].map(|a| 0.5 * (middle[a] + x[a]))
    };
    let halfway = (0..cell.vertices()).map(halfway);
    std::iter::once(middle).chain(halfway).collect()
}
