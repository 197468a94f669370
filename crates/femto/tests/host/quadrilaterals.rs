//! Orders of convergence on quadrilaterals, degrees 1 to 8: N + 1 in L2, N in H1, on affine, bilinear and
//! curved cells, with given values and fluxes; and an exact polynomial of degree 15.

use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::RectangleMesh;
use femto::kernel::form::Poisson;
use femto::problem::{Boundary, ErrorNorms, Exact, Problem, SolverParams};
use femto::{Host, OperatorParams, Quadrature};
use std::f64::consts::PI;

#[derive(Clone, Copy, Debug)]
enum Cells {
    Affine,
    Bilinear,
    Curved,
}

impl Cells {
    /// `n` cells along each axis of a domain whose side xmax is at x = 1.
    fn mesh(self, n: usize) -> Mesh {
        let generator = RectangleMesh {
            geometry_degree: if let Self::Curved = self { 2 } else { 1 },
            ..RectangleMesh::unit_square(n)
        };
        let mesh = generator.build(|[x, y]| match self {
            Self::Affine => [x, y + 0.2 * x],
            Self::Bilinear => {
                // ±1 at the vertices, alternating along both axes; sides stay in place.
                let sign = |s: f64| (PI * n as f64 * s).cos();
                let shift = 0.15 / n as f64 * sign(x) * sign(y);
                let inside = |s: f64| if s > 1e-9 && s < 1.0 - 1e-9 { 1.0 } else { 0.0 };
                [x + shift * inside(x), y - shift * inside(y)]
            }
            Self::Curved => {
                let bump = 0.1 * (PI * x).sin();
                [x + bump * y, y + 0.1 * (2.0 * x).sin()]
            }
        });
        mesh.expect("the deformation keeps Jacobians positive")
    }
}

/// u = sin(3 x + y + 0.3) cos(1.5 y - 0.4 x).
fn exact([x, y, _]: [f64; 3]) -> f64 {
    (3.0 * x + y + 0.3).sin() * (1.5 * y - 0.4 * x).cos()
}

fn slope(axis: usize) -> impl Fn([f64; 3]) -> f64 + Send + Sync {
    move |[x, y, _]| {
        let (a, b) = (3.0 * x + y + 0.3, 1.5 * y - 0.4 * x);
        let ([a_x, a_y], [b_x, b_y]) = ([3.0, 1.0], [-0.4, 1.5]);
        let (da, db) = ([a_x, a_y][axis], [b_x, b_y][axis]);
        da * a.cos() * b.cos() - db * a.sin() * b.sin()
    }
}

/// -Δu, with a·a = 10, b·b = 2.41, a·b = 0.3.
fn source([x, y, z]: [f64; 3]) -> f64 {
    let (a, b) = (3.0 * x + y + 0.3, 1.5 * y - 0.4 * x);
    (10.0 + 2.41) * exact([x, y, z]) + 2.0 * 0.3 * a.cos() * b.sin()
}

fn errors(mesh: &Mesh, degree: usize, quadrature: Quadrature) -> ErrorNorms {
    let [dx, dy] = [0, 1].map(slope);
    let problem = Problem {
        source: vec![&source],
        dirichlet: ["xmin", "ymin", "ymax"]
            .map(|side| Boundary::new(side, &exact))
            .into(),
        neumann: vec![Boundary::new("xmax", &dx)],
        exact: Some(Exact {
            value: vec![&exact],
            gradient: Some(vec![vec![&dx, &dy]]),
        }),
        operator: OperatorParams {
            quadrature,
            ..OperatorParams::default()
        },
        solver: SolverParams {
            relative_tolerance: 1e-13,
            ..SolverParams::default()
        },
        ..Problem::new(mesh, degree, Poisson::<2>)
    };
    let host = Host::new().expect("threads");
    let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
    solution.errors.expect("the exact solution is given")
}

#[test]
fn orders_are_those_of_the_degree() {
    for cells in [Cells::Affine, Cells::Bilinear, Cells::Curved] {
        for quadrature in [Quadrature::Gauss, Quadrature::Collocated] {
            for degree in 1..=8 {
                let coarse = [16, 12, 8, 4, 4, 2, 3, 2][degree - 1];
                let [low, high] = [coarse, 2 * coarse].map(|n| {
                    let found = errors(&cells.mesh(n), degree, quadrature);
                    [found.l2, found.h1_seminorm.expect("the gradient is given")]
                });
                let order = |norm: usize| (low[norm] / high[norm]).log2();
                let [l2, h1] = [order(0), order(1)];
                let n = degree as f64;
                // Collocation at degree 1 and refinements from few cells are not asymptotic; with more
                // cells, degree 8 reaches the solver's rounding.
                let slack = match degree {
                    8 => 0.75,
                    6 | 7 => 0.45,
                    _ => 0.3,
                };
                let all = format!("{cells:?} {quadrature:?} degree {degree}: {l2:.2} {h1:.2}");
                assert!(l2 > n + 1.0 - slack && h1 > n - slack, "{all}");
                assert!(high[0] < 1e-3, "{all}: {high:?}");
            }
        }
    }
}

/// u = s¹⁵, s = (x + y / 2 + 0.3) / 1.8, is of degree 15 along each axis of a bilinear cell, and so are all integrals
/// of degree 33 at most, to which 17 Gauss points are exact.
#[test]
fn degree_15_has_its_polynomials() {
    let s = |[x, y, _]: [f64; 3]| (x + 0.5 * y + 0.3) / 1.8;
    let exact = move |x| s(x).powi(15);
    let along = move |x| 15.0 * s(x).powi(14) / 1.8;
    let source = move |x| -1.25 * 210.0 * s(x).powi(13) / 1.8_f64.powi(2);
    let mesh = Cells::Bilinear.mesh(2);
    let problem = Problem {
        source: vec![&source],
        dirichlet: ["xmin", "ymin", "ymax"]
            .map(|side| Boundary::new(side, &exact))
            .into(),
        neumann: vec![Boundary::new("xmax", &along)],
        exact: Some(Exact {
            value: vec![&exact],
            gradient: None,
        }),
        solver: SolverParams {
            relative_tolerance: 1e-13,
            ..SolverParams::default()
        },
        ..Problem::new(&mesh, 15, Poisson::<2>)
    };
    let host = Host::new().expect("threads");
    let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
    let errors = solution.errors.expect("the exact solution is given");
    assert!(errors.l2 < 1e-11, "{errors:?}");
}
