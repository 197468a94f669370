//! The contract of a family: the interface to one way of evaluating element operators.
//!
//! From an [`ElementOperator`] a [`Family`] makes a [`BlockOperator`] for each kind of map in the mesh. A
//! block knows its stored geometry and the cost of an element, and packs for the host's loops. For devices
//! that compile kernels it makes [`BlockKernels`]: packed arrays, and kernel sources, best first.

use super::batch::NodeTable;
use super::fields::Fields;
use super::{
    Assembly, FactorPrecision, KernelSource, Knob, Knobs, Limits, MatrixLayout, MatrixStorage,
    Operand, ScheduleError, Vectors,
};
use crate::dialect::Language;
use crate::expr::GraphError;
use crate::form::{Coefficients, Inspection, TracedForm};
use crate::roofline::Work;
use crate::scalar::Precision;
use core::fmt::Debug;
use femto_element::tables::Tables;
use femto_element::{Cell, Layering, MapKind};
use std::sync::Arc;
use thiserror::Error;

/// The operator of a form on a cell, or on a facet, where the form has the dimension of the surrounding
/// space.
#[derive(Clone, Debug)]
pub struct ElementOperator {
    /// The cell.
    pub cell: Cell,
    /// Basis and quadrature rule.
    pub tables: Tables,
    /// The form.
    pub form: TracedForm,
    /// The form's inputs and outputs, and its properties.
    pub inspection: Inspection,
    /// Its auxiliary fields.
    pub fields: Fields,
    /// λ and κ of a form λ u, κ ∇u if they are folded into the geometry; otherwise the form is evaluated as
    /// written.
    pub coefficients: Option<Coefficients>,
    /// Whether families that fold no coefficients into the geometry may evaluate those that are constant in an element once
    /// for it.
    pub fold_coefficients: bool,
    /// How the triangles of columns lie.
    pub layering: Layering,
}

/// The map of a cell, for packing.
#[derive(Clone, Copy, Debug)]
pub enum CellMap<'a> {
    /// For tensor-product cells `x = Σ c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`, `[8][3]`.
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

/// The [`CellMap`] that a block packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapInput {
    /// [`CellMap::Map`].
    Map,
    /// [`CellMap::Vertices`].
    Vertices,
    /// [`CellMap::Points`].
    Points,
}

/// Elements that are packed together, at most: those of the widest vectors of fp64.
pub const GROUP: usize = 8;

/// The operators that a family is tried for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Any form.
    AnyForm,
    /// Only the operators that it [`takes`](Family::takes), which it evaluates better than the family for any form.
    Special,
    /// Products with matrices of the elements, which another family assembles.
    Matrices,
}

/// One way to evaluate element operators.
pub trait Family {
    /// Its name, in reports.
    const NAME: &'static str;

    /// Whether its tables are 1-D factors.
    const TENSOR_TABLES: bool = false;

    /// Whether interior nodes are written, since they belong to one element; otherwise all are summed.
    const WRITES_INSIDE: bool = false;

    /// The operator on the elements of one kind of map.
    type Block: BlockOperator;

    /// The operators that it is tried for.
    const ROLE: Role = Role::AnyForm;

    /// Whether it evaluates forms in `dim` dimensions on cells of a shape: all of them, unless it is special.
    fn supports(cell: Cell, dim: usize) -> bool;

    /// For a special family, whether it evaluates an operator on cells of one kind of map, on an accelerator or on the
    /// host.
    ///
    /// # Errors
    /// Why it does not, in words.
    fn takes(_: &ElementOperator, _: MapKind, _accelerator: bool) -> Result<(), &'static str> {
        Ok(())
    }

    /// The knobs of its kernels.
    const KNOBS: &'static [Knob] = &[];

    /// Whether coefficients of forms λ u, κ ∇u may be folded into the geometry of such cells.
    fn folds(_: Cell) -> bool {
        false
    }

    /// Whether for forms λ u or, with gradients, λ u, κ ∇u with folded coefficients what is stored (see [`Family::block`]) was
    /// measured to be faster than what is recomputed, on every device, where maps are not affine.
    fn stored_is_faster(_: &Tables, _gradients: bool) -> bool {
        false
    }

    /// The node tables read by its host loops, for cells with these numbers of nodes along an edge and in
    /// total.
    fn node_table(_: Cell, (_, nodes): (usize, usize)) -> NodeTable {
        NodeTable::listed(nodes)
    }

    /// The operator on elements of a kind of map. `stored` is the data level: whether factors or Jacobians
    /// are stored rather than recomputed, if there is a choice.
    ///
    /// # Errors
    /// Tables of the wrong kind.
    fn block(
        operator: &Arc<ElementOperator>,
        map: MapKind,
        stored: bool,
    ) -> Result<Self::Block, BlockError>;
}

