//! Problems without a solution say why.

use super::host;
use femto::OperatorParams;
use femto::fem::mesh::box_mesh::BoxMesh;
use femto::kernel::form::{LinearElasticity, Mass, Poisson, ScreenedPoisson};
use femto::problem::{
    Boundary, Exact, FacetForm, Given, Problem, ProblemError, ProblemForm, Robin,
};

#[test]
fn a_solution_up_to_a_constant_is_an_error() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let singular = |error: ProblemError| {
        assert!(
            matches!(error, ProblemError::Singular { component: None }),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains("give the solution on a part of the boundary")
        );
    };
    let solve = Problem::new(&mesh, 2, Poisson::<3>).solve::<f64, _>(&host(), &mut ());
    singular(solve.expect_err("no Dirichlet boundary"));
    let form = ScreenedPoisson::<3> { lambda: Some(0.0) };
    let solve = Problem::new(&mesh, 2, form).solve::<f64, _>(&host(), &mut ());
    singular(solve.expect_err("λ = 0"));
    let per_element = |lambda: Vec<f64>| Problem {
        operator: OperatorParams {
            auxiliary: vec![lambda.into()],
            ..OperatorParams::default()
        },
        ..Problem::new(&mesh, 2, ScreenedPoisson::<3> { lambda: None })
    };
    let solve = per_element(vec![0.0; 8]).solve::<f64, _>(&host(), &mut ());
    singular(solve.expect_err("λ = 0 everywhere"));
    let mut lambda = vec![0.0; 8];
    lambda[5] = 1.0;
    let solve = per_element(lambda).solve::<f64, _>(&host(), &mut ());
    assert!(solve.is_ok(), "one cell fixes the constant");
}

#[test]
fn a_component_up_to_a_constant_is_named() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let form = LinearElasticity::<3>::from_young(1.0, 0.3);
    let problem = Problem {
        dirichlet: vec![
            Boundary::component("xmin", 0, &0.0),
            Boundary::component("zmin", 2, &0.0),
        ],
        ..Problem::new(&mesh, 1, form)
    };
    let error = problem.solve::<f64, _>(&host(), &mut ()).expect_err("free");
    let message = error.to_string();
    assert!(
        message.starts_with("component y of the solution is only determined up to a constant"),
        "{message}"
    );
}

#[test]
fn a_component_that_is_given_twice_is_named() {
    let mesh = BoxMesh::unit_cube(1).build(|x| x).expect("legal");
    let twice = Boundary {
        tag: "xmin".to_owned(),
        value: Given::Some(vec![(1, &0.0), (1, &2.0)]),
    };
    let problem = Problem {
        dirichlet: vec![twice],
        ..Problem::new(&mesh, 1, LinearElasticity::<3>::from_young(1.0, 0.3))
    };
    let error = problem
        .solve::<f64, _>(&host(), &mut ())
        .expect_err("twice");
    let message = error.to_string();
    assert_eq!(message, "component 1, counted from 0, is given twice");
}

#[test]
fn unknown_tags_list_the_known_ones() {
    let mesh = BoxMesh::unit_cube(1).build(|x| x).expect("legal");
    let form = ScreenedPoisson::<3> { lambda: Some(1.0) };
    let inlet = vec![Boundary::new("inlet", &0.0)];
    let dirichlet = Problem {
        dirichlet: inlet.clone(),
        ..Problem::new(&mesh, 1, form)
    };
    let neumann = Problem {
        neumann: inlet,
        ..Problem::new(&mesh, 1, form)
    };
    let robin = Problem {
        robin: vec![Robin {
            tag: "inlet".to_owned(),
            alpha: Given::All(vec![&1.0]),
            value: Given::All(vec![&1.0]),
        }],
        ..Problem::new(&mesh, 1, form)
    };
    let facets = Problem {
        facets: vec![FacetForm {
            tag: "inlet".to_owned(),
            form: ProblemForm::new::<_, 3, 1>(Mass),
        }],
        ..Problem::new(&mesh, 1, form)
    };
    for problem in [dirichlet, neumann, robin, facets] {
        let error = problem
            .solve::<f64, _>(&host(), &mut ())
            .expect_err("no inlet");
        let message = error.to_string();
        assert!(
            message.contains("`inlet`") && message.contains("`zmax` = 6"),
            "{message}"
        );
    }
}

#[test]
fn values_that_are_none_are_named() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let bad = |[x, _, z]: [f64; 3]| (x - 0.5 * z).sqrt();
    let zero = vec![Boundary::new("ymin", &0.0)];
    let good = Problem {
        dirichlet: zero,
        ..Problem::new(&mesh, 1, Poisson::<3>)
    };
    let exact = Exact {
        value: vec![&bad],
        gradient: None,
    };
    for (problem, what) in [
        (
            Problem {
                source: vec![&bad],
                ..good.clone()
            },
            "the source",
        ),
        (
            Problem {
                neumann: vec![Boundary::new("ymax", &bad)],
                ..good.clone()
            },
            "the flux on `ymax`",
        ),
        (
            Problem {
                dirichlet: vec![Boundary::new("ymin", &bad)],
                ..good.clone()
            },
            "the boundary value on `ymin`",
        ),
        (
            Problem {
                robin: vec![Robin {
                    tag: "ymax".to_owned(),
                    alpha: Given::All(vec![&bad]),
                    value: Given::All(vec![&1.0]),
                }],
                ..good.clone()
            },
            "the coefficient on `ymax`",
        ),
        (
            Problem {
                exact: Some(exact),
                ..good.clone()
            },
            "the exact solution",
        ),
    ] {
        let solve = problem.solve::<f64, _>(&host(), &mut ());
        let message = solve.expect_err("not a number").to_string();
        assert!(
            message.starts_with(&format!("{what} is NaN at [")),
            "{message}"
        );
    }
}

#[test]
fn inverted_cells_are_named() {
    let mesh = BoxMesh::unit_cube(2)
        .build(|[x, y, z]| [-x, y, z])
        .expect("legal");
    let problem = Problem::new(&mesh, 1, Mass::<3>);
    let error = problem
        .solve::<f64, _>(&host(), &mut ())
        .expect_err("inverted");
    assert!(
        error.to_string().contains("mesh cell 0 is inverted"),
        "{error}"
    );
}
