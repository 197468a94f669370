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
mod params;
mod parts;
mod positions;
mod restriction;
mod slanted;
mod topology;
mod trace;
mod unjoined;

use crate::parallel;
use std::ops::Range;
use std::sync::Arc;

use crate::geometry::Geometry;
use crate::mesh::Mesh;
use femto_element::{Cell, Degree};

pub use block::Block;
pub use boundary::{BoundaryFacet, BoundaryFacets, BoundaryNode};
pub use constraints::Constraints;
use element_nodes::ElementNodes;
use elements::{ChunkSize, Elements, ShapeElements};
pub use error::SpaceError;
use numbering::NumberedElements;
pub use params::{Layout, MAX_CHUNK_NODES, SpaceParams};
use params::{check, elements_per_chunk};
pub use parts::Parts;
pub use restriction::{Chunk, Restriction};
pub use slanted::{NodeNormal, SAME_DIRECTION, Slanted};
pub use trace::Trace;
pub use unjoined::Unjoined;

/// A finite element space on the cells of a mesh, or on those of one shape. Clones share large arrays.
///
/// Arrays over elements are in element order, which is not that of the mesh: [`Space::cells`] gives each
/// element's cell number in the geometry.
#[derive(Clone, Debug)]
pub struct Space {
    params: SpaceParams,
    elements: Arc<Elements>,
    restriction: Arc<Restriction>,
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
        cells.iter().try_for_each(|&cell| check(cell, &params))?;
        let up_to = cells
            .iter()
            .map(|&cell| ElementNodes::new(cell, params.degree).up_to());
        let mut shapes = Vec::new();
        for &geometry in geometries {
            let cell = geometry.cell();
            let per_element = cell.lattice(params.degree).len();
            // A level of nodes for each step upwards, and one more.
            let upwards = params.degree.vertical;
            let levels = MAX_CHUNK_NODES * (upwards + 1) / per_element;
            let chunk = ChunkSize {
                wanted: elements_per_chunk(cell, &params, geometry.kinds().len()),
                most: MAX_CHUNK_NODES / per_element,
                most_layers: (levels - 1) / upwards,
            };
            shapes.push((geometry, chunk));
        }
        let elements = Elements::new(mesh, &shapes, up_to.max().unwrap_or(0))?;
        elements.check_vertical(params.degree)?;
        let spaces = Self::on(&Arc::new(elements), &params, |shape| shape.chunks.clone())?;
        match params.with_smaller_chunks(&spaces) {
            Some(params) => Self::of_shapes(mesh, geometries, params),
            None => Ok(spaces),
        }
    }

    /// As [`Block::of_lower_degree`].
    fn of_lower_degree(spaces: &[&Self], degree: Degree) -> Result<Vec<Self>, SpaceError> {
        let Some(finer) = spaces.first() else {
            return Err(SpaceError::NoCells);
        };
        let is_own = |(block, space): (usize, &&Self)| {
            space.restriction.block == block && Arc::ptr_eq(&space.elements, &finer.elements)
        };
        let (found, blocks) = (spaces.len(), finer.restriction.blocks);
        if found != blocks || !spaces.iter().enumerate().all(is_own) {
            return Err(SpaceError::NotAllBlocks { found, blocks });
        }
        if !degree.is_lower(finer.degree()) {
            let of = finer.degree();
            return Err(SpaceError::NotLower { degree, of });
        }
        let params = SpaceParams {
            degree,
            ..finer.params.clone()
        };
        let mut shapes = finer.elements.shapes.iter();
        shapes.try_for_each(|shape| check(shape.cell, &params))?;
        finer.elements.check_vertical(degree)?;
        Self::with_joined_chunks(&finer.elements, params)
    }

    /// The spaces on the elements of all shapes, their chunks joined as far as the nodes fit.
    fn with_joined_chunks(
        elements: &Arc<Elements>,
        mut params: SpaceParams,
    ) -> Result<Vec<Self>, SpaceError> {
        loop {
            let spaces = Self::on(elements, &params, |shape| {
                let count = shape.cells.len();
                shape.joined_chunks(elements_per_chunk(shape.cell, &params, count))
            })?;
            match params.with_smaller_chunks(&spaces) {
                Some(smaller) => params = smaller,
                None => return Ok(spaces),
            }
        }
    }

    /// The spaces on the elements of all shapes, given their chunks.
    fn on(
        elements: &Arc<Elements>,
        params: &SpaceParams,
        chunks: impl Fn(&ShapeElements) -> Vec<Range<usize>>,
    ) -> Result<Vec<Self>, SpaceError> {
        let shapes = elements.shapes.iter();
        let numbered = |shape: &ShapeElements| NumberedElements {
            chunks: chunks(shape),
            layers: shape.layers,
            are_on_lines: elements.entities.are_on_lines(),
            nodes: ElementNodes::new(shape.cell, params.degree),
        };
        let numbered: Vec<NumberedElements> = shapes.map(numbered).collect();
        let restrictions = numbering::restrictions(&elements.entities, &numbered)?;
        let nodes = restrictions.first().map_or(0, |it| it.nodes as u64);
        check_entries(nodes, params.components)?;
        let space = |restriction| Self {
            params: params.clone(),
            elements: elements.clone(),
            restriction: Arc::new(restriction),
        };
        Ok(restrictions.into_iter().map(space).collect())
    }

    /// The elements of this shape.
    fn own_elements(&self) -> &ShapeElements {
        &self.elements.shapes[self.restriction.block]
    }

    /// The parameters of the space.
    pub fn params(&self) -> &SpaceParams {
        &self.params
    }

    /// The shape of the elements.
    pub fn cell(&self) -> Cell {
        self.own_elements().cell
    }

    /// Dimension of the elements.
    pub fn dim(&self) -> usize {
        self.cell().dim()
    }

    /// Polynomial degree.
    pub fn degree(&self) -> Degree {
        self.params.degree
    }

    /// Numbers per node.
    pub fn components(&self) -> usize {
        self.params.components
    }

    /// The memory layout of components in L-vectors.
    pub fn layout(&self) -> Layout {
        self.params.layout
    }

    /// Whether the mesh has periodic sides, so that distant elements may share a node.
    pub fn is_periodic(&self) -> bool {
        self.elements.is_periodic
    }

    /// Places on the boundary of the whole mesh where cells touch without being joined.
    pub fn unjoined(&self) -> &Unjoined {
        &self.elements.unjoined
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.cells().len()
    }

    /// Each element's cell number in the geometry.
    pub fn cells(&self) -> &[u32] {
        &self.own_elements().cells
    }

    /// Number of nodes of an element; (degree + 1)³ for a hexahedron.
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

    /// The node and the component of an index in L-vectors.
    pub fn node_of(&self, entry: usize) -> (usize, usize) {
        match self.layout() {
            Layout::Interleaved => (entry / self.components(), entry % self.components()),
            Layout::Blocked => (entry % self.nodes(), entry / self.nodes()),
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

    /// The elements that have a node, ascending.
    pub fn elements_with(&self, node: usize) -> Vec<usize> {
        let restriction = &self.restriction;
        let of_chunk = |(chunk, local): (usize, usize)| {
            let has = move |&element: &usize| {
                let mut nodes = restriction.element(element);
                nodes.any(|(_, other)| other as usize == local)
            };
            restriction.chunks[chunk].elements.clone().filter(has)
        };
        restriction.chunks_with(node).flat_map(of_chunk).collect()
    }

    /// The nodes of all elements, `[element][node]`.
    pub fn listed_nodes(&self) -> Vec<u32> {
        let per_element = self.nodes_per_element();
        let mut nodes = vec![0; self.elements() * per_element];
        parallel::chunks(&mut nodes, per_element, |element, nodes| {
            self.write_element_nodes(element, nodes);
        });
        nodes
    }

    /// All tagged facets of the mesh.
    pub fn boundary(&self) -> &BoundaryFacets {
        &self.own_elements().boundary
    }

    /// Memory of the space, in bytes.
    pub fn bytes(&self) -> usize {
        // Those of all shapes are counted with the first.
        let entities = match self.restriction.block {
            0 => self.elements.entities.bytes(),
            _ => 0,
        };
        let boundary = size_of_val(self.boundary().all());
        self.restriction.bytes() + size_of_val(self.cells()) + boundary + entities
    }
}

/// Fails unless the entries of L-vectors fit 32 bits.
fn check_entries(nodes: u64, components: usize) -> Result<(), SpaceError> {
    let dofs = nodes.saturating_mul(components as u64);
    match u32::try_from(dofs) {
        Ok(_) => Ok(()),
        Err(_) => Err(SpaceError::TooManyEntries { dofs }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_32_bits_cannot_count_are_an_error() {
        check_entries(u64::from(u32::MAX) / 3, 3).unwrap();
        let error = check_entries(u64::from(u32::MAX) / 2, 3).unwrap_err();
        let text = "vectors of 6442450941 entries; at most 4294967295 can be numbered";
        assert_eq!(error.to_string(), text);
        check_entries(u64::MAX, 3).unwrap_err();
    }
}
