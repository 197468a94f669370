//! element_matrix: a dense matrix for each element, for every linear form on every cell.
//!
//! The matrices are assembled by the kernels of another family, one column after the other, from unit inputs. A
//! product reads them once, so their bytes bound its rate. Those of symmetric operators are stored as a triangle,
//! half the bytes. If the components of a form are not coupled, or groups of them, they share a matrix, and are as many
//! right-hand sides of one read.
//!
//! The published kernels, [`ladder`], are those of A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix
//! Action: to precompute or not to precompute" (2018), as data on the same text.

mod block;
mod host;
pub mod ladder;
pub mod schedule;
pub mod source;

pub use block::{Block, ElementMatrix};
