//! Kernel sources of prism_column.

use super::columns::Columns;
use super::matrices::FactorMatrices;
use super::schedule::Schedule;
use super::tables::Tables;
use crate::dialect::{KernelFile, Language, SourceBuilder, text};
use crate::family::fields::{FieldKind, Fields};
use crate::family::operand::define_arguments;
use crate::family::vectors::PLACES;
use crate::family::{KernelSource, Operand, Vectors};
use crate::form::Inspection;
use crate::scalar::Precision;

/// What a kernel evaluates.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelSpec<'a> {
    pub(super) tables: &'a Tables,
    /// Taken in place of the tables, if given.
    pub(super) matrices: Option<&'a FactorMatrices<f64>>,
    pub(super) columns: &'a Columns,
    /// Whether the triangles of each column are parallel.
    pub(super) parallel: bool,
    pub(super) inspection: &'a Inspection,
    pub(super) fields: Fields,
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
    /// The text that applies the operator.
    pub(super) fn source(&self, schedule: &Schedule) -> KernelSource {
        self.unit(schedule, ("apply", file!("apply.c")), true)
    }

    /// The text that sums the diagonals of the prisms' matrices.
    pub(super) fn diagonal_source(&self) -> KernelSource {
        self.unit(&Schedule::PLAIN, ("diagonal", file!("diagonal.c")), false)
    }

    /// Whether sums are carried: between L-vectors, and not where each prism's contributions are listed.
    fn carries(&self, schedule: &Schedule) -> bool {
        use crate::family::Scatter::Atomic;
        schedule.carry && self.columns.share && self.vectors.scatter() == Some(Atomic)
    }

    fn unit(
        &self,
        schedule: &Schedule,
        (entry, file): (&'static str, KernelFile),
        reads_u: bool,
    ) -> KernelSource {
        let (tables, components) = (self.tables, self.inspection.components);
        let block = schedule.block(tables, components);
        let operands = self.operands(reads_u);
        let mut source = SourceBuilder::new(self.language, self.precision, block);
        define_arguments(&mut source, &operands, &OPTIONAL);
        self.define(&mut source);
        source.define("CARRY", u8::from(self.carries(schedule)));
        match self.matrices {
            Some(matrices) => source.table("c_matrices", &matrices.numbers()),
            None => source.table("c_tables", &tables.numbers),
        }
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
        source.include(match self.matrices {
            Some(_) => file!("matrices.h"),
            None => file!("points.h"),
        });
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
            elements_per_block: schedule.threads,
            operands,
        }
    }

    /// Whether loops over points, or over rows of matrices, are unrolled.
    pub(super) fn is_unrolled(&self) -> bool {
        let most = match self.matrices {
            Some(_) => UNROLLED_ROWS,
            None => UNROLLED_POINTS,
        };
        self.tables.nodes() * self.inspection.components <= most
    }

    fn define(&self, source: &mut SourceBuilder) {
        let (tables, of) = (self.tables, self.inspection);
        self.vectors.define(source, tables.nodes(), of.components);
        self.fields.define(source);
        for (name, number) in [
            ("TRIANGLE_NODES", tables.triangle[0]),
            ("TRIANGLE_POINTS", tables.triangle[1]),
            ("LINE_NODES", tables.line[0]),
            ("LINE_POINTS", tables.line[1]),
            ("LAYERS", self.columns.layers),
            ("PARAMETERS", of.parameters),
        ] {
            source.define(name, number);
        }
        let gradients =
            (self.fields.of(FieldKind::Nodal)).any(|field| of.reads_field_gradient(field));
        for (name, is) in [
            ("SHARE", self.columns.share),
            ("PARALLEL", self.parallel),
            ("READS_GRADIENTS", of.reads_gradients),
            ("WRITES_VALUES", of.writes_values),
            ("WRITES_GRADIENTS", of.writes_gradients),
            ("POSITIONS", of.reads_position),
            ("FIELD_GRADIENTS", gradients),
        ] {
            source.define(name, u8::from(is));
        }
        let few = self.is_unrolled();
        source.define("FEW", u8::from(few));
        source.define("OUTER_LOOP", if few { "UNROLL" } else { "UNROLL_BY(1)" });
    }

    fn operands(&self, reads_u: bool) -> Vec<Operand> {
        let some = |kind| self.fields.count(kind) > 0;
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
