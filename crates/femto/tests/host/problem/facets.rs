//! Robin conditions and other forms on facets, checked with solutions in the space.

use super::{accurate, host, worst};
use crate::common::interpreted;
use femto::element::Cell;
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{AnyBox, BoxMesh};
use femto::fem::space::{Space, SpaceParams};
use femto::kernel::form::{Form, LinearElasticity, Point, Poisson};
use femto::kernel::scalar::Scalar;
use femto::operator::{Auxiliary, OperatorError, Typed};
use femto::platform::device::Device;
use femto::problem::{
    Boundary, Expression, FacetForm, Function, Given, Problem, ProblemError, ProblemForm, Robin,
};
use femto::{Operator, OperatorParams};

const CELLS: [Cell; 4] = [
    Cell::Hexahedron,
    Cell::Tetrahedron,
    Cell::Quadrilateral,
    Cell::Triangle,
];

/// The unit box; `bend` must keep its sides flat.
fn unit_box(cell: Cell, bend: impl Fn([f64; 3]) -> [f64; 3] + Sync) -> Mesh {
    let simplices = !cell.is_tensor_product();
    let mesh = AnyBox {
        irregular: simplices.then_some(3),
        ..AnyBox::unit(cell, 2)
    };
    mesh.build(bend).expect("legal")
}

pub(super) fn robin<'a>(tag: &str, alpha: &'a dyn Function, value: &'a dyn Function) -> Robin<'a> {
    Robin {
        tag: tag.to_owned(),
        alpha: Given::All(vec![alpha]),
        value: Given::All(vec![value]),
    }
}

fn poisson(mesh: &Mesh, cell: Cell, degree: usize) -> Problem<'_> {
    match cell.dim() {
        2 => interpreted(mesh, degree, Poisson::<2>),
        _ => interpreted(mesh, degree, Poisson::<3>),
    }
}

/// u = 1 + x² - y², which is harmonic, with ∂u/∂n + α u given on the sides x = 0 and x = 1 and fluxes on y = 1 and
/// y = 0; α is a number, an expression or a closure.
#[test]
fn robin_conditions_hold_on_every_cell() {
    let u = |[x, y, _]: [f64; 3]| 1.0 + x * x - y * y;
    let of_place = |[_, y, _]: [f64; 3]| 1.5 + y;
    let text = Expression::parse("1.5 + y").expect("legal");
    for cell in CELLS {
        let mesh = unit_box(cell, |x| x);
        for degree in [2, 3] {
            for (what, alpha, exact) in [
                (
                    "number",
                    &0.7 as &dyn Function,
                    &(|_: [f64; 3]| 0.7) as &(dyn Fn([f64; 3]) -> f64 + Send + Sync),
                ),
                ("expression", &text, &of_place),
                ("closure", &of_place, &of_place),
            ] {
                let low = |x: [f64; 3]| exact(x) * u(x);
                let high = |x: [f64; 3]| 2.0 + exact(x) * u(x);
                let problem = Problem {
                    robin: vec![robin("xmin", alpha, &low), robin("xmax", alpha, &high)],
                    neumann: vec![Boundary::new("ymax", &-2.0)],
                    solver: accurate(),
                    ..poisson(&mesh, cell, degree)
                };
                let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
                let error = worst(&solution.u, u);
                assert!(error < 1e-11, "{cell:?} {degree} {what}: {error:e}");
            }
        }
    }
}

