//! The vertices, edges and faces of the elements.

use std::ops::Range;

use femto_element::Cell;

use crate::few::{Few, in_column};

/// The entities (vertices, edges, faces) of the elements of all shapes.
#[derive(Debug)]
pub(in crate::space) struct Entities {
    /// By shape.
    pub(super) blocks: Vec<Block>,
    /// Numbers of vertices, edges, triangles and quadrilaterals; zero if not requested.
    pub(in crate::space) counts: [usize; 4],
}

impl Entities {
    /// The entities of the elements of one shape.
    pub(in crate::space) fn block(&self, block: usize) -> &Block {
        &self.blocks[block]
    }

    /// Whether all elements are in columns, whose entities are numbered upwards along lines.
    pub(in crate::space) fn are_on_lines(&self) -> bool {
        self.blocks.iter().all(|block| block.layers > 1)
    }

    /// Memory, in bytes.
    pub(in crate::space) fn bytes(&self) -> usize {
        let blocks = self.blocks.iter();
        blocks.map(|block| size_of_val(&block.entities[..])).sum()
    }
}

/// The most entities of an element in a column: a prism's.
const MOST_ENTITIES: usize = 20;

/// The entities of an element.
pub(in crate::space) type EntitiesOf<'a> = Few<'a, MOST_ENTITIES>;

/// The entities of the elements of one shape.
#[derive(Debug)]
pub(in crate::space) struct Block {
    pub(super) cell: Cell,
    /// Entities of an element: its vertices and, if requested, edges and faces.
    pub(super) stride: usize,
    /// Of each element, or of the lowest of each column, `[elements / layers][stride]`.
    pub(super) entities: Vec<u32>,
    /// Elements of a column, if the numbers of all their entities grow by one from element to element; otherwise 1.
    pub(super) layers: usize,
    /// Whether the vertices of each facet, in its own order, turn right-handed about its outward normal.
    pub(super) outwards: Vec<bool>,
    /// Number of the first element's first facet. Numbers continue element by element, then block by block:
    /// a *side* is a facet of one element.
    pub(super) first_side: u32,
}

impl Block {
    /// The entities of an element: its vertices and, if requested, edges and faces.
    pub(in crate::space) fn entities(&self, element: usize) -> EntitiesOf<'_> {
        if self.layers == 1 {
            return Few::Listed(self.listed(element));
        }
        let (column, layer) = in_column(element, self.layers);
        let mut own = [0; MOST_ENTITIES];
        let raised = own.iter_mut().zip(self.listed(column));
        raised.for_each(|(own, lowest)| *own = lowest + layer);
        Few::Own(own, self.stride)
    }

    /// As [`Self::entities`], of an element that is not in a column, or of the lowest of a column.
    fn listed(&self, number: usize) -> &[u32] {
        &self.entities[number * self.stride..][..self.stride]
    }

    /// One of the entities of an element.
    fn entity(&self, element: usize, slot: usize) -> u32 {
        let (column, layer) = in_column(element, self.layers);
        self.listed(column)[slot] + layer
    }

    /// Visits the entities in the first `slots` of each element of a column, or of a part of one, with a slot: over each entity
    /// of the bottom those on levels, and those between, from below to above; together where their numbers follow each other.
    pub(in crate::space) fn walk_lines(
        &self,
        column: Range<usize>,
        slots: usize,
        visit: &mut impl FnMut(usize, Range<u32>),
    ) {
        let layers = column.len() as u32;
        let mut meet = |element: usize, slot: Option<usize>, count: u32| {
            if let Some(slot) = slot.filter(|&slot| slot < slots) {
                let first = self.entity(element, slot);
                visit(slot, first..first + count);
            }
        };
        for &[below, between, above] in self.cell.lines() {
            if self.layers > 1 {
                meet(column.start, below, layers + 1);
                meet(column.start, between, layers);
            } else {
                column.clone().for_each(|element| meet(element, below, 1));
                meet(column.end - 1, above, 1);
                column.clone().for_each(|element| meet(element, between, 1));
            }
        }
    }

    /// The number of entities on a line of a whole column, by the slot that they have in its elements; empty if elements are
    /// not in columns.
    pub(in crate::space) fn on_lines(&self) -> Vec<u32> {
        let layers = self.layers as u32;
        let count = |slot: usize| {
            let is_between = |line: &[Option<usize>; 3]| line[1] == Some(slot);
            layers + u32::from(!self.cell.lines().iter().any(is_between))
        };
        let slots = if layers > 1 { self.stride } else { 0 };
        (0..slots).map(count).collect()
    }

    /// The vertices of an element that is not in a column.
    pub(super) fn vertices(&self, element: usize) -> &[u32] {
        &self.listed(element)[..self.cell.vertices()]
    }

    pub(super) fn elements(&self) -> usize {
        self.entities.len() / self.stride * self.layers
    }

    /// The number of an element's first side.
    pub(super) fn side(&self, element: usize) -> u32 {
        self.first_side + (element * self.cell.facets().len()) as u32
    }
}

/// A side: the block, the element in it, and the element's facet.
#[derive(Clone, Copy)]
pub(in crate::space) struct Side {
    pub(in crate::space) block: usize,
    pub(in crate::space) element: usize,
    pub(in crate::space) facet: usize,
}

/// The element and facet of a side.
pub(super) fn side_of(blocks: &[Block], side: u32) -> Side {
    let block = blocks.partition_point(|block| block.first_side <= side) - 1;
    let own = (side - blocks[block].first_side) as usize;
    let facets = blocks[block].cell.facets().len();
    Side {
        block,
        element: own / facets,
        facet: own % facets,
    }
}
