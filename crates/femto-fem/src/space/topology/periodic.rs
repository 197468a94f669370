//! Entities identified across periodic sides.

use std::collections::HashMap;

use super::{NONE, Side, Topology, facets};
use crate::mesh::PeriodicSides;
use crate::parallel;
use crate::space::SpaceError;
use crate::space::elements::repeated;

/// Classes of identified entities.
pub(in crate::space) struct Classes {
    /// An entity of the same class with a lower number, or the entity itself.
    lower: Vec<u32>,
}

impl Classes {
    /// Every entity in its own class.
    pub(in crate::space) fn new(topology: &Topology) -> Self {
        let entities = topology.entities.counts.iter().sum::<usize>() as u32;
        Self {
            lower: (0..entities).collect(),
        }
    }

    /// The lowest entity of a class.
    fn lowest(&mut self, mut entity: u32) -> u32 {
        while self.lower[entity as usize] != entity {
            let lower = self.lower[entity as usize];
            self.lower[entity as usize] = self.lower[lower as usize];
            entity = lower;
        }
        entity
    }

    /// Merges two entities.
    pub(in crate::space) fn join(&mut self, first: u32, second: u32) {
        let (first, second) = (self.lowest(first), self.lowest(second));
        self.lower[first.max(second) as usize] = first.min(second);
    }
}

impl Topology {
    /// Merges the facets on each side with their partners on the other, including edges and vertices. From
    /// then on entities stand for classes, so an element's mesh nodes no longer follow from them.
    pub(in crate::space) fn join_sides(
        &mut self,
        sides: &[PeriodicSides],
        cells: impl Fn(usize, usize) -> u32,
    ) -> Result<(), SpaceError> {
        if sides.is_empty() {
            return Ok(());
        }
        let mut classes = Classes::new(self);
        let mut joined = Vec::new();
        for (number, sides) in sides.iter().enumerate() {
            if sides.nodes.is_empty() {
                return Err(SpaceError::EmptySides { pair: number + 1 });
            }
            let partners: HashMap<u32, u32> =
                sides.nodes.iter().map(|pair| (pair[0], pair[1])).collect();
            for pair in self.facet_pairs(&partners, &cells)? {
                self.join_facets(pair, &partners, &mut classes);
                joined.push([pair[0].min(pair[1]), pair[0].max(pair[1])]);
            }
        }
        self.check_joined(sides, &mut classes)?;
        if joined.is_empty() {
            return Ok(());
        }
        joined.sort_unstable();
        joined.dedup();
        self.periodic = joined.concat();
        self.periodic.sort_unstable();
        if let Some(twice) = self.periodic.windows(2).find(|pair| pair[0] == pair[1]) {
            let both = joined.iter().filter(|pair| pair.contains(&twice[0]));
            let others: Vec<u32> = both.map(|pair| pair[0] + pair[1] - twice[0]).collect();
            return Err(SpaceError::CrowdedFacet {
                cells: [twice[0], others[0], others[1]].map(|side| self.cell_at(side, &cells)),
                nodes: self.around(twice[0]),
            });
        }
        self.unite(classes);
        for (number, block) in self.entities.blocks.iter().enumerate() {
            for element in 0..block.elements() {
                if repeated(block.vertices(element)).is_some() {
                    let cell = cells(number, element);
                    return Err(SpaceError::NarrowPeriod { cell });
                }
            }
        }
        Ok(())
    }

    /// Fails if vertices of a pair belong to no facets that were joined.
    fn check_joined(
        &self,
        sides: &[PeriodicSides],
        classes: &mut Classes,
    ) -> Result<(), SpaceError> {
        let vertex = |node: u32| self.vertex_at.get(node as usize).copied();
        let pairs = sides.iter().flat_map(|sides| &sides.nodes);
        let mut apart = pairs.copied().filter(|pair| match pair.map(vertex) {
            [Some(first), Some(second)] if first != NONE && second != NONE => {
                classes.lowest(first) != classes.lowest(second)
            }
            // Nodes between vertices, or of no cell.
            _ => false,
        });
        match apart.next() {
            None => Ok(()),
            Some(nodes) => Err(SpaceError::UnjoinedNodes {
                nodes,
                count: 1 + apart.count(),
            }),
        }
    }

    /// Whether functions continue periodically from this side to a distant one.
    pub(in crate::space) fn is_periodic(&self, side: &Side) -> bool {
        let number = self.entities.blocks[side.block].side(side.element) + side.facet as u32;
        self.periodic.binary_search(&number).is_ok()
    }

