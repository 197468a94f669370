//! The sections of a file, from `$Name` to `$EndName`, in any version.

use std::collections::HashSet;

use super::build::Builder;
use super::cursor::{Parsed, fault};
use super::error::GmshError;
use super::numbers::{Item, Numbers, Widths, range};
use super::v4::{Entities, Minor};
use super::{periodic, v1, v2, v4};
use crate::mesh::{Mesh, PhysicalGroup};

/// The versions of the format that are read differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    V1,
    /// Names of groups have no dimension.
    V2_0,
    /// 2.1 and 2.2.
    V2,
    V4(Minor),
}

/// The state of reading a file.
struct Reader<'f, 'a> {
    file: &'f mut Numbers<'a>,
    mesh: Builder,
    entities: Entities,
    format: Option<Format>,
    /// Names of the sections read, not those skipped.
    seen: HashSet<String>,
}

/// Reads all sections: the mesh, and the numbers of its cells, `[block][cell]`, which are empty unless
/// `keep_numbers`.
pub(super) fn read(file: &mut Numbers, keep_numbers: bool) -> Parsed<(Mesh, Vec<Vec<u64>>)> {
    let size = file.text.size();
    let mut reader = Reader {
        file,
        mesh: Builder::new(size, keep_numbers),
        entities: Entities::new(),
        format: None,
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
            return Err(fault(size, GmshError::MissingSection(needed)));
        }
    }
    Ok(reader.mesh.finish())
}

impl Reader<'_, '_> {
    /// The offset and name of the section that starts here; `None` at the end of the file.
    fn open(&mut self) -> Parsed<Option<(usize, String)>> {
        let text = &mut self.file.text;
        let at = text.skip_space();
        let before = text.clone();
        let token = text.token();
        if token.is_empty() {
            return Ok(None);
        }
        match token.strip_prefix(b"$").map(String::from_utf8_lossy) {
            Some(name) if !name.is_empty() && !name.starts_with("End") => {
                text.end_of_line()?;
                // MSH 1.0 has no format section.
                if name == "NOD" && self.format.is_none() {
                    self.format = Some(Format::V1);
                    self.seen.insert("MeshFormat".to_owned());
                }
                Ok(Some((at, name.into_owned())))
            }
            _ if at == 0 || before.line(at) == 1 => {
                let found = before.excerpt();
                Err(fault(at, GmshError::NotGmsh { found }))
            }
            _ => Err(before.unexpected("the beginning of a section, such as `$Nodes`")),
        }
    }

