//! Matrices and orbits of nodes as matrix units use them.

use super::Matrices;
use crate::family::fragments::{Fragments, TILE};
use crate::scalar::Precision;
use femto_element::Symmetry;

/// The right factors of `matrix_units.c` in the order in which they are used.
pub fn fragments(matrices: &Matrices, precision: Precision) -> Vec<f64> {
    let symmetry = &matrices.symmetry;
    let sums: Vec<usize> = (0..symmetry.classes)
        .map(|class| symmetry.sums(class).len())
        .collect();
    let mut all = Fragments::new(precision);
    for (mass, &sums) in matrices.masses.iter().zip(&sums) {
        let at = entries(mass, (sums, sums));
        for n in 0..sums.div_ceil(TILE) {
            for k in 0..sums.div_ceil(TILE) {
                all.add(|row, column| at(k * TILE + row, n * TILE + column));
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
                    all.add(|row, column| at(r * TILE + column, k * TILE + row));
                }
            }
            for (tiles, at) in axes() {
                for n in 0..tiles {
                    all.add(|row, column| at(r * TILE + row, n * TILE + column));
                }
            }
        }
    }
    all.numbers
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
