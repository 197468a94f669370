//! Numbers for the nodes of a space: chunk by chunk, then what chunks share, then what is fixed.

use std::ops::Range;

use rayon::prelude::*;

use crate::reference::cell::{HEX_EDGES, HEX_FACES};

use super::element_nodes::ElementNodes;
use super::gather_scatter::split;
use super::topology::{BoundaryFace, Topology};
use super::{Chunk, Restriction, SpaceError};

/// Who touches an entity: this, or the number of the only chunk that does.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;
const DIRICHLET: u32 = u32::MAX - 2;

/// The restriction of a space without shared nodes: element after element, the nodes of its shell
/// in lexicographic order, then its interior nodes in lexicographic order.
pub(super) fn broken(
    chunks: Vec<Range<usize>>,
    nodes: &ElementNodes,
) -> Result<Restriction, SpaceError> {
    let elements = chunks.last().map_or(0, |chunk| chunk.end);
    let shell_nodes = nodes.shell_positions.len();
    let np = shell_nodes + nodes.interior_positions.len();
    let count = checked(elements as u64 * np as u64)?;
    let mut shell = Vec::with_capacity(elements * shell_nodes);
    let mut interior = Vec::with_capacity(elements);
    for chunk in &chunks {
        for element in 0..chunk.len() {
            let first = (element * np) as u32;
            shell.extend(first..first + shell_nodes as u32);
            interior.push(first + shell_nodes as u32);
        }
    }
    let chunk = |elements: Range<usize>| Chunk {
        private: elements.start * np..elements.end * np,
        interface: 0..0,
        elements,
    };
    Ok(Restriction {
        chunks: chunks.into_iter().map(chunk).collect(),
        shell,
        interior,
        shell_positions: nodes.shell_positions.clone(),
        interior_positions: nodes.interior_positions.clone(),
        interface_sources_offsets: vec![0],
        first_interface: count,
        free_nodes: count,
        nodes: count,
        ..Restriction::default()
    })
}

/// The restriction of a continuous space whose nodes on the `dirichlet` faces are constrained.
pub(super) fn continuous(
    topology: &Topology,
    chunks: &[Range<usize>],
    dirichlet: &[BoundaryFace],
    nodes: &ElementNodes,
) -> Result<Restriction, SpaceError> {
    let numbers = Numbers::new(topology, chunks, dirichlet, nodes)?;
    let elements = numbers.interior.len();
    let shell_nodes = nodes.shell_positions.len();

    let mut shell = vec![0; elements * shell_nodes];
    let mut interior = vec![0; elements];
    let lists: Vec<Vec<u32>> = {
        let shells = split(&mut shell, chunks.iter().map(|c| c.len() * shell_nodes));
        let interiors = split(&mut interior, chunks.iter().map(Range::len));
        let parts = chunks.par_iter().zip(&numbers.private);
        parts
            .zip(shells.into_par_iter().zip(interiors))
            .map(|((chunk, private), (shell, interior))| {
                let local = LocalNumbers::new(topology, &numbers, chunk, private.clone());
                local.fill(nodes, shell, interior);
                local.list()
            })
            .collect()
    };

    let mut end = 0;
    let chunk = |((elements, private), list): ((&Range<usize>, Range<usize>), &Vec<u32>)| {
        let start = end;
        end += list.len();
        Chunk {
            elements: elements.clone(),
            private,
            interface: start..end,
        }
    };
    let parts = chunks.iter().zip(numbers.private).zip(&lists);
    let chunks = parts.map(chunk).collect();
    let interface = lists.concat();
    let (interface_sources_offsets, interface_sources) =
        sources(&interface, numbers.first_interface..numbers.nodes);
    Ok(Restriction {
        chunks,
        shell,
        interior,
        shell_positions: nodes.shell_positions.clone(),
        interior_positions: nodes.interior_positions.clone(),
        interface,
        interface_sources_offsets,
        interface_sources,
        first_interface: numbers.first_interface,
        free_nodes: numbers.free_nodes,
        nodes: numbers.nodes,
    })
}

