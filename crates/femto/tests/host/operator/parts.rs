//! Forms, spaces and parameters that do not fit each other.

use crate::common::meshes::mesh;
use femto::element::{Cell, MapKind};
use femto::fem::geometry::Geometry;
use femto::fem::space::{Space, SpaceError, SpaceParams};
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
        OperatorError::KnobElsewhere { knob: "blocks" }
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

/// A geometry of another mesh with as many cells is refused; the same mesh may move.
#[test]
fn a_geometry_of_other_cells_is_an_error() {
    let host = Host::new().expect("threads");
    for cell in [Cell::Triangle, Cell::Hexahedron] {
        let build = |cells: &[usize]| mesh(cell, MapKind::Affine, cells);
        let own = build(&[6, 2, 1]);
        let geometry = Geometry::new(&own).expect("legal");
        let space = Space::new(&own, &geometry, SpaceParams::default()).expect("legal");
        let on = |geometry: &Geometry| {
            let params = OperatorParams::default();
            match cell.dim() {
                2 => Operator::<f64, _>::new(&host, &space, geometry, &Poisson::<2>, params).err(),
                _ => Operator::<f64, _>::new(&host, &space, geometry, &Poisson::<3>, params).err(),
            }
        };
        let other = Geometry::new(&build(&[4, 3, 1])).expect("legal");
        assert_eq!(other.len(), geometry.len());
        assert_eq!(on(&other), Some(OperatorError::OtherCells));
        let refused = space.traces(&other, "xmin");
        assert!(
            matches!(refused, Err(SpaceError::OtherCells)),
            "{refused:?}"
        );
        let mut moved = own.clone();
        moved
            .coordinates
            .to_mut()
            .iter_mut()
            .for_each(|x| x[0] *= 1.5);
        let moved = Geometry::new(&moved).expect("legal");
        assert_eq!(on(&moved), None);
    }
}
