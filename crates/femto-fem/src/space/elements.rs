//! The elements of spaces: selection, order, and chunks.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use crate::geometry::Geometry;
use crate::mesh::ordering::hilbert_order;
use crate::mesh::{CellBlock, Columns, Mesh};
use crate::parallel;
use femto_element::{Cell, Degree, MapKind};

use super::topology::{Entities, Topology};
use super::{BoundaryFacets, SpaceError, Unjoined};

/// The elements of all shapes of a mesh in order, with what does not depend on a degree.
#[derive(Debug)]
pub(super) struct Elements {
    pub(super) shapes: Vec<ShapeElements>,
    pub(super) entities: Entities,
    /// Whether the mesh has periodic sides.
    pub(super) is_periodic: bool,
    pub(super) unjoined: Unjoined,
}

impl Elements {
    /// Orders the cells of a mesh, given for each shape their maps and the size of chunks, and finds their entities up
    /// to a dimension.
    pub(super) fn new(
        mesh: &Mesh,
        shapes: &[(&Geometry, ChunkSize)],
        up_to: usize,
    ) -> Result<Self, SpaceError> {
        let ordered = shapes.iter();
        let ordered =
            ordered.map(|&(geometry, at_once)| ShapeElements::new(mesh, geometry, at_once));
        let mut ordered = ordered.collect::<Result<Vec<ShapeElements>, SpaceError>>()?;
        let number_of = |block: usize, element: usize| {
            shapes[block].0.first_cell() as u32 + ordered[block].cells[element]
        };
        let nodes = mesh.coordinates.len();
        let of_columns = || match (shapes, &ordered[..]) {
            ([(geometry, _)], [own]) if mesh.periodic.is_empty() => {
                let of_column = (own.cell, own.layers);
                Topology::of_columns(of_column, own.lowest(geometry)?, nodes, up_to)
            }
            _ => None,
        };
        let mut topology = match of_columns() {
            Some(topology) => topology,
            None => {
                let all = ordered.iter().zip(shapes);
                let vertices = all.map(|(own, (geometry, _))| (own.cell, own.vertices(geometry)));
                let vertices: Vec<_> = vertices.collect();
                Topology::new(&vertices, nodes, up_to, number_of)?
            }
        };
        let at = |node: u32| mesh.coordinates.at(node as usize);
        let in_plane = |node: u32| [at(node)[0], at(node)[1], 0.0];
        // Lines of nodes that are apart in the plane are apart.
        let are_apart = |cells: Vec<[u32; 4]>| Unjoined::new(in_plane, &cells, &[]).is_empty();
        let unjoined = if topology.plane_cells().is_some_and(are_apart) {
            Unjoined::default()
        } else {
            // Before sides are joined, after which vertices stand for several mesh nodes.
            let outer = topology.outer_facets();
            topology.join_sides(&mesh.periodic, number_of)?;
            let outer: Vec<[u32; 4]> = outer
                .into_iter()
                .filter(|(side, _)| !topology.is_on_period(*side))
                .map(|(_, nodes)| nodes)
                .collect();
            Unjoined::new(at, &outer, &mesh.periodic)
        };
        let numbered: Vec<&[u32]> = ordered.iter().map(|own| &own.cells[..]).collect();
        let boundary = BoundaryFacets::new(mesh, &topology, &numbered);
        for (own, boundary) in ordered.iter_mut().zip(boundary) {
            own.boundary = boundary;
        }
        Ok(Self {
            shapes: ordered,
            unjoined,
            entities: topology.entities,
            is_periodic: !mesh.periodic.is_empty(),
        })
    }

    /// Fails if a degree differs vertically and cells disagree about what is vertical: if an edge between the triangles of one
    /// is on a triangle of another.
    pub(super) fn check_vertical(&self, degree: Degree) -> Result<(), SpaceError> {
        if degree.is_uniform() || self.entities.are_on_lines() {
            return Ok(());
        }
        let [vertices, edges, ..] = self.entities.counts;
        // Twice the cell that first has an edge, plus 1 if it is vertical there.
        let known = parallel::unset(edges);
        for (number, own) in self.shapes.iter().enumerate() {
            let (block, cell) = (self.entities.block(number), own.cell);
            let is_vertical = |&[a, b]: &[usize; 2]| {
                let [a, b] = [a, b].map(|vertex| cell.vertex(vertex));
                u32::from(a[cell.dim() - 1] != b[cell.dim() - 1])
            };
            let roles: Vec<u32> = cell.edges().iter().map(is_vertical).collect();
            let disagrees = |element: usize| {
                let (entities, number) = (block.entities(element), own.cells[element]);
                let edges = entities[cell.vertices()..].iter().zip(&roles);
                edges.into_iter().find_map(|(&edge, role)| {
                    let edge = &known[edge as usize - vertices];
                    let own = 2 * number + role;
                    let other = match edge.compare_exchange(u32::MAX, own, Relaxed, Relaxed) {
                        Ok(_) => own,
                        Err(other) => other,
                    };
                    (other % 2 != *role).then_some([other / 2, number])
                })
            };
            if let Some(cells) = parallel::find_first(own.cells.len(), disagrees) {
                return Err(SpaceError::NoVertical { cells, degree });
            }
        }
        Ok(())
    }
}