/// A bar between rollers, on springs along x at one side and pulled at the other.
#[test]
fn a_component_may_stand_on_springs() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).expect("legal");
    let (lambda, mu) = (1.3, 0.8);
    let pull = 0.5;
    // σ_xx = (λ + 2 μ) a, and the springs of stiffness 4 give way by σ_xx / 4.
    let (stress, a) = (pull, pull / (lambda + 2.0 * mu));
    let elasticity = LinearElasticity::<3> {
        lambda: femto::kernel::form::Coefficient::Constant(lambda),
        mu: femto::kernel::form::Coefficient::Constant(mu),
    };
    let roller = |side: &str, component| Boundary::component(side, component, &0.0);
    let problem = Problem {
        robin: vec![Robin {
            tag: "xmin".to_owned(),
            alpha: Given::Some(vec![(0, &4.0)]),
            value: Given::Some(vec![(0, &0.0)]),
        }],
        neumann: vec![Boundary::component("xmax", 0, &pull)],
        dirichlet: vec![
            roller("ymin", 1),
            roller("ymax", 1),
            roller("zmin", 2),
            roller("zmax", 2),
        ],
        solver: accurate(),
        ..interpreted(&mesh, 2, elasticity)
    };
    let solution = problem.solve::<f64, _>(&host(), &mut ()).expect("solved");
    let positions = solution.u.node_positions();
    for (x, u) in positions.iter().zip(solution.u.values.chunks_exact(3)) {
        let wanted = [stress / 4.0 + a * x[0], 0.0, 0.0];
        let apart = u.iter().zip(wanted).map(|(u, wanted)| (u - wanted).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-12, "{u:?} at {x:?}");
    }
    // With α = 0 it is free along x.
    let free = Problem {
        robin: vec![Robin {
            tag: "xmin".to_owned(),
            alpha: Given::Some(vec![(0, &0.0)]),
            value: Given::Some(vec![(0, &0.0)]),
        }],
        ..problem
    };
    let error = free.assemble::<f64, _>(&host(), &mut ()).err();
    assert!(
        matches!(error, Some(ProblemError::Unbalanced { rigid: true, .. })),
        "{error:?}"
    );
}

/// A flux u⁴ out of the domain.
#[derive(Clone)]
struct Radiation;

impl<const D: usize> Form<D> for Radiation {
    fn f0<S: Scalar>(&self, p: &Point<S, D>) -> [S; 1] {
        [p.u[0].powi(4)]
    }

    fn f1<S: Scalar>(&self, p: &Point<S, D>) -> [[S; D]; 1] {
        p.grad_u.map(|slope| slope.map(|x| x.constant(0.0)))
    }
}

/// u = 1.5 - 0.2 x, which radiates on the side x = 1, where it is 1.3: Newton's method on a linear form.
#[test]
fn forms_on_facets_need_not_be_linear() {
    for cell in CELLS {
        let mesh = unit_box(cell, |x| x);
        let form = match cell.dim() {
            2 => ProblemForm::interpreted::<_, 2, 1>(&Radiation),
            _ => ProblemForm::interpreted::<_, 3, 1>(&Radiation),
        }
        .expect("of usual dimensions");
        let arrives = 1.3f64.powi(4) - 0.2;
        let tag = "xmax".to_owned();
        let problem = Problem {
            facets: vec![FacetForm { tag, form }],
            neumann: vec![Boundary::new("xmax", &arrives)],
            dirichlet: vec![Boundary::new("xmin", &1.5)],
            solver: accurate(),
            ..poisson(&mesh, cell, 2)
        };
        let mut assembled = problem.assemble::<f64, _>(&host(), &mut ()).expect("legal");
        assert_eq!(assembled.method(), femto::problem::Method::Newton);
        let solution = assembled.solve(&mut ()).expect("solved");
        let error = worst(&solution.u, |[x, ..]| 1.5 - 0.2 * x);
        assert!(error < 1e-11, "{cell:?}: {error:e}");
    }
}

