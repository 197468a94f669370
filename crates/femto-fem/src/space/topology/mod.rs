//! Vertices, edges and faces of the elements, each numbered once.

mod chains;
mod edges;
mod entities;
mod facets;
mod periodic;

use std::ops::Range;

use rayon::prelude::*;

use femto_element::Cell;

use crate::pages;

use super::SpaceError;
use super::element_nodes::{class, faces};
use chains::Chains;
use entities::side_of;
pub(super) use entities::{Block, Entities, Side};
use facets::Facet;
pub(super) use periodic::Classes;

/// Marks a missing number.
pub(super) const NONE: u32 = u32::MAX;

/// The entities while a mesh is numbered, with what else is known of them.
///
/// Vertices are numbered in the order in which elements meet them. So are edges and faces within each range of
/// their lowest vertex; there is a range for each thread, but numbers of nodes do not depend on those of edges and
/// faces. Vertex numbers replace mesh node numbers wherever an order of vertices fixes a direction: they
/// follow the elements, so they stay close in memory.
///
/// Facets are found for every mesh, to check it and to know their elements. Those of plane cells are edges,
/// which are found twice: once for numbering and once with their elements.
pub(super) struct Topology {
    pub(super) entities: Entities,
    /// Mesh node of each vertex.
    nodes: Vec<u32>,
    /// Vertex at each mesh node, or [`NONE`].
    vertex_at: Vec<u32>,
    /// By ranges of the lowest vertex.
    facets: Vec<Chains<Facet>>,
    /// Periodic sides, as found by [`Topology::join_sides`], ascending.
    periodic: Vec<u32>,
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
            || (up_to > 0).then(|| topology.find_edges()),
            || topology.find_facets(&cells),
        );
        topology.facets = facets?;
        if let Some(edges) = edges {
            topology.number_edges(&edges);
        }
        topology.check_shapes(&cells)?;
        topology.check_folds(&cells)?;
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
            let edges = topology.find_edges();
            topology.number_edges(&edges);
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
                entities: pages::filled(elements * stride, NONE),
                first_side,
            });
            first_side += (elements * cell.facets().len()) as u32;
        }
        let counts = [0; 4];
        let mut topology = Self {
            entities: Entities { blocks, counts },
            nodes: Vec::new(),
            vertex_at: pages::filled(mesh_nodes, NONE),
            facets: Vec::new(),
            periodic: Vec::new(),
        };
        topology.number_vertices(shapes);
        topology
    }

    /// Dimension of the elements.
    pub(super) fn dim(&self) -> usize {
        self.entities
            .blocks
            .first()
            .map_or(0, |block| block.cell.dim())
    }

    fn number_vertices(&mut self, shapes: &[(Cell, Vec<u32>)]) {
        for (block, (cell, vertices)) in self.entities.blocks.iter_mut().zip(shapes) {
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
        self.entities.counts[0] = self.nodes.len();
    }

    /// Results for ranges of all vertices.
    fn in_parts<R: Send>(&self, of_part: impl Fn(Range<u32>) -> R + Sync) -> Vec<R> {
        // Each part looks at all elements.
        let parts = rayon::current_num_threads().min(16) as u64;
        let start = |part: u64| (self.nodes.len() as u64 * part / parts) as u32;
        let ranges = (0..parts).into_par_iter();
        ranges
            .map(|part| of_part(start(part)..start(part + 1)))
            .collect()
    }

    /// Finds the facets and their elements.
    fn find_facets(
        &self,
        cells: &(impl Fn(usize, usize) -> u32 + Sync),
    ) -> Result<Vec<Chains<Facet>>, SpaceError> {
        let parts = self.in_parts(|vertices| self.facets_at(vertices, cells));
        parts.into_iter().collect()
    }

    /// Numbers the faces, triangles first.
    fn number_faces(&mut self) {
        let mut number = (self.entities.counts[0] + self.entities.counts[1]) as u32;
        for shape in [Cell::Triangle, Cell::Quadrilateral] {
            let first = number;
            let has = |block: &Block| faces(block.cell).iter().any(|face| face.cell == shape);
            if !self.entities.blocks.iter().any(has) {
                continue;
            }
            let links = self.facets.iter().flat_map(|part| &part.links);
            for (_, facet) in links.filter(|(_, facet)| facet.cell() == shape) {
                for side in facet.sides.into_iter().filter(|&side| side != NONE) {
                    let Side {
                        block,
                        element,
                        facet,
                    } = side_of(&self.entities.blocks, side);
                    let block = &mut self.entities.blocks[block];
                    let before = block.cell.vertices() + block.cell.edges().len();
                    block.entities[element * block.stride + before + facet] = number;
                }
                number += 1;
            }
            self.entities.counts[class(shape.vertices())] = (number - first) as usize;
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
        for block in &self.entities.blocks {
            let own = block.cell.facets();
            for element in block.with_vertices_in(&vertices) {
                let corners = block.vertices(element);
                for (side, shape) in (block.side(element)..).zip(own) {
                    for (vertex, &m) in at.iter_mut().zip(shape.vertices) {
                        *vertex = corners[m];
                    }
                    let (lowest, new) = Facet::new(&at[..shape.vertices.len()], side);
                    if !vertices.contains(&lowest) {
                        continue;
                    }
                    let rest = new.rest;
                    match facets.find(lowest, &rest, |other: &Facet| other.rest == rest) {
                        None => _ = facets.push(lowest, &rest, new),
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
        let facets = self
            .entities
            .blocks
            .iter()
            .flat_map(|block| block.cell.facets());
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

    /// Fails if two right-handed elements are on the same side of their facet.
    fn check_folds(&self, cells: &impl Fn(usize, usize) -> u32) -> Result<(), SpaceError> {
        let blocks = &self.entities.blocks;
        let outwards = |block: &Block| -> Vec<bool> {
            let facets = 0..block.cell.facets().len();
            facets
                .map(|it| block.cell.is_facet_right_handed(it))
                .collect()
        };
        let outwards: Vec<Vec<bool>> = blocks.iter().map(outwards).collect();
        // Whether an element is on the left of its facet, which the vertices' numbers direct.
        let is_left = |side: u32| {
            let Side {
                block,
                element,
                facet,
            } = side_of(blocks, side);
            let own = blocks[block].cell.facets()[facet].vertices;
            facets::ascends(blocks[block].vertices(element), own) == outwards[block][facet]
        };
        let is_folded = |facet: &Facet| {
            let [first, second] = facet.sides;
            second != NONE && is_left(first) == is_left(second)
        };
        let links = self.facets.par_iter().flat_map(|part| &part.links);
        match links.find_first(|(_, facet)| is_folded(facet)) {
            None => Ok(()),
            Some((_, facet)) => Err(SpaceError::FoldedCells {
                cells: facet.sides.map(|side| self.cell_at(side, cells)),
                nodes: self.around(facet.sides[0]),
            }),
        }
    }

    /// The two sides of the facet with these mesh nodes, going round it; the second, or both, may be
    /// missing.
    pub(super) fn sides(&self, facet: Cell, nodes: &[u32]) -> Option<(Side, Option<Side>)> {
        let mut vertices = [NONE; 4];
        for (&place, &node) in facets::around(facet).iter().zip(nodes) {
            let of_elements = self.vertex_at.get(node as usize).filter(|&&it| it != NONE);
            vertices[place] = *of_elements?;
        }
        let [first, second] = facets::sides(&self.facets, vertices.get(..facet.vertices())?)?;
        let second = (second != NONE).then(|| side_of(&self.entities.blocks, second));
        Some((side_of(&self.entities.blocks, first), second))
    }

    /// The sides of one element, each with the mesh nodes at its vertices, going round; [`NONE`] beyond their number.
    pub(super) fn outer_facets(&self) -> Vec<(u32, [u32; 4])> {
        let parts = self.facets.par_iter().flat_map_iter(|part| &part.links);
        let outer = parts.filter_map(|(_, facet)| match facet.sides {
            [side, NONE] => Some(side),
            _ => None,
        });
        let nodes = outer.map(|side| {
            let mut nodes = [NONE; 4];
            for (node, corner) in nodes.iter_mut().zip(self.corners(side)) {
                *node = self.nodes[corner as usize];
            }
            (side, nodes)
        });
        nodes.collect()
    }

    /// Whether a side is on a periodic side of the mesh.
    pub(super) fn is_on_period(&self, side: u32) -> bool {
        self.periodic.binary_search(&side).is_ok()
    }

    /// The mesh cell number of the element at a side.
    fn cell_at(&self, side: u32, cells: impl Fn(usize, usize) -> u32) -> u32 {
        let Side { block, element, .. } = side_of(&self.entities.blocks, side);
        cells(block, element)
    }

    /// The cell, the entities and the facet of the element at a side.
    fn element_at(&self, side: u32) -> (Cell, &[u32], usize) {
        let Side {
            block,
            element,
            facet,
        } = side_of(&self.entities.blocks, side);
        let block = &self.entities.blocks[block];
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
