//! Gmsh meshes: reads MSH 1.0, 2.0 to 2.2, 4.0 and 4.1, ASCII and binary of either byte order; writes 2.2
//! and 4.1.
//!
//! The reader keeps nodes, cells of every type in [`CellType`](super::CellType), physical groups with their
//! names, and the pairs of sides linked by `$Periodic`. Other sections, such as `$Comments`, are skipped.
//!
//! - Nodes keep the order of the file, even if no cell uses them; cells refer to positions in that order,
//!   not to the numbers in the file.
//! - A cell's tag is its first physical group; further groups are memberships. MSH 2 files repeat such a
//!   cell, once per group.
//! - Physical tags lose their sign, which only indicates orientation.
//! - Groups that have cells but no name come after the named ones. A name without a dimension (MSH 2.0)
//!   applies to the groups of its number that have cells.
//!
//! Files are not trusted: whatever their contents, reading returns a mesh or an error with the line (ASCII)
//! or byte offset (binary), and allocations stay within a small multiple of the file's size.

mod build;
mod cursor;
mod error;
mod ids;
mod numbers;
mod periodic;
mod sections;
mod v1;
mod v2;
mod v4;
mod write;

pub use error::{GmshError, Place};
pub use write::{Encoding, Version, write};

use super::{Mesh, MeshError};

/// Parses a mesh from the bytes of a file; `name` is the file's name in errors.
///
/// # Errors
/// [`MeshError::Gmsh`] with the position and the [`GmshError`].
pub fn parse(bytes: &[u8], name: &str) -> Result<Mesh, MeshError> {
    read(bytes, name, false).map(|(mesh, _)| mesh)
}

/// As [`parse`], with the file's numbers of the cells, `[block][cell]`.
///
/// # Errors
/// As [`parse`].
pub fn parse_numbered(bytes: &[u8], name: &str) -> Result<(Mesh, Vec<Vec<u64>>), MeshError> {
    read(bytes, name, true)
}

fn read(bytes: &[u8], name: &str, keep_numbers: bool) -> Result<(Mesh, Vec<Vec<u64>>), MeshError> {
    // Some editors on Windows write a byte order mark.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut file = numbers::Numbers::new(bytes);
    sections::read(&mut file, keep_numbers).map_err(|fault| MeshError::Gmsh {
        file: name.into(),
        place: file.place(fault.at),
        problem: fault.problem,
    })
}
