//! The polynomial degree of a space or basis.

use serde::{Serialize, Serializer};
use std::fmt;

/// A polynomial degree: the same along every axis, or another one upwards.
///
/// *Upwards* is the last axis of a cell that is a product with a line, such as ζ of a prism: see [`Cell::steps`]. Only
/// such cells take degrees that differ.
///
/// [`Cell::steps`]: crate::Cell::steps
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Degree {
    /// Along the other axes.
    pub horizontal: usize,
    /// Upwards.
    pub vertical: usize,
}

impl Degree {
    /// Those along the other axes, and upwards.
    pub const fn new(horizontal: usize, vertical: usize) -> Self {
        Self {
            horizontal,
            vertical,
        }
    }

    /// The higher of the two.
    pub fn most(self) -> usize {
        self.horizontal.max(self.vertical)
    }

    /// The lower of the two.
    pub fn least(self) -> usize {
        self.horizontal.min(self.vertical)
    }

    /// Whether it is the same along every axis.
    pub fn is_uniform(self) -> bool {
        self.horizontal == self.vertical
    }

    /// A function of both.
    pub fn map(self, of: impl Fn(usize) -> usize) -> Self {
        Self::new(of(self.horizontal), of(self.vertical))
    }

    /// Whether it is lower than another one: along an axis, and along none higher.
    pub fn is_lower(self, other: Self) -> bool {
        self != other && self.horizontal <= other.horizontal && self.vertical <= other.vertical
    }
}

impl From<usize> for Degree {
    fn from(degree: usize) -> Self {
        Self::new(degree, degree)
    }
}

impl PartialEq<usize> for Degree {
    fn eq(&self, other: &usize) -> bool {
        *self == Self::from(*other)
    }
}

/// Such as "2", "1 horizontally and 3 vertically" or, with `{:#}`, "1×3".
impl fmt::Display for Degree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [along, up] = [self.horizontal, self.vertical];
        match (self.is_uniform(), f.alternate()) {
            (true, _) => write!(f, "{along}"),
            (false, false) => write!(f, "{along} horizontally and {up} vertically"),
            (false, true) => write!(f, "{along}×{up}"),
        }
    }
}

/// A number, or both by name if they differ.
impl Serialize for Degree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.is_uniform() {
            true => self.horizontal.serialize(serializer),
            false => serializer
                .collect_map([("horizontal", self.horizontal), ("vertical", self.vertical)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_compared_and_shown_along_each_direction() {
        let (both, other) = (Degree::new(2, 2), Degree::new(1, 3));
        assert!(both == 2 && other != 1 && other != 3);
        assert!(Degree::new(1, 2).is_lower(other) && Degree::new(1, 1).is_lower(Degree::new(2, 1)));
        assert!(!other.is_lower(both) && !both.is_lower(2.into()));
        assert_eq!(both.to_string(), "2");
        assert_eq!(other.to_string(), "1 horizontally and 3 vertically");
        assert_eq!(format!("{both:#} {other:#}"), "2 1×3");
        assert_eq!([other.least(), other.most()], [1, 3]);
    }
}
