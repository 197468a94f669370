//! Candidate schedules of a kernel, best first.

use super::{KernelSpec, PointData, PointStep, Schedule, defaults};
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::Shape;
use crate::family::{FactorPrecision, Limits};
use crate::scalar::Precision;

/// Maximum number of values of all inputs on a pencil of points to keep in registers, in double precision.
const MOST_IN_REGISTERS: usize = 24;

/// Target shared memory of an element in bytes, so that four elements fit a compute unit.
const MOST_SHARED: u32 = 56 << 10;

/// Target number of threads of a block for small elements.
const THREADS: u32 = 128;

/// The same for long forms with points in shared memory, whose threads wait less for each other in small blocks: the Jacobian
/// of rubber is 1.7, 1.1, 1.1 and 1.5 times as fast at degrees 1 to 4 (`benches/runs/2026-11-28-nvidia-h200/layers`).
const FEW_THREADS: u32 = 32;

/// Operations of f0 and f1 at a point beyond which forms keep to pencils, as most with powers and the like do. Linear
/// elasticity, which has fewer, is faster with an element or a layer per thread, the Jacobian of rubber, which has more, and
/// the p-Laplacian, which has a power, are slower.
const MOST_FORM_FLOPS: u64 = 100;

/// Target registers per thread for forms of several inputs, and registers of a compute unit.
const REGISTERS: (u32, u32) = (168, 1 << 16);

impl KernelSpec<'_> {
    /// The schedule expected to be best, then those with lower requirements.
    pub fn schedules(&self, limits: &Limits) -> Vec<Schedule> {
        match self.step {
            PointStep::Factors(factors) => {
                let mut measured = self.measured(factors);
                if self.shape.storage == Storage::Entries {
                    measured.push(self.plain());
                    return measured;
                }
                let small = Schedule {
                    even_odd: true,
                    points: PointData::Registers,
                    blocks_per_unit: defaults::apart(&self.shape, self.vectors, factors)
                        .blocks_per_unit,
                    ..Schedule::PLAIN
                };
                measured.extend([small, Schedule::PLAIN]);
                measured
            }
            PointStep::Form(_) => {
                let short = self.short_of_form(limits);
                let pencils = [self.pencils_of_form(limits), Schedule::PLAIN];
                short.into_iter().chain(pencils).collect()
            }
        }
    }

    /// For folded factors, the schedules measured to be best on an H200, best first.
    fn measured(&self, factors: FactorPrecision) -> Vec<Schedule> {
        let (shape, vectors) = (&self.shape, self.vectors);
        if shape.storage == Storage::Entries {
            return vec![defaults::entries(shape, vectors, self.precision)];
        }
        let mut all = self.without_pencils();
        let staged = defaults::staged(shape, vectors);
        let together = defaults::together(shape, vectors, self.precision);
        let apart = defaults::apart(shape, vectors, factors);
        all.extend(staged.into_iter().chain(together).chain([apart]));
        all
    }

    /// For factors, the schedule measured to be best on an H200. For forms, a schedule expected to be fast, and legal
    /// within the limits if any is: an element or a layer of nodes per thread if that was measured to be faster for few
    /// operations; otherwise, on hexahedra with one component and no fields at the nodes, the measured schedule of the most
    /// similar factors.
    pub fn best(&self, limits: &Limits) -> Schedule {
        match self.step {
            PointStep::Factors(factors) => self.measured(factors)[0],
            PointStep::Form(_) => {
                let pencils = || self.pencils_of_form(limits);
                self.short_of_form(limits).unwrap_or_else(pencils)
            }
        }
    }

    /// An element or a layer of nodes per thread, if that is faster; of the latter also blocks of one warp, for devices with
    /// less shared memory.
    fn without_pencils(&self) -> Vec<Schedule> {
        let (shape, vectors) = (&self.shape, self.vectors);
        let whole = defaults::whole_elements(shape, vectors, self.precision);
        let layers = defaults::layers(shape, vectors, self.precision);
        let small = layers.map(|it| Schedule {
            elements_per_block: it.warp_elements(shape),
            blocks_per_unit: it.blocks_per_unit * it.elements_per_block / it.warp_elements(shape),
            ..it
        });
        let mut all: Vec<_> = whole.into_iter().chain(layers).chain(small).collect();
        all.dedup();
        all
    }

    /// The same for a form with few operations.
    fn short_of_form(&self, limits: &Limits) -> Option<Schedule> {
        let is_short = !is_long(&self.shape, self.precision);
        let all = self.without_pencils().into_iter();
        let mut short = all.filter(|_| is_short).map(|it| Schedule {
            together: false,
            ..it
        });
        short.find(|it| it.validate(self, limits).is_ok())
    }

    fn pencils_of_form(&self, limits: &Limits) -> Schedule {
        let (shape, precision) = (&self.shape, self.precision);
        let inputs = self.inputs(&Schedule::PLAIN);
        let several = |points| several(shape, points, precision);
        let first = if inputs == 1 && shape.dim == 3 {
            let like = like_factors(shape);
            let measured = defaults::apart(&like, self.vectors, FactorPrecision::Same);
            of_factors(measured, shape)
        } else {
            let arrays = if shape.gradients { 2 } else { 1 };
            let held = arrays * inputs * shape.points_1d * precision.bytes() / 8;
            several(match held <= MOST_IN_REGISTERS {
                true => PointData::Registers,
                false => PointData::Shared,
            })
        };
        let legal = |schedule: &Schedule| {
            let block = schedule.block(self);
            let small = schedule.points != PointData::Shared
                || inputs == 1
                || block.shared_bytes(precision) / schedule.elements_per_block <= MOST_SHARED;
            small && schedule.validate(self, limits).is_ok()
        };
        let tries = [first, several(PointData::Private)];
        let mut tries = tries.into_iter().flat_map(with_fewer_elements);
        tries.find(legal).unwrap_or(Schedule::PLAIN)
    }
}

/// Whether f0 and f1 have many operations at a point, or expensive ones: powers and the like, but not in single precision at
/// degrees 1 and 2.
fn is_long(shape: &Shape, precision: Precision) -> bool {
    let are_dear = precision == Precision::Fp64 || shape.nodes_1d > 3;
    shape.form_flops > MOST_FORM_FLOPS || (shape.form_calls > 0 && are_dear)
}

/// The schedule for forms of several inputs.
fn several(shape: &Shape, points: PointData, precision: Precision) -> Schedule {
    let pencils = shape.pencils() as u32;
    let threads = match points == PointData::Shared && is_long(shape, precision) {
        true => FEW_THREADS,
        false => THREADS,
    };
    let elements_per_block = (threads / pencils).max(1);
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

/// A schedule, and the same with the number of elements halved repeatedly.
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

/// The schedule for a form that is closest to one for factors.
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

/// The shape of the factors whose evaluation is most similar to a form on this geometry.
fn like_factors(shape: &Shape) -> Shape {
    Shape {
        storage: match shape.storage {
            Storage::Jacobians => Storage::PointFactors,
            Storage::Affine => Storage::ElementFactors,
            Storage::Multilinear => Storage::MapFactors,
            storage => storage,
        },
        ..*shape
    }
}
