//! Whether the map of every cell can be inverted.

use super::factors::{Matrix3, cross, determinant, dot, tangents};
use super::{CornerWarning, Geometry, GeometryError};
use rayon::prelude::*;

/// Where the determinant of a cell is bad.
#[derive(Clone, Copy, PartialEq)]
enum Defect {
    Points,
    Corners,
}

/// The point of a tensor grid with the smallest determinant.
struct Worst {
    index: usize,
    position: [f64; 3],
    determinant: f64,
}

impl Geometry {
    /// Checks that the Jacobian determinant is positive at every point of the tensor grid of
    /// `points_1d` in every cell, and returns the cells whose map is only bad at corners, in mesh
    /// cell order.
    ///
    /// A determinant below the rounding of its own terms counts as zero.
    ///
    /// # Errors
    /// [`GeometryError::NotInvertible`] with the worst point of the first bad cell.
    pub fn check(&self, points_1d: &[f64]) -> Result<Vec<CornerWarning>, GeometryError> {
        let defects: Vec<(usize, Defect)> = (0..self.len())
            .into_par_iter()
            .with_min_len(256)
            .filter_map(|cell| Some((cell, self.defect(cell, points_1d)?)))
            .collect();
        let mut bad = defects
            .iter()
            .filter(|(_, defect)| *defect == Defect::Points);
        match bad.next() {
            Some(&(cell, _)) => Err(self.not_invertible(cell, 1 + bad.count(), points_1d)),
            None => Ok(defects
                .iter()
                .map(|&(cell, _)| self.corner_warning(cell))
                .collect()),
        }
    }

    fn defect(&self, cell: usize, points_1d: &[f64]) -> Option<Defect> {
        if is_invertible_everywhere(self.tangent_bounds(cell)) {
            return None;
        }
        let is_invertible_at = |points: &[f64]| {
            let mut good = true;
            self.visit(cell, [points; 3], |_, jacobian| {
                good &= is_invertible(&jacobian)
            });
            good
        };
        if !is_invertible_at(points_1d) {
            Some(Defect::Points)
        } else if !is_invertible_at(&[-1.0, 1.0]) {
            Some(Defect::Corners)
        } else {
            None
        }
    }

    fn worst(&self, cell: usize, points_1d: &[f64]) -> Worst {
        let mut worst = Worst {
            index: 0,
            position: self.centroid(cell),
            determinant: f64::INFINITY,
        };
        let mut index = 0;
        self.visit(cell, [points_1d; 3], |position, jacobian| {
            let determinant = determinant(&jacobian);
            // NaN is the worst: nothing replaces it.
            if determinant.is_nan() || determinant < worst.determinant {
                worst = Worst {
                    index,
                    position,
                    determinant,
                };
            }
            index += 1;
        });
        worst
    }

    fn corner_warning(&self, cell: usize) -> CornerWarning {
        let worst = self.worst(cell, &[-1.0, 1.0]);
        CornerWarning {
            cell,
            corner: worst.index,
            position: worst.position,
            determinant: worst.determinant,
        }
    }

    fn not_invertible(&self, cell: usize, bad_cells: usize, points_1d: &[f64]) -> GeometryError {
        let worst = self.worst(cell, points_1d);
        let n = points_1d.len();
        let indices = [worst.index % n, worst.index / n % n, worst.index / (n * n)];
        GeometryError::NotInvertible {
            cell,
            position: worst.position,
            reference: indices.map(|i| points_1d[i]),
            determinant: worst.determinant,
            bad_cells,
            cells: self.len(),
        }
    }
}

/// Relative rounding error of a determinant, in terms of the product of the tangents' lengths.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Whether the determinant is positive beyond rounding.
#[inline(always)]
fn is_invertible(jacobian: &Matrix3) -> bool {
    let [r, s, t] = tangents(jacobian);
    let determinant = determinant(jacobian);
    let lengths = dot(r, r) * dot(s, s) * dot(t, t);
    determinant > 0.0 && determinant * determinant > ROUNDING * ROUNDING * lengths
}

/// A sufficient condition for the determinant to be positive in the whole cell, true for most cells
/// of a good mesh and much cheaper than looking at points.
///
/// With tangents r, s, t at the centre and r + r', ... elsewhere, the determinant is multilinear in
/// them and at most the product of lengths (Hadamard), so that it differs from the one at the centre
/// by no more than (|r| + |r'|)(|s| + |s'|)(|t| + |t'|) - |r||s||t|.
fn is_invertible_everywhere((tangents, deviations): ([[f64; 3]; 3], [f64; 3])) -> bool {
    let [r, s, t] = tangents;
    let (mut centre, mut largest) = (1.0, 1.0);
    for (tangent, deviation) in tangents.iter().zip(deviations) {
        let length = dot(*tangent, *tangent).sqrt();
        centre *= length;
        largest *= length + deviation;
    }
    dot(r, cross(s, t)) - (largest - centre) > ROUNDING * largest
}
