//! Reference elements: the numbering of their entities, nodes, Lagrange bases, and the 1-D factors
//! of tensor-product bases.
//!
//! A basis on the quadrilateral or hexahedron is the tensor product of one on the line, so all that
//! is stored is one-dimensional: see [`tensor_product::Basis1d`]. Triangles and tetrahedra have
//! full tables: see [`simplex::Simplex`].

pub mod cell;
pub mod lagrange;
mod matrix;
pub mod nodes;
mod shape;
pub mod simplex;
pub mod tensor_product;

pub use matrix::Matrix;
pub use shape::CellShape;

/// The highest polynomial degree of a space on hexahedra.
pub const MAX_DEGREE: usize = 15;

/// The highest polynomial degree of a space on triangles or tetrahedra.
pub const MAX_SIMPLEX_DEGREE: usize = 3;

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
    /// The degree of a simplex is out of range.
    #[error("degree {found} on simplices is not supported: degrees are 1 to {MAX_SIMPLEX_DEGREE}")]
    SimplexDegree {
        /// The degree asked for.
        found: usize,
    },
    /// There is no simplex of this dimension.
    #[error("simplices of dimension {found} are not supported: dimensions are 1 to 3")]
    SimplexDimension {
        /// The dimension asked for.
        found: usize,
    },
}
