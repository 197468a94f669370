//! Entities, nodes and elements of MSH 4.0 and 4.1.
//!
//! Gmsh reference manuals 4.0, and since 4.1, "MSH file format". Cells belong to geometric entities, and
//! these to physical groups. ASCII and binary files have the same numbers in the same order.

use std::collections::{HashMap, HashSet};

use super::build::Builder;
use super::cursor::{Parsed, fault};
use super::error::GmshError;
use super::numbers::{Item, Numbers, range};
use super::v2::{cell_nodes, cell_type, group_number};

/// The physical groups of each entity, by dimension and tag of the entity.
pub(super) type Entities = HashMap<(i32, i32), Vec<i32>>;

const ID: Item = Item {
    ints: 0,
    counts: 0,
    ids: 1,
    floats: 0,
};
const INT: Item = Item {
    ints: 1,
    ids: 0,
    ..ID
};
/// The head of a block of nodes or elements.
const HEAD: Item = Item {
    counts: 1,
    ints: 3,
    ..INT
};

/// The differences between the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Minor {
    /// Points have boxes, blocks start with the entity's tag, and each node's number precedes its
    /// coordinates.
    Zero,
    /// Points have positions, blocks start with the entity's dimension, and node numbers precede all
    /// coordinates.
    One,
}

/// `$Entities`: the physical groups of points, curves, surfaces and volumes.
pub(super) fn entities(file: &mut Numbers, minor: Minor, entities: &mut Entities) -> Parsed<()> {
    read_entities(file, minor, entities, false)
}

/// `$PartitionedEntities`: the same with partitions in between.
pub(super) fn partitioned_entities(
    file: &mut Numbers,
    minor: Minor,
    entities: &mut Entities,
) -> Parsed<()> {
    file.size("the number of partitions")?;
    let ghosts = file.count("the number of ghost entities", Item { ints: 2, ..INT })?;
    for _ in 0..ghosts {
        file.int("the tag of a ghost entity")?;
        file.int("the partition of a ghost entity")?;
    }
    read_entities(file, minor, entities, true)
}

fn read_entities(
    file: &mut Numbers,
    minor: Minor,
    entities: &mut Entities,
    partitioned: bool,
) -> Parsed<()> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = file.count("the number of entities", INT)?;
    }
    for (dimension, count) in (0..).zip(counts) {
        for _ in 0..count {
            let tag = file.int("an entity tag")?;
            if partitioned {
                file.int("the dimension of a parent entity")?;
                file.int("the tag of a parent entity")?;
                skip_tags(file, "the number of partitions of an entity")?;
            }
            // A point has its position, all others a bounding box.
            let is_position = dimension == 0 && minor == Minor::One;
            for _ in 0..if is_position { 1 } else { 2 } {
                file.point()?;
            }
            let groups = physical_groups(file)?;
            if dimension > 0 {
                skip_tags(file, "the number of bounding entities of an entity")?;
            }
            entities.insert((dimension, tag), groups);
        }
    }
    Ok(())
}

/// The distinct physical groups of an entity, in the order of the file.
fn physical_groups(file: &mut Numbers) -> Parsed<Vec<i32>> {
    let (mut groups, mut seen) = (Vec::new(), HashSet::new());
    for _ in 0..file.count("the number of physical tags of an entity", INT)? {
        let at = file.at();
        let group = group_number(at, file.int("a physical tag")?)?;
        if group != 0 && seen.insert(group) {
            groups.push(group);
        }
    }
    Ok(groups)
}

/// Skips a count and that many tags, which are not needed.
fn skip_tags(file: &mut Numbers, what: &'static str) -> Parsed<()> {
    for _ in 0..file.count(what, INT)? {
        file.int("a tag")?;
    }
    Ok(())
}

/// `$Nodes`: per entity the numbers of its nodes, then their coordinates, followed by parameters on the
/// entity if the block says so.
pub(super) fn nodes(file: &mut Numbers, minor: Minor, mesh: &mut Builder) -> Parsed<()> {
    let blocks = file.count("the number of node blocks", HEAD)?;
    let at = file.at();
    let node = Item { floats: 3, ..ID };
    let announced = file.count("the number of nodes", node)?;
    range_of(file, minor, "a least or greatest node number")?;
    mesh.reserve_nodes(announced);
    let mut found = 0;
    let mut numbers = Vec::new();
    for _ in 0..blocks {
        let (dimension, _) = entity(file, minor)?;
        let parametric = parametric(file)?;
        let parameters = if parametric { dimension } else { 0 };
        let count = file.count("the number of nodes", node)?;
        found += count;
        numbers.clear();
        if minor == Minor::One {
            for _ in 0..count {
                numbers.push(numbered(file)?);
            }
        }
        let mut together = numbers.iter().copied();
        for _ in 0..count {
            let (at, number) = match together.next() {
                Some(known) => known,
                None => numbered(file)?,
            };
            let x = file.point()?;
            for _ in 0..parameters {
                file.float("a parameter of a node")?;
            }
            mesh.add_node(number, x).map_err(|p| fault(at, p))?;
        }
    }
    total(at, "nodes", announced, found)
}

