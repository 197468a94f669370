//! Vertices, edges and faces of the elements, each numbered once.

mod chains;
mod columns;
mod edges;
mod entities;
mod facets;
mod periodic;
mod ranges;
mod sides;

use std::sync::atomic::Ordering::Relaxed;

use femto_element::Cell;

use crate::parallel;

use super::SpaceError;
use super::element_nodes::faces;
use chains::Chains;
use columns::Plane;
use entities::side_of;
pub(super) use entities::{Block, Entities, Side};
use facets::Facet;
pub(super) use periodic::Classes;
use ranges::{VertexRange, VertexRanges};

/// The sides of a facet whose elements lie on the same side of it, if there is one.
type Folded = Option<[u32; 2]>;

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
    /// Of columns, which have no lists of vertices and facets, the plane cells below them.
    plane: Option<Plane>,
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
        let ranges = VertexRanges::new(&topology.entities);
        let (edges, facets) = rayon::join(
            || (up_to > 0).then(|| topology.find_edges(&ranges)),
            || topology.find_facets(&ranges, &cells),
        );
        let (facets, folded) = facets?;
        topology.facets = facets;
        if let Some(edges) = edges {
            topology.number_edges(&edges);
        }
        topology.check_shapes(&cells)?;
        if let Some(sides) = folded {
            return Err(SpaceError::FoldedCells {
                cells: sides.map(|side| topology.cell_at(side, &cells)),
                nodes: topology.around(sides[0]),
            });
        }
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
            let ranges = VertexRanges::new(&topology.entities);
            let edges = topology.find_edges(&ranges);
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
                entities: parallel::map(elements * stride, |_| NONE),
                layers: 1,
                outwards: (0..cell.facets().len())
                    .map(|it| cell.is_facet_right_handed(it))
                    .collect(),
                first_side,
            });
            first_side += (elements * cell.facets().len()) as u32;
        }
        let counts = [0; 4];
        let mut topology = Self {
            entities: Entities { blocks, counts },
            nodes: Vec::new(),
            vertex_at: Vec::new(),
            facets: Vec::new(),
            periodic: Vec::new(),
            plane: None,
        };
        topology.number_vertices(shapes, mesh_nodes);
        topology
    }

    /// Dimension of the elements.
    pub(super) fn dim(&self) -> usize {
        self.entities
            .blocks
            .first()
            .map_or(0, |block| block.cell.dim())
    }

    /// Numbers vertices by the first element that has them.
    fn number_vertices(&mut self, shapes: &[(Cell, Vec<u32>)], mesh_nodes: usize) {
        // Of each mesh node the first place in the elements' vertices, and then the vertex.
        let at = parallel::unset(mesh_nodes);
        let mut firsts = vec![0];
        for (_, vertices) in shapes {
            firsts.push(firsts[firsts.len() - 1] + vertices.len());
        }
        for (first, (_, vertices)) in firsts.iter().zip(shapes) {
            parallel::for_each(vertices.len(), |place| {
                let (at, place) = (&at[vertices[place] as usize], (first + place) as u32);
                if at.load(Relaxed) > place {
                    at.fetch_min(place, Relaxed);
                }
            });
        }
        for (first, (_, vertices)) in firsts.iter().zip(shapes) {
            let mut new = parallel::gather(vertices.len(), |place, new| {
                let node = vertices[place];
                let is_first = at[node as usize].load(Relaxed) == (first + place) as u32;
                new.extend(is_first.then_some(node));
            });
            self.nodes.append(&mut new);
        }
        parallel::for_each(self.nodes.len(), |vertex| {
            at[self.nodes[vertex] as usize].store(vertex as u32, Relaxed);
        });
        self.vertex_at = parallel::written(at);
        for (block, (cell, vertices)) in self.entities.blocks.iter_mut().zip(shapes) {
            let count = cell.vertices();
            parallel::chunks(&mut block.entities, block.stride, |element, entities| {
                let nodes = &vertices[element * count..][..count];
                for (entity, &node) in entities.iter_mut().zip(nodes) {
                    *entity = self.vertex_at[node as usize];
                }
            });
        }
        self.entities.counts[0] = self.nodes.len();
    }

    /// Finds the facets and their elements.
    fn find_facets(
        &self,
        ranges: &VertexRanges,
        cells: &(impl Fn(usize, usize) -> u32 + Sync),
    ) -> Result<(Vec<Chains<Facet>>, Folded), SpaceError> {
        let found = ranges.map(|range| self.facets_at((ranges, range), cells));
        let found: Vec<_> = found.into_iter().collect::<Result<_, _>>()?;
        let (facets, folded): (_, Vec<_>) = found.into_iter().unzip();
        Ok((facets, folded.into_iter().flatten().next()))
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
            self.entities.counts[shape.vertices() - 1] = (number - first) as usize;
        }
    }

    /// The facets whose lowest vertex is in a range.
    fn facets_at(
        &self,
        (ranges, range): (&VertexRanges, &VertexRange),
        cells: &impl Fn(usize, usize) -> u32,
    ) -> Result<(Chains<Facet>, Folded), SpaceError> {
        let (mut facets, mut folded) = (Chains::new(range.vertices.clone()), None);
        let mut at = [0; 4];
        for (number, block) in self.entities.blocks.iter().enumerate() {
            let own = block.cell.facets();
            for element in ranges.elements((number, block), range) {
                let corners = block.vertices(element);
                for (side, shape) in (block.side(element)..).zip(own) {
                    for (vertex, &m) in at.iter_mut().zip(shape.vertices) {
                        *vertex = corners[m];
                    }
                    let (lowest, new) = Facet::new(&at[..shape.vertices.len()], side);
                    if !range.vertices.contains(&lowest) {
                        continue;
                    }
                    let rest = new.rest;
                    match facets.find(lowest, &rest, |other: &Facet| other.rest == rest) {
                        None => _ = facets.push(lowest, &rest, new),
                        Some(number) => {
                            let facet = &mut facets.links[number].1;
                            let joined = facet.join(&new);
                            joined.map_err(|sides| self.bad_facet(sides, cells))?;
                            if folded.is_none() && self.is_folded(facet) {
                                folded = Some(facet.sides);
                            }
                        }
                    }
                }
            }
        }
        Ok((facets, folded))
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

    /// Whether two right-handed elements are on the same side of their facet.
    fn is_folded(&self, facet: &Facet) -> bool {
        // Whether an element is on the left of its facet, which the vertices' numbers direct.
        let is_left = |side: u32| {
            let (block, Side { element, facet, .. }) = self.block_at(side);
            let own = block.cell.facets()[facet].vertices;
            facets::ascends(block.vertices(element), own) == block.outwards[facet]
        };
        let [first, second] = facet.sides;
        is_left(first) == is_left(second)
    }
}
