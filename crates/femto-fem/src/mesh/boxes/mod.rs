//! Generated meshes: boxes and rectangles of each shape of cells; [`AnyBox`] chooses the shape at run time.

mod grid;
mod hexahedra;
mod irregular;
mod simplices;
mod solids;

pub use hexahedra::BoxMesh;
pub use simplices::SimplexBox;
pub use solids::{SolidBox, Solids};

use super::{Mesh, MeshError, PhysicalGroup};
use crate::parallel;
use femto_element::Cell;
use grid::Grid;

/// Names of the boundary groups; group number = 1 + 2·axis + side.
const SIDES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
/// Group number of the cells.
const DOMAIN: i32 = 7;

/// A box of cells of one shape: a [`BoxMesh`], [`SimplexBox`] or [`SolidBox`], or a rectangle of quadrilaterals.
///
/// On quadrilaterals the mesh has the groups of [`SimplexBox`], and cell `i + cells[0] j` is a rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyBox {
    /// The shape of the cells, one of [`AnyBox::CELLS`].
    pub cell: Cell,
    /// Number of rectangles or boxes along each axis.
    pub cells: Vec<usize>,
    /// Corner with the smallest coordinates.
    pub lower: Vec<f64>,
    /// Corner with the largest coordinates.
    pub upper: Vec<f64>,
    /// Order of the cells: 1 or 2, up to 3 for simplices.
    pub geometry_degree: usize,
    /// Seed of an irregular mesh of simplices, or of randomly rotated prisms or pyramids.
    pub irregular: Option<u64>,
}

/// Where a node is moved to.
type Deformation<'a> = &'a (dyn Fn([f64; 3]) -> [f64; 3] + Sync);

/// A mesh whose nodes are moved.
fn moved(mut mesh: Mesh, deformation: Deformation<'_>) -> Mesh {
    parallel::each(mesh.coordinates.to_mut(), |_, x| *x = deformation(*x));
    mesh
}

impl AnyBox {
    /// The cells that boxes are made of.
    pub const CELLS: [Cell; 6] = [
        Cell::Hexahedron,
        Cell::Tetrahedron,
        Cell::Prism,
        Cell::Pyramid,
        Cell::Quadrilateral,
        Cell::Triangle,
    ];

    /// The unit square or cube, regular, with this many rectangles or boxes along each axis.
    pub fn unit(cell: Cell, cells: usize) -> Self {
        let dim = cell.dim();
        Self {
            cell,
            cells: vec![cells; dim],
            lower: vec![0.0; dim],
            upper: vec![1.0; dim],
            geometry_degree: 1,
            irregular: None,
        }
    }

    /// Makes the mesh, moving every node `x` to `deformation(x)`; in the plane the third coordinate is left out.
    ///
    /// # Errors
    /// An invalid description, or a shape without a generator.
    pub fn build(
        &self,
        deformation: impl Fn([f64; 3]) -> [f64; 3] + Sync,
    ) -> Result<Mesh, MeshError> {
        self.moved_by(&deformation)
    }

    fn moved_by(&self, deformation: Deformation<'_>) -> Result<Mesh, MeshError> {
        if self.irregular.is_some() && self.cell.is_tensor_product() {
            return Err(MeshError::IrregularBox { cell: self.cell });
        }
        match self.cell {
            Cell::Hexahedron => BoxMesh {
                cells: along(&self.cells),
                lower: along(&self.lower),
                upper: along(&self.upper),
                geometry_degree: self.geometry_degree,
            }
            .build(deformation),
            Cell::Quadrilateral => Grid::new::<2>(
                self.cell,
                along(&self.cells),
                [along(&self.lower), along(&self.upper)],
                self.geometry_degree,
            )
            .build(&|x| {
                let [x, y, _] = deformation(x);
                [x, y, 0.0]
            }),
            Cell::Tetrahedron => self.simplices::<3>().build(deformation),
            Cell::Triangle => self.simplices::<2>().build(|[x, y]| {
                let [x, y, _] = deformation([x, y, 0.0]);
                [x, y]
            }),
            Cell::Prism => self.solids(Solids::Prisms).build(deformation),
            Cell::Pyramid => self.solids(Solids::Pyramids).build(deformation),
            cell => Err(MeshError::BoxCell { cell }),
        }
    }

    fn solids(&self, solids: Solids) -> SolidBox {
        SolidBox {
            solids,
            cells: along(&self.cells),
            lower: along(&self.lower),
            upper: along(&self.upper),
            geometry_degree: self.geometry_degree,
            irregular: self.irregular,
        }
    }

    fn simplices<const D: usize>(&self) -> SimplexBox<D> {
        SimplexBox {
            cells: along(&self.cells),
            lower: along(&self.lower),
            upper: along(&self.upper),
            geometry_degree: self.geometry_degree,
            irregular: self.irregular,
        }
    }
}

/// Checks a description of a box: the cells along each axis with the nodes along each cell, which must number fewer than
/// 2³² in all, the corners, and the order with the highest.
fn check(
    (cells, nodes_along): (&[usize], usize),
    (lower, upper): ([f64; 3], [f64; 3]),
    (order, most): (usize, usize),
) -> Result<(), MeshError> {
    if !(1..=most).contains(&order) {
        return Err(MeshError::BoxDegree { found: order, most });
    }
    let is_box = |a: usize| lower[a].is_finite() && upper[a].is_finite() && lower[a] < upper[a];
    if !(0..3).all(is_box) {
        return Err(MeshError::BoxCorners { lower, upper });
    }
    let along = |&n: &usize| {
        let along = u32::try_from(n).ok().filter(|&n| n > 0)?;
        along.checked_mul(nodes_along as u32)?.checked_add(1)
    };
    let mut axes = cells.iter().map(along);
    let nodes = axes.try_fold(1u32, |product, n| product.checked_mul(n?));
    let error = || MeshError::BoxCells {
        cells: [0, 1, 2].map(|a| cells.get(a).copied().unwrap_or(1)),
    };
    nodes.map(|_| ()).ok_or_else(error)
}

/// The values along the first axes; zero, which is invalid for meshes, for missing ones.
fn along<T: Copy + Default, const N: usize>(values: &[T]) -> [T; N] {
    std::array::from_fn(|axis| values.get(axis).copied().unwrap_or_default())
}

/// The groups of a box in `dim` dimensions: its sides and its cells.
fn groups(dim: usize) -> Vec<PhysicalGroup> {
    let sides = SIDES[..2 * dim].iter().zip(1..);
    let sides = sides.map(|(name, number)| PhysicalGroup {
        dimension: dim - 1,
        number,
        name: (*name).into(),
    });
    let domain = PhysicalGroup {
        dimension: dim,
        number: DOMAIN,
        name: "domain".into(),
    };
    sides.chain([domain]).collect()
}
