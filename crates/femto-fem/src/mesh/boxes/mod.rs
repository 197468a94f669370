//! Generated meshes: boxes and rectangles of each shape of cells, a file each; [`AnyBox`] chooses at run time.

mod grid;
mod hexahedra;
mod irregular;
mod quadrilaterals;
mod simplices;

pub use hexahedra::BoxMesh;
pub use quadrilaterals::RectangleMesh;
pub use simplices::SimplexBox;

use super::{Mesh, MeshError, PhysicalGroup};
use femto_element::Cell;

/// Names of the boundary groups; group number = 1 + 2·axis + side.
const SIDES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
/// Group number of the cells.
const DOMAIN: i32 = 7;

/// A box of cells of one shape, made by [`BoxMesh`], [`SimplexBox`] or [`RectangleMesh`].
#[derive(Clone, Debug, PartialEq)]
pub struct AnyBox {
    /// Triangles, quadrilaterals, tetrahedra or hexahedra.
    pub cell: Cell,
    /// Number of rectangles or boxes along each axis.
    pub cells: Vec<usize>,
    /// Corner with the smallest coordinates.
    pub lower: Vec<f64>,
    /// Corner with the largest coordinates.
    pub upper: Vec<f64>,
    /// Order of the cells: 1 or 2 for tensor products, up to 3 for simplices.
    pub geometry_degree: usize,
    /// Seed of an irregular mesh of simplices.
    pub irregular: Option<u64>,
}

impl AnyBox {
    /// The cells that boxes are made of.
    pub const CELLS: [Cell; 4] = [
        Cell::Hexahedron,
        Cell::Tetrahedron,
        Cell::Quadrilateral,
        Cell::Triangle,
    ];

    /// Makes the mesh, moving every node `x` to `deformation(x)`; in the plane the third coordinate is left out.
    ///
    /// # Errors
    /// An invalid description, or a shape without a generator.
    pub fn build(&self, deformation: impl Fn([f64; 3]) -> [f64; 3]) -> Result<Mesh, MeshError> {
        if self.irregular.is_some() && self.cell.is_tensor_product() {
            return Err(MeshError::IrregularBox { cell: self.cell });
        }
        let planar = |[x, y]: [f64; 2]| {
            let [x, y, _] = deformation([x, y, 0.0]);
            [x, y]
        };
        match self.cell {
            Cell::Hexahedron => BoxMesh {
                cells: along(&self.cells),
                lower: along(&self.lower),
                upper: along(&self.upper),
                geometry_degree: self.geometry_degree,
            }
            .build(deformation),
            Cell::Quadrilateral => RectangleMesh {
                cells: along(&self.cells),
                lower: along(&self.lower),
                upper: along(&self.upper),
                geometry_degree: self.geometry_degree,
            }
            .build(planar),
            Cell::Tetrahedron => self.simplices::<3>().build(deformation),
            Cell::Triangle => self.simplices::<2>().build(planar),
            cell => Err(MeshError::BoxCell { cell }),
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
