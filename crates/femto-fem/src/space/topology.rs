//! Vertices, edges and faces of the hexahedra, each numbered once.

use std::ops::Range;

use rayon::prelude::*;

use crate::reference::cell::{HEX_EDGES, HEX_FACES};

use super::SpaceError;

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// Corners of a lexicographic face in cyclic order.
const CYCLIC: [usize; 4] = [0, 1, 3, 2];

/// The entities (vertices, edges, faces) of the elements.
///
/// Vertices and edges are numbered in the order in which the elements meet them; faces follow their
/// lowest vertex. Vertex numbers take the place of mesh node numbers wherever an order of vertices
/// fixes a direction: they follow the elements, so they stay close in memory.
pub(super) struct Topology {
    /// Entities of an element: 8 (vertices only) or 26.
    stride: usize,
    /// Entities of each element: 8 vertices, 12 edges, 6 faces, `[elements][stride]`.
    entities: Vec<u32>,
    /// Numbers of vertices, edges and faces; no edges and no faces where only vertices were asked.
    pub(super) counts: [usize; 3],
    /// Mesh node of each vertex.
    nodes: Vec<u32>,
    /// Vertex at each mesh node, or [`NONE`].
    vertex_at: Vec<u32>,
    /// All faces, by ranges of the lowest vertex.
    faces: Vec<Chains<Face>>,
}

/// A face, met by one or two cells.
struct Face {
    /// The vertices other than the lowest, ascending.
    rest: [u32; 3],
    /// The vertex opposite to the lowest.
    opposite: u32,
    /// 6·element + local face, of the first and second element, or [`NONE`].
    sides: [u32; 2],
}

impl Topology {
    /// Finds the entities of the elements, which are these mesh `cells` and have these mesh nodes
    /// as `vertices`. Without `edges_and_faces`, edges are left out, and faces serve only to check
    /// the mesh and to find those with tags.
    pub(super) fn new(
        cells: &[u32],
        vertices: Vec<[u32; 8]>,
        mesh_nodes: usize,
        edges_and_faces: bool,
    ) -> Result<Self, SpaceError> {
        let mut topology = Self {
            stride: if edges_and_faces { 26 } else { 8 },
            entities: Vec::new(),
            counts: [0; 3],
            nodes: Vec::new(),
            vertex_at: vec![NONE; mesh_nodes],
            faces: Vec::new(),
        };
        topology.entities = vec![NONE; cells.len() * topology.stride];
        topology.number_vertices(&vertices);
        drop(vertices);
        if edges_and_faces {
            topology.number_edges();
        }
        topology.number_faces(cells)?;
        Ok(topology)
    }

    /// The entities of an element: 8 vertices and, where asked, 12 edges and 6 faces.
    pub(super) fn entities(&self, element: usize) -> &[u32] {
        &self.entities[element * self.stride..][..self.stride]
    }

    /// The vertices of an element.
    pub(super) fn vertices(&self, element: usize) -> [u32; 8] {
        vertices_of(self.entities(element))
    }

