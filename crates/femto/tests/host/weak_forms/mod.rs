//! Ready-made forms: orders of convergence against manufactured solutions on triangles, tetrahedra and
//! hexahedra, and quadratic convergence of Newton's method. The battery has Poisson's.
//!
//! Forms are graphs: a single type keeps this test's compile time within bounds. Two are compiled too.

mod manufactured;
mod scikit_fem;

use femto::Host;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{BoxMesh, SimplexBox};
use femto::kernel::form::{
    Coefficient, ConvectionDiffusion, Diffusion, Form, LinearElasticity, Mass, NeoHookean,
    NonlinearDiffusion, PLaplacian, ScreenedPoisson, SymmetricGradient, TracedForm, trace,
};
use femto::problem::{
    Boundary, ErrorNorms, Exact, Given, Method, Problem, ProblemForm, Solution, SolverParams,
};
use femto::solve::newton::Forcing;
use manufactured::{Manufactured, functions};

/// Scalar solutions in the plane and in space, and displacements that turn no element inside out.
const PLANE: [&str; 1] = ["sin(2*x + 0.3) * cos(1.5*y) + 0.5*x"];
const SPACE: [&str; 1] = ["sin(2*x + 0.3) * cos(1.5*y - 0.5*z) + 0.5*z"];
const PLANE_VECTOR: [&str; 2] = ["0.2*sin(2*x + y)", "0.15*cos(1.5*x - y) + 0.1*y"];
const SPACE_VECTOR: [&str; 3] = [
    "0.2*sin(1.5*x + y)",
    "0.15*cos(x - z) + 0.1*y",
    "0.1*sin(x + 1.5*y + z)",
];

/// Moves the interior and three of the sides; x = 1 stays, so that its normal is known.
fn bend([x, y]: [f64; 2]) -> [f64; 2] {
    [
        x + 0.15 * x * (1.0 - x) * (2.0 * y).sin(),
        y + 0.1 * x * (1.0 - x) - 0.1 * x * y,
    ]
}

fn triangles(cells: usize) -> Mesh {
    SimplexBox::<2>::unit_square(cells)
        .build(bend)
        .expect("legal")
}

fn bend_solid([x, y, z]: [f64; 3]) -> [f64; 3] {
    let [x, y] = bend([x, y]);
    [x, y, z + 0.1 * x * z]
}

fn tetrahedra(cells: usize) -> Mesh {
    SimplexBox::<3>::unit_cube(cells)
        .build(bend_solid)
        .expect("legal")
}

fn hexahedra(cells: usize) -> Mesh {
    BoxMesh::unit_cube(cells).build(bend_solid).expect("legal")
}

/// A problem with the manufactured solution: its flux on x = 1, its values on the other sides.
fn pose<'a>(data: &'a Manufactured, defaults: Problem<'a>) -> Problem<'a> {
    let sides = ["xmin", "ymin", "ymax", "zmin", "zmax"];
    let dim = defaults.form.dim();
    let value = functions(&data.exact);
    Problem {
        source: functions(&data.source),
        neumann: vec![Boundary {
            tag: "xmax".to_owned(),
            value: Given::All(functions(&data.flux)),
        }],
        dirichlet: sides[..2 * dim - 1]
            .iter()
            .map(|&side| Boundary {
                tag: side.to_owned(),
                value: Given::All(value.clone()),
            })
            .collect(),
        exact: Some(Exact {
            gradient: Some(
                data.gradient
                    .iter()
                    .map(|gradient| functions(&gradient[..dim]))
                    .collect(),
            ),
            value,
        }),
        solver: SolverParams {
            relative_tolerance: Some(1e-11),
            max_iterations: 5000,
            restart: 200,
            ..SolverParams::default()
        },
        ..defaults
    }
}

fn host() -> Host {
    Host::with_threads(2).expect("two threads")
}

fn solve(problem: &Problem<'_>) -> Solution {
    let solution = problem.solve::<f64, _>(&host(), &mut ());
    solution.expect("solved")
}

fn graph(form: &TracedForm) -> ProblemForm {
    ProblemForm::traced(form).expect("of usual dimensions")
}

/// Checks the decrease of the error from a mesh to one with twice the cells along each axis.
fn check_orders(name: &str, finest: [usize; 3], errors: impl Fn(usize, usize) -> ErrorNorms) {
    for (degree, fine) in (1..=3).zip(finest) {
        let [coarse, fine] = [fine / 2, fine].map(|cells| errors(degree, cells));
        let order = |coarse: f64, fine: f64| (coarse / fine).log2();
        let l2 = order(coarse.l2, fine.l2);
        let seminorms = [coarse.h1_seminorm, fine.h1_seminorm];
        let [Some(coarse), Some(fine)] = seminorms else {
            panic!("the gradient is given")
        };
        let h1 = order(coarse, fine);
        let expected = degree as f64;
        // Not `<`, so that NaN fails.
        assert!(
            l2 > expected + 0.8 && h1 > expected - 0.2,
            "{name}, degree {degree}: orders {l2} in L2 and {h1} in H1"
        );
    }
}

