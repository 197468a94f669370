//! Output files.
//!
//! [`vtu`] writes results for ParaView and other readers of VTK's XML format, [`matrix_market`] sparse matrices.

mod atomic;
mod error;
pub mod matrix_market;
pub mod vtu;

pub use atomic::{check_writable, write_file};
pub use error::IoError;
