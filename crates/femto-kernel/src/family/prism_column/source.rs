//! Kernel sources of prism_column.

use super::columns::Columns;
use super::parts::Parts;
use super::schedule::{Schedule, Sizes};
use super::tables::Tables;
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder, text};
use crate::family::fields::FieldKind;
use crate::family::operand::define_arguments;
use crate::family::vectors::PLACES;
use crate::family::{ElementOperator, KernelSource, Operand, Vectors};
use crate::scalar::Precision;

/// What a kernel evaluates.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelSpec<'a> {
    pub(super) tables: &'a Tables,
    /// Taken in place of the tables, if given.
    pub(super) parts: Option<&'a Parts<f64>>,
    pub(super) columns: &'a Columns,
    pub(super) operator: &'a ElementOperator,
    /// The text of `point_form`.
    pub(super) point_form: &'a str,
    pub(super) vectors: Vectors,
    pub(super) precision: Precision,
    pub(super) language: Language,
}

macro_rules! file {
    ($name:literal) => {
        text!("family/prism_column/text/", $name)
    };
}

/// The most unknowns of a prism for which loops over points are unrolled, by measurement on an H200.
const UNROLLED_POINTS: usize = 24;
/// The same of loops over rows of matrices.
const UNROLLED_ROWS: usize = 60;