/// The form on triangles, solved by the expected method.
fn plane<F, const C: usize>(name: &str, form: F, exact: [&str; C], method: Method)
where
    F: Form<2, C>,
{
    let form = trace::<F, 2, C>(&form);
    let data = Manufactured::new(&form, &exact);
    check_orders(name, [24, 12, 12], |degree, cells| {
        let mesh = triangles(cells);
        let problem = pose(&data, Problem::of_form(&mesh, degree, graph(&form)));
        let solution = solve(&problem);
        assert_eq!(solution.info.history.method, method, "{name}");
        solution
            .errors
            .expect("the exact solution is given")
            .expect("finite")
    });
}

/// The form on solids.
fn solid(
    name: &str,
    form: &TracedForm,
    exact: &[&str],
    (mesh, finest): (fn(usize) -> Mesh, [usize; 3]),
) {
    let data = Manufactured::new(form, exact);
    check_orders(name, finest, |degree, cells| {
        let mesh = mesh(cells);
        let problem = pose(&data, Problem::of_form(&mesh, degree, graph(form)));
        let solution = solve(&problem);
        solution
            .errors
            .expect("the exact solution is given")
            .expect("finite")
    });
}

const TETRAHEDRA: (fn(usize) -> Mesh, [usize; 3]) = (tetrahedra, [8, 6, 4]);
const HEXAHEDRA: (fn(usize) -> Mesh, [usize; 3]) = (hexahedra, [8, 6, 4]);

const CARRIED: Coefficient = Coefficient::Constant(1.5);

#[test]
fn symmetric_scalar_forms_converge() {
    fn diffusion<const D: usize>() -> Diffusion<D> {
        Diffusion { kappa: 2.5.into() }
    }
    fn screened<const D: usize>() -> ScreenedPoisson<D> {
        ScreenedPoisson { lambda: Some(3.0) }
    }
    plane("mass", Mass, PLANE, Method::Cg);
    plane("screened Poisson", screened(), PLANE, Method::Cg);
    plane("diffusion", diffusion(), PLANE, Method::Cg);
    solid("mass", &trace::<_, 3, 1>(&Mass), &SPACE, TETRAHEDRA);
    solid(
        "screened",
        &trace::<_, 3, 1>(&screened()),
        &SPACE,
        TETRAHEDRA,
    );
    solid(
        "diffusion",
        &trace::<_, 3, 1>(&diffusion()),
        &SPACE,
        TETRAHEDRA,
    );
}

#[test]
fn convection_with_diffusion_converges() {
    let kappa = Coefficient::Constant(0.5);
    let form = ConvectionDiffusion {
        kappa,
        velocity: [CARRIED, Coefficient::Constant(-1.0)],
    };
    plane("convection-diffusion", form, PLANE, Method::Gmres);
    let form = ConvectionDiffusion {
        kappa,
        velocity: [
            CARRIED,
            Coefficient::Constant(-1.0),
            Coefficient::Constant(0.5),
        ],
    };
    let form = trace::<_, 3, 1>(&form);
    solid("convection-diffusion", &form, &SPACE, TETRAHEDRA);
    solid("convection-diffusion", &form, &SPACE, HEXAHEDRA);
}

#[test]
fn scalar_forms_that_are_not_linear_converge() {
    fn p_laplacian<const D: usize>() -> PLaplacian<D> {
        let (p, epsilon) = (3.5, 0.5);
        PLaplacian { p, epsilon }
    }
    let heat = trace::<_, 3, 1>(&NonlinearDiffusion::default());
    plane(
        "nonlinear diffusion",
        NonlinearDiffusion::default(),
        PLANE,
        Method::Newton,
    );
    plane("p-Laplacian", p_laplacian(), PLANE, Method::Newton);
    solid("heat", &heat, &SPACE, TETRAHEDRA);
    let p_laplacian = trace::<_, 3, 1>(&p_laplacian());
    solid("p-Laplacian", &p_laplacian, &SPACE, HEXAHEDRA);
}

