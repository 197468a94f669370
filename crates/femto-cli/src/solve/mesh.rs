//! The mesh of a case.

use crate::case::{BoxSource, MeshSource};
use femto::fem::mesh::box_mesh::BoxMesh;
use femto::fem::mesh::simplex_box::SimplexBox;
use femto::fem::mesh::{Mesh, MeshError};
use femto::fem::reference::CellShape;

pub(super) fn read(source: &MeshSource) -> Result<Mesh, MeshError> {
    match source {
        MeshSource::File(path) => Mesh::read(path),
        MeshSource::Box(source) => source.build(),
    }
}

impl BoxSource {
    /// Makes the mesh.
    ///
    /// # Errors
    /// Corners that do not span a volume, more cells than can be counted.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        let moved = self.deformation.as_ref().map(|map| map.as_function());
        let moved = |x: [f64; 3]| moved.as_ref().map_or(x, |moved| moved(x));
        match self.cell {
            CellShape::Hexahedron => BoxMesh {
                cells: along(&self.cells),
                lower: along(&self.lower),
                upper: along(&self.upper),
                geometry_degree: self.geometry_degree,
            }
            .build(moved),
            CellShape::Tetrahedron => self.simplices::<3>().build(moved),
            CellShape::Triangle => self.simplices::<2>().build(|[x, y]| {
                let [x, y, _] = moved([x, y, 0.0]);
                [x, y]
            }),
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

/// The values along the first axes; zero, which no mesh has, where there are too few.
fn along<T: Copy + Default, const N: usize>(values: &[T]) -> [T; N] {
    std::array::from_fn(|axis| values.get(axis).copied().unwrap_or_default())
}
