//! Writing meshes as Gmsh files, in every writable version and encoding.

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;

use crate::mesh::{CellBlock, Mesh, PeriodicSides};

/// A version of the MSH format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// MSH 2.2, understood by many programs.
    V2_2,
    /// MSH 4.1, Gmsh's current format.
    V4_1,
}

/// The encoding of a file's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Decimal text; coordinates are read back exactly.
    Ascii,
    /// Binary, least significant byte first.
    LittleEndian,
    /// Binary, most significant byte first.
    BigEndian,
}

/// Writes a mesh. Nodes and elements are numbered from 1 in the order of the mesh; in 4.1 every
/// pair of dimension and tag becomes an entity.
///
/// # Errors
/// Those of `out`, which is not buffered here; [`io::ErrorKind::InvalidInput`] for content that the format
/// cannot represent: group names with quotes or line breaks, more elements than 32-bit numbers can count.
pub fn write(
    mesh: &Mesh,
    out: &mut dyn Write,
    version: Version,
    encoding: Encoding,
) -> io::Result<()> {
    check(mesh)?;
    let mut out = Numbers { out, encoding };
    out.format(version)?;
    out.physical_names(mesh)?;
    match version {
        Version::V2_2 => {
            out.nodes_v2(mesh)?;
            out.elements_v2(mesh)?;
            out.periodic_v2(mesh)
        }
        Version::V4_1 => {
            let entities = entities(mesh);
            out.entities_v4(mesh, &entities)?;
            out.nodes_v4(mesh, &entities)?;
            out.elements_v4(mesh, &entities)?;
            out.periodic_v4(mesh, &entities)
        }
    }
}

/// Checks that both versions can represent the mesh.
fn check(mesh: &Mesh) -> io::Result<()> {
    let invalid = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    mesh.check_lists()
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    if mesh
        .groups
        .iter()
        .any(|g| g.name.contains(['"', '\n', '\r']))
    {
        return invalid("the name of a physical group has a double quote or a line break");
    }
    // A cell's tag of 0 is no group.
    let mut tags = mesh.blocks.iter().flat_map(|block| &block.tags);
    let groups = mesh.groups.iter().map(|group| group.number);
    let mut groups = groups.chain(mesh.memberships.iter().map(|it| it.group));
    if tags.any(|tag| *tag < 0) || groups.any(|number| number <= 0) {
        return invalid("a physical group has a number below 1");
    }
    let cells: usize = mesh.blocks.iter().map(CellBlock::len).sum();
    let elements = cells + mesh.memberships.len();
    if i32::try_from(elements.max(mesh.coordinates.len())).is_err() {
        return invalid("more nodes or elements than 32-bit numbers can count");
    }
    Ok(())
}

/// Dimension and physical groups of every entity, by tag of the entity minus 1.
type Entities = Vec<(usize, Vec<i32>)>;

fn entities(mesh: &Mesh) -> Entities {
    let pairs = all_runs(mesh).into_iter();
    let pairs = pairs.map(|run| (run.block.cell_type.dimension(), run.groups));
    let mut entities: Entities = pairs.collect();
    entities.sort_unstable();
    entities.dedup();
    entities
}

/// Writes numbers in the encoding of the file.
struct Numbers<'a> {
    out: &'a mut dyn Write,
    encoding: Encoding,
}

impl Numbers<'_> {
    fn put(&mut self, little_endian: &mut [u8]) -> io::Result<()> {
        if self.encoding == Encoding::BigEndian {
            little_endian.reverse();
        }
        self.out.write_all(little_endian)
    }

    fn int(&mut self, value: i32) -> io::Result<()> {
        match self.encoding {
            Encoding::Ascii => write!(self.out, "{value} "),
            _ => self.put(&mut value.to_le_bytes()),
        }
    }

    fn size(&mut self, value: usize) -> io::Result<()> {
        match self.encoding {
            Encoding::Ascii => write!(self.out, "{value} "),
            _ => self.put(&mut (value as u64).to_le_bytes()),
        }
    }

    fn point(&mut self, x: [f64; 3]) -> io::Result<()> {
        match self.encoding {
            // `Debug` writes the shortest text that parses to the same number.
            Encoding::Ascii => write!(self.out, "{:?} {:?} {:?} ", x[0], x[1], x[2]),
            _ => x.iter().try_for_each(|x| self.put(&mut x.to_le_bytes())),
        }
    }

    /// Ends a line of an ASCII file.
    fn line(&mut self) -> io::Result<()> {
        match self.encoding {
            Encoding::Ascii => writeln!(self.out),
            _ => Ok(()),
        }
    }

    /// Ends a section.
    fn end(&mut self, name: &str) -> io::Result<()> {
        self.out.write_all(match self.encoding {
            Encoding::Ascii => b"",
            _ => b"\n",
        })?;
        writeln!(self.out, "$End{name}")
    }

    fn format(&mut self, version: Version) -> io::Result<()> {
        let version = match version {
            Version::V2_2 => "2.2",
            Version::V4_1 => "4.1",
        };
        let binary = i32::from(self.encoding != Encoding::Ascii);
        writeln!(self.out, "$MeshFormat\n{version} {binary} 8")?;
        if binary == 1 {
            self.int(1)?;
        }
        self.end("MeshFormat")
    }

    fn physical_names(&mut self, mesh: &Mesh) -> io::Result<()> {
        writeln!(self.out, "$PhysicalNames\n{}", mesh.groups.len())?;
        for group in &mesh.groups {
            let (dimension, number, name) = (group.dimension, group.number, &group.name);
            writeln!(self.out, "{dimension} {number} \"{name}\"")?;
        }
        writeln!(self.out, "$EndPhysicalNames")
    }

    fn nodes_v2(&mut self, mesh: &Mesh) -> io::Result<()> {
        writeln!(self.out, "$Nodes\n{}", mesh.coordinates.len())?;
        for (number, x) in (1..).zip(mesh.coordinates.iter()) {
            self.int(number)?;
            self.point(x)?;
            self.line()?;
        }
        self.end("Nodes")
    }

    fn elements_v2(&mut self, mesh: &Mesh) -> io::Result<()> {
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
    fn periodic_v2(&mut self, mesh: &Mesh) -> io::Result<()> {
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

    fn periodic_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
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

    fn entities_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
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

    fn nodes_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
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

    fn elements_v4(&mut self, mesh: &Mesh, entities: &Entities) -> io::Result<()> {
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
}

/// The dimension of two periodic sides and the tags of their entities, given by `entity` for the groups of
/// the first cell on each side; 1 without a cell.
fn ends(mesh: &Mesh, sides: &PeriodicSides, entity: impl Fn(&[i32]) -> i32) -> (usize, [i32; 2]) {
    let dimension = mesh.dimension().saturating_sub(1);
    let tag = |side: usize| {
        let on_side: HashSet<u32> = sides.nodes.iter().map(|pair| pair[side]).collect();
        let blocks = mesh.blocks.iter().enumerate();
        let facets = blocks.filter(|(_, block)| block.cell_type.dimension() == dimension);
        let mut cells = facets.flat_map(|(place, block)| {
            (0..block.len()).map(move |cell| (place, cell, block.cell(cell)))
        });
        let found = cells.find(|(.., nodes)| nodes.iter().all(|node| on_side.contains(node)));
        found.map_or(1, |(place, cell, _)| {
            entity(&mesh.groups_of(place, cell).collect::<Vec<_>>())
        })
    };
    (dimension, [tag(0), tag(1)])
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
