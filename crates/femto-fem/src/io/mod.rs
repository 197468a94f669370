//! Output files.
//!
//! [`vtu`] writes results for ParaView and other readers of VTK's XML format.

mod atomic;
mod error;
pub mod vtu;

pub use atomic::check_writable;
pub use error::IoError;
