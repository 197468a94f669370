//! The restrictions of a space's shapes: node numbers, and the nodes of each chunk.

use std::ops::Range;

mod global;
mod local;

use crate::parallel::{self, split};
use crate::space::element_nodes::ElementNodes;
use crate::space::topology::Entities;
use crate::space::{Chunk, Restriction, SpaceError};
use global::{NumberedChunk, Numbers, check_interface};
use local::LocalNumbers;

/// The elements of one shape, to be numbered.
pub(super) struct NumberedElements {
    /// Runs of consecutive elements that cover all of them.
    pub(super) chunks: Vec<Range<usize>>,
    /// Elements of a column, which follow each other; otherwise 1.
    pub(super) layers: usize,
    /// Whether entities are numbered upwards along lines, see [`Block::layers`](super::topology::Block).
    pub(super) are_on_lines: bool,
    pub(super) nodes: ElementNodes,
}

impl NumberedElements {
    fn elements(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.end)
    }

    /// Numbers of the first interior nodes of so many elements: none if they have no such nodes.
    fn inside(&self, elements: usize) -> usize {
        match self.nodes.interior_positions.is_empty() {
            true => 0,
            false => elements,
        }
    }

    /// Elements of a column, if those of all columns are numbered upwards by the same steps, 1 otherwise: if there are no
    /// other elements, and no chunk has a part of a column.
    fn even_layers(&self) -> usize {
        let are_whole = |chunk: &Range<usize>| {
            let ends = [chunk.start, chunk.end];
            ends.iter().all(|end| end.is_multiple_of(self.layers))
        };
        match self.are_on_lines && self.chunks.iter().all(are_whole) {
            true => self.layers,
            false => 1,
        }
    }
}

/// The restrictions of all shapes.
pub(super) fn restrictions(
    entities: &Entities,
    shapes: &[NumberedElements],
) -> Result<Vec<Restriction>, SpaceError> {
    let numbers = Numbers::new(entities, shapes)?;
    let blocks = shapes.iter().enumerate();
    let count = shapes.len();
    blocks
        .map(|(block, shape)| of_shape(entities, &numbers, [block, count], shape))
        .collect()
}

/// The restriction of one shape's elements.
fn of_shape(
    entities: &Entities,
    numbers: &Numbers,
    [block, blocks]: [usize; 2],
    shape: &NumberedElements,
) -> Result<Restriction, SpaceError> {
    let (elements, shell_nodes) = (shape.elements(), shape.nodes.shell_positions.len());
    let layers = shape.even_layers();
    let mut restriction = Restriction {
        layers,
        shell: vec![0; elements / layers * shell_nodes],
        interior: vec![0; shape.inside(elements)],
        shell_positions: shape.nodes.shell_positions.clone(),
        interior_positions: shape.nodes.interior_positions.clone(),
        first_interface: numbers.first_interface,
        nodes: numbers.nodes,
        block,
        blocks,
        ..Restriction::default()
    };
    let lists = fill_local((entities, block), numbers, shape, &mut restriction);
    check_interface(lists.iter().map(|list| list.len() as u64).sum())?;
    let mut start = 0;
    let private = numbers.private[block].iter().cloned();
    for ((elements, private), list) in shape.chunks.iter().zip(private).zip(&lists) {
        let inside = elements.len() * shape.nodes.interior_positions.len();
        restriction.chunks.push(Chunk {
            elements: elements.clone(),
            interior: private.end - inside..private.end,
            private,
            interface: start..start + list.len(),
        });
        start += list.len();
    }
    restriction.interface = joined(&lists);
    (
        restriction.interface_sources_offsets,
        restriction.interface_sources,
    ) = sources(&lists, numbers.first_interface..numbers.nodes);
    Ok(restriction)
}

/// Fills in the chunk-local indices `shell` and `interior`; returns the interface list of each chunk.
fn fill_local(
    (entities, block): (&Entities, usize),
    numbers: &Numbers,
    shape: &NumberedElements,
    restriction: &mut Restriction,
) -> Vec<Vec<u32>> {
    let shell_nodes = shape.nodes.shell_positions.len();
    let layers = restriction.layers;
    let shells = shape.chunks.iter();
    let shells = shells.map(|chunk| chunk.len() / layers * shell_nodes);
    let shells = split(&mut restriction.shell, shells);
    let interiors = shape.chunks.iter().map(|chunk| shape.inside(chunk.len()));
    let interiors = split(&mut restriction.interior, interiors);
    let numbered = (numbers, &numbers.interior[block][..]);
    let outputs = shells.into_iter().zip(interiors);
    let mut chunks: Vec<_> = outputs.map(|output| (output, Vec::new())).collect();
    parallel::each(&mut chunks, |number, ((shell, interior), list)| {
        let chunk = NumberedChunk {
            shape,
            elements: entities.block(block),
            chunk: &shape.chunks[number],
            is_whole: layers > 1,
        };
        let private = numbers.private[block][number].clone();
        let local = LocalNumbers::new(&chunk, numbered, private);
        local.fill_shell((&shape.nodes, layers), shell);
        local.fill_interior(interior);
        *list = local.list();
    });
    chunks.into_iter().map(|(_, list)| list).collect()
}

/// Nodes per task in the search for their sources.
const PART: usize = 1 << 14;

/// The positions of each of the `nodes` in the concatenated `lists`, each of which is ascending: offsets
/// and positions, known to fit 32 bits.
fn sources(lists: &[Vec<u32>], nodes: Range<usize>) -> (Vec<u32>, Vec<u32>) {
    let of_part = |start: usize| {
        let end = nodes.end.min(start + PART);
        let (mut ends, mut first) = (vec![0_u32; end - start + 1], 0);
        let mut own = Vec::new();
        for list in lists {
            let place = |node: usize| list.partition_point(|&other| (other as usize) < node);
            let range = place(start)..place(end);
            for &node in &list[range.clone()] {
                ends[node as usize - start + 1] += 1;
            }
            own.push((first + range.start as u32, &list[range]));
            first += list.len() as u32;
        }
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut next = ends.clone();
        let mut positions = vec![0; ends[end - start] as usize];
        for (first, list) in own {
            for (position, &node) in (first..).zip(list) {
                let next = &mut next[node as usize - start];
                positions[*next as usize] = position;
                *next += 1;
            }
        }
        (ends, positions)
    };
    let parts = parallel::map(nodes.len().div_ceil(PART), |part| {
        of_part(nodes.start + part * PART)
    });
    let (mut offsets, positions): (Vec<Vec<u32>>, Vec<Vec<u32>>) = parts.into_iter().unzip();
    let mut end = 0;
    for (offsets, own) in offsets.iter_mut().zip(&positions) {
        offsets.pop();
        offsets.iter_mut().for_each(|offset| *offset += end);
        end += own.len() as u32;
    }
    offsets.push(vec![end]);
    (joined(&offsets), joined(&positions))
}

/// The lists one after the other.
fn joined(lists: &[Vec<u32>]) -> Vec<u32> {
    let mut all = vec![0; lists.iter().map(Vec::len).sum()];
    let lengths = lists.iter().map(Vec::len);
    parallel::parts(&mut all, lengths, |number, part| {
        part.copy_from_slice(&lists[number]);
    });
    all
}
