//! Reference elements: the numbering of the line, quadrilateral and hexahedron, nodes, Lagrange
//! bases, and the 1-D factors of tensor-product bases.
//!
//! A basis on the quadrilateral or hexahedron is the tensor product of one on the line, so all that
//! is stored is one-dimensional: see [`tensor_product::Basis1d`].

pub mod cell;
pub mod lagrange;
mod matrix;
pub mod nodes;
pub mod tensor_product;

pub use matrix::Matrix;

/// The highest polynomial degree of a space.
pub const MAX_DEGREE: usize = 15;

/// The largest number of quadrature points in one direction.
pub const MAX_POINTS_1D: usize = 64;

/// Why a reference element does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The degree of the space is out of range.
    #[error("degree {found} is not supported: degrees are 1 to {MAX_DEGREE}")]
    Degree {
        /// The degree asked for.
        found: usize,
    },
    /// The number of quadrature points is out of range.
    #[error("{found} quadrature points per direction are not supported: 1 to {MAX_POINTS_1D} are")]
    Points {
        /// The number of points per direction asked for.
        found: usize,
    },
}
