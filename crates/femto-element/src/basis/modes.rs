//! Orthogonal functions on simplices, prisms and pyramids.
//!
//! On a simplex, orthonormal polynomials:
//! J. Proriol, C. R. Acad. Sci. Paris 245 (1957); T. Koornwinder, "Two-variable analogues of the
//! classical orthogonal polynomials" (1975); M. Dubiner, J. Sci. Comput. 6 (1991). With
//! P_n^{α}(s, t) = tⁿ P_n^{(α,0)}(s/t), the Jacobi polynomials made homogeneous, which has no
//! singular vertex, on {x, y, z ≥ 0, x + y + z ≤ 1}:
//!
//! ψ_pqr = √((2p+1)(2p+2q+2)(2p+2q+2r+3)) · P_p^0(2x+y+z-1, 1-y-z) ·
//! P_q^{2p+1}(2y+z-1, 1-z) · P_r^{2p+2q+2}(2z-1, 1),
//!
//! and on the triangle (z = 0) and the line the same without the last factors. On the prism, the triangle's
//! times Legendre's P_r^0(z, 1). On the pyramid (M. Bergot, G. Cohen and M. Duruflé, J. Sci. Comput. 42 (2010),
//! eq. 10), for p, q ≤ n and r ≤ n - max(p, q), in this reference cell:
//!
//! ψ_pqr = P_p^0(2x+z-1, 1-z) P_q^0(2y+z-1, 1-z) (1-z)^-min(p,q) P_r^{2max(p,q)+2}(2z-1, 1).

use crate::Degree;
use crate::cell::Cell;
use std::ops::{Add, Mul};

/// A value and its derivatives along the three axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jet {
    pub(super) value: f64,
    pub(super) gradient: [f64; 3],
}

impl Jet {
    /// The affine function with this value and gradient.
    fn new(value: f64, gradient: [f64; 3]) -> Self {
        Self { value, gradient }
    }

    fn constant(value: f64) -> Self {
        Self::new(value, [0.0; 3])
    }

    fn times(self, s: f64) -> Self {
        Self::new(s * self.value, self.gradient.map(|slope| s * slope))
    }
}

impl Add for Jet {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let slope = |a: usize| self.gradient[a] + other.gradient[a];
        Self::new(self.value + other.value, [0, 1, 2].map(slope))
    }
}

impl Mul for Jet {
    type Output = Self;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the product rule")]
    fn mul(self, other: Self) -> Self {
        let slope = |a: usize| self.value * other.gradient[a] + self.gradient[a] * other.value;
        Self::new(self.value * other.value, [0, 1, 2].map(slope))
    }
}

/// All modes of a degree on a simplex, prism or pyramid at a point, with p slowest.
pub(super) fn modes(cell: Cell, degree: Degree, point: [f64; 3]) -> Vec<Jet> {
    match cell {
        Cell::Prism => on_prism(degree, point),
        Cell::Pyramid => on_pyramid(degree.horizontal, point),
        _ => on_simplex(cell.dim(), degree.horizontal, point),
    }
}

fn on_prism(degree: Degree, [x, y, z]: [f64; 3]) -> Vec<Jet> {
    let along = Jet::new(z, [0.0, 0.0, 1.0]);
    let line = homogeneous_jacobi(degree.vertical, 0, along, Jet::constant(1.0));
    let triangle = on_simplex(2, degree.horizontal, [x, y, 0.0]).into_iter();
    triangle
        .flat_map(|in_plane| line.iter().map(move |&upwards| in_plane * upwards))
        .collect()
}

fn on_pyramid(degree: usize, [x, y, z]: [f64; 3]) -> Vec<Jet> {
    let width = Jet::new(1.0 - z, [0.0, 0.0, -1.0]);
    // At the apex, where the quotients have bounded values but no limits, those of the axis above the centre of the base.
    let inverse = match width.value {
        0.0 => Jet::constant(0.0),
        w => Jet::new(1.0 / w, [0.0, 0.0, 1.0 / (w * w)]),
    };
    let across = |x: f64, axis: usize| {
        let slope = |a: usize| if a == axis { 2.0 } else { 0.0 };
        let s = Jet::new(2.0 * x + z - 1.0, [slope(0), slope(1), 1.0]);
        homogeneous_jacobi(degree, 0, s, width)
    };
    let (in_x, in_y) = (across(x, 0), across(y, 1));
    let upwards = Jet::new(2.0 * z - 1.0, [0.0, 0.0, 2.0]);
    let mut all = Vec::new();
    for (p, &in_x) in in_x.iter().enumerate() {
        for (q, &in_y) in in_y.iter().enumerate() {
            let quotient = (0..p.min(q)).fold(in_x * in_y, |product, _| product * inverse);
            let most = p.max(q);
            let in_z = homogeneous_jacobi(degree - most, 2 * most + 2, upwards, Jet::constant(1.0));
            all.extend(in_z.into_iter().map(|in_z| quotient * in_z));
        }
    }
    all
}

