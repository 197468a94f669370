//! Orders of convergence against a manufactured solution, on every cell with every kind of map and every degree up
//! to 8, of prisms to 4 and of pyramids to 2: N + 1 in L2, N in H1.
//!
//! The errors themselves are committed too, in [`TABLE`](table::TABLE), to detect a loss of accuracy that keeps the
//! order. On failure the actual table is printed.

mod table;

use crate::common::meshes::{maps, refined};
use femto::fem::mesh::Mesh;
use femto::kernel::form::Poisson;
use femto::problem::{Boundary, ErrorNorms, Exact, Function, Problem, ProblemForm, SolverParams};
use femto::{Host, OperatorParams, Quadrature};
use femto_element::basis::max_degree;
use femto_element::{Cell, MapKind};
use std::fmt::Write;

/// u = sin(a·x + 0.3) cos(b·x).
const A: [f64; 3] = [3.0, 1.0, 0.5];
const B: [f64; 3] = [-0.4, 1.5, 2.0];

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn exact(x: [f64; 3]) -> f64 {
    (dot(A, x) + 0.3).sin() * dot(B, x).cos()
}

fn derivative(axis: usize) -> impl Fn([f64; 3]) -> f64 + Send + Sync {
    move |x| {
        let (a, b) = (dot(A, x) + 0.3, dot(B, x));
        A[axis] * a.cos() * b.cos() - B[axis] * a.sin() * b.sin()
    }
}

/// -Δu of the solution along the first axes.
fn source(dim: usize) -> impl Fn([f64; 3]) -> f64 + Send + Sync {
    let sum = |a: [f64; 3], b: [f64; 3]| -> f64 { (0..dim).map(|axis| a[axis] * b[axis]).sum() };
    let (squares, product) = (sum(A, A) + sum(B, B), 2.0 * sum(A, B));
    move |x| squares * exact(x) + product * (dot(A, x) + 0.3).cos() * dot(B, x).sin()
}

/// A solution with its data; the flux is that along x.
struct Data<'a> {
    source: &'a dyn Function,
    value: &'a dyn Function,
    flux: &'a dyn Function,
    gradient: Option<Vec<&'a dyn Function>>,
}

/// -Δu = f on a mesh, with values on the sides and, where xmax is in its place, the flux there.
fn solve<'a>(
    (cell, mesh): (Cell, &'a Mesh),
    degree: usize,
    quadrature: Quadrature,
    data: Data<'a>,
) -> ErrorNorms {
    let Data {
        source,
        value,
        flux,
        gradient,
    } = data;
    let form = match cell.dim() {
        2 => ProblemForm::interpreted::<_, 2, 1>(&Poisson),
        _ => ProblemForm::interpreted::<_, 3, 1>(&Poisson),
    }
    .expect("of usual dimensions");
    let sides = ["xmin", "ymin", "ymax", "zmin", "zmax"];
    let mut dirichlet: Vec<Boundary<'_>> = sides[..2 * cell.dim() - 1]
        .iter()
        .map(|&side| Boundary::new(side, value))
        .collect();
    let mut neumann = Vec::new();
    match cell {
        Cell::Hexahedron => dirichlet.push(Boundary::new("xmax", value)),
        _ => neumann.push(Boundary::new("xmax", flux)),
    }
    let problem = Problem {
        source: vec![source],
        dirichlet,
        neumann,
        exact: Some(Exact {
            value: vec![value],
            gradient: gradient.map(|gradient| vec![gradient]),
        }),
        operator: OperatorParams {
            quadrature,
            ..OperatorParams::default()
        },
        solver: SolverParams {
            relative_tolerance: Some(1e-13),
            max_iterations: 5000,
            ..SolverParams::default()
        },
        ..Problem::of_form(mesh, degree, form)
    };
    let host = Host::with_threads(2).expect("threads");
    let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
    solution
        .errors
        .expect("the exact solution is given")
        .expect("finite")
}

/// L2 error and H1 seminorm of the error, with `n` cells along each axis.
fn errors(cell: Cell, map: MapKind, degree: usize, quadrature: Quadrature, n: usize) -> [f64; 2] {
    let dim = cell.dim();
    let [dx, dy, dz] = [0, 1, 2].map(derivative);
    let gradient: [&dyn Function; 3] = [&dx, &dy, &dz];
    let source = source(dim);
    let data = Data {
        source: &source,
        value: &exact,
        flux: &dx,
        gradient: Some(gradient[..dim].to_vec()),
    };
    let found = solve((cell, &refined(cell, map, n)), degree, quadrature, data);
    [found.l2, found.h1_seminorm.expect("the gradient is given")]
}

