//! Blocks: the cells of one shape in a mesh, with maps and space.

use super::{Space, SpaceError, SpaceParams};
use crate::geometry::Geometry;
use crate::mesh::Mesh;
use femto_element::Degree;

/// The cells of one shape in a mesh: the space on them and their maps. The spaces of a mesh's blocks have
/// the same L-vectors, with common nodes on vertices, edges and faces shared by different shapes.
///
/// *Mesh cell numbers* continue from block to block: they are those of the geometries, one after the other.
#[derive(Clone, Debug)]
pub struct Block {
    /// The space on the cells.
    pub space: Space,
    /// The cells' maps.
    pub geometry: Geometry,
}

impl Space {
    /// Whether a geometry has the cells of this space: as many, with the same vertices in the same order. Their positions
    /// may differ, as they do when a mesh moves.
    pub fn is_on(&self, geometry: &Geometry) -> bool {
        (self.cell(), self.fingerprint()) == (geometry.cell(), geometry.fingerprint())
    }

    /// Checks that a geometry has the cells of this space.
    pub(super) fn check_geometry(&self, geometry: &Geometry) -> Result<(), SpaceError> {
        match self.is_on(geometry) {
            true => Ok(()),
            false => Err(SpaceError::OtherCells),
        }
    }

    /// See [`Geometry::fingerprint`].
    pub(super) fn fingerprint(&self) -> u64 {
        self.own_elements().fingerprint
    }
}

impl Block {
    /// Numbers a space on all cells of a mesh, with the maps in `geometries`, one for each shape: see
    /// [`Geometry::of_shapes`].
    ///
    /// # Errors
    /// As [`Space::new`]; neighbours that disagree about the shape of their common facet.
    pub fn all(
        mesh: &Mesh,
        geometries: Vec<Geometry>,
        params: SpaceParams,
    ) -> Result<Vec<Self>, SpaceError> {
        let spaces = Space::of_shapes(mesh, &geometries.iter().collect::<Vec<_>>(), params)?;
        let blocks = spaces.into_iter().zip(geometries);
        let block = |(space, geometry)| Self { space, geometry };
        Ok(blocks.map(block).collect())
    }

    /// The blocks, all those of a mesh in their order, with spaces of a lower degree on the same elements.
    ///
    /// # Errors
    /// A degree that is 0 or not lower; other blocks, or none.
    pub fn of_lower_degree(
        blocks: &[Self],
        degree: impl Into<Degree>,
    ) -> Result<Vec<Self>, SpaceError> {
        let spaces: Vec<&Space> = blocks.iter().map(|block| &block.space).collect();
        let spaces = Space::of_lower_degree(&spaces, degree.into())?.into_iter();
        let geometries = blocks.iter().map(|block| block.geometry.clone());
        let block = |(space, geometry)| Self { space, geometry };
        Ok(spaces.zip(geometries).map(block).collect())
    }

    /// Number of elements of all blocks.
    pub fn elements(blocks: &[Self]) -> usize {
        blocks.iter().map(|block| block.space.elements()).sum()
    }

    /// The shapes of the elements, such as "quadrilaterals and triangles".
    pub fn plural(blocks: &[Self]) -> String {
        let shapes = blocks.iter().map(|block| block.space.cell().plural());
        shapes.collect::<Vec<_>>().join(" and ")
    }

    /// The scalar space with the same nodes and numbering.
    pub fn scalar(&self) -> Self {
        Self {
            space: self.space.scalar(),
            geometry: self.geometry.clone(),
        }
    }
}
