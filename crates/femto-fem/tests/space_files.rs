//! Spaces on meshes that nobody here made: every relative orientation, curved cells, inner faces.

mod space_common;

use femto_fem::mesh::Mesh;
use femto_fem::space::{Space, SpaceError, SpaceParams};
use space_common::{position_error, space};

#[allow(clippy::unwrap_used)]
fn read(name: &str) -> Mesh {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/meshes/");
    Mesh::read(format!("{folder}{name}")).unwrap()
}

/// The number of vertices, edges and faces that the hexahedra have, counted in the plainest way.
fn count(mesh: &Mesh) -> [usize; 3] {
    let edges = [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 0],
        [4, 5],
        [5, 6],
        [6, 7],
        [7, 4],
        [0, 4],
        [1, 5],
        [2, 6],
        [3, 7],
    ];
    let faces = [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [0, 1, 5, 4],
        [1, 2, 6, 5],
        [2, 3, 7, 6],
        [3, 0, 4, 7],
    ];
    let mut sets = [const { std::collections::BTreeSet::new() }; 3];
    for block in mesh
        .blocks
        .iter()
        .filter(|b| b.cell_type.name().starts_with("hex"))
    {
        for cell in 0..block.len() {
            let nodes = block.cell(cell);
            let mut add = |dimension: usize, places: &[usize]| {
                let mut entity: Vec<u32> = places.iter().map(|&v| nodes[v]).collect();
                entity.sort_unstable();
                sets[dimension].insert(entity);
            };
            (0..8).for_each(|v| add(0, &[v]));
            edges.iter().for_each(|edge| add(1, edge));
            faces.iter().for_each(|face| add(2, face));
        }
    }
    sets.map(|set| set.len())
}

/// Checks counts and positions for several degrees; the last space.
fn check(name: &str, cells: usize, size: f64) -> Space {
    let mesh = read(name);
    let [vertices, edges, faces] = count(&mesh);
    let mut last = None;
    for (degree, chunk_nodes) in [(1, 300), (2, 16384), (3, 2000), (6, 16384)] {
        let params = SpaceParams {
            degree,
            chunk_nodes,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        let n = degree - 1;
        let nodes = vertices + edges * n + faces * n * n + cells * n * n * n;
        assert_eq!((space.elements(), space.nodes()), (cells, nodes));
        let error = position_error(&space, &geometry);
        // Cells that are affine to 1e-12 of their size count as affine.
        assert!(error < 1e-12 * size, "{name}, degree {degree}: {error}");
        last = Some(space);
    }
    last.expect("a degree")
}

#[test]
fn a_ball_of_unstructured_hexahedra() {
    check("dealii-sphere_r6.msh", 4625, 10.0);
}

#[test]
fn a_curved_cylinder() {
    let space = check("palace-cylinder-hex.msh", 80, 10.0);
    let tagged: usize = ["top", "bottom", "exterior"]
        .iter()
        .map(|tag| space.boundary_faces(tag).expect(tag).len())
        .sum();
    assert_eq!(tagged, 72);
}

#[test]
fn a_coaxial_cable() {
    check("palace-coaxial.msh", 256, 100.0);
}

#[test]
fn serendipity_cells() {
    check("petsc-gmsh-hex-20node.msh", 4, 10.0);
}

#[test]
fn a_cube_of_hexahedra() {
    let space = check("paranumal-cubeHex.msh", 216, 1.0);
    assert_eq!(space.nodes(), 37 * 37 * 37);
}

#[test]
fn prisms_beside_hexahedra_are_refused() {
    let mesh = read("petsc-hybrid_hexwedge.msh");
    let geometry = femto_fem::geometry::Geometry::new(&mesh).expect("a geometry of hexahedra");
    let refused = Space::new(&mesh, &geometry, SpaceParams::default());
    let refused = refused.expect_err("a space on prisms");
    assert!(
        matches!(
            refused,
            SpaceError::UnsupportedCells {
                name: "prism6",
                count: 18
            }
        ),
        "{refused}"
    );
}
