//! The benchmark of Knepley, Rupp, Terrel 2016 (section 6) on accelerators: Poisson's equation with a
//! variable coefficient, and elasticity, at degree 1 on triangles and tetrahedra.
//!
//! [`run_all`] measures all of it:
//!
//! 1. [`SimplexMesh::new`] makes an irregular mesh, with cells and nodes in the order of a space.
//! 2. [`candidates`] lists the schedules: on E-vectors Knepley et al.'s kernel with stored geometry, on
//!    L-vectors gather, geometry from vertices, and scatter.
//! 3. [`compile_all`] compiles their texts at the same time, into the cache on disk.
//! 4. [`SimplexData::new`] puts the inputs of one case on the device, [`SimplexData::measure`] compares
//!    a candidate with the oracle and times it.
//! 5. [`mark_best`] marks the fastest record of each case and kind of vectors.
//!
//! On the host it does the same with an operator on L-vectors.

mod candidate;
mod case;
mod data;
mod host;
mod listed;
mod mesh;
mod operands;
mod oracle;
pub(crate) mod paper;
mod record;
mod run;
mod view;

pub use candidate::{Candidate, Selection, candidates};
pub use case::{SimplexCase, SimplexForm};
pub use data::SimplexData;
pub use host::measure_on_host;
pub use listed::Listed;
pub use mesh::SimplexMesh;
pub use record::mark_best;
pub use run::{Sweep, compile_all, run_all};

#[cfg(test)]
mod tests;