    fn number_vertices(&mut self, vertices: &[[u32; 8]]) {
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

    fn number_edges(&mut self) {
        let mut edges = Chains::new(0..self.counts[0] as u32);
        for entities in self.entities.chunks_exact_mut(self.stride) {
            let vertices = vertices_of(entities);
            for (edge, ends) in HEX_EDGES.iter().enumerate() {
                let ends = ends.map(|m| vertices[m]);
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let found = edges.find(low, |&other| other == high);
                let number = found.unwrap_or_else(|| edges.push(low, high));
                entities[8 + edge] = (self.counts[0] + number) as u32;
            }
        }
        self.counts[1] = edges.links.len();
    }

    fn number_faces(&mut self, cells: &[u32]) -> Result<(), SpaceError> {
        let parts = rayon::current_num_threads().min(8) as u64;
        let start = |part: u64| (self.nodes.len() as u64 * part / parts) as u32;
        let ranges = (0..parts).map(|part| start(part)..start(part + 1));
        let faces: Result<Vec<_>, SpaceError> = (ranges.collect::<Vec<_>>().into_par_iter())
            .map(|vertices| self.faces_at(vertices, cells))
            .collect();
        self.faces = faces?;
        if self.stride == 8 {
            return Ok(());
        }
        let faces = self.faces.iter().flat_map(|part| &part.links);
        let first = (self.counts[0] + self.counts[1]) as u32;
        for (number, (_, face)) in (first..).zip(faces) {
            for side in face.sides.into_iter().filter(|&side| side != NONE) {
                self.entities[side as usize / 6 * 26 + 20 + side as usize % 6] = number;
            }
            self.counts[2] += 1;
        }
        Ok(())
    }

    /// The faces whose lowest vertex is one of `vertices`.
    fn faces_at(&self, vertices: Range<u32>, cells: &[u32]) -> Result<Chains<Face>, SpaceError> {
        let mut faces = Chains::new(vertices.clone());
        for element in 0..cells.len() {
            let corners = self.vertices(element);
            // Vertices are numbered along the elements, so most elements are left out at once.
            if corners.iter().all(|v| *v < vertices.start)
                || corners.iter().all(|v| *v >= vertices.end)
            {
                continue;
            }
            for (face, places) in HEX_FACES.iter().enumerate() {
                let side = (6 * element + face) as u32;
                let (lowest, new) = Face::new(places.map(|m| corners[m]), side);
                if !vertices.contains(&lowest) {
                    continue;
                }
                match faces.find(lowest, |other: &Face| other.rest == new.rest) {
                    None => _ = faces.push(lowest, new),
                    Some(number) => {
                        let joined = faces.links[number].1.join(new);
                        joined.map_err(|sides| self.bad_face(sides, cells))?;
                    }
                }
            }
        }
        Ok(faces)
    }

    /// The elements' sides (6·element + local face) at the quadrilateral with these mesh nodes,
    /// in cyclic order.
    pub(super) fn sides(&self, nodes: [u32; 4]) -> Option<[u32; 2]> {
        let corners = CYCLIC.map(|i| self.vertex_at.get(nodes[i] as usize).copied());
        let [Some(a), Some(b), Some(c), Some(d)] = corners else {
            return None;
        };
        // A corner that no hexahedron has is NONE: then the face is not found below.
        let (lowest, face) = Face::new([a, b, c, d], NONE);
        let same = |other: &Face| other.rest == face.rest && other.opposite == face.opposite;
        let mut parts = self.faces.iter();
        let part = parts.find(|part| part.vertices.contains(&lowest))?;
        let number = part.find(lowest, same)?;
        Some(part.links[number].1.sides)
    }

    /// Why the sides of two elements, or of three, cannot be one face.
    fn bad_face(&self, sides: [u32; 3], cells: &[u32]) -> SpaceError {
        let cell = |side: u32| cells[side as usize / 6];
        let nodes = |side: u32| {
            let vertices = self.vertices(side as usize / 6);
            let corners = HEX_FACES[side as usize % 6];
            CYCLIC.map(|i| self.nodes[vertices[corners[i]] as usize])
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

fn vertices_of(entities: &[u32]) -> [u32; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|m| entities[m])
}

impl Face {
    /// The lowest vertex, and the face with these vertices at its lexicographic corners.
    ///
    /// Sorts by minima and maxima alone: branches on vertex numbers would be mispredicted.
    fn new([a, b, c, d]: [u32; 4], side: u32) -> (u32, Self) {
        // A face is its two diagonals; the one with the lowest vertex first.
        let (ad, bc) = ([a.min(d), a.max(d)], [b.min(c), b.max(c)]);
        let swap = bc[0] < ad[0];
        let [lowest, opposite] = if swap { bc } else { ad };
        let [low, high] = if swap { ad } else { bc };
        let face = Self {
            rest: [
                low.min(opposite),
                low.max(high.min(opposite)),
                high.max(opposite),
            ],
            opposite,
            sides: [side, NONE],
        };
        (lowest, face)
    }

    /// Adds the side of a second element; the sides that do not go together if it cannot.
    fn join(&mut self, new: Self) -> Result<(), [u32; 3]> {
        if self.opposite != new.opposite || self.sides[1] != NONE {
            return Err([self.sides[0], new.sides[0], self.sides[1]]);
        }
        self.sides[1] = new.sides[0];
        Ok(())
    }
}

/// Records in one list per lowest vertex. Only a handful of edges or faces share theirs, and
/// elements that follow each other look at the same lists: faster than a hash table.
struct Chains<R> {
    /// The vertices that have a list.
    vertices: Range<u32>,
    /// First record of each list, or [`NONE`].
    heads: Vec<u32>,
    /// The next record of the same list, or [`NONE`], and the record.
    links: Vec<(u32, R)>,
}

impl<R> Chains<R> {
    fn new(vertices: Range<u32>) -> Self {
        Self {
            heads: vec![NONE; vertices.len()],
            // A grid has about three edges and three faces per vertex.
            links: Vec::with_capacity(3 * vertices.len()),
            vertices,
        }
    }

    /// The number of the record at `vertex` that is the `same`.
    fn find(&self, vertex: u32, same: impl Fn(&R) -> bool) -> Option<usize> {
        let mut number = self.heads[(vertex - self.vertices.start) as usize];
        while number != NONE {
            let (next, record) = &self.links[number as usize];
            if same(record) {
                return Some(number as usize);
            }
            number = *next;
        }
        None
    }

    /// Adds a record at `vertex`; its number.
    fn push(&mut self, vertex: u32, record: R) -> usize {
        let number = self.links.len();
        let head = &mut self.heads[(vertex - self.vertices.start) as usize];
        self.links.push((*head, record));
        *head = number as u32;
        number
    }
}
