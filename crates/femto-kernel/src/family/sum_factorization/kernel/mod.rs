//! femto's own kernels for hexahedra and quadrilaterals on accelerators: a pencil per thread or, at low degree, a layer of
//! nodes or an element.
//!
//! A hexahedron takes (points_1d)² threads, a quadrilateral points_1d; in each phase every thread contracts
//! one pencil in registers, with the 1-D matrices as operands from constant memory
//! (`family/sum_factorization/text/pencils.c`). Whole elements exchange nothing (`elements.c`). The evaluation at the
//! points is a [`PointStep`]: folded factors, component by component or together (`factors.h` beside it), or a form
//! printed from its graph, all components together (`form.h`). Fields, time and parameters are arguments, so that
//! changing them needs no new text. [`Schedule`] describes how a kernel is laid out on a device; [`KernelSpec`] has
//! everything else.

mod choice;
mod defaults;
mod geometry;
mod knobs;
mod matrices;
mod padding;
mod schedule;
mod source;
mod work;

pub use geometry::{geometry_len, pack};
pub use knobs::KNOBS;
pub use schedule::{PointData, Schedule, ThreadPer, warp_elements};

use super::work::Shape;
use crate::dialect::Language;
use crate::family::block_sums::BlockSums;
use crate::family::fields::FieldKind;
use crate::family::{FactorPrecision, Vectors};
use crate::form::TracedForm;
use crate::scalar::Precision;
use femto_element::tables::TensorTables;
use padding::Rows;

/// The evaluation at the points: factors or a form.
#[derive(Clone, Copy, Debug)]
pub enum PointStep<'a> {
    /// A form λ u, κ ∇u with its coefficients folded into the geometry: factors stored in this precision,
    /// or recomputed from the map.
    Factors(FactorPrecision),
    /// Any form.
    Form(&'a TracedForm),
}

/// What a kernel evaluates.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec<'a> {
    /// The element.
    pub basis: &'a TensorTables,
    /// Its sizes and storage.
    pub shape: Shape,
    /// The point step: factors or a form.
    pub step: PointStep<'a>,
    /// The kind of input and output vectors.
    pub vectors: Vectors,
    /// The precision of the numbers.
    pub precision: Precision,
    /// The language.
    pub language: Language,
}

impl KernelSpec<'_> {
    /// Number of components that the point step takes together.
    fn coupled(&self, schedule: &Schedule) -> usize {
        match self.step {
            PointStep::Factors(_) if !schedule.together => 1,
            PointStep::Factors(_) | PointStep::Form(_) => self.shape.components,
        }
    }

    /// Number of inputs brought to the points together: these components, then the fields at nodes.
    fn inputs(&self, schedule: &Schedule) -> usize {
        let fields = match self.step {
            // Folded into the geometry.
            PointStep::Factors(_) => 0,
            PointStep::Form(_) => self.shape.fields.count(FieldKind::Nodal),
        };
        self.coupled(schedule) + fields
    }

    /// The lists for a schedule by which blocks sum, from nodes `[element][node]` and whether each node also belongs to
    /// elements of other launches.
    pub fn block_sums(&self, schedule: &Schedule, nodes: &[u32], elsewhere: &[bool]) -> BlockSums {
        let (own, row) = (self.basis.nodes(), Rows::of(schedule, self).row as usize);
        let per_block = own * schedule.elements_per_block as usize;
        let slot = |n: usize| n / own * row + n % own;
        let elsewhere = |node: u32| elsewhere[node as usize];
        BlockSums::of(nodes, per_block, slot, elsewhere, |_, _, _| ())
    }

    /// The precision of packed geometry.
    pub fn stored_precision(&self) -> Precision {
        match self.step {
            PointStep::Factors(factors) => self.shape.storage.precision(factors, self.precision),
            PointStep::Form(_) => self.precision,
        }
    }

    /// Whether factors are rounded to less than the precision of the arithmetic.
    pub fn has_rounded_factors(&self) -> bool {
        self.stored_precision() != self.precision
    }
}

#[cfg(test)]
mod tests;
