//! Checking that the map of every cell is invertible.

use super::jacobian::{Matrix3, cross, determinant, dot, tangents};
use super::{CornerWarning, Geometry, GeometryError, Maps, polynomial};
use crate::parallel;
use femto_element::MapKind;
use std::sync::atomic::Ordering::Relaxed;

/// The position of a determinant that is not positive.
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

impl Worst {
    fn meet(&mut self, index: usize, position: [f64; 3], jacobian: &Matrix3) {
        let determinant = determinant(jacobian);
        // NaN is the worst and is never replaced.
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
    /// Checks that the Jacobian determinant is positive at every point of the tensor grid of `points_1d` in
    /// every cell, and returns the cells whose map is only bad at corners, in mesh cell order.
    ///
    /// A determinant below the rounding of its own terms counts as zero. The grid on `[-1, 1]³` is
    /// [collapsed](femto_element::Cell::collapsed) to other cells; cells in the plane have a grid on two axes.
    ///
    /// # Errors
    /// [`GeometryError::NotInvertible`] with the worst point of the first bad cell.
    pub fn check(&self, points_1d: &[f64]) -> Result<Vec<CornerWarning>, GeometryError> {
        if self.is_invertible.load(Relaxed) {
            return Ok(Vec::new());
        }
        let doubtful = parallel::filter(self.len(), |cell| !self.is_invertible_everywhere(cell));
        self.is_invertible.store(doubtful.is_empty(), Relaxed);
        let (points, corners) = (self.checked_points(points_1d), self.corners());
        let defect = |cell| self.defect(cell, points_1d, &points, &corners);
        let defects = parallel::gather(doubtful.len(), |place, defects| {
            let cell = doubtful[place];
            defects.extend(defect(cell).map(|defect| (cell, defect)));
        });
        let mut bad = defects
            .iter()
            .filter(|(_, defect)| *defect == Defect::Points);
        match bad.next() {
            Some(&(cell, _)) => Err(self.not_invertible(cell, 1 + bad.count(), &points)),
            None => Ok(defects
                .iter()
                .map(|&(cell, _)| self.corner_warning(cell, &corners))
                .collect()),
        }
    }

    /// The defect of a cell that may have one, checked at a grid of `points_1d`, which are `points` of the cell, and at
    /// its `corners`.
    fn defect(
        &self,
        cell: usize,
        points_1d: &[f64],
        points: &[[f64; 3]],
        corners: &[[f64; 3]],
    ) -> Option<Defect> {
        let good_points = match &self.maps {
            Maps::Tensor(_) => {
                let mut good = true;
                self.visit(cell, self.grid(points_1d), |_, jacobian| {
                    good &= is_invertible(&jacobian)
                });
                good
            }
            Maps::Terms(_) | Maps::Facets(_) => self.is_invertible_at(cell, points),
        };
        if !good_points {
            Some(Defect::Points)
        } else if !self.is_invertible_at(cell, corners) {
            Some(Defect::Corners)
        } else {
            None
        }
    }

    fn is_invertible_at(&self, cell: usize, points: &[[f64; 3]]) -> bool {
        let mut good = true;
        self.visit_list(cell, points, |_, jacobian| good &= is_invertible(&jacobian));
        good
    }

    /// Whether the map of a cell is invertible at all points, by conditions that need not visit them.
    fn is_invertible_everywhere(&self, cell: usize) -> bool {
        match (&self.maps, self.kinds[cell]) {
            (Maps::Tensor(maps), MapKind::Curved) => {
                is_brick_invertible(polynomial::tangent_bounds(maps.curved(cell)))
            }
            (Maps::Tensor(_), _) => {
                is_brick_invertible(polynomial::tangent_bounds(&self.trilinear(cell)))
            }
            (Maps::Terms(_), MapKind::Affine) => self.is_invertible_at(cell, &[[0.0; 3]]),
            (Maps::Terms(_), MapKind::Extruded) => is_wedge_invertible(&self.trilinear(cell)),
            _ => false,
        }
    }

    /// Positions of the reference cell's vertices.
    fn corners(&self) -> Vec<[f64; 3]> {
        let cell = self.cell;
        (0..cell.vertices()).map(|m| cell.vertex(m)).collect()
    }

    /// The points of [`Geometry::check`] in the reference cell.
    fn checked_points(&self, points_1d: &[f64]) -> Vec<[f64; 3]> {
        let [x, y, z] = self.grid(points_1d);
        let planes = z.iter().flat_map(|&z| y.iter().map(move |&y| [y, z]));
        let points = planes.flat_map(|[y, z]| x.iter().map(move |&x| [x, y, z]));
        points.map(|point| self.cell.collapsed(point)).collect()
    }

    /// The worst determinant among reference points.
    fn worst(&self, cell: usize, points: &[[f64; 3]]) -> Worst {
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

    fn corner_warning(&self, cell: usize, corners: &[[f64; 3]]) -> CornerWarning {
        let worst = self.worst(cell, corners);
        CornerWarning {
            cell: self.first_cell + cell,
            corner: worst.index,
            position: worst.position,
            determinant: worst.determinant,
        }
    }

    fn not_invertible(&self, cell: usize, bad_cells: usize, points: &[[f64; 3]]) -> GeometryError {
        let worst = self.worst(cell, points);
        GeometryError::NotInvertible {
            cell: self.first_cell + cell,
            position: worst.position,
            reference: points.get(worst.index).copied().unwrap_or_default(),
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

/// A sufficient condition for the determinant to be positive in the whole cell, which holds for most cells
/// of a good mesh and is much cheaper than checking points.
///
/// With tangents r, s, t at the centre and r + r', ... elsewhere, the determinant is multilinear in them
/// and at most the product of their lengths (Hadamard), so it differs from that at the centre by at most
/// (|r| + |r'|)(|s| + |s'|)(|t| + |t'|) - |r||s||t|.
fn is_brick_invertible((tangents, deviations): ([[f64; 3]; 3], [f64; 3])) -> bool {
    let [r, s, t] = tangents;
    let (mut centre, mut largest) = (1.0, 1.0);
    for (tangent, deviation) in tangents.iter().zip(deviations) {
        let length = dot(*tangent, *tangent).sqrt();
        centre *= length;
        largest *= length + deviation;
    }
    dot(r, cross(s, t)) - (largest - centre) > ROUNDING * largest
}

/// A sufficient condition for the determinant of a prism's map of degree 1 to be positive everywhere, which holds for all
/// thin and sheared prisms with vertical edges: points of the triangle need not be visited.
///
/// With tangents r + ζ r', s + ζ s' and t, which is linear in ξ and η, the determinant is (r × s + ζ (r' × s + r × s') +
/// ζ² r' × s') · t: linear along the triangle, so that its vertices bound it, and its terms in ζ vanish if t, r' and s' are
/// all vertical.
fn is_wedge_invertible(c: &polynomial::Tensor<2>) -> bool {
    let ([[_, r], [s, _]], [[t, r1], [s1, _]]) = (c[0], c[1]);
    let (straight, twisted) = (cross(r, s), cross(r1, s1));
    let (left, right) = (cross(r1, s), cross(r, s1));
    let of_vertex = |t: [f64; 3]| {
        let in_zeta = dot(left, t) + dot(right, t);
        let least = dot(straight, t) - in_zeta.abs() - dot(twisted, t).abs();
        (least, dot(t, t).sqrt())
    };
    let add = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|c| a[c] + b[c]);
    let at_vertices = [t, add(t, r1), add(t, s1)].map(of_vertex);
    let length = |a: [f64; 3], b: [f64; 3]| dot(a, a).sqrt() + dot(b, b).sqrt();
    let sides = length(r, r1) * length(s, s1);
    let height = at_vertices.iter().fold(0.0, |most: f64, it| most.max(it.1));
    // Not `<=`, so that NaN fails; squared as at points, so that what underflows there does here.
    let rounding = ROUNDING * sides * height;
    at_vertices
        .iter()
        .all(|it| it.0 > 0.0 && it.0 * it.0 > rounding * rounding)
}
