//! Orders of convergence against a manufactured solution, degrees 1 to 8: N + 1 in L2, N in H1, on
//! affine, skewed and curved hexahedra.
//!
//! The errors themselves are committed too, in [`GAUSS`] and [`COLLOCATED`], to detect a loss of accuracy
//! that keeps the order. On failure the actual table is printed.

use crate::common::bend;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::BoxMesh;
use femto::kernel::form::{Form, Poisson, ScreenedPoisson};
use femto::problem::{Boundary, ErrorNorms, Exact, Problem, SolverParams};
use femto::{Host, OperatorParams, Quadrature};
use std::fmt::Write;

/// The shape of the cells.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cells {
    /// Parallelepipeds.
    Affine,
    /// Vertices moved by ±0.15 of a cell: truly trilinear at every refinement.
    Skewed,
    /// A smooth map, interpolated by hex27.
    Curved,
}

impl Cells {
    /// `n` cells along each axis.
    fn mesh(self, n: usize) -> Mesh {
        let geometry_degree = if self == Self::Curved { 2 } else { 1 };
        let generator = BoxMesh {
            geometry_degree,
            ..BoxMesh::unit_cube(n)
        };
        let mesh = generator.build(|[x, y, z]| match self {
            Self::Affine => [x + 0.2 * y, y - 0.1 * z, 0.9 * z + 0.1 * x],
            Self::Skewed => {
                // ±1 at the vertices, alternating along every axis.
                let sign = |s: f64| (std::f64::consts::PI * n as f64 * s).cos();
                let shift = 0.15 / n as f64 * sign(x) * sign(y) * sign(z);
                [x + shift, y - shift, z + 0.5 * shift]
            }
            Self::Curved => bend([x, y, z]),
        });
        mesh.expect("the deformation keeps Jacobians positive")
    }
}

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

/// -Δu + λ u.
fn source(lambda: f64) -> impl Fn([f64; 3]) -> f64 + Send + Sync {
    move |x| {
        let mixed = 2.0 * dot(A, B) * (dot(A, x) + 0.3).cos() * dot(B, x).sin();
        (dot(A, A) + dot(B, B) + lambda) * exact(x) + mixed
    }
}

fn errors<F: Form<3> + Clone + 'static>(
    mesh: &Mesh,
    degree: usize,
    quadrature: Quadrature,
    (form, lambda): (F, f64),
) -> ErrorNorms {
    let [dx, dy, dz] = [0, 1, 2].map(derivative);
    let source = source(lambda);
    let problem = Problem {
        source: vec![&source],
        dirichlet: ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"]
            .map(|side| Boundary::new(side, &exact))
            .into(),
        exact: Some(Exact {
            value: vec![&exact],
            gradient: Some(vec![vec![&dx, &dy, &dz]]),
        }),
        operator: OperatorParams {
            quadrature,
            ..OperatorParams::default()
        },
        solver: SolverParams {
            relative_tolerance: 1e-13,
            ..SolverParams::default()
        },
        ..Problem::new(mesh, degree, form)
    };
    let host = Host::new().expect("threads");
    let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
    solution.errors.expect("the exact solution is given")
}

/// Cells along each axis of the coarse mesh; the fine one has twice as many.
fn coarse(degree: usize) -> usize {
    match degree {
        1 => 8,
        2 => 6,
        3 | 4 => 4,
        _ => 2,
    }
}

/// The measured values: L2 error and H1 seminorm of the error on the fine mesh, and their orders.
type Row = (Cells, usize, [f64; 4]);

fn measure<F: Form<3> + Clone + 'static>(
    cells: Cells,
    degree: usize,
    quadrature: Quadrature,
    form: (F, f64),
) -> Row {
    let [coarse, fine] = [1, 2].map(|factor| {
        let mesh = cells.mesh(factor * coarse(degree));
        let errors = errors(&mesh, degree, quadrature, form.clone());
        [
            errors.l2,
            errors.h1_seminorm.expect("the gradient is given"),
        ]
    });
    let order = |i: usize| (coarse[i] / fine[i]).log2();
    (cells, degree, [fine[0], fine[1], order(0), order(1)])
}

