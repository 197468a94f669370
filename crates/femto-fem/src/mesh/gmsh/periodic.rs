//! `$Periodic`: pairs of entities, with nodes on one and their partners on the other.
//!
//! Gmsh reference manuals 2.2, 4.0 and 4.1, "MSH file format". The affine map between the two entities,
//! present in most files, is not needed: the nodes suffice.

use super::build::Builder;
use super::cursor::Parsed;
use super::numbers::{Item, Numbers, range};

/// Dimension and tags of a pair of entities.
const HEAD: Item = Item {
    ints: 3,
    counts: 0,
    ids: 0,
    floats: 0,
};
/// A node and its partner.
const PAIR: Item = Item {
    ids: 2,
    ints: 0,
    ..HEAD
};
const LINKS: &str = "the number of periodic entities";
const MAP: &str = "the map of a periodic entity";
const PAIRS: &str = "the number of nodes of a periodic entity";

/// Numbers of an affine map: 4 × 4, row by row.
const AFFINE: usize = 16;

/// MSH 4.1: a head, the map preceded by its length, the pairs preceded by their number.
pub(super) fn links(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    for _ in 0..file.count(LINKS, HEAD)? {
        head(file, mesh)?;
        let number = Item {
            floats: 1,
            ints: 0,
            ..HEAD
        };
        for _ in 0..file.count(MAP, number)? {
            file.float(MAP)?;
        }
        pairs(file, mesh)?;
    }
    Ok(())
}

/// MSH 4.0: a map follows the word `Affine` or, in binary files, a negative number in place of the number
/// of pairs.
pub(super) fn old_links(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    for _ in 0..file.count(LINKS, HEAD)? {
        head(file, mesh)?;
        if file.is_binary() {
            if file.skip_negative(PAIRS)? {
                for _ in 0..AFFINE {
                    file.float(MAP)?;
                }
            }
        } else {
            skip_affine(file)?;
        }
        pairs(file, mesh)?;
    }
    Ok(())
}

/// MSH 2: as in 4.0, and text even in binary files.
pub(super) fn text_links(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    let mut text = file.as_text();
    old_links(&mut text, mesh)?;
    file.text = text.text;
    Ok(())
}

/// Dimension of a pair of entities, and their tags.
fn head(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    let (at, what) = (file.at(), "the dimension of a periodic entity");
    match file.int(what)? {
        dimension @ 0..=2 => mesh.add_periodic(dimension as usize),
        found => return Err(range(at, what, found, "0 to 2")),
    }
    file.int("the tag of a periodic entity")?;
    file.int("the tag of a periodic entity's partner")?;
    Ok(())
}

/// Skips the word `Affine` and the map after it, if present.
fn skip_affine(file: &mut Numbers) -> Parsed<()> {
    let before = file.text.clone();
    if file.text.token() == b"Affine" {
        for _ in 0..AFFINE {
            file.float(MAP)?;
        }
    } else {
        file.text = before;
    }
    Ok(())
}

fn pairs(file: &mut Numbers, mesh: &mut Builder) -> Parsed<()> {
    for _ in 0..file.count(PAIRS, PAIR)? {
        let what = "a node of a periodic entity";
        mesh.add_partner([file.id(what)?, file.id(what)?]);
    }
    Ok(())
}