/// Cells along each axis of the coarse mesh; the fine one has twice as many.
fn coarse(cell: Cell, degree: usize) -> usize {
    let by_degree = match cell {
        Cell::Hexahedron => [8, 6, 4, 4, 2, 2, 2, 2],
        Cell::Quadrilateral => [16, 12, 8, 4, 4, 2, 3, 2],
        Cell::Tetrahedron | Cell::Prism | Cell::Pyramid => [5, 4, 3, 2, 2, 2, 2, 2],
        _ => [16, 8, 6, 4, 4, 3, 3, 3],
    };
    by_degree[degree - 1]
}

/// The highest degree of the table.
fn highest(cell: Cell) -> usize {
    match cell {
        Cell::Prism => 4,
        _ => max_degree(cell).min(8),
    }
}

/// How far an order may stay below the theory: on the few cells of high degrees it is not asymptotic.
fn slack(cell: Cell, degree: usize) -> f64 {
    match (cell, degree) {
        (Cell::Hexahedron, _) => 0.2,
        (_, 8) => 0.75,
        (_, 6 | 7) => 0.45,
        _ => 0.3,
    }
}

fn rules(cell: Cell) -> &'static [Quadrature] {
    match cell.is_tensor_product() {
        true => &[Quadrature::Gauss, Quadrature::Collocated],
        false => &[Quadrature::Gauss],
    }
}

/// Compares all maps, rules and degrees of a cell with the theory and with the table.
fn check(cell: Cell) {
    let (mut table, mut faults) = (String::new(), Vec::new());
    let figures = table::TABLE.iter().filter(|row| row.0 == cell);
    let mut figures = figures.copied();
    for &rule in rules(cell) {
        for &map in maps(cell) {
            for degree in 1..=highest(cell) {
                let n = coarse(cell, degree);
                let [low, high] = [n, 2 * n].map(|n| errors(cell, map, degree, rule, n));
                let order = |norm: usize| (low[norm] / high[norm]).log2();
                let (l2, h1) = (order(0), order(1));
                let [l2_error, h1_error] = high;
                let _ = writeln!(
                    table,
                    "    ({cell:?}, {map:?}, {rule:?}, {degree}, [{l2_error:.3e}, {h1_error:.3e}]), // {l2:.2} \
                     {h1:.2}"
                );
                let what = format!("{cell:?} {map:?} {rule:?} degree {degree}");
                let least = degree as f64 - slack(cell, degree);
                // Not `<`, so that NaN fails.
                if !(l2 >= least + 1.0 && h1 >= least) {
                    faults.push(format!("{what}: orders {l2} and {h1}"));
                }
                let same = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.03;
                let as_before = figures
                    .next()
                    .is_some_and(|(.., known_map, known, at, errors)| {
                        (known_map, known, at) == (map, rule, degree)
                            && same(l2_error, errors[0])
                            && same(h1_error, errors[1])
                    });
                if !as_before {
                    faults.push(format!("{what}: errors {l2_error:e} and {h1_error:e}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}\n{table}");
}

#[test]
fn orders_on_hexahedra() {
    check(Cell::Hexahedron);
}

#[test]
fn orders_on_quadrilaterals() {
    check(Cell::Quadrilateral);
}

#[test]
fn orders_on_tetrahedra() {
    check(Cell::Tetrahedron);
}

#[test]
fn orders_on_prisms() {
    check(Cell::Prism);
}

#[test]
fn orders_on_pyramids() {
    check(Cell::Pyramid);
}

#[test]
fn orders_on_triangles() {
    check(Cell::Triangle);
}

/// u = s¹⁵, s = (x + y / 2 + 0.3) / 1.8, is of degree 15 along each axis of a bilinear cell, and so are all integrals
/// of degree 33 at most, to which 17 Gauss points are exact.
#[test]
fn degree_15_has_its_polynomials() {
    let s = |[x, y, _]: [f64; 3]| (x + 0.5 * y + 0.3) / 1.8;
    let exact = move |x| s(x).powi(15);
    let along = move |x| 15.0 * s(x).powi(14) / 1.8;
    let source = move |x| -1.25 * 210.0 * s(x).powi(13) / 1.8_f64.powi(2);
    let cell = Cell::Quadrilateral;
    let mesh = refined(cell, MapKind::Multilinear, 2);
    let data = Data {
        source: &source,
        value: &exact,
        flux: &along,
        gradient: None,
    };
    let errors = solve((cell, &mesh), 15, Quadrature::Gauss, data);
    assert!(errors.l2 < 1e-11, "{errors:?}");
}
