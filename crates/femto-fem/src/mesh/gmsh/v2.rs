//! Nodes and elements of MSH 2.0 to 2.2.
//!
//! Gmsh reference manual, "MSH file format version 2 (Legacy)". Counts are text even in binary files. The
//! first tag of an element is its physical group.

use super::build::Builder;
use super::cursor::{Parsed, fault};
use super::error::GmshError;
use super::numbers::{Item, Numbers, range};
use femto_element::CellType;

/// `number x y z` per node.
pub(super) fn nodes(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    let node = Item {
        ids: 1,
        floats: 3,
        ..Item::default()
    };
    let count = file.text_count("the number of nodes", node)?;
    mesh.reserve_nodes(count);
    for _ in 0..count {
        let at = file.at();
        let number = file.id("a node number")?;
        let x = file.point()?;
        mesh.add_node(number, x).map_err(|p| fault(at, p))?;
    }
    Ok(())
}

/// ASCII: `number type tags... nodes...` per element. Binary: runs of elements of the same type and number
/// of tags, each run under a header.
pub(super) fn elements(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    // Each element has number, type and number of tags, or in binary files only the number; every type has
    // at least one node.
    let element = Item {
        ids: if file.is_binary() { 2 } else { 4 },
        ..Item::default()
    };
    let count = file.text_count("the number of elements", element)?;
    let mut done = 0;
    while done < count {
        if file.is_binary() {
            done += run(file, mesh, count - done)?;
        } else {
            line(file, mesh)?;
            done += 1;
        }
    }
    Ok(())
}

/// One element of an ASCII file.
fn line(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    let head = Head {
        at: file.at(),
        number: file.id(NUMBER)?,
        cell_type: cell_type(file)?,
        tags: file.size(TAGS)?,
    };
    cell(file, mesh, head)
}

/// A header of a binary file and its elements, at most `missing`; returns their number.
fn run(file: &mut Numbers, mesh: &mut Builder, missing: u64) -> Parsed<u64> {
    let cell_type = cell_type(file)?;
    let count = run_length(file, missing)?;
    let tags = file.size(TAGS)?;
    for _ in 0..count {
        let head = Head {
            at: file.at(),
            number: file.id(NUMBER)?,
            cell_type,
            tags,
        };
        cell(file, mesh, head)?;
    }
    Ok(count)
}

const NUMBER: &str = "an element number";
const TAGS: &str = "the number of tags of an element";

/// Number of elements under one header: at least 1, so that reading advances, and at most the number still
/// missing.
fn run_length(file: &mut Numbers, missing: u64) -> Parsed<u64> {
    let (at, what) = (file.at(), "the number of elements under a header");
    match file.size(what)? {
        0 => Err(range(at, what, 0, "1 or more")),
        run if run > missing => {
            let supported = "at most the number of elements that the section still lacks";
            Err(range(at, what, run, supported))
        }
        run => Ok(run),
    }
}

/// The type of the elements that follow.
pub(super) fn cell_type(file: &mut Numbers) -> Parsed<CellType> {
    let at = file.at();
    let found = file.int("an element type")?.into();
    CellType::from_gmsh(found).ok_or_else(|| fault(at, GmshError::CellType { found }))
}

/// The head of an element, before its tags and nodes.
struct Head {
    at: usize,
    number: u64,
    cell_type: CellType,
    tags: u64,
}

fn cell(file: &mut Numbers, mesh: &mut Builder, head: Head) -> Parsed<()> {
    let mut physical = 0;
    for tag in 0..head.tags {
        let at = file.at();
        let value = file.int("an element tag")?;
        if tag == 0 {
            physical = group_number(at, value)?;
        }
    }
    let block = mesh.block(head.cell_type);
    mesh.add_cell(block, head.number, physical)
        .map_err(|p| fault(head.at, p))?;
    cell_nodes(file, mesh, block, head.number)?;
    Ok(())
}

/// The nodes of the cell started in `block`.
#[inline]
pub(super) fn cell_nodes(
    file: &mut Numbers,
    mesh: &mut Builder,
    block: usize,
    element: u64,
) -> Parsed<()> {
    for _ in 0..mesh.cell_type(block).nodes() {
        let at = file.at();
        let node = file.id("a node number of an element")?;
        mesh.add_cell_node(block, element, node)
            .map_err(|p| fault(at, p))?;
    }
    Ok(())
}

/// The group of a physical tag, whose sign only indicates orientation.
pub(super) fn group_number(at: usize, tag: i32) -> Parsed<i32> {
    let positive = tag.checked_abs();
    positive.ok_or_else(|| range(at, "a physical tag", tag, "a number between -2^31 and 2^31"))
}
