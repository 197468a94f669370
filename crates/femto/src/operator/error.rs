//! Errors of operators.

use femto_element::Degree;
use femto_element::basis::BasisError;
use femto_element::quadrature::QuadratureError;
use femto_fem::geometry::GeometryError;
use femto_kernel::expr::GraphError;
use femto_kernel::family::{BlockError, Operand, ScheduleError};
use femto_platform::device::DeviceError;
use thiserror::Error;

/// Why an operator could not be built or applied.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OperatorError {
    /// The form and the space have different numbers of components.
    #[error("the form has {form} components but the space has {space}")]
    Components {
        /// Of the form.
        form: usize,
        /// Of the space.
        space: usize,
    },
    /// More components than the host's kernels take, or than a Jacobian can read as fields.
    #[error("{found} components; at most {most} are supported")]
    TooManyComponents {
        /// Number of components requested.
        found: usize,
        /// Maximum supported.
        most: usize,
    },
    /// A graph with a number of components that forms of its dimension do not have.
    #[error(
        "in {dim} dimensions forms that are given as graphs, as those of fluxes, reactions and Robin terms are, have 1 or {dim} \
         components, not {found}"
    )]
    ComponentsOfGraph {
        /// The dimension.
        dim: usize,
        /// Its components.
        found: usize,
    },
    /// A chunk whose nodes the host's 16-bit indices cannot tell apart.
    #[error(
        "a chunk of the space has {found} nodes; the host takes {most}: lower SpaceParams::chunk_nodes"
    )]
    ChunkTooLarge {
        /// Nodes of the chunk.
        found: usize,
        /// Maximum supported.
        most: usize,
    },
    /// Too few quadrature points for the collocated gradient.
    #[error(
        "{points_1d} quadrature points along an axis for degree {degree}; at least {least} are needed"
    )]
    Quadrature {
        /// Points requested.
        points_1d: usize,
        /// The degree of the space.
        degree: usize,
        /// Minimum supported.
        least: usize,
    },
    /// The form and the cells differ in dimension.
    #[error("a form in {form} dimensions on {cells}")]
    Dimension {
        /// Of the form.
        form: usize,
        /// The cells.
        cells: &'static str,
    },
    /// A quadrature rule of hexahedra and quadrilaterals, on other cells.
    #[error(
        "only hexahedra and quadrilaterals have rules with given points along each axis; on other cells give the degree to \
         which the rule is exact"
    )]
    QuadratureByAxis,
    /// A rule for which functions of the space may be zero.
    #[error(
        "a rule exact to degree {exact} is too low for this form in a space of degree {degree}: it must be exact to {least}"
    )]
    QuadratureDegree {
        /// The degree requested.
        exact: usize,
        /// The degree of the space.
        degree: Degree,
        /// Minimum supported.
        least: usize,
    },
    /// An auxiliary field of the wrong length.
    #[error("auxiliary field {field} has {found} values for {expected} {place}")]
    Auxiliary {
        /// Index of the field.
        field: usize,
        /// Its length.
        found: usize,
        /// The expected length.
        expected: usize,
        /// The entities that it has values for.
        place: &'static str,
    },
    /// Too many auxiliary fields or parameters.
    #[error("{found} {what}; a form may read at most {most}")]
    TooManyFields {
        /// "auxiliary fields" or "parameters".
        what: &'static str,
        /// Number given.
        found: usize,
        /// Maximum supported.
        most: usize,
    },
    /// Fewer auxiliary fields or parameters than the form reads.
    #[error("the form reads {read} {what}; {found} were given")]
    MissingFields {
        /// "auxiliary fields" or "parameters".
        what: &'static str,
        /// Number given.
        found: usize,
        /// Number that the form reads.
        read: usize,
    },
    /// Nodal fields to be set that the operator, or a term on facets, does not have.
    #[error(
        "`set_nodal` sets {components} nodal fields from number {first} on; there are {found} nodal fields"
    )]
    NodalFields {
        /// The first.
        first: usize,
        /// How many.
        components: usize,
        /// Number of nodal fields.
        found: usize,
    },
    /// A vector that is not an L-vector of the space.
    #[error("{what} has {found} entries; an L-vector has {dofs}")]
    VectorLength {
        /// Name of the vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Length of an L-vector.
        dofs: usize,
    },
    /// An E-vector of the wrong length.
    #[error("{what} has {found} entries; an E-vector of this space has {expected}")]
    ElementVectorLength {
        /// Name of the vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Length of an E-vector.
        expected: usize,
    },
    /// A diagonal was requested of a form that is not linear.
    #[error("the form is not linear in u, so it has no diagonal")]
    NotLinear,
    /// Matrices requested of a form that is not linear.
    #[error("the form is not linear in u, so its elements have no matrices")]
    MatricesOfNonlinear,
    /// A sparse matrix whose product is not the operator's.
    #[error(
        "a product with the operator's sparse matrix differs by {difference:.1e} from the operator's, of entries up to {size:.1e}: \
         one of the kernels is wrong"
    )]
    SparseMatrixDiffers {
        /// The largest difference.
        difference: f64,
        /// The largest entry.
        size: f64,
    },
    /// A sparse matrix that is too large.
    #[error(
        "the operator's sparse matrix does not fit {what}: it may take {bytes} bytes, and {available} are there"
    )]
    SparseMatrixTooLarge {
        /// What it does not fit.
        what: &'static str,
        /// Bytes needed.
        bytes: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// Element matrices that do not fit the device.
    #[error(
        "{elements} matrices of elements, {bytes} bytes with what assembles them, do not fit the device's {available}: {most} elements would"
    )]
    MatricesTooLarge {
        /// Elements of the space.
        elements: usize,
        /// Bytes needed.
        bytes: u64,
        /// Bytes of the device.
        available: u64,
        /// Elements whose matrices would fit.
        most: u64,
    },
    /// The geometry belongs to another mesh.
    #[error("the geometry has {geometry} {cells} but the space has {space} {elements}")]
    OtherMesh {
        /// Cells of the geometry.
        geometry: usize,
        /// Their shape, in the plural.
        cells: &'static str,
        /// Elements of the space.
        space: usize,
        /// Their shape, in the plural.
        elements: &'static str,
    },
    /// The geometry belongs to another mesh with as many cells.
    #[error("the geometry's cells have other vertices than those of the space")]
    OtherCells,
    /// A trace of a space with other parameters, nodes or cells.
    #[error("the trace is of another space than the operator's")]
    OtherTrace,
    /// The blocks given are not all those of one space.
    #[error(
        "{found} blocks that are not all those of one space in their order; it has {blocks}: see Block::all"
    )]
    OtherBlocks {
        /// Number given.
        found: usize,
        /// Number of blocks of the first one's space.
        blocks: usize,
    },
    /// E-vectors requested for elements of several shapes.
    #[error("E-vectors are of elements of one shape; this space has {blocks} shapes")]
    ElementsOfShapes {
        /// Number of blocks.
        blocks: usize,
    },
    /// A kernel asks for an operand that its block does not have.
    #[error(
        "the kernel \"{kernel}\" reads {operand:?}, which its elements do not have: a fault of femto"
    )]
    MissingOperand {
        /// The kernel.
        kernel: String,
        /// The operand.
        operand: Operand,
    },
    /// Single-precision factors requested on the host, whose loops keep them in the precision of the
    /// arithmetic.
    #[error(
        "the host keeps factors in the precision of its arithmetic; factors in single precision are for cuda and opencl devices"
    )]
    SingleFactorsOnHost,
    /// A knob set for a kernel without it.
    #[error(
        "kernels of these elements have no knob `{knob}`; those of hexahedra, quadrilaterals and columns of prisms on cuda and \
         opencl devices have knobs"
    )]
    KnobElsewhere {
        /// Its name.
        knob: &'static str,
    },
    /// More element nodes than 32-bit indices can address.
    #[error(
        "{found} nodes of elements; deterministic sums take at most {}: use atomic ones",
        u32::MAX
    )]
    TooManyContributions {
        /// Elements times nodes of an element.
        found: usize,
    },
    /// A kernel that disagrees with the oracle.
    #[error(
        "{kernel} ({schedule}) differs from its oracle by {error:.1e} on elements of this mesh"
    )]
    WrongVariant {
        /// The kernel.
        kernel: String,
        /// Its schedule.
        schedule: String,
        /// The largest difference, relative to the largest value.
        error: f64,
    },
    /// A schedule that the device cannot run.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A form that cannot be printed.
    #[error("the form cannot be printed for this device: {0}")]
    Graph(#[from] GraphError),
    /// From the families.
    #[error(transparent)]
    Family(BlockError),
    /// From the rule.
    #[error(transparent)]
    Rule(#[from] QuadratureError),
    /// From the reference element.
    #[error(transparent)]
    Reference(#[from] BasisError),
    /// From the geometry.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// From the device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl OperatorError {
    /// Whether what was asked for is wrong, as opposed to a fault of femto, of the device or of a compiler.
    pub fn is_of_input(&self) -> bool {
        match self {
            Self::Components { .. }
            | Self::TooManyComponents { .. }
            | Self::ComponentsOfGraph { .. }
            | Self::ChunkTooLarge { .. }
            | Self::Quadrature { .. }
            | Self::Dimension { .. }
            | Self::QuadratureByAxis
            | Self::QuadratureDegree { .. }
            | Self::Auxiliary { .. }
            | Self::TooManyFields { .. }
            | Self::MissingFields { .. }
            | Self::NodalFields { .. }
            | Self::VectorLength { .. }
            | Self::ElementVectorLength { .. }
            | Self::NotLinear
            | Self::MatricesOfNonlinear
            | Self::MatricesTooLarge { .. }
            | Self::SparseMatrixTooLarge { .. }
            | Self::OtherMesh { .. }
            | Self::OtherCells
            | Self::OtherBlocks { .. }
            | Self::OtherTrace
            | Self::ElementsOfShapes { .. }
            | Self::SingleFactorsOnHost
            | Self::KnobElsewhere { .. }
            | Self::TooManyContributions { .. }
            | Self::Schedule(_)
            | Self::Graph(_)
            | Self::Rule(_)
            | Self::Reference(_)
            | Self::Geometry(_) => true,
            Self::MissingOperand { .. }
            | Self::WrongVariant { .. }
            | Self::SparseMatrixDiffers { .. }
            | Self::Family(_)
            | Self::Device(_) => false,
        }
    }
}

impl From<BlockError> for OperatorError {
    fn from(error: BlockError) -> Self {
        match error {
            BlockError::Schedule(error) => Self::Schedule(error),
            BlockError::Graph(error) => Self::Graph(error),
            error => Self::Family(error),
        }
    }
}
