//! Factors of a form λ u, κ ∇u at a point: the multipliers of values and reference derivatives.

/// κ w det J J⁻¹J⁻ᵀ (rr, rs, rt, ss, st, tt) if gradients are wanted, then λ w det J if values are wanted
/// (Świrydowicz et al. 2019, eq. 10). `j` is the Jacobian `[physical][reference]`, `wanted` is (values,
/// gradients).
pub fn factors(
    j: &[[f64; 3]; 3],
    weight: f64,
    (lambda, kappa): (f64, f64),
    (values, gradients): (bool, bool),
) -> impl Iterator<Item = f64> + use<> {
    let column = |c: usize| [j[0][c], j[1][c], j[2][c]];
    let (a, b, c) = (column(0), column(1), column(2));
    let adjugate = [cross(b, c), cross(c, a), cross(a, b)];
    let determinant = dot(a, adjugate[0]);
    let scale = kappa * weight / determinant;
    let pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    let metric = pairs.map(|(r, s)| scale * dot(adjugate[r], adjugate[s]));
    let take = if gradients { 6 } else { 0 };
    let value = values.then_some(lambda * weight * determinant);
    metric.into_iter().take(take).chain(value)
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - a[j] * b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
