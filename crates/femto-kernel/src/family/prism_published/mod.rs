//! prism_published: the stages and the ladder of the Helmholtz Challenge on extruded triangular prisms.
//!
//! Weigl, Savitski, Chua, *Helmholtz Challenge* (2014), after the serial code of P. Kelly, G.-T. Bercea and F.
//! Luporini: a triangle's column of prisms of degree 1, six nodes and eight points each, in double precision.
//! [`Stage`]s run one after another on nodal [`Vector`]s: by [`host`] loops, or by the kernels of a [`Step`] of the
//! ladder. They run on their own layout of a mesh, [`Columns`], for comparison: operators do not use them.
//!
//! ```
//! use femto_kernel::family::prism_published::{Stage, steps};
//!
//! assert_eq!(steps()[3].change, "tables in constant memory");
//! assert_eq!(Stage::Rhs1.entry(), Some("rhs_1"));
//! ```

mod columns;
mod element;
pub mod host;
mod ladder;
mod oracle;
mod schedule;
mod source;
mod stage;
#[cfg(test)]
mod tests;
mod work;

pub use columns::{Columns, ColumnsError};
pub use ladder::{Step, find, steps};
pub use oracle::{Oracle, Output};
pub use schedule::{Accumulators, Loops, Schedule, Tables, Visit};
pub use source::{StageKernels, source};
pub use stage::{Bound, Stage, Vector};
pub use work::StageWork;