/// Compares all kinds of cells and degrees with a table and with the theory.
fn check<F: Form<3> + Clone + 'static>(
    quadrature: Quadrature,
    form: &(F, f64),
    figures: Option<&[Row]>,
) {
    let (mut table, mut faults) = (String::new(), Vec::new());
    let mut row = 0;
    for cells in [Cells::Affine, Cells::Skewed, Cells::Curved] {
        for degree in 1..=8 {
            let (.., found) = measure(cells, degree, quadrature, form.clone());
            let [l2, h1, l2_order, h1_order] = found;
            let _ = writeln!(
                table,
                "    (Cells::{cells:?}, {degree}, [{l2:.3e}, {h1:.3e}, {l2_order:.2}, {h1_order:.2}]),"
            );
            let n = degree as f64;
            // Not `<`, so that NaN fails.
            if !(l2_order >= n + 1.0 - 0.2 && h1_order >= n - 0.2) {
                faults.push(format!(
                    "{cells:?} degree {degree}: orders {l2_order} and {h1_order}"
                ));
            }
            let Some(figures) = figures else { continue };
            let same = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.03;
            let as_before = figures.get(row).is_some_and(|&(known, at, wanted)| {
                (known, at) == (cells, degree) && same(l2, wanted[0]) && same(h1, wanted[1])
            });
            if !as_before {
                faults.push(format!(
                    "{cells:?} degree {degree}: errors {l2:e} and {h1:e}"
                ));
            }
            row += 1;
        }
    }
    assert!(faults.is_empty(), "{faults:#?}\n{table}");
}

#[test]
fn poisson_with_gauss_points() {
    check(Quadrature::Gauss, &(Poisson, 0.0), Some(GAUSS));
}

#[test]
fn poisson_with_collocated_points() {
    check(Quadrature::Collocated, &(Poisson, 0.0), Some(COLLOCATED));
}

#[test]
fn screened_poisson_with_gauss_points() {
    check(
        Quadrature::Gauss,
        &(ScreenedPoisson { lambda: Some(2.5) }, 2.5),
        None,
    );
}

#[test]
fn screened_poisson_with_collocated_points() {
    check(
        Quadrature::Collocated,
        &(ScreenedPoisson { lambda: Some(2.5) }, 2.5),
        None,
    );
}

/// Poisson, Gauss with N + 2 points: L2, H1, and their orders.
#[rustfmt::skip]
const GAUSS: &[Row] = &[
    (Cells::Affine, 1, [2.081e-3, 8.763e-2, 1.99, 1.01]),
    (Cells::Affine, 2, [4.939e-5, 3.924e-3, 3.00, 2.00]),
    (Cells::Affine, 3, [3.587e-6, 2.776e-4, 3.99, 2.99]),
    (Cells::Affine, 4, [6.944e-8, 7.024e-6, 4.99, 4.00]),
    (Cells::Affine, 5, [6.897e-8, 4.302e-6, 5.97, 4.97]),
    (Cells::Affine, 6, [1.987e-9, 1.471e-7, 6.99, 5.99]),
    (Cells::Affine, 7, [4.748e-11, 4.070e-9, 7.97, 6.97]),
    (Cells::Affine, 8, [1.090e-12, 1.052e-10, 8.98, 7.99]),
    (Cells::Skewed, 1, [2.380e-3, 9.808e-2, 1.99, 1.01]),
    (Cells::Skewed, 2, [5.569e-5, 4.373e-3, 3.02, 2.01]),
    (Cells::Skewed, 3, [4.549e-6, 3.325e-4, 3.99, 2.99]),
    (Cells::Skewed, 4, [9.858e-8, 9.373e-6, 5.00, 4.00]),
    (Cells::Skewed, 5, [1.152e-7, 6.597e-6, 5.99, 4.98]),
    (Cells::Skewed, 6, [3.924e-9, 2.628e-7, 6.99, 5.98]),
    (Cells::Skewed, 7, [1.132e-10, 8.652e-9, 7.99, 6.98]),
    (Cells::Skewed, 8, [3.110e-12, 2.659e-10, 8.99, 7.98]),
    (Cells::Curved, 1, [2.415e-3, 9.704e-2, 1.99, 1.01]),
    (Cells::Curved, 2, [6.924e-5, 5.464e-3, 2.98, 1.99]),
    (Cells::Curved, 3, [6.372e-6, 4.889e-4, 3.96, 2.97]),
    (Cells::Curved, 4, [2.044e-7, 2.051e-5, 4.86, 3.87]),
    (Cells::Curved, 5, [2.778e-7, 1.729e-5, 5.97, 5.00]),
    (Cells::Curved, 6, [1.409e-8, 1.028e-6, 7.22, 6.24]),
    (Cells::Curved, 7, [4.939e-10, 4.213e-8, 8.53, 7.54]),
    (Cells::Curved, 8, [2.372e-11, 2.290e-9, 9.27, 8.28]),
];

