//! Quadrature rules on the line, triangle and tetrahedron {ξ_a ≥ 0, Σ ξ_a ≤ 1}.
//!
//! | rule | degrees | points |
//! |---|---|---|
//! | symmetric, triangle | 1, 2, 4 to 16 | 1, 3, 6, 7, 12, 15, 16, 19, 25, 28, 33, 37, 42, 49, 55 |
//! | symmetric, tetrahedron | 1, 2, 3, 5 to 16 | 1, 4, 8, 14, 24, 35, 46, 59, 81, 110, 168, 172, 204, 264, 304 |
//! | conical product | any | ⌊degree/2⌋ + 1 to the power of the dimension |

mod tables;

use super::{QuadratureError, Rule, conical};
use crate::cell::Cell;
use tables::{Orbit, TETRAHEDRON, TRIANGLE};

/// The highest degree of [`simplex_rule`].
pub const MAX_SIMPLEX_RULE_DEGREE: usize = 63;

/// A rule with few points that is exact at least to `degree`: on triangles and tetrahedra a symmetric one if there is a
/// table for this degree or the next, otherwise a conical product; on the line Gauss.
///
/// # Errors
/// A dimension outside 1..=3, or a degree above [`MAX_SIMPLEX_RULE_DEGREE`].
pub fn simplex_rule(dim: usize, degree: usize) -> Result<Rule, QuadratureError> {
    let tables = match dim {
        1 => &[],
        2 => TRIANGLE,
        3 => TETRAHEDRON,
        found => return Err(QuadratureError::SimplexDimension { found }),
    };
    if degree > MAX_SIMPLEX_RULE_DEGREE {
        return Err(QuadratureError::SimplexDegree { found: degree });
    }
    Ok(match tables.iter().find(|table| table.0 >= degree) {
        Some(&(exact, orbits)) => symmetric(dim, exact, orbits),
        None => conical::simplex(dim, degree),
    })
}

fn symmetric(dim: usize, degree: usize, orbits: &[Orbit]) -> Rule {
    let mut rule = Rule {
        degree,
        ..Rule::default()
    };
    for &(weight, given) in orbits {
        let taken: usize = given.iter().map(|group| group.0).sum();
        let sum: f64 = given
            .iter()
            .map(|&(count, value)| count as f64 * value)
            .sum();
        let left = dim + 1 - taken;
        let mut groups = given.to_vec();
        groups.push((left, (1.0 - sum) / left as f64));
        permutations(&mut groups, &mut Vec::new(), &mut |barycentric| {
            let mut point = [0.0; 3];
            point[..dim].copy_from_slice(&barycentric[1..]);
            rule.push(point, weight);
        });
    }
    rule.by_orbits(if dim == 2 {
        Cell::Triangle
    } else {
        Cell::Tetrahedron
    })
}

/// Visits every permutation of values, each of which occurs a given number of times.
fn permutations(groups: &mut [(usize, f64)], begun: &mut Vec<f64>, visit: &mut impl FnMut(&[f64])) {
    if groups.iter().all(|group| group.0 == 0) {
        return visit(begun);
    }
    for i in 0..groups.len() {
        if groups[i].0 > 0 {
            groups[i].0 -= 1;
            begun.push(groups[i].1);
            permutations(groups, begun, visit);
            begun.pop();
            groups[i].0 += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ x^a y^b z^c over the simplex: a! b! c! / (a + b + c + dim)!.
    fn exact(dim: usize, powers: [usize; 3]) -> f64 {
        let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
        powers.map(factorial).iter().product::<f64>()
            / factorial(powers.iter().sum::<usize>() + dim)
    }

    fn monomials(dim: usize, degree: usize) -> Vec<[usize; 3]> {
        let all = (0..(degree + 1).pow(dim as u32)).map(|m| {
            let n = degree + 1;
            [m % n, m / n % n, m / (n * n)]
        });
        all.filter(|m| m.iter().sum::<usize>() == degree).collect()
    }

    /// The largest relative error over the monomials of one degree.
    fn error(dim: usize, rule: &Rule, degree: usize) -> f64 {
        let error = |powers: [usize; 3]| {
            let f = |x: [f64; 3]| (0..3).map(|a| x[a].powi(powers[a] as i32)).product();
            (rule.integrate(f) / exact(dim, powers) - 1.0).abs()
        };
        monomials(dim, degree)
            .into_iter()
            .map(error)
            .fold(0.0, f64::max)
    }

    fn check(dim: usize, rule: &Rule) {
        for degree in 0..=rule.degree {
            let error = error(dim, rule, degree);
            assert!(error < 4e-14, "{dim} {} {degree}: {error:e}", rule.degree);
        }
        let beyond = error(dim, rule, rule.degree + 1);
        assert!(beyond > 1e-11, "{dim} {}: {beyond:e}", rule.degree);
        assert!(rule.weights.iter().all(|&w| w > 0.0));
        for x in &rule.points {
            assert!(x[..dim].iter().all(|&x| x > 0.0) && x.iter().sum::<f64>() < 1.0);
            assert!(x[dim..].iter().all(|&x| x == 0.0));
        }
    }

    #[test]
    fn rules_are_exact_to_their_degree_and_not_beyond() {
        for dim in 1..=3 {
            for degree in 0..=17 {
                let rule = simplex_rule(dim, degree).unwrap();
                assert!(rule.degree >= degree);
                check(dim, &rule);
                check(dim, &conical::simplex(dim, degree));
            }
        }
    }

    #[test]
    fn high_degrees_integrate_the_highest_monomials() {
        for dim in 1..=3 {
            let rule = simplex_rule(dim, MAX_SIMPLEX_RULE_DEGREE).unwrap();
            let degree = MAX_SIMPLEX_RULE_DEGREE;
            for powers in [[degree, 0, 0], [0, 0, 0]] {
                let found = rule.integrate(|x| x[0].powi(powers[0] as i32));
                assert!((found / exact(dim, powers) - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn points_are_as_many_as_the_table_says() {
        let sizes = |dim, degrees: &[usize]| -> Vec<usize> {
            let size = |&degree| simplex_rule(dim, degree).map_or(0, |rule| rule.len());
            degrees.iter().map(size).collect()
        };
        let triangle = sizes(2, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17]);
        assert_eq!(triangle, [1, 1, 3, 6, 6, 7, 12, 15, 16, 19, 25, 28, 55, 81]);
        let tetrahedron = sizes(3, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17]);
        assert_eq!(tetrahedron, [1, 4, 8, 14, 14, 24, 35, 46, 59, 81, 304, 729]);
        assert_eq!(sizes(1, &[1, 2, 3]), [1, 2, 2]);
    }

    #[test]
    fn what_has_no_rule_is_an_error() {
        assert!(simplex_rule(0, 1).is_err() && simplex_rule(4, 1).is_err());
        let error = simplex_rule(2, 64).unwrap_err().to_string();
        assert!(error.contains("64") && error.contains("63"), "{error}");
    }
}
