//! Any bytes end in a mesh or in an error; a mesh is written and read back unchanged, and is
//! numbered or refused like any other.
#![no_main]

use std::io::ErrorKind;

use femto_fem::geometry::Geometry;
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{Mesh, MeshError};
use femto_fem::space::{Constraints, Space, SpaceParams};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match gmsh::parse(bytes, "fuzz.msh") {
        Ok(mesh) => {
            consistent(&mesh);
            round_trip(&mesh);
            number(&mesh);
        }
        Err(error) => within(&error, bytes.len()),
    }
});

/// Every reference is to something that is there.
fn consistent(mesh: &Mesh) {
    let summary = mesh.summary();
    let tagged: usize = summary.groups.iter().map(|g| g.cells).sum();
    let untagged: usize = summary.blocks.iter().map(|b| b.untagged).sum();
    let cells: usize = summary.blocks.iter().map(|b| b.cells).sum();
    assert_eq!(tagged + untagged, cells + mesh.memberships.len());
    for block in &mesh.blocks {
        assert_eq!(block.len(), block.tags.len());
    }
    assert!(mesh.coordinates.iter().flatten().all(|x| x.is_finite()));
}

/// In 4.1 every mesh can be written, unless the name of a group has a line break in it.
fn round_trip(mesh: &Mesh) {
    for encoding in [Encoding::Ascii, Encoding::BigEndian] {
        let mut written = Vec::new();
        match gmsh::write(mesh, &mut written, Version::V4_1, encoding) {
            Ok(()) => {
                let read = gmsh::parse(&written, "written.msh");
                assert_eq!(read.as_ref().ok(), Some(mesh), "{read:?}");
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidInput),
        }
    }
}

/// Maps and spaces are made, or refused with an error.
fn number(mesh: &Mesh) {
    let Ok(geometry) = Geometry::new(mesh) else {
        return;
    };
    let _ = geometry.check(&[-0.5, 0.5]);
    let params = SpaceParams {
        degree: 2.into(),
        chunk_nodes: 64,
        ..SpaceParams::default()
    };
    let Ok(space) = Space::new(mesh, &geometry, params) else {
        return;
    };
    for group in mesh.groups.iter().filter(|group| group.dimension == 2).take(2) {
        let _ = Constraints::of_all_components(&space, &[&group.number.to_string()]);
    }
}

/// The place that an error names is in the file.
fn within(error: &MeshError, size: usize) {
    if let MeshError::Gmsh { place, .. } = error {
        match *place {
            gmsh::Place::Line(line) => assert!((1..=size + 1).contains(&line)),
            gmsh::Place::Byte(offset) => assert!(offset <= size),
        }
    }
    assert!(!error.to_string().is_empty());
}