/// Poisson, the N + 1 GLL points.
#[rustfmt::skip]
const COLLOCATED: &[Row] = &[
    (Cells::Affine, 1, [2.236e-3, 8.771e-2, 1.99, 1.01]),
    (Cells::Affine, 2, [4.960e-5, 3.928e-3, 3.01, 2.00]),
    (Cells::Affine, 3, [3.601e-6, 2.778e-4, 4.00, 3.00]),
    (Cells::Affine, 4, [6.955e-8, 7.027e-6, 5.00, 4.00]),
    (Cells::Affine, 5, [6.919e-8, 4.307e-6, 5.98, 4.98]),
    (Cells::Affine, 6, [1.990e-9, 1.472e-7, 6.99, 5.99]),
    (Cells::Affine, 7, [4.755e-11, 4.072e-9, 7.98, 6.98]),
    (Cells::Affine, 8, [1.090e-12, 1.052e-10, 8.98, 7.99]),
    (Cells::Skewed, 1, [2.507e-3, 9.822e-2, 1.99, 1.01]),
    (Cells::Skewed, 2, [5.645e-5, 4.401e-3, 3.03, 2.01]),
    (Cells::Skewed, 3, [4.653e-6, 3.385e-4, 4.00, 3.00]),
    (Cells::Skewed, 4, [1.002e-7, 9.513e-6, 5.01, 4.00]),
    (Cells::Skewed, 5, [1.168e-7, 6.687e-6, 5.99, 4.99]),
    (Cells::Skewed, 6, [3.969e-9, 2.660e-7, 6.99, 5.98]),
    (Cells::Skewed, 7, [1.143e-10, 8.754e-9, 7.99, 6.98]),
    (Cells::Skewed, 8, [3.136e-12, 2.690e-10, 8.99, 7.98]),
    (Cells::Curved, 1, [2.568e-3, 9.714e-2, 1.98, 1.01]),
    (Cells::Curved, 2, [6.960e-5, 5.468e-3, 3.00, 1.99]),
    (Cells::Curved, 3, [6.412e-6, 4.895e-4, 3.98, 2.97]),
    (Cells::Curved, 4, [2.051e-7, 2.052e-5, 4.87, 3.87]),
    (Cells::Curved, 5, [2.810e-7, 1.738e-5, 6.01, 5.02]),
    (Cells::Curved, 6, [1.422e-8, 1.033e-6, 7.25, 6.26]),
    (Cells::Curved, 7, [5.025e-10, 4.259e-8, 8.55, 7.55]),
    (Cells::Curved, 8, [2.398e-11, 2.304e-9, 9.31, 8.31]),
];
