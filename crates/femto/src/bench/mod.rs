//! Measurements. Only this module and the tuner read clocks.

pub mod roofline;
