//! Finite element spaces: which nodes the elements have, which of them are the same, which are
//! constrained.
//!
//! A [`Space`] numbers the nodes of all cells of a mesh of one shape for
//! one degree, so that an operator can walk through memory. Elements follow a Hilbert curve, which is cut into chunks: the nodes of
//! a chunk fit a cache, are numbered together and belong, but for those on its surface, to that
//! chunk alone. Threads work on different chunks without waiting for each other; only the few
//! nodes on the surfaces need care. See [`Restriction`] for the layout.

mod boundary;
mod constraints;
mod element_nodes;
mod elements;
mod error;
mod gather_scatter;
mod numbering;
mod positions;
mod restriction;
mod topology;
mod trace;

use std::sync::Arc;

use crate::geometry::Geometry;
use crate::mesh::Mesh;
use femto_element::{Cell, basis};

pub use boundary::{BoundaryFace, BoundaryFaces, BoundaryNode};
pub use constraints::Constraints;
use element_nodes::ElementNodes;
use elements::Elements;
pub use error::SpaceError;
pub use restriction::{Chunk, Restriction};
use std::ops::Range;
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

/// How the components of an L-vector lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// All components of a node together, index `node * components + c`.
    Interleaved,
    /// All nodes of a component together, index `c * nodes + node`.
    Blocked,
}

/// What to build a space from, besides the mesh.
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
    /// How many L-vector nodes a chunk should have, about; halved until no chunk has more than
    /// [`MAX_CHUNK_NODES`].
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

/// Most nodes of a chunk, so that their local indices fit 16 bits.
pub const MAX_CHUNK_NODES: usize = 1 << 16;

/// A finite element space on the cells of a mesh.
///
/// Arrays over elements are in the order of the elements, which is not that of the mesh:
/// [`Space::cells`] gives the mesh cell number of each.
#[derive(Clone, Debug)]
pub struct Space {
    params: SpaceParams,
    cell: Cell,
    cells: Vec<u32>,
    restriction: Arc<Restriction>,
    boundary: BoundaryFaces,
}

impl Space {
    /// Numbers a space on the cells of a mesh, whose maps `geometry` has.
    ///
    /// # Errors
    /// Parameters out of range, a mesh whose cells do not fit together, tags that are not there:
    /// see [`SpaceError`].
    pub fn new(mesh: &Mesh, geometry: &Geometry, params: SpaceParams) -> Result<Self, SpaceError> {
        let cell = geometry.cell();
        check(cell, &params)?;
        let nodes = ElementNodes::new(cell, params.degree);
        let (elements, vertices) = Elements::new(
            mesh,
            cell,
            geometry.kinds(),
            elements_per_chunk(cell, &params),
        )?;
        let up_to = params.continuity.shared_up_to(&nodes);
        let mesh_nodes = mesh.coordinates.len();
        let topology = Topology::new(cell, &elements.cells, vertices, mesh_nodes, up_to)?;
        let boundary = BoundaryFaces::new(mesh, &topology, &elements.cells);
        let restriction = number(params.continuity, &topology, elements.chunks, &nodes)?;
        if restriction.most_chunk_nodes() > MAX_CHUNK_NODES && params.chunk_nodes > 1 {
            // Long thin meshes and broken spaces have more nodes per element than expected.
            let chunk_nodes = params.chunk_nodes / 2;
            return Self::new(
                mesh,
                geometry,
                SpaceParams {
                    chunk_nodes,
                    ..params
                },
            );
        }
        Ok(Self {
            params,
            cell,
            cells: elements.cells,
            restriction: Arc::new(restriction),
            boundary,
        })
    }

    /// The parameters that the space was made with.
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

    /// How components lie in L-vectors.
    pub fn layout(&self) -> Layout {
        self.params.layout
    }

    /// Whether elements share nodes.
    pub fn continuity(&self) -> Continuity {
        self.params.continuity
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.cells.len()
    }

