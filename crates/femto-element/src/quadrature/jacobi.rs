//! Jacobi polynomials, and Gauss–Jacobi rules on `[0, 1]` with the weight (1 - u)^α.

use super::double_double::Double;
use super::newton;

/// The points, ascending, and weights of the rule ∫₀¹ f(u) (1 - u)^α du with this many points,
/// exact for polynomials f of degree `2 points - 1`.
///
/// The points are the roots of P_n^{(α,0)}, mapped from `[-1, 1]`. Newton's method in double-double
/// arithmetic refines roots found one after the other with the known ones divided out (G. E. Karniadakis
/// and S. J. Sherwin, "Spectral/hp Element Methods for CFD" (1999), appendix B.2). The weights are
/// `1 / ((1 - x²) P_n'(x)²)`: Abramowitz & Stegun 1964, 25.4.33, for β = 0 on `[0, 1]`.
pub(super) fn gauss_jacobi(points: usize, alpha: usize) -> Vec<(f64, f64)> {
    let mut roots: Vec<f64> = Vec::with_capacity(points);
    for k in 0..points {
        let chebyshev = -(std::f64::consts::PI * (k as f64 + 0.5) / points as f64).cos();
        let mut x = match roots.last() {
            Some(&last) => 0.5 * (chebyshev + last),
            None => chebyshev,
        };
        // Quadratic convergence from good guesses: far fewer steps are taken.
        for _ in 0..100 {
            let (value, derivative) = jacobi(points, alpha, Double::from(x));
            let (value, derivative) = (value.round(), derivative.round());
            let known: f64 = roots.iter().map(|root| 1.0 / (x - root)).sum();
            let step = value / (derivative - value * known);
            x -= step;
            if step.abs() < 1e-14 {
                break;
            }
        }
        roots.push(x);
    }
    let one = Double::from(1.0);
    let polished = |&guess: &f64| {
        let x = newton(guess, |x| {
            let (value, derivative) = jacobi(points, alpha, x);
            value / derivative
        });
        let derivative = jacobi(points, alpha, x).1;
        let weight = one / ((one - x * x) * derivative * derivative);
        let u = (one + x) / Double::from(2.0);
        (u.round(), weight.round())
    };
    roots.iter().map(polished).collect()
}

/// P_n^{(α,0)}(x) and its derivative for n ≥ 1 and |x| < 1 (Abramowitz & Stegun 1964, 22.7.1 and 22.8.1). For α = 0
/// these are Legendre's.
pub(super) fn jacobi(n: usize, alpha: usize, x: Double) -> (Double, Double) {
    let number = |i: usize| Double::from(i as f64);
    let (zero, one) = (number(0), number(1));
    let (mut previous, mut value) = (zero, one);
    for k in 1..=n {
        let next = if k == 1 {
            (number(alpha) + number(alpha + 2) * x) / number(2)
        } else {
            let m = 2 * k + alpha;
            let linear = number(m * (m - 2)) * x + number(alpha * alpha);
            let a = number(m - 1) * linear * value;
            let b = number(2 * (k + alpha - 1) * (k - 1) * m) * previous;
            (a - b) / number(2 * k * (k + alpha) * (m - 2))
        };
        (previous, value) = (value, next);
    }
    let m = number(2 * n + alpha);
    let a = number(n) * (number(alpha) - m * x) * value;
    let b = number(2 * n * (n + alpha)) * previous;
    (value, (a + b) / (m * (one - x * x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_legendres_if_alpha_is_zero() {
        for x in [-0.9, -0.3, 0.0, 0.55] {
            let (value, derivative) = jacobi(3, 0, Double::from(x));
            let expected = 0.5 * (5.0 * x * x * x - 3.0 * x);
            assert!((value.round() - expected).abs() < 1e-15);
            let expected = 0.5 * (15.0 * x * x - 3.0);
            assert!((derivative.round() - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn moments_are_exact() {
        for alpha in 0..=2 {
            for points in [1, 2, 3, 8, 21, 64] {
                let rule = gauss_jacobi(points, alpha);
                assert!(rule.is_sorted_by(|a, b| a.0 < b.0), "{rule:?}");
                for power in [0, 1, 2 * points - 1] {
                    // B(power + 1, α + 1)
                    let exact: f64 = (1..=alpha)
                        .map(|i| i as f64 / (power + 1 + i) as f64)
                        .product::<f64>()
                        / (power + 1) as f64;
                    let found: f64 = rule.iter().map(|(u, w)| w * u.powi(power as i32)).sum();
                    assert!(
                        (found / exact - 1.0).abs() < 1e-13,
                        "{alpha} {points} {power}"
                    );
                }
            }
        }
    }
}
