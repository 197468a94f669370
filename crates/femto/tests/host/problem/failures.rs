//! Errors of problems without a solution.

use super::host;
use crate::common::interpreted;
use femto::fem::geometry::Geometry;
use femto::fem::mesh::boxes::{AnyBox, BoxMesh};
use femto::fem::mesh::{Membership, PhysicalGroup};
use femto::fem::space::{Space, SpaceParams};
use femto::kernel::form::{
    Coefficient, ConvectionDiffusion, LinearElasticity, Mass, Poisson, ScreenedPoisson,
};
use femto::problem::{
    Boundary, Exact, FacetForm, Given, Method, Problem, ProblemError, ProblemForm, Robin,
    SolverParams, by_group,
};
use femto::{OperatorParams, Quadrature};
use femto_element::{Cell, CellType};

/// Null spaces of linear symmetric forms are found, others are not.
#[test]
fn a_solution_up_to_a_constant_is_an_error() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let singular = |problem: Problem<'_>| {
        let solved = problem.solve::<f64, _>(&host(), &mut ());
        let error = solved.expect_err("no Dirichlet boundary");
        assert!(
            matches!(error, ProblemError::Singular { component: None }),
            "{error}"
        );
        let message = error.to_string();
        assert!(
            message.contains("give the solution on a part of the boundary"),
            "{message}"
        );
    };
    let wind = ConvectionDiffusion::<3> {
        kappa: 1.0.into(),
        velocity: [2.0, 0.0, 0.0].map(Coefficient::Constant),
    };
    singular(interpreted(&mesh, 2, wind));
    singular(Problem {
        solver: newton(),
        ..interpreted(&mesh, 2, Poisson::<3>)
    });
}

fn newton() -> SolverParams {
    SolverParams {
        method: Some(Method::Newton),
        ..SolverParams::default()
    }
}

