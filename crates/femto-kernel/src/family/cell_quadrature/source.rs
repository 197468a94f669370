//! Kernel sources of cell_quadrature, from what a kernel evaluates and its schedule.

use super::classes::{CLASSES, ClassSizes, axis_parts};
use super::schedule::{CellPerThread, MatrixUnits, Schedule};
use super::{FieldKind, Shape, Storage};
use crate::dialect::{KernelFile, Language, SourceBuilder, text};
use crate::family::fragments::{Fragments, TILE};
use crate::family::operand::define_arguments;
use crate::family::{KernelSource, Operand, Vectors};
use crate::scalar::Precision;
use femto_element::tables::DenseTables;

/// Number of cells interleaved in arrays over cells, `[cell / together][number][cell % together]`: 1 for
/// `[cell][number]`, or a multiple of the device's access width, such as 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleave {
    /// For geometry, node and vertex tables, fields per cell and at points.
    pub data: usize,
    /// For E-vectors, including those of fields in the solution's space.
    pub vectors: usize,
}

impl Interleave {
    /// `[cell][number]` everywhere, as thread transposition requires.
    pub const NONE: Self = Self {
        data: 1,
        vectors: 1,
    };
}

/// The index of number `n` of `numbers` of a cell, see [`Interleave`].
pub fn place(together: usize, cell: usize, (n, numbers): (usize, usize)) -> usize {
    (cell / together * numbers + n) * together + cell % together
}

/// Length of an array over cells, see [`Interleave`].
pub fn places(together: usize, cells: usize, numbers: usize) -> usize {
    cells.next_multiple_of(together) * numbers
}

/// What a kernel evaluates.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec<'a> {
    /// The element.
    pub element: &'a DenseTables,
    /// Its sizes and storage.
    pub shape: Shape,
    /// The kind of input and output vectors.
    pub vectors: Vectors,
    /// The interleaving of arrays over cells.
    pub interleave: Interleave,
    /// The form: the text of `point_form`, as
    /// [`TracedForm::point_function`](crate::form::TracedForm::point_function) prints it in this precision
    /// and language.
    pub point_form: &'a str,
    /// The precision of the numbers.
    pub precision: Precision,
    /// The language.
    pub language: Language,
}

/// Operands that are always defined in kernels, even if absent, see `operands.h`.
const OPTIONAL: [Operand; 17] = [
    Operand::Geometry,
    Operand::Coordinates,
    Operand::Vertices,
    Operand::Nodes,
    Operand::BlockList,
    Operand::Elements,
    Operand::ComponentStride,
    Operand::Contributions,
    Operand::ContributionStride,
    Operand::ContributionFirst,
    Operand::CellFields,
    Operand::NodalFields,
    Operand::FieldStride,
    Operand::PointFields,
    Operand::EvalContext,
    Operand::U,
    Operand::V,
];

macro_rules! file {
    ($name:literal) => {
        text!("family/cell_quadrature/text/", $name)
    };
}

/// The text that applies the operator.
pub fn source(spec: &KernelSpec, schedule: &Schedule) -> KernelSource {
    let files: &[KernelFile] = match schedule {
        Schedule::Transposition(_) => &[file!("rows.h"), file!("thread_transposition.c")],
        Schedule::CellPerThread(_) => {
            &[file!("rows.h"), file!("cell.h"), file!("cell_per_thread.c")]
        }
        Schedule::PointAtATime(_) => &[file!("point_at_a_time.c")],
        Schedule::BlockLocal(_) => &[file!("cell.h"), file!("block_local.c")],
        Schedule::MatrixUnits(it) if it.of_classes => &[
            text!("family/text/", "classes.h"),
            file!("matrix_units.h"),
            file!("matrix_units_of_classes.c"),
        ],
        Schedule::MatrixUnits(_) => &[file!("matrix_units.h"), file!("matrix_units.c")],
    };
    let operands = operands(spec, schedule, true);
    translation_unit(spec, schedule, ("apply", schedule.name(), files), operands)
}

/// The text that sums the diagonals of a linear form's element matrices, with one cell per thread; its
/// kernel is `diagonal`.
pub fn diagonal_source(spec: &KernelSpec) -> KernelSource {
    let schedule = Schedule::CellPerThread(CellPerThread {
        threads: 64,
        staged: false,
        padded: false,
        blocks_per_unit: 1,
    });
    let files = [file!("cell.h"), file!("diagonal.c")];
    let operands = operands(spec, &schedule, false);
    translation_unit(spec, &schedule, ("diagonal", "diagonal", &files), operands)
}

