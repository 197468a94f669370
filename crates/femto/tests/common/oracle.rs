//! Operators by the elements' oracles and the plain restriction, with all kinds of fields.

use femto::fem::geometry::{Geometry, GeometryAtPoints};
use femto::fem::space::{Block, Space};
use femto::kernel::family::EvalContext;
use femto::kernel::family::fields::{CellFields, FieldKind, Fields};
use femto::kernel::family::oracle::{OracleGeometry, apply};
use femto::kernel::form::Form;
use femto::operator::Auxiliary;
use femto::{OperatorParams, Quadrature};
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::Rule;
use femto_element::tables::DenseTables;
use femto_element::tables::TensorTables;

/// The rule of a space's cells.
pub fn rule(space: &Space, quadrature: Quadrature) -> Rule {
    let cell = space.cell();
    match quadrature {
        Quadrature::Exact(degree) | Quadrature::GaussOrExact(degree)
            if !cell.is_tensor_product() =>
        {
            femto_element::quadrature::rule(cell, degree).expect("a rule")
        }
        _ => quadrature
            .tables(cell, space.degree())
            .expect("legal")
            .rule(),
    }
}

/// A u on any cells, `u` an L-vector.
pub fn with_dense_tables<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    space: &Space,
    geometry: &Geometry,
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    let rule = rule(space, params.quadrature);
    let basis = LagrangeBasis::new(space.cell(), space.degree()).expect("legal");
    let element = DenseTables::new(&basis, &rule);
    let mut at = GeometryAtPoints::default();
    sum(
        space,
        params,
        (C, element.points),
        u,
        |cell, fields, context, values| {
            geometry.at_listed_points(cell, &rule.points, &mut at);
            let map = OracleGeometry {
                jacobian: &at.jacobian,
                position: &at.position,
            };
            apply(form, &element, map, (fields, context), values)
        },
    )
}

/// A u on cells of several shapes, with fields that run on from block to block.
pub fn on_blocks<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    blocks: &[Block],
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    let (mut cells, mut points) = (0, 0);
    let mut v = vec![0.0; u.len()];
    for Block { space, geometry } in blocks {
        let elements = space.elements();
        let at_points = elements * rule(space, params.quadrature).points.len();
        let own = |field: &Auxiliary| match field {
            Auxiliary::PerCell(all) => Auxiliary::PerCell(all[cells..][..elements].to_vec()),
            Auxiliary::AtPoints(all) => Auxiliary::AtPoints(all[points..][..at_points].to_vec()),
            nodal @ Auxiliary::Nodal(_) => nodal.clone(),
        };
        let own = OperatorParams {
            auxiliary: params.auxiliary.iter().map(own).collect(),
            ..params.clone()
        };
        let added = with_dense_tables::<F, D, C>(form, space, geometry, &own, u);
        v.iter_mut().zip(added).for_each(|(v, added)| *v += added);
        (cells, points) = (cells + elements, points + at_points);
    }
    v
}

/// A u on hexahedra.
pub fn on_hexahedra<F: Form<3, C>, const C: usize>(
    form: &F,
    space: &Space,
    geometry: &Geometry,
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    let basis: TensorTables = params
        .quadrature
        .tables(Cell::Hexahedron, space.degree())
        .expect("legal");
    let mut at = GeometryAtPoints::default();
    sum(
        space,
        params,
        (C, basis.points()),
        u,
        |cell, fields, context, values| {
            geometry.at_points(cell, &basis.points, &mut at);
            let map = OracleGeometry {
                jacobian: &at.jacobian,
                position: &at.position,
            };
            apply(form, &basis, map, (fields, context), values)
        },
    )
}

/// Gathers, evaluates each cell, given by its number in the mesh, and sums; the pair is (components,
/// points).
fn sum(
    space: &Space,
    params: &OperatorParams,
    (components, points): (usize, usize),
    u: &[f64],
    mut evaluate: impl FnMut(usize, &CellFields, &EvalContext, &[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let context = EvalContext {
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
        let result = evaluate(cell, &fields, &context, values);
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
