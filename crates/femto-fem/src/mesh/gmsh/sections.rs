//! The sections of a file, from `$Name` to `$EndName`, whatever the version.

use std::collections::HashSet;

use super::build::Builder;
use super::cursor::{Parsed, fault};
use super::numbers::{Item, Numbers, range};
use super::problem::Problem;
use super::v4::Entities;
use super::{Version, v2, v4};
use crate::mesh::{Mesh, PhysicalGroup};

/// What has been read so far.
struct Reader<'f, 'a> {
    file: &'f mut Numbers<'a>,
    mesh: Builder,
    entities: Entities,
    version: Option<Version>,
    /// Names of the sections that were read, not skipped.
    seen: HashSet<String>,
}

/// Reads all sections.
pub(super) fn read(file: &mut Numbers) -> Parsed<Mesh> {
    let size = file.text.size();
    let mut reader = Reader {
        file,
        mesh: Builder::new(size),
        entities: Entities::new(),
        version: None,
        seen: HashSet::new(),
    };
    while let Some((at, name)) = reader.open()? {
        if reader.section(at, &name)? {
            reader.close(&name)?;
        } else {
            reader.skip(at, &name)?;
        }
    }
    for needed in ["MeshFormat", "Nodes", "Elements"] {
        if !reader.seen.contains(needed) {
            return Err(fault(size, Problem::MissingSection(needed)));
        }
    }
    Ok(reader.mesh.finish())
}

impl Reader<'_, '_> {
    /// The offset and name of the section that begins here; none at the end of the file.
    fn open(&mut self) -> Parsed<Option<(usize, String)>> {
        let text = &mut self.file.text;
        let at = text.skip_space();
        let before = text.clone();
        let token = text.token();
        if token.is_empty() {
            return Ok(None);
        }
        match token.strip_prefix(b"$").map(String::from_utf8_lossy) {
            // MSH 1.0 has no format section.
            Some(name) if name == "NOD" => {
                let found = "1.0".into();
                Err(fault(at, Problem::Version { found }))
            }
            Some(name) if !name.is_empty() && !name.starts_with("End") => {
                text.end_of_line()?;
                Ok(Some((at, name.into_owned())))
            }
            _ if at == 0 || before.line(at) == 1 => {
                let found = before.excerpt();
                Err(fault(at, Problem::NotGmsh { found }))
            }
            _ => Err(before.unexpected("the beginning of a section, such as `$Nodes`")),
        }
    }

