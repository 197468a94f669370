//! Legendre polynomials.

use super::double_double::Double;

/// P_n and its derivative at one point.
pub(super) struct Legendre {
    pub(super) value: Double,
    pub(super) derivative: Double,
}

/// P_n(x) and P_n'(x) for |x| < 1.
///
/// The value by Bonnet's recurrence `(k + 1) P_{k+1} = (2k + 1) x P_k - k P_{k-1}`, the derivative
/// by `(1 - x²) P_n' = n (P_{n-1} - x P_n)` (Abramowitz & Stegun 1964, 22.7.10 and 22.8.5).
pub(super) fn legendre(n: usize, x: Double) -> Legendre {
    let one = Double::from(1.0);
    let (mut previous, mut value) = (Double::from(0.0), one);
    for k in 0..n {
        let a = Double::from((2 * k + 1) as f64) * x * value;
        let b = Double::from(k as f64) * previous;
        (previous, value) = (value, (a - b) / Double::from((k + 1) as f64));
    }
    let derivative = Double::from(n as f64) * (previous - x * value) / (one - x * x);
    Legendre { value, derivative }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_explicit_polynomials() {
        for x in [-0.9, -0.3, 0.0, 0.55] {
            let p = legendre(3, Double::from(x));
            let value = 0.5 * (5.0 * x * x * x - 3.0 * x);
            let derivative = 0.5 * (15.0 * x * x - 3.0);
            assert!((p.value.round() - value).abs() < 1e-15);
            assert!((p.derivative.round() - derivative).abs() < 1e-14);
        }
    }
}
