//! Meshes: coordinates, cells by type, physical groups.

use femto_element::CellType;
use std::path::{Path, PathBuf};

pub mod boxes;
mod cell_nodes;
mod columns;
mod consistency;
mod coordinates;
mod error;
mod extrude;
pub mod gmsh;
pub(crate) mod groups;
pub mod ordering;
mod periodic;
mod summary;
pub mod triangle;
mod turn;

pub use cell_nodes::{CellNodes, ColumnNodes, NodesOfCell};
pub use columns::Columns;
pub use coordinates::{Coordinates, Lines};
pub use error::MeshError;
pub use extrude::Layers;
pub use summary::{BlockSummary, GroupSummary, MeshSummary};
pub use triangle::TriangleError;

/// A mesh, read from a file or generated.
///
/// Cells are stored by type in [`Mesh::blocks`]; the cells of the highest dimension carry the unknowns,
/// those of one dimension less carry boundary tags. What [`Mesh::extrude`] makes is kept as columns: the lowest nodes of
/// each, from which the others follow, and heights on vertical lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the mesh nodes, in the length unit of the file.
    pub coordinates: Coordinates,
    /// One block per cell type, in the order in which the types first appear.
    pub blocks: Vec<CellBlock>,
    /// The named or numbered physical groups.
    pub groups: Vec<PhysicalGroup>,
    /// Further groups of cells that belong to several, by block and cell.
    pub memberships: Vec<Membership>,
    /// Pairs of sides joined periodically.
    pub periodic: Vec<PeriodicSides>,
}

/// Two periodic sides of a mesh: the facets of one have partners among those of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodicSides {
    /// The mesh nodes of the first side, each with its partner on the second.
    pub nodes: Vec<[u32; 2]>,
}

/// A further group of a cell, besides that of its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Membership {
    /// Index in [`Mesh::blocks`].
    pub block: u32,
    /// The cell's index in its block.
    pub cell: u32,
    /// The group's number.
    pub group: i32,
}

/// All cells of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct CellBlock {
    /// The type of every cell in the block.
    pub cell_type: CellType,
    /// Mesh nodes of each cell, in Gmsh's node order for the type.
    pub nodes: CellNodes,
    /// The physical group number of each cell, `[cells]`; 0 if the cell is in no group. Its further groups
    /// are in [`Mesh::memberships`].
    pub tags: Vec<i32>,
}

/// A physical group: a set of cells of one dimension that share a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhysicalGroup {
    /// Dimension of the group's cells.
    pub dimension: usize,
    /// The group's number; cells refer to it in [`CellBlock::tags`].
    pub number: i32,
    /// The group's name, empty if the file gives none.
    pub name: String,
}

impl CellBlock {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.nodes.len() / self.cell_type.nodes()
    }

    /// Keeps solids of order 1 as columns if they are listed as such.
    pub(crate) fn fold(&mut self) {
        if (self.cell_type.order(), self.cell_type.dimension()) == (1, 3) {
            let nodes = std::mem::take(self.nodes.to_mut());
            self.nodes = CellNodes::folded(nodes, self.cell_type.nodes());
        }
    }

    /// Whether the block has no cells.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The mesh nodes of cell `index`, `[nodes_per_cell]`, in Gmsh's order.
    #[inline(always)]
    pub fn cell(&self, index: usize) -> NodesOfCell<'_> {
        self.nodes.cell(index, self.cell_type.nodes())
    }

    /// The mesh nodes of one cell after the other.
    pub fn cells(&self) -> impl Iterator<Item = NodesOfCell<'_>> {
        (0..self.len()).map(|index| self.cell(index))
    }
}

impl Mesh {
    /// The highest dimension of its cells, which carry the unknowns; 0 without cells.
    pub fn dimension(&self) -> usize {
        let blocks = self.blocks.iter().filter(|block| !block.is_empty());
        let dimensions = blocks.map(|block| block.cell_type.dimension());
        dimensions.max().unwrap_or(0)
    }

    /// The first physical group number of a cell of a block, as in its tags; 0 for none.
    pub fn tag(&self, block: usize, cell: usize) -> i32 {
        let tags = self.blocks.get(block).map(|it| &it.tags[..]);
        tags.and_then(|it| it.get(cell)).copied().unwrap_or(0)
    }

    /// The physical group numbers of a cell of a block.
    pub fn groups_of(&self, block: usize, cell: usize) -> impl Iterator<Item = i32> {
        let tag = self.tag(block, cell);
        let place = |it: &Membership| (it.block as usize, it.cell as usize);
        let first = self
            .memberships
            .partition_point(|it| place(it) < (block, cell));
        let others = self.memberships[first..].iter();
        let others = others.take_while(move |it| place(it) == (block, cell));
        let tag = (tag != 0).then_some(tag).into_iter();
        tag.chain(others.map(|it| it.group))
    }

    /// The files that [`Mesh::read`] reads from; not all of them need be there.
    pub fn files(path: &Path) -> Vec<PathBuf> {
        match is_of_triangle(path) {
            true => triangle::FILES.map(|it| path.with_extension(it)).to_vec(),
            false => vec![path.into()],
        }
    }

    /// Reads a mesh file: Gmsh MSH 1.0 to 4.1, ASCII or binary (see [`gmsh`]); or Triangle's `.ele` or `.node`, with
    /// the other one and, for groups, the `.edge` beside it.
    ///
    /// # Errors
    /// [`MeshError::Io`] if the file cannot be read, [`MeshError::Gmsh`] or [`MeshError::Triangle`] if it is damaged or
    /// of another kind.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MeshError> {
        let path = path.as_ref();
        if is_of_triangle(path) {
            return triangle::read(path);
        }
        let file = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => gmsh::parse(&bytes, &file),
            Err(source) => Err(MeshError::Io { file, source }),
        }
    }
}

/// Whether Triangle has written the file, by its extension.
fn is_of_triangle(path: &Path) -> bool {
    path.extension()
        .is_some_and(|it| it == "ele" || it == "node")
}
