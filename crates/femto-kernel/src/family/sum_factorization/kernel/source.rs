//! Kernel sources of sum_factorization, from what a kernel evaluates and its schedule.

use super::matrices::{matrices, products, rule};
use super::padding::{LayerStrides, NumberStrides, Rows, Stage, Strides};
use super::{KernelSpec, PointData, PointStep, Schedule, ThreadPer};
use crate::dialect::{KernelFile, SourceBuilder, text};
use crate::expr::GraphError;
use crate::family::fields::FieldKind;
use crate::family::operand::define_arguments;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::Shape;
use crate::family::{KernelSource, Operand, Vectors};

macro_rules! file {
    ($name:literal) => {
        text!("family/sum_factorization/text/", $name)
    };
}

/// Operands that are always defined in kernels, even if absent.
const OPTIONAL: [Operand; 5] = [
    Operand::CellFields,
    Operand::NodalFields,
    Operand::FieldStride,
    Operand::PointFields,
    Operand::EvalContext,
];

impl KernelSpec<'_> {
    /// The text that applies the operator; its kernel is `apply`.
    ///
    /// # Errors
    /// A constant of the form that is not finite in this precision.
    pub fn source(&self, schedule: &Schedule) -> Result<KernelSource, GraphError> {
        let mut source = self.begin(schedule, true)?;
        match schedule.thread_per {
            ThreadPer::Pencil => source.include(file!("pencils.c")),
            ThreadPer::Layer => source.include(file!("layers.c")),
            ThreadPer::Element => source.include(file!("elements.c")),
        }
        Ok(self.finish(source, "apply", schedule))
    }

    /// The text of the diagonal of a linear form's operator; its kernel is `diagonal`.
    ///
    /// # Errors
    /// As [`KernelSpec::source`].
    pub fn diagonal_source(&self) -> Result<KernelSource, GraphError> {
        let schedule = self.plain();
        let mut source = self.begin(&schedule, false)?;
        if schedule.thread_per == ThreadPer::Element {
            source.include(file!("elements.c"));
        } else {
            products(&mut source, self.basis);
            include(&mut source, &[file!("products.h"), file!("diagonal.c")]);
        }
        Ok(self.finish(source, "diagonal", &schedule))
    }

    /// The schedule with the lowest requirements, that of the diagonal.
    pub fn plain(&self) -> Schedule {
        match self.shape.storage {
            Storage::Entries => Schedule::ENTRIES,
            _ => Schedule::PLAIN,
        }
    }

    fn finish(
        &self,
        source: SourceBuilder,
        entry: &'static str,
        schedule: &Schedule,
    ) -> KernelSource {
        KernelSource {
            name: self.name(entry),
            text: source.finish(),
            entry,
            block: schedule.block(self),
            elements_per_block: schedule.elements_per_block,
            operands: self.operands(entry == "apply", schedule),
        }
    }

    fn name(&self, what: &str) -> String {
        let (degree, precision) = (self.shape.nodes_1d - 1, self.precision.name());
        let rounded = if self.has_rounded_factors() {
            ", factors fp32"
        } else {
            ""
        };
        format!("sum_factorization {what}, degree {degree}, {precision}{rounded}")
    }

    /// Everything before the kernel.
    fn begin(&self, schedule: &Schedule, input: bool) -> Result<SourceBuilder, GraphError> {
        let mut source = SourceBuilder::new(self.language, self.precision, schedule.block(self));
        define_arguments(&mut source, &self.operands(input, schedule), &OPTIONAL);
        define_vectors(&mut source, &self.shape, self.vectors);
        self.define_geometry(&mut source);
        self.define_schedule(&mut source, schedule);
        self.define_point_step(&mut source);
        rule(&mut source, self.basis);
        include(
            &mut source,
            &[
                file!("contraction.h"),
                file!("nodes.h"),
                file!("inputs.h"),
                file!("pairs.h"),
            ],
        );
        let threads = match schedule.thread_per {
            ThreadPer::Pencil => {
                matrices(&mut source, self.basis, schedule.even_odd, false);
                file!("pencils.h")
            }
            ThreadPer::Layer => {
                matrices(&mut source, self.basis, schedule.even_odd, true);
                file!("layers.h")
            }
            ThreadPer::Element => file!("elements.h"),
        };
        match self.step {
            PointStep::Factors(_) if self.shape.storage == Storage::Entries => {
                include(&mut source, &[threads, file!("entries.h")]);
            }
            PointStep::Factors(_) => {
                include(&mut source, &[file!("map.h"), threads, file!("factors.h")]);
            }
            PointStep::Form(form) => {
                let point_form = form.point_function(self.precision, self.language)?;
                source.code("form", &point_form);
                match self.shape.dim {
                    2 => source.include(file!("plane.h")),
                    _ => include(&mut source, &[file!("map.h"), file!("jacobian.h")]),
                }
                include(&mut source, &[threads, file!("form.h")]);
            }
        }
        if schedule.thread_per == ThreadPer::Element {
            source.define("DIAGONAL", u8::from(!input));
            if self.shape.storage != Storage::Entries {
                source.include(file!("polynomials.h"));
            }
        }
        if schedule.block_sums {
            source.include(file!("sums.h"));
        }
        if schedule.nodes_staged {
            source.include(file!("numbers.h"));
        }
        Ok(source)
    }

    fn define_geometry(&self, source: &mut SourceBuilder) {
        for (name, storages) in [
            ("GEOMETRY_POINTS", &[Storage::PointFactors][..]),
            ("GEOMETRY_ELEMENT", &[Storage::ElementFactors]),
            ("GEOMETRY_AFFINE", &[Storage::Affine]),
            (
                "GEOMETRY_MULTILINEAR",
                &[Storage::Multilinear, Storage::MapFactors],
            ),
            ("GEOMETRY_JACOBIANS", &[Storage::Jacobians]),
            ("GEOMETRY_ENTRIES", &[Storage::Entries]),
        ] {
            source.define(name, u8::from(storages.contains(&self.shape.storage)));
        }
        let rounded = self.has_rounded_factors();
        source.define("SINGLE_FACTORS", u8::from(rounded));
        source.define("stored_real", if rounded { "float" } else { "real" });
        source.define("STORED_BYTES", self.stored_precision().bytes());
    }

    fn define_schedule(&self, source: &mut SourceBuilder, schedule: &Schedule) {
        let shape = &self.shape;
        source.define("COUPLED", self.coupled(schedule));
        source.define("MAP_COLUMNS", u8::from(self.metric(schedule).columns));
        for (name, thread_per) in [
            ("PENCIL_PER_THREAD", ThreadPer::Pencil),
            ("ELEMENT_PER_THREAD", ThreadPer::Element),
        ] {
            source.define(name, u8::from(schedule.thread_per == thread_per));
        }
        source.define("STAGED", u8::from(schedule.staged));
        source.define("BLOCK_SUMS", u8::from(schedule.block_sums));
        source.define("NODES_STAGED", u8::from(schedule.nodes_staged));
        if schedule.nodes_staged {
            let strides = NumberStrides::of(schedule, self);
            source.define(
                "NUMBERS_START",
                schedule.block(self).shared_reals - strides.end,
            );
            source.define("NODE_LAYER", strides.layer);
            source.define("NODE_STEP", strides.node);
        }
        source.define("ELEMENTS_PER_BLOCK", schedule.elements_per_block);
        if schedule.thread_per == ThreadPer::Layer {
            let strides = LayerStrides::of(schedule, self);
            source.define("WARP_ELEMENTS", schedule.warp_elements(shape));
            source.define("SLOT", strides.slot);
            source.define("LAYER", strides.layer);
            source.define("EVEN_ODD", u8::from(schedule.even_odd));
            return;
        }
        if schedule.thread_per == ThreadPer::Element {
            let rows = Rows::of(schedule, self);
            let pencils_at_once = match schedule.point_unroll {
                0 => shape.pencils() as u32,
                count => count,
            };
            source.define("PENCILS_AT_ONCE", pencils_at_once);
            source.define("GEOMETRY_LENGTH", self.geometry_len());
            source.define("GEOMETRY_ROW", rows.row);
            source.define("NODE_ROW", rows.nodes);
            source.define("NODES_START", rows.nodes_start);
            source.define("LIST_START", rows.list_start);
            source.define("SLOTS_START", rows.slots_start);
            source.define("ENDS_START", rows.ends_start);
            return;
        }
        let strides = Strides::of(schedule, self);
        let by_warp = if schedule.by_warp {
            schedule.warp_elements(shape)
        } else {
            0
        };
        source.define("WARP_ELEMENTS", by_warp);
        source.define("SLOT", strides.slot);
        source.define("LAYER", strides.layer);
        source.define("ROW", strides.row);
        source.define("EVEN_ODD", u8::from(schedule.even_odd));
        source.define("SCRATCH_CUBE", u8::from(schedule.scratch_cube));
        source.define("RELOAD_VALUES", u8::from(schedule.reload_values));
        source.define("POINT_UNROLL", schedule.point_unroll);
        if schedule.staged {
            let stage = Stage::of(schedule, self);
            source.define("STAGE_START", stage.start);
            source.define("STAGE", stage.slot);
            source.define("COPY_BYTES", stage.copy_bytes);
        }
        for (name, points) in [
            ("POINTS_IN_REGISTERS", PointData::Registers),
            ("POINTS_IN_SHARED", PointData::Shared),
            ("POINTS_PRIVATE", PointData::Private),
        ] {
            source.define(name, u8::from(schedule.points == points));
        }
    }

    fn define_point_step(&self, source: &mut SourceBuilder) {
        match self.step {
            PointStep::Factors(_) => {
                source.define("NODAL_FIELDS", 0);
                source.define("NODAL_GRADIENTS", 0);
            }
            PointStep::Form(_) => define_form(source, &self.shape),
        }
    }

    /// The operands of a kernel, in order.
    pub fn operands(&self, input: bool, schedule: &Schedule) -> Vec<Operand> {
        let mut all = vec![Operand::Geometry, Operand::Rule];
        if schedule.block_sums {
            all.extend([
                Operand::Blocks,
                Operand::BlockList,
                Operand::BlockEnds,
                Operand::BlockSlots,
            ]);
        }
        all.extend(self.vectors.lookup());
        if let PointStep::Form(_) = self.step {
            let has = |kind| self.shape.fields.count(kind) > 0;
            all.extend(has(FieldKind::Cell).then_some(Operand::CellFields));
            if has(FieldKind::Nodal) {
                all.push(Operand::NodalFields);
                all.extend(self.vectors.scatter().map(|_| Operand::FieldStride));
            }
            all.extend(has(FieldKind::Points).then_some(Operand::PointFields));
            all.extend(self.shape.reads_context.then_some(Operand::EvalContext));
        }
        all.extend(input.then_some(Operand::U));
        all.extend([Operand::V, Operand::Count]);
        all
    }
}

