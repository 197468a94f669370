//! Vertices, edges and faces of the elements, each numbered once.

mod chains;
mod facets;
mod periodic;

use std::ops::Range;

use rayon::prelude::*;

use femto_element::Cell;

use super::SpaceError;
use super::element_nodes::{class, faces};
use chains::Chains;
use facets::Facet;
pub(super) use periodic::Classes;

/// Marks a missing number.
pub(super) const NONE: u32 = u32::MAX;

/// The entities (vertices, edges, faces) of the elements of all shapes.
///
/// Vertices and edges are numbered in the order in which elements meet them; faces follow their lowest
/// vertex. Vertex numbers replace mesh node numbers wherever an order of vertices fixes a direction: they
/// follow the elements, so they stay close in memory.
///
/// Facets are found for every mesh, to check it and to know their elements. Those of plane cells are edges,
/// which are found twice: once for numbering and once with their elements.
pub(super) struct Topology {
    /// By shape.
    blocks: Vec<Block>,
    /// Numbers of vertices, edges, triangles and quadrilaterals; zero if not requested.
    pub(super) counts: [usize; 4],
    /// Mesh node of each vertex.
    nodes: Vec<u32>,
    /// Vertex at each mesh node, or [`NONE`].
    vertex_at: Vec<u32>,
    /// By ranges of the lowest vertex.
    facets: Vec<Chains<Facet>>,
    /// Periodic sides, as found by [`Topology::join_sides`], ascending.
    periodic: Vec<u32>,
}

/// The entities of the elements of one shape.
pub(super) struct Block {
    cell: Cell,
    /// Entities of an element: its vertices and, if requested, edges and faces.
    stride: usize,
    /// `[elements][stride]`
    entities: Vec<u32>,
    /// Number of the first element's first facet. Numbers continue element by element, then block by block:
    /// a *side* is a facet of one element.
    first_side: u32,
}

/// A side: the block, the element in it, and the element's facet.
pub(super) struct Side {
    pub(super) block: usize,
    pub(super) element: usize,
    pub(super) facet: usize,
}

impl Block {
    /// The entities of an element: its vertices and, if requested, edges and faces.
    pub(super) fn entities(&self, element: usize) -> &[u32] {
        &self.entities[element * self.stride..][..self.stride]
    }

    /// Visits the entities of a column's elements: over each entity of the bottom, all from below to above. So the
    /// numbers of entities of a kind on a line grow by the same step from element to element.
    pub(super) fn walk_lines(&self, column: Range<usize>, visit: &mut impl FnMut(u32)) {
        for &[below, between, above] in self.cell.lines() {
            let mut meet = |element: usize, slot: Option<usize>| {
                let entity = slot.and_then(|slot| self.entities(element).get(slot));
                entity.into_iter().for_each(|&entity| visit(entity));
            };
            for element in column.clone() {
                meet(element, below);
                meet(element, between);
            }
            meet(column.end - 1, above);
        }
    }

    fn elements(&self) -> usize {
        self.entities.len() / self.stride
    }

    /// The number of an element's first side.
    fn side(&self, element: usize) -> u32 {
        self.first_side + (element * self.cell.facets().len()) as u32
    }
}

impl Topology {
    /// Finds the entities of elements, given for each shape by the mesh nodes at their `vertices`,
    /// `[elements][vertices]`, up to a dimension: 0 for vertices, 1 also for edges, 2 also for faces.
    ///
    /// `cells` gives the mesh cell number of a block's element, for errors.
    pub(super) fn new(
        shapes: &[(Cell, Vec<u32>)],
        mesh_nodes: usize,
        up_to: usize,
        cells: impl Fn(usize, usize) -> u32 + Sync,
    ) -> Result<Self, SpaceError> {
        let mut topology = Self::with_vertices(shapes, mesh_nodes, up_to);
        let (edges, facets) = rayon::join(
            || (up_to > 0).then(|| topology.edges()),
            || topology.find_facets(&cells),
        );
        topology.facets = facets?;
        if let Some(edges) = edges {
            topology.number_edges(edges);
        }
        topology.check_shapes(&cells)?;
        if up_to > 1 {
            topology.number_faces();
        }
        Ok(topology)
    }

