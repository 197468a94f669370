//! Quadrature rules, one-dimensional bases and the numbering tables, against their definitions.

use femto_fem::quadrature::{QuadratureError, Rule1d, gauss, gauss_lobatto};
use femto_fem::reference::cell::*;
use femto_fem::reference::tensor_product::Basis1d;
use femto_fem::reference::{MAX_DEGREE, MAX_POINTS_1D, ReferenceError, lagrange, nodes};

/// Largest error of a rule on monomials of degree 0 to `degree`, whose integrals are known.
fn monomial_error(rule: &Rule1d, degree: usize) -> f64 {
    let error = |k: usize| {
        let exact = if k.is_multiple_of(2) {
            2.0 / (k + 1) as f64
        } else {
            0.0
        };
        (rule.integrate(|x| x.powi(k as i32)) - exact).abs()
    };
    (0..=degree).map(error).fold(0.0, f64::max)
}

fn assert_symmetric(rule: &Rule1d) {
    let n = rule.len();
    for i in 0..n {
        assert_eq!(rule.points[i], -rule.points[n - 1 - i]);
        assert_eq!(rule.weights[i], rule.weights[n - 1 - i]);
        assert!(rule.weights[i] > 0.0);
    }
    assert!(rule.points.is_sorted_by(|a, b| a < b), "{:?}", rule.points);
    let sum: f64 = rule.weights.iter().sum();
    assert!(
        (sum - 2.0).abs() < 2e-15,
        "{n} points: weights sum to {sum}"
    );
}

#[test]
fn gauss_is_exact_to_degree_2n_minus_1_and_no_further() {
    for n in 1..=20 {
        let rule = gauss(n);
        assert_symmetric(&rule);
        let error = monomial_error(&rule, 2 * n - 1);
        assert!(error < 1e-15, "{n} points: {error:e}");
        if n <= 10 {
            assert!(monomial_error(&rule, 2 * n) > 1e-8, "{n} points");
        }
    }
}

#[test]
fn gauss_lobatto_is_exact_to_degree_2n_minus_3_and_no_further() {
    for n in 2..=20 {
        let rule = gauss_lobatto(n).unwrap();
        assert_symmetric(&rule);
        assert_eq!(rule.points[n - 1], 1.0);
        let error = monomial_error(&rule, 2 * n - 3);
        assert!(error < 1e-15, "{n} points: {error:e}");
        if n <= 10 {
            assert!(monomial_error(&rule, 2 * n - 2) > 1e-8, "{n} points");
        }
    }
}

#[test]
fn rules_with_many_points_stay_accurate() {
    for rule in [gauss(200), gauss_lobatto(201).unwrap(), gauss(1001)] {
        assert_symmetric(&rule);
        let error = rule.integrate(f64::exp) - 2.0 * 1f64.sinh();
        assert!(error.abs() < 1e-14, "{error:e}");
    }
}

/// Closed forms, Abramowitz & Stegun 1964, tables 25.4 and 25.6.
#[test]
fn small_rules_match_their_closed_forms_to_the_last_bit() {
    let s = f64::sqrt;
    let expected = [
        (gauss(1), vec![0.0], vec![2.0]),
        (gauss(2), vec![1.0 / s(3.0)], vec![1.0]),
        (gauss(3), vec![0.0, s(0.6)], vec![8.0 / 9.0, 5.0 / 9.0]),
        (
            gauss(5),
            vec![
                0.0,
                s(5.0 - 2.0 * s(10.0 / 7.0)) / 3.0,
                s(5.0 + 2.0 * s(10.0 / 7.0)) / 3.0,
            ],
            vec![
                128.0 / 225.0,
                (322.0 + 13.0 * s(70.0)) / 900.0,
                (322.0 - 13.0 * s(70.0)) / 900.0,
            ],
        ),
        (gauss_lobatto(2).unwrap(), vec![1.0], vec![1.0]),
        (
            gauss_lobatto(3).unwrap(),
            vec![0.0, 1.0],
            vec![4.0 / 3.0, 1.0 / 3.0],
        ),
        (
            gauss_lobatto(4).unwrap(),
            vec![s(0.2), 1.0],
            vec![5.0 / 6.0, 1.0 / 6.0],
        ),
        (
            gauss_lobatto(5).unwrap(),
            vec![0.0, s(3.0 / 7.0), 1.0],
            vec![32.0 / 45.0, 49.0 / 90.0, 0.1],
        ),
    ];
    for (rule, points, weights) in expected {
        let half = rule.len() / 2;
        for (i, (point, weight)) in points.iter().zip(&weights).enumerate() {
            let (x, w) = (rule.points[half + i], rule.weights[half + i]);
            assert!((x - point).abs() <= f64::EPSILON * point, "{x} {point}");
            assert!((w - weight).abs() <= f64::EPSILON * weight, "{w} {weight}");
        }
    }
}

