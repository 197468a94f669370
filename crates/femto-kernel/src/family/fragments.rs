//! Right factors of matrix units, as `dialect/cuda.h` multiplies by them.

use crate::scalar::Precision;

/// Rows and columns of a right factor.
pub(crate) const TILE: usize = 8;
/// Rows of a left factor: elements.
pub(crate) const LEFT_TILE: u32 = 16;
/// Bits that a number of a matrix unit lacks in single precision.
const LACKING_BITS: u32 = 13;

/// Fragments of right factors, `[tile][lane][number]`: the two numbers of a lane, in single precision first their leading
/// bits, then the rest.
pub(crate) struct Fragments {
    precision: Precision,
    /// All so far.
    pub(crate) numbers: Vec<f64>,
}

impl Fragments {
    /// None.
    pub(crate) fn new(precision: Precision) -> Self {
        Self {
            precision,
            numbers: Vec::new(),
        }
    }

    /// Adds those of a tile with these entries, of row and column.
    pub(crate) fn add(&mut self, entry: impl Fn(usize, usize) -> f64) {
        for lane in 0..32 {
            let pair = [0, 1].map(|half| entry(2 * (lane % 4) + half, lane / 4));
            match self.precision {
                Precision::Fp64 => self.numbers.extend(pair),
                Precision::Fp32 => {
                    self.numbers.extend(pair.map(leading));
                    self.numbers.extend(pair.map(|x| leading(x - leading(x))));
                }
            }
        }
    }
}

/// A number with its leading eleven bits, rounded to nearest.
fn leading(x: f64) -> f64 {
    let bits = (x as f32).to_bits();
    let half = 1 << (LACKING_BITS - 1);
    f64::from(f32::from_bits(
        (bits + half) >> LACKING_BITS << LACKING_BITS,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_of_eleven_bits_are_one_of_single_precision() {
        for x in [1.0 / 3.0, -2.0 / 7.0, 1e-3, 0.0] {
            let rest = leading(x - leading(x));
            assert!((leading(x) + rest - x).abs() <= x.abs() / f64::from(1 << 21));
            assert_eq!(leading(leading(x)), leading(x));
        }
    }
}
