//! The schedule of a kernel: its knobs and rules.

use super::padding::{LayerStrides, NumberStrides, Places, Rows, Stage, Strides};
use super::{KernelSpec, PointStep};
use crate::dialect::BlockShape;
use crate::family::fields::FieldKind;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::Shape;
use crate::family::{Limits, Scatter, ScheduleError, Vectors};
use core::fmt;

/// The knobs of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// What a thread has.
    pub thread_per: ThreadPer,
    /// Elements per block: several at low degree, so that a block fills whole warps.
    pub elements_per_block: u32,
    /// Target number of resident blocks per compute unit, by which the compiler limits registers.
    pub blocks_per_unit: u32,
    /// Whether contractions use even and odd parts, which halves the products.
    pub even_odd: bool,
    /// Whether no element is split between warps, so that only warp barriers are needed; for at most 32
    /// threads an element. The elements of a block are then a multiple of those of a warp.
    pub by_warp: bool,
    /// Storage of the values and derivatives of the point step.
    pub points: PointData,
    /// Whether there is a cube of shared memory for data in transit, which saves a barrier. Required for
    /// several inputs. This and the next two apply to points in registers.
    pub scratch_cube: bool,
    /// Whether values are reloaded from the scratch cube after differentiation; otherwise they stay in
    /// registers.
    pub reload_values: bool,
    /// Unrolling of the point step along a pencil; 0 unrolls it completely, with the derivative along the
    /// pencil in registers. Other values put that derivative in the scratch cube. With an element per thread the
    /// unrolling of the loop over its pencils.
    pub point_unroll: u32,
    /// Whether factors at points are copied to shared memory, starting when an element begins.
    pub staged: bool,
    /// Whether folded factors are applied to all components at a point together, as forms always are; otherwise
    /// components are taken one after the other.
    pub together: bool,
    /// Whether a block sums what its elements contribute to each of its nodes before it adds that to the vector.
    pub block_sums: bool,
    /// Whether numbers at the nodes pass through shared memory, so that neighbouring threads read and add all components
    /// of a node; otherwise a thread reads and adds those of its own pencil. For pencils.
    pub nodes_staged: bool,
}

/// What a thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreadPer {
    /// One pencil in each phase; pencils are exchanged through shared memory.
    Pencil,
    /// A layer of nodes of a hexahedron, then a row of pencils of points, exchanged twice through shared memory.
    Layer,
    /// A whole hexahedron of degree 1, in registers; nothing is exchanged.
    Element,
}

/// Storage of the values and derivatives of the point step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointData {
    /// Derivatives along ξ and η in shared memory, the others in registers; loops are unrolled.
    Registers,
    /// Everything in shared memory.
    Shared,
    /// Everything in private memory, backed by caches; needs the least shared memory.
    Private,
}

/// Threads that execute in lockstep, on the devices meant by `by_warp`.
pub(super) const WARP: u32 = 32;

/// Elements that fit a warp with a pencil per thread.
pub fn warp_elements(shape: &Shape) -> u32 {
    WARP / shape.pencils() as u32
}

/// Numbers in shared memory that 16 bits can tell apart.
const MOST_SLOTS: u32 = 1 << 16;

impl Schedule {
    /// The schedule with the lowest requirements: one element per block, no even-odd contractions.
    pub const PLAIN: Self = Self {
        thread_per: ThreadPer::Pencil,
        elements_per_block: 1,
        blocks_per_unit: 1,
        even_odd: false,
        by_warp: false,
        points: PointData::Private,
        scratch_cube: false,
        reload_values: false,
        point_unroll: 0,
        staged: false,
        together: false,
        block_sums: false,
        nodes_staged: false,
    };

    /// That with the lowest requirements for [`Storage::Entries`].
    pub const ENTRIES: Self = Self {
        thread_per: ThreadPer::Element,
        elements_per_block: WARP,
        points: PointData::Registers,
        ..Self::PLAIN
    };

