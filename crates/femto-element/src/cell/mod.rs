//! The reference cells: their vertices, edges and facets, and the node orders of files.
//!
//! One file each. A *facet* is a part of the boundary of one dimension less: a face of a solid, an edge of
//! a triangle or quadrilateral, an end of a line. Edges run from their first vertex to their second. A
//! facet's vertices are in the order of the facet's own reference cell, which gives the directions of its
//! axes.

mod cell_type;
mod hexahedron;
mod lattice;
mod line;
mod orientation;
mod point;
mod points;
mod prism;
mod pyramid;
mod quadrilateral;
mod terms;
mod tetrahedron;
mod triangle;

pub use cell_type::CellType;
use cell_type::Row;

use crate::Degree;

/// The shape of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Cell {
    Point,
    Line,
    Triangle,
    Quadrilateral,
    Tetrahedron,
    Hexahedron,
    Prism,
    Pyramid,
}

/// A part of a cell's boundary, of one dimension less.
#[derive(Clone, Copy, Debug)]
pub struct Facet {
    /// Its shape.
    pub cell: Cell,
    /// The cell's vertices on it, in the order of the facet's own vertices.
    pub vertices: &'static [usize],
}

impl Facet {
    const fn new(cell: Cell, vertices: &'static [usize]) -> Self {
        Self { cell, vertices }
    }
}

/// An order of a cell's nodes by entities: vertices, edges, facets, interior.
///
/// Nodes on an edge go from its first vertex to its second. Those inside a facet are in steps towards its second
/// vertex (fastest) and its third, and interior ones in steps along ξ (fastest), η and ζ, unless the order is
/// recursive. Vertices are numbered as in femto.
#[derive(Clone, Copy, Debug)]
pub struct NodeOrder {
    /// The vertices.
    pub vertices: &'static [usize],
    /// Vertices of each edge, `[edges][2]`.
    pub edges: &'static [[usize; 2]],
    /// Vertices of each face of a solid.
    pub facets: &'static [&'static [usize]],
    /// Whether the nodes inside the cell, and inside its triangular facets, are in the order of a smaller simplex.
    pub recursive: bool,
}

/// The data of a reference cell, in its own file.
struct Reference {
    name: &'static str,
    plural: &'static str,
    dim: usize,
    /// Positions of the vertices, in units of the cell: 0 or 1 along each axis.
    corners: &'static [[u8; 3]],
    /// The start of each axis; all end at 1.
    lower: [f64; 3],
    edges: &'static [[usize; 2]],
    facets: &'static [Facet],
    /// Whether the cell of a degree has a node at this many steps from its origin.
    contains: fn(Degree, [usize; 3]) -> bool,
    /// Whether femto orders nodes lexicographically, as in tensor products, not by entities.
    lexicographic: bool,
    /// The number of such cells that a box, or a rectangle, is cut into.
    per_box: usize,
    gmsh: NodeOrder,
    vtk: NodeOrder,
    /// VTK's number of the cell of degree 1 and of the Lagrange cell.
    vtk_types: [u8; 2],
    /// Its types in mesh files.
    types: &'static [Row],
}

impl Cell {
    /// Every cell.
    pub const ALL: [Self; 8] = [
        Self::Point,
        Self::Line,
        Self::Triangle,
        Self::Quadrilateral,
        Self::Tetrahedron,
        Self::Hexahedron,
        Self::Prism,
        Self::Pyramid,
    ];

