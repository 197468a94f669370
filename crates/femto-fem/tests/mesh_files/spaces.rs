//! Spaces on hexahedra and prisms from files: every relative orientation, curved cells, inner faces.

use std::collections::BTreeSet;
use std::path::Path;

use femto_element::{CellType, MapKind};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::Mesh;
use femto_fem::space::{Block, Space, SpaceError, SpaceParams};

use crate::paths::{own, shared};
use crate::read;
use crate::space_common::{position_error, space};

/// The number of vertices, edges and faces of the hexahedra, counted naively.
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

/// Checks counts and positions for several degrees; returns the last space.
fn check(path: &Path, cells: usize, size: f64) -> Space {
    let mesh = read(path);
    let [vertices, edges, faces] = count(&mesh);
    let mut last = None;
    for (degree, chunk_nodes) in [(1, 300), (2, 16384), (3, 2000), (6, 16384)] {
        let params = SpaceParams {
            degree: degree.into(),
            chunk_nodes,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        let n = degree - 1;
        let nodes = vertices + edges * n + faces * n * n + cells * n * n * n;
        assert_eq!((space.elements(), space.nodes()), (cells, nodes));
        let error = position_error(&space, &geometry);
        // Cells that are affine up to 1e-12 of their size count as affine.
        assert!(
            error < 1e-12 * size,
            "{}, degree {degree}: {error}",
            path.display()
        );
        last = Some(space);
    }
    last.expect("a degree")
}

/// Neighbours in every relative orientation.
#[test]
fn unstructured_hexahedra() {
    check(&own("cube-hex8.msh"), 96, 1.0);
    check(&own("sheared-hex27.msh"), 96, 1.0);
    if let Some(ball) = shared("dealii-sphere_r6.msh") {
        check(&ball, 4625, 10.0);
    }
}

#[test]
fn curved_cylinders() {
    let cylinder = |path: &Path, cells: usize, outside: usize| {
        let space = check(path, cells, 10.0);
        let tagged = |tag| space.boundary().tagged(tag).unwrap().len();
        assert_eq!(
            ["top", "bottom", "exterior"]
                .map(tagged)
                .iter()
                .sum::<usize>(),
            outside
        );
    };
    cylinder(&own("cylinder-hex27.msh"), 24, 40);
    if let Some(path) = shared("palace-cylinder-hex.msh") {
        cylinder(&path, 80, 72);
    }
}

#[test]
fn a_coaxial_cable() {
    if let Some(path) = shared("palace-coaxial.msh") {
        check(&path, 256, 100.0);
    }
}

#[test]
fn serendipity_cells() {
    check(&own("ring-hex20.msh"), 4, 10.0);
    if let Some(path) = shared("petsc-gmsh-hex-20node.msh") {
        check(&path, 4, 10.0);
    }
}

#[test]
fn a_cube_of_hexahedra() {
    if let Some(path) = shared("paranumal-cubeHex.msh") {
        let space = check(&path, 216, 1.0);
        assert_eq!(space.nodes(), 37 * 37 * 37);
    }
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|d| (a[d] - b[d]).abs()).fold(0.0, f64::max)
}

/// How far apart the places of a node are, in its blocks and among those of all.
fn most_apart(blocks: &[Block], all: &[[f64; 3]]) -> f64 {
    let of_block = |Block { space, geometry }: &Block| {
        let own = space.node_positions(geometry);
        let nodes = (0..space.nodes()).filter(|&node| space.restriction().touches(node));
        nodes
            .map(|node| apart(own[node], all[node]))
            .fold(0.0, f64::max)
    };
    blocks.iter().map(of_block).fold(0.0, f64::max)
}

