//! The text of a problem.

use super::schedule::{CellPerThread, Schedule};
use super::{Element, FieldKind, Shape, Storage};
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use crate::family::tensor_hex::pencils::Scatter;
use crate::roofline::Precision;

/// The vectors that a kernel reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vectors {
    /// E-vectors `[cell][component][node]`.
    Element,
    /// L-vectors or T-vectors; components of a node are together, or those of each kind.
    Nodal {
        /// Whether the components of a node are together.
        interleaved: bool,
        /// How nodes that several cells share are summed.
        scatter: Scatter,
    },
}

/// How many cells are together in arrays over cells, `[cell / together][number][cell % together]`: 1 for
/// `[cell][number]`, or a multiple of what a device reads at once, such as 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleave {
    /// Of geometry, node and vertex tables, fields per cell and at points.
    pub data: usize,
    /// Of E-vectors, also those of fields in the solution's space.
    pub vectors: usize,
}

impl Interleave {
    /// `[cell][number]` everywhere, which thread transposition reads.
    pub const NONE: Self = Self {
        data: 1,
        vectors: 1,
    };
}

/// Where number `n` of `numbers` of a cell is, see [`Interleave`].
pub fn place(together: usize, cell: usize, (n, numbers): (usize, usize)) -> usize {
    (cell / together * numbers + n) * together + cell % together
}

/// Length of an array over cells, see [`Interleave`].
pub fn places(together: usize, cells: usize, numbers: usize) -> usize {
    cells.next_multiple_of(together) * numbers
}

/// What is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The element.
    pub element: &'a Element,
    /// What is evaluated on it.
    pub shape: Shape,
    /// From where to where.
    pub vectors: Vectors,
    /// How arrays over cells lie in memory.
    pub interleave: Interleave,
    /// The form: the text of `point_form`, as
    /// [`TracedForm::point_function`](crate::form::TracedForm::point_function) prints it in this precision
    /// and language.
    pub point_form: &'a str,
    /// The numbers.
    pub precision: Precision,
    /// The language.
    pub language: Language,
}

/// An argument of a kernel. Numbers are 32-bit and without sign; nothing depends on their values but the
/// arrays' lengths, so that other data need no other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Of [`BlockLists`](super::blocks::BlockLists): `blocks`.
    Blocks,
    /// Of the same: `local`.
    BlockLocal,
    /// Of the same: `ends`.
    BlockEnds,
    /// Of the same: `slots`.
    BlockSlots,
    /// Of each cell the numbers that [`pack`](super::pack) puts.
    Geometry,
    /// Coordinates `[vertex][dim]`.
    Coordinates,
    /// Of each cell its dim + 1 vertices.
    Vertices,
    /// Of each cell its nodes.
    Nodes,
    /// Of [`BlockLists`](super::blocks::BlockLists): `list`, in place of nodes.
    BlockList,
    /// The number of nodes of u and v that are not constrained.
    NodeCount,
    /// The distance of components in u and v.
    ComponentStride,
    /// Contributions `[component][contribution_first + cell][node]`, of blocks `[component][contribution_first + entry]`.
    Contributions,
    /// The distance of components of contributions.
    ContributionStride,
    /// Where the contributions of this launch begin: a number of cells, of blocks' entries.
    ContributionFirst,
    /// Fields constant in cells, of each cell `[field]`; for blocks of fans in their
    /// [`order`](super::fans::Fans::order).
    CellFields,
    /// Fields in the solution's space: of each cell `[field][node]`, or L-vectors of all nodes.
    NodalFields,
    /// The distance of those L-vectors.
    FieldStride,
    /// Fields at the points, of each cell `[field][point]`.
    PointFields,
    /// The time, then the parameters, as numbers of the precision.
    EvalContext,
    /// The input.
    U,
    /// The output; written, but where cells' contributions are summed by atomic additions added to.
    V,
    /// The number of cells; of blocks of fans, that of their places.
    Cells,
}

