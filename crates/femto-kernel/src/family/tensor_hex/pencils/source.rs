//! The text of a problem.

use super::padding::Stage;
use super::{FactorPrecision, Pencils, Strides, warp_elements};
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use crate::family::tensor_hex::work::Shape;
use crate::family::tensor_hex::{Basis, Storage};
use crate::roofline::Precision;

/// The vectors that a kernel reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vectors {
    /// E-vectors `[element][component][node]`. With `listed`, element e of the kernel is the one that
    /// a list names, which comes where nodal kernels have their tables.
    Element {
        /// Whether there is a list.
        listed: bool,
    },
    /// L-vectors or T-vectors; components of a node are together, or those of each kind.
    Nodal {
        /// Whether the components of a node are together.
        interleaved: bool,
        /// How nodes that several elements share are summed.
        scatter: Scatter,
    },
}

/// How nodes that several elements share are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scatter {
    /// By atomic additions: fast; the order of sums, and so the last bits, change from run to run.
    #[default]
    Atomic,
    /// Each element writes its contribution, and a second kernel adds the contributions of a node in a fixed order:
    /// deterministic to the bit.
    Deterministic,
}

impl Scatter {
    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Deterministic => "deterministic",
        }
    }
}

/// What is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The element.
    pub basis: &'a Basis,
    /// What is evaluated on it.
    pub shape: Shape,
    /// From where to where.
    pub vectors: Vectors,
    /// The numbers.
    pub precision: Precision,
    /// Those of the factors at points.
    pub factors: FactorPrecision,
    /// The language.
    pub language: Language,
}

impl Problem<'_> {
    /// Precision of the arithmetic and of the factors.
    pub fn numbers(&self) -> (Precision, FactorPrecision) {
        (self.precision, self.factors)
    }

    /// Factors are stored in single precision and all else is not.
    fn has_single_factors(&self) -> bool {
        self.factors.perturbs(self.shape.storage, self.precision)
    }
}

/// A text to compile and how to start it.
///
/// Arguments of `apply`: geometry; the rule (points and weights, `[points_1d][2]`); then, for nodal
/// vectors, the nodes `[element][k][j][i]`, the number of nodes, the distance of components, and if sums
/// are to be deterministic the contributions `[component][element][k][j][i]`, the distance of their components, the
/// first element's number there; or, for listed E-vectors, the list; u; v; the number of elements. Of
/// `diagonal` the same without u.
#[derive(Clone, Debug)]
pub struct PencilKernel {
    /// A name for reports, such as `pencils bk5 degree 7 fp64`.
    pub name: String,
    /// The translation unit.
    pub text: String,
    /// The block of threads.
    pub block: BlockShape,
    /// The schedule of the text.
    pub schedule: Pencils,
}

macro_rules! file {
    ($name:literal) => {
        KernelFile {
            name: concat!("family/tensor_hex/text/", $name),
            text: include_str!(concat!("../text/", $name)),
        }
    };
}

/// The text that applies the operator; its kernel is `apply`.
pub fn source(problem: &Problem, schedule: &Pencils) -> PencilKernel {
    let block = schedule.block(&problem.shape, problem.numbers());
    let mut source = SourceBuilder::new(problem.language, problem.precision, block);
    define(&mut source, problem, schedule);
    matrices(&mut source, problem.basis, schedule.even_odd);
    rule(&mut source, problem.basis);
    for file in [
        file!("contraction.h"),
        file!("nodes.h"),
        file!("map.h"),
        file!("factors.h"),
        file!("pencils.c"),
    ] {
        source.include(file);
    }
    PencilKernel {
        name: name("pencils", problem),
        text: source.finish(),
        block,
        schedule: *schedule,
    }
}

