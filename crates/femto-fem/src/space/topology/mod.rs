//! Vertices, edges and faces of the elements, each numbered once.

mod chains;
mod facets;

use std::ops::Range;

use rayon::prelude::*;

use crate::reference::CellShape;

use super::SpaceError;
use chains::Chains;
pub(super) use facets::{Cells, Hexahedra, Tetrahedra, Triangles};
use facets::{Facet, Facets};

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// The entities (vertices, edges, faces) of the elements.
///
/// Vertices and edges are numbered in the order in which the elements meet them; faces follow their
/// lowest vertex. Vertex numbers take the place of mesh node numbers wherever an order of vertices
/// fixes a direction: they follow the elements, so they stay close in memory.
///
/// A triangle is no face here: as the inside of an element it has no number. Its facets, the edges,
/// are found twice, once to be numbered and once with the elements at them.
pub(super) struct Topology {
    shape: CellShape,
    /// Entities of an element: its vertices and, where they were asked for, edges and faces.
    stride: usize,
    /// Entities of each element: vertices, edges, faces, `[elements][stride]`.
    entities: Vec<u32>,
    /// Numbers of vertices, edges and faces; zero where they were not asked for.
    pub(super) counts: [usize; 3],
    /// Mesh node of each vertex.
    nodes: Vec<u32>,
    /// Vertex at each mesh node, or [`NONE`].
    vertex_at: Vec<u32>,
    facets: Facets,
}

impl Topology {
    /// Finds the entities of the elements, which are these mesh `cells` and have these mesh nodes
    /// as `vertices`, up to a dimension: 0 for vertices, 1 for edges too, 2 for faces too. Below 2
    /// faces serve only to check the mesh and to find those with tags, as a triangle's edges do.
    pub(super) fn new<S, const V: usize, const K: usize, const R: usize>(
        shape: CellShape,
        cells: &[u32],
        vertices: Vec<[u32; V]>,
        mesh_nodes: usize,
        up_to: usize,
    ) -> Result<Self, SpaceError>
    where
        S: Cells<V, K, R>,
    {
        let sizes = [V, S::EDGES.len(), S::FACETS.len()];
        let mut topology = Self {
            shape,
            stride: sizes[..=up_to.min(shape.dim() - 1)].iter().sum(),
            entities: Vec::new(),
            counts: [0; 3],
            nodes: Vec::new(),
            vertex_at: vec![NONE; mesh_nodes],
            facets: S::all(Vec::new()),
        };
        topology.entities = vec![NONE; cells.len() * topology.stride];
        topology.number_vertices(&vertices);
        drop(vertices);
        if topology.stride > V {
            topology.number_edges::<V>(S::EDGES);
        }
        topology.number_facets::<S, V, K, R>(cells)?;
        Ok(topology)
    }

    /// The shape of the elements.
    pub(super) fn shape(&self) -> CellShape {
        self.shape
    }

    /// The entities of an element: its vertices and, where asked, edges and faces.
    pub(super) fn entities(&self, element: usize) -> &[u32] {
        &self.entities[element * self.stride..][..self.stride]
    }

