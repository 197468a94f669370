//! Matrices and orbits of nodes as matrix units use them.

use super::{Matrices, Symmetry};
use crate::scalar::Precision;

/// Rows and columns of a right factor.
pub(super) const TILE: usize = 8;
/// Bits that a number of a matrix unit lacks in single precision.
const LACKING_BITS: u32 = 13;

/// The fragments of `matrix_units.c` in the order in which they are used, `[tile][lane][number]`: the two numbers of a
/// lane, in single precision first their leading bits, then the rest.
pub fn fragments(matrices: &Matrices, precision: Precision) -> Vec<f64> {
    let symmetry = &matrices.symmetry;
    let sums: Vec<usize> = (0..symmetry.classes)
        .map(|class| symmetry.sums(class).len())
        .collect();
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
    for (mass, &sums) in matrices.masses.iter().zip(&sums) {
        let at = entries(mass, (sums, sums));
        for n in 0..sums.div_ceil(TILE) {
            for k in 0..sums.div_ceil(TILE) {
                add(&|row, column| at(k * TILE + row, n * TILE + column));
            }
        }
    }
    for (class, blocks) in matrices.derivatives.iter().enumerate() {
        let rank = matrices.ranks[class];
        let axes = || {
            blocks.iter().enumerate().map(|(axis, block)| {
                let sums = sums[symmetry.before(axis, class)];
                (sums.div_ceil(TILE), entries(block, (rank, sums)))
            })
        };
        for r in 0..rank.div_ceil(TILE) {
            for (tiles, at) in axes() {
                for k in 0..tiles {
                    add(&|row, column| at(r * TILE + column, k * TILE + row));
                }
            }
            for (tiles, at) in axes() {
                for n in 0..tiles {
                    add(&|row, column| at(r * TILE + row, n * TILE + column));
                }
            }
        }
    }
    all
}

/// The entries of a row-major matrix, 0 beyond its rows and columns.
fn entries(matrix: &[f64], (rows, columns): (usize, usize)) -> impl Fn(usize, usize) -> f64 {
    move |row, column| match row < rows && column < columns {
        true => matrix[row * columns + column],
        false => 0.0,
    }
}

/// The nodes of orbits as `matrix_units.c` reads them: `[orbit of four][4]`, then for each class `[sum of one or two][2]`, a node and
/// the other one or itself.
pub fn orbits(symmetry: &Symmetry) -> Vec<u16> {
    let quads = symmetry.quads();
    let mut all: Vec<usize> = symmetry.orbits[..quads].concat();
    for class in 0..symmetry.classes {
        for sum in &symmetry.sums(class)[quads..] {
            let [first, last] = [sum.first(), sum.last()];
            all.extend(first.iter().chain(&last).map(|it| it.0));
        }
    }
    all.into_iter().map(|node| node as u16).collect()
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
