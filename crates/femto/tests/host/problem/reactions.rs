//! Reactions where the solution is given.

use super::{accurate, host};
use crate::common::interpreted;
use crate::common::meshes::bend;
use femto::element::Cell;
use femto::fem::mesh::boxes::AnyBox;
use femto::kernel::form::{LinearElasticity, Poisson};
use femto::platform::device::Device;
use femto::problem::{AlongNormal, Boundary, Discretization, Function, Given, Problem, Robin};
use femto::{Quadrature, Scatter};

/// Reactions balance the loads of a bar that hangs and is pulled, and the heat of a square.
#[test]
fn reactions_balance_loads() {
    let mesh = AnyBox::unit(Cell::Tetrahedron, 3)
        .build(bend)
        .expect("legal");
    let given = |tag: &str, value: [&'static dyn Function; 3]| Boundary {
        tag: tag.to_owned(),
        value: Given::All(value.to_vec()),
    };
    let bar = Problem {
        source: vec![&0.0, &0.0, &-2.0],
        neumann: vec![given("xmax", [&1.5, &0.0, &0.0])],
        solver: accurate(),
        dirichlet: vec![given("zmax", [&0.0; 3])],
        ..interpreted(&mesh, 2, LinearElasticity::<3>::from_young(10.0, 0.3))
    };
    let u = bar.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
    let [reaction] = &bar.reactions(&host(), &u).expect("found")[..] else {
        panic!("one group");
    };
    let host = host();
    let scalar = [u.blocks[0].scalar()];
    let on = Discretization {
        blocks: &scalar,
        quadrature: Quadrature::Exact(6),
        time: 0.0,
        scatter: Scatter::default(),
    };
    let volume: f64 = on.source(&host, &[&1.0]).expect("a load").iter().sum();
    let mut pulled = host.zeros(scalar[0].space.dofs()).expect("allocated");
    on.neumann(&host, "xmax", &[&1.5], &mut pulled)
        .expect("a load");
    let wanted = [-pulled.iter().sum::<f64>(), 0.0, 2.0 * volume];
    for (found, wanted) in reaction.sum.iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-8, "{reaction:?}, {wanted}");
    }
}

/// Fluxes and Robin terms that are given where the solution is held change the reaction there, and none of a group that
/// shares nodes with it.
#[test]
fn what_is_given_on_a_held_side_is_taken_off_its_own_reaction() {
    let mesh = AnyBox::unit(Cell::Quadrilateral, 4)
        .build(|x| x)
        .expect("legal");
    let u = |[x, y, _]: [f64; 3]| x + 2.0 * y;
    let held = Problem {
        dirichlet: ["xmin", "ymin"].map(|tag| Boundary::new(tag, &u)).into(),
        neumann: vec![Boundary::new("xmax", &1.0), Boundary::new("ymax", &2.0)],
        solver: accurate(),
        ..interpreted(&mesh, 2, Poisson::<2>)
    };
    let reactions = |problem: &Problem<'_>| {
        let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
        let found = problem.reactions(&host(), &solution.u).expect("found");
        [found[0].sum[0], found[1].sum[0]]
    };
    let neumann = [&held.neumann[..], &[Boundary::new("xmin", &5.0)]].concat();
    // ∫ 3 u - 1 = 2 on xmin.
    let robin = Robin {
        tag: "xmin".to_owned(),
        alpha: Given::All(vec![&3.0]),
        value: Given::All(vec![&1.0]),
    };
    let problems = [
        (held.clone(), 0.0),
        (
            Problem {
                neumann,
                ..held.clone()
            },
            -5.0,
        ),
        (
            Problem {
                robin: vec![robin],
                ..held
            },
            2.0,
        ),
    ];
    for (problem, change) in problems {
        let found = reactions(&problem);
        for (found, wanted) in found.into_iter().zip([-1.0 + change, -2.0]) {
            assert!((found - wanted).abs() < 1e-8, "{change}: {found}, {wanted}");
        }
    }
}

