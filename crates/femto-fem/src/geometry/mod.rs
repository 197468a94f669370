//! Geometry: the maps from the reference cell to the cells of a mesh.
//!
//! The cells of a shape (hex8, hex20, hex27; or tet4, tet10, tet20; or prism6, prism15, prism18; or pyramid5,
//! pyramid13, pyramid14; or, in the plane, quad4, quad8, quad9; or tri3, tri6, tri10) are numbered consecutively over
//! the mesh's blocks; continued from shape to shape, that is the *mesh cell number*. Each map is classified once by its
//! actual kind, whatever the cell type in the file: a straight-sided hex27 is trilinear, a parallelepiped or a straight
//! tet10 affine. See [`MapKind`].
//!
//! Jacobians are `[physical][reference]`: `J[c][a] = ∂x_c/∂ξ_a`. Triangles and quadrilaterals lie in the
//! plane z = 0 and are mapped as if extruded: `J[2][2] = 1`, and the rest of the third row and column is 0,
//! so that determinants and cofactors are those of the plane.

mod build;
mod check;
mod error;
mod facets;
pub mod jacobian;
mod points;
mod polynomial;
mod tensor;
mod terms;

pub(crate) use build::{OFF_PLANE, off_plane};
pub use build::{ShapeBlocks, cells_of, shapes};
pub use error::{CornerWarning, GeometryError};

use crate::mesh::{Columns, Coordinates};
use facets::FacetMaps;
use femto_element::{Cell, MapKind};
use jacobian::{Matrix3, dot};
use polynomial::Tensor;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tensor::TensorMaps;
use terms::TermMaps;

/// The maps of all cells of a mesh that carry unknowns, in mesh cell order; or of some of their facets.
/// Clones share large arrays.
#[derive(Clone, Debug)]
pub struct Geometry {
    cell: Cell,
    first_cell: usize,
    /// The columns that they form, if they are prisms of which some do.
    columns: Option<Arc<Columns>>,
    /// `[cells]`.
    kinds: Arc<[MapKind]>,
    /// See [`Geometry::fingerprint`].
    fingerprint: u64,
    /// Whether all maps are known to be invertible everywhere.
    is_invertible: Arc<AtomicBool>,
    /// Positions of the mesh nodes, the mesh's own.
    coordinates: Coordinates,
    maps: Maps,
}

/// Maps in the form in which they are evaluated.
#[derive(Clone, Debug)]
enum Maps {
    Tensor(Arc<TensorMaps>),
    Terms(Arc<TermMaps>),
    Facets(FacetMaps),
}

/// Points of the reference cell.
#[derive(Clone, Debug)]
pub enum Points {
    /// A tensor grid `[k][j][i]`: the same points along each axis.
    Grid(Vec<f64>),
    /// `[points][3]`.
    List(Vec<[f64; 3]>),
}

impl Points {
    /// The number of points in a cell.
    pub fn count(&self, cell: Cell) -> usize {
        match self {
            Self::Grid(points_1d) => points_1d.len().pow(cell.dim() as u32),
            Self::List(points) => points.len(),
        }
    }
}

/// The map of one cell at [`Points`]. Reuse one for many cells to avoid allocations.
#[derive(Clone, Debug, Default)]
pub struct GeometryAtPoints {
    /// Positions, `[points][3]`.
    pub position: Vec<[f64; 3]>,
    /// Jacobians, `[points][physical][reference]`.
    pub jacobian: Vec<Matrix3>,
    /// Determinants of the Jacobians, `[points]`.
    pub determinant: Vec<f64>,
}

/// The map of one facet of a cell at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacetPoint {
    /// Position.
    pub position: [f64; 3],
    /// Outward normal times the ratio of physical to reference area at this point.
    pub area_normal: [f64; 3],
}

impl Geometry {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are no cells; never after [`Geometry::new`].
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The mesh cell number of the first cell, which follows the cells of other shapes.
    pub fn first_cell(&self) -> usize {
        self.first_cell
    }

    /// The shape of every cell.
    pub fn cell(&self) -> Cell {
        self.cell
    }

    /// The columns that cells form, whose maps then are [`MapKind::Extruded`], but for curved columns of second order.
    pub fn columns(&self) -> Option<&Columns> {
        self.columns.as_deref()
    }

    /// Whether some maps are curved, or columns have triangles that are not parallel: quadrature then takes a higher
    /// degree where it depends on the form.
    pub fn is_curved(&self) -> bool {
        let is_wedged = self
            .columns()
            .is_some_and(|columns| !columns.layering.is_parallel());
        is_wedged || self.kinds.contains(&MapKind::Curved)
    }

