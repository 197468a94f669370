//! Loads and forms on facets on accelerators against the host: hexahedra, tetrahedra and triangles, scalars and
//! vectors, functions of time.

use crate::common::meshes::mesh;
use crate::common::{Random, difference, hexahedra, mixed};
use crate::common::{bound::accelerator, interpreted};
use femto::element::{Cell, MapKind};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::space::{Block, Space, SpaceParams, Trace};
use femto::kernel::expr::{Graph, Program, Symbols, parse};
use femto::kernel::form::{Form, NonlinearDiffusion, Point, Poisson};
use femto::kernel::scalar::Scalar;
use femto::operator::Backend;
use femto::platform::device::{Buffer, Device};
use femto::problem::{
    Boundary, Discretization, Expression, FacetForm, Function, Given, Problem, ProblemError,
    ProblemForm, Robin,
};
use femto::vector::VectorOps;
use femto::{Host, Operator, OperatorParams, Quadrature, Scatter};
use std::sync::atomic::{AtomicUsize, Ordering};

fn expression(text: &str) -> Expression {
    let mut graph = Graph::new();
    let value = parse(&mut graph, text, &Symbols::position().and_time()).unwrap();
    Expression::new(&graph, value).unwrap()
}

/// Functions of all inputs; random times make them different in every run.
const FUNCTIONS: [&str; 3] = [
    "sin(3*t*x)*exp(-y) + t*z^2",
    "sqrt(x^2 + y^2 + t) - cos(t*z)",
    "tanh(t*x)/(1 + y*z) - ln(t + y)",
];

/// An expression that counts the values evaluated on the host.
struct Noted(Expression, AtomicUsize);

impl Function for Noted {
    fn evaluate(&self, positions: &[[f64; 3]], time: f64, values: &mut [f64]) {
        self.1.fetch_add(positions.len(), Ordering::Relaxed);
        self.0.evaluate(positions, time, values);
    }

    fn as_program(&self) -> Option<Program> {
        self.0.as_program()
    }
}

/// The same function without a program, which only the host can evaluate.
struct Closed<'a>(&'a Expression);

impl Function for Closed<'_> {
    fn evaluate(&self, positions: &[[f64; 3]], time: f64, values: &mut [f64]) {
        self.0.evaluate(positions, time, values);
    }
}

/// Meshes of all shapes but pyramids, the first of trilinear hexahedra.
fn meshes() -> [(&'static str, Mesh); 6] {
    [
        (
            "trilinear hexahedra",
            hexahedra(MapKind::Multilinear, [3, 2, 2]),
        ),
        ("curved hexahedra", hexahedra(MapKind::Curved, [2, 3, 2])),
        ("triangles and quadrilaterals", mixed(4, 2)),
        ("triangles", mesh(Cell::Triangle, MapKind::Curved, &[5, 5])),
        (
            "tetrahedra",
            mesh(Cell::Tetrahedron, MapKind::Curved, &[3, 3, 3]),
        ),
        ("prisms", mesh(Cell::Prism, MapKind::Curved, &[2, 2, 2])),
    ]
}

/// Loads on the sides x = 1 and y = 1.
fn on_sides<B: Backend + VectorOps<f64>>(
    device: &B,
    on: &Discretization<'_>,
    f: &[&dyn Function],
) -> Vec<f64> {
    let mut b = device.zeros(on.blocks[0].space.dofs()).unwrap();
    for side in ["xmax", "ymax"] {
        on.neumann(device, side, f, &mut b).unwrap();
    }
    let mut values = vec![0.0; b.len()];
    device.read(&b, &mut values).unwrap();
    values
}

#[test]
fn boundary_data_are_those_of_the_host() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let mut random = Random::new();
    for (what, mesh) in meshes() {
        for (degree, components) in [(1, 1), (2, 3), (3, 2)] {
            let params = SpaceParams {
                degree: degree.into(),
                components,
                ..SpaceParams::default()
            };
            let geometries = Geometry::of_shapes(&mesh).unwrap();
            let blocks = Block::all(&mesh, geometries, params).unwrap();
            let on = Discretization {
                blocks: &blocks,
                quadrature: Quadrature::default(),
                time: 1.5 + random.next(),
                scatter: Scatter::Deterministic,
            };
            let functions = FUNCTIONS[..components].iter();
            let functions = functions.map(|text| Noted(expression(text), AtomicUsize::new(0)));
            let noted: Vec<Noted> = functions.collect();
            let closed: Vec<Closed<'_>> = noted.iter().map(|f| Closed(&f.0)).collect();
            let noted_f: Vec<&dyn Function> = noted.iter().map(|f| f as _).collect();
            let closed_f: Vec<&dyn Function> = closed.iter().map(|f| f as _).collect();
            let wanted = on_sides(&host, &on, &closed_f);
            let found = on_sides(&device, &on, &noted_f);
            let asked = noted.iter().map(|f| f.1.load(Ordering::Relaxed));
            assert_eq!(asked.sum::<usize>(), 0, "the device evaluates");
            assert_eq!(on_sides(&device, &on, &noted_f), found, "deterministic");
            // The host evaluates the functions, but the device still integrates.
            for found in [found, on_sides(&device, &on, &closed_f)] {
                let error = difference(&found, &wanted);
                assert!(error < 1e-13, "{what}, degree {degree}: {error:e}");
            }
        }
    }
}

