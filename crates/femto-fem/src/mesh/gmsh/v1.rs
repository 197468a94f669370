//! Elements of MSH 1.0; its nodes are as in version 2.
//!
//! Gmsh reference manual, "MSH file format version 1 (Legacy)". The format has no header, no names and no
//! binary files.

use super::build::Builder;
use super::cursor::{Parsed, fault};
use super::numbers::{Item, Numbers, range};
use super::v2::{cell_nodes, cell_type, group_number};

/// `number type group entity nodes node...` per element.
pub(super) fn elements(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    let element = Item {
        ids: 6,
        ..Item::default()
    };
    for _ in 0..file.text_count("the number of elements", element)? {
        let at = file.at();
        let number = file.id("an element number")?;
        let cell_type = cell_type(file)?;
        let group_at = file.at();
        let group = group_number(group_at, file.int("the physical tag of an element")?)?;
        file.int("the elementary tag of an element")?;
        let (count_at, what) = (file.at(), "the number of nodes of an element");
        let count = file.size(what)?;
        if count != cell_type.nodes() as u64 {
            let supported = "the number of nodes of the element's type";
            return Err(range(count_at, what, count, supported));
        }
        let block = mesh.block(cell_type);
        mesh.add_cell(block, number, group)
            .map_err(|p| fault(at, p))?;
        cell_nodes(file, mesh, block, number)?;
    }
    Ok(())
}