/// A number of nodes that 32 bits can count.
fn checked(nodes: u64) -> Result<usize, SpaceError> {
    if nodes < u64::from(u32::MAX) {
        Ok(nodes as usize)
    } else {
        Err(SpaceError::TooManyNodes { nodes })
    }
}

/// For each of the `nodes`, where in `interface` it is listed: offsets and positions.
fn sources(interface: &[u32], nodes: Range<usize>) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0; nodes.len() + 1];
    for &node in interface {
        offsets[node as usize - nodes.start + 1] += 1;
    }
    for i in 0..nodes.len() {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut positions = vec![0; interface.len()];
    for (position, &node) in (0..).zip(interface) {
        let next = &mut next[node as usize - nodes.start];
        positions[*next as usize] = position;
        *next += 1;
    }
    (offsets, positions)
}

/// L-vector numbers of the nodes of all entities and elements.
struct Numbers {
    /// First node of each entity; the others of the entity follow it.
    first: Vec<u32>,
    /// First interior node of each element.
    interior: Vec<u32>,
    /// Private nodes of each chunk.
    private: Vec<Range<usize>>,
    first_interface: usize,
    free_nodes: usize,
    nodes: usize,
    /// Number of nodes of a vertex, an edge, a face.
    sizes: [u32; 3],
    /// The first entity that is an edge, and the first that is a face.
    starts: [u32; 2],
}

impl Numbers {
    fn new(
        topology: &Topology,
        chunks: &[Range<usize>],
        dirichlet: &[BoundaryFace],
        nodes: &ElementNodes,
    ) -> Result<Self, SpaceError> {
        let [vertices, edges, faces] = topology.counts;
        let elements = chunks.last().map_or(0, |chunk| chunk.end);
        let n = nodes.inner_1d as u64;
        let total = |parts: [usize; 4]| {
            let sizes = [1, n, n * n, n * n * n];
            parts
                .iter()
                .zip(sizes)
                .map(|(&count, size)| count as u64 * size)
                .sum()
        };
        let mut numbers = Self {
            first: vec![NOBODY; vertices + edges + faces],
            interior: Vec::with_capacity(elements),
            private: Vec::with_capacity(chunks.len()),
            first_interface: 0,
            free_nodes: 0,
            nodes: checked(total([vertices, edges, faces, elements]))?,
            sizes: [1, n as u32, (n * n) as u32],
            starts: [vertices as u32, (vertices + edges) as u32],
        };
        let owners = owners(topology, chunks, dirichlet);
        numbers.number(topology, chunks, &owners, (n * n * n) as u32);
        Ok(numbers)
    }

    /// Number of nodes of an entity.
    fn size(&self, entity: u32) -> u32 {
        let dimension = self.starts.iter().filter(|&&start| entity >= start).count();
        self.sizes[dimension]
    }

    /// Numbers entities and interiors in element order, within each of the three classes.
    fn number(
        &mut self,
        topology: &Topology,
        chunks: &[Range<usize>],
        owners: &[u32],
        interior_nodes: u32,
    ) {
        let (mut private, mut several, mut constrained) = (0, 0, 0);
        for chunk in chunks {
            let start = private;
            for element in chunk.clone() {
                for &entity in topology.entities(element) {
                    if self.first[entity as usize] == NOBODY {
                        let next = match owners[entity as usize] {
                            DIRICHLET => &mut constrained,
                            SEVERAL => &mut several,
                            _ => &mut private,
                        };
                        self.first[entity as usize] = *next;
                        *next += self.size(entity);
                    }
                }
                self.interior.push(private);
                private += interior_nodes;
            }
            self.private.push(start as usize..private as usize);
        }
        // The two other classes come after the private nodes.
        let free = private + several;
        let numbers = self.first.par_iter_mut().zip(owners);
        numbers.for_each(|(first, &owner)| match owner {
            SEVERAL => *first += private,
            DIRICHLET => *first += free,
            _ => {}
        });
        (self.first_interface, self.free_nodes) = (private as usize, free as usize);
    }
}

