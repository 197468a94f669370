//! Multigrid on stretched cells: solves along lines, Schwarz smoothing, and aggregates of strong couplings.

use super::multigrid::{difference_from_jacobi, poisson, solve};
use super::*;
use crate::common::interpreted;
use crate::common::meshes::{refined, unit_box};
use femto::element::{Cell, MapKind};
use femto::fem::mesh::boxes::{AnyBox, BoxMesh};
use femto::kernel::form::{Form, LinearElasticity, Point};
use femto::kernel::scalar::Scalar;
use femto::problem::{AlongNormal, LevelMethod, PreconditionerKind, ProblemForm, Solution};

/// A box of these lengths.
fn stretched(cells: [usize; 3], upper: [f64; 3]) -> Mesh {
    let mesh = BoxMesh {
        cells,
        upper,
        ..BoxMesh::unit_cube(1)
    };
    mesh.build(|x| x).unwrap()
}

/// What smooths the finest level.
fn method(solution: &Solution) -> LevelMethod {
    solution.levels[0].method.unwrap()
}

/// Cells 16 times as long as wide: lines are solved where they are short in one direction, elements where they are in two, and
/// aggregates are as long as couplings are strong.
#[test]
fn stretched_cells_take_few_iterations() {
    let thin = 1.0 / 16.0;
    for (degree, n) in [(1, 24), (2, 8), (4, 6)] {
        for upper in [[1.0, 1.0, thin], [1.0, thin, thin], [1.0; 3]] {
            let mesh = stretched([n; 3], upper);
            let problem = poisson(&mesh, 3, degree);
            let solution = solve(&problem);
            let (wanted, limit) = match (upper, degree) {
                ([1.0, 1.0, 1.0], _) => (LevelMethod::Diagonal, 8),
                ([_, 1.0, _], _) => (LevelMethod::Lines, 7),
                (_, 1) => (LevelMethod::Diagonal, 12),
                _ => (LevelMethod::Schwarz, 12),
            };
            assert!(
                solution.info.iterations() <= limit,
                "degree {degree} {upper:?}: {}",
                solution.info.iterations()
            );
            assert_eq!(method(&solution), wanted, "degree {degree} {upper:?}");
            assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
        }
    }
    // In the plane too, and where only the material is stretched.
    let mesh = refined(Cell::Quadrilateral, MapKind::Affine, 16);
    let solution = solve(&Problem {
        form: ProblemForm::interpreted::<_, 2, 1>(&Layered).unwrap(),
        ..poisson(&mesh, 2, 3)
    });
    assert_eq!(method(&solution), LevelMethod::Lines);
    assert!(
        solution.info.iterations() <= 7,
        "{}",
        solution.info.iterations()
    );
}

/// The map of a mesh after Kershaw (Differencing of the diffusion equation in Lagrangian hydrodynamic codes, Journal of
/// Computational Physics 39, 1981) along y or z, as in nekRS's examples/kershaw with ε = 0.3: cells are thin at one side or the
/// other, in six layers across x, and sheared between them.
fn kershaw(x: f64, y: f64) -> f64 {
    let right = |y: f64| (1.7 * y).min(1.0 + 0.3 * (y - 1.0));
    let [low, high] = [1.0 - right(1.0 - y), right(y)];
    let ramp = |from: f64, to: f64| ((6.0 * x - from) / (to - from)).clamp(0.0, 1.0);
    let part = ramp(1.0, 2.0) - ramp(2.0, 4.0) + ramp(4.0, 5.0);
    low + (high - low) * part
}

/// Thin and sheared cells.
#[test]
fn sheared_cells_take_few_iterations() {
    let of = BoxMesh {
        cells: [6; 3],
        ..BoxMesh::unit_cube(1)
    };
    let mesh = of.build(|[x, y, z]| [x, kershaw(x, y), kershaw(x, z)]);
    let mesh = mesh.unwrap();
    let problem = poisson(&mesh, 3, 4);
    let solution = solve(&problem);
    assert_eq!(method(&solution), LevelMethod::Schwarz);
    let iterations = solution.info.iterations();
    assert!(iterations <= 20, "{iterations}");
    assert!(difference_from_jacobi(&problem, &solution) < 1e-6);
}

/// -∂_x ∂_x u - 100 ∂_y ∂_y u.
#[derive(Clone)]
struct Layered;

impl Form<2> for Layered {
    fn f1<S: Scalar>(&self, point: &Point<S, 2>) -> [[S; 2]; 1] {
        let [[x, y]] = point.grad_u;
        [[x, y * 100.0]]
    }
}

/// -∇·(κ ∇u) with κ = 1 below z = 1/32 and another value above.
#[derive(Clone)]
struct Jump(f64);

