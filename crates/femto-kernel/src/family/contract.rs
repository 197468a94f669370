//! The contract of a family: what the rest of femto asks of one way to evaluate element operators.
//!
//! Of an [`ElementOperator`] a [`Family`] makes a [`BlockOperator`] for each kind of map that a mesh has. It knows
//! what is stored of the geometry and what an element costs, and packs for the host's loops. For a device that
//! compiles kernels it makes [`BlockKernels`]: packed arrays and sources, the ones thought best first.

use super::batch::NodeTable;
use super::fields::Fields;
use super::{FactorPrecision, KernelSource, Knobs, Limits, Operand, ScheduleError, Vectors};
use crate::dialect::Language;
use crate::expr::GraphError;
use crate::form::{Coefficients, Inspection, TracedForm};
use crate::roofline::{Precision, Work};
use core::fmt::Debug;
use femto_element::tables::Tables;
use femto_element::{Cell, MapKind};
use std::sync::Arc;
use thiserror::Error;

/// The operator of a form on a cell, or on a facet: then the form has the dimension of the space around.
#[derive(Clone, Debug)]
pub struct ElementOperator {
    /// The cell.
    pub cell: Cell,
    /// Basis and quadrature rule.
    pub tables: Tables,
    /// The form.
    pub form: TracedForm,
    /// What it reads and writes.
    pub inspection: Inspection,
    /// The auxiliary fields that it is given.
    pub fields: Fields,
    /// λ and κ of a form λ u, κ ∇u that are folded into the geometry; otherwise the form is evaluated as it is
    /// written.
    pub coefficients: Option<Coefficients>,
}

/// The map of a cell, as packing reads it.
#[derive(Clone, Copy, Debug)]
pub enum CellMap<'a> {
    /// Of tensor-product cells `x = Σ c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`, `[8][3]`.
    Map(&'a [[f64; 3]; 8]),
    /// The vertices of an affine simplex, `[dim + 1]`.
    Vertices(&'a [[f64; 3]]),
    /// At the points of the tables.
    Points {
        /// ∂x/∂ξ, `[point][physical][reference]`.
        jacobian: &'a [[[f64; 3]; 3]],
        /// x, `[point]`.
        position: &'a [[f64; 3]],
    },
}

/// Which [`CellMap`] a block packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapInput {
    /// [`CellMap::Map`].
    Map,
    /// [`CellMap::Vertices`].
    Vertices,
    /// [`CellMap::Points`].
    Points,
}

/// One way to evaluate element operators.
pub trait Family {
    /// Its name, in reports.
    const NAME: &'static str;

    /// Whether tables are wanted as 1-D factors.
    const TENSOR_TABLES: bool;

    /// Whether nodes inside elements are written, since they belong to one alone; otherwise all are summed.
    const WRITES_INSIDE: bool;

    /// The operator on the elements of one kind of map.
    type Block: BlockOperator;

    /// Whether it evaluates forms of a dimension on cells of a shape.
    fn supports(cell: Cell, dim: usize) -> bool;

    /// Whether its kernels have knobs.
    const KNOBS: bool;

    /// Whether coefficients of forms λ u, κ ∇u may be folded into the geometry of such cells.
    fn folds(cell: Cell) -> bool;

    /// The node tables that its host loops read, of cells with so many nodes along an edge and in all.
    fn node_table(cell: Cell, nodes: (usize, usize)) -> NodeTable;

    /// The operator on elements of a kind of map. `stored` is the data level: factors or Jacobians are stored, and
    /// not recomputed, where there is a choice.
    ///
    /// # Errors
    /// Tables of the other form.
    fn block(
        operator: &Arc<ElementOperator>,
        map: MapKind,
        stored: bool,
    ) -> Result<Self::Block, BlockError>;
}

/// An operator on the elements of one kind of map.
pub trait BlockOperator: Debug + Send + Sync {
    /// What packing reads of a cell's map.
    fn map_input(&self) -> MapInput;

    /// Numbers of packed geometry of an element, for the host's loops.
    fn geometry_numbers(&self) -> usize;

    /// Packs the geometry of an element for the host's loops: `out` is [`BlockOperator::geometry_numbers`] numbers,
    /// `coefficients` are λ and κ where they are folded.
    fn pack(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]);

    /// Whether the host's loops read the coordinates of vertices.
    fn reads_vertices(&self) -> bool;

    /// The precision of stored geometry, where arithmetic has this one.
    fn stored_precision(&self, factors: FactorPrecision, precision: Precision) -> Precision;

    /// Flops of an element as the host's loops schedule them.
    fn scheduled_flops(&self) -> u64;

    /// Flops of an element as the literature counts them.
    fn nominal_flops(&self) -> u64;

    /// What is stored of the geometry, in words.
    fn stored(&self) -> String;

    /// Kernels for these elements on a device.
    ///
    /// # Errors
    /// A form that cannot be printed.
    fn kernels(
        &self,
        target: &Target,
        elements: &dyn Elements,
    ) -> Result<Box<dyn BlockKernels>, BlockError>;
}