/// Gradients on facets are tangential: on a slanted side ∫ |∇_Γ u|² is its area times |∇u|² less the square
/// of the normal part.
#[test]
fn gradients_on_facets_lie_in_them() {
    for cell in CELLS {
        let mesh = unit_box(cell, |[x, y, z]| [x + 0.3 * y, y, z * (1.0 - 0.2 * x * y)]);
        let geometry = Geometry::new(&mesh).expect("legal");
        let params = SpaceParams {
            degree: 2.into(),
            ..SpaceParams::default()
        };
        let space = Space::new(&mesh, &geometry, params).expect("legal");
        let trace = space.traces(&geometry, "ymax").expect("there").remove(0);
        let form = match cell.dim() {
            2 => ProblemForm::interpreted::<_, 2, 1>(&Poisson),
            _ => ProblemForm::interpreted::<_, 3, 1>(&Poisson),
        }
        .expect("of usual dimensions");
        let slope = [2.0, -3.0, if cell.dim() == 3 { 0.5 } else { 0.0 }];
        let at = space.node_positions(&geometry);
        let u: Vec<f64> = at
            .iter()
            .map(|x| (0..3).map(|a| slope[a] * x[a]).sum())
            .collect();
        let energy = |with_facets: bool| {
            let host = host();
            let params = OperatorParams {
                quadrature: match cell.is_tensor_product() {
                    true => femto::Quadrature::Gauss,
                    false => femto::Quadrature::Exact(6),
                },
                ..OperatorParams::default()
            };
            let form = form.form();
            let mut operator =
                Operator::<f64, _>::of_form(&host, &space, &geometry, form, params.clone())
                    .expect("legal");
            if with_facets {
                operator.add_facets(&trace, form, params).expect("legal");
            }
            let (input, mut output) = (
                host.upload(&u).expect("memory"),
                host.zeros(u.len()).expect("memory"),
            );
            operator.apply(&input, &mut output).expect("legal");
            output.iter().zip(&u).map(|(v, u)| v * u).sum::<f64>()
        };
        // The side y = 1 stays in its plane; it is 1 long, and its height falls from 1 to 4/5 along x.
        let area = if cell.dim() == 3 { 0.9 } else { 1.0 };
        let wanted = area * (slope[0] * slope[0] + slope[2] * slope[2]);
        let found = energy(true) - energy(false);
        assert!(
            (found - wanted).abs() < 1e-11,
            "{cell:?}: {found}, not {wanted}"
        );
    }
}

/// u times a parameter and a field, of given numbers.
#[derive(Clone, Copy)]
struct Scaled {
    parameter: usize,
    field: usize,
}

impl Form<2> for Scaled {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0] * (p.parameters[self.parameter] + p.a[self.field])]
    }
}

/// What facet terms cannot take changes nothing, in them and in the cells.
#[test]
fn refused_changes_change_nothing() {
    let mesh = unit_box(Cell::Quadrilateral, |x| x);
    let geometry = Geometry::new(&mesh).expect("legal");
    let space = |degree: usize| {
        let params = SpaceParams {
            degree: degree.into(),
            ..SpaceParams::default()
        };
        Space::new(&mesh, &geometry, params).expect("legal")
    };
    let (own, host) = (space(2), host());
    let params = |fields: usize, parameters: Vec<f64>| OperatorParams {
        auxiliary: vec![Auxiliary::Nodal(vec![0.0; own.nodes()]); fields],
        parameters,
        ..OperatorParams::default()
    };
    let (first, second) = (0, 1);
    let of_cells = Scaled {
        parameter: first,
        field: second,
    };
    let of_cells = Typed::<_, 2, 1>(of_cells);
    let (length, trace) = (host.zeros(own.dofs()), own.traces(&geometry, "xmin"));
    let mut length = length.expect("memory");
    let trace = trace.expect("there").remove(0);
    let given = params(2, vec![1.0, 0.0]);
    let mut operator = Operator::<f64, _>::of_form(&host, &own, &geometry, &of_cells, given);
    let operator = operator.as_mut().expect("legal");
    let on_trace = |fields: usize| OperatorParams {
        auxiliary: vec![Auxiliary::Nodal(vec![0.0; trace.block.space.nodes()]); fields],
        parameters: vec![1.0, 10.0],
        ..OperatorParams::default()
    };
    // A facet term with another parameter, and one field only.
    let of_facets = Scaled {
        parameter: second,
        field: first,
    };
    let of_facets = Typed::<_, 2, 1>(of_facets);
    operator
        .add_facets(&trace, &of_facets, on_trace(1))
        .expect("legal");
    let ones = host.upload(&vec![1.0; own.dofs()]).expect("memory");
    let mut sum = |operator: &Operator<f64, _>| {
        operator.apply(&ones, &mut length).expect("legal");
        length.iter().sum::<f64>()
    };
    let before = sum(operator);
    assert!((before - 11.0).abs() < 1e-12, "{before}");
    assert!(operator.set_parameters(&[2.0]).is_err());
    assert!(operator.set_nodal(1, &ones).is_err());
    assert!(operator.set_nodal(usize::MAX, &ones).is_err());
    assert_eq!(sum(operator), before);
    // The trace of another space.
    let other = space(1).traces(&geometry, "xmin").expect("there").remove(0);
    let refused = operator.add_facets(&other, &of_facets, on_trace(0));
    assert!(
        matches!(refused, Err(OperatorError::OtherTrace)),
        "{refused:?}"
    );
}
