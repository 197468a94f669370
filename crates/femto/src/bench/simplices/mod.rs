//! The benchmark of Knepley, Rupp, Terrel 2016 (section 6) on accelerators: Poisson's equation with a coefficient that
//! varies, and elasticity, at degree 1 on triangles and tetrahedra.
//!
//! 1. [`SimplexMesh::new`] makes an irregular mesh, its cells and nodes as those of a space.
//! 2. [`candidates`] lists the schedules: on E-vectors Knepley et al.'s kernel with stored geometry, on
//!    L-vectors gather, geometry from vertices, and scatter.
//! 3. [`compile_all`] compiles their texts at the same time, into the cache on disk.
//! 4. [`SimplexData::new`] puts the inputs of one case on the device, [`SimplexData::measure`] compares
//!    a candidate with the oracle and times it.
//! 5. [`mark_best`] marks the fastest row of each case and kind of vectors.
//!
//! On the host [`measure_on_host`] does the same with an operator on L-vectors.

mod candidate;
mod case;
mod compile;
mod data;
mod host;
mod mesh;
mod operands;
mod oracle;
mod row;

pub use candidate::{Candidate, Selection, candidates};
pub use case::{SimplexCase, SimplexForm};
pub use compile::compile_all;
pub use data::SimplexData;
pub use host::{HostCase, HostForm, HostRow, measure_on_host};
pub use mesh::SimplexMesh;
pub use row::{SimplexRow, mark_best};

#[cfg(test)]
mod tests;
