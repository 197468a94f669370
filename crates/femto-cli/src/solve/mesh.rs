//! The mesh of a case.

use crate::case::{BoxSource, MeshSource};
use femto::fem::mesh::{Mesh, MeshError};

/// The mesh, and how many of its cells were turned.
pub(super) fn read(source: &MeshSource) -> Result<(Mesh, usize), MeshError> {
    match source {
        MeshSource::File(path) => {
            let mut mesh = Mesh::read(path)?;
            let turned = mesh.turn_left_handed();
            Ok((mesh, turned))
        }
        MeshSource::Box(source) => Ok((source.build()?, 0)),
    }
}

/// What there is to say of cells that were turned.
pub(crate) fn turned(cells: usize) -> Option<String> {
    match cells {
        0 => None,
        1 => Some("1 cell was clockwise or left-handed, and has been turned".to_owned()),
        cells => Some(format!(
            "{cells} cells were clockwise or left-handed, and have been turned"
        )),
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
