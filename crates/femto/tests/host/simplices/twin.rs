//! Operators by the plain twin of the elements and the plain restriction.

use femto::OperatorParams;
use femto::Quadrature;
use femto::fem::geometry::{Geometry, GeometryAtPoints};
use femto::fem::quadrature::simplex_rule;
use femto::fem::reference::simplex::Simplex;
use femto::fem::space::Space;
use femto::kernel::family::batch::Conditions;
use femto::kernel::family::fields::{CellFields, FieldKind, Fields};
use femto::kernel::family::simplex_quadrature::Element;
use femto::kernel::family::simplex_quadrature::oracle::{self, OracleGeometry};
use femto::kernel::form::Form;
use femto::operator::Auxiliary;

/// The rule of `Quadrature::Exact(degree)`.
pub(crate) fn points(space: &Space, degree: usize) -> Vec<[f64; 3]> {
    simplex_rule(space.dim(), degree).expect("a rule").points
}

fn element(space: &Space, degree: usize) -> (Element, Vec<[f64; 3]>) {
    let rule = simplex_rule(space.dim(), degree).expect("a rule");
    let simplex = Simplex::new(space.dim(), space.degree()).expect("legal");
    let tables = simplex.tables(&rule.points);
    let dim = space.dim();
    let element = Element {
        dim,
        nodes: space.nodes_per_element(),
        points: rule.points.len(),
        weights: rule.weights,
        positions: rule
            .points
            .iter()
            .flat_map(|x| &x[..dim])
            .copied()
            .collect(),
        interp: tables.interp,
        grad: tables.grad,
    };
    (element, rule.points)
}

/// The fields of one cell, which `fields` has as numbers of the mesh.
fn of_cell(
    params: &OperatorParams,
    kind: FieldKind,
    take: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let values = params
        .auxiliary
        .iter()
        .filter_map(|field| match (field, kind) {
            (Auxiliary::PerCell(values), FieldKind::Cell)
            | (Auxiliary::Nodal(values), FieldKind::Nodal)
            | (Auxiliary::AtPoints(values), FieldKind::Points) => Some(take(values)),
            _ => None,
        });
    values.flatten().collect()
}

/// A u, `u` an L-vector or a T-vector.
pub(crate) fn apply<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    space: &Space,
    geometry: &Geometry,
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    let Quadrature::Exact(exact) = params.quadrature else {
        unreachable!("tests say how exact")
    };
    let (element, points) = element(space, exact);
    let kinds: Vec<FieldKind> = params
        .auxiliary
        .iter()
        .map(|field| match field {
            Auxiliary::PerCell(_) => FieldKind::Cell,
            Auxiliary::Nodal(_) => FieldKind::Nodal,
            Auxiliary::AtPoints(_) => FieldKind::Points,
        })
        .collect();
    let conditions = Conditions {
        time: params.time,
        parameters: &params.parameters,
    };
    let mut e = vec![0.0; space.element_dofs()];
    space.gather(u, &mut e);
    let mut at = GeometryAtPoints::default();
    for (number, values) in e.chunks_exact_mut(C * element.nodes).enumerate() {
        let cell = space.cells()[number] as usize;
        geometry.at_simplex_points(cell, &points, &mut at);
        let map = OracleGeometry {
            jacobian: &at.jacobian,
            position: &at.position,
        };
        let nodes = space.element_nodes(number);
        let constants = of_cell(params, FieldKind::Cell, |values| vec![values[cell]]);
        let nodal = of_cell(params, FieldKind::Nodal, |values| {
            nodes.iter().map(|&node| values[node as usize]).collect()
        });
        let at_points = of_cell(params, FieldKind::Points, |values| {
            values[cell * points.len()..][..points.len()].to_vec()
        });
        let fields = CellFields {
            fields: Fields::new(&kinds),
            cell: &constants,
            nodal: &nodal,
            points: &at_points,
        };
        let result = oracle::apply(form, &element, map, (&fields, &conditions), values);
        values.copy_from_slice(&result);
    }
    let mut v = vec![0.0; u.len()];
    space.scatter_add(&e, &mut v);
    v
}
