//! Everything foreign: devices, caches, the operating system. The only crate with unsafe code.
//!
//! A [`device::Device`] owns memory and threads; other crates decide what runs on it. This crate never sees
//! an element, a form or a mesh, only plain numbers.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod cache;
mod cpu;
pub mod device;
pub mod files;
pub mod memory;
pub mod stream;

pub use files::cache_dir;