    /// Checks whether a device can run it for a kernel.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn validate(&self, spec: &KernelSpec, limits: &Limits) -> Result<(), ScheduleError> {
        if let Err(rule) = self.rules(spec) {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule,
            });
        }
        limits.check(&self.block(spec), spec.precision)
    }

    /// The rules that apply on every device.
    fn rules(&self, spec: &KernelSpec) -> Result<(), &'static str> {
        let shape = &spec.shape;
        if self.elements_per_block == 0 || self.blocks_per_unit == 0 {
            return Err("a block has elements, and a compute unit blocks");
        }
        if self.block_sums && self.thread_per != ThreadPer::Element {
            return Err("blocks sum if a thread has a whole element");
        }
        if shape.points_1d < shape.nodes_1d {
            return Err("there are at least as many points as nodes");
        }
        if self.by_warp {
            match self.warp_elements(shape) {
                0 => return Err("an element by warp has at most 32 threads"),
                several if !self.elements_per_block.is_multiple_of(several) => {
                    return Err("elements of a block are a multiple of those of a warp");
                }
                _ => {}
            }
        }
        if shape.storage == Storage::Entries && self.thread_per != ThreadPer::Element {
            return Err("only a thread with a whole element multiplies by its matrix");
        }
        match self.thread_per {
            ThreadPer::Pencil => self.point_rules(spec)?,
            ThreadPer::Layer => self.layer_rules(spec)?,
            ThreadPer::Element => self.element_rules(spec)?,
        }
        let is_atomic = spec.vectors.scatter() == Some(Scatter::Atomic);
        if self.nodes_staged && (!is_atomic || self.staged) {
            return Err("nodes are staged for atomic additions to L-vectors, without factors");
        }
        if self.nodes_staged && self.thread_per != ThreadPer::Pencil {
            return Err("nodes are staged for pencils");
        }
        if self.nodes_staged && (shape.components as u32) > self.block(spec).threads[0].min(WARP) {
            return Err("nodes are staged by as many threads as a node has components");
        }
        if self.staged && shape.storage != Storage::PointFactors {
            return Err("only factors at points are staged");
        }
        match (spec.step, shape.storage.is_factors()) {
            (PointStep::Factors(_), _) if shape.dim == 2 => {
                Err("factors are folded on hexahedra alone")
            }
            (PointStep::Factors(_), false) => {
                Err("the form is not lambda u, kappa grad u, which this kernel is for")
            }
            (PointStep::Form(_), true) => Err("factors are not for any form, as this kernel is"),
            _ => Ok(()),
        }
    }

    /// Elements of a warp.
    pub(super) fn warp_elements(&self, shape: &Shape) -> u32 {
        match self.thread_per {
            ThreadPer::Layer => WARP / shape.points_1d as u32,
            ThreadPer::Pencil | ThreadPer::Element => warp_elements(shape),
        }
    }

    /// The rules for a thread with a layer of nodes.
    fn layer_rules(&self, spec: &KernelSpec) -> Result<(), &'static str> {
        let shape = &spec.shape;
        if shape.dim != 3 {
            return Err("a thread has a layer of nodes only of hexahedra");
        }
        if !shape.gradients || shape.collocated {
            return Err("a thread has a layer of nodes only for gradients at Gauss points");
        }
        if !self.by_warp {
            return Err("elements in layers are not split between warps");
        }
        if self.points != PointData::Registers
            || self.scratch_cube
            || self.reload_values
            || self.staged
        {
            return Err("with a layer of nodes a thread has pencils of points in registers");
        }
        if self.point_unroll > 0 {
            return Err("with a layer of nodes a thread has one pencil of points after the other");
        }
        Ok(())
    }

    /// The rules for a thread with a whole element.
    fn element_rules(&self, spec: &KernelSpec) -> Result<(), &'static str> {
        let shape = &spec.shape;
        if shape.dim != 3 {
            return Err("a thread has a whole element only of hexahedra");
        }
        let are_points = shape.storage != Storage::Entries;
        if are_points && !matches!(spec.vectors, Vectors::Nodal { .. }) {
            return Err("a thread has the points of a whole element only with L-vectors");
        }
        if shape.storage.is_at_points() {
            return Err("a thread with a whole element reads no geometry at points");
        }
        if shape.nodes_1d != 2 {
            return Err("a thread has a whole element only at degree 1");
        }
        let at_points = shape.fields.count(FieldKind::Points) > 0;
        if spec.inputs(self) > spec.coupled(self) || at_points {
            return Err("a thread with a whole element reads no fields at nodes or points");
        }
        if !self.elements_per_block.is_multiple_of(WARP) {
            return Err("threads with a whole element fill whole warps of 32");
        }
        let is_atomic = spec.vectors.scatter() == Some(Scatter::Atomic);
        if self.block_sums && !(is_atomic && spec.coupled(self) == shape.components) {
            return Err("blocks sum all components together, for atomic additions");
        }
        if self.block_sums && self.elements_per_block * Rows::of(self, spec).row >= MOST_SLOTS {
            return Err("a block that sums has fewer than 65536 numbers");
        }
        if self.by_warp || self.scratch_cube || self.points != PointData::Registers {
            return Err("a thread with a whole element exchanges nothing");
        }
        if self.even_odd {
            return Err("a thread with a whole element has no contractions by even and odd parts");
        }
        Ok(())
    }

    /// The rules for the point step's storage with pencils.
    fn point_rules(&self, spec: &KernelSpec) -> Result<(), &'static str> {
        let (shape, inputs) = (&spec.shape, spec.inputs(self));
        let looped = self.point_unroll > 0;
        let of_registers = self.scratch_cube || self.reload_values || looped;
        if of_registers && self.points != PointData::Registers {
            return Err("a scratch cube is for points in registers");
        }
        if self.points == PointData::Registers && !self.scratch_cube {
            if inputs > 1 && shape.gradients {
                return Err("several inputs need a scratch cube");
            }
            if self.reload_values {
                return Err("without a scratch cube values stay in registers");
            }
            if looped {
                return Err("a point step that is not wholly unrolled needs a scratch cube");
            }
        }
        // The next input takes the scratch cube before all threads have read this one's values again.
        if (self.reload_values || looped) && inputs > 1 {
            return Err("several inputs keep values in registers and unroll the point step wholly");
        }
        match spec.step {
            PointStep::Form(_) if looped && shape.values => {
                Err("a form that reads values is wholly unrolled, since they are in registers")
            }
            _ => Ok(()),
        }
    }

    /// The block of threads and its shared memory.
    pub fn block(&self, spec: &KernelSpec) -> BlockShape {
        let places = Places::of(self, &spec.shape);
        let (threads, arrays) = match self.thread_per {
            ThreadPer::Element => (self.elements_per_block, Rows::of(self, spec).end),
            ThreadPer::Layer => {
                let warps = self.elements_per_block / self.warp_elements(&spec.shape).max(1);
                let slots = self.elements_per_block * LayerStrides::of(self, spec).slot;
                (warps * WARP, slots)
            }
            ThreadPer::Pencil if self.staged => (places.threads, Stage::of(self, spec).end),
            ThreadPer::Pencil => {
                let slots = places.slots * Strides::of(self, spec).slot;
                (places.threads, slots)
            }
        };
        BlockShape {
            threads: [threads, 1, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: arrays + self.staged_numbers(spec),
        }
    }

    /// Numbers at the nodes in shared memory, after all else.
    pub(super) fn staged_numbers(&self, spec: &KernelSpec) -> u32 {
        match self.nodes_staged {
            true => NumberStrides::of(self, spec).end,
            false => 0,
        }
    }

    /// Number of point arrays in shared memory, as numbered by `CUBE_OF` of
    /// `family/sum_factorization/text/pencils.h`.
    pub(super) fn cubes(&self, spec: &KernelSpec) -> u32 {
        let (shape, components) = (&spec.shape, spec.coupled(self));
        let fields = spec.inputs(self) - components;
        let (field_gradients, dim) = (shape.field_gradients != 0, shape.dim);
        let cubes = match (self.points, shape.gradients) {
            (PointData::Registers, true) => {
                let differentiated = if field_gradients {
                    components + fields
                } else {
                    components
                };
                usize::from(self.scratch_cube) + (dim - 1) * differentiated
            }
            (PointData::Shared, gradients) => {
                let of_component = match gradients {
                    true => dim + usize::from(shape.values),
                    false => 1,
                };
                let of_field = if field_gradients { dim + 1 } else { 1 };
                components * of_component + fields * of_field
            }
            _ => 1,
        };
        cubes as u32
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elements, blocks) = (self.elements_per_block, self.blocks_per_unit);
        let threads = match self.thread_per {
            ThreadPer::Pencil => "pencils",
            ThreadPer::Layer => "a layer of nodes per thread",
            ThreadPer::Element => "an element per thread",
        };
        let points = match self.points {
            PointData::Registers => "registers",
            PointData::Shared => "shared memory",
            PointData::Private => "private memory",
        };
        write!(
            f,
            "{threads}, {elements} elements a block, {blocks} blocks a unit"
        )?;
        // With a whole element they always are in registers, if there are any.
        if self.thread_per != ThreadPer::Element {
            write!(f, ", points in {points}")?;
        }
        for (set, words) in [
            (self.even_odd, "even-odd"),
            (self.scratch_cube, "scratch cube"),
            (self.reload_values, "values read again"),
            (self.staged, "factors staged"),
            (self.by_warp, "by warp"),
            (self.together, "components together"),
            (self.block_sums, "summed by block"),
            (self.nodes_staged, "nodes staged"),
        ] {
            if set {
                write!(f, ", {words}")?;
            }
        }
        let unrolled = match self.thread_per {
            ThreadPer::Pencil => "point step",
            ThreadPer::Layer | ThreadPer::Element => "pencils",
        };
        match self.point_unroll {
            0 => Ok(()),
            count => write!(f, ", {unrolled} unrolled by {count}"),
        }
    }
}