/// Who touches each entity: the number of the only chunk, [`SEVERAL`] or [`DIRICHLET`].
fn owners(topology: &Topology, chunks: &[Range<usize>], dirichlet: &[BoundaryFace]) -> Vec<u32> {
    let mut owners = vec![NOBODY; topology.counts.iter().sum()];
    for face in dirichlet {
        let entities = topology.entities(face.element as usize);
        for entity in closure(face.face as usize).filter_map(|slot| entities.get(slot)) {
            owners[*entity as usize] = DIRICHLET;
        }
    }
    for (number, chunk) in (0..).zip(chunks) {
        for element in chunk.clone() {
            for &entity in topology.entities(element) {
                let owner = &mut owners[entity as usize];
                if *owner == NOBODY {
                    *owner = number;
                } else if *owner < DIRICHLET && *owner != number {
                    *owner = SEVERAL;
                }
            }
        }
    }
    owners
}

/// The entities of an element that lie on one of its faces: its corners, its edges, itself.
fn closure(face: usize) -> impl Iterator<Item = usize> {
    let corners = HEX_FACES[face];
    let on_face = move |edge: &usize| HEX_EDGES[*edge].iter().all(|end| corners.contains(end));
    let edges = (0..12).filter(on_face).map(|edge| 8 + edge);
    corners.into_iter().chain(edges).chain([20 + face])
}

/// Chunk-local indices of the nodes of one chunk.
struct LocalNumbers<'a> {
    topology: &'a Topology,
    numbers: &'a Numbers,
    elements: &'a Range<usize>,
    private: Range<usize>,
    /// Entities that are not private: first node, size, chunk-local index; ascending.
    interface: Vec<(u32, u32, u32)>,
}

impl<'a> LocalNumbers<'a> {
    fn new(
        topology: &'a Topology,
        numbers: &'a Numbers,
        elements: &'a Range<usize>,
        private: Range<usize>,
    ) -> Self {
        let mut interface: Vec<(u32, u32, u32)> = Vec::new();
        for element in elements.clone() {
            for &entity in topology.entities(element) {
                let first = numbers.first[entity as usize];
                if first as usize >= numbers.first_interface {
                    interface.push((first, numbers.size(entity), 0));
                }
            }
        }
        interface.sort_unstable();
        interface.dedup();
        let mut next = private.len() as u32;
        for (_, size, local) in &mut interface {
            *local = next;
            next += *size;
        }
        Self {
            topology,
            numbers,
            elements,
            private,
            interface,
        }
    }

    /// The L-vector nodes of the chunk that are not private, ascending.
    fn list(&self) -> Vec<u32> {
        let entities = self.interface.iter();
        entities
            .flat_map(|&(first, size, _)| first..first + size)
            .collect()
    }

    /// The chunk-local index of an entity's first node.
    fn first(&self, entity: u32) -> u32 {
        let first = self.numbers.first[entity as usize];
        if (first as usize) < self.numbers.first_interface {
            return first - self.private.start as u32;
        }
        let place = self
            .interface
            .partition_point(|&(other, _, _)| other < first);
        self.interface[place].2
    }

    fn fill(&self, nodes: &ElementNodes, shell: &mut [u32], interior: &mut [u32]) {
        let shells = shell.chunks_exact_mut(nodes.shell_positions.len());
        for ((element, shell), interior) in self.elements.clone().zip(shells).zip(interior) {
            let entities = self.topology.entities(element);
            let vertices = self.topology.vertices(element);
            nodes.fill_shell(&vertices, |slot| self.first(entities[slot]), shell);
            *interior = self.numbers.interior[element] - self.private.start as u32;
        }
    }
}
