//! Sections of MSH 2.2.

use super::{Encoding, Numbers, ends};
use crate::mesh::Mesh;
use std::io;

impl Numbers<'_> {
    pub(super) fn nodes_v2(&mut self, mesh: &Mesh) -> io::Result<()> {
        writeln!(self.out, "$Nodes\n{}", mesh.coordinates.len())?;
        for (number, x) in (1..).zip(mesh.coordinates.iter()) {
            self.int(number)?;
            self.point(x)?;
            self.line()?;
        }
        self.end("Nodes")
    }

    pub(super) fn elements_v2(&mut self, mesh: &Mesh) -> io::Result<()> {
        // A cell is repeated for each of its groups.
        let elements = |place: usize| {
            let cells = 0..mesh.blocks[place].len();
            let of_cell = |cell| mesh.groups_of(place, cell).count().max(1);
            cells.map(of_cell).sum()
        };
        let elements: Vec<usize> = (0..mesh.blocks.len()).map(elements).collect();
        writeln!(self.out, "$Elements\n{}", elements.iter().sum::<usize>())?;
        let mut number = 0;
        for (place, block) in mesh.blocks.iter().enumerate() {
            let gmsh_type = block.cell_type.gmsh_number().into();
            let ascii = self.encoding == Encoding::Ascii;
            if !ascii && !block.is_empty() {
                for head in [gmsh_type, elements[place] as i32, 2] {
                    self.int(head)?;
                }
            }
            let cells = (0..block.len()).flat_map(|cell| {
                let mut groups: Vec<i32> = mesh.groups_of(place, cell).collect();
                if groups.is_empty() {
                    groups.push(0);
                }
                groups.into_iter().map(move |tag| (cell, tag))
            });
            for (cell, tag) in cells {
                number += 1;
                self.int(number)?;
                if ascii {
                    self.int(gmsh_type)?;
                    self.int(2)?;
                }
                // The second tag is the elementary entity.
                self.int(tag)?;
                self.int(tag.max(1))?;
                for node in block.cell(cell).each() {
                    self.int(node as i32 + 1)?;
                }
                self.line()?;
            }
        }
        self.end("Elements")
    }

    /// Text even in binary files.
    pub(super) fn periodic_v2(&mut self, mesh: &Mesh) -> io::Result<()> {
        if mesh.periodic.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "$Periodic\n{}", mesh.periodic.len())?;
        for sides in &mesh.periodic {
            let entity = |groups: &[i32]| groups.first().map_or(1, |&tag| tag.max(1));
            let (dimension, tags) = ends(mesh, sides, entity);
            writeln!(self.out, "{dimension} {} {}", tags[0], tags[1])?;
            writeln!(self.out, "{}", sides.nodes.len())?;
            for [node, partner] in &sides.nodes {
                writeln!(self.out, "{} {}", node + 1, partner + 1)?;
            }
        }
        writeln!(self.out, "$EndPeriodic")
    }
}
