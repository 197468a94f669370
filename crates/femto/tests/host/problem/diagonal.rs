//! Forms with a diagonal that is not positive.

use super::choice::{held, solve};
use super::*;
use femto::fem::mesh::boxes::BoxMesh;
use femto::kernel::form::{Form, Point};
use femto::kernel::scalar::Scalar;
use femto::problem::{Method, PreconditionerKind, PreconditionerReason, ProblemError, ProblemForm};
use femto::solve::JacobiError;

/// -Δu - 900 u: on 4³ cells of degree 1 the diagonal is negative.
#[derive(Clone)]
struct Waves;

impl Form<3> for Waves {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.u[0] * -900.0]
    }

    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        p.grad_u
    }
}

#[test]
fn gmres_goes_without_a_preconditioner_where_the_diagonal_is_not_positive() {
    let mesh = BoxMesh::unit_cube(4).build(|x| x).unwrap();
    let mut problem = Problem {
        degree: 1.into(),
        ..held(&mesh, ProblemForm::interpreted(&Waves).unwrap())
    };
    problem.solver.method = Some(Method::Gmres);
    let solution = solve(&problem);
    let choice = &solution.preconditioner;
    let PreconditionerReason::Diagonal { value, .. } = choice.reason else {
        panic!("{choice:?}")
    };
    assert!(value < 0.0);
    assert_eq!(choice.kind, PreconditionerKind::None);
    problem.preconditioner = PreconditionerKind::None;
    assert_eq!(solve(&problem).u.values, solution.u.values);
    problem.preconditioner = PreconditionerKind::Jacobi;
    let refused = problem.solve::<f64, _>(&host(), &mut ());
    let Err(ProblemError::Jacobi(JacobiError::NotPositive { value: found, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(found, value);
}
