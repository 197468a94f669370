//! femto: finite element, matrix-free, tensor operators.
#![forbid(unsafe_code)]
