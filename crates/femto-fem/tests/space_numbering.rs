//! Which nodes are the same, how many there are, and in which order.
#![allow(clippy::expect_used)]

mod space_common;

use std::collections::HashSet;

use femto_fem::geometry::Geometry;
use femto_fem::mesh::{CellBlock, CellType, Mesh};
use femto_fem::space::{Chunk, Continuity, Space, SpaceError, SpaceParams};
use space_common::{Random, bent_box, hexahedra, position_error, space, two_cubes};

/// The 24 rotations of a hexahedron: for each new vertex in Gmsh's order, the old one.
fn rotations() -> Vec<[usize; 8]> {
    let turn = [1, 2, 3, 0, 5, 6, 7, 4]; // about ζ
    let tip = [4, 5, 1, 0, 7, 6, 2, 3]; // about ξ
    let mut found = vec![[0, 1, 2, 3, 4, 5, 6, 7]];
    let mut next = 0;
    while next < found.len() {
        for generator in [turn, tip] {
            let rotated = generator.map(|v: usize| found[next][v]);
            if !found.contains(&rotated) {
                found.push(rotated);
            }
        }
        next += 1;
    }
    found
}

#[test]
fn two_cubes_glued_in_every_orientation_share_one_face_of_nodes() {
    let mut random = Random::new();
    let rotations = rotations();
    assert_eq!(rotations.len(), 24);
    let (corners, cubes) = two_cubes();
    for first in &rotations {
        for second in &rotations {
            let cells = [first.map(|v| cubes[0][v]), second.map(|v| cubes[1][v])];
            let moved = corners
                .iter()
                .map(|x| x.map(|x| x + 0.1 * random.uniform()));
            let mesh = hexahedra(moved.collect(), &cells);
            for degree in 1..=5 {
                for chunk_nodes in [1, 10_000] {
                    let params = SpaceParams {
                        degree,
                        chunk_nodes,
                        ..SpaceParams::default()
                    };
                    let (space, geometry) = space(&mesh, params);
                    assert_eq!(space.nodes(), (2 * degree + 1) * (degree + 1).pow(2));
                    assert!(position_error(&space, &geometry) < 1e-14);
                    check_layout(&space);
                }
            }
        }
    }
}