    /// The facets of a single element whose mesh nodes all have `partners`, each with its partner facet.
    fn facet_pairs(
        &self,
        partners: &HashMap<u32, u32>,
        cells: &impl Fn(usize, usize) -> u32,
    ) -> Result<Vec<[u32; 2]>, SpaceError> {
        let mut pairs = Vec::new();
        let links = self.facets.iter().flat_map(|part| &part.links);
        for (_, facet) in links.filter(|(_, facet)| facet.sides[1] == NONE) {
            let side = facet.sides[0];
            let (vertices, shape) = self.vertices(side);
            let partner = |&vertex: &u32| partners.get(&self.nodes[vertex as usize]).copied();
            let Some(nodes) = vertices.iter().map(partner).collect::<Option<Vec<u32>>>() else {
                continue;
            };
            let at = |&node: &u32| {
                let vertex = self.vertex_at.get(node as usize).copied();
                vertex.filter(|&vertex| vertex != NONE)
            };
            let found = nodes.iter().map(at).collect::<Option<Vec<u32>>>();
            let found = found.and_then(|vertices| facets::sides(&self.facets, &vertices));
            match found {
                Some([other, NONE]) if other != side => pairs.push([side, other]),
                found => {
                    return Err(SpaceError::NoPartner {
                        cell: self.cell_at(side, cells),
                        nodes: self.around(side),
                        partners: facets::around(shape).iter().map(|&m| nodes[m]).collect(),
                        why: match found {
                            None => "which no cell has",
                            Some([_, NONE]) => "which is the same",
                            Some(_) => "which lies between two cells",
                        },
                    });
                }
            }
        }
        Ok(pairs)
    }

    /// Merges two facets, with the first's vertices and edges and those of their `partners`.
    fn join_facets(
        &self,
        [first, second]: [u32; 2],
        partners: &HashMap<u32, u32>,
        classes: &mut Classes,
    ) {
        let partner = |vertex: u32| {
            let node = partners.get(&self.nodes[vertex as usize]);
            node.map_or(NONE, |&node| self.vertex_at[node as usize])
        };
        for vertex in self.vertices(first).0 {
            classes.join(vertex, partner(vertex));
        }
        let others = self.edges_of(second);
        for (ends, edge) in self.edges_of(first) {
            let ends = ends.map(partner);
            let same = others
                .iter()
                .find(|(other, _)| *other == ends || *other == [ends[1], ends[0]]);
            if let Some(&(_, other)) = same {
                classes.join(edge, other);
            }
        }
        if let (Some(first), Some(second)) = (self.face_of(first), self.face_of(second)) {
            classes.join(first, second);
        }
    }

    /// The edges of a facet with their ends; empty if edges are not numbered.
    fn edges_of(&self, side: u32) -> Vec<([u32; 2], u32)> {
        let (cell, entities, facet) = self.element_at(side);
        let (vertices, rest) = entities.split_at(cell.vertices());
        let on_facet = cell.facets()[facet].vertices;
        let edges = cell.edges().iter().zip(rest);
        edges
            .filter(|(ends, _)| ends.iter().all(|end| on_facet.contains(end)))
            .map(|(ends, &edge)| (ends.map(|end| vertices[end]), edge))
            .collect()
    }

    /// The number of a solid's facet, if it is numbered.
    fn face_of(&self, side: u32) -> Option<u32> {
        let (cell, entities, facet) = self.element_at(side);
        let before = cell.vertices() + cell.edges().len();
        entities.get(before + facet).copied()
    }

    /// Replaces the numbers of entities by those of their classes.
    pub(in crate::space) fn unite(&mut self, mut classes: Classes) {
        let mut numbers: Vec<u32> = Vec::with_capacity(classes.lower.len());
        let mut next = 0;
        for count in &mut self.entities.counts {
            let first = next;
            for _ in 0..*count {
                let entity = numbers.len() as u32;
                // Lower ones already have numbers.
                numbers.push(match classes.lowest(entity) {
                    lowest if lowest == entity => next,
                    lowest => numbers[lowest as usize],
                });
                next += u32::from(numbers.last() == Some(&next));
            }
            *count = (next - first) as usize;
        }
        for block in &mut self.entities.blocks {
            let number = |entity: &mut u32| *entity = numbers[*entity as usize];
            parallel::each(&mut block.entities, |_, entity| number(entity));
        }
    }
}