#[test]
fn impossible_requests_are_typed_errors() {
    assert!(gauss(0).is_empty());
    assert_eq!(
        gauss_lobatto(1),
        Err(QuadratureError::TooFewLobattoPoints { found: 1 })
    );
    for degree in [0, MAX_DEGREE + 1] {
        assert_eq!(
            Basis1d::gauss(degree, 3),
            Err(ReferenceError::Degree { found: degree })
        );
        assert_eq!(
            Basis1d::collocated(degree),
            Err(ReferenceError::Degree { found: degree })
        );
    }
    for points in [0, MAX_POINTS_1D + 1] {
        assert_eq!(
            Basis1d::gauss(2, points),
            Err(ReferenceError::Points { found: points })
        );
    }
}

/// ℓ_j(x) and ℓ_j'(x) by their defining products: the oracle of the barycentric formulas.
fn plain_lagrange(nodes: &[f64], j: usize, x: f64) -> (f64, f64) {
    let others = || (0..nodes.len()).filter(move |&m| m != j);
    let factor = |m: usize| (x - nodes[m]) / (nodes[j] - nodes[m]);
    let value = others().map(factor).product();
    let derivative = others()
        .map(|k| {
            let rest: f64 = others().filter(|&m| m != k).map(factor).product();
            rest / (nodes[j] - nodes[k])
        })
        .sum();
    (value, derivative)
}

/// The battery that every basis passes, whatever its degree and rule.
fn assert_basis(basis: &Basis1d) {
    let (q, g) = (basis.nodes_1d, basis.points_1d);
    let name = format!("degree {}, {g} points", basis.degree());
    let (interp, grad) = (&basis.interp_1d, &basis.grad_1d);
    // Derivatives are as large as degree², and their rounding with them.
    let tolerance = 1e-14 * (q * q) as f64;
    for i in 0..g {
        let x = basis.points[i];
        for k in 0..q {
            // Reproduction of x^k and its derivative; k = 0 is the partition of unity, and that
            // derivatives of constants vanish.
            let of = |matrix: &[f64]| -> f64 {
                (0..q)
                    .map(|j| matrix[i * q + j] * basis.nodes[j].powi(k as i32))
                    .sum()
            };
            let derivative = k as f64 * x.powi(k as i32 - 1);
            let exact = if k == 0 { 0.0 } else { derivative };
            assert!(
                (of(interp) - x.powi(k as i32)).abs() < 1e-14,
                "{name}: x^{k}"
            );
            assert!((of(grad) - exact).abs() < tolerance, "{name}: (x^{k})'");
        }
        for j in 0..q {
            let (value, derivative) = plain_lagrange(&basis.nodes, j, x);
            assert!(
                (interp[i * q + j] - value).abs() < 1e-14,
                "{name} [{i}][{j}]"
            );
            assert!(
                (grad[i * q + j] - derivative).abs() < tolerance,
                "{name} [{i}][{j}]"
            );
            let mirrored = (g - 1 - i) * q + q - 1 - j;
            assert_eq!(interp[i * q + j], interp[mirrored], "{name}");
            assert_eq!(grad[i * q + j], -grad[mirrored], "{name}");
            let chained: f64 = (0..g)
                .map(|m| basis.colloc_grad_1d[i * g + m] * interp[m * q + j])
                .sum();
            if g >= q {
                assert!(
                    (chained - grad[i * q + j]).abs() < 3.0 * tolerance,
                    "{name}"
                );
            }
        }
        for j in 0..g {
            let mirrored = basis.colloc_grad_1d[(g - 1 - i) * g + g - 1 - j];
            assert_eq!(basis.colloc_grad_1d[i * g + j], -mirrored, "{name}");
        }
    }
}

#[test]
fn every_gauss_basis_passes_the_battery() {
    for degree in 1..=MAX_DEGREE {
        for points_1d in [1, degree, degree + 1, degree + 2, degree + 3] {
            let basis = Basis1d::gauss(degree, points_1d).unwrap();
            assert_eq!((basis.nodes_1d, basis.points_1d), (degree + 1, points_1d));
            assert!(!basis.is_collocated());
            assert_basis(&basis);
        }
    }
}

