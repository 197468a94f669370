//! The matrices as matrix units use them.

use super::Matrices;
use crate::scalar::Precision;

/// Rows and columns of a right factor.
const TILE: usize = 8;
/// Bits that a number of a matrix unit lacks in single precision.
const LACKING_BITS: u32 = 13;

/// The fragments of `matrix_units.c` in the order in which they are used, `[tile][lane][number]`: the two numbers of a
/// lane, in single precision first their leading bits, then the rest.
pub fn fragments(matrices: &Matrices, precision: Precision) -> Vec<f64> {
    let Matrices {
        dim, nodes, rank, ..
    } = *matrices;
    let (node_tiles, rank_tiles) = (nodes.div_ceil(TILE), rank.div_ceil(TILE));
    let mut all = Vec::new();
    let mut add = |entry: &dyn Fn(usize, usize) -> f64| {
        for lane in 0..32 {
            let pair = [0, 1].map(|half| entry(2 * (lane % 4) + half, lane / 4));
            match precision {
                Precision::Fp64 => all.extend(pair),
                Precision::Fp32 => {
                    all.extend(pair.map(leading));
                    all.extend(pair.map(|x| leading(x - leading(x))));
                }
            }
        }
    };
    if let Some(mass) = &matrices.mass {
        let at = |row: usize, column: usize| match row < nodes && column < nodes {
            true => mass[row * nodes + column],
            false => 0.0,
        };
        for n in 0..node_tiles {
            for k in 0..node_tiles {
                add(&|row, column| at(k * TILE + row, n * TILE + column));
            }
        }
    }
    let at = |a: usize, row: usize, node: usize| match row < rank && node < nodes {
        true => matrices.derivatives[(a * rank + row) * nodes + node],
        false => 0.0,
    };
    for r in 0..rank_tiles {
        for k in 0..node_tiles {
            for a in 0..dim {
                add(&|row, column| at(a, r * TILE + column, k * TILE + row));
            }
        }
        for n in 0..node_tiles {
            for a in 0..dim {
                add(&|row, column| at(a, r * TILE + row, n * TILE + column));
            }
        }
    }
    all
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
