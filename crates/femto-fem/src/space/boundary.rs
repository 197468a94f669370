//! Which faces of the hexahedra carry a boundary tag.

use crate::mesh::{CellFamily, Mesh};

use super::SpaceError;
use super::topology::{NONE, Topology};

/// A face of an element that carries a boundary tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoundaryFace {
    /// Number of the physical group.
    pub tag: i32,
    /// The element.
    pub element: u32,
    /// Its mesh cell number.
    pub cell: u32,
    /// The face, 2·axis + side.
    pub face: u8,
}

/// The tagged quadrilaterals of a mesh, found among the faces of its hexahedra.
#[derive(Clone, Debug, Default)]
pub struct BoundaryFaces {
    /// The mesh's groups, without its cells.
    groups: Mesh,
    /// Faces sorted by tag and element, each once per tag.
    faces: Vec<BoundaryFace>,
    /// Tag and corner mesh nodes of quadrilaterals that are no face of a hexahedron.
    strangers: Vec<(i32, [u32; 4])>,
}

impl BoundaryFaces {
    /// Looks up every quadrilateral of the mesh that is in a group. A quadrilateral between two
    /// cells belongs to the one with the lower mesh cell number.
    pub(super) fn new(mesh: &Mesh, topology: &Topology, cells: &[u32]) -> Self {
        let mut boundary = Self {
            groups: Mesh {
                groups: mesh.groups.clone(),
                ..Mesh::default()
            },
            ..Self::default()
        };
        let quadrilateral = |family| family == CellFamily::Quadrilateral;
        for block in mesh
            .blocks
            .iter()
            .filter(|b| quadrilateral(b.cell_type.family()))
        {
            let quads = block.nodes.chunks_exact(block.cell_type.nodes());
            for (&tag, quad) in block.tags.iter().zip(quads).filter(|(tag, _)| **tag != 0) {
                let nodes = [quad[0], quad[1], quad[2], quad[3]];
                match topology.sides(nodes) {
                    None => boundary.strangers.push((tag, nodes)),
                    Some(sides) => boundary.faces.push(BoundaryFace::new(tag, sides, cells)),
                }
            }
        }
        boundary.faces.sort_unstable();
        boundary.faces.dedup();
        boundary
    }

    /// The faces in a two-dimensional group given by name or number, sorted by element; a face
    /// that the mesh lists several times appears once.
    ///
    /// # Errors
    /// [`SpaceError::Mesh`] when there is no such group, [`SpaceError::NoSuchFace`] when some of
    /// its quadrilaterals are no face of a hexahedron.
    pub fn tagged(&self, tag: &str) -> Result<&[BoundaryFace], SpaceError> {
        let number = self.groups.group(2, tag)?;
        let mut strangers = self.strangers.iter().filter(|s| s.0 == number);
        if let Some(&(_, nodes)) = strangers.next() {
            return Err(SpaceError::NoSuchFace {
                tag: tag.into(),
                nodes,
                count: 1 + strangers.count(),
            });
        }
        let start = self.faces.partition_point(|face| face.tag < number);
        let end = self.faces.partition_point(|face| face.tag <= number);
        Ok(&self.faces[start..end])
    }

    /// All tagged faces that were found, sorted by tag, then by element.
    pub fn all(&self) -> &[BoundaryFace] {
        &self.faces
    }
}

impl BoundaryFace {
    fn new(tag: i32, sides: [u32; 2], cells: &[u32]) -> Self {
        let cell = |side: u32| cells[side as usize / 6];
        let second = sides[1] != NONE && cell(sides[1]) < cell(sides[0]);
        let side = sides[usize::from(second)];
        Self {
            tag,
            element: side / 6,
            cell: cell(side),
            face: (side % 6) as u8,
        }
    }
}