/// The flux of a linear function into each side, of sides that meet at edges and corners, in any order.
#[test]
fn sides_that_meet_have_their_own_reactions() {
    let u = |[x, y, z]: [f64; 3]| x + 2.0 * y + 3.0 * z;
    let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    let wanted = [-1.0, 1.0, -2.0, 2.0, -3.0, 3.0];
    for (cell, degree) in [
        (Cell::Quadrilateral, 1),
        (Cell::Triangle, 3),
        (Cell::Tetrahedron, 2),
        (Cell::Hexahedron, 1),
    ] {
        let mesh = AnyBox::unit(cell, 2).build(|x| x).expect("legal");
        let mut all: Vec<_> = sides[..2 * cell.dim()].iter().zip(wanted).collect();
        for _ in 0..2 {
            let problem = Problem {
                dirichlet: all
                    .iter()
                    .map(|(tag, _)| Boundary::new(**tag, &u))
                    .collect(),
                solver: accurate(),
                ..match cell.dim() {
                    2 => interpreted(&mesh, degree, Poisson::<2>),
                    _ => interpreted(&mesh, degree, Poisson::<3>),
                }
            };
            let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
            let found = problem.reactions(&host(), &solution.u).expect("found");
            for (found, (tag, wanted)) in found.iter().zip(&all) {
                assert_eq!(found.tag, **tag);
                assert!((found.sum[0] - wanted).abs() < 1e-8, "{cell:?} {found:?}");
            }
            all.reverse();
        }
    }
}

/// A square on two rollers is pulled along both axes: each roller holds its own pull, at their common corner too.
#[test]
fn rollers_hold_what_is_theirs() {
    let mesh = AnyBox::unit(Cell::Triangle, 2).build(|x| x).expect("legal");
    let on_group = |tag: &str, value: [&'static dyn Function; 2]| Boundary {
        tag: tag.to_owned(),
        value: Given::All(value.to_vec()),
    };
    let roller = |tag: &str, component| Boundary {
        tag: tag.to_owned(),
        value: Given::Some(vec![(component, &0.0 as &dyn Function)]),
    };
    let along = |tag: &str| AlongNormal {
        tag: tag.to_owned(),
        value: &0.0,
    };
    let pulled = || Problem {
        neumann: vec![
            on_group("xmax", [&1.0, &0.0]),
            on_group("ymax", [&0.0, &2.0]),
        ],
        solver: accurate(),
        ..interpreted(&mesh, 2, LinearElasticity::<2>::from_young(10.0, 0.3))
    };
    let components = Problem {
        dirichlet: vec![roller("xmin", 0), roller("ymin", 1)],
        ..pulled()
    };
    let normals = Problem {
        along_normal: vec![along("xmin"), along("ymin")],
        ..pulled()
    };
    for problem in [components, normals] {
        let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
        let found = problem.reactions(&host(), &u).expect("found");
        for (reaction, wanted) in found.iter().zip([[-1.0, 0.0], [0.0, -2.0]]) {
            for (found, wanted) in reaction.sum.iter().zip(wanted) {
                assert!((found - wanted).abs() < 1e-9, "{reaction:?}");
            }
        }
    }
}

/// Pressed from all sides, a parallelogram gets shorter as a whole: each support gets the pressure on its side, though sides
/// meet at other angles than right ones, whether rollers or fixed to this displacement, in any order.
#[test]
fn slanted_supports_hold_what_is_theirs() {
    let mesh = AnyBox::unit(Cell::Quadrilateral, 3)
        .build(|[x, y, z]| [x + 0.5 * y, y, z])
        .expect("legal");
    // The strain is -0.1 times I, and the pressure 0.2 (λ + μ) = 1.
    let form = LinearElasticity::<2>::from_young(6.25, 0.25);
    let shorter = Boundary {
        tag: "xmin".to_owned(),
        value: Given::All(vec![
            &|[x, _, _]: [f64; 3]| -0.1 * x,
            &|[_, y, _]: [f64; 3]| -0.1 * y,
        ]),
    };
    let along = |tag: &str, value: &'static dyn Function| AlongNormal {
        tag: tag.to_owned(),
        value,
    };
    for (fixed, rollers) in [
        (vec![], vec!["xmin", "ymin"]),
        (vec![], vec!["ymin", "xmin"]),
        (vec![shorter], vec!["ymin"]),
    ] {
        let problem = Problem {
            dirichlet: fixed,
            along_normal: rollers.iter().map(|tag| along(tag, &0.0)).collect(),
            neumann_along_normal: vec![along("xmax", &-1.0), along("ymax", &-1.0)],
            solver: accurate(),
            ..interpreted(&mesh, 2, form)
        };
        let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
        for reaction in problem.reactions(&host(), &u).expect("found") {
            let wanted = match &reaction.tag[..] {
                "xmin" => [1.0, -0.5],
                _ => [0.0, 1.0],
            };
            for (found, wanted) in reaction.sum.iter().zip(wanted) {
                assert!((found - wanted).abs() < 1e-8, "{reaction:?} of {rollers:?}");
            }
        }
    }
}