/// The text of the operator's diagonal; its kernel is `diagonal`, with a block per element.
pub fn diagonal_source(problem: &Problem) -> PencilKernel {
    let schedule = Pencils::plain();
    let block = schedule.block(&problem.shape, problem.numbers());
    let mut source = SourceBuilder::new(problem.language, problem.precision, block);
    define(&mut source, problem, &schedule);
    products(&mut source, problem.basis);
    rule(&mut source, problem.basis);
    for file in [
        file!("nodes.h"),
        file!("map.h"),
        file!("factors.h"),
        file!("products.h"),
        file!("diagonal.c"),
    ] {
        source.include(file);
    }
    PencilKernel {
        name: name("diagonal", problem),
        text: source.finish(),
        block,
        schedule,
    }
}

/// A text that works on nodes, and its block of threads.
#[derive(Clone, Debug)]
pub struct NodeKernel {
    /// The translation unit.
    pub text: String,
    /// The block of threads.
    pub block: BlockShape,
}

/// The text that prepares an output for atomic sums; its kernel is `zero`, a block takes a piece.
///
/// Arguments: pieces `[piece][2]` (first node, end), the number of nodes, the distance of
/// components, v.
pub fn zero_source(
    language: Language,
    precision: Precision,
    components: usize,
    interleaved: bool,
) -> NodeKernel {
    node_kernel(
        language,
        precision,
        (components, interleaved),
        file!("zero.c"),
    )
}

/// The text that adds up contributions; its kernel is `sum`, a thread takes a node.
///
/// Arguments: the nodes, where the sources of each begin `[nodes + 1]`, the sources, the contributions, the
/// distance of their components, the number of nodes of v, the distance of its components, v, the number
/// of nodes in the list.
pub fn sum_source(
    language: Language,
    precision: Precision,
    components: usize,
    interleaved: bool,
) -> NodeKernel {
    node_kernel(
        language,
        precision,
        (components, interleaved),
        file!("sum.c"),
    )
}

fn node_kernel(
    language: Language,
    precision: Precision,
    (components, interleaved): (usize, bool),
    file: KernelFile,
) -> NodeKernel {
    let block = BlockShape::row(256);
    let mut source = SourceBuilder::new(language, precision, block);
    source.define("COMPONENTS", components);
    source.define("NODE_STRIDE", if interleaved { components } else { 1 });
    source.include(file);
    NodeKernel {
        text: source.finish(),
        block,
    }
}

fn name(what: &str, problem: &Problem) -> String {
    let (degree, precision) = (problem.shape.nodes_1d - 1, problem.precision.name());
    let single = if problem.has_single_factors() {
        ", factors fp32"
    } else {
        ""
    };
    format!("tensor_hex {what}, degree {degree}, {precision}{single}")
}

fn define(source: &mut SourceBuilder, problem: &Problem, schedule: &Pencils) {
    let shape = &problem.shape;
    let strides = Strides::of(schedule, shape);
    define_vectors(source, shape, problem.vectors);
    source.define("ELEMENTS_PER_BLOCK", schedule.elements_per_block);
    source.define("CUBES", schedule.cubes(shape));
    source.define("SLOT", strides.slot);
    source.define("LAYER", strides.layer);
    source.define("ROW", strides.row);
    source.define("METRIC_UNROLL", schedule.metric_unroll);
    let by_warp = if schedule.by_warp {
        warp_elements(shape)
    } else {
        0
    };
    source.define("WARP_ELEMENTS", by_warp);
    for (name, is) in [
        ("GEOMETRY_POINTS", shape.storage == Storage::PointFactors),
        ("GEOMETRY_ELEMENT", shape.storage == Storage::ElementFactors),
        ("GEOMETRY_TRILINEAR", shape.storage == Storage::Trilinear),
        ("SINGLE_FACTORS", problem.has_single_factors()),
        ("EVEN_ODD", schedule.even_odd),
        ("KEEP_VALUES", schedule.keep_values),
        ("STAGED", schedule.staged),
    ] {
        source.define(name, u8::from(is));
    }
    if schedule.staged {
        let stage = Stage::of(schedule, shape, problem.numbers());
        source.define("STAGE_START", stage.start);
        source.define("STAGE", stage.slot);
        source.define("COPY_BYTES", stage.copy_bytes);
    }
}

