//! The Jacobian `J[c][a] = ∂x_c/∂ξ_a` of a map x(ξ) at one point: tangents, cofactors, determinant.

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
