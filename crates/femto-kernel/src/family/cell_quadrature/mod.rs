//! cell_quadrature: any form on cells with dense tables.
//!
//! The unknowns of a cell are values at its nodes, in any number of components. Knepley et al.'s element
//! residual (Knepley, Rupp, Terrel 2016, eq. 2) is
//!
//! ```text
//! v = Bᵀ W f0(u, ∇u) + Σ_k D_kᵀ W f1_k(u, ∇u)
//! ```
//!
//! with the tables B (`interp`) and D (`grad`) of the basis at the points, W weights times det J, and
//! reference gradients transformed to the cell and back with J⁻¹. At low degree the tables are small, and the
//! cost of an operator is its memory traffic; at higher degree hosts multiply by the blocks of a symmetric cell,
//! and accelerators by matrix units.
//!
//! The [oracle](super::oracle) is that of all families; [`host`] has the fast loops; [`schedule`] and
//! [`source`](mod@source) the kernels of accelerators, above all Knepley et al.'s thread transposition;
//! [`fans`] groups neighbouring cells, and [`blocks`] packs them for the kernel that sums within a block;
//! [`work`] counts bytes and flops, also by Knepley et al.'s formulas.

#![allow(
    clippy::needless_range_loop,
    reason = "formulas are written with indices"
)]

mod banks;
mod block;
pub mod blocks;
mod choice;
mod classes;
pub mod fans;
mod geometry;
pub mod host;
mod lists;
pub mod schedule;
mod shape;
pub mod source;
pub mod work;

pub use super::fields::{FieldKind, Fields};
pub use block::{Block, CellQuadrature};
pub use classes::ClassSizes;
pub use geometry::{Storage, at_points, pack};
pub use shape::Shape;

#[cfg(test)]
mod samples;
