//! Lagrange bases on cells of any shape: where their nodes are, and their values and derivatives at points.

use crate::cell::Cell;

pub mod lagrange;
mod matrix;
mod modes;
mod nodal;
pub mod nodes;

pub use matrix::Matrix;
pub use nodal::{Nodal, Values};

/// The highest polynomial degree of a space on tensor-product cells.
pub const MAX_DEGREE: usize = 15;

/// The highest polynomial degree of a space on triangles or tetrahedra.
pub const MAX_SIMPLEX_DEGREE: usize = 3;

/// The largest number of quadrature points in one direction.
pub const MAX_POINTS_1D: usize = 64;

/// The highest degree of a basis on a cell; 0 where there is none.
pub fn max_degree(cell: Cell) -> usize {
    match cell {
        Cell::Line | Cell::Quadrilateral | Cell::Hexahedron => MAX_DEGREE,
        Cell::Triangle | Cell::Tetrahedron => MAX_SIMPLEX_DEGREE,
        Cell::Point | Cell::Prism | Cell::Pyramid => 0,
    }
}

/// Why a basis does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BasisError {
    /// The degree is out of range.
    #[error("degree {found} on {} is not supported: degrees are 1 to {}", cell.plural(), max_degree(*cell))]
    Degree {
        /// The degree asked for.
        found: usize,
        /// On which cell.
        cell: Cell,
    },
    /// There are no bases on this cell.
    #[error("finite elements on {} are not supported", cell.plural())]
    Cell {
        /// The cell asked for.
        cell: Cell,
    },
    /// The number of quadrature points is out of range.
    #[error("{found} quadrature points per direction are not supported: 1 to {MAX_POINTS_1D} are")]
    Points {
        /// The number of points per direction asked for.
        found: usize,
    },
}

/// Fails unless there is a basis of this degree on a cell.
///
/// # Errors
/// A cell without bases, a degree outside 1..=[`max_degree`].
pub fn check(cell: Cell, degree: usize) -> Result<(), BasisError> {
    match max_degree(cell) {
        0 => Err(BasisError::Cell { cell }),
        max if (1..=max).contains(&degree) => Ok(()),
        _ => Err(BasisError::Degree {
            found: degree,
            cell,
        }),
    }
}
