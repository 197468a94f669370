//! Building the geometry of a mesh: collects the cells, classifies their maps, lifts curved ones.

use super::tensor::TensorMaps;
use super::terms::TermMaps;
use super::{Geometry, GeometryError, Maps};
use crate::mesh::{CellBlock, Coordinates, Mesh, NodesOfCell};
use crate::parallel;
use femto_element::{Cell, CellType};
use std::sync::Arc;

impl Geometry {
    /// The maps of all cells of a mesh that carry unknowns, of the first shape present among hexahedra,
    /// tetrahedra, prisms, pyramids, quadrilaterals and triangles; the last two only in meshes without solid cells.
    ///
    /// # Errors
    /// A mesh whose lists contradict each other, or without such cells; cells of an unsupported order, cells that refer to
    /// missing nodes, triangles or quadrilaterals outside the plane z = 0. [`Geometry::check`] tells whether the maps are
    /// invertible.
    pub fn new(mesh: &Mesh) -> Result<Self, GeometryError> {
        let shape = shapes_in(mesh)?.swap_remove(0);
        Self::of_shape(mesh, shape, 0)
    }

    /// The maps of all cells of a mesh that carry unknowns, of each shape.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn of_shapes(mesh: &Mesh) -> Result<Vec<Self>, GeometryError> {
        let (mut all, mut first_cell) = (Vec::new(), 0);
        for shape in shapes_in(mesh)? {
            let geometry = Self::of_shape(mesh, shape, first_cell)?;
            first_cell += geometry.len();
            all.push(geometry);
        }
        Ok(all)
    }

    /// The maps of the cells of one shape; their mesh cell numbers start at `first_cell`.
    fn of_shape(mesh: &Mesh, shape: ShapeBlocks, first_cell: usize) -> Result<Self, GeometryError> {
        let ((cell, blocks), coordinates) = (shape, &mesh.coordinates);
        let blocks = blocks.into_iter().map(|place| &mesh.blocks[place]);
        let blocks: Vec<&CellBlock> = blocks.collect();
        check_orders(cell, &blocks)?;
        let cells: usize = blocks.iter().map(|block| block.len()).sum();
        let order = blocks.iter().map(|block| block.cell_type.order()).max();
        let mut kinds = Vec::with_capacity(cells);
        let has_lines = !cell.lines().is_empty();
        let columns = has_lines.then(|| mesh.columns()).flatten();
        let mut first = first_cell;
        for block in &blocks {
            check_nodes(block, coordinates, first)?;
            check_plane(block, coordinates, first)?;
            first += block.len();
        }
        let maps = if cell.is_tensor_product() {
            let mut maps = TensorMaps::new(cell, cells);
            for block in blocks {
                maps.append(block, coordinates, &mut kinds);
            }
            Maps::Tensor(Arc::new(maps))
        } else {
            let mut maps = TermMaps::new(cell, order.unwrap_or(1));
            let extruded = match &columns {
                Some(columns) => maps.are_extruded(columns, &blocks, coordinates),
                None => Vec::new(),
            };
            for block in blocks {
                maps.append((block, &extruded), coordinates, &mut kinds);
            }
            Maps::Terms(Arc::new(maps))
        };
        Ok(Self {
            cell,
            first_cell,
            columns: columns.map(Arc::new),
            fingerprint: fingerprint(kinds.len(), |cell| maps.vertex_nodes(cell)),
            kinds: kinds.into(),
            is_invertible: Arc::default(),
            coordinates: coordinates.clone(),
            maps,
        })
    }
}