#[test]
fn a_box_has_as_many_nodes_as_its_grid() {
    let cells = [3, 4, 2];
    let mesh = bent_box(cells, 1);
    for degree in 1..=8 {
        let chunk_nodes = 3 * degree * degree * degree;
        let params = SpaceParams {
            degree,
            chunk_nodes,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        let grid = cells.map(|n| n * degree + 1);
        assert_eq!(space.nodes(), grid.iter().product::<usize>());
        assert_eq!(space.free_nodes(), space.nodes());
        assert!(position_error(&space, &geometry) < 1e-14);
        assert_eq!(distinct(&space.node_positions(&geometry)), space.nodes());
        check_layout(&space);
    }
}

#[test]
fn nodes_of_curved_cells_agree() {
    let mesh = bent_box([3, 2, 2], 2);
    for degree in [1, 2, 3, 6] {
        let params = SpaceParams {
            degree,
            chunk_nodes: 100,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        assert!(position_error(&space, &geometry) < 1e-14);
    }
}

/// How many of the positions differ by more than rounding.
fn distinct(positions: &[[f64; 3]]) -> usize {
    let key = |x: &[f64; 3]| x.map(|x| (x * 1e9).round() as i64);
    positions.iter().map(key).collect::<HashSet<_>>().len()
}

/// Everything that the documentation of `Restriction` says about its arrays.
fn check_layout(space: &Space) {
    let r = space.restriction();
    assert_eq!(r.elements(), space.elements());
    assert_eq!(r.nodes_per_element(), space.nodes_per_element());

    let (mut element, mut private, mut interface) = (0, 0, 0);
    let mut touched = vec![0; space.nodes()];
    for chunk in &r.chunks {
        assert!(!chunk.elements.is_empty());
        assert_eq!(chunk.elements.start, element);
        assert_eq!(chunk.private.start, private);
        assert_eq!(chunk.interface.start, interface);
        (element, private) = (chunk.elements.end, chunk.private.end);
        check_interior(space, chunk);
        interface = chunk.interface.end;
        assert!(r.interface[chunk.interface.clone()].is_sorted_by(|a, b| a < b));

        let mut nodes: Vec<u32> = (chunk.elements.clone())
            .flat_map(|e| space.element_nodes(e))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let expected = chunk.private.clone().map(|node| node as u32);
        let expected = expected.chain(r.interface[chunk.interface.clone()].iter().copied());
        assert_eq!(nodes, expected.collect::<Vec<u32>>());
        for node in nodes {
            touched[node as usize] += 1;
        }
    }
    assert_eq!(element, space.elements());
    assert_eq!(private, r.first_interface);
    assert_eq!(interface, r.interface.len());

    for (node, &chunks) in touched.iter().enumerate() {
        if node < r.first_interface {
            assert_eq!(chunks, 1);
        } else {
            assert!(chunks > 1 || node >= r.free_nodes);
            let sources = r.sources(node - r.first_interface);
            assert_eq!(sources.len(), chunks);
            assert!(sources.is_sorted_by(|a, b| a < b));
            assert!(
                sources
                    .iter()
                    .all(|&s| r.interface[s as usize] as usize == node)
            );
        }
    }
}

/// The chunk's last private nodes are its elements' interiors in order; no shell node is there.
fn check_interior(space: &Space, chunk: &Chunk) {
    let r = space.restriction();
    assert_eq!(chunk.interior.end, chunk.private.end);
    assert!(chunk.private.start <= chunk.interior.start);
    let mut interior = chunk.interior.clone();
    for element in chunk.elements.clone() {
        let nodes = space.element_nodes(element);
        let of = |positions: &[u32]| -> Vec<usize> {
            let nodes = positions.iter().map(|&p| nodes[p as usize] as usize);
            nodes.collect()
        };
        let inside = of(&r.interior_positions);
        assert!(
            inside
                .iter()
                .copied()
                .eq(interior.by_ref().take(inside.len()))
        );
        let shell = of(&r.shell_positions);
        assert!(shell.iter().all(|node| !chunk.interior.contains(node)));
    }
    assert!(interior.is_empty());
}

#[test]
fn chunks_follow_the_curve_and_are_sorted_by_kind() {
    // Bend one half of the box only, so that all kinds of one geometry degree occur.
    let mut mesh = bent_box([6, 4, 4], 1);
    for (i, x) in mesh.coordinates.iter_mut().enumerate() {
        let bump = if i % 7 > 3 { 0.1 * (i % 5) as f64 } else { 0.0 };
        *x = [i % 7, i / 7 % 5, i / 35].map(|i| i as f64);
        x[2] += bump;
    }
    let params = SpaceParams {
        degree: 2,
        chunk_nodes: 80,
        ..SpaceParams::default()
    };
    let (space, geometry) = space(&mesh, params);
    let chunks = &space.restriction().chunks;
    assert_eq!(chunks.len(), 96usize.div_ceil(10));
    let mut kinds = HashSet::new();
    for chunk in chunks {
        assert!((9..=10).contains(&chunk.elements.len()));
        let cells = &space.cells()[chunk.elements.clone()];
        assert!(cells.is_sorted_by_key(|&cell| geometry.kind(cell as usize)));
        kinds.extend(cells.iter().map(|&cell| geometry.kind(cell as usize)));
    }
    assert_eq!(kinds.len(), 2);
    let mut cells = space.cells().to_vec();
    cells.sort_unstable();
    assert!(cells.iter().copied().eq(0..96));
}

#[test]
fn a_broken_space_shares_nothing() {
    let mesh = bent_box([3, 2, 2], 1);
    for degree in [1, 2, 4] {
        let params = SpaceParams {
            degree,
            continuity: Continuity::Broken,
            chunk_nodes: 60,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        assert_eq!(space.nodes(), 12 * (degree + 1).pow(3));
        assert_eq!(space.free_nodes(), space.nodes());
        assert!(position_error(&space, &geometry) < 1e-14);
        check_layout(&space);
        let nodes = (0..12).flat_map(|element| space.element_nodes(element));
        assert_eq!(nodes.collect::<HashSet<_>>().len(), space.nodes());
    }
}

#[test]
fn dirichlet_nodes_are_those_on_the_tagged_faces_and_come_last() {
    let mesh = bent_box([3, 4, 2], 1);
    for (degree, chunk_nodes) in [(1, 4), (2, 30), (3, 10_000), (5, 300)] {
        let params = SpaceParams {
            degree,
            chunk_nodes,
            dirichlet: vec!["xmin".into(), "4".into()],
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        let [nx, ny, nz] = [3, 4, 2].map(|n| n * degree + 1);
        assert_eq!(space.constrained_nodes().len(), (ny + nx - 1) * nz);
        check_layout(&space);

        let on_face = |faces: &str| -> HashSet<u32> {
            let faces = space.boundary_faces(faces).unwrap();
            let nodes = faces.iter().flat_map(|face| {
                let (axis, side) = (face.face / 2, face.face % 2);
                let fixed = usize::from(side) * degree;
                let all = space.element_nodes(face.element as usize);
                let stride = (degree + 1).pow(u32::from(axis));
                (all.into_iter().enumerate())
                    .filter(move |(p, _)| p / stride % (degree + 1) == fixed)
                    .map(|(_, node)| node)
            });
            nodes.collect()
        };
        let expected: HashSet<u32> = &on_face("xmin") | &on_face("ymax");
        let constrained = space.constrained_nodes().map(|node| node as u32);
        assert_eq!(constrained.collect::<HashSet<_>>(), expected);

        let positions = space.node_positions(&geometry);
        let constrained = space.constrained_positions(&geometry);
        assert_eq!(constrained.len(), space.constrained_nodes().len());
        for (x, y) in positions[space.free_nodes()..].iter().zip(constrained) {
            assert!((0..3).all(|a| (x[a] - y[a]).abs() < 1e-14));
        }
    }
}

#[test]
fn boundary_faces_carry_their_tag_side_and_cell() {
    let mesh = bent_box([3, 4, 2], 2);
    let (space, _) = space(&mesh, SpaceParams::default());
    let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    for (side, name) in sides.iter().enumerate() {
        let faces = space.boundary_faces(name).unwrap();
        assert_eq!(faces.len(), [8, 6, 12][side / 2]);
        assert_eq!(
            faces,
            space.boundary_faces(&format!("{}", side + 1)).unwrap()
        );
        assert!(faces.is_sorted_by_key(|face| face.element));
        for face in faces {
            assert_eq!(usize::from(face.face), side);
            assert_eq!(face.tag, side as i32 + 1);
            assert_eq!(face.cell, space.cells()[face.element as usize]);
            let i = face.cell as usize;
            let place = [i % 3, i / 3 % 4, i / 12][side / 2];
            assert_eq!(place, side % 2 * ([3, 4, 2][side / 2] - 1));
        }
    }
}

#[test]
fn an_inner_face_belongs_to_the_cell_with_the_lower_number_and_counts_once() {
    let mut mesh = bent_box([2, 1, 1], 1);
    let cell = mesh.blocks[0].cell(1).to_vec();
    for quad in [[0, 3, 7, 4], [3, 7, 4, 0], [7, 3, 0, 4]] {
        mesh.blocks[1].nodes.extend(quad.map(|v: usize| cell[v]));
        mesh.blocks[1].tags.push(6);
    }
    let (space, _) = space(&mesh, SpaceParams::default());
    let faces = space.boundary_faces("zmax").unwrap();
    assert_eq!(faces.len(), 3);
    let inner: Vec<_> = faces.iter().filter(|face| face.face == 1).collect();
    assert_eq!((inner.len(), inner[0].cell), (1, 0));
}

fn error(mesh: &Mesh, params: SpaceParams) -> SpaceError {
    let geometry = Geometry::new(mesh).expect("a geometry");
    Space::new(mesh, &geometry, params).expect_err("a space of a bad mesh or bad parameters")
}

#[test]
fn bad_parameters_and_tags_are_errors() {
    let mut mesh = bent_box([2, 1, 1], 1);
    let with = |degree, components| SpaceParams {
        degree,
        components,
        ..SpaceParams::default()
    };
    assert!(matches!(
        error(&mesh, with(0, 1)),
        SpaceError::Degree { found: 0, max: 15 }
    ));
    assert!(matches!(
        error(&mesh, with(16, 1)),
        SpaceError::Degree { found: 16, .. }
    ));
    assert!(matches!(error(&mesh, with(1, 0)), SpaceError::Components));

    let tagged = |tag: &str, continuity| SpaceParams {
        dirichlet: vec![tag.into()],
        continuity,
        ..SpaceParams::default()
    };
    let broken = error(&mesh, tagged("xmin", Continuity::Broken));
    assert!(matches!(broken, SpaceError::BrokenDirichlet { tag } if tag == "xmin"));
    let missing = error(&mesh, tagged("xmid", Continuity::Continuous)).to_string();
    assert!(
        missing.contains("xmid") && missing.contains("xmax"),
        "{missing}"
    );

    // A quadrilateral across a cell is no face, in a group that is asked for.
    let cell = mesh.blocks[0].cell(0).to_vec();
    mesh.blocks[1].nodes.extend([0, 1, 6, 7].map(|v| cell[v]));
    mesh.blocks[1].tags.push(3);
    let stranger = error(&mesh, tagged("ymin", Continuity::Continuous));
    let corners = [0, 1, 6, 7].map(|v| cell[v]);
    assert!(
        matches!(&stranger, SpaceError::NoSuchFace { tag, nodes, count: 1 }
            if tag == "ymin" && *nodes == corners),
        "{stranger}"
    );
    let (space, _) = space(&mesh, tagged("ymax", Continuity::Continuous));
    assert!(space.boundary_faces("ymin").is_err());
    assert!(space.boundary_faces("ymax").is_ok());
}

#[test]
fn hexahedra_that_do_not_fit_together_are_errors() {
    let (mut corners, mut cubes) = two_cubes();
    let params = SpaceParams::default;

    // A third cube on the face between the two.
    corners.extend([
        [1.5, 0.0, 0.0],
        [1.5, 1.0, 0.0],
        [1.5, 0.0, 1.0],
        [1.5, 1.0, 1.0],
    ]);
    let third = cubes[1].map(|v| if v >= 8 { v + 4 } else { v });
    let mesh = hexahedra(corners.clone(), &[cubes[0], cubes[1], third]);
    match error(&mesh, params()) {
        SpaceError::CrowdedFace {
            mut cells,
            mut nodes,
        } => {
            cells.sort_unstable();
            nodes.sort_unstable();
            assert_eq!((cells, nodes), ([0, 1, 2], [4, 5, 6, 7]));
        }
        other => panic!("{other}"),
    }

    // Exchange two neighbouring vertices of the common face in one of the cubes.
    let one = cubes[1].iter().position(|&v| v == 4).unwrap();
    let two = cubes[1].iter().position(|&v| v == 5).unwrap();
    cubes[1].swap(one, two);
    match error(&hexahedra(corners.clone(), &cubes), params()) {
        SpaceError::TwistedFace { mut cells, .. } => {
            cells.sort_unstable();
            assert_eq!(cells, [0, 1]);
        }
        other => panic!("{other}"),
    }

    // A collapsed edge.
    cubes[1][one] = 5;
    cubes[1][two] = 5;
    let collapsed = error(&hexahedra(corners, &cubes), params());
    assert!(
        matches!(collapsed, SpaceError::RepeatedVertex { cell: 1, node: 5 }),
        "{collapsed}"
    );
}

#[test]
fn other_solid_cells_are_an_error() {
    let mut mesh = bent_box([1, 1, 1], 1);
    mesh.blocks.push(CellBlock {
        cell_type: CellType::from_gmsh(4).unwrap(),
        nodes: vec![0, 1, 2, 4],
        tags: vec![0],
    });
    match error(&mesh, SpaceParams::default()) {
        SpaceError::UnsupportedCells { name, count } => assert_eq!((name, count), ("tet4", 1)),
        other => panic!("{other}"),
    }
}