/// Forms on facets, operator and diagonal; the tables of degree 7 exceed constant memory. Of each mesh two degrees, as kernels
/// compile slowly.
#[test]
fn forms_on_facets_are_those_of_the_host() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let mut random = Random::new();
    let degrees = [[1, 7], [2, 3], [1, 3], [1, 2], [2, 3], [1, 2]];
    for ((what, mesh), degrees) in meshes().into_iter().zip(degrees) {
        let geometries = Geometry::of_shapes(&mesh).unwrap();
        for degree in degrees {
            let params = SpaceParams {
                degree: degree.into(),
                ..SpaceParams::default()
            };
            let blocks = Block::all(&mesh, geometries.clone(), params).unwrap();
            let traces = blocks.iter();
            let traces = traces.flat_map(|it| it.space.traces(&it.geometry, "xmax").unwrap());
            let traces: Vec<Trace> = traces.collect();
            let form = match geometries[0].dim() {
                2 => ProblemForm::interpreted::<_, 2, 1>(&OnSurface),
                _ => ProblemForm::interpreted::<_, 3, 1>(&OnSurface),
            }
            .expect("of usual dimensions");
            let u = random.vector(blocks[0].space.dofs());
            let params = OperatorParams {
                quadrature: Quadrature::GaussOrExact((2 * degree + 2).into()),
                time: random.next(),
                ..OperatorParams::default()
            };
            let on = (&blocks[..], &traces[..]);
            let wanted = with_facets(&host, on, (&form, &params), &u);
            let found = with_facets(&device, on, (&form, &params), &u);
            for (found, wanted) in found.iter().zip(&wanted) {
                let error = difference(found, wanted);
                assert!(error < 1e-12, "{what}, degree {degree}: {error:e}");
            }
        }
    }
}

/// (1 + x y + t) u, and ∇u along the surface.
#[derive(Clone)]
struct OnSurface;

impl<const D: usize> Form<D> for OnSurface {
    fn f0<S: Scalar>(&self, p: &Point<S, D>) -> [S; 1] {
        [p.u[0] * (p.x[0] * p.x[1] + p.time + 1.0)]
    }

    fn f1<S: Scalar>(&self, p: &Point<S, D>) -> [[S; D]; 1] {
        p.grad_u
    }
}

/// A u and the diagonal, with a form on the cells and on facets.
fn with_facets<B: Backend + VectorOps<f64>>(
    device: &B,
    (blocks, traces): (&[Block], &[Trace]),
    (form, params): (&ProblemForm, &OperatorParams),
    u: &[f64],
) -> [Vec<f64>; 2] {
    let cells = params.clone();
    let mut operator = Operator::<f64, B>::of_blocks(device, blocks, form.form(), cells).unwrap();
    for trace in traces {
        let params = params.clone();
        operator.add_facets(trace, form.form(), params).unwrap();
    }
    let (input, mut output) = (device.upload(u).unwrap(), device.zeros(u.len()).unwrap());
    let mut results = [vec![f64::NAN; u.len()], vec![f64::NAN; u.len()]];
    device.fill(f64::NAN, &mut output).unwrap();
    operator.apply(&input, &mut output).unwrap();
    device.read(&output, &mut results[0]).unwrap();
    if operator.inspection().linear {
        let matrix = operator.matrix().unwrap();
        let error = difference(&matrix.product(u), &results[0]);
        assert!(error < 1e-12, "{error} in the matrix's product");
    }
    device.fill(f64::NAN, &mut output).unwrap();
    operator.diagonal(&mut output).unwrap();
    device.read(&output, &mut results[1]).unwrap();
    results
}