#[test]
fn one_cell_may_fix_the_constant() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let mut lambda = vec![0.0; 8];
    for is_free in [true, false] {
        let problem = Problem {
            operator: OperatorParams {
                auxiliary: vec![lambda.clone().into()],
                ..OperatorParams::default()
            },
            ..interpreted(&mesh, 2, ScreenedPoisson::<3> { lambda: None })
        };
        let solved = problem.solve::<f64, _>(&host(), &mut ());
        assert_eq!(solved.expect("solved").free.is_some(), is_free);
        lambda[5] = 1.0;
    }
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
        solver: newton(),
        ..interpreted(&mesh, 1, form)
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
        ..interpreted(&mesh, 1, LinearElasticity::<3>::from_young(1.0, 0.3))
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
        ..interpreted(&mesh, 1, form)
    };
    let neumann = Problem {
        neumann: inlet,
        ..interpreted(&mesh, 1, form)
    };
    let robin = Problem {
        robin: vec![Robin {
            tag: "inlet".to_owned(),
            alpha: Given::All(vec![&1.0]),
            value: Given::All(vec![&1.0]),
        }],
        ..interpreted(&mesh, 1, form)
    };
    let facets = Problem {
        facets: vec![FacetForm {
            tag: "inlet".to_owned(),
            form: ProblemForm::interpreted::<_, 3, 1>(&Mass).unwrap(),
        }],
        ..interpreted(&mesh, 1, form)
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
fn values_that_are_not_finite_are_named() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let bad = |[x, _, z]: [f64; 3]| (x - 0.5 * z).sqrt();
    let zero = vec![Boundary::new("ymin", &0.0)];
    let good = Problem {
        dirichlet: zero,
        ..interpreted(&mesh, 1, Poisson::<3>)
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
    ] {
        let solve = problem.solve::<f64, _>(&host(), &mut ());
        let message = solve.expect_err("not a number").to_string();
        assert!(
            message.starts_with(&format!("{what} is NaN at [")),
            "{message}"
        );
    }
    // That costs the errors, not the solution.
    let problem = Problem {
        exact: Some(exact),
        ..good
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    let errors = solution.errors.expect("asked for");
    let message = errors.expect_err("not a number").to_string();
    assert!(
        message.starts_with("the exact solution is NaN at ["),
        "{message}"
    );
    // Of a vector it is a mistake from the start.
    let exact = Exact {
        value: vec![&1.0, &1.0],
        gradient: None,
    };
    let problem = Problem {
        exact: Some(exact),
        ..problem
    };
    let assembled = problem.assemble::<f64, _>(&host(), &mut ());
    assert!(matches!(
        assembled.err(),
        Some(ProblemError::Components { .. })
    ));
}

#[test]
fn inverted_cells_are_named() {
    let mesh = BoxMesh::unit_cube(2)
        .build(|[x, y, z]| [-x, y, z])
        .expect("legal");
    let problem = interpreted(&mesh, 1, Mass::<3>);
    let error = problem
        .solve::<f64, _>(&host(), &mut ())
        .expect_err("inverted");
    assert!(
        error.to_string().contains("mesh cell 0 is inverted"),
        "{error}"
    );
}

/// A cell in two groups with a value gets neither.
#[test]
fn a_cell_with_two_values_is_named() {
    let mut mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let inside = mesh.groups.iter().find(|group| group.dimension == 3);
    let inside = inside.unwrap().name.clone();
    mesh.groups.push(PhysicalGroup {
        dimension: 3,
        number: 40,
        name: "half".into(),
    });
    let half = by_group(&mesh, &[(&inside, 1.0), ("half", 2.0)]).unwrap_err();
    assert!(
        half.to_string()
            .contains("`half` = 40 of dimension 3 has no cells")
    );
    mesh.memberships.push(Membership {
        block: 0,
        cell: 5,
        group: 40,
    });
    assert_eq!(by_group(&mesh, &[(&inside, 1.0)]).unwrap(), [1.0; 8]);
    match by_group(&mesh, &[("half", 2.0), (&inside, 1.0)]) {
        Err(ProblemError::TwoValues { groups, cell, .. }) => {
            assert_eq!((groups, cell), ([inside.clone(), "half".to_owned()], 5));
        }
        other => panic!("{other:?}"),
    }
    // Further groups count for facets too.
    let faces = mesh
        .blocks
        .iter()
        .position(|it| it.cell_type == CellType::QUAD4);
    let face = Membership {
        block: faces.unwrap() as u32,
        cell: 0,
        group: 41,
    };
    mesh.memberships.push(face);
    mesh.groups.push(PhysicalGroup {
        dimension: 2,
        number: 41,
        name: "spot".into(),
    });
    let geometry = Geometry::new(&mesh).unwrap();
    let space = Space::new(&mesh, &geometry, SpaceParams::default()).unwrap();
    assert_eq!(space.boundary().tagged("spot").unwrap().len(), 1);
}

/// A facet in two groups, each with a flux.
#[test]
fn groups_that_meet_are_named() {
    let mut mesh = AnyBox::unit(Cell::Quadrilateral, 2).build(|x| x).unwrap();
    let mut blocks = mesh.blocks.iter_mut();
    let lines = blocks.find(|block| block.cell_type == CellType::LINE2);
    let lines = lines.unwrap();
    let (first, tag) = (lines.cell(0).to_vec(), lines.tags[0]);
    lines.nodes.to_mut().extend(&first);
    lines.tags.push(40);
    let group = mesh.groups.iter().find(|group| group.number == tag);
    let one = group.unwrap().name.clone();
    mesh.groups.push(PhysicalGroup {
        dimension: 1,
        number: 40,
        name: "both".into(),
    });
    let problem = |value: [Given<'static>; 2]| {
        let tags = [&one[..], "both"].into_iter().zip(value);
        let tag = |(tag, value): (&str, Given<'static>)| Boundary {
            tag: tag.to_owned(),
            value,
        };
        Problem {
            neumann: tags.map(tag).collect(),
            dirichlet: vec![Boundary::vector("xmax", [&0.0, &0.0])],
            ..interpreted(&mesh, 1, LinearElasticity::<2>::from_young(1.0, 0.3))
        }
    };
    let all = || Given::All(vec![&1.0, &1.0]);
    let meeting = problem([all(), Given::Some(vec![(1, &2.0)])]);
    match meeting.solve::<f64, _>(&host(), &mut ()) {
        Err(ProblemError::RepeatedFlux {
            first,
            second,
            component,
            ..
        }) => assert_eq!(
            (&first[..], &second[..], component),
            (&one[..], "both", Some(1))
        ),
        other => panic!("{other:?}"),
    }
    // Other components, or a condition on the solution, may share the facet.
    let apart = problem([Given::Some(vec![(0, &1.0)]), Given::Some(vec![(1, &2.0)])]);
    apart.solve::<f64, _>(&host(), &mut ()).expect("solved");
    let robin = Problem {
        robin: vec![Robin {
            tag: "both".into(),
            alpha: all(),
            value: all(),
        }],
        ..problem([all(), Given::Some(Vec::new())])
    };
    let error = robin.solve::<f64, _>(&host(), &mut ()).expect_err("meet");
    assert!(
        error.to_string().contains("both give a flux on facet"),
        "{error}"
    );
}

/// A term on facets is one of values, whatever the form: on triangles its matrix would be singular.
#[test]
fn rules_must_suit_terms_on_facets() {
    let error = |cell: Cell, side: &str, exact: usize| {
        let mesh = AnyBox::unit(cell, 2).build(|x| x).unwrap();
        let problem = Problem {
            robin: vec![Robin {
                tag: side.to_owned(),
                alpha: Given::All(vec![&1.0]),
                value: Given::All(vec![&0.0]),
            }],
            operator: OperatorParams {
                quadrature: Quadrature::Exact(exact),
                ..OperatorParams::default()
            },
            ..match cell.dim() {
                2 => interpreted(&mesh, 2, Poisson::<2>),
                _ => interpreted(&mesh, 2, Poisson::<3>),
            }
        };
        let assembled = problem.assemble::<f64, _>(&host(), &mut ());
        assembled.err().map(|error| error.to_string())
    };
    for (cell, side) in [(Cell::Tetrahedron, "xmin"), (Cell::Prism, "zmin")] {
        assert_eq!(error(cell, side, 4), None);
        let text = error(cell, side, 3).unwrap();
        assert!(text.contains("exact to 4"), "{text}");
    }
    // Lines and quadrilaterals have enough points in any case.
    for (cell, side) in [(Cell::Triangle, "xmin"), (Cell::Prism, "xmin")] {
        assert_eq!(error(cell, side, 2), None);
    }
}
