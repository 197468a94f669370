//! Measurements. Only this module and the tuner read clocks.
#![allow(clippy::disallowed_methods)] // the clock

pub mod roofline;
