//! The family prism_column: prisms in columns, by triangle × line sum factorisation.
//!
//! A thread has a prism. Threads side by side have prisms on each other, so that they read and write neighbouring
//! numbers of L-vectors; what a prism adds to its lower triangle it hands to the thread below, so that each node takes
//! one addition per column, and at degree 1 pairs of columns add to their common lines of nodes once. Node lists and the map of
//! the base are stored once per column: the nodes of the lowest prism, to which every layer adds the same steps, and the heights
//! of the columns' edges.
//!
//! The layout is that of O. Weigl, R. Savitski and Y. W. Chua, *Helmholtz Challenge* (2014), for prisms of degree 1;
//! here for any form and degree. Operators λ u, κ ∇u are evaluated from parts of the triangle and of the line. Formulas:
//! `docs/families/prism_column.md`.

mod block;
mod columns;
mod host;
mod pairs;
mod parts;
mod schedule;
mod source;
mod tables;
mod work;

pub use block::{Block, PrismColumn};
pub use schedule::Schedule;