    const fn reference(self) -> &'static Reference {
        match self {
            Self::Point => &point::REFERENCE,
            Self::Line => &line::REFERENCE,
            Self::Triangle => &triangle::REFERENCE,
            Self::Quadrilateral => &quadrilateral::REFERENCE,
            Self::Tetrahedron => &tetrahedron::REFERENCE,
            Self::Hexahedron => &hexahedron::REFERENCE,
            Self::Prism => &prism::REFERENCE,
            Self::Pyramid => &pyramid::REFERENCE,
        }
    }

    /// The name, such as `hexahedron`.
    pub fn name(self) -> &'static str {
        self.reference().name
    }

    /// The plural, such as `hexahedra`.
    pub fn plural(self) -> &'static str {
        self.reference().plural
    }

    /// Dimension: 0 for the point to 3 for solids.
    pub fn dim(self) -> usize {
        self.reference().dim
    }

    /// Number of vertices.
    pub fn vertices(self) -> usize {
        self.reference().corners.len()
    }

    /// Position of a vertex.
    pub fn vertex(self, vertex: usize) -> [f64; 3] {
        let Reference { corners, lower, .. } = self.reference();
        [0, 1, 2].map(|a| match corners[vertex][a] {
            0 => lower[a],
            _ => 1.0,
        })
    }

    /// Vertices of each edge, `[edges][2]`; a line is not its own edge.
    pub fn edges(self) -> &'static [[usize; 2]] {
        self.reference().edges
    }

    /// The facets.
    pub fn facets(self) -> &'static [Facet] {
        self.reference().facets
    }

    /// Position of the centre: the mean of the vertices.
    pub fn centre(self) -> [f64; 3] {
        let count = self.vertices();
        let mean = |a| (0..count).map(|v| self.vertex(v)[a]).sum::<f64>() / count as f64;
        [0, 1, 2].map(mean)
    }

    /// Whether basis functions are products of functions of one coordinate each.
    pub fn is_tensor_product(self) -> bool {
        self.reference().lexicographic
    }

    /// Whether it is a triangle or tetrahedron: {ξ_a ≥ 0, Σ ξ_a ≤ 1} with more than one axis.
    pub fn is_simplex(self) -> bool {
        self.dim() > 1 && self.vertices() == self.dim() + 1
    }

    /// Whether maps have no derivative at one of its vertices: a pyramid's apex.
    pub fn has_singular_vertex(self) -> bool {
        self == Self::Pyramid
    }

    /// The highest order of maps that geometry takes.
    pub fn max_map_order(self) -> usize {
        if self.is_simplex() { 3 } else { 2 }
    }

    /// The number of such cells that a box, or a rectangle, is cut into.
    pub fn per_box(self) -> usize {
        self.reference().per_box
    }

    /// The cell whose bottom and top have this shape, with lines between them.
    pub fn extruded(self) -> Option<Self> {
        match self {
            Self::Line => Some(Self::Quadrilateral),
            Self::Triangle => Some(Self::Prism),
            Self::Quadrilateral => Some(Self::Hexahedron),
            _ => None,
        }
    }

    /// The cell whose product with a line along this axis it is, on the other axes in their order.
    pub fn across(self, axis: usize) -> Option<Self> {
        match self {
            Self::Quadrilateral if axis < 2 => Some(Self::Line),
            Self::Hexahedron if axis < 3 => Some(Self::Quadrilateral),
            Self::Prism if axis == 2 => Some(Self::Triangle),
            _ => None,
        }
    }

    /// Whether its last axis points upwards: whether it is the product of a cell with a line along that axis.
    pub fn has_vertical(self) -> bool {
        self.dim() > 0 && self.across(self.dim() - 1).is_some()
    }

    /// For a cell that may stand in a column: the entities (vertices, edges, facets, numbered through) over each entity
    /// of its bottom, from below to above, `[entities of the bottom][3]`; empty for other cells.
    pub fn lines(self) -> &'static [[Option<usize>; 3]] {
        match self {
            Self::Prism => &prism::LINES,
            _ => &[],
        }
    }

    /// Gmsh's order of the nodes of its complete cells (reference manual, "Node ordering"); right as long as a
    /// facet has at most one node inside.
    pub fn gmsh_order(self) -> &'static NodeOrder {
        &self.reference().gmsh
    }

    /// The order of the nodes of VTK's Lagrange cells (`vtkHigherOrderTriangle`, `vtkHigherOrderTetra`,
    /// `vtkHigherOrderHexahedron`, `vtkHigherOrderWedge` of VTK 9). Pyramids, which VTK has no Lagrange cells of, lack
    /// the nodes inside their base (`vtkQuadraticPyramid`).
    pub fn vtk_order(self) -> &'static NodeOrder {
        &self.reference().vtk
    }

    /// Whether VTK tells cells of a degree from others: it takes every wedge of 21 points for its quadratic one
    /// (`vtkHigherOrderWedge`).
    pub fn is_in_vtk(self, degree: impl Into<Degree>) -> bool {
        self != Self::Prism || self.lattice(degree).len() != 21
    }

    /// VTK's number of the cell of a degree, such as 72 for VTK_LAGRANGE_HEXAHEDRON.
    pub fn vtk_type(self, degree: impl Into<Degree>) -> u8 {
        let [linear, lagrange] = self.reference().vtk_types;
        if degree.into() == 1 { linear } else { lagrange }
    }
}
