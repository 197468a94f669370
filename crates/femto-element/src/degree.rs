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
        Self {
            horizontal: of(self.horizontal),
            vertical: of(self.vertical),
        }
    }

    /// Whether it is lower than another one: along an axis, and along none higher.
    pub fn is_lower(self, other: Self) -> bool {
        self != other && self.horizontal <= other.horizontal && self.vertical <= other.vertical
    }
}

impl From<usize> for Degree {
    fn from(degree: usize) -> Self {
        Self {
            horizontal: degree,
            vertical: degree,
        }
    }
}

impl PartialEq<usize> for Degree {
    fn eq(&self, other: &usize) -> bool {
        *self == Self::from(*other)
    }
}

impl fmt::Display for Degree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            horizontal,
            vertical,
        } = self;
        match self.is_uniform() {
            true => write!(f, "{horizontal}"),
            false => write!(f, "{horizontal} horizontally and {vertical} vertically"),
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
        let degree = |horizontal, vertical| Degree {
            horizontal,
            vertical,
        };
        assert!(degree(1, 3) == degree(1, 3) && degree(2, 2) == 2 && degree(1, 2) != 2);
        assert!(degree(1, 2).is_lower(degree(1, 3)) && degree(1, 1).is_lower(degree(2, 1)));
        assert!(!degree(1, 3).is_lower(degree(2, 2)) && !degree(2, 2).is_lower(2.into()));
        assert_eq!(degree(2, 2).to_string(), "2");
        assert_eq!(degree(1, 3).to_string(), "1 horizontally and 3 vertically");
        assert_eq!([degree(1, 3).least(), degree(1, 3).most()], [1, 3]);
    }
}