    /// Mesh cell number of each element.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Number of nodes of an element; `nodes_1d³` of a hexahedron.
    pub fn nodes_per_element(&self) -> usize {
        self.restriction.nodes_per_element()
    }

    /// Number of L-vector nodes.
    pub fn nodes(&self) -> usize {
        self.restriction.nodes
    }

    /// The first node that several chunks touch.
    pub fn first_interface(&self) -> usize {
        self.restriction.first_interface
    }

    /// Length of an L-vector.
    pub fn dofs(&self) -> usize {
        self.nodes() * self.components()
    }

    /// The entry of L-vectors with a component of a node.
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

    /// The space of one number per node on the same nodes, numbered the same: that of each component.
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

    /// Which L-vector node sits where in which element.
    pub fn restriction(&self) -> &Restriction {
        &self.restriction
    }

    /// The restriction, to be kept by an operator beside the space.
    pub fn shared_restriction(&self) -> Arc<Restriction> {
        Arc::clone(&self.restriction)
    }

    /// The L-vector nodes of an element, `[nodes_per_element]`, lexicographic in hexahedra, in the
    /// order of [`femto_element::cell`] in simplices.
    pub fn element_nodes(&self, element: usize) -> Vec<u32> {
        let mut nodes = vec![0; self.nodes_per_element()];
        self.write_element_nodes(element, &mut nodes);
        nodes
    }

    /// Writes [`Space::element_nodes`] to an array of their number.
    pub fn write_element_nodes(&self, element: usize, nodes: &mut [u32]) {
        let restriction = &self.restriction;
        let chunk = &restriction.chunks[restriction.chunk_of(element)];
        for (position, local) in restriction.element(element) {
            nodes[position] = restriction.node(chunk, local) as u32;
        }
    }

    /// All tagged facets of the mesh.
    pub fn boundary(&self) -> &BoundaryFaces {
        &self.boundary
    }

    /// The facets of elements in a group of boundary cells given by name or number, sorted by
    /// element.
    ///
    /// # Errors
    /// As [`BoundaryFaces::tagged`].
    pub fn boundary_faces(&self, tag: &str) -> Result<Vec<BoundaryFace>, SpaceError> {
        self.boundary.tagged(tag).map(<[_]>::to_vec)
    }

    /// Memory of the space, in bytes.
    pub fn bytes(&self) -> usize {
        self.restriction.bytes()
            + size_of_val(self.cells.as_slice())
            + size_of_val(self.boundary.all())
    }
}

impl Continuity {
    /// The highest dimension of entities whose nodes are shared.
    fn shared_up_to(self, nodes: &ElementNodes) -> usize {
        match self {
            Self::Continuous => nodes.up_to(),
            Self::Broken => 0,
        }
    }
}

/// Numbers the nodes of elements in chunks.
fn number(
    continuity: Continuity,
    topology: &Topology,
    chunks: Vec<Range<usize>>,
    nodes: &ElementNodes,
) -> Result<Restriction, SpaceError> {
    match continuity {
        Continuity::Broken => numbering::broken(chunks, nodes),
        Continuity::Continuous => numbering::continuous(topology, &chunks, nodes),
    }
}

/// As many elements as have about the nodes of a chunk.
fn elements_per_chunk(cell: Cell, params: &SpaceParams) -> usize {
    // A cube is one hexahedron or about six tetrahedra, a square two triangles.
    let cells = match cell.is_tensor_product() {
        true => 1,
        false => (1..=cell.dim()).product(),
    };
    let nodes = params.degree.pow(cell.dim() as u32);
    (params.chunk_nodes.saturating_mul(cells) / nodes).max(1)
}

fn check(cell: Cell, params: &SpaceParams) -> Result<(), SpaceError> {
    basis::check(cell, params.degree)?;
    if params.components == 0 {
        return Err(SpaceError::Components);
    }
    Ok(())
}
