//! The mesh of a case.

use crate::case::{BoxSource, MeshSource};
use femto::fem::mesh::box_mesh::BoxMesh;
use femto::fem::mesh::{Mesh, MeshError};

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
        let generator = BoxMesh {
            cells: self.cells,
            lower: self.lower,
            upper: self.upper,
            geometry_degree: self.geometry_degree,
        };
        match &self.deformation {
            Some(deformation) => generator.build(deformation.as_function()),
            None => generator.build(|x| x),
        }
    }
}
