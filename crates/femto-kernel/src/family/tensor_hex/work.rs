//! Exact work of one application: bytes and flops, from the sizes alone.