/// A hash of the vertices of `count` cells in their order, the same for any number of threads.
pub(super) fn fingerprint<'a>(
    count: usize,
    vertices: impl Fn(usize) -> NodesOfCell<'a> + Sync,
) -> u64 {
    let add = |sum: u64, number: u64| {
        (sum ^ number)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let add_cell = |sum: u64, cell: usize| {
        let vertices = vertices(cell);
        let numbers = vertices.iter().map(|&node| u64::from(node));
        numbers.fold(sum, add)
    };
    let of_chunk = |chunk: usize| {
        let cells = chunk * HASHED..count.min((chunk + 1) * HASHED);
        cells.fold(0, add_cell)
    };
    let of_chunks = parallel::map(count.div_ceil(HASHED), of_chunk);
    of_chunks.into_iter().fold(count as u64, add)
}

/// Cells whose vertices are hashed at a time.
const HASHED: usize = 1 << 14;

/// Checks that the mesh has the nodes of a block, whose cells are numbered from `first` on.
fn check_nodes(
    block: &CellBlock,
    coordinates: &Coordinates,
    first: usize,
) -> Result<(), GeometryError> {
    let nodes = coordinates.len();
    let missing = |cell: &[u32]| cell.iter().copied().find(|&node| node as usize >= nodes);
    let of_cell = |cell: usize| Some((cell, missing(&block.cell(cell))?));
    match parallel::find_first(block.len(), of_cell) {
        None => Ok(()),
        Some((cell, node)) => Err(GeometryError::MissingNode {
            cell: first + cell,
            node,
            nodes,
        }),
    }
}

/// Checks that a block lies in the plane z = 0, if its cells must.
fn check_plane(
    block: &CellBlock,
    coordinates: &Coordinates,
    first: usize,
) -> Result<(), GeometryError> {
    if block.cell_type.dimension() == 3 {
        return Ok(());
    }
    let of_cell = |cell: usize| {
        let position = off_plane(coordinates, &block.cell(cell))?;
        let cell = first + cell;
        Some(GeometryError::OffPlane { cell, position })
    };
    match parallel::find_first(block.len(), of_cell) {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

/// A shape, and the indices of the mesh's blocks of it.
pub type ShapeBlocks = (Cell, Vec<usize>);

/// The blocks of the cells that can carry unknowns, by shape, each in mesh order; in a mesh without solids
/// the plane cells.
pub fn shapes(mesh: &Mesh) -> Vec<ShapeBlocks> {
    let blocks = || {
        mesh.blocks
            .iter()
            .enumerate()
            .filter(|(_, it)| !it.is_empty())
    };
    let is_solid = blocks().any(|(_, block)| block.cell_type.dimension() == 3);
    let of_shape = |cell| {
        let own = blocks().filter(|(_, it)| it.cell_type.cell() == cell);
        (cell, own.map(|(place, _)| place).collect())
    };
    let all = SUPPORTED.into_iter().map(of_shape);
    all.filter(|(cell, own): &ShapeBlocks| (cell.dim() == 3) == is_solid && !own.is_empty())
        .collect()
}

/// The mesh block of every cell that carries unknowns, and its position there, in the order of mesh cell
/// numbers.
pub fn cells_of(mesh: &Mesh) -> impl Iterator<Item = (usize, usize)> {
    let blocks = shapes(mesh).into_iter().flat_map(|(_, blocks)| blocks);
    blocks.flat_map(|block| (0..mesh.blocks[block].len()).map(move |cell| (block, cell)))
}

/// As [`shapes`], for a mesh that must have such cells.
fn shapes_in(mesh: &Mesh) -> Result<Vec<ShapeBlocks>, GeometryError> {
    if let Some(what) = mesh.contradiction() {
        return Err(GeometryError::Contradiction { what });
    }
    let shapes = shapes(mesh);
    if shapes.is_empty() {
        let list = |block: &CellBlock| format!("{} {}", block.len(), block.cell_type.name());
        let found = mesh.blocks.iter().map(list).collect::<Vec<_>>().join(", ");
        let found = if found.is_empty() {
            "no cells".into()
        } else {
            found
        };
        return Err(GeometryError::NoSupportedCells { found });
    }
    Ok(shapes)
}

/// Fails if a map has an unsupported order.
fn check_orders(cell: Cell, blocks: &[&CellBlock]) -> Result<(), GeometryError> {
    let most = cell.max_map_order();
    // Serendipity cells of order 2 lack centres alone; the triangle of order 3 with 9 nodes has no full polynomial.
    let is_bad = |cell_type: CellType| {
        cell_type.order() > most || (cell_type.order() > 2 && !cell_type.is_complete())
    };
    match blocks.iter().find(|block| is_bad(block.cell_type)) {
        None => Ok(()),
        Some(block) => Err(GeometryError::UnsupportedOrder {
            found: block.cell_type.name(),
            count: block.len(),
        }),
    }
}

/// The cells that carry unknowns.
const SUPPORTED: [Cell; 6] = [
    Cell::Hexahedron,
    Cell::Tetrahedron,
    Cell::Prism,
    Cell::Pyramid,
    Cell::Quadrilateral,
    Cell::Triangle,
];

/// The part of the extent by which z may vary in a plane: other programs leave rounding there.
pub(crate) const OFF_PLANE: f64 = 1e-9;

/// A node of a cell that is off the plane z = 0 by more than [`OFF_PLANE`] of the cell's extent, if any.
pub(crate) fn off_plane(coordinates: &Coordinates, cell: &[u32]) -> Option<[f64; 3]> {
    let positions = || cell.iter().map(|&node| coordinates.at(node as usize));
    if positions().all(|[_, _, z]| z == 0.0) {
        return None;
    }
    let [x0, y0, _] = coordinates.at(cell[0] as usize);
    let distance = |[x, y, _]: [f64; 3]| (x - x0).abs().max((y - y0).abs());
    let extent = positions().map(distance).fold(0.0, f64::max);
    positions().find(|[_, _, z]| z.is_nan() || z.abs() > OFF_PLANE * extent)
}
