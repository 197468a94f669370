//! Any form on hexahedra, on accelerators: a pencil per thread, the form printed from its graph.
//!
//! The text is `family/tensor_hex/text/forms.c`. Like [`pencils`](super::pencils), (points_1d)² threads
//! take an element and contract a pencil of it each; between the way there and the way back the form is
//! evaluated at the points, for all components together. [`FormSchedule`] are its knobs; [`source()`] puts
//! the text of a problem together; [`pack`] says what it reads of an element's geometry. Fields, time and
//! parameters are arguments: no text is made anew when they change.

mod geometry;
mod source;
mod work;

pub use super::pencils::{Scatter, Vectors};
pub use geometry::{geometry_len, pack};
pub use source::{FormKernel, Operand, Problem, diagonal_source, source};
pub use work::{element_work, shared_bytes};

use super::Storage;
use super::pencils::padding::{Places, Strides};
use super::pencils::{FactorPrecision, Pencils, warp_elements};
use super::schedule::{Limits, ScheduleError};
use super::work::Shape;
use crate::dialect::BlockShape;
use crate::family::fields::FieldKind;
use crate::roofline::Precision;
use core::fmt;

/// Where values and derivatives are kept that the form needs at the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointData {
    /// Derivatives along ξ and η in shared memory, the others in registers; loops are unrolled.
    Registers,
    /// Everything in shared memory.
    Shared,
    /// Everything in private memory, which is in caches; needs least shared memory.
    Private,
}

/// The knobs of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormSchedule {
    /// Elements of a block: several at low degree, so that a block fills some warps.
    pub elements_per_block: u32,
    /// Blocks that shall fit a compute unit at the same time; the compiler limits registers by it.
    pub blocks_per_unit: u32,
    /// Contractions by even and odd parts: about half of the products.
    pub even_odd: bool,
    /// No element belongs to two warps, see [`Pencils::by_warp`].
    pub by_warp: bool,
    /// Where numbers at the points are.
    pub points: PointData,
}

/// Numbers of all inputs at a pencil of points that registers shall hold, in double precision.
const MOST_IN_REGISTERS: usize = 24;

/// Shared memory that an element shall have at most, in bytes: so that four of them fit a compute unit.
const MOST_SHARED: u32 = 56 << 10;

/// Threads of a block at least, where elements are small.
const THREADS: u32 = 128;

/// Registers of a thread that forms of several inputs shall have, of as many as a compute unit has.
const REGISTERS: (u32, u32) = (168, 1 << 16);

impl FormSchedule {
    /// What is expected to be fast for elements of a shape, and legal within limits where anything is.
    ///
    /// With one component and no field at the nodes this is the measured schedule of [`Pencils`] for
    /// elements that are evaluated alike.
    pub fn best(shape: &Shape, vectors: Vectors, precision: Precision, limits: &Limits) -> Self {
        let inputs = shape.components + shape.fields.count(FieldKind::Nodal);
        let several = |points| {
            let pencils = (shape.points_1d * shape.points_1d) as u32;
            let elements_per_block = (THREADS / pencils).max(1);
            let threads = (elements_per_block * pencils).next_multiple_of(32);
            Self {
                elements_per_block,
                blocks_per_unit: (REGISTERS.1 / (threads * REGISTERS.0)).max(1),
                even_odd: true,
                by_warp: false,
                points,
            }
        };
        let first = if inputs == 1 {
            Self::of_pencils(
                &Pencils::best(&like_factors(shape), vectors, FactorPrecision::Same),
                shape,
            )
        } else {
            let arrays = if shape.gradients { 2 } else { 1 };
            let held = arrays * inputs * shape.points_1d * precision.bytes() / 8;
            several(match held <= MOST_IN_REGISTERS {
                true => PointData::Registers,
                false => PointData::Shared,
            })
        };
        let legal = |schedule: &Self| {
            let block = schedule.block(shape);
            let small = schedule.points != PointData::Shared
                || inputs == 1
                || block.shared_bytes(precision) / schedule.elements_per_block <= MOST_SHARED;
            small && schedule.validate(shape, precision, limits).is_ok()
        };
        let tries = [first, several(PointData::Private)];
        let tries = tries.into_iter().flat_map(Self::with_fewer_elements);
        tries.into_iter().find(legal).unwrap_or(Self::plain())
    }

    /// The same, and with half of the elements again and again.
    fn with_fewer_elements(self) -> impl Iterator<Item = Self> {
        let half = |schedule: &Self| {
            let elements_per_block = schedule.elements_per_block / 2;
            (elements_per_block > 0).then_some(Self {
                elements_per_block,
                by_warp: false,
                ..*schedule
            })
        };
        core::iter::successors(Some(self), half)
    }

