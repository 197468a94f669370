//! Physical groups by name or number.

use std::fmt;

use super::{Mesh, MeshError, PhysicalGroup};

impl Mesh {
    /// The number of the group of cells of this dimension given by `tag`: the name of a group, or its number in decimal.
    ///
    /// Outer spaces of names count only where they tell two groups apart.
    ///
    /// # Errors
    /// [`MeshError::NoSuchGroup`], which lists the existing groups; [`MeshError::AmbiguousGroup`] if several groups of the
    /// dimension have this name, or one has it and another one the number; [`MeshError::EmptyGroup`] if the group has
    /// no cells.
    pub fn group(&self, dimension: usize, tag: &str) -> Result<i32, MeshError> {
        find(&self.groups, dimension, tag, |number| {
            let mut blocks = self.blocks.iter();
            blocks.any(|block| {
                block.cell_type.dimension() == dimension && block.tags.contains(&number)
            }) || self.memberships.iter().any(|it| {
                let block = self.blocks.get(it.block as usize);
                let is_own = block.is_some_and(|it| it.cell_type.dimension() == dimension);
                it.group == number && is_own
            })
        })
    }
}

/// As [`Mesh::group`], where `has_cells` says whether any cell is in a group of this dimension.
pub(crate) fn find(
    groups: &[PhysicalGroup],
    dimension: usize,
    tag: &str,
    has_cells: impl Fn(i32) -> bool,
) -> Result<i32, MeshError> {
    let number = tag.trim().parse().ok();
    let own = || groups.iter().filter(|group| group.dimension == dimension);
    let is_exact = own().any(|it| it.name == tag && !tag.is_empty());
    let is_named = |name: &str| match is_exact {
        true => name == tag,
        false => !name.trim().is_empty() && name.trim() == tag.trim(),
    };
    let meant = own().filter(|it| is_named(&it.name) || Some(it.number) == number);
    let meant: Vec<i32> = meant.map(|it| it.number).collect();
    match meant[..] {
        [number] if has_cells(number) => Ok(number),
        [number] => Err(MeshError::EmptyGroup {
            dimension,
            tag: tag.into(),
            number,
        }),
        // Meshes made from arrays may have groups that no table lists.
        [] => match number.filter(|&it| it != 0 && has_cells(it)) {
            Some(number) => Ok(number),
            None => Err(MeshError::NoSuchGroup {
                dimension,
                tag: tag.into(),
                available: groups.iter().map(ToString::to_string).collect(),
            }),
        },
        _ => Err(MeshError::AmbiguousGroup {
            dimension,
            tag: tag.into(),
            numbers: meant,
        }),
    }
}

impl fmt::Display for PhysicalGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            write!(f, "`{}` = ", self.name)?;
        }
        write!(f, "{} (dimension {})", self.number, self.dimension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh() -> Mesh {
        let group = |dimension, number, name: &str| PhysicalGroup {
            dimension,
            number,
            name: name.into(),
        };
        Mesh {
            groups: vec![
                group(2, 1, "inlet"),
                group(2, 3, ""),
                group(2, 4, "1"),
                group(2, 5, "twice"),
                group(2, 6, "twice"),
                group(3, 1, "solid"),
                group(2, 8, "7"),
                group(2, 9, " wall "),
                group(2, 10, "wall"),
                group(2, 11, " lid "),
            ],
            ..Mesh::default()
        }
    }

    #[test]
    fn names_and_numbers_resolve_within_their_dimension() {
        let groups = mesh().groups;
        let number = |dimension, tag| find(&groups, dimension, tag, |_| true).ok();
        assert_eq!(number(2, "inlet"), Some(1));
        assert_eq!(number(2, " 3 "), Some(3));
        assert_eq!(number(2, "7"), Some(8), "a name may look like a number");
        assert_eq!(number(2, "1"), None, "a name and another one's number");
        assert_eq!(number(3, "solid"), Some(1));
        assert_eq!(number(3, "1"), Some(1));
        assert_eq!(number(3, "inlet"), None);
        assert_eq!(number(2, ""), None);
        assert_eq!(
            [" wall ", "wall"].map(|tag| number(2, tag)),
            [Some(9), Some(10)]
        );
        assert_eq!(["lid", "lid "].map(|tag| number(2, tag)), [Some(11); 2]);
    }

    #[test]
    fn errors_list_what_exists() {
        let missing = mesh().group(2, "outlet").unwrap_err().to_string();
        assert_eq!(
            missing,
            "no physical group `outlet` of dimension 2 in the mesh; it has: `inlet` = 1 (dimension \
             2), 3 (dimension 2), `1` = 4 (dimension 2), `twice` = 5 (dimension 2), `twice` = 6 \
             (dimension 2), `solid` = 1 (dimension 3), `7` = 8 (dimension 2), ` wall ` = 9 (dimension 2), `wall` = 10 (dimension 2), ` lid ` = 11 (dimension 2)"
        );
        let empty = Mesh::default().group(2, "outlet").unwrap_err().to_string();
        assert!(empty.ends_with("it has: none"), "{empty}");
        let twice = mesh().group(2, "twice").unwrap_err().to_string();
        assert!(twice.contains("[5, 6]"), "{twice}");
        let two = mesh().group(2, "1").unwrap_err().to_string();
        assert!(two.contains("[1, 4]"), "{two}");
        let without = mesh().group(2, "inlet").unwrap_err().to_string();
        assert_eq!(
            without,
            "the physical group `inlet` = 1 of dimension 2 has no cells in the mesh"
        );
    }
}
