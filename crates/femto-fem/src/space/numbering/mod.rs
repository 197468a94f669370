//! The restriction of a space: numbers for its nodes, and who has which.

use std::ops::Range;

use rayon::prelude::*;

mod global;
mod local;

use crate::space::element_nodes::ElementNodes;
use crate::space::gather_scatter::split;
use crate::space::topology::Topology;
use crate::space::{BoundaryFace, Chunk, Restriction, SpaceError};
use global::{Numbers, checked};
use local::LocalNumbers;

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