    /// Reads the section whose name was just read; false if it should be skipped.
    fn section(&mut self, at: usize, name: &str) -> Parsed<bool> {
        let known = matches!(
            name,
            "MeshFormat"
                | "PhysicalNames"
                | "Entities"
                | "PartitionedEntities"
                | "Nodes"
                | "Elements"
                | "Periodic"
        );
        let of_v1 = matches!(name, "NOD" | "ELM") && self.format == Some(Format::V1);
        if name == "ParametricNodes" {
            return Err(fault(at, GmshError::ParametricNodes));
        }
        if !known && !of_v1 {
            return Ok(false);
        }
        let role = match name {
            "NOD" => "Nodes",
            "ELM" => "Elements",
            name => name,
        };
        if !self.seen.insert(role.into()) {
            return Err(fault(at, GmshError::RepeatedSection(name.into())));
        }
        self.check_order(at, role)?;
        let (file, mesh, entities) = (&mut *self.file, &mut self.mesh, &mut self.entities);
        match (name, self.format) {
            ("MeshFormat", _) => self.format = Some(format(file)?),
            ("PhysicalNames", format) => {
                physical_names(file, format == Some(Format::V2_0), mesh)?;
            }
            ("NOD", _) | ("Nodes", Some(Format::V2_0 | Format::V2)) => v2::nodes(file, mesh)?,
            ("ELM", _) => v1::elements(file, mesh)?,
            ("Elements", Some(Format::V2_0 | Format::V2)) => v2::elements(file, mesh)?,
            ("Entities", Some(Format::V4(minor))) => v4::entities(file, minor, entities)?,
            ("PartitionedEntities", Some(Format::V4(minor))) => {
                v4::partitioned_entities(file, minor, entities)?;
            }
            ("Nodes", Some(Format::V4(minor))) => v4::nodes(file, minor, mesh)?,
            ("Elements", Some(Format::V4(minor))) => v4::elements(file, minor, mesh, entities)?,
            ("Periodic", Some(Format::V4(Minor::One))) => periodic::links(file, mesh)?,
            ("Periodic", Some(Format::V4(Minor::Zero))) => periodic::old_links(file, mesh)?,
            ("Periodic", Some(Format::V2_0 | Format::V2)) => periodic::text_links(file, mesh)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Each section of data needs the format, elements need nodes and, if the file has any,
    /// entities.
    fn check_order(&self, at: usize, name: &str) -> Parsed<()> {
        let error = |section: &str, needs| {
            let section = section.into();
            Err(fault(at, GmshError::Order { section, needs }))
        };
        if name != "MeshFormat" && self.format.is_none() {
            return error(name, "MeshFormat");
        }
        if matches!(name, "Elements" | "Periodic") && !self.seen.contains("Nodes") {
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
        let end = match name {
            "NOD" | "ELM" => format!("$END{name}"),
            name => format!("$End{name}"),
        };
        let text = &mut self.file.text;
        text.skip_space();
        let before = text.clone();
        if text.token() == end.as_bytes() {
            return Ok(());
        }
        Err(before.unexpected(&format!("`{end}`")))
    }

    /// Skips the rest of an unknown section.
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
        Err(fault(at, GmshError::End { expected }))
    }
}

/// `$MeshFormat`: version, 0 for ASCII or 1 for binary, data size; in binary files a 1 that shows the byte
/// order. Switches `file` to the right encoding.
fn format(file: &mut Numbers) -> Parsed<Format> {
    let at = file.text.skip_space();
    let found = file.text.excerpt();
    let (format, version) = match file.text.float("the version of the format")? {
        2.0 => (Format::V2_0, "2.0"),
        2.1 => (Format::V2, "2.1"),
        2.2 => (Format::V2, "2.2"),
        4.0 => (Format::V4(Minor::Zero), "4.0"),
        4.1 => (Format::V4(Minor::One), "4.1"),
        _ => {
            let found = found.trim_matches('`').into();
            return Err(fault(at, GmshError::Version { found }));
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
    // In 4.1 the size of counts and of node and element numbers; before, that of coordinates.
    let [count, id] = match (format, found) {
        (Format::V2_0 | Format::V2, 8) => [4, 4],
        (Format::V4(Minor::Zero), 8) => [8, 4],
        (Format::V4(Minor::One), 4) => [4, 4],
        (Format::V4(Minor::One), 8) => [8, 8],
        _ => {
            let supported = match format {
                Format::V4(Minor::One) => "4 and 8",
                _ => "8",
            };
            return Err(fault(
                at,
                GmshError::DataSize {
                    found,
                    version,
                    supported,
                },
            ));
        }
    };
    file.text.end_of_line()?;
    if binary {
        file.switch_to_binary(Widths { count, id })?;
    }
    Ok(format)
}

/// `$PhysicalNames`: dimension, number and quoted name of each group, text even in binary files. The
/// dimension is missing in most files of version 2.0 (`may_miss`). Entries of dimension -1 are not groups.
fn physical_names(file: &mut Numbers, may_miss: bool, mesh: &mut Builder) -> Parsed<()> {
    // The minimum for a group, in any encoding.
    let group = Item {
        ints: 1,
        ..Item::default()
    };
    for _ in 0..file.text_count("the number of physical groups", group)? {
        let at = file.text.skip_space();
        let what = "the dimension of a physical group";
        let first = file.text.clone();
        let dimension = file.text.integer(what)?;
        file.text.skip_space();
        let is_missing = may_miss && file.text.rest().first() == Some(&b'"');
        let dimension = match dimension {
            _ if is_missing => {
                file.text = first;
                None
            }
            -1..=3 => Some(dimension),
            found => return Err(range(at, what, found, "0 to 3, or -1")),
        };
        let number_at = file.text.skip_space();
        let what = "the number of a physical group";
        let number = match file.text.integer(what)? {
            number @ 1..=0x7fff_ffff => number as i32,
            _ if dimension == Some(-1) => 0,
            found => return Err(range(number_at, what, found, "1 to 2^31 - 1")),
        };
        let name = file
            .text
            .quoted("the name of a physical group in double quotes")?;
        let added = match dimension.map(usize::try_from) {
            None => mesh.name_groups(number, name),
            // Of dimension -1.
            Some(Err(_)) => Ok(()),
            Some(Ok(dimension)) => mesh.add_group(PhysicalGroup {
                dimension,
                number,
                name,
            }),
        };
        added.map_err(|p| fault(at, p))?;
    }
    Ok(())
}
