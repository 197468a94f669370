//! affine_simplex: λ u and κ ∇u on triangles and tetrahedra with affine maps.
//!
//! The map and the coefficients are constant in a cell, so its operator is a sum of few matrices of the
//! reference cell, each with a factor:
//!
//! ```text
//! v = Σ_ab G_ab S_ab u + λ |J| M u,   S_ab = D_aᵀ W D_b,   M = Bᵀ W B,   G = κ |J| J⁻¹ J⁻ᵀ
//! ```
//!
//! with the tables B (`interp`) and D (`grad`) of the basis at the points and the weights W. Since G is symmetric,
//! S_ab and S_ba are added up: 6 stiffness matrices on the tetrahedron, 3 on the triangle.
//!
//! Kernels with a row per thread multiply by these matrices, as A. Karakus, T. Warburton et al. do in "Finite Element
//! Stiffness Matrix Action: monolithic kernel optimization on Titan V" (2018), whose ladder of eleven steps
//! [`ladder`] has as data on the same text. The [`host`]'s loops and matrix units factorise them into derivatives, of
//! which there are as many as polynomials of one degree less, in blocks that the cell's
//! [`Symmetry`](femto_element::Symmetry) keeps apart.

mod block;
pub mod choice;
mod fragments;
pub mod host;
pub mod ladder;
mod matrices;
pub mod schedule;
pub mod source;
mod work;

pub use block::{AffineSimplex, Block};
pub use fragments::{fragments, orbits};
pub use matrices::Matrices;