fn include(source: &mut SourceBuilder, files: &[KernelFile]) {
    for &file in files {
        source.include(file);
    }
}

/// Sizes of an element, and the definitions needed by `family/sum_factorization/text/nodes.h`.
fn define_vectors(source: &mut SourceBuilder, shape: &Shape, vectors: Vectors) {
    source.define("DIM", shape.dim);
    source.define("NODES_1D", shape.nodes_1d);
    source.define("POINTS_1D", shape.points_1d);
    source.define("COMPONENTS", shape.components);
    source.define("NODE_STRIDE", vectors.node_stride(shape.components));
    source.define("COLLOCATED", u8::from(shape.collocated));
    source.define("VALUES", u8::from(shape.values));
    source.define("GRADIENTS", u8::from(shape.gradients));
    vectors.define_kind(source);
}

/// Inputs of the form besides the solution.
fn define_form(source: &mut SourceBuilder, shape: &Shape) {
    source.define("POSITION", u8::from(shape.position));
    source.define("FIELDS", shape.fields.len());
    for (count, list, kind) in [
        ("CELL_FIELDS", "CELL_FIELD_LIST", FieldKind::Cell),
        ("NODAL_FIELDS", "NODAL_FIELD_LIST", FieldKind::Nodal),
        ("POINT_FIELDS", "POINT_FIELD_LIST", FieldKind::Points),
    ] {
        let fields: Vec<String> = shape.fields.of(kind).map(|i| i.to_string()).collect();
        source.define(count, fields.len());
        source.define(list, format!("{{{}}}", fields.join(", ")));
    }
    let nodal = shape.fields.of(FieldKind::Nodal).enumerate();
    let read = nodal.filter(|(_, field)| shape.field_gradients >> field & 1 == 1);
    source.define(
        "NODAL_GRADIENTS",
        read.fold(0, |mask, (n, _)| mask | 1 << n),
    );
    source.define("PARAMETERS", shape.parameters);
    source.define("CONTEXT", u8::from(shape.reads_context));
}
