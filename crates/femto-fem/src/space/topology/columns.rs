//! The entities of columns, from those of the plane cells at their bottom.

use rayon::slice::ParallelSliceMut;

use femto_element::Cell;

use super::{Block, Entities, NONE, Side, Topology, facets};
use crate::parallel;
use crate::space::element_nodes::faces;

/// The plane cells at the bottom of columns.
pub(super) struct Plane {
    topology: Box<Topology>,
    /// Elements of a column.
    layers: usize,
    /// The lowest mesh node of each line of nodes, ascending; those above follow.
    lines: Vec<u32>,
}

impl Topology {
    /// As [`Topology::new`], for columns of a cell over plane cells with these mesh nodes, `[columns][nodes]`, above each of
    /// which the following ones stand. Entities over one of the plane are numbered upwards: `[vertices][levels]`,
    /// `[vertices][layers]` and `[edges][levels]` for edges, `[columns][levels]`, `[edges][layers]` for faces.
    ///
    /// `None` if lines of nodes overlap, or the plane cells do not fit each other: [`Topology::new`] tells how.
    pub(in crate::space) fn of_columns(
        (cell, layers): (Cell, usize),
        lowest: Vec<u32>,
        mesh_nodes: usize,
        up_to: usize,
    ) -> Option<Self> {
        let base = cell.facets().first()?.cell;
        let columns = lowest.len() / base.vertices();
        let number = |_: usize, column: usize| (column * layers) as u32;
        let plane = Self::new(&[(base, lowest)], mesh_nodes, up_to.min(1), number).ok()?;
        let mut lines = plane.nodes.clone();
        lines.par_sort_unstable();
        let are_apart = |pair: &[u32]| (pair[1] - pair[0]) as usize > layers;
        let top = lines.last().map_or(0, |&node| node as usize + layers);
        if !lines.windows(2).all(are_apart) || top >= mesh_nodes {
            return None;
        }
        let [vertices, edges, ..] = plane.entities.counts;
        let levels = layers + 1;
        let mut counts = [
            vertices * levels,
            vertices * layers + edges * levels,
            columns * levels,
            edges * layers,
        ];
        counts[[1, 2, 4][up_to.min(2)]..].fill(0);
        // Of entities over vertices, edges and cells of the plane: on levels, and between them.
        let on_levels = [0, counts[0] + vertices * layers, counts[0] + counts[1]];
        let between = [counts[0], on_levels[2] + counts[2], 0];
        let sizes = [cell.vertices(), cell.edges().len(), faces(cell).len()];
        let stride: usize = sizes[..=up_to].iter().sum();
        let mut entities = vec![0; columns * stride];
        parallel::chunks(&mut entities, stride, |column, row| {
            let own = plane.entities.blocks[0].entities(column);
            for (place, &[below, inside, above]) in cell.lines().iter().enumerate() {
                let is_edge = place >= base.vertices();
                let (dim, number) = match own.get(place) {
                    Some(&entity) if is_edge => (1, entity as usize - vertices),
                    Some(&entity) => (0, entity as usize),
                    None => (2, column),
                };
                let level = on_levels[dim] + number * levels;
                let numbers = [level, between[dim] + number * layers, level + 1];
                for (slot, number) in [below, inside, above].into_iter().zip(numbers) {
                    if let Some(entity) = slot.and_then(|slot| row.get_mut(slot)) {
                        *entity = number as u32;
                    }
                }
            }
        });
        let outwards = (0..cell.facets().len()).map(|it| cell.is_facet_right_handed(it));
        let block = Block {
            cell,
            stride,
            entities,
            layers,
            outwards: outwards.collect(),
            first_side: 0,
        };
        Some(Self {
            entities: Entities {
                blocks: vec![block],
                counts,
            },
            nodes: Vec::new(),
            vertex_at: Vec::new(),
            facets: Vec::new(),
            periodic: Vec::new(),
            plane: Some(Plane {
                topology: Box::new(plane),
                layers,
                lines,
            }),
        })
    }
}

impl Plane {
    /// The mesh node of a vertex.
    pub(super) fn node(&self, vertex: u32) -> u32 {
        let levels = self.layers as u32 + 1;
        self.topology.nodes[(vertex / levels) as usize] + vertex % levels
    }

    /// The plane's vertex below a mesh node, and the node's level.
    fn place(&self, node: u32) -> Option<(u32, usize)> {
        let line = self.lines.partition_point(|&lowest| lowest <= node);
        let lowest = *self.lines.get(line.checked_sub(1)?)?;
        let level = (node - lowest) as usize;
        (level <= self.layers).then(|| (self.topology.vertex_at[lowest as usize], level))
    }

