//! Finite element spaces: numbering of nodes, sharing of nodes between elements, constraints.
//!
//! A [`Space`] numbers the nodes of all cells of one shape for one degree, so that an operator can walk
//! through memory. Elements follow a Hilbert curve, which is cut into chunks: the nodes of a chunk fit a
//! cache, are numbered together and, except for those on its surface, belong only to that chunk. Threads
//! work on different chunks without waiting for each other; only the few nodes on the surfaces need care.
//! See [`Restriction`] for the layout.
//!
//! A mesh of several shapes has a [`Block`] for each, whose spaces have the same L-vectors.

mod block;
mod boundary;
mod constraints;
mod element_nodes;
mod elements;
mod error;
mod gather_scatter;
mod numbering;
mod positions;
mod restriction;
mod slanted;
mod topology;
mod trace;

use rayon::prelude::*;
use std::sync::Arc;

use crate::geometry::Geometry;
use crate::mesh::Mesh;
use femto_element::{Cell, basis};

pub use block::Block;
pub use boundary::{BoundaryFacet, BoundaryFacets, BoundaryNode};
pub use constraints::Constraints;
use element_nodes::ElementNodes;
use elements::Elements;
pub use error::SpaceError;
use numbering::ShapeElements;
pub use restriction::{Chunk, Restriction};
pub use slanted::{NodeNormal, Slanted};
use topology::Topology;
pub use trace::Trace;

/// Whether elements share the nodes on their common vertices, edges and faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Continuity {
    /// Shared nodes: functions are continuous (H1).
    Continuous,
    /// Every node belongs to one element (L2).
    Broken,
}

/// The memory layout of the components of an L-vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// The components of a node are adjacent, index `node * components + c`.
    Interleaved,
    /// The nodes of a component are adjacent, index `c * nodes + node`.
    Blocked,
}

/// Parameters of a space, besides the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceParams {
    /// Polynomial degree of the basis, 1 to [`basis::max_degree`] of the cells.
    pub degree: usize,
    /// Numbers per node.
    pub components: usize,
    /// Order of the components in memory.
    pub layout: Layout,
    /// Whether elements share nodes.
    pub continuity: Continuity,
    /// Approximate number of L-vector nodes of a chunk; halved until no chunk exceeds [`MAX_CHUNK_NODES`]. Small
    /// meshes have smaller chunks, so that all threads have some.
    pub chunk_nodes: usize,
}

impl Default for SpaceParams {
    fn default() -> Self {
        Self {
            degree: 1,
            components: 1,
            layout: Layout::Interleaved,
            continuity: Continuity::Continuous,
            chunk_nodes: 32768,
        }
    }
}

/// With fewer chunks, chunks are made smaller, down to these numbers of nodes and elements: threads need some each, and
/// kernels several batches of elements.
const FEW_CHUNKS: usize = 32;
const SMALL_CHUNK_NODES: usize = 2048;
const SMALL_CHUNK_ELEMENTS: usize = 32;

/// Maximum number of nodes of a chunk, so that their local indices fit 16 bits.
pub const MAX_CHUNK_NODES: usize = 1 << 16;

/// A finite element space on the cells of a mesh, or on those of one shape. Clones share large arrays.
///
/// Arrays over elements are in element order, which is not that of the mesh: [`Space::cells`] gives each
/// element's cell number in the geometry.
#[derive(Clone, Debug)]
pub struct Space {
    params: SpaceParams,
    cell: Cell,
    cells: Arc<[u32]>,
    restriction: Arc<Restriction>,
    boundary: Arc<BoundaryFacets>,
    is_periodic: bool,
}

impl Space {
    /// Numbers a space on the cells of a mesh with one shape, with the maps in `geometry`. For meshes with
    /// several shapes see [`Block::all`].
    ///
    /// # Errors
    /// Parameters out of range, inconsistent cells, missing tags: see [`SpaceError`].
    pub fn new(mesh: &Mesh, geometry: &Geometry, params: SpaceParams) -> Result<Self, SpaceError> {
        let mut spaces = Self::of_shapes(mesh, &[geometry], params)?;
        spaces.pop().ok_or(SpaceError::NoCells)
    }

