//! Any texts of the files of Triangle, separated by lines of `---`, end in a mesh or in an error; a mesh is mapped,
//! numbered or refused like any other.
#![no_main]

use femto_fem::geometry::Geometry;
use femto_fem::mesh::triangle::parse;
use femto_fem::space::{Space, SpaceParams};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut files = text.split("---\n");
    let mut next = || files.next();
    let (nodes, triangles) = (next().unwrap_or_default(), next().unwrap_or_default());
    let edges = next().map(|text| ("fuzz.edge", text));
    let mesh = match parse(("fuzz.node", nodes), ("fuzz.ele", triangles), edges) {
        Ok(mesh) => mesh,
        Err(error) => return assert!(error.to_string().contains("fuzz.")),
    };
    assert!(mesh.coordinates.iter().flatten().all(|x| x.is_finite()));
    for block in &mesh.blocks {
        assert_eq!(block.len(), block.tags.len());
    }
    if let Ok(geometry) = Geometry::new(&mesh) {
        let params = SpaceParams {
            degree: 2.into(),
            chunk_nodes: 64,
            ..SpaceParams::default()
        };
        let _ = Space::new(&mesh, &geometry, params);
    }
});
