//! Double and single precision as a value.

use core::fmt;
use serde::{Deserialize, Serialize};

/// The precision of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// `f32`.
    Fp32,
    /// `f64`.
    Fp64,
}

impl Precision {
    /// The name in reports and on the command line: `fp32` or `fp64`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp64 => "fp64",
        }
    }

    /// Bytes of one number.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Fp32 => 4,
            Self::Fp64 => 8,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