    /// Reads the section whose beginning was just read; false if it is to be skipped.
    fn section(&mut self, at: usize, name: &str) -> Parsed<bool> {
        let known = matches!(
            name,
            "MeshFormat"
                | "PhysicalNames"
                | "Entities"
                | "PartitionedEntities"
                | "Nodes"
                | "Elements"
        );
        if !known {
            return Ok(false);
        }
        if !self.seen.insert(name.into()) {
            return Err(fault(at, Problem::RepeatedSection(name.into())));
        }
        self.check_order(at, name)?;
        let (file, mesh) = (&mut *self.file, &mut self.mesh);
        match (name, self.version) {
            ("MeshFormat", _) => self.version = Some(format(file)?),
            ("PhysicalNames", _) => physical_names(file, mesh)?,
            ("Nodes", Some(Version::V2_2)) => v2::nodes(file, mesh)?,
            ("Elements", Some(Version::V2_2)) => v2::elements(file, mesh)?,
            ("Entities", Some(Version::V4_1)) => v4::entities(file, &mut self.entities)?,
            ("PartitionedEntities", Some(Version::V4_1)) => {
                v4::partitioned_entities(file, &mut self.entities)?;
            }
            ("Nodes", _) => v4::nodes(file, mesh)?,
            ("Elements", _) => v4::elements(file, mesh, &self.entities)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Each section of data needs the format, elements need nodes and, if the file has any,
    /// entities.
    fn check_order(&self, at: usize, name: &str) -> Parsed<()> {
        let error = |section: &str, needs| {
            let section = section.into();
            Err(fault(at, Problem::Order { section, needs }))
        };
        if name != "MeshFormat" && self.version.is_none() {
            return error(name, "MeshFormat");
        }
        if name == "Elements" && !self.seen.contains("Nodes") {
            return error(name, "Nodes");
        }
        if name.ends_with("Entities") && self.seen.contains("Elements") {
            return error(
                "Elements",
                if name == "Entities" {
                    "Entities"
                } else {
                    "PartitionedEntities"
                },
            );
        }
        Ok(())
    }

    /// The end of the section that was read.
    fn close(&mut self, name: &str) -> Parsed<()> {
        let text = &mut self.file.text;
        text.skip_space();
        let before = text.clone();
        if text.token().strip_prefix(b"$End") == Some(name.as_bytes()) {
            return Ok(());
        }
        Err(before.unexpected(&format!("`$End{name}`")))
    }

    /// Passes over the rest of a section that means nothing to femto.
    fn skip(&mut self, at: usize, name: &str) -> Parsed<()> {
        let end = format!("$End{name}");
        let rest = self.file.text.rest();
        let mut from = 0;
        while let Some(dollar) = rest[from..].iter().position(|&byte| byte == b'$') {
            from += dollar;
            if let Some(after) = rest[from..].strip_prefix(end.as_bytes())
                && after.first().is_none_or(u8::is_ascii_whitespace)
            {
                self.file.text.advance(from + end.len());
                return Ok(());
            }
            from += 1;
        }
        let expected = format!("`{end}`, for the section that begins here,");
        Err(fault(at, Problem::End { expected }))
    }
}

/// `$MeshFormat`: version, 0 for ASCII or 1 for binary, data size; in binary files a 1 that tells
/// the byte order. Leaves `file` reading numbers of the right coding.
fn format(file: &mut Numbers) -> Parsed<Version> {
    let at = file.text.skip_space();
    let found = file.text.excerpt();
    let version = match file.text.float("the version of the format")? {
        2.2 => Version::V2_2,
        4.1 => Version::V4_1,
        _ => {
            let found = found.trim_matches('`').into();
            return Err(fault(at, Problem::Version { found }));
        }
    };
    let at = file.text.skip_space();
    let binary = match file.text.integer("the file type")? {
        0 => false,
        1 => true,
        found => return Err(range(at, "the file type", found, "0 (ASCII) or 1 (binary)")),
    };
    let at = file.text.skip_space();
    let found = file.text.integer("the data size")?;
    // In 2.2 the size of coordinates, in 4.1 the size of counts and numbers.
    let size_bytes = match (version, found) {
        (Version::V2_2, 8) => 4,
        (Version::V4_1, 4) => 4,
        (Version::V4_1, 8) => 8,
        _ => {
            let (version, supported) = match version {
                Version::V2_2 => ("2.2", "8"),
                Version::V4_1 => ("4.1", "4 and 8"),
            };
            return Err(fault(
                at,
                Problem::DataSize {
                    found,
                    version,
                    supported,
                },
            ));
        }
    };
    file.text.end_of_line()?;
    if binary {
        file.switch_to_binary(size_bytes)?;
    }
    Ok(version)
}

/// `$PhysicalNames`: dimension, number and quoted name of each group, text in binary files too.
fn physical_names(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    // The least that a group takes, in any coding.
    let group = Item {
        ints: 1,
        ..Item::default()
    };
    for _ in 0..file.text_count("the number of physical groups", group)? {
        let at = file.text.skip_space();
        let what = "the dimension of a physical group";
        let dimension = match file.text.integer(what)? {
            dimension @ 0..=3 => dimension as usize,
            found => return Err(range(at, what, found, "0 to 3")),
        };
        let number_at = file.text.skip_space();
        let what = "the number of a physical group";
        let number = match file.text.integer(what)? {
            number @ 1..=0x7fff_ffff => number as i32,
            found => return Err(range(number_at, what, found, "1 to 2^31 - 1")),
        };
        let name = file
            .text
            .quoted("the name of a physical group in double quotes")?;
        let group = PhysicalGroup {
            dimension,
            number,
            name,
        };
        mesh.add_group(group).map_err(|p| fault(at, p))?;
    }
    Ok(())
}