/// An operator on the elements of one kind of map.
pub trait BlockOperator: Debug + Send + Sync {
    /// The input of packing.
    fn map_input(&self) -> MapInput;

    /// Length of an element's packed geometry, for the host's loops.
    fn geometry_numbers(&self) -> usize;

    /// How the host's loops expect the matrices of the elements in place of packed geometry, if they read any.
    fn matrices(&self) -> Option<MatrixStorage> {
        None
    }

    /// Packs the geometry of an element for the host's loops: `out` has length
    /// [`BlockOperator::geometry_numbers`], `coefficients` are λ and κ if they are folded.
    fn pack(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]);

    /// Length of an element's packed geometry on a device; 0 if kernels read none.
    fn device_numbers(&self) -> usize {
        self.geometry_numbers()
    }

    /// Packs the geometry of an element for a device: as [`BlockOperator::pack`], of length
    /// [`BlockOperator::device_numbers`].
    fn pack_for_device(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]) {
        self.pack(map, coefficients, out);
    }

    /// Packs some elements together, at most [`GROUP`], if that is faster than one after the other; false if not. `out` has
    /// as many numbers for each, those of [`BlockOperator::pack`] or of [`BlockOperator::pack_for_device`], which begin alike in families that
    /// have it.
    fn pack_group(&self, _: &[CellMap], _coefficients: &[(f64, f64)], _out: &mut [f64]) -> bool {
        false
    }

    /// Whether the host's loops read the coordinates of vertices.
    fn reads_vertices(&self) -> bool {
        false
    }

    /// Whether λ and κ are folded into the geometry, so that no fields are read.
    fn folds_coefficients(&self) -> bool;

    /// Whether the form is evaluated as written, λ and κ at each point.
    fn is_as_written(&self) -> bool {
        !self.folds_coefficients()
    }

    /// The precision of stored geometry, for arithmetic in `precision`.
    fn stored_precision(&self, _: FactorPrecision, precision: Precision) -> Precision {
        precision
    }

    /// Flops of an element, as scheduled in the host's loops.
    fn scheduled_flops(&self) -> u64;

    /// Flops of an element as the literature counts them.
    fn nominal_flops(&self) -> u64 {
        self.scheduled_flops()
    }

    /// The stored geometry, in words.
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

/// The target of kernels.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Their language.
    pub language: Language,
    /// The limits of the device.
    pub limits: Limits,
    /// The precision of vectors and arithmetic.
    pub precision: Precision,
    /// The precision of factors stored at points.
    pub factors: FactorPrecision,
    /// Knobs that replace the measured defaults; if any is set there is only one candidate.
    pub knobs: Knobs,
    /// The L-vectors of the operator.
    pub vectors: Vectors,
    /// Whether it is applied so seldom that kernels should not need lists that take long to make.
    pub is_applied_once: bool,
}

/// The elements of a block, as packing for a device needs them.
pub trait Elements: Sync {
    /// Number of elements.
    fn count(&self) -> usize;

    /// Elements of a column: columns follow each other, each from bottom to top, and the nodes of each element are those of
    /// the one below it plus the same steps in all columns, which families need not check; 1 if there are none.
    fn layers(&self) -> usize;

    /// L-vector nodes of an element, `[node]`.
    fn nodes_of(&self, element: usize) -> Vec<u32>;