/// Sizes of an element, and what `family/tensor_hex/text/nodes.h` needs.
pub(in crate::family::tensor_hex) fn define_vectors(
    source: &mut SourceBuilder,
    shape: &Shape,
    vectors: Vectors,
) {
    let (nodal, listed, interleaved, contributions) = match vectors {
        Vectors::Element { listed } => (false, listed, false, false),
        Vectors::Nodal {
            interleaved,
            scatter,
        } => (true, false, interleaved, scatter == Scatter::Deterministic),
    };
    source.define("NODES_1D", shape.nodes_1d);
    source.define("POINTS_1D", shape.points_1d);
    source.define("COMPONENTS", shape.components);
    source.define(
        "NODE_STRIDE",
        if interleaved { shape.components } else { 1 },
    );
    source.define("COLLOCATED", u8::from(shape.collocated));
    source.define("VALUES", u8::from(shape.values));
    source.define("GRADIENTS", u8::from(shape.gradients));
    source.define("VECTORS_NODAL", u8::from(nodal));
    source.define("VECTORS_LISTED", u8::from(listed));
    source.define("CONTRIBUTIONS", u8::from(contributions));
}

/// The 1-D matrices, whole or as even and odd parts.
pub(in crate::family::tensor_hex) fn matrices(
    source: &mut SourceBuilder,
    basis: &Basis,
    even_odd: bool,
) {
    let (q, g) = (basis.nodes_1d, basis.points_1d);
    let interp = Matrix {
        rows: g,
        columns: q,
        entries: basis.interp_1d.clone(),
    };
    let grad = Matrix {
        rows: g,
        columns: g,
        entries: basis.colloc_grad_1d.clone(),
    };
    for (name, matrix) in [
        ("interp_transposed", interp.transposed()),
        ("interp", interp),
        ("grad_transposed", grad.transposed()),
        ("grad", grad),
    ] {
        if even_odd {
            let (even, odd) = matrix.parts();
            source.table(&format!("c_{name}_even"), &even);
            source.table(&format!("c_{name}_odd"), &odd);
        } else {
            source.table(&format!("c_{name}"), &matrix.entries);
        }
    }
}

/// Products of entries of the 1-D matrices, for diagonals.
pub(in crate::family::tensor_hex) fn products(source: &mut SourceBuilder, basis: &Basis) {
    let (interp, grad) = (&basis.interp_1d, basis.grad_1d());
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let products = [
        product(interp, interp),
        product(interp, &grad),
        product(&grad, &grad),
    ];
    source.table("c_products", &products.concat());
}

/// The quadrature rule.
pub(in crate::family::tensor_hex) fn rule(source: &mut SourceBuilder, basis: &Basis) {
    source.table("c_points", &basis.points);
    source.table("c_weights", &basis.weights);
}

/// A 1-D matrix `[rows][columns]`.
struct Matrix {
    rows: usize,
    columns: usize,
    entries: Vec<f64>,
}

impl Matrix {
    fn transposed(&self) -> Self {
        let (rows, columns) = (self.columns, self.rows);
        let entry = |n: usize| self.entries[(n % columns) * self.columns + n / columns];
        Self {
            rows,
            columns,
            entries: (0..rows * columns).map(entry).collect(),
        }
    }

    /// What multiplies even and odd parts of a pencil, `[(rows + 1) / 2][(columns + 1) / 2]` and
    /// `[(rows + 1) / 2][columns / 2]`; see `family/tensor_hex/text/contraction.h`.
    fn parts(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut even, mut odd) = (Vec::new(), Vec::new());
        for row in self
            .entries
            .chunks_exact(self.columns)
            .take(self.rows.div_ceil(2))
        {
            for (m, &entry) in row.iter().enumerate().take(self.columns / 2) {
                let mirrored = row[self.columns - 1 - m];
                even.push((entry + mirrored) / 2.0);
                odd.push((entry - mirrored) / 2.0);
            }
            if self.columns % 2 == 1 {
                even.push(row[self.columns / 2]);
            }
        }
        (even, odd)
    }
}