#[test]
fn elastic_bodies_converge() {
    let body = LinearElasticity::from_young(2.0, 0.3);
    plane("elasticity", body, PLANE_VECTOR, Method::Cg);
    plane("strain", SymmetricGradient, PLANE_VECTOR, Method::Cg);
    let body = trace::<_, 3, 3>(&LinearElasticity::from_young(2.0, 0.3));
    let strain = trace::<_, 3, 3>(&SymmetricGradient);
    solid("elasticity", &body, &SPACE_VECTOR, TETRAHEDRA);
    solid("elasticity", &body, &SPACE_VECTOR, HEXAHEDRA);
    solid("strain", &strain, &SPACE_VECTOR, TETRAHEDRA);
}

#[test]
fn rubber_converges() {
    let rubber = NeoHookean::from_young(2.0, 0.3);
    plane("neo-Hookean", rubber, PLANE_VECTOR, Method::Newton);
    let rubber = trace::<_, 3, 3>(&NeoHookean::from_young(2.0, 0.3));
    solid("neo-Hookean", &rubber, &SPACE_VECTOR, TETRAHEDRA);
}

/// On x = 1 the displacement along x is given, and the flux along y.
fn with_roller<F>(name: &str, form: F, method: Method)
where
    F: Form<2, 2>,
{
    let form = trace::<F, 2, 2>(&form);
    let data = Manufactured::new(&form, &PLANE_VECTOR);
    check_orders(name, [24, 12, 12], |degree, cells| {
        let mesh = triangles(cells);
        let mut problem = pose(&data, Problem::of_form(&mesh, degree, graph(&form)));
        let roller = Boundary::component("xmax", 0, &data.exact[0]);
        problem.dirichlet.push(roller);
        problem.neumann = vec![Boundary::component("xmax", 1, &data.flux[1])];
        let solution = solve(&problem);
        assert_eq!(solution.info.history.method, method, "{name}");
        solution
            .errors
            .expect("the exact solution is given")
            .expect("finite")
    });
}

#[test]
fn conditions_on_single_components_converge() {
    let body = LinearElasticity::from_young(2.0, 0.3);
    with_roller("elasticity", body, Method::Cg);
    let rubber = NeoHookean::from_young(2.0, 0.3);
    with_roller("neo-Hookean", rubber, Method::Newton);
}

/// The residuals fall quadratically: each logarithm is nearly twice the previous one, near the solution and
/// above rounding.
fn assert_quadratic(name: &str, solution: &Solution) {
    let history = &solution.info.history.residuals;
    let relative: Vec<f64> = history.iter().map(|r| r / history[0]).collect();
    let near = relative.windows(3).filter(|r| r[0] < 0.1 && r[2] > 1e-13);
    let orders: Vec<f64> = near
        .map(|r| (r[2] / r[1]).ln() / (r[1] / r[0]).ln())
        .collect();
    assert!(!orders.is_empty(), "{name}: {relative:?}");
    assert!(
        orders.iter().any(|order| (1.7..2.6).contains(order)),
        "{name}: orders {orders:?} of {relative:?}"
    );
    // The constant of quadratic convergence does not grow.
    let last = relative.windows(2).filter(|r| r[0] < 1e-2 && r[1] > 1e-13);
    for r in last {
        assert!(r[1] < 100.0 * r[0] * r[0], "{name}: {relative:?}");
    }
}

/// With exact directions, from the compiled derivative.
#[test]
fn newtons_method_converges_quadratically() {
    let exactly = SolverParams {
        relative_tolerance: Some(1e-12),
        max_iterations: 5000,
        forcing: Forcing::Fixed(1e-11),
        ..SolverParams::default()
    };
    let rubber = NeoHookean::from_young(2.0, 0.3);
    let data = Manufactured::new(&trace::<_, 3, 3>(&rubber), &SPACE_VECTOR);
    for (name, mesh) in [("tetrahedra", tetrahedra(3)), ("hexahedra", hexahedra(3))] {
        let problem = Problem {
            solver: exactly,
            ..pose(&data, Problem::new(&mesh, 2, rubber))
        };
        let solution = solve(&problem);
        assert_quadratic(&format!("neo-Hookean on {name}"), &solution);
    }
    let p_laplacian = PLaplacian {
        p: 4.0,
        epsilon: 0.5,
    };
    let data = Manufactured::new(&trace::<_, 2, 1>(&p_laplacian), &PLANE);
    let mesh = triangles(8);
    let problem = Problem {
        solver: exactly,
        ..pose(&data, Problem::new(&mesh, 2, p_laplacian))
    };
    let solution = solve(&problem);
    assert_quadratic("p-Laplacian", &solution);
    // The derivative as a graph is identical.
    let traced = solve(&Problem {
        form: graph(&trace::<_, 2, 1>(&p_laplacian)),
        ..problem
    });
    assert_eq!(traced.info.iterations(), solution.info.iterations());
    for (a, b) in traced.u.values.iter().zip(&solution.u.values) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}
