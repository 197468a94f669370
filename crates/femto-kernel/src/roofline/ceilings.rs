//! Rates measured on a device.

use crate::scalar::Precision;
use serde::{Deserialize, Serialize};

/// The rates measured on a device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ceilings {
    /// Copying memory, in bytes read plus bytes written per second.
    pub copy: f64,
    /// Reading memory only, in bytes per second.
    pub read: f64,
    /// Writing memory only, in bytes per second.
    pub write: f64,
    /// Fused multiply-adds in double precision, in flops per second: two per multiply-add and lane.
    pub fma_fp64: f64,
    /// The same in single precision.
    pub fma_fp32: f64,
    /// Shared memory, in bytes per second, if the device has any.
    pub shared: Option<f64>,
}

impl Ceilings {
    /// The rate of fused multiply-adds in `precision`, in flops per second.
    pub fn fma(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Fp32 => self.fma_fp32,
            Precision::Fp64 => self.fma_fp64,
        }
    }

    /// Whether every rate is a positive finite number.
    pub fn are_valid(&self) -> bool {
        [
            self.copy,
            self.read,
            self.write,
            self.fma_fp64,
            self.fma_fp32,
        ]
        .into_iter()
        .chain(self.shared)
        .all(|rate| rate > 0.0 && rate.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_finite_rates_are_valid() {
        let good = Ceilings {
            copy: 1.0,
            read: 1.0,
            write: 1.0,
            fma_fp64: 1.0,
            fma_fp32: 1.0,
            shared: None,
        };
        assert!(good.are_valid());
        assert!(!Ceilings { read: 0.0, ..good }.are_valid());
        assert!(
            !Ceilings {
                copy: f64::NAN,
                ..good
            }
            .are_valid()
        );
        assert!(
            !Ceilings {
                fma_fp64: f64::INFINITY,
                ..good
            }
            .are_valid()
        );
        assert!(
            !Ceilings {
                shared: Some(-1.0),
                ..good
            }
            .are_valid()
        );
    }
}