#[test]
fn every_collocated_basis_passes_the_battery() {
    for degree in 1..=MAX_DEGREE {
        let basis = Basis1d::collocated(degree).unwrap();
        assert!(basis.is_collocated());
        assert_eq!(basis.points, nodes::gll(degree));
        assert_eq!(basis.grad_1d, basis.colloc_grad_1d);
        assert_basis(&basis);
        // Kronecker delta, exactly.
        let n = degree + 1;
        for (index, &value) in basis.interp_1d.iter().enumerate() {
            assert_eq!(value, if index / n == index % n { 1.0 } else { 0.0 });
        }
        // Integration by parts is exact on GLL points: W D + Dᵀ W = diag(-1, 0, ..., 0, 1).
        for i in 0..n {
            for j in 0..n {
                let d = |i: usize, j: usize| basis.weights[i] * basis.grad_1d[i * n + j];
                let boundary = match (i, j) {
                    (0, 0) => -1.0,
                    _ if i == degree && j == degree => 1.0,
                    _ => 0.0,
                };
                assert!(
                    (d(i, j) + d(j, i) - boundary).abs() < 1e-13,
                    "{degree} [{i}][{j}]"
                );
            }
        }
    }
}

#[test]
fn lagrange_accepts_any_distinct_nodes() {
    let nodes = [-0.9, 0.1, 0.35, 1.0];
    let points = [-1.0, 0.1, 0.2];
    let values = lagrange::interpolation(&nodes, &points);
    let derivatives = lagrange::differentiation(&nodes, &points);
    for (i, &x) in points.iter().enumerate() {
        for j in 0..nodes.len() {
            let (value, derivative) = plain_lagrange(&nodes, j, x);
            assert!((values[(i, j)] - value).abs() < 1e-14);
            assert!((derivatives[(i, j)] - derivative).abs() < 1e-12);
        }
    }
}

#[test]
fn faces_and_edges_lie_where_their_numbers_say() {
    for (face, vertices) in HEX_FACES.iter().enumerate() {
        let (axis, side) = hex_face_axis_side(face);
        let [low, high] = HEX_FACE_AXES[face];
        assert!(low < high && low != axis && high != axis);
        for (m, &vertex) in vertices.iter().enumerate() {
            let x = hex_vertex(vertex);
            assert_eq!(x[axis], [-1.0, 1.0][side]);
            assert_eq!(x[low], [-1.0, 1.0][m & 1]);
            assert_eq!(x[high], [-1.0, 1.0][m >> 1]);
        }
    }
    for (edge, &[start, end]) in HEX_EDGES.iter().enumerate() {
        let axis = edge / 4;
        let others: Vec<usize> = (0..3).filter(|&a| a != axis).collect();
        let (x, y) = (hex_vertex(start), hex_vertex(end));
        assert_eq!((x[axis], y[axis]), (-1.0, 1.0));
        for (bit, &a) in others.iter().enumerate() {
            assert_eq!(x[a], y[a]);
            assert_eq!(x[a], [-1.0, 1.0][((edge % 4) >> bit) & 1]);
        }
    }
}

/// Gmsh reference manual, "Node ordering": the vertices of each edge and face of a hexahedron, in
/// the order in which hex20 and hex27 number their nodes.
#[test]
fn tables_follow_the_gmsh_manual() {
    const EDGES: [[usize; 2]; 12] = [
        [0, 1],
        [0, 3],
        [0, 4],
        [1, 2],
        [1, 5],
        [2, 3],
        [2, 6],
        [3, 7],
        [4, 5],
        [4, 7],
        [5, 6],
        [6, 7],
    ];
    const FACES: [[usize; 4]; 6] = [
        [0, 3, 2, 1],
        [0, 1, 5, 4],
        [0, 4, 7, 3],
        [1, 2, 6, 5],
        [2, 3, 7, 6],
        [4, 5, 6, 7],
    ];
    let vertex = |v: usize| hex_vertex(HEX8_TO_LEXICOGRAPHIC[v]).map(|x| (x + 1.0) as usize);
    let index = |vertices: &[usize]| {
        let mean = [0, 1, 2]
            .map(|a| vertices.iter().map(|&v| vertex(v)[a]).sum::<usize>() / vertices.len());
        mean[0] + 3 * mean[1] + 9 * mean[2]
    };
    let mut expected: Vec<usize> = (0..8).map(|v| index(&[v])).collect();
    expected.extend(EDGES.iter().map(|edge| index(edge)));
    assert_eq!(HEX20_TO_LEXICOGRAPHIC[..], expected[..]);
    expected.extend(FACES.iter().map(|face| index(face)));
    expected.push(13);
    assert_eq!(HEX27_TO_LEXICOGRAPHIC[..], expected[..]);

    // The quadrilateral is the bottom layer: vertices 0 to 3, edges in cyclic order, the centre.
    let mut expected: Vec<usize> = (0..4).map(|v| index(&[v])).collect();
    expected.extend((0..4).map(|v| index(&[v, (v + 1) % 4])));
    assert_eq!(QUAD8_TO_LEXICOGRAPHIC[..], expected[..]);
    expected.push(4);
    assert_eq!(QUAD9_TO_LEXICOGRAPHIC[..], expected[..]);
    assert_eq!(QUAD4_TO_LEXICOGRAPHIC[..], HEX8_TO_LEXICOGRAPHIC[..4]);
}