    fn number_vertices<const V: usize>(&mut self, vertices: &[[u32; V]]) {
        let all = self.entities.chunks_exact_mut(self.stride);
        for (entities, nodes) in all.zip(vertices) {
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

    fn number_edges<const V: usize>(&mut self, places: &[[usize; 2]]) {
        let mut edges = Chains::new(0..self.counts[0] as u32);
        for entities in self.entities.chunks_exact_mut(self.stride) {
            let vertices: [u32; V] = vertices_of(entities);
            for (edge, ends) in places.iter().enumerate() {
                let ends = ends.map(|m| vertices[m]);
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let found = edges.find(low, |&other| other == high);
                let number = found.unwrap_or_else(|| edges.push(low, high));
                entities[V + edge] = (self.counts[0] + number) as u32;
            }
        }
        self.counts[1] = edges.links.len();
    }

    fn number_facets<S, const V: usize, const K: usize, const R: usize>(
        &mut self,
        cells: &[u32],
    ) -> Result<(), SpaceError>
    where
        S: Cells<V, K, R>,
    {
        let parts = rayon::current_num_threads().min(8) as u64;
        let start = |part: u64| (self.nodes.len() as u64 * part / parts) as u32;
        let ranges = (0..parts).map(|part| start(part)..start(part + 1));
        let facets: Result<Vec<_>, SpaceError> = (ranges.collect::<Vec<_>>().into_par_iter())
            .map(|vertices| self.facets_at::<S, V, K, R>(vertices, cells))
            .collect();
        let facets = facets?;
        let (per_element, before) = (S::FACETS.len(), V + S::EDGES.len());
        if self.stride == before + per_element {
            let all = facets.iter().flat_map(|part| &part.links);
            let first = (self.counts[0] + self.counts[1]) as u32;
            for (number, (_, facet)) in (first..).zip(all) {
                for side in facet.sides.into_iter().filter(|&side| side != NONE) {
                    let (element, local) =
                        (side as usize / per_element, side as usize % per_element);
                    self.entities[element * self.stride + before + local] = number;
                }
                self.counts[2] += 1;
            }
        }
        self.facets = S::all(facets);
        Ok(())
    }

    /// The facets whose lowest vertex is one of `vertices`.
    fn facets_at<S, const V: usize, const K: usize, const R: usize>(
        &self,
        vertices: Range<u32>,
        cells: &[u32],
    ) -> Result<Chains<Facet<R>>, SpaceError>
    where
        S: Cells<V, K, R>,
    {
        let mut facets = Chains::new(vertices.clone());
        for element in 0..cells.len() {
            let corners: [u32; V] = vertices_of(self.entities(element));
            // Vertices are numbered along the elements, so most elements are left out at once.
            if corners.iter().all(|v| *v < vertices.start)
                || corners.iter().all(|v| *v >= vertices.end)
            {
                continue;
            }
            for (facet, places) in S::FACETS.iter().enumerate() {
                let side = (S::FACETS.len() * element + facet) as u32;
                let (lowest, new) = S::facet(places.map(|m| corners[m]), side);
                if !vertices.contains(&lowest) {
                    continue;
                }
                match facets.find(lowest, |other: &Facet<R>| other.rest == new.rest) {
                    None => _ = facets.push(lowest, new),
                    Some(number) => {
                        let joined = facets.links[number].1.join(new);
                        joined.map_err(|sides| self.bad_facet::<S, V, K, R>(sides, cells))?;
                    }
                }
            }
        }
        Ok(facets)
    }

    /// The elements' sides (facets·element + local facet) at the facet with these mesh nodes, in
    /// cyclic order.
    pub(super) fn sides(&self, nodes: &[u32]) -> Option<[u32; 2]> {
        let mut vertices = [NONE; 4];
        for (vertex, &node) in vertices.iter_mut().zip(nodes) {
            // A node that no element has is NONE: then the facet is not found.
            *vertex = *self.vertex_at.get(node as usize)?;
        }
        self.facets.sides(vertices.get(..nodes.len())?)
    }

    /// Why the sides of two elements, or of three, cannot be one facet.
    fn bad_facet<S, const V: usize, const K: usize, const R: usize>(
        &self,
        sides: [u32; 3],
        cells: &[u32],
    ) -> SpaceError
    where
        S: Cells<V, K, R>,
    {
        let facets = S::FACETS.len();
        let cell = |side: u32| cells[side as usize / facets];
        let nodes = |side: u32| {
            let vertices: [u32; V] = vertices_of(self.entities(side as usize / facets));
            let corners = S::cyclic(S::FACETS[side as usize % facets]);
            corners.map(|m| self.nodes[vertices[m] as usize]).to_vec()
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

/// The vertices of an element, the first of its entities.
fn vertices_of<const V: usize>(entities: &[u32]) -> [u32; V] {
    std::array::from_fn(|m| entities[m])
}
