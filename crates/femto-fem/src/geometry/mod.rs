//! Geometry: the maps from the reference cell to the cells of a mesh.
//!
//! The cells that carry unknowns (hex8, hex20, hex27; or tet4, tet10, tet20; or, in the plane,
//! tri3, tri6, tri10) are numbered consecutively over the mesh's blocks: the *mesh cell number*.
//! Each map is classified once by what it really is, whatever the file calls it: a straight-sided
//! hex27 is trilinear, a parallelepiped or a straight tet10 affine. See [`GeometryKind`].
//!
//! Jacobians are `[physical][reference]`: `J[c][a] = ∂x_c/∂ξ_a`. Triangles lie in the plane z = 0
//! and are mapped as prisms of height 1 would be: `J[2][2] = 1`, and the rest of the third row and
//! column is 0, so that determinants and cofactors are those of the plane.

mod build;
mod check;
mod error;
pub mod factors;
mod points;
mod polynomial;
mod simplex;

pub use error::{CornerWarning, GeometryError};

use crate::reference::CellShape;
use crate::reference::cell::{HEX_FACE_AXES, hex_face_axis_side};
use factors::{Matrix3, cofactors, determinant};
use polynomial::Tensor;
use simplex::Simplices;

/// What the map of a cell is, from the simplest to the most general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GeometryKind {
    /// A parallelepiped or a straight simplex: the Jacobian is constant.
    Affine,
    /// A hexahedron given by its 8 vertices.
    Trilinear,
    /// A triquadratic hexahedron, given by 27 nodes, or a simplex of order 2 or 3.
    Curved,
}

/// The maps of all cells of a mesh that carry unknowns, in mesh cell order.
#[derive(Clone, Debug)]
pub struct Geometry {
    shape: CellShape,
    /// `[cells]`.
    kinds: Vec<GeometryKind>,
    /// Positions of the mesh nodes, `[nodes][3]`.
    coordinates: Vec<[f64; 3]>,
    /// Mesh nodes at the vertices of each hexahedron, `[hexahedra][8]`, lexicographic.
    vertices: Vec<[u32; 8]>,
    /// Where the curved hexahedra are in `curved`, `[hexahedra]`; meaningless for other kinds.
    curved_index: Vec<u32>,
    /// Monomial coefficients of the curved hexahedra, `[curved hexahedra][k][j][i][3]`.
    curved: Vec<Tensor<3>>,
    /// The triangles or tetrahedra.
    simplices: Simplices,
}

/// The map of one cell at points: at a tensor grid, arrays `[k][j][i]`, or at a list. Reuse one from cell to cell:
/// then nothing is allocated.
#[derive(Clone, Debug, Default)]
pub struct GeometryAtPoints {
    /// Positions, `[points][3]`.
    pub position: Vec<[f64; 3]>,
    /// Jacobians, `[points][physical][reference]`.
    pub jacobian: Vec<Matrix3>,
    /// Determinants of the Jacobians, `[points]`.
    pub determinant: Vec<f64>,
}

/// The map of one face of a cell at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacePoint {
    /// Position.
    pub position: [f64; 3],
    /// Outward normal times the area that a unit of reference area has here.
    pub area_normal: [f64; 3],
}

impl Geometry {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are no cells; [`Geometry::new`] makes none such.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The shape of every cell.
    pub fn cell(&self) -> CellShape {
        self.shape
    }

    /// The kind of one cell.
    pub fn kind(&self, cell: usize) -> GeometryKind {
        self.kinds[cell]
    }