    /// As [`Self::new`] without searching for facets: for surfaces, where more than two elements may share
    /// one.
    pub(super) fn without_facets(
        shapes: &[(Cell, Vec<u32>)],
        mesh_nodes: usize,
        up_to: usize,
    ) -> Self {
        let mut topology = Self::with_vertices(shapes, mesh_nodes, up_to);
        if up_to > 0 {
            let edges = topology.edges();
            topology.number_edges(edges);
        }
        topology
    }

    /// The entities, with only vertices numbered.
    fn with_vertices(shapes: &[(Cell, Vec<u32>)], mesh_nodes: usize, up_to: usize) -> Self {
        let (mut blocks, mut first_side) = (Vec::new(), 0);
        for (cell, vertices) in shapes {
            let sizes = [cell.vertices(), cell.edges().len(), faces(*cell).len()];
            let stride: usize = sizes[..=up_to].iter().sum();
            let elements = vertices.len() / cell.vertices();
            blocks.push(Block {
                cell: *cell,
                stride,
                entities: vec![NONE; elements * stride],
                first_side,
            });
            first_side += (elements * cell.facets().len()) as u32;
        }
        let mut topology = Self {
            blocks,
            counts: [0; 4],
            nodes: Vec::new(),
            vertex_at: vec![NONE; mesh_nodes],
            facets: Vec::new(),
            periodic: Vec::new(),
        };
        topology.number_vertices(shapes);
        topology
    }

    /// The entities of the elements of one shape.
    pub(super) fn block(&self, block: usize) -> &Block {
        &self.blocks[block]
    }

    /// Dimension of the elements.
    pub(super) fn dim(&self) -> usize {
        self.blocks.first().map_or(0, |block| block.cell.dim())
    }

    /// Whether facets have a given shape.
    pub(super) fn facet_shapes(&self) -> impl Fn(Cell) -> bool {
        move |shape| {
            let mut facets = self.blocks.iter().flat_map(|block| block.cell.facets());
            facets.any(|facet| facet.cell == shape)
        }
    }

    fn number_vertices(&mut self, shapes: &[(Cell, Vec<u32>)]) {
        for (block, (cell, vertices)) in self.blocks.iter_mut().zip(shapes) {
            let all = block.entities.chunks_exact_mut(block.stride);
            for (entities, nodes) in all.zip(vertices.chunks_exact(cell.vertices())) {
                for (entity, &node) in entities.iter_mut().zip(nodes) {
                    let vertex = &mut self.vertex_at[node as usize];
                    if *vertex == NONE {
                        *vertex = self.nodes.len() as u32;
                        self.nodes.push(node);
                    }
                    *entity = *vertex;
                }
            }
        }
        self.counts[0] = self.nodes.len();
    }

    /// Finds the edges: their number, and for each block the elements' edges, `[elements][edges]`.
    fn edges(&self) -> (usize, Vec<Vec<u32>>) {
        let mut edges = Chains::new(0..self.counts[0] as u32);
        let of_block = |block: &Block| {
            let places = block.cell.edges();
            let mut own = Vec::with_capacity(block.elements() * places.len());
            for vertices in block.entities.chunks_exact(block.stride) {
                for ends in places {
                    let ends = ends.map(|m| vertices[m]);
                    let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                    let found = edges.find(low, |&other| other == high);
                    let number = found.unwrap_or_else(|| edges.push(low, high));
                    own.push((self.counts[0] + number) as u32);
                }
            }
            own
        };
        let numbers = self.blocks.iter().map(of_block).collect();
        (edges.links.len(), numbers)
    }