/// Numbers of elements of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkSize {
    /// The number to aim at, rounded to whole columns if they fit.
    pub(super) wanted: usize,
    /// The number that always fits.
    pub(super) most: usize,
    /// The layers of the tallest column that fits.
    pub(super) most_layers: usize,
}

/// The elements of one shape in order.
#[derive(Debug)]
pub(super) struct ShapeElements {
    pub(super) cell: Cell,
    /// That of the geometry.
    pub(super) fingerprint: u64,
    /// Mesh cell number of each element.
    pub(super) cells: Vec<u32>,
    /// Runs of consecutive elements that cover all of them.
    pub(super) chunks: Vec<Range<usize>>,
    /// Elements of a column, which follow each other; otherwise 1.
    pub(super) layers: usize,
    pub(super) boundary: BoundaryFacets,
}

impl ShapeElements {
    /// Orders the cells of a shape along a Hilbert curve, cuts the curve into chunks, and sorts each chunk
    /// by the cells' kinds of map. Columns are ordered along the curve and listed from bottom to top; chunks do not cut
    /// them unless one is too large for a chunk.
    fn new(mesh: &Mesh, geometry: &Geometry, chunk: ChunkSize) -> Result<Self, SpaceError> {
        let (cell, kinds) = (geometry.cell(), geometry.kinds());
        let of_shape = mesh.blocks.iter().filter(|it| it.cell_type.cell() == cell);
        let in_mesh = of_shape.map(CellBlock::len).sum();
        if kinds.len() != in_mesh {
            return Err(SpaceError::GeometryCells {
                geometry: kinds.len(),
                mesh: in_mesh,
            });
        }
        let nodes_of = |cell: usize| geometry.vertex_nodes(cell);
        // The nodes of a column are all there if those of its ends are.
        let step = geometry.column_nodes().map_or(1, |columns| columns.layers);
        let first = geometry.first_cell();
        let bad = |number: usize| {
            let mut ends = (number * step..(number + 1) * step).step_by((step - 1).max(1));
            ends.find_map(|cell| bad_vertex((first + cell) as u32, &nodes_of(cell), mesh))
        };
        if let Some(error) = parallel::find_first(kinds.len() / step, bad) {
            return Err(error);
        }
        let centroid = |cell: usize| {
            let vertices = nodes_of(cell);
            let x = || (vertices.iter()).map(|&node| mesh.coordinates.at(node as usize));
            [0, 1, 2].map(|a| x().map(|x| x[a]).sum::<f64>() / vertices.len() as f64)
        };
        let (cells, chunks) = match geometry.columns().filter(|it| it.layers > 1) {
            Some(columns) => in_columns((columns, kinds), centroid, chunk),
            None => {
                let mut cells = hilbert_order(&parallel::map(kinds.len(), centroid));
                let chunks = cut(cells.len(), chunk.wanted);
                sort_by_kind(&mut cells, &chunks, |cell| cell, kinds);
                (cells, chunks)
            }
        };
        Ok(Self {
            cell,
            fingerprint: geometry.fingerprint(),
            cells,
            chunks,
            layers: geometry.columns().map_or(1, |columns| columns.layers),
            boundary: BoundaryFacets::default(),
        })
    }

    /// The mesh nodes at the vertices of each element, `[elements][vertices]`.
    fn vertices(&self, geometry: &Geometry) -> Vec<u32> {
        let count = self.cell.vertices();
        let mut vertices = vec![0; self.cells.len() * count];
        parallel::chunks(&mut vertices, count, |element, row| {
            row.copy_from_slice(&geometry.vertex_nodes(self.cells[element] as usize));
        });
        vertices
    }

    /// The mesh nodes at the bottom of each column, `[columns][nodes of a base]`, if those above follow from them.
    fn lowest(&self, geometry: &Geometry) -> Option<Vec<u32>> {
        let columns = geometry.column_nodes()?;
        let count = columns.per_base;
        let mut lowest = vec![0; columns.lowest.len()];
        parallel::chunks(&mut lowest, count, |number, row| {
            let column = self.cells[number * self.layers] as usize / columns.layers;
            row.copy_from_slice(&columns.lowest[column * count..][..count]);
        });
        Some(lowest)
    }

    /// Elements of a surface in the order of its cells, with batches for chunks.
    pub(super) fn of_surface(facets: &Geometry) -> Self {
        let count = facets.len();
        let batch = |first: usize| first..count.min(first + BATCH);
        Self {
            cell: facets.cell(),
            fingerprint: facets.fingerprint(),
            cells: (0..count as u32).collect(),
            chunks: (0..count).step_by(BATCH).map(batch).collect(),
            layers: 1,
            boundary: BoundaryFacets::default(),
        }
    }