impl Form<3> for Jump {
    fn f1<S: Scalar>(&self, point: &Point<S, 3>) -> [[S; 3]; 1] {
        let z = point.x[2];
        let is_below = z.less(z.constant(1.0 / 32.0));
        let kappa = S::select(is_below, z.constant(1.0), z.constant(self.0));
        [point.grad_u[0].map(|along| kappa * along)]
    }
}

/// Layers of stretched cells of two materials: the softer one has little of the nodes between them.
#[test]
fn jumps_between_stretched_cells_take_few_iterations() {
    let mesh = stretched([8; 3], [1.0, 1.0, 1.0 / 16.0]);
    for jump in [1e-3, 1e3, 1e6] {
        let problem = Problem {
            form: ProblemForm::interpreted::<_, 3, 1>(&Jump(jump)).unwrap(),
            ..poisson(&mesh, 3, 3)
        };
        let solution = solve(&problem);
        assert_eq!(method(&solution), LevelMethod::Lines);
        let iterations = solution.info.iterations();
        assert!(iterations <= 8, "{jump}: {iterations}");
    }
    // Inside cells the model of lines has another diagonal.
    let mesh = stretched([9; 3], [1.0, 1.0, 1.0 / 16.0]);
    let inside = solve(&Problem {
        form: ProblemForm::interpreted::<_, 3, 1>(&Jump(1e2)).unwrap(),
        ..poisson(&mesh, 3, 3)
    });
    assert_eq!(method(&inside), LevelMethod::Schwarz);
    let iterations = inside.info.iterations();
    assert!(iterations <= 22, "{iterations}");
}

/// A plate of three cells across: aggregates along lines would not shrink the matrix.
#[test]
fn short_lines_are_aggregated_across() {
    let mesh = stretched([28, 28, 3], [1.0, 1.0, 0.02]);
    let form = LinearElasticity::<3>::from_young(1.0, 0.3);
    let solution = solve(&Problem {
        source: vec![&0.0, &0.0, &-1.0],
        dirichlet: vec![Boundary::vector("xmin", [&0.0, &0.0, &0.0])],
        along_normal: vec![AlongNormal {
            tag: "zmin".to_owned(),
            value: &0.0,
        }],
        preconditioner: PreconditionerKind::Multigrid,
        ..interpreted(&mesh, 1, form)
    });
    assert_eq!(method(&solution), LevelMethod::Lines);
    let sizes: Vec<usize> = solution.levels.iter().map(|it| it.unknowns).collect();
    let iterations = solution.info.iterations();
    assert!(iterations <= 16, "{iterations} {sizes:?}");
}

/// An elastic plate of thin cells, held at one side.
#[test]
fn thin_elastic_cells_are_aggregated_across_the_plate() {
    for (degree, n, limit) in [(1, 16, 20), (2, 8, 22)] {
        let mesh = stretched([n; 3], [1.0, 1.0, 0.125]);
        let form = LinearElasticity::<3>::from_young(1.0, 0.3);
        let solution = solve(&Problem {
            source: vec![&0.0, &0.0, &-1.0],
            dirichlet: vec![Boundary::vector("xmin", [&0.0, &0.0, &0.0])],
            preconditioner: PreconditionerKind::Multigrid,
            ..interpreted(&mesh, degree, form)
        });
        assert_eq!(method(&solution), LevelMethod::Lines);
        // The coarsest is solved, so each level was aggregated.
        assert!(solution.levels.last().unwrap().unknowns <= 500);
        assert!(
            solution.info.iterations() <= limit,
            "degree {degree}: {}",
            solution.info.iterations()
        );
    }
}

/// A thin layer of cells along a side: few nodes are on lines, but many aggregates.
#[test]
fn aggregates_of_a_boundary_layer_have_lines() {
    let layer = |y: f64| match y < 0.2 {
        true => y * 5e-4,
        false => 1e-4 + (y - 0.2) * 0.9999 / 0.8,
    };
    let unit = unit_box(Cell::Triangle, MapKind::Affine, &[90; 2]);
    let plain = AnyBox {
        irregular: None,
        ..unit
    };
    let mesh = plain.build(|[x, y, z]| [x, layer(y), z]).unwrap();
    let form = LinearElasticity::<2>::from_young(1.0, 0.3);
    let solution = solve(&Problem {
        source: vec![&1.0, &0.5],
        dirichlet: vec![Boundary::vector("xmin", [&0.0, &0.0])],
        preconditioner: PreconditionerKind::Multigrid,
        ..interpreted(&mesh, 1, form)
    });
    assert_eq!(method(&solution), LevelMethod::Diagonal);
    assert_eq!(solution.levels[1].method, Some(LevelMethod::Lines));
    let iterations = solution.info.iterations();
    assert!(iterations <= 40, "{iterations}");
}
