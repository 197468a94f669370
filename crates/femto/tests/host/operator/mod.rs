//! Operators on the host: those with precision and device erased, constraints, threads, and parts that do not fit.

mod any;
mod parts;
mod vectors;

use crate::common::hexahedra;
use femto::element::MapKind;
use femto::fem::geometry::Geometry;
use femto::fem::space::{Space, SpaceParams};

/// A space on multilinear hexahedra.
fn space_on(cells: [usize; 3], params: SpaceParams) -> (Geometry, Space) {
    let mesh = hexahedra(MapKind::Multilinear, cells);
    let geometry = Geometry::new(&mesh).expect("hexahedra");
    let space = Space::new(&mesh, &geometry, params).expect("legal");
    (geometry, space)
}