/// The number of a node, and its byte offset.
fn numbered(file: &mut Numbers) -> Parsed<(usize, u64)> {
    Ok((file.at(), file.id("a node number")?))
}

/// `$Elements`: per entity and cell type, `number nodes...` of each element.
pub(super) fn elements(
    file: &mut Numbers,
    minor: Minor,
    mesh: &mut Builder,
    entities: &Entities,
) -> Parsed<()> {
    let blocks = file.count("the number of element blocks", HEAD)?;
    let at = file.at();
    let announced = file.count("the number of elements", Item { ids: 2, ..ID })?;
    range_of(file, minor, "a least or greatest element number")?;
    let mut found = 0;
    for _ in 0..blocks {
        found += element_block(file, minor, mesh, entities)?;
    }
    total(at, "elements", announced, found)
}

/// Reads one block and returns its number of elements.
fn element_block(
    file: &mut Numbers,
    minor: Minor,
    mesh: &mut Builder,
    entities: &Entities,
) -> Parsed<u64> {
    let (dimension, entity) = entity(file, minor)?;
    let at = file.at();
    let cell_type = cell_type(file)?;
    if cell_type.dimension() != dimension as usize {
        let cell_type = cell_type.name();
        return Err(fault(
            at,
            GmshError::Dimension {
                cell_type,
                dimension,
            },
        ));
    }
    let element = Item {
        ids: 1 + cell_type.nodes(),
        ..ID
    };
    let count = file.count("the number of elements", element)?;
    if count == 0 {
        return Ok(0);
    }
    let block = mesh.block(cell_type);
    let physical = entities.get(&(dimension, entity));
    let (first, others) = match physical.and_then(|tags| tags.split_first()) {
        Some((&first, others)) => (first, others),
        None => (0, &[][..]),
    };
    for _ in 0..count {
        let at = file.at();
        let number = file.id("an element number")?;
        mesh.add_cell(block, number, first)
            .map_err(|p| fault(at, p))?;
        cell_nodes(file, mesh, block, number)?;
        mesh.add_to_groups(block, others)
            .map_err(|p| fault(at, p))?;
    }
    Ok(count)
}

/// The smallest and the largest number, only present in 4.1.
fn range_of(file: &mut Numbers, minor: Minor, what: &'static str) -> Parsed<()> {
    if minor == Minor::One {
        file.size(what)?;
        file.size(what)?;
    }
    Ok(())
}

/// Dimension and tag of an entity.
fn entity(file: &mut Numbers, minor: Minor) -> Parsed<(i32, i32)> {
    let tag = |file: &mut Numbers| file.int("an entity tag");
    Ok(match minor {
        Minor::Zero => {
            let tag = tag(file)?;
            (dimension(file)?, tag)
        }
        Minor::One => (dimension(file)?, tag(file)?),
    })
}

/// The dimension of an entity.
fn dimension(file: &mut Numbers) -> Parsed<i32> {
    let (at, what) = (file.at(), "the dimension of an entity");
    match file.int(what)? {
        dimension @ 0..=3 => Ok(dimension),
        found => Err(range(at, what, found, "0 to 3")),
    }
}

/// Whether the nodes of a block have parameters.
fn parametric(file: &mut Numbers) -> Parsed<bool> {
    let (at, what) = (file.at(), "the parametric flag of a node block");
    match file.int(what)? {
        flag @ 0..=1 => Ok(flag == 1),
        found => Err(range(at, what, found, "0 or 1")),
    }
}

/// Checks that the total in the head of a section is the sum over its blocks.
fn total(at: usize, what: &'static str, announced: u64, found: u64) -> Parsed<()> {
    if announced == found {
        return Ok(());
    }
    let problem = GmshError::Total {
        what,
        announced,
        found,
    };
    Err(fault(at, problem))
}