    /// Dimension of the space around the cells: that of the cells themselves or, for facets that are not
    /// flattened, of the cells that they belong to.
    pub fn dim(&self) -> usize {
        match &self.maps {
            Maps::Facets(maps) => maps.dim(),
            Maps::Tensor(_) | Maps::Terms(_) => self.cell.dim(),
        }
    }

    /// The kind of one cell.
    pub fn kind(&self, cell: usize) -> MapKind {
        self.kinds[cell]
    }

    /// The kind of each cell, `[cells]`.
    pub fn kinds(&self) -> &[MapKind] {
        &self.kinds
    }

    /// Memory held, in bytes, apart from the mesh's coordinates.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.kinds[..])
            + match &self.maps {
                Maps::Tensor(maps) => maps.bytes(),
                Maps::Terms(maps) => maps.bytes(),
                Maps::Facets(maps) => maps.bytes(),
            }
    }

    /// Coefficients c of `x(ξ, η, ζ) = Σ_m c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`.
    ///
    /// For affine cells the coefficients of products are exactly zero. For curved cells this is the
    /// multilinear map through the vertices of a hexahedron or quadrilateral, or the affine map through
    /// vertex 0 of another cell and its neighbours along the axes; for facets it is the affine map at their centre.
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
        self.map(cell, self.cell.centre())
    }

    /// The same points along each axis of the cell.
    fn grid<'a>(&self, points_1d: &'a [f64]) -> [&'a [f64]; 3] {
        let along = |axis| match axis < self.cell.dim() {
            true => points_1d,
            false => &[0.0],
        };
        [0, 1, 2].map(along)
    }

    fn at_point(&self, cell: usize, xi: [f64; 3]) -> ([f64; 3], Matrix3) {
        let mut found = ([0.0; 3], [[0.0; 3]; 3]);
        let [x, y, z] = self.in_dimension(xi);
        self.visit(cell, [&[x], &[y], &[z]], |x, j| found = (x, j));
        found
    }

    /// Reference points of cells in the plane have no third coordinate.
    #[inline(always)]
    fn in_dimension(&self, [xi, eta, zeta]: [f64; 3]) -> [f64; 3] {
        [xi, eta, if self.cell.dim() == 3 { zeta } else { 0.0 }]
    }

    /// The map at every point of a grid.
    #[inline(always)]
    fn visit_grid(
        points: [&[f64]; 3],
        at: impl Fn([f64; 3]) -> ([f64; 3], Matrix3),
        mut visit: impl FnMut([f64; 3], Matrix3),
    ) {
        for &zeta in points[2] {
            for &eta in points[1] {
                for &xi in points[0] {
                    let (position, jacobian) = at([xi, eta, zeta]);
                    visit(position, jacobian);
                }
            }
        }
    }

    /// Calls `visit` with position and Jacobian at the tensor grid of `points`, one list per axis,
    /// in lexicographic order.
    #[inline(always)]
    fn visit(&self, cell: usize, points: [&[f64]; 3], visit: impl FnMut([f64; 3], Matrix3)) {
        let kind = self.kinds[cell];
        match &self.maps {
            Maps::Tensor(maps) => maps.visit((cell, kind), &self.coordinates, points, visit),
            Maps::Terms(maps) => {
                let map = maps.map(cell, kind, &self.coordinates);
                Self::visit_grid(points, |point| map.at(point), visit);
            }
            Maps::Facets(maps) => Self::visit_grid(points, |point| maps.at(cell, point), visit),
        }
    }

    /// Monomial coefficients of the multilinear map through the vertices, affine unless the cell is a tensor product.
    fn trilinear(&self, cell: usize) -> Tensor<2> {
        match &self.maps {
            Maps::Tensor(maps) => maps.multilinear(cell, self.kinds[cell], &self.coordinates),
            Maps::Terms(maps) => maps.multilinear(cell, self.kinds[cell], &self.coordinates),
            Maps::Facets(maps) => {
                let centre = self.cell.centre();
                let (x, jacobian) = maps.at(cell, centre);
                let mut c = Tensor::<2>::default();
                [c[0][0][1], c[0][1][0], c[1][0][0]] = jacobian::tangents(&jacobian);
                let offset = |axis: usize| dot(jacobian[axis], centre);
                c[0][0][0] = [0, 1, 2].map(|axis| x[axis] - offset(axis));
                c
            }
        }
    }
}