    fn number_edges(&mut self, (count, numbers): (usize, Vec<Vec<u32>>)) {
        self.counts[1] = count;
        for (block, numbers) in self.blocks.iter_mut().zip(numbers) {
            let (before, edges) = (block.cell.vertices(), block.cell.edges().len());
            let elements = block.entities.par_chunks_exact_mut(block.stride);
            let elements = elements.zip(numbers.par_chunks_exact(edges));
            elements.for_each(|(own, edges)| {
                own[before..][..edges.len()].copy_from_slice(edges);
            });
        }
    }

    /// Finds the facets and their elements.
    fn find_facets(
        &self,
        cells: &(impl Fn(usize, usize) -> u32 + Sync),
    ) -> Result<Vec<Chains<Facet>>, SpaceError> {
        let parts = rayon::current_num_threads().min(8) as u64;
        let start = |part: u64| (self.nodes.len() as u64 * part / parts) as u32;
        let ranges = (0..parts).map(|part| start(part)..start(part + 1));
        (ranges.collect::<Vec<_>>().into_par_iter())
            .map(|vertices| self.facets_at(vertices, cells))
            .collect()
    }

    /// Numbers the faces, triangles first.
    fn number_faces(&mut self) {
        let mut number = (self.counts[0] + self.counts[1]) as u32;
        for shape in [Cell::Triangle, Cell::Quadrilateral] {
            let first = number;
            let has = |block: &Block| faces(block.cell).iter().any(|face| face.cell == shape);
            if !self.blocks.iter().any(has) {
                continue;
            }
            let links = self.facets.iter().flat_map(|part| &part.links);
            for (_, facet) in links.filter(|(_, facet)| facet.cell() == shape) {
                for side in facet.sides.into_iter().filter(|&side| side != NONE) {
                    let Side {
                        block,
                        element,
                        facet,
                    } = side_of(&self.blocks, side);
                    let block = &mut self.blocks[block];
                    let before = block.cell.vertices() + block.cell.edges().len();
                    block.entities[element * block.stride + before + facet] = number;
                }
                number += 1;
            }
            self.counts[class(shape.vertices())] = (number - first) as usize;
        }
    }

    /// The facets whose lowest vertex is one of `vertices`.
    fn facets_at(
        &self,
        vertices: Range<u32>,
        cells: &impl Fn(usize, usize) -> u32,
    ) -> Result<Chains<Facet>, SpaceError> {
        let mut facets = Chains::new(vertices.clone());
        let mut at = [0; 4];
        for block in &self.blocks {
            let own = block.cell.facets();
            for element in 0..block.elements() {
                let corners = &block.entities(element)[..block.cell.vertices()];
                // Vertices are numbered along the elements, so most elements are skipped at once.
                if corners.iter().all(|v| *v < vertices.start)
                    || corners.iter().all(|v| *v >= vertices.end)
                {
                    continue;
                }
                for (side, shape) in (block.side(element)..).zip(own) {
                    for (vertex, &m) in at.iter_mut().zip(shape.vertices) {
                        *vertex = corners[m];
                    }
                    let (lowest, new) = Facet::new(&at[..shape.vertices.len()], side);
                    if !vertices.contains(&lowest) {
                        continue;
                    }
                    match facets.find(lowest, |other: &Facet| other.rest == new.rest) {
                        None => _ = facets.push(lowest, new),
                        Some(number) => {
                            let joined = facets.links[number].1.join(&new);
                            joined.map_err(|sides| self.bad_facet(sides, cells))?;
                        }
                    }
                }
            }
        }
        Ok(facets)
    }

