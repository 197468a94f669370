//! The text of a problem.

use super::{Pencils, Strides};
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
        by_node: bool,
    },
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
    /// The language.
    pub language: Language,
}

/// A text to compile and how to start it.
///
/// Arguments of `apply`: geometry; the rule (points, then weights, `[2][points_1d]`); then, for nodal
/// vectors, shell `[element][shell node]`, interior `[element]`, the number of nodes, the distance of
/// components; or, for listed E-vectors, the list; u; v; the number of elements. Of `diagonal` the
/// same without u.
#[derive(Clone, Debug)]
pub struct PencilKernel {
    /// A name for reports, such as `pencils bk5 degree 7 fp64`.
    pub name: String,
    /// The translation unit.
    pub text: String,
    /// The block of threads.
    pub block: BlockShape,
    /// Elements of a block.
    pub elements_per_block: u32,
}

impl PencilKernel {
    /// Blocks for a number of elements.
    pub fn blocks(&self, elements: usize) -> u32 {
        elements.div_ceil(self.elements_per_block as usize) as u32
    }
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
    let block = schedule.block(&problem.shape);
    let mut source = SourceBuilder::new(problem.language, problem.precision, block);
    define(&mut source, problem, schedule);
    matrices(&mut source, problem.basis, schedule.even_odd);
    rule(&mut source, problem.basis);
    for file in [
        file!("contraction.h"),
        file!("nodes.h"),
        file!("factors.h"),
        file!("pencils.c"),
    ] {
        source.include(file);
    }
    PencilKernel {
        name: name("pencils", problem),
        text: source.finish(),
        block,
        elements_per_block: schedule.elements_per_block,
    }
}

/// The text of the operator's diagonal; its kernel is `diagonal`, with a block per element.
pub fn diagonal_source(problem: &Problem) -> PencilKernel {
    let schedule = Pencils {
        elements_per_block: 1,
        blocks_per_unit: 1,
        even_odd: false,
        third_cube: false,
        keep_values: true,
        metric_unroll: 0,
        prefetch: false,
    };
    let block = schedule.block(&problem.shape);
    let mut source = SourceBuilder::new(problem.language, problem.precision, block);
    define(&mut source, problem, &schedule);
    let (interp, grad) = (&problem.basis.interp_1d, problem.basis.grad_1d());
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let products = [
        product(interp, interp),
        product(interp, &grad),
        product(&grad, &grad),
    ];
    source.table("c_products", &products.concat());
    rule(&mut source, problem.basis);
    for file in [file!("nodes.h"), file!("factors.h"), file!("diagonal.c")] {
        source.include(file);
    }
    PencilKernel {
        name: name("diagonal", problem),
        text: source.finish(),
        block,
        elements_per_block: 1,
    }
}

/// The text that sets shell nodes to zero, and its block of threads.
///
/// Arguments of `zero`: pieces `[piece][2]` (first node, end), the number of nodes, the distance of
/// components, v. A block takes a piece.
#[derive(Clone, Debug)]
pub struct ZeroKernel {
    /// The translation unit.
    pub text: String,
    /// The block of threads.
    pub block: BlockShape,
}

/// The text that prepares an output for sums: its kernel is `zero`.
pub fn zero_source(
    language: Language,
    precision: Precision,
    components: usize,
    by_node: bool,
) -> ZeroKernel {
    let block = BlockShape {
        threads: [256, 1, 1],
        blocks_per_unit: 1,
        shared_reals: 0,
    };
    let mut source = SourceBuilder::new(language, precision, block);
    source.define("COMPONENTS", components);
    source.define("NODE_STRIDE", if by_node { components } else { 1 });
    source.include(file!("zero.c"));
    ZeroKernel {
        text: source.finish(),
        block,
    }
}

fn name(what: &str, problem: &Problem) -> String {
    let (degree, precision) = (problem.shape.nodes_1d - 1, problem.precision.name());
    format!("tensor_hex {what}, degree {degree}, {precision}")
}

fn define(source: &mut SourceBuilder, problem: &Problem, schedule: &Pencils) {
    let shape = &problem.shape;
    let strides = Strides::of(shape);
    let (nodal, listed, by_node) = match problem.vectors {
        Vectors::Element { listed } => (false, listed, false),
        Vectors::Nodal { by_node } => (true, false, by_node),
    };
    source.define("NODES_1D", shape.nodes_1d);
    source.define("POINTS_1D", shape.points_1d);
    source.define("COMPONENTS", shape.components);
    source.define("NODE_STRIDE", if by_node { shape.components } else { 1 });
    source.define("ELEMENTS_PER_BLOCK", schedule.elements_per_block);
    source.define("CUBES", schedule.cubes(shape));
    source.define("LAYER", strides.layer);
    source.define("ROW", strides.row);
    source.define("METRIC_UNROLL", schedule.metric_unroll);
    for (name, is) in [
        ("COLLOCATED", shape.collocated),
        ("VALUES", shape.values),
        ("GRADIENTS", shape.gradients),
        ("VECTORS_NODAL", nodal),
        ("VECTORS_LISTED", listed),
        ("GEOMETRY_POINTS", shape.storage == Storage::PointFactors),
        ("GEOMETRY_ELEMENT", shape.storage == Storage::ElementFactors),
        ("GEOMETRY_TRILINEAR", shape.storage == Storage::Trilinear),
        ("EVEN_ODD", schedule.even_odd),
        ("KEEP_VALUES", schedule.keep_values),
        ("PREFETCH", schedule.prefetch),
    ] {
        source.define(name, u8::from(is));
    }
}

/// The 1-D matrices, whole or as even and odd parts.
fn matrices(source: &mut SourceBuilder, basis: &Basis, even_odd: bool) {
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

/// The quadrature rule.
fn rule(source: &mut SourceBuilder, basis: &Basis) {
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
