//! Vertices, edges and faces of the elements, each numbered once.

mod chains;
mod facets;

use std::ops::Range;

use rayon::prelude::*;

use femto_element::Cell;

use super::SpaceError;
use super::element_nodes::{class, faces};
use chains::Chains;
use facets::Facet;

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// The entities (vertices, edges, faces) of the elements.
///
/// Vertices and edges are numbered in the order in which the elements meet them; faces follow their
/// lowest vertex. Vertex numbers take the place of mesh node numbers wherever an order of vertices
/// fixes a direction: they follow the elements, so they stay close in memory.
///
/// Facets are found for every mesh, to check it and to know the elements at them. Those of cells in the plane are
/// edges, which are found twice: once to be numbered and once with the elements at them.
pub(super) struct Topology {
    cell: Cell,
    /// Entities of an element: its vertices and, where they were asked for, edges and faces.
    stride: usize,
    /// Entities of each element: vertices, edges, faces, `[elements][stride]`.
    entities: Vec<u32>,
    /// Numbers of vertices, edges, triangles and quadrilaterals; zero where they were not asked for.
    pub(super) counts: [usize; 4],
    /// Mesh node of each vertex.
    nodes: Vec<u32>,
    /// Vertex at each mesh node, or [`NONE`].
    vertex_at: Vec<u32>,
    /// By ranges of the lowest vertex.
    facets: Vec<Chains<Facet>>,
}

impl Topology {
    /// Finds the entities of the elements, which are these mesh `cells` and have these mesh nodes
    /// as `vertices`, `[elements][vertices]`, up to a dimension: 0 for vertices, 1 for edges too, 2 for faces too.
    pub(super) fn new(
        cell: Cell,
        cells: &[u32],
        vertices: Vec<u32>,
        mesh_nodes: usize,
        up_to: usize,
    ) -> Result<Self, SpaceError> {
        let mut topology = Self::without_facets(cell, &vertices, mesh_nodes, up_to);
        drop(vertices);
        topology.number_facets(cells, up_to > 1)?;
        Ok(topology)
    }

    /// The same without a search for facets: of a surface, where more than two elements may meet at one.
    pub(super) fn without_facets(
        cell: Cell,
        vertices: &[u32],
        mesh_nodes: usize,
        up_to: usize,
    ) -> Self {
        let sizes = [cell.vertices(), cell.edges().len(), faces(cell).len()];
        let stride = sizes[..=up_to].iter().sum();
        let elements = vertices.len() / cell.vertices();
        let mut topology = Self {
            cell,
            stride,
            entities: vec![NONE; elements * stride],
            counts: [0; 4],
            nodes: Vec::new(),
            vertex_at: vec![NONE; mesh_nodes],
            facets: Vec::new(),
        };
        topology.number_vertices(vertices);
        if up_to > 0 {
            topology.number_edges();
        }
        topology
    }

    /// The shape of the elements.
    pub(super) fn cell(&self) -> Cell {
        self.cell
    }

    /// The entities of an element: its vertices and, where asked, edges and faces.
    pub(super) fn entities(&self, element: usize) -> &[u32] {
        &self.entities[element * self.stride..][..self.stride]
    }

    fn number_vertices(&mut self, vertices: &[u32]) {
        let all = self.entities.chunks_exact_mut(self.stride);
        for (entities, nodes) in all.zip(vertices.chunks_exact(self.cell.vertices())) {
            for (entity, &node) in entities.iter_mut().zip(nodes) {
                let vertex = &mut self.vertex_at[node as usize];
                if *vertex == NONE {
                    *vertex = self.nodes.len() as u32;
                    self.nodes.push(node);
                }
                *entity = *vertex;
            }
        }
        self.counts[0] = self.nodes.len();
    }

    fn number_edges(&mut self) {
        let mut edges = Chains::new(0..self.counts[0] as u32);
        let (before, places) = (self.cell.vertices(), self.cell.edges());
        for entities in self.entities.chunks_exact_mut(self.stride) {
            let (vertices, own) = entities.split_at_mut(before);
            for (ends, own) in places.iter().zip(own) {
                let ends = ends.map(|m| vertices[m]);
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let found = edges.find(low, |&other| other == high);
                let number = found.unwrap_or_else(|| edges.push(low, high));
                *own = (self.counts[0] + number) as u32;
            }
        }
        self.counts[1] = edges.links.len();
    }