    /// Fails if a triangle of one solid lies on a quadrilateral of another, sharing three of its vertices.
    fn check_shapes(&self, cells: &impl Fn(usize, usize) -> u32) -> Result<(), SpaceError> {
        let facets = self.blocks.iter().flat_map(|block| block.cell.facets());
        let sizes = facets.map(|facet| facet.vertices.len());
        let (least, most) = (sizes.clone().min(), sizes.max());
        if least == most {
            return Ok(());
        }
        for part in &self.facets {
            let open = part.links.iter().map(|(_, facet)| facet);
            let open = open.filter(|facet| facet.sides[1] == NONE);
            for first in open.map(|facet| facet.sides[0]) {
                let corners = self.corners(first);
                if Some(corners.len()) != most {
                    continue;
                }
                for left_out in 0..corners.len() {
                    let mut rest = corners.clone();
                    rest.remove(left_out);
                    if let Some([second, _]) = facets::sides(&self.facets, &rest) {
                        return Err(SpaceError::DisagreeingFaces {
                            cells: [first, second].map(|side| self.cell_at(side, cells)),
                            first: self.around(first),
                            second: self.around(second),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// The two sides of the facet with these mesh nodes, going round it; the second, or both, may be
    /// missing.
    pub(super) fn sides(&self, facet: Cell, nodes: &[u32]) -> Option<(Side, Option<Side>)> {
        let mut vertices = [NONE; 4];
        for (&place, &node) in facets::around(facet).iter().zip(nodes) {
            // A node that no element has is NONE, and the facet is not found.
            vertices[place] = *self.vertex_at.get(node as usize)?;
        }
        let [first, second] = facets::sides(&self.facets, vertices.get(..facet.vertices())?)?;
        let second = (second != NONE).then(|| side_of(&self.blocks, second));
        Some((side_of(&self.blocks, first), second))
    }

    /// The mesh cell number of the element at a side.
    fn cell_at(&self, side: u32, cells: impl Fn(usize, usize) -> u32) -> u32 {
        let Side { block, element, .. } = side_of(&self.blocks, side);
        cells(block, element)
    }

    /// The cell, the entities and the facet of the element at a side.
    fn element_at(&self, side: u32) -> (Cell, &[u32], usize) {
        let Side {
            block,
            element,
            facet,
        } = side_of(&self.blocks, side);
        let block = &self.blocks[block];
        (block.cell, block.entities(element), facet)
    }

    /// The vertices of a facet, in its own order, and its shape.
    fn vertices(&self, side: u32) -> (Vec<u32>, Cell) {
        let (cell, vertices, facet) = self.element_at(side);
        let facet = cell.facets()[facet];
        let own = facet.vertices.iter().map(|&m| vertices[m]);
        (own.collect(), facet.cell)
    }

    /// The vertices of a facet, going round it.
    fn corners(&self, side: u32) -> Vec<u32> {
        let (vertices, shape) = self.vertices(side);
        let places = facets::around(shape).iter();
        places.map(|&place| vertices[place]).collect()
    }

    /// The mesh nodes of a facet, going round it.
    fn around(&self, side: u32) -> Vec<u32> {
        let corners = self.corners(side).into_iter();
        corners.map(|vertex| self.nodes[vertex as usize]).collect()
    }

    /// Why the sides of two or three elements cannot be one facet.
    fn bad_facet(&self, sides: [u32; 3], cells: impl Fn(usize, usize) -> u32) -> SpaceError {
        let [first, second, third] = sides;
        let cell = |side| self.cell_at(side, &cells);
        match third {
            NONE => SpaceError::TwistedFace {
                cells: [cell(first), cell(second)],
                first: self.around(first),
                second: self.around(second),
            },
            _ => SpaceError::CrowdedFacet {
                cells: sides.map(cell),
                nodes: self.around(first),
            },
        }
    }
}

/// The element and facet of a side.
fn side_of(blocks: &[Block], side: u32) -> Side {
    let block = blocks.partition_point(|block| block.first_side <= side) - 1;
    let own = (side - blocks[block].first_side) as usize;
    let facets = blocks[block].cell.facets().len();
    Side {
        block,
        element: own / facets,
        facet: own % facets,
    }
}
