//! The mesh of a case.

use crate::case::{BoxSource, MeshSource};
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
        let moved = self.deformation.as_ref().map(|map| map.as_function());
        self.mesh
            .build(|x| moved.as_ref().map_or(x, |moved| moved(x)))
    }
}
