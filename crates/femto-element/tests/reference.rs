//! Quadrature rules, one-dimensional bases and the numbering tables, against their definitions.

use femto_element::Cell;
use femto_element::basis::{BasisError, MAX_DEGREE, MAX_POINTS_1D, lagrange, nodes};
use femto_element::quadrature::{QuadratureError, Rule1d, gauss, gauss_lobatto, rule};
use femto_element::tables::TensorTables;

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

#[test]
fn rules_of_tables_know_their_degree() {
    let by_gauss = TensorTables::gauss(Cell::Quadrilateral, 3, 5).unwrap();
    let collocated = TensorTables::collocated(Cell::Quadrilateral, 3).unwrap();
    let degrees = [by_gauss, collocated].map(|tables| tables.rule().degree);
    assert_eq!(degrees, [2 * 5 - 1, 2 * 4 - 3]);
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
            TensorTables::gauss(Cell::Hexahedron, degree, 3),
            Err(BasisError::Degree {
                found: degree,
                cell: Cell::Hexahedron
            })
        );
        assert_eq!(
            TensorTables::collocated(Cell::Hexahedron, degree),
            Err(BasisError::Degree {
                found: degree,
                cell: Cell::Hexahedron
            })
        );
    }
    for points in [0, MAX_POINTS_1D + 1] {
        assert_eq!(
            TensorTables::gauss(Cell::Hexahedron, 2, points),
            Err(BasisError::Points { found: points })
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

/// The battery for every basis, of any degree and rule.
fn assert_basis(basis: &TensorTables) {
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
            let basis = TensorTables::gauss(Cell::Hexahedron, degree, points_1d).unwrap();
            assert_eq!((basis.nodes_1d, basis.points_1d), (degree + 1, points_1d));
            assert!(!basis.collocated);
            assert_basis(&basis);
        }
    }
}

#[test]
fn every_collocated_basis_passes_the_battery() {
    for degree in 1..=MAX_DEGREE {
        let basis = TensorTables::collocated(Cell::Hexahedron, degree).unwrap();
        assert!(basis.collocated);
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

/// The numbering that kernels of hexahedra rely on: `4 axis + a + 2b` for edges, `2 axis + side` for faces.
#[test]
fn faces_and_edges_of_the_hexahedron_lie_where_their_numbers_say() {
    let cell = Cell::Hexahedron;
    for (face, facet) in cell.facets().iter().enumerate() {
        let (axis, side) = (face / 2, face % 2);
        let others: Vec<usize> = (0..3).filter(|&a| a != axis).collect();
        for (m, &vertex) in facet.vertices.iter().enumerate() {
            let x = cell.vertex(vertex);
            assert_eq!(x[axis], [-1.0, 1.0][side]);
            assert_eq!(x[others[0]], [-1.0, 1.0][m & 1]);
            assert_eq!(x[others[1]], [-1.0, 1.0][m >> 1]);
        }
    }
    for (edge, &[start, end]) in cell.edges().iter().enumerate() {
        let axis = edge / 4;
        let others: Vec<usize> = (0..3).filter(|&a| a != axis).collect();
        let (x, y) = (cell.vertex(start), cell.vertex(end));
        assert_eq!((x[axis], y[axis]), (-1.0, 1.0));
        for (bit, &a) in others.iter().enumerate() {
            assert_eq!(x[a], y[a]);
            assert_eq!(x[a], [-1.0, 1.0][((edge % 4) >> bit) & 1]);
        }
    }
}

/// Every edge of a solid's facet is an edge of the solid, every edge of a solid is on two facets, and vertices are in
/// the order of the facet's own cell.
#[test]
fn entities_of_every_cell_fit_together() {
    for cell in Cell::ALL.into_iter().filter(|cell| cell.dim() == 3) {
        let mut met = vec![0; cell.edges().len()];
        for facet in cell.facets() {
            assert_eq!(facet.vertices.len(), facet.cell.vertices());
            for own in facet.cell.edges() {
                let ends = own.map(|m| facet.vertices[m]);
                let same = |edge: &[usize; 2]| edge.contains(&ends[0]) && edge.contains(&ends[1]);
                let edge = cell.edges().iter().position(same);
                met[edge.unwrap_or_else(|| panic!("{cell:?} {facet:?}"))] += 1;
            }
        }
        assert!(met.iter().all(|&count| count == 2), "{cell:?} {met:?}");
        let euler = cell.vertices() + cell.facets().len() - cell.edges().len();
        assert_eq!(euler, 2, "{cell:?}");
    }
}

/// Monomials up to the degree on every cell, against their exact integrals.
#[test]
fn rules_on_every_cell_are_exact() {
    let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
    let line = |n: i32| {
        if n % 2 == 0 {
            2.0 / f64::from(n + 1)
        } else {
            0.0
        }
    };
    for degree in 0..=9 {
        for cell in Cell::ALL {
            let rule = rule(cell, degree).unwrap();
            for [a, b, c] in [[0, 0, 0], [1, 2, 0], [2, 1, 3], [4, 0, 2], [0, 3, 1]] {
                let powers = [a, b, c].map(|n: i32| if n as usize > degree { 0 } else { n });
                let mut powers = powers;
                powers[cell.dim()..].fill(0);
                let [a, b, c] = powers;
                if !cell.is_tensor_product() && (a + b + c) as usize > degree {
                    continue;
                }
                let exact = match cell {
                    Cell::Point => 1.0,
                    Cell::Line => line(a),
                    Cell::Quadrilateral => line(a) * line(b),
                    Cell::Hexahedron => line(a) * line(b) * line(c),
                    Cell::Triangle => factorial(a) * factorial(b) / factorial(a + b + 2),
                    Cell::Prism => factorial(a) * factorial(b) / factorial(a + b + 2) * line(c),
                    Cell::Pyramid => {
                        factorial(c) * factorial(a + b + 2)
                            / factorial(a + b + c + 3)
                            / f64::from((a + 1) * (b + 1))
                    }
                    _ => factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 3),
                };
                let found = rule.integrate(|x| x[0].powi(a) * x[1].powi(b) * x[2].powi(c));
                assert!(
                    (found - exact).abs() < 1e-14,
                    "{cell:?} {degree} {powers:?}: {found} {exact}"
                );
            }
        }
    }
}
