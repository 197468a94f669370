//! Reference data of finite elements: cells and their entities, Lagrange bases, quadrature rules, tables.
//!
//! Pure: no mesh, no device, no form. Conventions. An axis of a tensor product runs over `[-1, 1]`, the axes
//! of a simplex over {ξ_a ≥ 0, Σ ξ_a ≤ 1}. Positions have three coordinates; those beyond a cell's dimension
//! are zero. Nodes and points of lines, quadrilaterals and hexahedra are lexicographic, slowest index first:
//! `[k][j][i]`, index `i + n (j + n k)`, with `i` along ξ. Nodes of triangles and tetrahedra are ordered by
//! the entity that they lie on: vertices, edges, faces, interior. See [`cell`].
#![forbid(unsafe_code)]

pub mod basis;
pub mod cell;
mod degree;
mod interpolation;
mod map_kind;
pub mod quadrature;
mod symmetry;
pub mod tables;

pub use cell::{Cell, CellType};
pub use degree::Degree;
pub use interpolation::Interpolation;
pub use map_kind::{Layering, MapKind};
pub use symmetry::Symmetry;
