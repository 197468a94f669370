//! The femto command line.
fn main() {}
