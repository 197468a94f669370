//! Candidate schedules of a problem, best first.

use super::{PointData, PointStep, Problem, Schedule, defaults};
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::Shape;
use crate::family::{FactorPrecision, Limits};

/// Numbers of all inputs at a pencil of points that registers shall hold, in double precision.
const MOST_IN_REGISTERS: usize = 24;

/// Shared memory that an element shall have at most, in bytes: so that four of them fit a compute unit.
const MOST_SHARED: u32 = 56 << 10;

/// Threads of a block at least, where elements are small.
const THREADS: u32 = 128;

/// Registers of a thread that forms of several inputs shall have, of as many as a compute unit has.
const REGISTERS: (u32, u32) = (168, 1 << 16);

impl Problem<'_> {
    /// The one thought best, then plainer ones that need less of the device.
    pub fn schedules(&self, limits: &Limits) -> Vec<Schedule> {
        let (best, plain) = (self.best(limits), Schedule::PLAIN);
        match self.step {
            PointStep::Factors(_) => {
                let small = Schedule {
                    elements_per_block: 1,
                    by_warp: false,
                    scratch_cube: false,
                    reload_values: false,
                    point_unroll: 0,
                    staged: false,
                    ..best
                };
                vec![best, small, plain]
            }
            PointStep::Form(_) => vec![best, plain],
        }
    }

    /// For factors what was best on an H200 in double precision. For forms what is expected to be fast, and
    /// legal within limits where anything is: on hexahedra with one component and no field at the nodes the
    /// measured schedule of factors that are evaluated alike.
    pub fn best(&self, limits: &Limits) -> Schedule {
        match self.step {
            PointStep::Factors(factors) => defaults::schedule(&self.shape, self.vectors, factors),
            PointStep::Form(_) => self.best_of_form(limits),
        }
    }

    fn best_of_form(&self, limits: &Limits) -> Schedule {
        let (shape, precision) = (&self.shape, self.precision);
        let inputs = self.inputs();
        let first = if inputs == 1 && shape.dim == 3 {
            let like = like_factors(shape);
            let measured = defaults::schedule(&like, self.vectors, FactorPrecision::Same);
            of_factors(measured, shape)
        } else {
            let arrays = if shape.gradients { 2 } else { 1 };
            let held = arrays * inputs * shape.points_1d * precision.bytes() / 8;
            several(
                shape,
                match held <= MOST_IN_REGISTERS {
                    true => PointData::Registers,
                    false => PointData::Shared,
                },
            )
        };
        let legal = |schedule: &Schedule| {
            let block = schedule.block(self);
            let small = schedule.points != PointData::Shared
                || inputs == 1
                || block.shared_bytes(precision) / schedule.elements_per_block <= MOST_SHARED;
            small && schedule.validate(self, limits).is_ok()
        };
        let tries = [first, several(shape, PointData::Private)];
        let mut tries = tries.into_iter().flat_map(with_fewer_elements);
        tries.find(legal).unwrap_or(Schedule::PLAIN)
    }
}

/// For forms of several inputs.
fn several(shape: &Shape, points: PointData) -> Schedule {
    let pencils = shape.pencils() as u32;
    let elements_per_block = (THREADS / pencils).max(1);
    let threads = (elements_per_block * pencils).next_multiple_of(32);
    Schedule {
        elements_per_block,
        blocks_per_unit: (REGISTERS.1 / (threads * REGISTERS.0)).max(1),
        even_odd: true,
        points,
        scratch_cube: points == PointData::Registers,
        ..Schedule::PLAIN
    }
}

/// A schedule, and the same with half of the elements again and again.
fn with_fewer_elements(schedule: Schedule) -> impl Iterator<Item = Schedule> {
    let half = |schedule: &Schedule| {
        let elements_per_block = schedule.elements_per_block / 2;
        (elements_per_block > 0).then_some(Schedule {
            elements_per_block,
            by_warp: false,
            ..*schedule
        })
    };
    core::iter::successors(Some(schedule), half)
}

/// The schedule for a form that is nearest to one for factors.
fn of_factors(measured: Schedule, shape: &Shape) -> Schedule {
    let looped = measured.point_unroll > 0 && shape.gradients;
    Schedule {
        points: match looped {
            true => PointData::Shared,
            false => PointData::Registers,
        },
        scratch_cube: !looped,
        reload_values: false,
        point_unroll: 0,
        ..measured
    }
}

/// The shape of factors that are evaluated most like a form on this geometry.
fn like_factors(shape: &Shape) -> Shape {
    Shape {
        storage: match shape.storage {
            Storage::Jacobians => Storage::PointFactors,
            Storage::Affine => Storage::ElementFactors,
            storage => storage,
        },
        ..*shape
    }
}
