//! Operators by the elements' oracles and the plain restriction, on any cells, with all kinds of fields.

use femto::fem::geometry::{Geometry, GeometryAtPoints, Points};
use femto::fem::space::{Block, Space};
use femto::kernel::family::EvalContext;
use femto::kernel::family::fields::{CellFields, FieldKind, Fields};
use femto::kernel::family::oracle::OracleGeometry;
use femto::operator::{AnyForm, Auxiliary};
use femto::{OperatorParams, Quadrature};
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::Rule;
use femto_element::tables::{DenseTables, Tables};
use std::sync::Arc;

/// A form on one element.
pub trait Element {
    /// v = A u, as [`AnyForm::oracle`].
    fn apply(
        &self,
        tables: &Tables,
        geometry: OracleGeometry,
        environment: (&CellFields, &EvalContext),
        u: &[f64],
    ) -> Vec<f64>;
}

impl Element for dyn AnyForm + '_ {
    fn apply(
        &self,
        tables: &Tables,
        geometry: OracleGeometry,
        environment: (&CellFields, &EvalContext),
        u: &[f64],
    ) -> Vec<f64> {
        self.oracle(tables, geometry, environment, u)
    }
}

/// The rule of a space's cells; on simplices one that does not depend on the form.
pub fn rule(space: &Space, quadrature: Quadrature) -> Rule {
    let cell = space.cell();
    let exact = match quadrature {
        Quadrature::Exact(degree) if !cell.is_tensor_product() => degree.into(),
        Quadrature::GaussOrExact(degree) if !cell.is_tensor_product() => degree,
        _ => {
            let tables = quadrature.tables(cell, space.degree().horizontal);
            return tables.expect("legal").rule();
        }
    };
    femto_element::quadrature::rule(cell, exact).expect("a rule")
}

/// Tables of a space's cells: dense ones, except where these would be large.
fn tables(space: &Space, quadrature: Quadrature) -> Tables {
    let (cell, degree) = (space.cell(), space.degree());
    if cell == Cell::Hexahedron {
        let tables = quadrature.tables(cell, degree.horizontal);
        return Tables::Tensor(Arc::new(tables.expect("legal")));
    }
    let basis = LagrangeBasis::new(cell, degree).expect("legal");
    Tables::Dense(Arc::new(DenseTables::new(&basis, &rule(space, quadrature))))
}

/// A u, `u` an L-vector, on cells of any shapes, with fields that run on from block to block.
pub fn apply<E: Element + ?Sized>(
    element: &E,
    blocks: &[Block],
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    let (mut cells, mut points) = (0, 0);
    let mut v = vec![0.0; u.len()];
    for Block { space, geometry } in blocks {
        let elements = space.elements();
        let at_points = elements * rule(space, params.quadrature).len();
        let own = |field: &Auxiliary| match field {
            Auxiliary::PerCell(all) => Auxiliary::PerCell(all[cells..][..elements].to_vec()),
            Auxiliary::AtPoints(all) => Auxiliary::AtPoints(all[points..][..at_points].to_vec()),
            nodal @ Auxiliary::Nodal(_) => nodal.clone(),
        };
        let own = OperatorParams {
            auxiliary: params.auxiliary.iter().map(own).collect(),
            ..params.clone()
        };
        let mut e = vec![f64::NAN; space.element_dofs()];
        space.gather(u, &mut e);
        let e = apply_elements(element, (space, geometry), &own, &e);
        space.scatter_add(&e, &mut v);
        (cells, points) = (cells + elements, points + at_points);
    }
    v
}

/// Bᵀ D B u, `u` an E-vector on cells of one shape.
pub fn apply_elements<E: Element + ?Sized>(
    element: &E,
    (space, geometry): (&Space, &Geometry),
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    let context = EvalContext {
        time: params.time,
        parameters: &params.parameters,
    };
    let kinds: Vec<FieldKind> = params.auxiliary.iter().map(kind).collect();
    let tables = tables(space, params.quadrature);
    let points = Points::List(rule(space, params.quadrature).points);
    let count = points.count(space.cell());
    let numbers = space.components() * space.nodes_per_element();
    let mut at = GeometryAtPoints::default();
    let mut v = Vec::with_capacity(u.len());
    for (number, values) in u.chunks_exact(numbers).enumerate() {
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
                    at_points.extend(&values[cell * count..][..count]);
                }
            }
        }
        let fields = CellFields {
            fields: Fields::new(&kinds),
            cell: &constants,
            nodal: &nodal,
            points: &at_points,
        };
        geometry.at_points(cell, &points, &mut at);
        let map = OracleGeometry {
            jacobian: &at.jacobian,
            position: &at.position,
        };
        v.extend(element.apply(&tables, map, (&fields, &context), values));
    }
    v
}

fn kind(field: &Auxiliary) -> FieldKind {
    match field {
        Auxiliary::PerCell(_) => FieldKind::Cell,
        Auxiliary::Nodal(_) => FieldKind::Nodal,
        Auxiliary::AtPoints(_) => FieldKind::Points,
    }
}