    /// Whole chunks joined to about as many elements, each still sorted by kinds of map.
    pub(super) fn joined_chunks(&self, elements_per_chunk: usize) -> Vec<Range<usize>> {
        let parts = self.cells.len().div_ceil(elements_per_chunk);
        let parts = parts.min(self.chunks.len());
        let start = |part: usize| match self.chunks.get(part * self.chunks.len() / parts) {
            Some(chunk) => chunk.start,
            None => self.cells.len(),
        };
        (0..parts)
            .map(|part| start(part)..start(part + 1))
            .collect()
    }
}

/// Columns along a Hilbert curve, in each chunk sorted by kinds of map, and chunks of whole columns or of parts of one.
fn in_columns(
    (columns, kinds): (&Columns, &[MapKind]),
    centroid: impl Fn(usize) -> [f64; 3] + Sync,
    chunk: ChunkSize,
) -> (Vec<u32>, Vec<Range<usize>>) {
    let layers = columns.layers;
    let lowest = |column: u32| columns.cells(column as usize).next().unwrap_or_default();
    let in_plane = |column: usize| {
        let [x, y, _] = centroid(lowest(column as u32) as usize);
        [x, y, 0.0]
    };
    let mut order = hilbert_order(&parallel::map(columns.count, in_plane));
    let chunks: Vec<Range<usize>> = if layers <= chunk.most_layers {
        let chunks = cut(order.len(), (chunk.wanted / layers).max(1));
        sort_by_kind(&mut order, &chunks, lowest, kinds);
        chunks
            .into_iter()
            .map(|it| it.start * layers..it.end * layers)
            .collect()
    } else {
        let parts = cut(layers, chunk.wanted.min(chunk.most));
        let of_column = |first: usize| {
            let parts = parts.iter();
            parts.map(move |part| first + part.start..first + part.end)
        };
        let firsts = (0..columns.count).map(|column| column * layers);
        firsts.flat_map(of_column).collect()
    };
    let cells = parallel::gather(order.len(), |place, cells| {
        cells.extend(columns.cells(order[place] as usize));
    });
    (cells, chunks)
}

/// Sorts each chunk of cells or columns by the kinds of map, `[cell]`, of `cell` of each.
fn sort_by_kind(
    order: &mut [u32],
    chunks: &[Range<usize>],
    cell: impl Fn(u32) -> u32,
    kinds: &[MapKind],
) {
    if kinds.iter().any(|&kind| kind != kinds[0]) {
        for chunk in chunks {
            order[chunk.clone()].sort_by_key(|&number| kinds[cell(number) as usize]);
        }
    }
}

/// Fails unless all cells of the mesh's dimension have one of the `shapes`, and their entities can be
/// numbered.
pub(super) fn check(mesh: &Mesh, shapes: &[Cell]) -> Result<(), SpaceError> {
    if let Some(what) = mesh.contradiction() {
        return Err(SpaceError::Contradiction { what });
    }
    let dimension = shapes.first().map_or(0, |cell| cell.dim());
    let (mut cells, mut entities) = (0, 0);
    for block in &mesh.blocks {
        let cell = block.cell_type.cell();
        if cell.dim() != dimension || block.is_empty() {
            continue;
        }
        if !shapes.contains(&cell) {
            return Err(SpaceError::UnsupportedCells {
                name: block.cell_type.name(),
                count: block.len(),
            });
        }
        cells += block.len();
        entities += block.len() * (cell.vertices() + cell.edges().len() + cell.facets().len());
    }
    // Numbers of vertices, edges and faces together must fit 32 bits.
    match u32::try_from(entities) {
        Err(_) => Err(SpaceError::TooManyCells { cells }),
        Ok(_) if cells == 0 => Err(SpaceError::NoCells),
        Ok(_) => Ok(()),
    }
}

/// A mistake in the vertices of a single cell, if any.
fn bad_vertex(cell: u32, vertices: &[u32], mesh: &Mesh) -> Option<SpaceError> {
    let nodes = mesh.coordinates.len();
    if let Some(&node) = vertices.iter().find(|&&node| node as usize >= nodes) {
        return Some(SpaceError::MissingNode { cell, node, nodes });
    }
    let node = repeated(vertices)?;
    Some(SpaceError::RepeatedVertex { cell, node })
}

/// A vertex that occurs twice, if any.
pub(super) fn repeated(vertices: &[u32]) -> Option<u32> {
    let repeated = (1..vertices.len()).find(|&m| vertices[..m].contains(&vertices[m]))?;
    Some(vertices[repeated])
}

/// Elements that kernels evaluate at once, at most on most processors: chunks end after a whole number of these.
const BATCH: usize = 8;

/// Cuts `elements` into runs of about `elements_per_chunk`, as equal as whole batches allow.
fn cut(elements: usize, elements_per_chunk: usize) -> Vec<Range<usize>> {
    let chunks = elements.div_ceil(elements_per_chunk);
    let unit = if elements_per_chunk < 2 * BATCH {
        1
    } else {
        BATCH
    };
    let units = elements.div_ceil(unit) as u64;
    let start = |chunk: usize| {
        let units = (chunk as u64 * units / chunks as u64) as usize;
        elements.min(units * unit)
    };
    (0..chunks).map(|c| start(c)..start(c + 1)).collect()
}
