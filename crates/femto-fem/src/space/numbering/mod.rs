//! The restriction of a space: numbers for its nodes, and the nodes of each chunk.

use std::ops::Range;

use rayon::prelude::*;

mod global;
mod local;

use crate::space::element_nodes::ElementNodes;
use crate::space::gather_scatter::split;
use crate::space::topology::Topology;
use crate::space::{Chunk, Restriction, SpaceError};
use global::{Numbers, check_interface, checked};
use local::LocalNumbers;

/// The restriction of a space without shared nodes: for each chunk the shell nodes of one element
/// after the other, then their interior nodes, all in lexicographic order.
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
        let shells = chunk.len() * shell_nodes;
        shell.extend(0..shells as u32);
        let interior_nodes = np - shell_nodes;
        interior.extend((0..chunk.len()).map(|i| (shells + i * interior_nodes) as u32));
    }
    let chunk = |elements: Range<usize>| Chunk {
        private: elements.start * np..elements.end * np,
        interior: elements.start * np + elements.len() * shell_nodes..elements.end * np,
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
        nodes: count,
        ..Restriction::default()
    })
}

/// The restriction of a continuous space.
pub(super) fn continuous(
    topology: &Topology,
    chunks: &[Range<usize>],
    nodes: &ElementNodes,
) -> Result<Restriction, SpaceError> {
    let numbers = Numbers::new(topology, chunks, nodes)?;
    let mut restriction = Restriction {
        shell: vec![0; numbers.interior.len() * nodes.shell_positions.len()],
        interior: vec![0; numbers.interior.len()],
        shell_positions: nodes.shell_positions.clone(),
        interior_positions: nodes.interior_positions.clone(),
        first_interface: numbers.first_interface,
        nodes: numbers.nodes,
        ..Restriction::default()
    };
    let lists = fill_local(topology, &numbers, chunks, nodes, &mut restriction);
    check_interface(lists.iter().map(|list| list.len() as u64).sum())?;
    let mut start = 0;
    for ((elements, private), list) in chunks.iter().zip(numbers.private).zip(&lists) {
        let inside = elements.len() * nodes.interior_positions.len();
        restriction.chunks.push(Chunk {
            elements: elements.clone(),
            interior: private.end - inside..private.end,
            private,
            interface: start..start + list.len(),
        });
        start += list.len();
    }
    restriction.interface = lists.concat();
    (
        restriction.interface_sources_offsets,
        restriction.interface_sources,
    ) = sources(
        &restriction.interface,
        numbers.first_interface..numbers.nodes,
    );
    Ok(restriction)
}

/// Fills the chunk-local indices `shell` and `interior`; the interface list of each chunk.
fn fill_local(
    topology: &Topology,
    numbers: &Numbers,
    chunks: &[Range<usize>],
    nodes: &ElementNodes,
    restriction: &mut Restriction,
) -> Vec<Vec<u32>> {
    let shell_nodes = nodes.shell_positions.len();
    let shells = chunks.iter().map(|chunk| chunk.len() * shell_nodes);
    let shells = split(&mut restriction.shell, shells);
    let interiors = split(&mut restriction.interior, chunks.iter().map(Range::len));
    let outputs = shells.into_par_iter().zip(interiors);
    let inputs = chunks.par_iter().zip(&numbers.private);
    inputs
        .zip(outputs)
        .map(|((elements, private), (shell, interior))| {
            let local = LocalNumbers::new(topology, numbers, elements, private.clone());
            local.fill(nodes, shell, interior);
            local.list()
        })
        .collect()
}

/// For each of the `nodes`, where in `interface` it is listed: offsets and positions, which are
/// known to fit 32 bits.
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
