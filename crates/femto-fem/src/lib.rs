//! The discrete problem on the host: meshes, geometry, spaces, files.
//!
//! This crate never sees a device and never evaluates an operator: it makes the arrays and sizes
//! that operators are bound to.
//!
//! Reference cells, their nodes and the order of arrays over them are those of [`femto_element`].
#![forbid(unsafe_code)]

mod few;
pub mod geometry;
pub mod io;
pub mod mesh;
pub mod parallel;
pub mod space;
