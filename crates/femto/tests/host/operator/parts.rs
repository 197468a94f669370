//! Forms, spaces and parameters that do not fit each other.

use crate::common::meshes::mesh;
use femto::element::{Cell, MapKind};
use femto::fem::geometry::Geometry;
use femto::fem::space::{Space, SpaceParams};
use femto::kernel::form::Poisson;
use femto::operator::{Auxiliary, OperatorError};
use femto::{Host, Operator, OperatorParams, Quadrature};

#[test]
fn mismatched_parts_are_errors() {
    let host = Host::new().expect("threads");
    let mesh = mesh(Cell::Triangle, MapKind::Affine, &[4, 4]);
    let geometry = Geometry::new(&mesh).expect("triangles");
    let space = Space::new(&mesh, &geometry, SpaceParams::default()).expect("legal");
    let operator =
        |params| Operator::<f64, _>::new(&host, &space, &geometry, &Poisson::<2>, params);
    let solid = Operator::<f64, _>::new(
        &host,
        &space,
        &geometry,
        &Poisson::<3>,
        OperatorParams::default(),
    );
    assert_eq!(
        solid.expect_err("triangles").to_string(),
        "a form in 3 dimensions on triangles"
    );
    let collocated = operator(OperatorParams {
        quadrature: Quadrature::Collocated,
        ..OperatorParams::default()
    });
    assert_eq!(
        collocated.expect_err("no GLL points"),
        OperatorError::QuadratureByAxis
    );
    let knobs = operator(OperatorParams {
        knobs: "blocks=2".parse().expect("a knob"),
        ..OperatorParams::default()
    });
    assert_eq!(
        knobs.expect_err("no kernel with knobs"),
        OperatorError::KnobsElsewhere
    );
    let short = operator(OperatorParams {
        auxiliary: vec![Auxiliary::Nodal(vec![0.0; 3])],
        ..OperatorParams::default()
    });
    assert_eq!(
        short.expect_err("too short").to_string(),
        format!(
            "auxiliary field 0 has 3 values for {} nodes of the space",
            space.nodes()
        )
    );
}
