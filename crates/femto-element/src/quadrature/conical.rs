//! Conical products: rules on simplices and pyramids, to which the cube `[0, 1]`³ is collapsed.

use super::Rule;
use super::jacobi::gauss_jacobi;

/// The product on the simplex of this dimension, collapsed by x = u (1 - v)(1 - w), y = v (1 - w), z = w.
///
/// A. H. Stroud, "Approximate Calculation of Multiple Integrals" (1971), section 2.5.
pub(super) fn simplex(dim: usize, degree: usize) -> Rule {
    product(&[0, 1, 2][..dim], degree, |[u, v, w]| {
        [u * (1.0 - v) * (1.0 - w), v * (1.0 - w), w]
    })
}

/// The product on the pyramid, collapsed by x = u (1 - w), y = v (1 - w), z = w: exact to a degree in each of u, v and
/// w, which includes products of functions of half the degree, and of their derivatives.
///
/// M. Bergot, G. Cohen and M. Duruflé, J. Sci. Comput. 42 (2010), §3.
pub(super) fn pyramid(degree: usize) -> Rule {
    product(&[0, 0, 2], degree, |[u, v, w]| {
        [u * (1.0 - w), v * (1.0 - w), w]
    })
}

/// The product of Gauss–Jacobi rules, moved by `collapse`, whose determinant is Π (1 - u_a)^`alphas[a]`; coordinates
/// without an alpha are zero.
fn product(alphas: &[usize], degree: usize, collapse: impl Fn([f64; 3]) -> [f64; 3]) -> Rule {
    let points = degree / 2 + 1;
    let [us, vs, ws] = [0, 1, 2].map(|axis| match alphas.get(axis) {
        Some(&alpha) => gauss_jacobi(points, alpha),
        None => vec![(0.0, 1.0)],
    });
    let mut rule = Rule {
        degree: 2 * points - 1,
        ..Rule::default()
    };
    for &(w, in_w) in &ws {
        for &(v, in_v) in &vs {
            for &(u, in_u) in &us {
                rule.push(collapse([u, v, w]), in_u * in_v * in_w);
            }
        }
    }
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ x^a y^b z^c = ∫ z^c (1 - z)^(a+b+2) dz / ((a+1)(b+1)) = c! (a+b+2)! / (a+b+c+3)! / ((a+1)(b+1)).
    #[test]
    fn pyramids_are_exact_to_their_degree_and_not_beyond() {
        let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
        for degree in 0..=9 {
            let rule = pyramid(degree);
            assert!(rule.degree >= degree && rule.len() == (degree / 2 + 1).pow(3));
            let error = |[a, b, c]: [usize; 3]| {
                let exact = factorial(c) * factorial(a + b + 2)
                    / factorial(a + b + c + 3)
                    / ((a + 1) * (b + 1)) as f64;
                let f =
                    |[x, y, z]: [f64; 3]| x.powi(a as i32) * y.powi(b as i32) * z.powi(c as i32);
                (rule.integrate(f) / exact - 1.0).abs()
            };
            for a in 0..=rule.degree {
                for b in 0..=rule.degree - a {
                    for c in 0..=rule.degree - a - b {
                        assert!(error([a, b, c]) < 1e-13, "{a} {b} {c}");
                    }
                }
            }
            assert!(error([rule.degree + 1, 0, 0]) > 1e-9);
            assert!(rule.weights.iter().all(|&weight| weight > 0.0));
        }
    }
}
