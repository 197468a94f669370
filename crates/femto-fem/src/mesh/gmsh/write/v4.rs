//! Sections of MSH 4.1.

use super::{Numbers, ends};
use crate::mesh::{CellBlock, Mesh};
use std::io;
use std::ops::Range;

/// Dimension and physical groups of every entity, by tag of the entity minus 1.
pub(super) type Entities = Vec<(usize, Vec<i32>)>;

pub(super) fn entities(mesh: &Mesh) -> Entities {
    let pairs = all_runs(mesh).into_iter();
    let pairs = pairs.map(|run| (run.block.cell_type.dimension(), run.groups));
    let mut entities: Entities = pairs.collect();
    entities.sort_unstable();
    entities.dedup();
    entities
}

impl Numbers<'_> {
    pub(super) fn entities_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
        writeln!(self.out, "$Entities")?;
        for dimension in 0..4 {
            self.size(entities.iter().filter(|e| e.0 == dimension).count())?;
        }
        self.line()?;
        let (lower, upper) = match mesh.coordinates.is_empty() {
            true => ([0.0; 3], [0.0; 3]),
            false => mesh.coordinates.bounding_box(),
        };
        for (number, (dimension, groups)) in (1..).zip(entities) {
            let dimension = *dimension;
            self.int(number)?;
            self.point(lower)?;
            if dimension > 0 {
                self.point(upper)?;
            }
            self.size(groups.len())?;
            for &group in groups {
                self.int(group)?;
            }
            if dimension > 0 {
                self.size(0)?;
            }
            self.line()?;
        }
        self.end("Entities")
    }

    pub(super) fn nodes_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
        let nodes = mesh.coordinates.len();
        writeln!(self.out, "$Nodes")?;
        for head in [1, nodes, 1, nodes] {
            self.size(head)?;
        }
        self.line()?;
        // All nodes are listed under the last entity, one of the highest dimension.
        self.int(entities.last().map_or(0, |e| e.0 as i32))?;
        self.int(entities.len() as i32)?;
        self.int(0)?;
        self.size(nodes)?;
        self.line()?;
        for number in 1..=nodes {
            self.size(number)?;
            self.line()?;
        }
        for x in mesh.coordinates.iter() {
            self.point(x)?;
            self.line()?;
        }
        self.end("Nodes")
    }

    pub(super) fn elements_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
        let runs = all_runs(mesh);
        let total = runs.iter().map(|run| run.cells.len()).sum();
        writeln!(self.out, "$Elements")?;
        for head in [runs.len(), total, 1, total] {
            self.size(head)?;
        }
        self.line()?;
        let mut number = 0;
        for run in runs {
            let cell_type = run.block.cell_type;
            let dimension = cell_type.dimension();
            let entity = entities.binary_search(&(dimension, run.groups));
            self.int(dimension as i32)?;
            self.int(entity.map_or(0, |entity| entity as i32 + 1))?;
            self.int(cell_type.gmsh_number().into())?;
            self.size(run.cells.len())?;
            self.line()?;
            for cell in run.cells {
                number += 1;
                self.size(number)?;
                for node in run.block.cell(cell).each() {
                    self.size(node as usize + 1)?;
                }
                self.line()?;
            }
        }
        self.end("Elements")
    }

    pub(super) fn periodic_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
        if mesh.periodic.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "$Periodic")?;
        self.size(mesh.periodic.len())?;
        self.line()?;
        for sides in &mesh.periodic {
            let dimension = mesh.dimension().saturating_sub(1);
            let entity = |groups: &[i32]| {
                let found = entities
                    .iter()
                    .position(|(of, own)| *of == dimension && own == groups);
                found.map_or(1, |place| place as i32 + 1)
            };
            let (dimension, tags) = ends(mesh, sides, entity);
            self.int(dimension as i32)?;
            tags.into_iter().try_for_each(|tag| self.int(tag))?;
            self.line()?;
            // Without an affine map.
            self.size(0)?;
            self.line()?;
            self.size(sides.nodes.len())?;
            self.line()?;
            for pair in &sides.nodes {
                pair.iter()
                    .try_for_each(|&node| self.size(node as usize + 1))?;
                self.line()?;
            }
        }
        self.end("Periodic")
    }
}

/// Consecutive cells of one type in the same groups.
struct Run<'a> {
    block: &'a CellBlock,
    groups: Vec<i32>,
    cells: Range<usize>,
}

fn all_runs(mesh: &Mesh) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    for (place, block) in mesh.blocks.iter().enumerate() {
        let groups = |cell: usize| mesh.groups_of(place, cell);
        let mut first = 0;
        for cell in 1..=block.len() {
            if cell < block.len() && groups(first).eq(groups(cell)) {
                continue;
            }
            runs.push(Run {
                block,
                groups: groups(first).collect(),
                cells: first..cell,
            });
            first = cell;
        }
    }
    runs
}