/// A text to compile and how to start it. Its kernel is `apply`.
#[derive(Clone, Debug)]
pub struct SimplexKernel {
    /// A name for reports.
    pub name: String,
    /// The translation unit.
    pub text: String,
    /// The block of threads.
    pub block: BlockShape,
    /// The schedule of the text.
    pub schedule: Schedule,
    /// What the kernel is given, in this order.
    pub operands: Vec<Operand>,
}

macro_rules! file {
    ($name:literal) => {
        KernelFile {
            name: concat!("family/simplex_quadrature/text/", $name),
            text: include_str!(concat!("text/", $name)),
        }
    };
}

/// The text that applies the operator.
pub fn source(problem: &Problem, schedule: &Schedule) -> SimplexKernel {
    let files: &[KernelFile] = match schedule {
        Schedule::Transposition(_) => &[file!("rows.h"), file!("thread_transposition.c")],
        Schedule::CellPerThread(_) => {
            &[file!("rows.h"), file!("cell.h"), file!("cell_per_thread.c")]
        }
        Schedule::PointAtATime(_) => &[file!("point_at_a_time.c")],
        Schedule::BlockLocal(_) => &[file!("cell.h"), file!("block_local.c")],
    };
    translation_unit(problem, schedule, (schedule.name(), files))
}

/// The text that adds up the diagonals of a linear form's element matrices, with a cell per thread; its
/// kernel is `diagonal`.
pub fn diagonal_source(problem: &Problem) -> SimplexKernel {
    let schedule = Schedule::CellPerThread(CellPerThread {
        threads: 64,
        staged: false,
        padded: false,
        blocks_per_unit: 1,
    });
    let files = [file!("cell.h"), file!("diagonal.c")];
    translation_unit(problem, &schedule, ("diagonal", &files))
}

fn translation_unit(
    problem: &Problem,
    schedule: &Schedule,
    (name, files): (&str, &[KernelFile]),
) -> SimplexKernel {
    let shape = &problem.shape;
    let block = schedule.block(shape);
    let mut source = SourceBuilder::new(problem.language, problem.precision, block);
    define_shape(&mut source, problem);
    define_schedule(&mut source, shape, schedule);
    let element = problem.element;
    let tables = [
        &element.interp,
        &element.grad,
        &element.weights,
        &element.positions,
    ];
    source.table("c_tables", &tables.map(|table| &table[..]).concat());
    source.code("form", problem.point_form);
    for file in [file!("operands.h"), file!("point.h")] {
        source.include(file);
    }
    for &file in files {
        source.include(file);
    }
    SimplexKernel {
        name: format!(
            "simplex_quadrature {}, {} nodes, {} points, {}",
            name,
            shape.nodes,
            shape.points,
            problem.precision.name()
        ),
        text: source.finish(),
        block,
        schedule: *schedule,
        operands: operands(problem, schedule),
    }
}

/// Points and nodes of a loop that is still unrolled.
const UNROLLED: usize = 64;