/// Numbers, expressions and closures may be mixed as components of a vector.
#[test]
fn components_may_be_of_any_kind() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let mesh = hexahedra(MapKind::Multilinear, [2, 2, 2]);
    let geometry = Geometry::new(&mesh).unwrap();
    let params = SpaceParams {
        degree: 2.into(),
        components: 4,
        ..SpaceParams::default()
    };
    let space = Space::new(&mesh, &geometry, params).unwrap();
    let on = Discretization {
        blocks: &[Block { space, geometry }],
        quadrature: Quadrature::default(),
        time: 0.25,
        scatter: Scatter::default(),
    };
    let moving = expression("x*t + cos(y)");
    let closure = |[x, _, z]: [f64; 3]| x - z;
    let f: [&dyn Function; 4] = [&2.5, &moving, &closure, &0.0];
    let (found, wanted) = (on_sides(&device, &on, &f), on_sides(&host, &on, &f));
    assert!(difference(&found, &wanted) < 1e-13);
    assert!(found.iter().skip(3).step_by(4).all(|&value| value == 0.0));
    assert!(found.iter().step_by(4).any(|&value| value != 0.0));
}

/// A problem with a value on y = 0, a flux on y = 1, a start.
fn given<'a>(mesh: &'a Mesh, values: [Option<&'a dyn Function>; 3]) -> Problem<'a> {
    let [dirichlet, neumann, start] = values;
    let neumann = neumann.map(|g| Boundary::new("ymax", g));
    Problem {
        dirichlet: vec![Boundary::new("ymin", dirichlet.unwrap_or(&0.0))],
        neumann: neumann.into_iter().collect(),
        start: start.map(|start| vec![start]),
        ..interpreted(mesh, 2, Poisson::<3>)
    }
}

#[test]
fn values_that_are_not_finite_are_named_as_on_the_host() {
    let Some(device) = accelerator() else { return };
    let mesh = hexahedra(MapKind::Multilinear, [2, 2, 2]);
    // In the middle of the sides y = 0 and y = 1.
    let bad = expression("1/(t - 1) + ln((x - 0.5)^2 - 0.01)");
    for (values, what) in [
        (
            [Some(&bad as &dyn Function), None, None],
            "the boundary value on `ymin`",
        ),
        ([None, Some(&bad), None], "the flux on `ymax`"),
        ([None, None, Some(&bad)], "the start"),
    ] {
        let problem = given(&mesh, values);
        let host = Host::with_threads(1).unwrap();
        let wanted = problem.assemble::<f64, _>(&host, &mut ()).err().unwrap();
        let found = problem.assemble::<f64, _>(&device, &mut ()).err().unwrap();
        assert!(matches!(found, ProblemError::NotFinite { .. }), "{found}");
        let message = found.to_string();
        assert!(
            message.starts_with(&format!("{what} is NaN at [")),
            "{message}"
        );
        assert_eq!(message, wanted.to_string());
    }
}

/// A flux u³ out of the domain.
#[derive(Clone)]
struct Radiation;

impl Form<3> for Radiation {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.u[0].powi(3)]
    }

    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        p.grad_u.map(|slope| slope.map(|x| x.constant(0.0)))
    }
}

/// Problems with moving boundary data, linear and nonlinear: their equations and their solutions.
#[test]
fn problems_with_boundary_data_are_those_of_the_host() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let (wall, flux) = (expression("sin(x + t)*z"), expression("t*y - exp(z)"));
    let mesh = hexahedra(MapKind::Curved, [3, 2, 2]);
    for time in [0.5, 0.75] {
        let operator = OperatorParams {
            time,
            ..OperatorParams::default()
        };
        let linear = Problem {
            neumann: vec![Boundary::new("zmax", &flux)],
            dirichlet: vec![Boundary::new("xmin", &wall)],
            operator: operator.clone(),
            ..interpreted(&mesh, 2, Poisson::<3>)
        };
        let on_host = linear.assemble::<f64, _>(&host, &mut ()).unwrap();
        let wanted = on_host.right_hand_side().to_vec();
        let there = linear.assemble::<f64, _>(&device, &mut ()).unwrap();
        let mut found = vec![f64::NAN; wanted.len()];
        device.read(there.right_hand_side(), &mut found).unwrap();
        let error = difference(&found, &wanted);
        assert!(error < 1e-13, "{error:e}");
        let nonlinear = Problem {
            robin: vec![Robin {
                tag: "zmin".to_owned(),
                alpha: Given::All(vec![&2.0]),
                value: Given::All(vec![&wall]),
            }],
            facets: vec![FacetForm {
                tag: "ymax".to_owned(),
                form: ProblemForm::interpreted::<_, 3, 1>(&Radiation).unwrap(),
            }],
            neumann: vec![Boundary::new("zmax", &flux)],
            dirichlet: vec![Boundary::new("xmin", &wall)],
            start: Some(vec![&wall]),
            operator,
            ..interpreted(&mesh, 2, NonlinearDiffusion::<3>::default())
        };
        let on_host = nonlinear.solve::<f64, _>(&host, &mut ()).unwrap();
        let there = nonlinear.solve::<f64, _>(&device, &mut ()).unwrap();
        let error = difference(&there.u.values, &on_host.u.values);
        assert!(error < 1e-7, "{error:e}");
    }
}
