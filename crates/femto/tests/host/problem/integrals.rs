//! Loads and norms of errors.

use super::{accurate, host, linear, worst};
use crate::common::meshes::bend;
use crate::common::{difference, hexahedra, interpreted};
use femto::element::{Cell, MapKind};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::boxes::{AnyBox, BoxMesh};
use femto::fem::space::{Block, Constraints, Space, SpaceParams};
use femto::kernel::expr::{Graph, Input};
use femto::kernel::form::{LinearElasticity, Mass, Poisson};
use femto::platform::device::Device;
use femto::problem::{
    Boundary, Discretization, Exact, Expression, Function, Given, Problem, ProblemError,
};
use femto::{Host, Quadrature, Scatter};

/// The norms of the difference of known functions: u_h = 0 and u = x y² on the unit cube.
#[test]
fn error_norms_are_integrals() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let value = |[x, y, _]: [f64; 3]| x * y * y;
    let along_x = |[_, y, _]: [f64; 3]| y * y;
    let along_y = |[x, y, _]: [f64; 3]| 2.0 * x * y;
    let exact = Exact {
        value: vec![&value],
        gradient: Some(vec![vec![&along_x, &along_y, &0.0]]),
    };
    let problem = Problem {
        exact: Some(exact),
        ..interpreted(&mesh, 1, Mass::<3>)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("zero");
    let errors = solution
        .errors
        .expect("the exact solution is given")
        .expect("finite");
    let (l2, h1) = ((1.0f64 / 15.0).sqrt(), (1.0f64 / 5.0 + 4.0 / 9.0).sqrt());
    for (found, expected) in [
        (errors.l2, l2),
        (errors.l2_exact, l2),
        (errors.h1_seminorm.expect("a gradient is given"), h1),
        (errors.h1_seminorm_exact.expect("a gradient is given"), h1),
        (errors.l2_relative(), 1.0),
        (errors.h1_relative().expect("a gradient is given"), 1.0),
    ] {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    // A function in the space has no error.
    let on = solution.u.discretization(Quadrature::Gauss, 0.0);
    let planar = Exact {
        value: vec![&linear],
        gradient: Some(vec![vec![&2.0, &-3.0]]),
    };
    let refused = on.errors(&host(), &[], &planar).unwrap_err();
    let ProblemError::ExactGradient { found: 2, dim: 3 } = refused else {
        panic!("{refused}");
    };
    let positions = solution.u.node_positions();
    let nodal: Vec<f64> = positions.iter().map(|&x| linear(x)).collect();
    let exact = Exact {
        value: vec![&linear],
        gradient: Some(vec![vec![&2.0, &-3.0, &0.5]]),
    };
    let errors = on.errors(&host(), &nodal, &exact).expect("legal");
    assert!(
        errors.l2 < 1e-14 && errors.h1_seminorm < Some(1e-13),
        "{errors:?}"
    );
}

/// Σ ∫ φ = volume or area, bitwise the same for any number of threads, on a curved mesh.
#[test]
fn loads_are_repeatable() {
    let mesh = hexahedra(MapKind::Curved, [5, 4, 3]);
    let expression = Expression::parse("sin(3*x) + y*z^2").expect("a function of position");
    let closure = |[x, y, z]: [f64; 3]| (3.0 * x).sin() + y * z * z;
    for degree in [1, 4] {
        let b = |threads, f: &dyn Function| {
            let problem = Problem {
                source: vec![f],
                neumann: vec![Boundary::new("ymax", f)],
                dirichlet: vec![Boundary::new("xmin", f)],
                ..interpreted(&mesh, degree, Poisson::<3>)
            };
            let host = Host::with_threads(threads).expect("threads");
            let system = problem.assemble::<f64, _>(&host, &mut ()).expect("legal");
            system.right_hand_side().to_vec()
        };
        let wanted = b(1, &closure);
        for threads in [2, 3, 4] {
            assert_eq!(b(threads, &closure), wanted, "{threads} threads");
        }
        let difference = difference(&b(2, &expression), &wanted);
        assert!(
            difference < 1e-14,
            "an expression is a closure: {difference:e}"
        );
    }
}

#[test]
fn expressions_with_other_inputs_are_refused() {
    let mut graph = Graph::new();
    let parameter = graph.input(Input::Parameter(0));
    assert!(Expression::new(&graph, parameter).is_err());
    let time = graph.input(Input::Time);
    let time = Expression::new(&graph, time).expect("time is given");
    let mut value = [0.0];
    time.evaluate(&[[0.0; 3]], 4.5, &mut value);
    assert_eq!(value, [4.5]);
}

#[test]
fn expressions_have_gradients_and_know_what_is_constant() {
    let expression = Expression::parse("x^2*y + 3*z").expect("legal");
    assert_eq!(expression.as_constant(), None);
    let at = [[0.5, 2.0, -1.0]];
    let gradient = expression.gradient().map(|along| {
        let mut value = [f64::NAN];
        along.evaluate(&at, 0.0, &mut value);
        value[0]
    });
    assert_eq!(gradient, [2.0, 0.25, 3.0]);
    assert_eq!(expression.gradient()[2].as_constant(), Some(3.0));
    assert_eq!(Expression::constant(4.0).as_constant(), Some(4.0));
    assert!(
        Expression::parse("t").is_err(),
        "time is no symbol of a text"
    );
}

#[test]
fn other_numbers_of_functions_than_components_are_refused() {
    let mesh = BoxMesh::unit_cube(1).build(|x| x).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let params = SpaceParams {
        components: 3,
        ..SpaceParams::default()
    };
    let space = Space::new(&mesh, &geometry, params).unwrap();
    let block = Block {
        space: space.clone(),
        geometry,
    };
    let on = Discretization {
        blocks: &[block],
        quadrature: Quadrature::default(),
        time: 0.0,
        scatter: Scatter::default(),
    };
    let held = Constraints::of_all_components(&space, &["xmin"]).unwrap();
    let one: [&dyn Function; 1] = [&1.0];
    let mut b = host().zeros(space.dofs()).unwrap();
    let exact = Exact {
        value: one.to_vec(),
        gradient: None,
    };
    let refused = [
        on.source(&host(), &one).err(),
        on.neumann(&host(), "xmax", &one, &mut b).err(),
        on.boundary_values(&held, &[("xmin", &[Some(one[0])])], &[])
            .err(),
        on.errors(&host(), &b, &exact).err(),
    ];
    for error in refused {
        let Some(ProblemError::Components {
            components,
            functions,
        }) = error
        else {
            panic!("{error:?}")
        };
        assert_eq!((components, functions), (3, 1));
    }
}

/// Gauss's theorem: ∫ x n_x over the whole boundary is the volume, and ∫ x n_y zero, for curved cells too.
fn outward_on<const D: usize>(cell: Cell) {
    let unit = AnyBox {
        geometry_degree: 2,
        ..AnyBox::unit(cell, 2)
    };
    let mesh = unit.build(bend).expect("legal");
    let geometries = Geometry::of_shapes(&mesh).expect("valid");
    let blocks = |components| {
        let params = SpaceParams {
            degree: 3.into(),
            components,
            ..SpaceParams::default()
        };
        Block::all(&mesh, geometries.clone(), params).expect("valid")
    };
    let host = host();
    let (vector, scalar) = (blocks(D), blocks(1));
    let on = |blocks| Discretization {
        blocks,
        quadrature: Quadrature::Exact(12),
        time: 0.0,
        scatter: Scatter::default(),
    };
    let x = |[x, _, _]: [f64; 3]| x;
    let mut b = host.zeros(vector[0].space.dofs()).expect("allocated");
    for side in ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"]
        .iter()
        .take(2 * D)
    {
        on(&vector)
            .neumann_along_normal(&host, side, &x, &mut b)
            .expect("a load");
    }
    let volume: f64 = on(&scalar)
        .source(&host, &[&1.0])
        .expect("a load")
        .iter()
        .sum();
    for component in 0..D {
        let sum: f64 = b.iter().skip(component).step_by(D).sum();
        let wanted = if component == 0 { volume } else { 0.0 };
        assert!(
            (sum - wanted).abs() < 1e-9,
            "{cell:?}, {component}: {sum} for {wanted}"
        );
    }
}

#[test]
fn loads_along_the_normal_point_outwards() {
    for cell in [Cell::Hexahedron, Cell::Tetrahedron, Cell::Prism] {
        outward_on::<3>(cell);
    }
    for cell in [Cell::Quadrilateral, Cell::Triangle] {
        outward_on::<2>(cell);
    }
}

/// The stress of a linear displacement is the same everywhere, and the flux of a scalar its gradient.
#[test]
fn fluxes_are_projected() {
    let displacement: [&dyn Function; 3] = [&|[x, y, _]: [f64; 3]| 2.0 * x + y, &linear, &0.0];
    for cell in AnyBox::CELLS.into_iter().filter(|cell| cell.dim() == 3) {
        let mesh = AnyBox::unit(cell, 2).build(|x| x).expect("legal");
        let form = LinearElasticity::<3>::from_young(1.0, 0.25);
        let (lambda, mu) = (0.4, 0.4);
        let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        let problem = Problem {
            solver: accurate(),
            dirichlet: sides
                .map(|side| Boundary {
                    tag: side.to_owned(),
                    value: Given::All(displacement.to_vec()),
                })
                .into(),
            ..interpreted(&mesh, 2, form)
        };
        let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
        let fluxes = problem.flux(&host(), &u).expect("projected");
        let du = [[2.0, 1.0, 0.0], [2.0, -3.0, 0.5], [0.0; 3]];
        let trace = du[0][0] + du[1][1] + du[2][2];
        for (axis, flux) in fluxes.iter().enumerate() {
            for (component, found) in flux.values.iter().enumerate().map(|(i, v)| (i % 3, v)) {
                let diagonal = if component == axis {
                    lambda * trace
                } else {
                    0.0
                };
                let wanted = diagonal + mu * (du[component][axis] + du[axis][component]);
                assert!(
                    (found - wanted).abs() < 1e-7,
                    "{cell:?}: {found} for {wanted}"
                );
            }
        }
    }
}

/// The flux of a harmonic function, which varies, at the nodes and into sides that meet.
#[test]
fn fluxes_of_quadratic_functions_are_exact() {
    let u = |[x, y, _]: [f64; 3]| x * x - y * y + 3.0 * (x - y);
    let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    let into = [-3.0, 5.0, 3.0, -5.0, 0.0, 0.0];
    for cell in AnyBox::CELLS.into_iter().filter(|cell| cell.dim() > 1) {
        let mesh = AnyBox::unit(cell, 2).build(|x| x).expect("legal");
        let problem = Problem {
            dirichlet: sides[..2 * cell.dim()]
                .iter()
                .map(|tag| Boundary::new(*tag, &u))
                .collect(),
            solver: accurate(),
            ..match cell.dim() {
                2 => interpreted(&mesh, 2, Poisson::<2>),
                _ => interpreted(&mesh, 2, Poisson::<3>),
            }
        };
        let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
        let fluxes = problem.flux(&host(), &u).expect("projected");
        let gradient: [fn([f64; 3]) -> f64; 3] =
            [|x| 2.0 * x[0] + 3.0, |x| -2.0 * x[1] - 3.0, |_| 0.0];
        for (flux, wanted) in fluxes.iter().zip(gradient) {
            let error = worst(flux, wanted);
            assert!(error < 1e-7, "{cell:?}: {error:e}");
        }
        let found = problem.reactions(&host(), &u).expect("found");
        for (found, wanted) in found.iter().zip(into) {
            assert!((found.sum[0] - wanted).abs() < 1e-8, "{cell:?} {found:?}");
        }
    }
}
