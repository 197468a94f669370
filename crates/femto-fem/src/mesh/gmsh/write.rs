//! Writing meshes as Gmsh files, in every writable version and encoding.

mod v2;
mod v4;

use std::collections::HashSet;
use std::io::{self, Write};

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
            let entities = v4::entities(mesh);
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
