//! Extrusion of plane meshes to columns of prisms and hexahedra.

use super::{
    CellBlock, CellNodes, ColumnNodes, Coordinates, Lines, Membership, Mesh, MeshError,
    PeriodicSides, PhysicalGroup,
};
use crate::geometry::off_plane;
use femto_element::CellType;
use std::sync::Arc;

/// The levels between which a plane mesh is extruded.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// Fractions of the height from bottom to top, ascending from 0 to 1, `[layers + 1]`.
    pub levels: Vec<f64>,
}

impl Layers {
    /// Layers of equal height.
    pub fn uniform(layers: usize) -> Self {
        Self::graded(layers, 1.0)
    }

    /// Layers each `ratio` times as high as the one below.
    pub fn graded(layers: usize, ratio: f64) -> Self {
        let mut level = 0.0;
        let mut levels = vec![0.0];
        for layer in 0..layers {
            // The highest layer has the height 1: powers neither overflow nor vanish all.
            let from_highest = match ratio > 1.0 {
                true => layer as f64 - (layers - 1) as f64,
                false => layer as f64,
            };
            level += ratio.powf(from_highest);
            levels.push(level);
        }
        levels.iter_mut().for_each(|it| *it /= level);
        // Exactly, for any rounding.
        levels[layers] = if layers > 0 { 1.0 } else { 0.0 };
        Self { levels }
    }
}

/// A height over a position.
type Height<'a> = &'a dyn Fn([f64; 3]) -> f64;

/// Names of the groups of facets below and above.
const BOTTOM: &str = "bottom";
const TOP: &str = "top";

impl Mesh {
    /// The columns over a mesh of triangles and quadrilaterals in the plane: prisms and hexahedra between `bottom` and
    /// `top`, heights at a position in the plane.
    ///
    /// Node `n (layers + 1) + l` lies over node n of the plane mesh at level l, and cells of each shape are numbered
    /// column by column from bottom to top. Groups of plane cells become groups of solids, groups of edges those of
    /// the facets over them, with their names and numbers; the facets below and above are the groups `bottom` and
    /// `top`. What lies over periodic sides is periodic.
    ///
    /// # Errors
    /// A mesh that is not plane and straight, levels that do not ascend from 0 to 1, a top that is not above the bottom
    /// everywhere, other heights over one of two periodic sides, groups of edges that are called `bottom` or `top`, more
    /// nodes than 32-bit numbers can count.
    pub fn extrude(
        &self,
        layers: &Layers,
        bottom: impl Fn([f64; 2]) -> f64,
        top: impl Fn([f64; 2]) -> f64,
    ) -> Result<Self, MeshError> {
        let low = |[x, y, _]: [f64; 3]| bottom([x, y]);
        let high = |[x, y, _]: [f64; 3]| top([x, y]);
        self.extrude_nodes(layers, (&low, &high), true)
    }

    /// As [`Self::extrude`], of a mesh that need not be plane: its nodes have heights of their own, as those of a terrain,
    /// of which `bottom` and `top` may be functions. No two of its cells may lie above each other.
    ///
    /// # Errors
    /// As [`Self::extrude`], but for meshes that are not plane.
    pub fn extrude_surface(
        &self,
        layers: &Layers,
        bottom: impl Fn([f64; 3]) -> f64,
        top: impl Fn([f64; 3]) -> f64,
    ) -> Result<Self, MeshError> {
        self.extrude_nodes(layers, (&bottom, &top), false)
    }

