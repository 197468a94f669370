//! Sides: facets of elements, found by mesh nodes, and their vertices.

use femto_element::Cell;

use super::entities::{EntitiesOf, side_of};
use super::{Block, NONE, Side, Topology, facets};
use crate::parallel;
use crate::space::SpaceError;

impl Topology {
    /// The two sides of the facet with these mesh nodes, going round it; the second, or both, may be
    /// missing.
    pub(in crate::space) fn sides(
        &self,
        facet: Cell,
        nodes: &[u32],
    ) -> Option<(Side, Option<Side>)> {
        let mut own = [NONE; 4];
        for (&place, &node) in facets::around(facet).iter().zip(nodes) {
            own[place] = node;
        }
        let own = own.get_mut(..facet.vertices())?;
        if let Some(plane) = &self.plane {
            return plane.sides(self.entities.blocks[0].cell, own);
        }
        for node in &mut *own {
            let of_elements = self.vertex_at.get(*node as usize);
            *node = *of_elements.filter(|&&vertex| vertex != NONE)?;
        }
        let [first, second] = facets::sides(&self.facets, own)?;
        let second = (second != NONE).then(|| side_of(&self.entities.blocks, second));
        Some((side_of(&self.entities.blocks, first), second))
    }

    /// Of columns, the mesh nodes of the plane cells at the bottom, going round; [`NONE`] beyond their number.
    pub(in crate::space) fn plane_cells(&self) -> Option<Vec<[u32; 4]>> {
        Some(self.plane.as_ref()?.cells())
    }

    /// The sides of one element, each with the mesh nodes at its vertices, going round; [`NONE`] beyond their number.
    pub(in crate::space) fn outer_facets(&self) -> Vec<(u32, [u32; 4])> {
        let with_nodes = |side: u32| {
            let mut nodes = [NONE; 4];
            for (node, corner) in nodes.iter_mut().zip(self.corners(side)) {
                *node = self.node(corner);
            }
            (side, nodes)
        };
        if let Some(plane) = &self.plane {
            let block = &self.entities.blocks[0];
            let sides = plane.outer_sides(block.cell);
            return parallel::map(sides.len(), |number| {
                let side = &sides[number];
                with_nodes(block.side(side.element) + side.facet as u32)
            });
        }
        parallel::gather(self.facets.len(), |part, outer| {
            let facets = self.facets[part].links.iter();
            outer.extend(facets.filter_map(|(_, facet)| match facet.sides {
                [side, NONE] => Some(with_nodes(side)),
                _ => None,
            }));
        })
    }

    /// The mesh node of a vertex.
    fn node(&self, vertex: u32) -> u32 {
        match &self.plane {
            Some(plane) => plane.node(vertex),
            None => self.nodes[vertex as usize],
        }
    }

    /// Whether a side is on a periodic side of the mesh.
    pub(in crate::space) fn is_on_period(&self, side: u32) -> bool {
        self.periodic.binary_search(&side).is_ok()
    }

    /// The mesh cell number of the element at a side.
    pub(super) fn cell_at(&self, side: u32, cells: impl Fn(usize, usize) -> u32) -> u32 {
        let Side { block, element, .. } = side_of(&self.entities.blocks, side);
        cells(block, element)
    }

    /// The block, the element and the facet at a side.
    pub(super) fn block_at(&self, side: u32) -> (&Block, Side) {
        let side = side_of(&self.entities.blocks, side);
        (&self.entities.blocks[side.block], side)
    }

    /// The cell, the entities and the facet of the element at a side.
    pub(super) fn element_at(&self, side: u32) -> (Cell, EntitiesOf<'_>, usize) {
        let (block, side) = self.block_at(side);
        (block.cell, block.entities(side.element), side.facet)
    }

    /// The vertices of a facet, in its own order, and its shape.
    pub(super) fn vertices(&self, side: u32) -> (Vec<u32>, Cell) {
        let (cell, vertices, facet) = self.element_at(side);
        let facet = cell.facets()[facet];
        let own = facet.vertices.iter().map(|&m| vertices[m]);
        (own.collect(), facet.cell)
    }

    /// The vertices of a facet, going round it.
    pub(super) fn corners(&self, side: u32) -> Vec<u32> {
        let (vertices, shape) = self.vertices(side);
        let places = facets::around(shape).iter();
        places.map(|&place| vertices[place]).collect()
    }

    /// The mesh nodes of a facet, going round it.
    pub(super) fn around(&self, side: u32) -> Vec<u32> {
        let corners = self.corners(side).into_iter();
        corners.map(|vertex| self.node(vertex)).collect()
    }

    /// Why the sides of two or three elements cannot be one facet.
    pub(super) fn bad_facet(
        &self,
        sides: [u32; 3],
        cells: impl Fn(usize, usize) -> u32,
    ) -> SpaceError {
        let [first, second, third] = sides;
        let cell = |side| self.cell_at(side, &cells);
        match third {
            NONE => SpaceError::TwistedFace {
                cells: [cell(first), cell(second)],
                first: self.around(first),
                second: self.around(second),
            },
            _ => SpaceError::CrowdedFacet {
                cells: sides.map(cell),
                nodes: self.around(first),
            },
        }
    }
}