    /// The spaces on the cells of each shape of a mesh, with the same L-vectors.
    fn of_shapes(
        mesh: &Mesh,
        geometries: &[&Geometry],
        params: SpaceParams,
    ) -> Result<Vec<Self>, SpaceError> {
        let cells: Vec<Cell> = geometries.iter().map(|geometry| geometry.cell()).collect();
        elements::check(mesh, &cells)?;
        let (mut elements, mut shapes, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        for geometry in geometries {
            let cell = geometry.cell();
            check(cell, &params)?;
            let at_once = elements_per_chunk(cell, &params, geometry.kinds().len());
            let (own, vertices) = Elements::new(mesh, geometry, at_once)?;
            elements.push(own);
            shapes.push((cell, vertices));
            nodes.push(ElementNodes::new(cell, params.degree));
        }
        let up_to = nodes
            .iter()
            .map(|nodes| params.continuity.shared_up_to(nodes));
        let up_to = up_to.max().unwrap_or(0);
        let number_of = |block: usize, element: usize| {
            geometries[block].first_cell() as u32 + elements[block].cells[element]
        };
        let mut topology = Topology::new(&shapes, mesh.coordinates.len(), up_to, number_of)?;
        drop(shapes);
        topology.join_sides(&mesh.periodic, number_of)?;
        let numbered: Vec<&[u32]> = elements.iter().map(|own| &own.cells[..]).collect();
        let boundary = BoundaryFacets::new(mesh, &topology, &numbered);
        let shapes = elements.iter().zip(&nodes);
        let shapes: Vec<ShapeElements<'_>> = shapes
            .zip(geometries)
            .map(|((elements, nodes), geometry)| ShapeElements {
                chunks: &elements.chunks,
                layers: geometry.columns().map_or(1, |columns| columns.layers),
                nodes,
            })
            .collect();
        let restrictions = number(params.continuity, &topology, &shapes)?;
        let most = restrictions.iter().map(Restriction::most_chunk_nodes).max();
        if most > Some(MAX_CHUNK_NODES) && params.chunk_nodes > 1 {
            // Long thin meshes and broken spaces have more nodes per element than estimated.
            let chunk_nodes = params.chunk_nodes / 2;
            let params = SpaceParams {
                chunk_nodes,
                ..params
            };
            return Self::of_shapes(mesh, geometries, params);
        }
        let blocks = cells
            .into_iter()
            .zip(elements)
            .zip(restrictions)
            .zip(boundary);
        let space = |(((cell, elements), restriction), boundary): (((_, Elements), _), _)| Self {
            params: params.clone(),
            cell,
            cells: elements.cells.into(),
            restriction: Arc::new(restriction),
            boundary: Arc::new(boundary),
            is_periodic: !mesh.periodic.is_empty(),
        };
        Ok(blocks.map(space).collect())
    }

    /// The parameters of the space.
    pub fn params(&self) -> &SpaceParams {
        &self.params
    }

    /// The shape of the elements.
    pub fn cell(&self) -> Cell {
        self.cell
    }

    /// Dimension of the elements.
    pub fn dim(&self) -> usize {
        self.cell.dim()
    }

    /// Polynomial degree.
    pub fn degree(&self) -> usize {
        self.params.degree
    }

    /// Nodes along one edge of an element, degree + 1.
    pub fn nodes_1d(&self) -> usize {
        self.params.degree + 1
    }

    /// Numbers per node.
    pub fn components(&self) -> usize {
        self.params.components
    }

    /// The memory layout of components in L-vectors.
    pub fn layout(&self) -> Layout {
        self.params.layout
    }

    /// Whether elements share nodes.
    pub fn continuity(&self) -> Continuity {
        self.params.continuity
    }

    /// Whether the mesh has periodic sides, so that distant elements may share a node.
    pub fn is_periodic(&self) -> bool {
        self.is_periodic
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.cells.len()
    }

    /// Each element's cell number in the geometry.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The element that each cell is, `[cell]`.
    pub fn elements_of_cells(&self) -> Vec<usize> {
        let mut elements = vec![0; self.elements()];
        for (element, &cell) in self.cells.iter().enumerate() {
            elements[cell as usize] = element;
        }
        elements
    }

    /// Number of nodes of an element; `nodes_1d³` for a hexahedron.
    pub fn nodes_per_element(&self) -> usize {
        self.restriction.nodes_per_element()
    }

    /// Number of L-vector nodes, including those of other blocks.
    pub fn nodes(&self) -> usize {
        self.restriction.nodes
    }

    /// The first node shared by several chunks.
    pub fn first_interface(&self) -> usize {
        self.restriction.first_interface
    }

    /// Length of an L-vector.
    pub fn dofs(&self) -> usize {
        self.nodes() * self.components()
    }

    /// The index in L-vectors of a component of a node.
    pub fn entry(&self, node: usize, component: usize) -> usize {
        match self.layout() {
            Layout::Interleaved => node * self.components() + component,
            Layout::Blocked => component * self.nodes() + node,
        }
    }

    /// Length of an E-vector, `[elements][components][nodes_per_element]`.
    pub fn element_dofs(&self) -> usize {
        self.elements() * self.components() * self.nodes_per_element()
    }

    /// The scalar space with the same nodes and numbering.
    pub fn scalar(&self) -> Self {
        let params = SpaceParams {
            components: 1,
            ..self.params.clone()
        };
        Self {
            params,
            ..self.clone()
        }
    }

    /// The restriction: the L-vector node at each position of each element.
    pub fn restriction(&self) -> &Arc<Restriction> {
        &self.restriction
    }

    /// The L-vector nodes of an element, `[nodes_per_element]`, lexicographic in tensor-product cells, in
    /// the order of [`femto_element::cell`] in others.
    pub fn element_nodes(&self, element: usize) -> Vec<u32> {
        let mut nodes = vec![0; self.nodes_per_element()];
        self.write_element_nodes(element, &mut nodes);
        nodes
    }

    /// Writes [`Space::element_nodes`] to an array of that length.
    pub fn write_element_nodes(&self, element: usize, nodes: &mut [u32]) {
        let restriction = &self.restriction;
        let chunk = &restriction.chunks[restriction.chunk_of(element)];
        for (position, local) in restriction.element(element) {
            nodes[position] = restriction.node(chunk, local) as u32;
        }
    }

    /// The nodes of all elements, `[element][node]`, in an order that gives the element for each place.
    pub fn listed_nodes(&self, element: impl Fn(usize) -> usize + Sync) -> Vec<u32> {
        let per_element = self.nodes_per_element();
        let mut nodes = vec![0; self.elements() * per_element];
        let rows = nodes.par_chunks_exact_mut(per_element).enumerate();
        rows.for_each(|(row, nodes)| self.write_element_nodes(element(row), nodes));
        nodes
    }

    /// All tagged facets of the mesh.
    pub fn boundary(&self) -> &BoundaryFacets {
        &self.boundary
    }

    /// Memory of the space, in bytes.
    pub fn bytes(&self) -> usize {
        self.restriction.bytes() + size_of_val(&self.cells[..]) + size_of_val(self.boundary.all())
    }
}

impl Continuity {
    /// The highest dimension of entities with shared nodes.
    fn shared_up_to(self, nodes: &ElementNodes) -> usize {
        match self {
            Self::Continuous => nodes.up_to(),
            Self::Broken => 0,
        }
    }
}

/// Numbers the nodes of the elements in chunks, for each shape.
fn number(
    continuity: Continuity,
    topology: &Topology,
    shapes: &[ShapeElements<'_>],
) -> Result<Vec<Restriction>, SpaceError> {
    match continuity {
        Continuity::Broken => numbering::broken(shapes),
        Continuity::Continuous => numbering::continuous(topology, shapes),
    }
}

/// The number of elements whose nodes roughly fill one chunk, of so many elements in all.
fn elements_per_chunk(cell: Cell, params: &SpaceParams, elements: usize) -> usize {
    let nodes = params.degree.pow(cell.dim() as u32);
    let with = |chunk_nodes: usize| chunk_nodes.saturating_mul(cell.per_box()) / nodes;
    let small = with(SMALL_CHUNK_NODES).max(SMALL_CHUNK_ELEMENTS);
    let small = small.max(elements.div_ceil(FEW_CHUNKS));
    with(params.chunk_nodes).min(small).max(1)
}

fn check(cell: Cell, params: &SpaceParams) -> Result<(), SpaceError> {
    basis::check(cell, params.degree)?;
    if params.components == 0 {
        return Err(SpaceError::Components);
    }
    Ok(())
}