fn on_simplex(dim: usize, degree: usize, [x, y, z]: [f64; 3]) -> Vec<Jet> {
    // Coordinates beyond the dimension are held at zero.
    let (y, dy) = if dim > 1 { (y, 1.0) } else { (0.0, 0.0) };
    let (z, dz) = if dim > 2 { (z, 1.0) } else { (0.0, 0.0) };
    let first = homogeneous_jacobi(
        degree,
        0,
        Jet::new(2.0 * x + y + z - 1.0, [2.0, dy, dz]),
        Jet::new(1.0 - y - z, [0.0, -dy, -dz]),
    );
    let second = |p: usize| match dim {
        1 => vec![Jet::constant(1.0)],
        _ => homogeneous_jacobi(
            degree - p,
            2 * p + 1,
            Jet::new(2.0 * y + z - 1.0, [0.0, 2.0 * dy, dz]),
            Jet::new(1.0 - z, [0.0, 0.0, -dz]),
        ),
    };
    let third = |pq: usize| match dim {
        1 | 2 => vec![Jet::constant(1.0)],
        _ => homogeneous_jacobi(
            degree - pq,
            2 * pq + 2,
            Jet::new(2.0 * z - 1.0, [0.0, 0.0, 2.0]),
            Jet::constant(1.0),
        ),
    };
    let mut all = Vec::new();
    for (p, &in_x) in first.iter().enumerate() {
        for (q, &in_y) in second(p).iter().enumerate() {
            for (r, &in_z) in third(p + q).iter().enumerate() {
                let squares = [2 * p + 1, 2 * (p + q) + 2, 2 * (p + q + r) + 3];
                let square: usize = squares[..dim].iter().product();
                all.push((in_x * in_y * in_z).times((square as f64).sqrt()));
            }
        }
    }
    all
}

/// tⁿ P_n^{(α,0)}(s/t) for n = 0..=degree, by the recurrence of Abramowitz & Stegun 1964, 22.7.1.
fn homogeneous_jacobi(degree: usize, alpha: usize, s: Jet, t: Jet) -> Vec<Jet> {
    let alpha = alpha as f64;
    let mut values = vec![Jet::constant(1.0)];
    if degree > 0 {
        values.push(s.times(0.5 * (alpha + 2.0)) + t.times(0.5 * alpha));
    }
    for n in 2..=degree {
        let (previous, before) = (values[n - 1], values[n - 2]);
        let n = n as f64;
        let m = 2.0 * n + alpha;
        let scale = 1.0 / (2.0 * n * (n + alpha) * (m - 2.0));
        let linear = s.times(m * (m - 2.0)) + t.times(alpha * alpha);
        let a = (linear * previous).times(scale * (m - 1.0));
        let b = (t * t * before).times(scale * 2.0 * (n + alpha - 1.0) * (n - 1.0) * m);
        values.push(a + b.times(-1.0));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::rule;

    #[test]
    fn modes_are_orthogonal_and_on_simplices_orthonormal() {
        for (cell, degree) in [
            (Cell::Line, 8),
            (Cell::Triangle, 8),
            (Cell::Tetrahedron, 8),
            (Cell::Prism, 6),
            (Cell::Pyramid, 4),
        ] {
            let rule = rule(cell, 2 * degree).unwrap();
            let at = |x: [f64; 3]| match cell {
                // The line here is the simplex [0, 1].
                Cell::Line => modes(cell, degree.into(), [0.5 * (1.0 + x[0]), 0.0, 0.0]),
                _ => modes(cell, degree.into(), x),
            };
            let scale = if cell == Cell::Line { 0.5 } else { 1.0 };
            let count = at([0.2; 3]).len();
            assert_eq!(count, cell.lattice(degree).len());
            let mut products = vec![0.0; count * count];
            for (&point, weight) in rule.points.iter().zip(&rule.weights) {
                let values = at(point);
                for (i, entry) in products.iter_mut().enumerate() {
                    *entry += scale * weight * values[i / count].value * values[i % count].value;
                }
            }
            for (i, &found) in products.iter().enumerate() {
                let is_diagonal = i / count == i % count;
                let has_length_one = cell == Cell::Line || cell.is_simplex();
                let wanted = match (is_diagonal, has_length_one) {
                    (false, _) => 0.0,
                    (true, true) => 1.0,
                    (true, false) => {
                        assert!(found > 1e-6, "{cell:?} {i}: {found}");
                        found
                    }
                };
                assert!((found - wanted).abs() < 1e-12, "{cell:?} {i}: {found}");
            }
        }
    }
}
