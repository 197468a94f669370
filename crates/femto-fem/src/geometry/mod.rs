//! Geometry: the maps from the reference hexahedron to the cells of a mesh.
//!
//! The hexahedra of a mesh (hex8, hex20, hex27) are numbered consecutively over its blocks: the
//! *mesh cell number*. Each map is classified once by what it really is, whatever the file calls
//! it: a straight-sided hex27 is trilinear, a parallelepiped affine. See [`GeometryKind`].
//!
//! Jacobians are `[physical][reference]`: `J[c][a] = ∂x_c/∂ξ_a`.

mod build;
mod check;
mod error;
pub mod factors;
mod polynomial;

pub use error::{CornerWarning, GeometryError};

use crate::reference::cell::{HEX_FACE_AXES, hex_face_axis_side};
use factors::{Matrix3, cofactors, determinant};
use polynomial::Tensor;

/// What the map of a cell is, from the simplest to the most general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GeometryKind {
    /// A parallelepiped: the Jacobian is constant.
    Affine,
    /// Given by its 8 vertices.
    Trilinear,
    /// Triquadratic, given by 27 nodes.
    Curved,
}

/// The maps of all hexahedra of a mesh, in mesh cell order.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// `[cells]`.
    kinds: Vec<GeometryKind>,
    /// Positions of the mesh nodes, `[nodes][3]`.
    coordinates: Vec<[f64; 3]>,
    /// Mesh nodes at the vertices of each cell, `[cells][8]`, lexicographic.
    vertices: Vec<[u32; 8]>,
    /// Where the curved cells are in `curved`, `[cells]`; meaningless for other kinds.
    curved_index: Vec<u32>,
    /// Monomial coefficients of the curved cells, `[curved cells][k][j][i][3]`.
    curved: Vec<Tensor<3>>,
}

/// The map of one cell at a tensor grid of points, arrays `[k][j][i]`. Reuse one from cell to cell:
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
    }

    /// Coefficients c of `x(ξ, η, ζ) = Σ_m c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`.
    ///
    /// For affine cells the coefficients of products are exactly zero. For curved cells this is the
    /// trilinear map through the vertices.
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
        let mut c = polynomial::vertex_monomials(&self.coordinates, &self.vertices[cell]);
        if self.kinds[cell] == GeometryKind::Affine {
            polynomial::drop_products(&mut c);
        }
        c
    }
}
