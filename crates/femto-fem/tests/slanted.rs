//! Components along normals: planes, edges and corners of a box, and curved walls.
#![allow(clippy::unwrap_used)]

use femto_fem::geometry::Geometry;
use femto_fem::mesh::Mesh;
use femto_fem::mesh::boxes::BoxMesh;
use femto_fem::space::{Block, Constraints, NodeNormal, SpaceError, SpaceParams};

const SIDES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];

fn blocks(mesh: &Mesh, degree: usize, components: usize) -> Vec<Block> {
    let params = SpaceParams {
        degree: degree.into(),
        components,
        ..SpaceParams::default()
    };
    Block::all(mesh, Geometry::of_shapes(mesh).unwrap(), params).unwrap()
}

fn turned([x, y, z]: [f64; 3]) -> [f64; 3] {
    let (s, c) = 0.7_f64.sin_cos();
    let (x, y) = (c * x - s * y, s * x + c * y);
    let (s, c) = 0.4_f64.sin_cos();
    [x, c * y - s * z, s * y + c * z]
}

/// The values of u·n at each node are those that were given, and nothing is along what is free.
fn given_values_hold(constraints: &Constraints) {
    for of_node in constraints.normals().chunk_by(|a, b| a.node == b.node) {
        let values: Vec<f64> = (0..of_node.len()).map(|i| 0.3 + i as f64).collect();
        let u = NodeNormal::vector(of_node, &values, [None; 3]);
        for (normal, value) in of_node.iter().zip(values).take(3) {
            let found: f64 = normal.normal.iter().zip(u).map(|(n, u)| n * u).sum();
            assert!((found - value).abs() < 1e-12, "{of_node:?}");
        }
        let slanted = constraints.slanted();
        let own = slanted.iter().find(|it| it.0 == of_node[0].node as usize);
        if let Some((_, projector)) = own {
            for row in projector.chunks_exact(3) {
                let free: f64 = row.iter().zip(u).map(|(p, u)| p * u).sum();
                assert!(free.abs() < 1e-12);
            }
        }
    }
}

#[test]
fn an_upright_box_has_components() {
    let mesh = BoxMesh::unit_cube(3).build(|x| x).unwrap();
    for degree in [1, 2, 3] {
        let blocks = blocks(&mesh, degree, 3);
        let found = Constraints::default()
            .with_normals(&blocks, &SIDES)
            .unwrap();
        let groups: Vec<_> = (0..6).map(|side| (SIDES[side], [side / 2])).collect();
        let wanted = Constraints::of_blocks(&blocks, &groups).unwrap();
        assert_eq!(found.entries(), wanted.entries());
        assert!(found.slanted().nodes.is_empty());
        given_values_hold(&found);
    }
}

#[test]
fn a_turned_box_has_as_many_directions() {
    let mesh = BoxMesh::unit_cube(3).build(turned).unwrap();
    for degree in [1, 2, 3] {
        let blocks = blocks(&mesh, degree, 3);
        // A component at one side, and normals everywhere.
        let first = Constraints::of_blocks(&blocks, &[("xmin", [1])]).unwrap();
        for (first, extra) in [(Constraints::default(), false), (first, true)] {
            let held = first.entries().to_vec();
            let found = first.with_normals(&blocks, &SIDES).unwrap();
            let n = 3 * degree - 1;
            let inside_sides = 6 * n * n;
            let along_edges = 12 * n;
            let directions = inside_sides + 2 * along_edges + 3 * 8;
            // The component is new inside of its side and along its edges.
            let more = if extra { n * n + 4 * n } else { 0 };
            assert_eq!(found.len(), directions + more, "degree {degree}");
            for (node, projector) in found.slanted().iter() {
                let at = |i: usize, j: usize| projector[3 * i + j];
                for (i, j) in (0..9).map(|it| (it / 3, it % 3)) {
                    assert!((at(i, j) - at(j, i)).abs() < 1e-15);
                    let square: f64 = (0..3).map(|k| at(i, k) * at(k, j)).sum();
                    assert!((square - at(i, j)).abs() < 1e-14);
                    let is_held = |c: usize| held.contains(&((3 * node + c) as u32));
                    assert!(!(is_held(i) || is_held(j)) || at(i, j) == 0.0);
                }
            }
            if !extra {
                given_values_hold(&found);
            }
        }
    }
}

/// On a cylinder of curved cells normals of neighbours are averaged; its ends are planes of their own.
#[test]
fn a_cylinder_has_one_normal_per_node() {
    let mesh = BoxMesh {
        geometry_degree: 2,
        ..BoxMesh::unit_cube(4)
    };
    let mesh = mesh.build(|[x, y, z]| {
        let (sin, cos) = (1.2 * y).sin_cos();
        [(1.0 + x) * cos, (1.0 + x) * sin, z]
    });
    let blocks = blocks(&mesh.unwrap(), 3, 3);
    let walls = Constraints::default()
        .with_normals(&blocks, &["xmin", "xmax"])
        .unwrap();
    let all = walls.normals();
    assert!(all.windows(2).all(|pair| pair[0].node < pair[1].node));
    for NodeNormal {
        position, normal, ..
    } in all
    {
        let r = position[0].hypot(position[1]);
        let side = if r < 1.5 { -1.0 } else { 1.0 };
        let radial = [side * position[0] / r, side * position[1] / r, 0.0];
        let off = (0..3)
            .map(|c| (normal[c] - radial[c]).abs())
            .fold(0.0, f64::max);
        assert!(off < 0.01, "{normal:?} {radial:?}");
    }
    let both = Constraints::default()
        .with_normals(&blocks, &["xmax", "zmin"])
        .unwrap();
    let edge: Vec<usize> = (both.normals().chunk_by(|a, b| a.node == b.node))
        .filter(|of_node| of_node[0].position[2] == 0.0 && of_node[0].group == 0)
        .map(<[_]>::len)
        .collect();
    assert_eq!(edge, [2; 13]);
}

/// Sides that meet at 30° are two planes, though their normals are nearly opposite; sides at 150° are one.
#[test]
fn a_tip_is_held() {
    let (sin, cos) = (std::f64::consts::PI / 6.0).sin_cos();
    let mesh = BoxMesh::unit_cube(2).build(|[x, y, z]| [x + cos * y, sin * y, z]);
    let blocks = blocks(&mesh.unwrap(), 1, 3);
    let groups = ["xmin", "xmax", "ymin"];
    let found = Constraints::default()
        .with_normals(&blocks, &groups)
        .unwrap();
    let at = |position: [f64; 3]| {
        let is_there = |it: &&NodeNormal| it.position == position;
        let there: Vec<_> = found.normals().iter().filter(is_there).collect();
        there.chunk_by(|a, b| a.normal == b.normal).count()
    };
    assert_eq!([at([0.0; 3]), at([1.0, 0.0, 0.0])], [2, 1]);
}

#[test]
fn what_has_no_normal_is_refused() {
    let mesh = BoxMesh::unit_cube(2).build(|x| x).unwrap();
    let error = Constraints::default().with_normals(&blocks(&mesh, 2, 2), &["xmin"]);
    let error = error.unwrap_err();
    assert!(
        matches!(&error, SpaceError::NoNormal { tag, .. } if tag == "xmin"),
        "{error}"
    );
    let error = Constraints::default().with_normals(&blocks(&mesh, 2, 3), &["top"]);
    assert!(matches!(error.unwrap_err(), SpaceError::Mesh(_)));
}
