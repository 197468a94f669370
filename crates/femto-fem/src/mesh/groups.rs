//! Physical groups by name or number.

use std::fmt;

use super::{Mesh, MeshError, PhysicalGroup};

impl Mesh {
    /// The number of the group of cells of this dimension given by `tag`: the name of a group, or its
    /// number in decimal. A name that looks like a number is treated as a name.
    ///
    /// # Errors
    /// [`MeshError::NoSuchGroup`], which lists the existing groups; [`MeshError::AmbiguousGroup`] if
    /// several groups of the dimension share the name.
    pub fn group(&self, dimension: usize, tag: &str) -> Result<i32, MeshError> {
        let tag = tag.trim();
        let of_dimension = || self.groups.iter().filter(|g| g.dimension == dimension);
        let named: Vec<i32> = of_dimension()
            .filter(|g| !g.name.is_empty() && g.name == tag)
            .map(|g| g.number)
            .collect();
        match named[..] {
            [number] => return Ok(number),
            [] => {}
            _ => {
                return Err(MeshError::AmbiguousGroup {
                    dimension,
                    tag: tag.into(),
                    numbers: named,
                });
            }
        }
        let number = tag.parse().ok();
        of_dimension()
            .map(|g| g.number)
            .find(|&n| Some(n) == number)
            .ok_or_else(|| MeshError::NoSuchGroup {
                dimension,
                tag: tag.into(),
                available: self.groups.iter().map(ToString::to_string).collect(),
            })
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
            ],
            ..Mesh::default()
        }
    }

    #[test]
    fn names_and_numbers_resolve_within_their_dimension() {
        let mesh = mesh();
        let number = |dimension, tag| mesh.group(dimension, tag).ok();
        assert_eq!(number(2, "inlet"), Some(1));
        assert_eq!(number(2, " 3 "), Some(3));
        assert_eq!(number(2, "1"), Some(4), "a name comes before a number");
        assert_eq!(number(3, "solid"), Some(1));
        assert_eq!(number(3, "1"), Some(1));
        assert_eq!(number(3, "inlet"), None);
        assert_eq!(number(2, ""), None);
    }

    #[test]
    fn errors_list_what_exists() {
        let missing = mesh().group(2, "outlet").unwrap_err().to_string();
        assert_eq!(
            missing,
            "no physical group `outlet` of dimension 2 in the mesh; it has: `inlet` = 1 (dimension \
             2), 3 (dimension 2), `1` = 4 (dimension 2), `twice` = 5 (dimension 2), `twice` = 6 \
             (dimension 2), `solid` = 1 (dimension 3)"
        );
        let empty = Mesh::default().group(2, "outlet").unwrap_err().to_string();
        assert!(empty.ends_with("it has: none"), "{empty}");
        let twice = mesh().group(2, "twice").unwrap_err().to_string();
        assert!(twice.contains("[5, 6]"), "{twice}");
    }
}
