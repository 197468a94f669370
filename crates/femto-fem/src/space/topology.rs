//! Vertices, edges and faces of the hexahedra, each numbered once, and which faces are tagged.

use crate::mesh::{CellFamily, Mesh};
use crate::reference::cell::{HEX_EDGES, HEX_FACES};

use super::SpaceError;
use super::elements::Elements;

/// No number.
const NONE: u32 = u32::MAX;

/// Corners of a lexicographic face in cyclic order.
const CYCLIC: [usize; 4] = [0, 1, 3, 2];

/// The entities (vertices, edges, faces) of the elements.
///
/// Entities are numbered in the order in which the elements meet them: vertices first, then edges,
/// then faces. Vertex numbers take the place of mesh node numbers wherever an order of vertices
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
    /// All faces.
    faces: Chains<Face>,
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
    /// Finds the entities of the elements; of faces and edges only what is needed to check the
    /// mesh and to find tagged faces, unless `edges_and_faces`.
    pub(super) fn new(
        elements: &Elements,
        mesh_nodes: usize,
        edges_and_faces: bool,
    ) -> Result<Self, SpaceError> {
        let mut topology = Self {
            stride: if edges_and_faces { 26 } else { 8 },
            entities: Vec::new(),
            counts: [0; 3],
            nodes: Vec::new(),
            vertex_at: vec![NONE; mesh_nodes],
            faces: Chains::new(0),
        };
        topology.entities = vec![NONE; elements.cells.len() * topology.stride];
        topology.number_vertices(elements);
        if edges_and_faces {
            topology.number_edges();
        }
        topology.number_faces(elements)?;
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

    fn number_vertices(&mut self, elements: &Elements) {
        let all = self.entities.chunks_exact_mut(self.stride);
        for (entities, nodes) in all.zip(&elements.vertices) {
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
        let mut edges = Chains::new(self.counts[0]);
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

    fn number_faces(&mut self, elements: &Elements) -> Result<(), SpaceError> {
        let mut faces = Chains::new(self.counts[0]);
        let first = self.counts[0] + self.counts[1];
        for (element, entities) in self.entities.chunks_exact_mut(self.stride).enumerate() {
            let vertices = vertices_of(entities);
            for (face, corners) in HEX_FACES.iter().enumerate() {
                let side = (6 * element + face) as u32;
                let (lowest, new) = Face::new(corners.map(|m| vertices[m]), side);
                let number = match faces.find(lowest, |other: &Face| other.rest == new.rest) {
                    None => faces.push(lowest, new),
                    Some(number) => {
                        faces.links[number]
                            .1
                            .join(new)
                            .map_err(|sides| elements.bad_face(sides))?;
                        number
                    }
                };
                if let Some(entity) = entities.get_mut(20 + face) {
                    *entity = (first + number) as u32;
                }
            }
        }
        if self.stride == 26 {
            self.counts[2] = faces.links.len();
        }
        self.faces = faces;
        Ok(())
    }

    /// The elements' sides (6·element + local face) at the quadrilateral with these mesh nodes,
    /// in cyclic order.
    fn sides(&self, nodes: [u32; 4]) -> Option<[u32; 2]> {
        let corners = CYCLIC.map(|i| self.vertex_at.get(nodes[i] as usize).copied());
        let [Some(a), Some(b), Some(c), Some(d)] = corners else {
            return None;
        };
        let (lowest, face) = Face::new([a, b, c, d], NONE);
        let same = |other: &Face| other.rest == face.rest && other.opposite == face.opposite;
        // A corner that is no vertex of the space has no chain.
        let number = self.faces.find(lowest, same)?;
        Some(self.faces.links[number].1.sides)
    }
}

fn vertices_of(entities: &[u32]) -> [u32; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|m| entities[m])
}

impl Face {
    /// The lowest vertex, and the face with these vertices at its lexicographic corners.
    fn new(corners: [u32; 4], side: u32) -> (u32, Self) {
        let lowest = (1..4).fold(0, |low, i| if corners[i] < corners[low] { i } else { low });
        let mut rest = [1, 2, 3].map(|step| corners[lowest ^ step]);
        let opposite = rest[2];
        rest.sort_unstable();
        let face = Self {
            rest,
            opposite,
            sides: [side, NONE],
        };
        (corners[lowest], face)
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

impl Elements {
    /// Why the sides of two elements, or of three, cannot be one face.
    fn bad_face(&self, sides: [u32; 3]) -> SpaceError {
        let cell = |side: u32| self.cells[side as usize / 6];
        let nodes = |side: u32| {
            let vertices = self.vertices[side as usize / 6];
            CYCLIC.map(|i| vertices[HEX_FACES[side as usize % 6][i]])
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

/// Records in one list per lowest vertex. Only a handful of edges or faces share theirs, and
/// elements that follow each other look at the same lists: faster than a hash table.
struct Chains<R> {
    /// First record at each vertex, or [`NONE`].
    heads: Vec<u32>,
    /// The next record of the same list, or [`NONE`], and the record.
    links: Vec<(u32, R)>,
}

impl<R> Chains<R> {
    fn new(vertices: usize) -> Self {
        Self {
            heads: vec![NONE; vertices],
            links: Vec::new(),
        }
    }

    /// The number of the record at `vertex` that is the `same`.
    fn find(&self, vertex: u32, same: impl Fn(&R) -> bool) -> Option<usize> {
        let mut number = *self.heads.get(vertex as usize)?;
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
        let head = &mut self.heads[vertex as usize];
        self.links.push((*head, record));
        *head = number as u32;
        number
    }
}

/// A face of an element that carries a boundary tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoundaryFace {
    /// Number of the physical group.
    pub tag: i32,
    /// The element.
    pub element: u32,
    /// Its mesh cell number.
    pub cell: u32,
    /// The face, 2·axis + side.
    pub face: u8,
}

/// The tagged quadrilaterals of a mesh, found among the faces of its hexahedra.
#[derive(Clone, Debug, Default)]
pub struct BoundaryFaces {
    /// The mesh's groups, without its cells.
    groups: Mesh,
    /// Faces sorted by tag and element, each once per tag.
    faces: Vec<BoundaryFace>,
    /// Tag and corner mesh nodes of quadrilaterals that are no face of a hexahedron.
    strangers: Vec<(i32, [u32; 4])>,
}

impl BoundaryFaces {
    /// Looks up every quadrilateral of the mesh that is in a group. A quadrilateral between two
    /// cells belongs to the one with the lower mesh cell number.
    pub(super) fn new(mesh: &Mesh, topology: &Topology, cells: &[u32]) -> Self {
        let mut boundary = Self {
            groups: Mesh {
                groups: mesh.groups.clone(),
                ..Mesh::default()
            },
            ..Self::default()
        };
        let quadrilateral = |family| family == CellFamily::Quadrilateral;
        for block in mesh
            .blocks
            .iter()
            .filter(|b| quadrilateral(b.cell_type.family()))
        {
            let quads = block.nodes.chunks_exact(block.cell_type.nodes());
            for (&tag, quad) in block.tags.iter().zip(quads).filter(|(tag, _)| **tag != 0) {
                let nodes = [quad[0], quad[1], quad[2], quad[3]];
                match topology.sides(nodes) {
                    None => boundary.strangers.push((tag, nodes)),
                    Some(sides) => boundary.faces.push(BoundaryFace::new(tag, sides, cells)),
                }
            }
        }
        boundary.faces.sort_unstable();
        boundary.faces.dedup();
        boundary
    }

    /// The faces in a two-dimensional group given by name or number, sorted by element; a face
    /// that the mesh lists several times appears once.
    ///
    /// # Errors
    /// [`SpaceError::Mesh`] when there is no such group, [`SpaceError::NoSuchFace`] when some of
    /// its quadrilaterals are no face of a hexahedron.
    pub fn tagged(&self, tag: &str) -> Result<&[BoundaryFace], SpaceError> {
        let number = self.groups.group(2, tag)?;
        let mut strangers = self.strangers.iter().filter(|s| s.0 == number);
        if let Some(&(_, nodes)) = strangers.next() {
            return Err(SpaceError::NoSuchFace {
                tag: tag.into(),
                nodes,
                count: 1 + strangers.count(),
            });
        }
        let start = self.faces.partition_point(|face| face.tag < number);
        let end = self.faces.partition_point(|face| face.tag <= number);
        Ok(&self.faces[start..end])
    }

    /// All tagged faces that were found, sorted by tag, then by element.
    pub fn all(&self) -> &[BoundaryFace] {
        &self.faces
    }
}

impl BoundaryFace {
    fn new(tag: i32, sides: [u32; 2], cells: &[u32]) -> Self {
        let cell = |side: u32| cells[side as usize / 6];
        let second = sides[1] != NONE && cell(sides[1]) < cell(sides[0]);
        let side = sides[usize::from(second)];
        Self {
            tag,
            element: side / 6,
            cell: cell(side),
            face: (side % 6) as u8,
        }
    }
}
