//! The discrete problem, on the host: reference elements, quadrature, meshes, spaces, geometry, files.
//!
//! This crate never sees a device and never evaluates an operator: it makes the arrays and sizes
//! that operators are bound to.
//!
//! Conventions. The reference line, quadrilateral and hexahedron are `[-1, 1]^d`. Arrays over the
//! nodes or points of a hexahedron are lexicographic, slowest index first: `[k][j][i]`, index
//! `i + n (j + n k)`, with `i` along the first reference axis ξ, `j` along η, `k` along ζ. The
//! reference triangle and tetrahedron are {ξ_a ≥ 0, Σ ξ_a ≤ 1}, with nodes ordered by vertices,
//! edges, faces, interior. See [`reference::cell`].
#![forbid(unsafe_code)]

pub mod geometry;
pub mod io;
pub mod mesh;
pub mod quadrature;
pub mod reference;
pub mod space;