/// Shared nodes have one place, wherever shapes meet; alone a shape is refused.
#[test]
fn prisms_beside_hexahedra() {
    let check = |path: &Path, prisms: usize, size: f64| {
        let mesh = read(path);
        let geometries = Geometry::of_shapes(&mesh).unwrap();
        let refused = Space::new(&mesh, &geometries[0], SpaceParams::default()).unwrap_err();
        let unsupported = matches!(
            refused,
            SpaceError::UnsupportedCells { name: "prism6", count } if count == prisms
        );
        assert!(unsupported, "{refused}");
        for degree in [1, 2, 4] {
            let params = SpaceParams {
                degree: degree.into(),
                ..SpaceParams::default()
            };
            let blocks = Block::all(&mesh, geometries.clone(), params).unwrap();
            let all = Block::node_positions(&blocks);
            let error = most_apart(&blocks, &all);
            assert!(error < 1e-12 * size, "degree {degree}: {error:e}");
            // Distinct nodes lie apart.
            let key = |x: &[f64; 3]| x.map(|x| (x / size * 1e7).round() as i64);
            let distinct: BTreeSet<_> = all.iter().map(key).collect();
            assert_eq!(distinct.len(), all.len(), "degree {degree}");
        }
    };
    check(&own("hybrid.msh"), 28, 2.0);
    if let Some(path) = shared("petsc-hybrid_hexwedge.msh") {
        check(&path, 18, 6000.0);
    }
}

#[test]
fn prisms_of_a_cylinder() {
    let check = |path: &Path, columns: [usize; 2], extruded: usize| {
        let mesh = read(path);
        let found = mesh.columns().expect("columns");
        assert_eq!([found.count, found.layers], columns);
        // Those beside the wall are curved.
        let geometry = Geometry::new(&mesh).unwrap();
        let kinds = geometry.kinds().iter();
        let of_kind = kinds.filter(|&&kind| kind == MapKind::Extruded);
        assert_eq!(of_kind.count(), extruded);
        for degree in 1..=4 {
            let params = SpaceParams {
                degree: degree.into(),
                chunk_nodes: 200,
                ..SpaceParams::default()
            };
            let (space, geometry) = space(&mesh, params);
            // Cells that are affine up to 1e-10 of their size count as affine.
            let error = position_error(&space, &geometry);
            assert!(error < 1e-10 * 10.0, "{error}");
            let volume: usize = mesh
                .blocks
                .iter()
                .filter(|it| it.cell_type.dimension() == 3)
                .map(|it| it.len())
                .sum();
            assert_eq!(space.elements(), volume);
            for side in ["top", "exterior"] {
                assert_eq!(space.traces(&geometry, side).unwrap().len(), 1);
            }
        }
    };
    check(&own("cylinder-prism18.msh"), [14, 2], 12);
    if let Some(path) = shared("palace-cylinder-prism.msh") {
        check(&path, [24, 4], 48);
    }
}

/// Cells of second order, with and without nodes in their faces, that are moved by a map of second order.
#[test]
fn all_solids_of_second_order() {
    let moved = |[x, y, z]: [f64; 3]| [x + y * y / 8.0, y + z * z / 16.0, z];
    let back = |[x, y, z]: [f64; 3]| {
        let y = y - z * z / 16.0;
        [x - y * y / 8.0, y, z]
    };
    for name in ["solids-20.msh", "solids-27.msh"] {
        let mesh = read(&own(name));
        let mut straight = mesh.clone();
        let places = straight.coordinates.to_mut();
        places.iter_mut().for_each(|place| *place = back(*place));
        for block in &mut straight.blocks {
            let cell = block.cell_type.cell();
            let vertices = block.cells().flat_map(|it| it[..cell.vertices()].to_vec());
            block.nodes = vertices.collect();
            block.cell_type = CellType::complete(cell, 1).unwrap();
        }
        let geometries = Geometry::of_shapes(&mesh).unwrap();
        assert_eq!(geometries.len(), 4);
        let straight = Geometry::of_shapes(&straight).unwrap();
        for (curved, straight) in geometries.iter().zip(&straight) {
            let (cell, centre) = (curved.cell(), curved.cell().centre());
            for (vertex, share) in
                (0..cell.vertices()).flat_map(|vertex| [0.9, 0.3].map(|share| (vertex, share)))
            {
                let corner = cell.vertex(vertex);
                let xi = [0, 1, 2].map(|d| centre[d] + share * (corner[d] - centre[d]));
                let error = apart(curved.map(0, xi), moved(straight.map(0, xi)));
                assert!(error < 1e-14, "{name} {cell:?} {xi:?}: {error:e}");
            }
        }
        for degree in 1..=2 {
            let params = SpaceParams {
                degree: degree.into(),
                ..SpaceParams::default()
            };
            let blocks = Block::all(&mesh, geometries.clone(), params).unwrap();
            let error = most_apart(&blocks, &Block::node_positions(&blocks));
            assert!(error < 1e-13, "{name} degree {degree}: {error:e}");
        }
    }
}
