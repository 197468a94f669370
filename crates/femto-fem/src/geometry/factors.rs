//! Geometric factors: what an operator needs of the map at one quadrature point.
//!
//! Of the map x(ξ) with Jacobian `J[c][a] = ∂x_c/∂ξ_a`, at a point of quadrature weight w
//! (K. Świrydowicz et al., "Acceleration of tensor-product operations for high-order finite element
//! methods", IJHPCA 2019, section on BP3.5):
//!
//! - mass: `w det J`, one number;
//! - stiffness: `G = w det J · J⁻¹ J⁻ᵀ`, symmetric, six numbers, so that
//!   ∫ ∇φ·∇u = Σ (∇_ξ φ)ᵀ G ∇_ξ u.

/// A 3×3 matrix, `[row][column]`.
pub type Matrix3 = [[f64; 3]; 3];

/// The vector product a × b.
#[inline(always)]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The scalar product a · b.
#[inline(always)]
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Column `a` of a Jacobian: the tangent ∂x/∂ξ_a.
#[inline(always)]
pub fn tangent(jacobian: &Matrix3, a: usize) -> [f64; 3] {
    [jacobian[0][a], jacobian[1][a], jacobian[2][a]]
}

/// The three tangents, the columns of a Jacobian.
#[inline(always)]
pub fn tangents(jacobian: &Matrix3) -> [[f64; 3]; 3] {
    // Not `array::map`, which is not inlined reliably into the loops over points.
    [
        tangent(jacobian, 0),
        tangent(jacobian, 1),
        tangent(jacobian, 2),
    ]
}

/// The cofactors of a Jacobian: row a is `det J · ∇_x ξ_a`, the vector product of the other two
/// tangents. Rows of `det J · J⁻¹`, defined also where J is singular.
#[inline(always)]
pub fn cofactors(jacobian: &Matrix3) -> Matrix3 {
    let [r, s, t] = tangents(jacobian);
    [cross(s, t), cross(t, r), cross(r, s)]
}

/// The determinant of a Jacobian.
#[inline(always)]
pub fn determinant(jacobian: &Matrix3) -> f64 {
    let [r, s, t] = tangents(jacobian);
    dot(r, cross(s, t))
}

/// The mass factor `w det J`.
#[inline(always)]
pub fn mass_factor(jacobian: &Matrix3, weight: f64) -> f64 {
    weight * determinant(jacobian)
}

/// The stiffness factors `w det J · J⁻¹ J⁻ᵀ` in the order rr, rs, rt, ss, st, tt, with r, s, t the
/// reference axes ξ, η, ζ. The determinant must not be zero.
#[inline(always)]
pub fn stiffness_factors(jacobian: &Matrix3, weight: f64) -> [f64; 6] {
    let [r, s, t] = cofactors(jacobian);
    let scale = weight / dot(tangent(jacobian, 0), r);
    [
        scale * dot(r, r),
        scale * dot(r, s),
        scale * dot(r, t),
        scale * dot(s, s),
        scale * dot(s, t),
        scale * dot(t, t),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stiffness_of_a_stretched_box() {
        let jacobian = [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 5.0]];
        assert_eq!(determinant(&jacobian), 30.0);
        assert_eq!(mass_factor(&jacobian, 0.5), 15.0);
        let expected = [15.0 / 4.0, 0.0, 0.0, 15.0 / 9.0, 0.0, 15.0 / 25.0];
        for (found, expected) in stiffness_factors(&jacobian, 0.5).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
    }

    #[test]
    fn stiffness_inverts_the_metric() {
        // G JᵀJ = w det J · I for any J.
        let jacobian = [[1.0, 0.3, -0.2], [0.1, 2.0, 0.4], [-0.5, 0.2, 1.5]];
        let [rr, rs, rt, ss, st, tt] = stiffness_factors(&jacobian, 2.0);
        let g = [[rr, rs, rt], [rs, ss, st], [rt, st, tt]];
        for (a, row) in g.iter().enumerate() {
            for b in 0..3 {
                let entry: f64 = (0..3)
                    .map(|m| row[m] * dot(tangent(&jacobian, m), tangent(&jacobian, b)))
                    .sum();
                let expected = if a == b {
                    2.0 * determinant(&jacobian)
                } else {
                    0.0
                };
                assert!((entry - expected).abs() < 1e-13, "[{a}][{b}] {entry}");
            }
        }
    }
}
