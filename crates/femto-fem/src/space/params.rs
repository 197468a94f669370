//! The parameters of spaces.

use super::{Space, SpaceError};
use femto_element::basis::{self, BasisError};
use femto_element::{Cell, Degree};

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
    /// Polynomial degree of the basis, 1 to [`basis::max_degree`] of the cells. On prisms it may differ vertically, along the
    /// edges between their triangles: `Degree::new(1, 3)`.
    pub degree: Degree,
    /// Numbers per node.
    pub components: usize,
    /// Order of the components in memory.
    pub layout: Layout,
    /// Approximate number of L-vector nodes of a chunk; halved until no chunk exceeds [`MAX_CHUNK_NODES`]. Small meshes
    /// have smaller chunks, so that all threads have some; columns are whole where they fit.
    pub chunk_nodes: usize,
}

impl Default for SpaceParams {
    fn default() -> Self {
        Self {
            degree: 1.into(),
            components: 1,
            layout: Layout::Interleaved,
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

impl SpaceParams {
    /// With half as many nodes of a chunk, if those of `spaces` have too many: long thin meshes have more nodes per
    /// element than estimated.
    pub(super) fn with_smaller_chunks(&self, spaces: &[Space]) -> Option<Self> {
        let most = spaces.iter();
        let most = most.map(|space| space.restriction.most_chunk_nodes()).max();
        let too_many = most > Some(MAX_CHUNK_NODES) && self.chunk_nodes > 1;
        too_many.then(|| Self {
            chunk_nodes: self.chunk_nodes / 2,
            ..self.clone()
        })
    }
}

/// The number of elements whose nodes roughly fill one chunk, given the number of all elements.
pub(super) fn elements_per_chunk(cell: Cell, params: &SpaceParams, elements: usize) -> usize {
    let nodes: usize = cell.steps(params.degree)[..cell.dim()].iter().product();
    let with = |chunk_nodes: usize| chunk_nodes.saturating_mul(cell.per_box()) / nodes;
    let small = with(SMALL_CHUNK_NODES).max(SMALL_CHUNK_ELEMENTS);
    let small = small.max(elements.div_ceil(FEW_CHUNKS));
    with(params.chunk_nodes).min(small).max(1)
}

/// Fails unless a space on these cells can have the parameters.
pub(super) fn check(cell: Cell, params: &SpaceParams) -> Result<(), SpaceError> {
    let found = params.degree;
    // Operators on tensor products have one degree.
    if !found.is_uniform() && cell.is_tensor_product() {
        return Err(BasisError::NotUniform { found, cell }.into());
    }
    basis::check(cell, found)?;
    if params.components == 0 {
        return Err(SpaceError::Components);
    }
    Ok(())
}