    fn extrude_nodes(
        &self,
        layers: &Layers,
        (bottom, top): (Height<'_>, Height<'_>),
        is_plane: bool,
    ) -> Result<Self, MeshError> {
        self.check_lists()?;
        let levels = &layers.levels[..];
        let ascends = |pair: &[f64]| pair[0] < pair[1];
        let ends = [levels.first(), levels.last()];
        if levels.len() < 2 || ends != [Some(&0.0), Some(&1.0)] {
            return Err(MeshError::LevelEnds {
                found: ends.map(|end| end.copied()),
            });
        }
        if let Some(at) = levels.windows(2).position(|pair| !ascends(pair)) {
            return Err(MeshError::Levels {
                at,
                found: [levels[at], levels[at + 1]],
            });
        }
        let is_used = |block: &&CellBlock| !block.is_empty() && block.cell_type.dimension() > 0;
        if let Some(block) = self
            .blocks
            .iter()
            .filter(is_used)
            .find(|it| extruded(it).is_none())
        {
            return Err(MeshError::ExtrudedCells {
                found: block.cell_type.name(),
                count: block.len(),
            });
        }
        let plane_cells = self
            .blocks
            .iter()
            .filter(|it| it.cell_type.dimension() == 2);
        let own = self.coordinates.len();
        let used = self.blocks.iter().flat_map(|block| block.nodes.all());
        let paired = self.periodic.iter().flat_map(|sides| &sides.nodes);
        let mut named = used.chain(paired.flatten().copied());
        if let Some(node) = named.find(|&node| node as usize >= own) {
            return Err(MeshError::ExtrudedNode { node, nodes: own });
        }
        let mut cells = plane_cells.flat_map(|block| block.cells());
        let mut off = || cells.find_map(|cell| off_plane(&self.coordinates, &cell));
        if let Some(position) = is_plane.then(&mut off).flatten() {
            return Err(MeshError::ExtrudedSurface { position });
        }
        let nodes = self.coordinates.len() as u64 * levels.len() as u64;
        if self.dimension() != 2 {
            return Err(MeshError::ExtrudedNothing);
        }
        if nodes > u64::from(u32::MAX) {
            return Err(MeshError::ExtrudedNodes { nodes });
        }
        let mut is_used = vec![false; self.coordinates.len()];
        let raised = self.blocks.iter().filter(|block| extruded(block).is_some());
        for node in raised.flat_map(|block| block.nodes.all()) {
            is_used[node as usize] = true;
        }
        let mut lines = Lines {
            plane: self.coordinates.iter().map(|[x, y, _]| [x, y]).collect(),
            levels: levels.len(),
            heights: Vec::with_capacity(nodes as usize),
        };
        // Nodes without cells, such as the centres of arcs, all get the bottom's height at a used one.
        let some = is_used.iter().position(|&is_used| is_used).unwrap_or(0);
        let idle = self.coordinates.get(some).map_or(0.0, bottom);
        for ([x, y, z], is_used) in self.coordinates.iter().zip(is_used) {
            if !is_used {
                lines.heights.extend(levels.iter().map(|_| idle));
                continue;
            }
            let (low, high) = (bottom([x, y, z]), top([x, y, z]));
            // Not `>=`, so that NaN fails.
            if !(low < high && low.is_finite() && high.is_finite()) {
                return Err(MeshError::ExtrudedHeight {
                    position: [x, y],
                    bottom: low,
                    top: high,
                });
            }
            let heights = levels.iter().map(|&t| low * (1.0 - t) + high * t);
            lines.heights.extend(heights);
        }
        let raised = |sides: &PeriodicSides| PeriodicSides {
            nodes: (sides.nodes.iter())
                .flat_map(|pair| {
                    let count = levels.len() as u32;
                    (0..count).map(move |level| pair.map(|node| node * count + level))
                })
                .collect(),
        };
        let mut mesh = Self {
            coordinates: Coordinates::Lines(Arc::new(lines)),
            periodic: self.periodic.iter().map(raised).collect(),
            ..Self::default()
        };
        match mesh.unlike_sides() {
            Some(number) if self.unlike_sides().is_none() => {
                return Err(MeshError::ExtrudedSides { number: number + 1 });
            }
            _ => {}
        }
        let ends = self.extrude_groups(&mut mesh)?;
        for (number, block) in self.blocks.iter().enumerate() {
            if let Some(cell_type) = extruded(block) {
                self.extrude_block(number, cell_type, levels.len(), &mut mesh);
                if block.cell_type.dimension() == 2 {
                    mesh.push_ends(block, levels.len(), ends);
                }
            }
        }
        mesh.memberships.sort_unstable();
        Ok(mesh)
    }

    /// Adds this plane mesh's groups, one dimension higher, and those of the ends, whose numbers it returns.
    fn extrude_groups(&self, mesh: &mut Self) -> Result<[i32; 2], MeshError> {
        let raised = self
            .groups
            .iter()
            .filter(|group| (1..=2).contains(&group.dimension));
        mesh.groups = raised
            .map(|group| PhysicalGroup {
                dimension: group.dimension + 1,
                ..group.clone()
            })
            .collect();
        let of_facets = || mesh.groups.iter().filter(|group| group.dimension == 2);
        if let Some(taken) = of_facets().find(|group| [BOTTOM, TOP].contains(&&group.name[..])) {
            return Err(MeshError::ExtrudedGroup {
                name: taken.name.clone(),
            });
        }
        let largest = of_facets().map(|group| group.number).max().unwrap_or(0);
        let ends = [1, 2].map(|above| largest.max(0).checked_add(above));
        let [Some(bottom), Some(top)] = ends else {
            return Err(MeshError::ExtrudedNumbers { largest });
        };
        for (name, number) in [(BOTTOM, bottom), (TOP, top)] {
            mesh.groups.push(PhysicalGroup {
                dimension: 2,
                number,
                name: name.to_owned(),
            });
        }
        Ok([bottom, top])
    }

    /// Appends the cells over a block of plane cells or edges.
    fn extrude_block(&self, number: usize, cell_type: CellType, levels: usize, mesh: &mut Self) {
        let (block, layers) = (&self.blocks[number], levels - 1);
        let lowest = block.cells().flat_map(|cell| cell.each());
        let tags = (block.tags.iter()).flat_map(|&tag| std::iter::repeat_n(tag, layers));
        let others = self
            .memberships
            .iter()
            .filter(|it| it.block as usize == number);
        let of_layers = others.flat_map(|it| {
            (0..layers as u32).map(|layer| Membership {
                block: mesh.blocks.len() as u32,
                cell: it.cell * layers as u32 + layer,
                group: it.group,
            })
        });
        let of_layers: Vec<Membership> = of_layers.collect();
        mesh.memberships.extend(of_layers);
        mesh.blocks.push(CellBlock {
            cell_type,
            nodes: CellNodes::Columns(ColumnNodes {
                lowest: lowest.map(|node| node * levels as u32).collect(),
                per_base: block.cell_type.nodes(),
                layers,
            }),
            tags: tags.collect(),
        });
    }

    /// Appends the lowest and highest facets of columns over a block of plane cells.
    fn push_ends(&mut self, block: &CellBlock, levels: usize, ends: [i32; 2]) {
        let (mut nodes, mut tags) = (Vec::new(), Vec::new());
        for (level, tag) in [0, levels - 1].into_iter().zip(ends) {
            let above = block.cells().flat_map(|cell| cell.each());
            nodes.extend(above.map(|node| node * levels as u32 + level as u32));
            tags.extend(std::iter::repeat_n(tag, block.len()));
        }
        self.blocks.push(CellBlock {
            cell_type: block.cell_type,
            nodes: nodes.into(),
            tags,
        });
    }
}

/// The type of the cells over those of a block, if they are straight edges or plane cells.
fn extruded(block: &CellBlock) -> Option<CellType> {
    let base = Some(block.cell_type).filter(|it| it.order() == 1)?;
    CellType::complete(base.cell().extruded()?, 1)
}

#[cfg(test)]
mod tests;