    /// As [`Topology::sides`], of a facet whose `nodes` are in its own order.
    pub(super) fn sides(&self, cell: Cell, nodes: &[u32]) -> Option<(Side, Option<Side>)> {
        let places: Vec<(u32, usize)> =
            (nodes.iter().map(|&node| self.place(node))).collect::<Option<_>>()?;
        let &(vertex, level) = places.first()?;
        let sides = match places.iter().all(|&(_, other)| other == level) {
            true => self.across_level(cell, &places, level)?,
            false => {
                // Going round from one corner: along the level, then up or down; or the other way.
                let &(opposite, other) = places.get(3)?;
                let corners = [(vertex, other), (opposite, level)];
                let are_others = |[a, b]: [usize; 2]| [places[a], places[b]] == corners;
                let is_upright = (are_others([1, 2]) || are_others([2, 1]))
                    && vertex != opposite
                    && level.abs_diff(other) == 1;
                let layer = is_upright.then_some(level.min(other))?;
                self.across_edge(cell, [vertex, opposite], layer)?
            }
        };
        let mut sides = sides.into_iter().flatten();
        Some((sides.next()?, sides.next()))
    }

    /// The elements below and above a facet on a level.
    fn across_level(
        &self,
        cell: Cell,
        places: &[(u32, usize)],
        level: usize,
    ) -> Option<[Option<Side>; 2]> {
        let ends = [places.first()?.0, places.get(1)?.0];
        let sides = facets::sides(&self.topology.facets, &ends)?.into_iter();
        let columns = sides.filter(|&side| side != NONE);
        let mut columns = columns.map(|side| self.topology.block_at(side));
        let is_below = |(plane, it): &(&Block, Side)| {
            let own = plane.vertices(it.element);
            let mut corners = own
                .iter()
                .map(|vertex| places.iter().any(|it| it.0 == *vertex));
            own.len() == places.len() && corners.all(|is_there| is_there)
        };
        let column = columns.find(is_below)?.1.element;
        let &[below, _, above] = cell.lines().last()?;
        let side = |layer: usize, slot: Option<usize>| {
            Some(self.side((column, layer), facet_of(cell, slot?)))
        };
        let lower = level.checked_sub(1).and_then(|layer| side(layer, above));
        let upper = (level < self.layers).then(|| side(level, below)).flatten();
        Some([lower, upper])
    }

    /// The elements of a layer at an edge of the plane.
    fn across_edge(&self, cell: Cell, ends: [u32; 2], layer: usize) -> Option<[Option<Side>; 2]> {
        let sides = facets::sides(&self.topology.facets, &ends)?;
        Some(sides.map(|side| {
            (side != NONE)
                .then(|| self.over(cell, side, layer))
                .flatten()
        }))
    }

    /// The side of a layer over one of a plane cell.
    fn over(&self, cell: Cell, side: u32, layer: usize) -> Option<Side> {
        let (plane, side) = self.topology.block_at(side);
        let [_, between, _] = cell.lines()[plane.cell.vertices() + side.facet];
        Some(self.side((side.element, layer), facet_of(cell, between?)))
    }

    fn side(&self, (column, layer): (usize, usize), facet: usize) -> Side {
        Side {
            block: 0,
            element: column * self.layers + layer,
            facet,
        }
    }

    /// As [`Topology::plane_cells`].
    pub(super) fn cells(&self) -> Vec<[u32; 4]> {
        let plane = &self.topology.entities.blocks[0];
        let places = facets::around(plane.cell);
        let of_cell = |column: usize| {
            let (vertices, mut nodes) = (plane.vertices(column), [NONE; 4]);
            for (node, &place) in nodes.iter_mut().zip(places) {
                *node = self.topology.nodes[vertices[place] as usize];
            }
            nodes
        };
        parallel::map(plane.elements(), of_cell)
    }

    /// The sides of one element: those at the bottom, at the top, and over edges of one plane cell.
    pub(super) fn outer_sides(&self, cell: Cell) -> Vec<Side> {
        let (plane, layers) = (&self.topology.entities.blocks[0], self.layers);
        let at_ends = cell
            .lines()
            .last()
            .into_iter()
            .flat_map(|&[below, _, above]| {
                let ends = [(below, 0), (above, layers - 1)];
                ends.into_iter()
                    .filter_map(|(slot, layer)| Some((slot?, layer)))
            });
        let at_ends = at_ends.flat_map(|(slot, layer)| {
            let columns = 0..plane.elements();
            columns.map(move |column| self.side((column, layer), facet_of(cell, slot)))
        });
        let edges = self.topology.facets.iter().flat_map(|part| &part.links);
        let outer = edges.filter(|(_, facet)| facet.sides[1] == NONE);
        let upright = outer.flat_map(|(_, facet)| {
            let of_layer = move |layer| self.over(cell, facet.sides[0], layer);
            (0..layers).filter_map(of_layer)
        });
        at_ends.chain(upright).collect()
    }
}

/// The facet of a cell in a slot of its entities.
fn facet_of(cell: Cell, slot: usize) -> usize {
    slot - cell.vertices() - cell.edges().len()
}