fn translation_unit(
    spec: &KernelSpec,
    schedule: &Schedule,
    (entry, name, files): (&'static str, &str, &[KernelFile]),
    operands: Vec<Operand>,
) -> KernelSource {
    let shape = &spec.shape;
    let block = schedule.block(shape);
    let mut source = SourceBuilder::new(spec.language, spec.precision, block);
    define_arguments(&mut source, &operands, &OPTIONAL);
    source.define("stored_real", "real");
    let all_unrolled = matches!(schedule, Schedule::MatrixUnits(_));
    define_shape(&mut source, spec, all_unrolled);
    define_schedule(&mut source, spec, schedule);
    if shape.has_constant_tables(spec.precision) {
        source.table("c_tables", &tables(spec.element));
    }
    source.code("form", spec.point_form);
    for file in [file!("operands.h"), file!("point.h")] {
        source.include(file);
    }
    for &file in files {
        source.include(file);
    }
    KernelSource {
        name: format!(
            "cell_quadrature {}, {} nodes, {} points, {}",
            name,
            shape.nodes,
            shape.points,
            spec.precision.name()
        ),
        text: source.finish(),
        entry,
        block,
        elements_per_block: schedule.cells_per_block(shape) as u32,
        operands,
    }
}

/// The tables of an element, see `point.h`.
pub(super) fn tables(element: &DenseTables) -> Vec<f64> {
    let tables = [
        &element.interp,
        &element.grad,
        &element.weights,
        &element.positions,
    ];
    tables.map(|table| &table[..]).concat()
}

/// The right factors of `matrix_units.c`, see [`MatrixUnits::tables`].
pub(super) fn fragments(element: &DenseTables, precision: Precision) -> Vec<f64> {
    let entry = |q: usize, row: usize, node: usize| match q < element.points && node < element.nodes
    {
        true if row == 0 => element.value(q, node),
        true => element.gradient(q, node)[row - 1],
        false => 0.0,
    };
    let mut all = Fragments::new(precision);
    for to_points in [true, false] {
        for points in (0..element.points).step_by(TILE) {
            for row in 0..=element.dim {
                for nodes in (0..element.nodes).step_by(TILE) {
                    all.add(|r, c| match to_points {
                        true => entry(points + c, row, nodes + r),
                        false => entry(points + r, row, nodes + c),
                    });
                }
            }
        }
    }
    all.numbers
}

/// Maximum length of loops over points or nodes that are unrolled.
const UNROLLED: usize = 64;

/// Maximum number of unknowns of a cell for which loops over them are unrolled.
const MOST_UNKNOWNS: usize = 128;

fn define_shape(source: &mut SourceBuilder, spec: &KernelSpec, all_unrolled: bool) {
    let shape = &spec.shape;
    let nodal = spec.vectors.scatter().is_some();
    for (name, number) in [
        ("DIM", shape.dim),
        ("NODES", shape.nodes),
        ("POINTS", shape.points),
        ("COMPONENTS", shape.components),
        ("PARAMETERS", shape.parameters),
        ("MAP_NUMBERS", shape.map_numbers()),
        ("NODE_STRIDE", spec.vectors.node_stride(shape.components)),
        ("DATA_INTERLEAVE", spec.interleave.data),
        ("VECTOR_INTERLEAVE", spec.interleave.vectors),
    ] {
        source.define(name, number);
    }
    for (name, is) in [
        ("DEGREE_ONE", shape.degree_one),
        ("READS_VALUES", shape.reads_values),
        ("READS_GRADIENTS", shape.reads_gradients),
        ("WRITES_VALUES", shape.writes_values),
        ("WRITES_GRADIENTS", shape.writes_gradients),
        ("POSITIONS", shape.position),
        ("FIELD_GRADIENTS", shape.field_gradients),
    ] {
        source.define(name, u8::from(is));
    }
    spec.vectors.define_kind(source);
    for (name, is) in [
        ("GEOMETRY_VERTICES", shape.storage == Storage::Vertices),
        ("GEOMETRY_POINTS", shape.storage == Storage::Jacobians),
        ("VERTICES_ARE_NODES", nodal && shape.degree_one),
        ("TABLES_GIVEN", !shape.has_constant_tables(spec.precision)),
    ] {
        source.define(name, u8::from(is));
    }
    shape.fields.define(source);
    let unroll = |count: usize| {
        if count <= UNROLLED {
            "UNROLL"
        } else {
            "UNROLL_BY(1)"
        }
    };
    source.define("POINT_LOOP", unroll(shape.points * shape.nodes));
    let each = if all_unrolled || shape.unknowns() <= MOST_UNKNOWNS {
        "UNROLL"
    } else {
        ""
    };
    source.define("EACH_LOOP", each);
}

fn define_schedule(source: &mut SourceBuilder, spec: &KernelSpec, schedule: &Schedule) {
    let shape = &spec.shape;
    let mut tables_shared = false;
    let mut padded = false;
    let mut cell_memory = "";
    match schedule {
        Schedule::Transposition(it) => {
            let n = it.quantities(shape);
            for (name, number) in [
                ("N_BS", n.n_bs),
                ("N_BC", n.n_bc),
                ("ROWS", n.n_bc),
                ("N_CB", n.n_cb),
                ("N_SQC", n.n_sqc),
                ("N_SBC", n.n_sbc),
                ("THREAD_COMPONENTS", it.thread_components(shape)),
                ("PREFETCH", usize::from(it.prefetch)),
            ] {
                source.define(name, number);
            }
            let unrolled = n.n_sqc.max(n.n_sbc) * shape.nodes <= UNROLLED;
            let unroll = if unrolled { "UNROLL" } else { "UNROLL_BY(1)" };
            source.define("SERIAL_LOOP", unroll);
            (tables_shared, padded, cell_memory) = (true, it.padded, "SHARED");
        }
        Schedule::CellPerThread(it) => {
            source.define("STAGED", u8::from(it.staged));
            source.define("ROWS", it.threads);
            padded = it.padded;
        }
        Schedule::PointAtATime(_) => tables_shared = true,
        Schedule::BlockLocal(it) => {
            source.define("FANS_PER_BLOCK", it.fans_per_block);
            source.define("FAN_CELLS", it.fan_cells);
            // Two at a time, so that moving values from one to the next only renames registers.
            source.define("FAN_UNROLL", it.fan_cells.min(2));
            source.define("BLOCK_NODES", it.block_nodes);
            source.define("BLOCKS_AHEAD", it.blocks_ahead);
        }
        Schedule::MatrixUnits(it) => {
            source.define("WARPS", it.warps);
            source.define("MAP_SHARED", MatrixUnits::map_numbers(shape));
            match it.classes(shape) {
                Some(classes) => define_classes(source, spec.element, &classes),
                None => source.define("CLASSES", 1),
            }
        }
    }
    source.define("TABLES_SHARED", u8::from(tables_shared));
    source.define("PADDED", u8::from(padded));
    source.define("CELL_MEMORY", cell_memory);
}

fn define_classes(source: &mut SourceBuilder, element: &DenseTables, sizes: &ClassSizes) {
    let [first, others] = sizes.sum_tiles();
    for (name, number) in [
        ("CLASSES", CLASSES),
        ("SUM_TILES_FIRST", first),
        ("SUM_TILES_OTHERS", others),
        ("ORBIT_TILES", sizes.point_tiles()),
    ] {
        source.define(name, number);
    }
    let parts = axis_parts(element).expect("an element with sizes of classes has them");
    let list = |part: &dyn Fn(usize) -> String| format!("{{{}}}", [0, 1, 2].map(part).join(", "));
    source.define("AXIS_ROWS", list(&|axis| parts[axis].0.to_string()));
    source.define("AXIS_OTHERS", list(&|axis| parts[axis].1.to_string()));
    source.define("AXIS_FACTORS", list(&|axis| format!("{:?}", parts[axis].2)));
}

/// The operands of a kernel, in order; see `operands.h` and `block_local.c`.
fn operands(spec: &KernelSpec, schedule: &Schedule, input: bool) -> Vec<Operand> {
    let shape = &spec.shape;
    let nodal = spec.vectors.scatter().is_some();
    let mut operands = Vec::new();
    let mut add = |condition: bool, some: &[Operand]| {
        operands.extend(some.iter().filter(|_| condition));
    };
    let block_local = matches!(schedule, Schedule::BlockLocal(_));
    add(
        block_local,
        &[
            Operand::Blocks,
            Operand::BlockLocal,
            Operand::BlockEnds,
            Operand::BlockSlots,
        ],
    );
    add(
        !shape.has_constant_tables(spec.precision),
        &[Operand::Tables],
    );
    add(
        matches!(schedule, Schedule::MatrixUnits(_)),
        &[Operand::Fragments],
    );
    add(
        matches!(schedule, Schedule::MatrixUnits(it) if it.of_classes),
        &[Operand::Orbits],
    );
    match shape.storage {
        Storage::Vertices => {
            add(true, &[Operand::Coordinates]);
            add(!(nodal && shape.degree_one), &[Operand::Vertices]);
        }
        Storage::Affine | Storage::Jacobians => add(true, &[Operand::Geometry]),
    }
    for &operand in spec.vectors.lookup() {
        match operand {
            Operand::Nodes if block_local => add(true, &[Operand::BlockList]),
            _ => add(true, &[operand]),
        }
    }
    let some = |kind| shape.fields_of(kind) > 0;
    add(
        some(FieldKind::Cell) && !block_local,
        &[Operand::CellFields],
    );
    add(
        some(FieldKind::Cell) && block_local,
        &[Operand::BlockCellFields],
    );
    add(some(FieldKind::Nodal), &[Operand::NodalFields]);
    add(some(FieldKind::Nodal) && nodal, &[Operand::FieldStride]);
    add(some(FieldKind::Points), &[Operand::PointFields]);
    add(true, &[Operand::EvalContext]);
    add(input, &[Operand::U]);
    add(true, &[Operand::V, Operand::Count]);
    operands
}