fn define_shape(source: &mut SourceBuilder, problem: &Problem) {
    let shape = &problem.shape;
    let (nodal, interleaved, contributions) = match problem.vectors {
        Vectors::Element => (false, false, false),
        Vectors::Nodal {
            interleaved,
            scatter,
        } => (true, interleaved, scatter == Scatter::Deterministic),
    };
    for (name, number) in [
        ("DIM", shape.dim),
        ("NODES", shape.nodes),
        ("POINTS", shape.points),
        ("COMPONENTS", shape.components),
        ("FIELDS", shape.fields.len()),
        ("PARAMETERS", shape.parameters),
        ("MAP_NUMBERS", shape.map_numbers()),
        (
            "NODE_STRIDE",
            if interleaved { shape.components } else { 1 },
        ),
        ("DATA_INTERLEAVE", problem.interleave.data),
        ("VECTOR_INTERLEAVE", problem.interleave.vectors),
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
        ("VECTORS_NODAL", nodal),
        ("CONTRIBUTIONS", contributions),
        ("GEOMETRY_VERTICES", shape.storage == Storage::Vertices),
        ("GEOMETRY_POINTS", shape.storage == Storage::Jacobians),
        ("VERTICES_ARE_NODES", nodal && shape.degree_one),
    ] {
        source.define(name, u8::from(is));
    }
    for (kind, name) in [
        (FieldKind::Cell, "CELL_FIELD"),
        (FieldKind::Nodal, "NODAL_FIELD"),
        (FieldKind::Points, "POINT_FIELD"),
    ] {
        source.define(&format!("{name}S"), shape.fields_of(kind));
        // Which field of the form the n-th of a kind is.
        let chosen = |chain: String, (n, field)| format!("(n) == {n} ? {field} : {chain}");
        let fields = shape.fields.of(kind).enumerate();
        let chain = fields.fold("0".to_owned(), chosen);
        source.define(&format!("{name}(n)"), format!("({chain})"));
    }
    let unroll = |count: usize| {
        if count <= UNROLLED {
            "UNROLL"
        } else {
            "UNROLL_BY(1)"
        }
    };
    source.define("POINT_LOOP", unroll(shape.points * shape.nodes));
}

fn define_schedule(source: &mut SourceBuilder, shape: &Shape, schedule: &Schedule) {
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
            // Two at a time: what is moved from one to the next is then a change of names.
            source.define("FAN_UNROLL", it.fan_cells.min(2));
            source.define("BLOCK_NODES", it.block_nodes);
            source.define("LISTED_SUMS", u8::from(it.listed_sums));
            source.define("BLOCKS_AHEAD", it.blocks_ahead);
        }
    }
    source.define("TABLES_SHARED", u8::from(tables_shared));
    source.define("PADDED", u8::from(padded));
    source.define("CELL_MEMORY", cell_memory);
}

/// What a kernel is given, in its order; see `operands.h` and `block_local.c`.
fn operands(problem: &Problem, schedule: &Schedule) -> Vec<Operand> {
    let shape = &problem.shape;
    let (nodal, contributions) = match problem.vectors {
        Vectors::Element => (false, false),
        Vectors::Nodal { scatter, .. } => (true, scatter == Scatter::Deterministic),
    };
    let mut operands = Vec::new();
    let mut add = |condition: bool, some: &[Operand]| {
        operands.extend(some.iter().filter(|_| condition));
    };
    let block_local = match schedule {
        Schedule::BlockLocal(it) => {
            add(true, &[Operand::Blocks, Operand::BlockLocal]);
            add(it.listed_sums, &[Operand::BlockEnds, Operand::BlockSlots]);
            true
        }
        _ => false,
    };
    match shape.storage {
        Storage::Vertices => {
            add(true, &[Operand::Coordinates]);
            add(!(nodal && shape.degree_one), &[Operand::Vertices]);
        }
        Storage::Affine | Storage::Jacobians => add(true, &[Operand::Geometry]),
    }
    add(nodal && !block_local, &[Operand::Nodes]);
    add(nodal && block_local, &[Operand::BlockList]);
    add(nodal, &[Operand::NodeCount, Operand::ComponentStride]);
    add(
        contributions,
        &[
            Operand::Contributions,
            Operand::ContributionStride,
            Operand::ContributionFirst,
        ],
    );
    let some = |kind| shape.fields_of(kind) > 0;
    add(some(FieldKind::Cell), &[Operand::CellFields]);
    add(some(FieldKind::Nodal), &[Operand::NodalFields]);
    add(some(FieldKind::Nodal) && nodal, &[Operand::FieldStride]);
    add(some(FieldKind::Points), &[Operand::PointFields]);
    add(
        true,
        &[Operand::EvalContext, Operand::U, Operand::V, Operand::Cells],
    );
    operands
}