    /// Finds the facets and the elements at them; numbers faces if `numbered`, triangles first.
    fn number_facets(&mut self, cells: &[u32], numbered: bool) -> Result<(), SpaceError> {
        let parts = rayon::current_num_threads().min(8) as u64;
        let start = |part: u64| (self.nodes.len() as u64 * part / parts) as u32;
        let ranges = (0..parts).map(|part| start(part)..start(part + 1));
        let facets: Result<Vec<_>, SpaceError> = (ranges.collect::<Vec<_>>().into_par_iter())
            .map(|vertices| self.facets_at(vertices, cells))
            .collect();
        self.facets = facets?;
        if !numbered {
            return Ok(());
        }
        let faces = faces(self.cell);
        let before = self.cell.vertices() + self.cell.edges().len();
        let mut number = (self.counts[0] + self.counts[1]) as u32;
        let per_element = faces.len() as u32;
        for shape in [Cell::Triangle, Cell::Quadrilateral] {
            let first = number;
            if faces.iter().all(|face| face.cell != shape) {
                continue;
            }
            let links = self.facets.iter().flat_map(|part| &part.links);
            for (_, facet) in links.filter(|(_, facet)| facet.cell() == shape) {
                for side in facet.sides.into_iter().filter(|&side| side != NONE) {
                    let [element, local] = [side / per_element, side % per_element];
                    let place = element as usize * self.stride + before + local as usize;
                    self.entities[place] = number;
                }
                number += 1;
            }
            self.counts[class(shape.vertices())] = (number - first) as usize;
        }
        Ok(())
    }

    /// The facets whose lowest vertex is one of `vertices`.
    fn facets_at(&self, vertices: Range<u32>, cells: &[u32]) -> Result<Chains<Facet>, SpaceError> {
        let mut facets = Chains::new(vertices.clone());
        let own = self.cell.facets();
        let mut at = [0; 4];
        for element in 0..cells.len() {
            let corners = &self.entities(element)[..self.cell.vertices()];
            // Vertices are numbered along the elements, so most elements are left out at once.
            if corners.iter().all(|v| *v < vertices.start)
                || corners.iter().all(|v| *v >= vertices.end)
            {
                continue;
            }
            for (facet, shape) in own.iter().enumerate() {
                let side = (own.len() * element + facet) as u32;
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
        Ok(facets)
    }

    /// The elements' sides (facets·element + local facet) at the facet with these mesh nodes, going round it.
    pub(super) fn sides(&self, facet: Cell, nodes: &[u32]) -> Option<[u32; 2]> {
        let mut vertices = [NONE; 4];
        for (&place, &node) in facets::around(facet).iter().zip(nodes) {
            // A node that no element has is NONE: then the facet is not found.
            vertices[place] = *self.vertex_at.get(node as usize)?;
        }
        facets::sides(&self.facets, vertices.get(..facet.vertices())?)
    }

    /// Why the sides of two elements, or of three, cannot be one facet.
    fn bad_facet(&self, sides: [u32; 3], cells: &[u32]) -> SpaceError {
        let facets = self.cell.facets();
        let cell = |side: u32| cells[side as usize / facets.len()];
        let nodes = |side: u32| {
            let vertices = self.entities(side as usize / facets.len());
            let facet = facets[side as usize % facets.len()];
            let places = facets::around(facet.cell).iter();
            let corners = places.map(|&place| facet.vertices[place]);
            corners.map(|m| self.nodes[vertices[m] as usize]).collect()
        };
        if sides[2] != NONE {
            return SpaceError::CrowdedFace {
                cells: sides.map(cell),
                nodes: nodes(sides[0]),
            };
        }
        SpaceError::TwistedFace {
            cells: [cell(sides[0]), cell(sides[1])],
            first: nodes(sides[0]),
            second: nodes(sides[1]),
        }
    }
}
