//! Operators by the oracles of the elements and the plain restriction, with fields of every kind.

use femto::fem::geometry::{Geometry, GeometryAtPoints};
use femto::fem::quadrature::{SimplexRule, simplex_rule};
use femto::fem::reference::simplex::Simplex;
use femto::fem::space::Space;
use femto::kernel::family::batch::EvalContext;
use femto::kernel::family::fields::{CellFields, FieldKind, Fields};
use femto::kernel::family::simplex_quadrature::{self, Element};
use femto::kernel::family::tensor_hex::{self, Basis};
use femto::kernel::form::Form;
use femto::operator::Auxiliary;
use femto::{OperatorParams, Quadrature};

/// The points of the rule of a simplex, `[point][3]`.
pub fn simplex_points(space: &Space, quadrature: Quadrature) -> Vec<[f64; 3]> {
    simplex_rule_of(space.dim(), quadrature).points
}

fn simplex_rule_of(dim: usize, quadrature: Quadrature) -> SimplexRule {
    let Quadrature::Exact(degree) = quadrature else {
        unreachable!("cases say how exact rules of simplices are")
    };
    simplex_rule(dim, degree).expect("a rule")
}

/// A u on triangles or tetrahedra, `u` an L-vector or a T-vector.
pub fn on_simplices<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    space: &Space,
    geometry: &Geometry,
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    use simplex_quadrature::oracle::{OracleGeometry, apply};
    let rule = simplex_rule_of(D, params.quadrature);
    let tables = Simplex::new(D, space.degree())
        .expect("legal")
        .tables(&rule.points);
    let at_points = (&rule.points[..], rule.weights);
    let element = Element::new(D, at_points, (tables.interp, tables.grad));
    let mut at = GeometryAtPoints::default();
    sum(
        space,
        params,
        (C, element.points),
        u,
        |cell, fields, conditions, values| {
            geometry.at_simplex_points(cell, &rule.points, &mut at);
            let map = OracleGeometry {
                jacobian: &at.jacobian,
                position: &at.position,
            };
            apply(form, &element, map, (fields, conditions), values)
        },
    )
}

/// A u on hexahedra.
pub fn on_hexahedra<F: Form<3, C>, const C: usize>(
    form: &F,
    space: &Space,
    geometry: &Geometry,
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    use tensor_hex::oracle::{OracleGeometry, apply};
    let basis: Basis = params
        .quadrature
        .kernel_basis(space.degree())
        .expect("legal");
    let mut at = GeometryAtPoints::default();
    sum(
        space,
        params,
        (C, basis.points()),
        u,
        |cell, fields, conditions, values| {
            geometry.at_points(cell, &basis.points, &mut at);
            let map = OracleGeometry {
                jacobian: &at.jacobian,
                position: &at.position,
            };
            apply(form, &basis, map, (fields, conditions), values)
        },
    )
}

/// Gathers, evaluates each cell, given by its number in the mesh, and sums; the pair is components and points.
fn sum(
    space: &Space,
    params: &OperatorParams,
    (components, points): (usize, usize),
    u: &[f64],
    mut evaluate: impl FnMut(usize, &CellFields, &EvalContext, &[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let conditions = EvalContext {
        time: params.time,
        parameters: &params.parameters,
    };
    let kinds: Vec<FieldKind> = params.auxiliary.iter().map(kind).collect();
    let mut e = vec![f64::NAN; space.element_dofs()];
    space.gather(u, &mut e);
    let numbers = components * space.nodes_per_element();
    for (number, values) in e.chunks_exact_mut(numbers).enumerate() {
        let cell = space.cells()[number] as usize;
        let nodes = space.element_nodes(number);
        let (mut constants, mut nodal, mut at_points) = (Vec::new(), Vec::new(), Vec::new());
        for field in &params.auxiliary {
            match field {
                Auxiliary::PerCell(values) => constants.push(values[cell]),
                Auxiliary::Nodal(values) => {
                    nodal.extend(nodes.iter().map(|&node| values[node as usize]));
                }
                Auxiliary::AtPoints(values) => {
                    at_points.extend(&values[cell * points..][..points]);
                }
            }
        }
        let fields = CellFields {
            fields: Fields::new(&kinds),
            cell: &constants,
            nodal: &nodal,
            points: &at_points,
        };
        let result = evaluate(cell, &fields, &conditions, values);
        values.copy_from_slice(&result);
    }
    let mut v = vec![0.0; u.len()];
    space.scatter_add(&e, &mut v);
    v
}

fn kind(field: &Auxiliary) -> FieldKind {
    match field {
        Auxiliary::PerCell(_) => FieldKind::Cell,
        Auxiliary::Nodal(_) => FieldKind::Nodal,
        Auxiliary::AtPoints(_) => FieldKind::Points,
    }
}
