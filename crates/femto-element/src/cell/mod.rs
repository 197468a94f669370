//! The reference cells: their vertices, edges and facets, and the node orders of files.
//!
//! One file each. A *facet* is a part of the boundary of one dimension less: a face of a solid, an edge of
//! a triangle or quadrilateral, an end of a line. Edges run from their first vertex to their second. A
//! facet's vertices are in the order of the facet's own reference cell, which gives the directions of its
//! axes.

mod cell_type;
mod hexahedron;
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

    /// Steps from one end of each axis to the other on the nodes of a degree: vertically along the last axis of a product
    /// with a line, horizontally along all others.
    pub fn steps(self, degree: impl Into<Degree>) -> [usize; 3] {
        let degree = degree.into();
        let is_vertical = |axis: usize| self.has_vertical() && axis + 1 == self.dim();
        [0, 1, 2].map(|axis| match is_vertical(axis) {
            true => degree.vertical,
            false => degree.horizontal,
        })
    }

    /// The degree on a facet, along its own axes.
    pub fn facet_degree(self, degree: impl Into<Degree>, facet: usize) -> Degree {
        let (degree, own) = (degree.into(), self.facets()[facet].vertices);
        let along = |end: Option<&usize>| end.map(|&end| self.steps_between(degree, [own[0], end]));
        let horizontal = along(own.get(1)).unwrap_or(degree.horizontal);
        Degree {
            horizontal,
            vertical: along(own.get(2)).unwrap_or(horizontal),
        }
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

    /// VTK's number of the cell of a degree, such as 72 for VTK_LAGRANGE_HEXAHEDRON.
    pub fn vtk_type(self, degree: impl Into<Degree>) -> u8 {
        let [linear, lagrange] = self.reference().vtk_types;
        if degree.into() == 1 { linear } else { lagrange }
    }

    /// Positions in [steps](Cell::steps) from the origin, `[nodes][3]`, in femto's order: lexicographic for tensor
    /// products, otherwise by entities.
    pub fn lattice(self, degree: impl Into<Degree>) -> Vec<[usize; 3]> {
        let n = degree.into();
        let Reference {
            lexicographic,
            edges,
            ..
        } = self.reference();
        if *lexicographic {
            return self.all_steps(n).collect();
        }
        let vertices: Vec<usize> = (0..self.vertices()).collect();
        let faces: Vec<&[usize]> = match self.dim() {
            3 => self.facets().iter().map(|facet| facet.vertices).collect(),
            _ => Vec::new(),
        };
        let mut all = self.on_skeleton(n, &vertices, edges);
        all.extend(faces.iter().flat_map(|face| self.inside_facet(n, face)));
        all.extend(self.interior(n));
        all
    }

    /// The index of a position in [`Cell::lattice`]; `None` if the cell does not have it.
    pub fn lattice_places(self, degree: impl Into<Degree>) -> impl Fn([usize; 3]) -> Option<usize> {
        let degree = degree.into();
        let n = degree.most();
        let at = move |[i, j, k]: [usize; 3]| (k * (n + 1) + j) * (n + 1) + i;
        let mut places = vec![None; (n + 1).pow(self.dim() as u32)];
        for (place, steps) in self.lattice(degree).into_iter().enumerate() {
            places[at(steps)] = Some(place);
        }
        move |steps| match steps.iter().all(|&m| m <= n) {
            true => *places.get(at(steps))?,
            false => None,
        }
    }

    /// The indices of a facet's nodes in [`Cell::lattice`], in the facet's own femto order.
    pub fn facet_nodes(self, degree: impl Into<Degree>, facet: usize) -> Vec<usize> {
        let degree = degree.into();
        let on_facet = self.facet_lattice(degree, facet).into_iter();
        // Nodes of facets are nodes of the cell.
        on_facet.filter_map(self.lattice_places(degree)).collect()
    }

    /// The positions of [`Cell::lattice`] in another order.
    pub fn lattice_in(self, degree: impl Into<Degree>, order: &NodeOrder) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let n = degree.horizontal;
        if n == 0 {
            return vec![[0; 3]];
        }
        let mut all = self.on_skeleton(degree, order.vertices, order.edges);
        for facet in order.facets {
            all.extend(match order.recursive {
                true => self.triangle_inside_facet(n, facet),
                false => self.inside_facet(degree, facet),
            });
        }
        match order.recursive {
            true if n > self.dim() => {
                let smaller = self.lattice_in(n - self.dim() - 1, order).into_iter();
                let dim = self.dim();
                all.extend(smaller.map(|at| [0, 1, 2].map(|a| at[a] + usize::from(a < dim))));
            }
            true => {}
            false => all.extend(self.interior(degree)),
        }
        all
    }

    /// The position at given [steps](Cell::steps) from the origin, of equal length.
    pub fn position(self, degree: impl Into<Degree>, steps: [usize; 3]) -> [f64; 3] {
        let lower = self.reference().lower;
        let ends = self.steps(degree).map(|end| end.max(1) as f64);
        [0, 1, 2].map(|a| match a < self.dim() {
            true => lower[a] + (1.0 - lower[a]) * (steps[a] as f64 / ends[a]),
            false => 0.0,
        })
    }

    /// Positions inside an edge, from its first vertex to its second.
    pub fn inside_edge(self, degree: impl Into<Degree>, ends: [usize; 2]) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let inside = 1..self.steps_between(degree, ends);
        let at = |m: usize| self.away_from(degree, &ends, [m, 0, 0]);
        inside.map(at).collect()
    }

    /// Positions inside a facet with these vertices, towards the second vertex fastest.
    pub fn inside_facet(self, degree: impl Into<Degree>, vertices: &[usize]) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let [first, second] =
            [1, 2].map(|m| self.steps_between(degree, [vertices[0], vertices[m]]));
        let triangle = vertices.len() == 3;
        let at = |p: usize, q: usize| self.away_from(degree, vertices, [p, q, 0]);
        let along = move |q: usize| 1..first.saturating_sub(if triangle { q } else { 0 });
        (1..second)
            .flat_map(|q| along(q).map(move |p| at(p, q)))
            .collect()
    }

    /// Positions inside a triangular facet, in VTK's order of the triangle that they form.
    fn triangle_inside_facet(self, n: usize, vertices: &[usize]) -> Vec<[usize; 3]> {
        if n < 3 {
            return Vec::new();
        }
        let inside = Self::Triangle.lattice_in(n - 3, Self::Triangle.vtk_order());
        let at = |[p, q, _]: [usize; 3]| self.away_from(n.into(), vertices, [p + 1, q + 1, 0]);
        inside.into_iter().map(at).collect()
    }

    /// Steps between the ends of an edge.
    fn steps_between(self, degree: impl Into<Degree>, ends: [usize; 2]) -> usize {
        let [start, end] = ends.map(|vertex| self.corner(vertex));
        let steps = self.steps(degree).into_iter().enumerate();
        let apart = steps.filter(|&(axis, _)| start[axis] != end[axis]);
        apart.map(|(_, steps)| steps).next().unwrap_or(0)
    }

    /// The position that is this many steps from the first of some vertices towards each of the next ones.
    fn away_from(self, degree: Degree, vertices: &[usize], steps: [usize; 3]) -> [usize; 3] {
        let corner = |m: usize| self.corner(vertices[m]);
        let (origin, ends) = (corner(0), self.steps(degree));
        [0, 1, 2].map(|axis| {
            let towards = steps.iter().zip(1..).filter(|it| *it.0 > 0);
            let (mut there, mut back) = (ends[axis] * origin[axis], 0);
            for (steps, m) in towards {
                there += steps * corner(m)[axis];
                back += steps * origin[axis];
            }
            there - back
        })
    }

    /// Positions on a facet, in the facet's own femto order.
    pub fn facet_lattice(self, degree: impl Into<Degree>, facet: usize) -> Vec<[usize; 3]> {
        let (degree, own) = (degree.into(), self.facets()[facet]);
        let on_facet = own
            .cell
            .lattice(self.facet_degree(degree, facet))
            .into_iter();
        let at = |steps| self.away_from(degree, own.vertices, steps);
        on_facet.map(at).collect()
    }

    /// Positions inside the cell, ξ fastest.
    pub fn interior(self, degree: impl Into<Degree>) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let Reference { contains, dim, .. } = self.reference();
        let inside = |steps: &[usize; 3]| {
            let less = degree.map(|n| n.saturating_sub(1));
            *dim > 0 && steps[..*dim].iter().all(|&m| m > 0) && contains(less, *steps)
        };
        self.all_steps(degree).filter(inside).collect()
    }

    /// The position of a vertex.
    pub fn steps_to(self, degree: impl Into<Degree>, vertex: usize) -> [usize; 3] {
        let (corner, ends) = (self.corner(vertex), self.steps(degree));
        [0, 1, 2].map(|axis| corner[axis] * ends[axis])
    }

    fn corner(self, vertex: usize) -> [usize; 3] {
        self.reference().corners[vertex].map(usize::from)
    }

    /// All positions of the cell, ξ fastest.
    fn all_steps(self, degree: Degree) -> impl Iterator<Item = [usize; 3]> {
        let Reference { contains, dim, .. } = self.reference();
        let ends = self.steps(degree);
        let range = move |axis: usize| 0..if *dim > axis { ends[axis] + 1 } else { 1 };
        let all = range(2).flat_map(move |k| range(1).map(move |j| [j, k]));
        let all = all.flat_map(move |[j, k]| range(0).map(move |i| [i, j, k]));
        all.filter(move |&steps| contains(degree, steps))
    }

    /// Positions at the vertices and inside the edges.
    fn on_skeleton(
        self,
        degree: Degree,
        vertices: &[usize],
        edges: &[[usize; 2]],
    ) -> Vec<[usize; 3]> {
        let at_vertex = |&vertex: &usize| self.steps_to(degree, vertex);
        let mut all: Vec<[usize; 3]> = vertices.iter().map(at_vertex).collect();
        all.extend(
            edges
                .iter()
                .flat_map(|&ends| self.inside_edge(degree, ends)),
        );
        all
    }
}
