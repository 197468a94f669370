//! Everything foreign: devices, caches, the operating system. The only crate with unsafe code.
