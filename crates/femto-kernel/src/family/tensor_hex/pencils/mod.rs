//! femto's own hexahedral kernel for accelerators: a pencil per thread.
//!
//! The text is `family/tensor_hex/text/pencils.c`: (points_1d)² threads take an element, each of them
//! one pencil of it per phase, contracted in registers with the 1-D matrices as operands from constant
//! memory. [`Pencils`] are its knobs; [`source()`] puts the text of a problem together; [`geometry_len`],
//! [`pack`] and [`FactorPrecision`] say what it reads of an element.

mod defaults;
mod geometry;
mod knobs;
pub(super) mod padding;
pub(super) mod source;
mod work;

pub use geometry::{FactorPrecision, geometry_len, pack};
pub use knobs::{Knobs, KnobsError};
pub use source::{
    NodeKernel, PencilKernel, Problem, Scatter, Vectors, diagonal_source, source, sum_source,
    zero_source,
};
pub use work::{element_work, shared_bytes};

use super::Storage;
use super::schedule::{Limits, ScheduleError};
use super::work::Shape;
use crate::dialect::BlockShape;
use crate::roofline::Precision;
use core::fmt;
use padding::{Places, Stage, Strides};

/// The knobs of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pencils {
    /// Elements of a block: several at low degree, so that a block fills some warps.
    pub elements_per_block: u32,
    /// Blocks that shall fit a compute unit at the same time; the compiler limits registers by it.
    pub blocks_per_unit: u32,
    /// Contractions by even and odd parts: about half of the products.
    pub even_odd: bool,
    /// A third array in shared memory, which spares a barrier. Only with gradients.
    pub third_cube: bool,
    /// Values stay in registers while the derivatives are taken; needed without a third cube.
    pub keep_values: bool,
    /// How many points of a pencil the metric step is unrolled by; 0 for all of them, with the
    /// derivative along the pencil in registers. Others need the third cube.
    pub metric_unroll: u32,
    /// Factors at points are copied to shared memory from when an element begins.
    pub staged: bool,
    /// No element belongs to two warps, so that only warps wait for themselves; for at most 32
    /// pencils. Elements of a block are then a multiple of [`warp_elements`].
    pub by_warp: bool,
}

/// Threads that execute together, of the devices that `by_warp` is for.
const WARP: u32 = 32;

/// Elements that fit a warp.
pub fn warp_elements(shape: &Shape) -> u32 {
    WARP / (shape.points_1d * shape.points_1d) as u32
}

impl Pencils {
    /// What was best on an H200 in double precision for elements of this shape, their factors stored like this.
    pub fn best(shape: &Shape, vectors: Vectors, factors: FactorPrecision) -> Self {
        defaults::schedule(shape, vectors, factors)
    }

    /// What needs least of a device: one element a block, nothing unrolled by halves.
    pub fn plain() -> Self {
        Self {
            elements_per_block: 1,
            blocks_per_unit: 1,
            even_odd: false,
            third_cube: false,
            keep_values: true,
            metric_unroll: 0,
            staged: false,
            by_warp: false,
        }
    }

    /// Whether a device can run it for elements of a shape, with numbers of these precisions.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn validate(
        &self,
        shape: &Shape,
        (precision, factors): (Precision, FactorPrecision),
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
        if !(self.third_cube || self.keep_values) {
            return rule("without a third cube values stay in registers");
        }
        if self.metric_unroll > 0 && !self.third_cube {
            return rule("a metric step that is not wholly unrolled needs a third cube");
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
        if self.staged && shape.storage != Storage::PointFactors {
            return rule("only factors at points are staged");
        }
        if !matches!(
            shape.storage,
            Storage::ElementFactors | Storage::Trilinear | Storage::PointFactors
        ) {
            return rule("the form is not lambda u, kappa grad u, which this kernel is for");
        }
        if precision == Precision::Fp64 && !limits.fp64 {
            return Err(ScheduleError::Fp64);
        }
        let threads = Places::of(self, shape).threads;
        if threads > limits.threads.min(limits.threads_xyz[0]) {
            return Err(ScheduleError::Threads {
                asked: [threads, 1, 1],
                most: limits.threads,
                most_xyz: limits.threads_xyz,
            });
        }
        let block = self.block(shape, (precision, factors));
        let (asked, most) = (block.shared_bytes(precision), limits.shared_bytes);
        if asked > most {
            return Err(ScheduleError::SharedMemory { asked, most });
        }
        Ok(())
    }

    /// The block of threads and its shared memory.
    pub fn block(&self, shape: &Shape, numbers: (Precision, FactorPrecision)) -> BlockShape {
        let places = Places::of(self, shape);
        BlockShape {
            threads: [places.threads, 1, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: match self.staged {
                true => Stage::of(self, shape, numbers).end,
                false => places.slots * Strides::of(self, shape).slot,
            },
        }
    }

    /// Blocks for a number of elements.
    pub fn blocks(&self, elements: usize) -> u32 {
        elements.div_ceil(self.elements_per_block as usize) as u32
    }

    /// Arrays of points in shared memory.
    fn cubes(&self, shape: &Shape) -> u32 {
        match (shape.gradients, self.third_cube) {
            (false, _) => 1,
            (true, false) => 2,
            (true, true) => 3,
        }
    }
}

impl fmt::Display for Pencils {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elements, blocks) = (self.elements_per_block, self.blocks_per_unit);
        write!(
            f,
            "pencils, {elements} elements a block, {blocks} blocks a unit"
        )?;
        for (set, words) in [
            (self.even_odd, "even-odd"),
            (self.third_cube, "third cube"),
            (self.keep_values, "values in registers"),
            (self.staged, "factors staged"),
            (self.by_warp, "by warp"),
        ] {
            if set {
                write!(f, ", {words}")?;
            }
        }
        match self.metric_unroll {
            0 => Ok(()),
            points => write!(f, ", metric unrolled by {points}"),
        }
    }
}

#[cfg(test)]
mod tests;
