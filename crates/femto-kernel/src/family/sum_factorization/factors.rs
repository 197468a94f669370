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

/// What is kept of a trilinear map `x = Σ c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`, to recompute the factors from: without
/// gradients the 27 coefficients of λ det J, `[3][3][3]` for powers of ζ, η, ξ; otherwise those of the map, `[7][3]`
/// (of ξ, η, ξη, ζ, ξζ, ηζ, ξηζ), then λ if values are wanted, then κ.
pub(super) fn map_factors(
    c: &[[f64; 3]; 8],
    (lambda, kappa): (f64, f64),
    (values, gradients): (bool, bool),
) -> impl Iterator<Item = f64> + use<> {
    let polynomial = (!gradients).then(|| determinant(c).map(|number| lambda * number));
    let c = *c;
    let map = gradients.then(|| {
        let map = c.into_iter().skip(1).flatten();
        map.chain(values.then_some(lambda)).chain([kappa])
    });
    polynomial
        .into_iter()
        .flatten()
        .chain(map.into_iter().flatten())
}

/// The coefficients of det J of a trilinear map, quadratic in each coordinate: `[3][3][3]` for powers of
/// ζ, η, ξ. Interpolated from the values at −1, 0, 1 along each axis, which is exact.
fn determinant(c: &[[f64; 3]; 8]) -> [f64; 27] {
    let coordinate = |n: usize| n as f64 - 1.0;
    let mut values = [0.0; 27];
    for (n, value) in values.iter_mut().enumerate() {
        let [xi, eta, zeta] = [n % 3, n / 3 % 3, n / 9].map(coordinate);
        // Columns of the Jacobian: ∂/∂ξ of ξ^a η^b ζ^c with m = a + 2b + 4c, and so on.
        let column = |m: [usize; 4], s: f64, t: f64| {
            // A loop, since closures of an array's `map` are not always inlined.
            let mut column = [0.0; 3];
            for (d, sum) in column.iter_mut().enumerate() {
                *sum = c[m[0]][d] + s * c[m[1]][d] + t * c[m[2]][d] + s * t * c[m[3]][d];
            }
            column
        };
        let x = column([1, 3, 5, 7], eta, zeta);
        let y = column([2, 3, 6, 7], xi, zeta);
        let z = column([4, 5, 6, 7], xi, eta);
        *value = dot(cross(x, y), z);
    }
    for step in [1, 3, 9] {
        for start in (0..27).filter(|n| n / step % 3 == 0) {
            let [minus, zero, plus] = [0, 1, 2].map(|n| values[start + n * step]);
            values[start] = zero;
            values[start + step] = (plus - minus) / 2.0;
            values[start + 2 * step] = (plus + minus) / 2.0 - zero;
        }
    }
    values
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - a[j] * b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_the_determinant() {
        // x = ξ + 0.1 ηζ, y = η + 0.2 ξζ, z = ζ + 0.3 ξηζ.
        let mut c = [[0.0; 3]; 8];
        (c[1][0], c[6][0]) = (1.0, 0.1);
        (c[2][1], c[5][1]) = (1.0, 0.2);
        (c[4][2], c[7][2]) = (1.0, 0.3);
        let polynomial = determinant(&c);
        for [xi, eta, zeta] in [[0.3, -0.7, 0.9], [1.0, 1.0, -1.0], [-0.2, 0.4, 0.1_f64]] {
            let found: f64 = (0..27)
                .map(|n| {
                    let powers = [n % 3, n / 3 % 3, n / 9];
                    let [a, b, c] = powers.map(|power| power as i32);
                    polynomial[n] * xi.powi(a) * eta.powi(b) * zeta.powi(c)
                })
                .sum();
            let (x, y) = ([1.0, 0.1 * zeta, 0.1 * eta], [0.2 * zeta, 1.0, 0.2 * xi]);
            let z = [0.3 * eta * zeta, 0.3 * xi * zeta, 1.0 + 0.3 * xi * eta];
            let wanted = x[0] * (y[1] * z[2] - y[2] * z[1]) - x[1] * (y[0] * z[2] - y[2] * z[0])
                + x[2] * (y[0] * z[1] - y[1] * z[0]);
            assert!(
                (found - wanted).abs() < 1e-14,
                "{found} instead of {wanted}"
            );
        }
    }
}
