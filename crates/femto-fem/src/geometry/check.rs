//! Whether the map of every cell can be inverted.

use super::factors::{Matrix3, cross, determinant, dot, tangents};
use super::{CornerWarning, Geometry, GeometryError, GeometryKind};
use rayon::prelude::*;

/// Where the determinant of a cell is bad.
#[derive(Clone, Copy, PartialEq)]
enum Defect {
    Points,
    Corners,
}

/// The point of a grid with the smallest determinant.
struct Worst {
    index: usize,
    position: [f64; 3],
    determinant: f64,
}

/// The vertices of the reference tetrahedron; the first three are the triangle's.
const SIMPLEX_VERTICES: [[f64; 3]; 4] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
];

impl Worst {
    fn meet(&mut self, index: usize, position: [f64; 3], jacobian: &Matrix3) {
        let determinant = determinant(jacobian);
        // NaN is the worst: nothing replaces it.
        if determinant.is_nan() || determinant < self.determinant {
            *self = Self {
                index,
                position,
                determinant,
            };
        }
    }
}

impl Geometry {
    /// Checks that the Jacobian determinant is positive at every point of the tensor grid of
    /// `points_1d` in every cell, and returns the cells whose map is only bad at corners, in mesh
    /// cell order.
    ///
    /// A determinant below the rounding of its own terms counts as zero. The grid on `[-1, 1]³` is
    /// collapsed to simplices.
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
        if self.shape.is_simplex() {
            return self.simplex_defect(cell, points_1d);
        }
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

    fn simplex_defect(&self, cell: usize, points_1d: &[f64]) -> Option<Defect> {
        let is_invertible_at = |points: &[[f64; 3]]| {
            let mut good = true;
            self.visit_list(cell, points, |_, jacobian| good &= is_invertible(&jacobian));
            good
        };
        if self.kinds[cell] == GeometryKind::Affine {
            return (!is_invertible_at(&SIMPLEX_VERTICES[..1])).then_some(Defect::Points);
        }
        if !is_invertible_at(&self.collapsed(points_1d)) {
            Some(Defect::Points)
        } else if !is_invertible_at(&SIMPLEX_VERTICES[..=self.shape.dim()]) {
            Some(Defect::Corners)
        } else {
            None
        }
    }

    /// The tensor grid of `points_1d` collapsed to the simplex, lexicographic.
    fn collapsed(&self, points_1d: &[f64]) -> Vec<[f64; 3]> {
        let half = |x: &f64| 0.5 * (1.0 + x);
        let unit: Vec<f64> = points_1d.iter().map(half).collect();
        let third = if self.shape.dim() == 3 {
            &unit[..]
        } else {
            &[0.0]
        };
        let mut points = Vec::new();
        for w in third {
            for v in &unit {
                points.extend(unit.iter().map(|u| {
                    let y = v * (1.0 - w);
                    [u * (1.0 - v) * (1.0 - w), y, *w]
                }));
            }
        }
        points
    }

    fn worst_of_list(&self, cell: usize, points: &[[f64; 3]]) -> Worst {
        let mut worst = Worst {
            index: 0,
            position: self.centroid(cell),
            determinant: f64::INFINITY,
        };
        let mut index = 0;
        self.visit_list(cell, points, |position, jacobian| {
            worst.meet(index, position, &jacobian);
            index += 1;
        });
        worst
    }

    fn worst(&self, cell: usize, points_1d: &[f64]) -> Worst {
        let mut worst = Worst {
            index: 0,
            position: self.centroid(cell),
            determinant: f64::INFINITY,
        };
        let mut index = 0;
        self.visit(cell, [points_1d; 3], |position, jacobian| {
            worst.meet(index, position, &jacobian);
            index += 1;
        });
        worst
    }

    fn corner_warning(&self, cell: usize) -> CornerWarning {
        let worst = if self.shape.is_simplex() {
            self.worst_of_list(cell, &SIMPLEX_VERTICES[..=self.shape.dim()])
        } else {
            self.worst(cell, &[-1.0, 1.0])
        };
        CornerWarning {
            cell,
            corner: worst.index,
            position: worst.position,
            determinant: worst.determinant,
        }
    }

    fn not_invertible(&self, cell: usize, bad_cells: usize, points_1d: &[f64]) -> GeometryError {
        let (worst, reference) = if self.shape.is_simplex() {
            let points = self.collapsed(points_1d);
            let worst = self.worst_of_list(cell, &points);
            let reference = points.get(worst.index).copied().unwrap_or_default();
            (worst, reference)
        } else {
            let worst = self.worst(cell, points_1d);
            let n = points_1d.len();
            let indices = [worst.index % n, worst.index / n % n, worst.index / (n * n)];
            (worst, indices.map(|i| points_1d[i]))
        };
        GeometryError::NotInvertible {
            cell,
            position: worst.position,
            reference,
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