    /// The kind of each cell, `[cells]`.
    pub fn kinds(&self) -> &[GeometryKind] {
        &self.kinds
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.kinds[..])
            + size_of_val(&self.coordinates[..])
            + size_of_val(&self.vertices[..])
            + size_of_val(&self.curved_index[..])
            + size_of_val(&self.curved[..])
            + self.simplices.bytes()
    }

    /// Coefficients c of `x(ξ, η, ζ) = Σ_m c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`.
    ///
    /// For affine cells the coefficients of products are exactly zero. For curved cells this is the
    /// trilinear map through the vertices of a hexahedron, the affine one through those of a
    /// simplex.
    pub fn trilinear_coefficients(&self, cell: usize) -> [[f64; 3]; 8] {
        let c = self.trilinear(cell);
        std::array::from_fn(|m| c[m >> 2][m >> 1 & 1][m & 1])
    }

    /// The position of reference point `xi`.
    pub fn map(&self, cell: usize, xi: [f64; 3]) -> [f64; 3] {
        self.at_point(cell, xi).0
    }

    /// The Jacobian at reference point `xi`, `[physical][reference]`.
    pub fn jacobian(&self, cell: usize, xi: [f64; 3]) -> Matrix3 {
        self.at_point(cell, xi).1
    }

    /// The position of the centre of the reference cell.
    pub fn centroid(&self, cell: usize) -> [f64; 3] {
        if self.shape.is_simplex() {
            let mut centre = [0.0; 3];
            centre[..self.shape.dim()].fill(1.0 / (self.shape.dim() + 1) as f64);
            return self.map(cell, centre);
        }
        match self.kinds[cell] {
            GeometryKind::Curved => self.curved(cell)[0][0][0],
            _ => self.trilinear(cell)[0][0][0],
        }
    }

    /// The map at the tensor grid of `points_1d`.
    pub fn at_points(&self, cell: usize, points_1d: &[f64], out: &mut GeometryAtPoints) {
        out.position.clear();
        out.jacobian.clear();
        out.determinant.clear();
        self.visit(cell, [points_1d; 3], |position, jacobian| {
            out.position.push(position);
            out.jacobian.push(jacobian);
            out.determinant.push(determinant(&jacobian));
        });
    }

    /// The positions alone at the tensor grid of `nodes_1d`, `[k][j][i]`; `out` is overwritten.
    pub fn node_positions(&self, cell: usize, nodes_1d: &[f64], out: &mut Vec<[f64; 3]>) {
        out.clear();
        self.visit(cell, [nodes_1d; 3], |position, _| out.push(position));
    }

    /// Face `face` (numbered as in [`crate::reference::cell`]) at the tensor grid of `points_1d`
    /// along its own axes, the lower axis fastest.
    pub fn face_at_points(&self, cell: usize, face: usize, points_1d: &[f64]) -> Vec<FacePoint> {
        let (axis, side) = hex_face_axis_side(face);
        let sign = [-1.0, 1.0][side];
        let fixed = [sign];
        let mut points: [&[f64]; 3] = [&fixed; 3];
        for a in HEX_FACE_AXES[face] {
            points[a] = points_1d;
        }
        let mut out = Vec::with_capacity(points_1d.len() * points_1d.len());
        self.visit(cell, points, |position, jacobian| {
            let area_normal = cofactors(&jacobian)[axis].map(|x| sign * x);
            out.push(FacePoint {
                position,
                area_normal,
            });
        });
        out
    }

    fn at_point(&self, cell: usize, xi: [f64; 3]) -> ([f64; 3], Matrix3) {
        let mut found = ([0.0; 3], [[0.0; 3]; 3]);
        self.visit(cell, [&xi[0..1], &xi[1..2], &xi[2..3]], |x, j| {
            found = (x, j)
        });
        found
    }

    /// Calls `visit` with position and Jacobian at the tensor grid of `points`, one list per axis,
    /// in lexicographic order.
    #[inline(always)]
    fn visit(&self, cell: usize, points: [&[f64]; 3], visit: impl FnMut([f64; 3], Matrix3)) {
        if self.shape.is_simplex() {
            return self.visit_simplex(cell, points, visit);
        }
        match self.kinds[cell] {
            GeometryKind::Curved => polynomial::at_tensor_points(self.curved(cell), points, visit),
            _ => polynomial::at_tensor_points(&self.trilinear(cell), points, visit),
        }
    }

    fn tangent_bounds(&self, cell: usize) -> ([[f64; 3]; 3], [f64; 3]) {
        match self.kinds[cell] {
            GeometryKind::Curved => polynomial::tangent_bounds(self.curved(cell)),
            _ => polynomial::tangent_bounds(&self.trilinear(cell)),
        }
    }

    fn curved(&self, cell: usize) -> &Tensor<3> {
        &self.curved[self.curved_index[cell] as usize]
    }

    /// Monomial coefficients of the trilinear map through the vertices.
    fn trilinear(&self, cell: usize) -> Tensor<2> {
        if self.shape.is_simplex() {
            return self.simplices.affine(cell, &self.coordinates);
        }
        let mut c = polynomial::vertex_monomials(&self.coordinates, &self.vertices[cell]);
        if self.kinds[cell] == GeometryKind::Affine {
            polynomial::drop_products(&mut c);
        }
        c
    }
}