    /// The mesh node at a vertex of an element.
    fn vertex(&self, element: usize, vertex: usize) -> u32;

    /// The position of a mesh node, from an origin of the block unless the form reads positions.
    fn position(&self, mesh_node: u32) -> [f64; 3];

    /// L-vector nodes, `[element][node]`.
    fn nodes(&self) -> &[u32];

    /// For each L-vector node, whether elements of other blocks have it.
    fn elsewhere(&self) -> Vec<bool>;

    /// Mesh nodes at the vertices, `[element][vertex]`.
    fn vertices(&self) -> Vec<u32>;

    /// Coordinates of mesh nodes, `[mesh node][dim]`, as [`Self::position`] gives them.
    fn coordinates(&self) -> Vec<f64>;

    /// Coordinates of L-vector nodes at degree 1, `[node][dim]`, likewise.
    fn node_coordinates(&self) -> Vec<f64>;

    /// The fields that are constant in each cell, for elements given by their position in the block,
    /// `[position][field]`.
    fn cell_fields(&self, places: &[u32]) -> Vec<f64>;
}

/// An array of a block.
#[derive(Clone, Debug)]
pub enum Array {
    /// Numbers in the precision of the arithmetic.
    Reals(Vec<f64>),
    /// 32-bit numbers.
    U32(Vec<u32>),
    /// 16-bit numbers.
    U16(Vec<u16>),
}

/// A candidate kernel for a block.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its schedule, in words.
    pub schedule: String,
    /// Text, operands and launch shape.
    pub source: KernelSource,
    /// Number of elements, or of places for them, that it runs over.
    pub places: usize,
    /// Its work on the block, apart from L-vectors and fields in the solution's space.
    pub work: Work,
}

/// The kernels of a block on a device.
pub trait BlockKernels: Debug + Send + Sync {
    /// How the matrices of the elements are assembled, if kernels read any; `vectors` are E-vectors.
    fn assembly(&self, _vectors: Vectors) -> Option<Assembly> {
        None
    }

    /// The kernel that writes all matrices V of the elements, if that is better than products with units, one for each
    /// column.
    fn matrices(&self, _: MatrixLayout) -> Option<KernelSource> {
        None
    }

    /// Whether its kernels were measured to be faster with more L1 in place of shared memory that their blocks do not use.
    fn prefers_l1(&self) -> bool {
        false
    }

    /// Moves out the arrays other than geometry, node lists and fields: a second call returns none.
    fn take_arrays(&mut self) -> Vec<(Operand, Array)> {
        Vec::new()
    }

    /// The kernels that the device can run, best first.
    ///
    /// # Errors
    /// If no schedule is legal, the rule that the last one broke; a form that cannot be printed.
    fn candidates(&self, vectors: Vectors) -> Result<Vec<Candidate>, BlockError>;

    /// The kernel of the diagonal.
    ///
    /// # Errors
    /// A form that cannot be printed.
    fn diagonal(&self, vectors: Vectors) -> Result<KernelSource, BlockError>;
}

/// Why a family cannot evaluate a block.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BlockError {
    /// Tables of a kind that the family does not read.
    #[error("{family} does not read tables of this form")]
    Tables {
        /// The family.
        family: &'static str,
    },
    /// Elements that are not the columns that their geometry says they are.
    #[error("the elements are not whole columns")]
    Columns,
    /// No family evaluates such cells.
    #[error("no family evaluates such cells")]
    NoFamily,
    /// The family has no schedule for the vectors.
    #[error("the cells' family has no schedule for these vectors")]
    NoSchedule,
    /// The device cannot run any of the schedules.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A form that cannot be printed.
    #[error("the form cannot be printed for this device: {0}")]
    Graph(#[from] GraphError),
}

/// The candidates made by `make` from the schedules. Schedules that the device cannot run, for which it
/// fails with [`BlockError::Schedule`], are skipped.
///
/// # Errors
/// If no schedule is legal, the rule that the last one broke. Other errors are returned immediately.
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
    match candidates.is_empty() {
        true => Err(illegal.unwrap_or(BlockError::NoSchedule)),
        false => Ok(candidates),
    }
}