impl KernelSpec<'_> {
    pub(super) fn sizes(&self) -> Sizes<'_> {
        let of_columns = (self.tables, self.columns.layers);
        Sizes::of(self.operator, of_columns, self.parts, self.precision)
    }

    /// The text that applies the operator.
    pub(super) fn source(&self, schedule: &Schedule) -> KernelSource {
        let file = match schedule.by_level {
            true => file!("levels.c"),
            false => file!("apply.c"),
        };
        let block = schedule.block(&self.sizes());
        self.unit(schedule, block, ("apply", file), true)
    }

    /// The text that sums the diagonals of the prisms' matrices.
    pub(super) fn diagonal_source(&self) -> KernelSource {
        let in_parts = self.parts.is_some();
        let schedule = Schedule {
            together: !(in_parts && self.sizes().componentwise),
            ..Schedule::PLAIN
        };
        let (file, block) = match in_parts {
            true => (file!("diagonal.c"), schedule.block(&self.sizes())),
            false => (
                file!("diagonal_at_points.c"),
                BlockShape {
                    threads: [32, self.tables.line[1] as u32, 1],
                    blocks_per_unit: 1,
                    shared_reals: 0,
                },
            ),
        };
        self.unit(&schedule, block, ("diagonal", file), false)
    }

    /// The schedule without sums that would have no effect: there are some between L-vectors, not where each prism's contributions
    /// are listed; threads carry them if a column has several, and exchange them if columns are in pairs.
    pub(super) fn without_idle_sums(&self, schedule: Schedule) -> Schedule {
        use crate::family::Scatter::Atomic;
        let has_sums = self.columns.share && self.vectors.scatter() == Some(Atomic);
        let has_several = schedule.stacks(self.columns.layers) > 1;
        let carry = schedule.carry && has_sums && has_several;
        Schedule {
            carry,
            stack: if has_sums { schedule.stack } else { 1 },
            pairs: carry && schedule.pairs && self.columns.in_pairs.is_some(),
            ..schedule
        }
    }

    fn unit(
        &self,
        schedule: &Schedule,
        block: BlockShape,
        (entry, file): (&'static str, KernelFile),
        reads_u: bool,
    ) -> KernelSource {
        let tables = self.tables;
        let operands = self.operands(reads_u);
        let mut source = SourceBuilder::new(self.language, self.precision, block);
        define_arguments(&mut source, &operands, &OPTIONAL);
        self.define(&mut source, schedule);
        source.define("STACK", schedule.stack);
        source.define("CARRY", u8::from(schedule.carry));
        source.define("PAIRS", u8::from(schedule.pairs));
        let (name, numbers) = match self.parts {
            Some(parts @ Parts::Level(_)) => ("c_matrices", &parts.numbers(tables)),
            Some(parts @ Parts::Linear(_)) => ("c_linear", &parts.numbers(tables)),
            Some(parts @ Parts::Sloped(_)) => ("c_tables", &parts.numbers(tables)),
            None => ("c_tables", &tables.numbers),
        };
        source.table(name, numbers);
        let list = |name: &str, numbers: &mut dyn Iterator<Item = usize>| {
            let numbers: Vec<String> = numbers.map(|n| n.to_string()).collect();
            let (count, all) = (numbers.len(), numbers.join(", "));
            format!("CONSTANT uint {name}[{count}] = {{{all}}};")
        };
        let steps = list(
            "c_steps",
            &mut self.columns.steps.iter().map(|&step| step as usize),
        );
        let places = list("c_places", &mut tables.places.iter().copied());
        source.code("nodes", &format!("{steps}\n{places}"));
        source.code("form", self.point_form);
        source.include(PLACES);
        source.include(file!("prism.h"));
        let files = match self.parts {
            Some(Parts::Level(_)) => &[file!("coefficients.h"), file!("matrices.h")][..],
            Some(Parts::Linear(_)) => &[file!("coefficients.h"), file!("linear.h")],
            Some(Parts::Sloped(_)) => &[
                file!("triangle.h"),
                file!("coefficients.h"),
                file!("slopes.h"),
            ],
            None => &[file!("triangle.h"), file!("points.h")],
        };
        files.iter().for_each(|&file| source.include(file));
        source.include(file);
        KernelSource {
            name: format!(
                "prism_column {entry}, {} nodes, {} points, {} layers, {}",
                tables.nodes(),
                tables.points(),
                self.columns.layers,
                self.precision.name()
            ),
            text: source.finish(),
            entry,
            block,
            elements_per_block: block.threads[0],
            operands,
        }
    }

    /// Whether loops over points, or over rows of matrices, are unrolled.
    pub(super) fn is_unrolled(&self, schedule: &Schedule) -> bool {
        let most = match self.parts {
            Some(Parts::Level(_)) => UNROLLED_ROWS,
            _ => UNROLLED_POINTS,
        };
        let components = schedule.components_at_once(self.operator.inspection.components);
        !schedule.by_level && self.tables.nodes() * components <= most
    }

    fn define(&self, source: &mut SourceBuilder, schedule: &Schedule) {
        let (tables, of) = (self.tables, &self.operator.inspection);
        self.vectors.define(source, tables.nodes(), of.components);
        self.operator.fields.define(source);
        for (name, number) in [
            ("TRIANGLE_NODES", tables.triangle[0]),
            ("TRIANGLE_POINTS", tables.triangle[1]),
            ("LINE_NODES", tables.line[0]),
            ("LINE_POINTS", tables.line[1]),
            ("LAYERS", self.columns.layers),
            ("TOGETHER", schedule.components_at_once(of.components)),
            ("PARAMETERS", of.parameters),
        ] {
            source.define(name, number);
        }
        let gradients =
            (self.operator.fields.of(FieldKind::Nodal)).any(|field| of.reads_field_gradient(field));
        for (name, is) in [
            ("SHARE", self.columns.share),
            ("BY_LEVEL", schedule.by_level),
            ("PARALLEL", self.operator.layering.is_parallel()),
            ("READS_GRADIENTS", of.reads_gradients),
            ("WRITES_VALUES", of.writes_values),
            ("WRITES_GRADIENTS", of.writes_gradients),
            ("POSITIONS", of.reads_position),
            ("FIELD_GRADIENTS", gradients),
        ] {
            source.define(name, u8::from(is));
        }
        let few = self.is_unrolled(schedule);
        source.define("FEW", u8::from(few));
        source.define("OUTER_LOOP", if few { "UNROLL" } else { "UNROLL_BY(1)" });
    }

    fn operands(&self, reads_u: bool) -> Vec<Operand> {
        let some = |kind| self.operator.fields.count(kind) > 0;
        let mut own = vec![
            Operand::ColumnStarts,
            Operand::ColumnBases,
            Operand::ColumnHeights,
        ];
        let mut add = |condition: bool, operand| own.extend(condition.then_some(operand));
        add(some(FieldKind::Cell), Operand::CellFields);
        add(some(FieldKind::Nodal), Operand::NodalFields);
        let nodal = self.vectors.scatter().is_some();
        add(some(FieldKind::Nodal) && nodal, Operand::FieldStride);
        add(some(FieldKind::Points), Operand::PointFields);
        add(true, Operand::EvalContext);
        let mut all = self.vectors.operands(&own, reads_u);
        // Columns have the nodes.
        all.retain(|operand| *operand != Operand::Nodes);
        all
    }
}

/// Operands that `prism.h` takes as zero where a kernel lacks them.
const OPTIONAL: [Operand; 5] = [
    Operand::CellFields,
    Operand::NodalFields,
    Operand::FieldStride,
    Operand::PointFields,
    Operand::U,
];
