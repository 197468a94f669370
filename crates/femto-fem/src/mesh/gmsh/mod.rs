//! Gmsh meshes: MSH 1.0, 2.0 to 2.2, 4.0 and 4.1, ASCII and binary of either byte order; 2.2 and 4.1 are written.
//!
//! What is read: nodes, cells of every type in [`CellType`](super::CellType), physical groups and
//! their names. Pairs of sides that `$Periodic` links are kept. Other sections, such as `$Comments`, are skipped.
//!
//! - Nodes keep the order of the file, also those that no cell uses; cells refer to positions in
//!   that order, not to the numbers in the file.
//! - A cell's tag is its first physical group; the others that it is in are memberships. MSH 2 files repeat such a
//!   cell, once per group.
//! - Physical tags lose their sign, which only tells an orientation.
//! - Groups that have cells but no name come after the named ones. A name without a dimension (MSH 2.0) is that of
//!   the groups of its number that have cells.
//!
//! Files are not trusted: whatever they hold, reading ends in a mesh or in an error that names
//! the line (ASCII) or byte offset (binary), and what is allocated stays within a small multiple
//! of the file's size.

mod build;
mod cursor;
mod ids;
mod numbers;
mod periodic;
mod problem;
mod sections;
mod v1;
mod v2;
mod v4;
mod write;

pub use problem::{Place, Problem};
pub use write::{Encoding, Version, write};

use super::{Mesh, MeshError};

/// Reads a mesh from the bytes of a file; `name` is what errors call the file.
///
/// # Errors
/// [`MeshError::Gmsh`] with the place and the [`Problem`].
pub fn parse(bytes: &[u8], name: &str) -> Result<Mesh, MeshError> {
    read(bytes, name, false).map(|(mesh, _)| mesh)
}

/// The same, and the numbers that the file gives the cells, `[block][cell]`.
///
/// # Errors
/// As [`parse`].
pub fn parse_numbered(bytes: &[u8], name: &str) -> Result<(Mesh, Vec<Vec<u64>>), MeshError> {
    read(bytes, name, true)
}

fn read(bytes: &[u8], name: &str, keep_numbers: bool) -> Result<(Mesh, Vec<Vec<u64>>), MeshError> {
    let mut file = numbers::Numbers::new(bytes);
    sections::read(&mut file, keep_numbers).map_err(|fault| MeshError::Gmsh {
        file: name.into(),
        place: file.place(fault.at),
        problem: fault.problem,
    })
}