/// What kernels are made for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The language that they are written in.
    pub language: Language,
    /// What the device allows.
    pub limits: Limits,
    /// The precision of vectors and arithmetic.
    pub precision: Precision,
    /// The precision of factors that are stored at points.
    pub factors: FactorPrecision,
    /// Knobs in place of the measured ones; with any there is one candidate.
    pub knobs: Knobs,
    /// The L-vectors of the operator.
    pub vectors: Vectors,
}

/// The elements of a block, as packing for a device reads them.
pub trait Elements {
    /// How many there are.
    fn count(&self) -> usize;

    /// L-vector nodes, `[element][node]`.
    fn nodes(&self) -> &[u32];

    /// For each L-vector node, whether elements of other blocks have it.
    fn elsewhere(&self) -> Vec<bool>;

    /// Mesh nodes at the vertices of simplices, `[element][vertex]`.
    fn vertices(&self) -> Vec<u32>;

    /// Coordinates of mesh nodes, `[mesh node][dim]`.
    fn coordinates(&self) -> Vec<f64>;

    /// Coordinates of L-vector nodes at degree 1, `[node][dim]`.
    fn node_coordinates(&self) -> Vec<f64>;

    /// The fields that are constant in each cell, of elements given by their place in the block, `[place][field]`.
    fn cell_fields(&self, places: &[u32]) -> Vec<f64>;
}

/// An array of a block.
#[derive(Clone, Debug)]
pub enum Array {
    /// Numbers of the precision of the arithmetic.
    Reals(Vec<f64>),
    /// 32-bit numbers.
    U32(Vec<u32>),
    /// 16-bit numbers.
    U16(Vec<u16>),
}

/// A kernel that evaluates a block.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its schedule, in words.
    pub schedule: String,
    /// Text, operands and launch shape.
    pub source: KernelSource,
    /// Elements, or places for them, that it runs over.
    pub places: usize,
    /// Its work on the block, L-vectors and fields in the solution's space apart.
    pub work: Work,
}

/// The kernels of a block on a device.
pub trait BlockKernels: Debug + Send + Sync {
    /// Numbers of packed geometry of an element.
    fn geometry_len(&self) -> usize;

    /// Their precision.
    fn geometry_precision(&self) -> Precision;

    /// Packs the geometry of an element: `out` is [`BlockKernels::geometry_len`] numbers, `coefficients` are λ and κ
    /// where they are folded.
    fn pack(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]);

    /// The arrays beside geometry, node lists and fields, given away: there are none the second time.
    fn take_arrays(&mut self) -> Vec<(Operand, Array)>;

    /// The kernels that the device can run, best first.
    ///
    /// # Errors
    /// The rule that the last one breaks, where there is none; a form that cannot be printed.
    fn candidates(&self, vectors: Vectors) -> Result<Vec<Candidate>, BlockError>;

    /// The kernel of the diagonal.
    ///
    /// # Errors
    /// A form that cannot be printed.
    fn diagonal(&self, vectors: Vectors) -> Result<KernelSource, BlockError>;
}

/// Why a family makes no block or kernel.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BlockError {
    /// Tables in a form that the family does not read.
    #[error("{family} does not read tables of this form")]
    Tables {
        /// The family.
        family: &'static str,
    },
    /// No family evaluates this.
    #[error("no family evaluates such cells")]
    NoFamily,
    /// The device can run none of the schedules.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A form that cannot be printed.
    #[error("the form cannot be printed for this device: {0}")]
    Graph(#[from] GraphError),
}

/// The candidates that `make` makes of schedules, but for those that the device cannot run, which it fails for with
/// [`BlockError::Schedule`].
///
/// # Errors
/// The rule that the last one breaks, where there is no other; any other error at once.
pub(super) fn legal_candidates<S>(
    schedules: impl IntoIterator<Item = S>,
    make: impl Fn(S) -> Result<Candidate, BlockError>,
) -> Result<Vec<Candidate>, BlockError> {
    let (mut candidates, mut illegal) = (Vec::new(), None);
    for schedule in schedules {
        match make(schedule) {
            Ok(candidate) => candidates.push(candidate),
            Err(error @ BlockError::Schedule(_)) => illegal = Some(error),
            Err(error) => return Err(error),
        }
    }
    match illegal {
        Some(error) if candidates.is_empty() => Err(error),
        _ => Ok(candidates),
    }
}