    /// What needs least of a device.
    pub fn plain() -> Self {
        Self {
            elements_per_block: 1,
            blocks_per_unit: 1,
            even_odd: false,
            by_warp: false,
            points: PointData::Private,
        }
    }

    /// The nearest to a schedule of the kernel for factors.
    fn of_pencils(pencils: &Pencils, shape: &Shape) -> Self {
        Self {
            elements_per_block: pencils.elements_per_block,
            blocks_per_unit: pencils.blocks_per_unit,
            even_odd: pencils.even_odd,
            by_warp: pencils.by_warp,
            points: match pencils.metric_unroll > 0 && shape.gradients {
                true => PointData::Shared,
                false => PointData::Registers,
            },
        }
    }

    /// Whether a device can run it for elements of a shape.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn validate(
        &self,
        shape: &Shape,
        precision: Precision,
        limits: &Limits,
    ) -> Result<(), ScheduleError> {
        let rule = |rule| {
            Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule,
            })
        };
        if self.elements_per_block == 0 || self.blocks_per_unit == 0 {
            return rule("a block has elements, and a compute unit blocks");
        }
        if shape.points_1d < shape.nodes_1d {
            return rule("there are at least as many points as nodes");
        }
        if self.by_warp {
            match warp_elements(shape) {
                0 => return rule("an element by warp has at most 32 pencils"),
                several if !self.elements_per_block.is_multiple_of(several) => {
                    return rule("elements of a block are a multiple of those of a warp");
                }
                _ => {}
            }
        }
        if matches!(
            shape.storage,
            Storage::ElementFactors | Storage::PointFactors
        ) {
            return rule("factors are not for any form, as this kernel is");
        }
        if precision == Precision::Fp64 && !limits.fp64 {
            return Err(ScheduleError::Fp64);
        }
        let block = self.block(shape);
        let ([asked, ..], most) = (block.threads, limits.threads.min(limits.threads_xyz[0]));
        if asked > most {
            return Err(ScheduleError::Threads {
                asked: block.threads,
                most: limits.threads,
                most_xyz: limits.threads_xyz,
            });
        }
        let (asked, most) = (block.shared_bytes(precision), limits.shared_bytes);
        if asked > most {
            return Err(ScheduleError::SharedMemory { asked, most });
        }
        Ok(())
    }

    /// The block of threads and its shared memory.
    pub fn block(&self, shape: &Shape) -> BlockShape {
        let places = self.places(shape);
        BlockShape {
            threads: [places.threads, 1, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: places.slots * self.strides(shape).slot,
        }
    }

    /// Blocks for a number of elements.
    pub fn blocks(&self, elements: usize) -> u32 {
        elements.div_ceil(self.elements_per_block as usize) as u32
    }

    fn places(&self, shape: &Shape) -> Places {
        Places::new(shape, self.elements_per_block, self.by_warp)
    }

    fn strides(&self, shape: &Shape) -> Strides {
        Strides::new(&self.places(shape), self.cubes(shape), shape.gradients)
    }

    /// Cubes of points in shared memory, as `CUBE_OF` of `family/tensor_hex/text/forms.h` numbers them.
    fn cubes(&self, shape: &Shape) -> u32 {
        let (components, fields) = (shape.components, shape.fields.count(FieldKind::Nodal));
        let field_gradients = shape.field_gradients != 0;
        let cubes = match (self.points, shape.gradients) {
            (PointData::Registers, true) if field_gradients => 1 + 2 * (components + fields),
            (PointData::Registers, true) => 1 + 2 * components,
            (PointData::Shared, gradients) => {
                let of_component = match gradients {
                    true => 3 + usize::from(shape.values),
                    false => 1,
                };
                let of_field = if field_gradients { 4 } else { 1 };
                components * of_component + fields * of_field
            }
            (PointData::Registers | PointData::Private, _) => 1,
        };
        cubes as u32
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

impl fmt::Display for FormSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elements, blocks) = (self.elements_per_block, self.blocks_per_unit);
        let points = match self.points {
            PointData::Registers => "registers",
            PointData::Shared => "shared memory",
            PointData::Private => "private memory",
        };
        write!(
            f,
            "forms, {elements} elements a block, {blocks} blocks a unit, points in {points}"
        )?;
        for (set, words) in [(self.even_odd, "even-odd"), (self.by_warp, "by warp")] {
            if set {
                write!(f, ", {words}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
