//! Lagrange bases on cells of any shape: nodes, and values and derivatives at points.

use crate::Degree;
use crate::cell::Cell;

pub mod lagrange;
mod lagrange_basis;
mod matrix;
mod modes;
pub mod nodes;

pub use lagrange_basis::{LagrangeBasis, Values};
pub use matrix::Matrix;

/// The highest polynomial degree of a space on tensor-product cells.
pub const MAX_DEGREE: usize = 15;

/// The highest polynomial degree of a space on triangles or tetrahedra, and on prisms.
pub const MAX_SIMPLEX_DEGREE: usize = 8;

/// The highest polynomial degree of a space on pyramids.
pub const MAX_PYRAMID_DEGREE: usize = 2;

/// The largest number of quadrature points in one direction.
pub const MAX_POINTS_1D: usize = 64;

/// The highest degree of a basis on a cell; 0 if there is none.
pub fn max_degree(cell: Cell) -> usize {
    match cell {
        Cell::Line | Cell::Quadrilateral | Cell::Hexahedron => MAX_DEGREE,
        Cell::Triangle | Cell::Tetrahedron | Cell::Prism => MAX_SIMPLEX_DEGREE,
        Cell::Pyramid => MAX_PYRAMID_DEGREE,
        Cell::Point => 0,
    }
}

/// Why a basis does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BasisError {
    /// The degree is out of range.
    #[error("degree {found} on {} is not supported: degrees are 1 to {}", cell.plural(), max_degree(*cell))]
    Degree {
        /// Requested degree.
        found: usize,
        /// The cell.
        cell: Cell,
    },
    /// Another degree vertically, on cells that have but one.
    #[error(
        "degree {found} on {}: only prisms may have another degree vertically, along the edges between their triangles",
        cell.plural()
    )]
    NotUniform {
        /// Requested degree.
        found: Degree,
        /// The cell.
        cell: Cell,
    },
    /// There are no bases on this cell.
    #[error("finite elements on {} are not supported", cell.plural())]
    Cell {
        /// Requested cell.
        cell: Cell,
    },
    /// The number of quadrature points is out of range.
    #[error("{found} quadrature points per direction are not supported: 1 to {MAX_POINTS_1D} are")]
    Points {
        /// Requested number of points per direction.
        found: usize,
    },
}

/// Checks that a cell has a basis of this degree.
///
/// # Errors
/// A cell without bases, a degree outside 1..=[`max_degree`], or one that differs upwards on a cell that is no product
/// with a line.
pub fn check(cell: Cell, degree: impl Into<Degree>) -> Result<(), BasisError> {
    let degree = degree.into();
    let supported = 1..=max_degree(cell);
    let mut both = [degree.horizontal, degree.vertical].into_iter();
    match both.find(|found| !supported.contains(found)) {
        _ if supported.is_empty() => Err(BasisError::Cell { cell }),
        Some(found) => Err(BasisError::Degree { found, cell }),
        None if !degree.is_uniform() && !cell.has_vertical() => Err(BasisError::NotUniform {
            found: degree,
            cell,
        }),
        None => Ok(()),
    }
}
