//! Merging, number and order of nodes.

mod space_common;

use std::collections::HashSet;

use femto_fem::space::SpaceParams;
use space_common::layout::check_layout;
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
                        degree: degree.into(),
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
            degree: degree.into(),
            chunk_nodes,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        let grid = cells.map(|n| n * degree + 1);
        assert_eq!(space.nodes(), grid.iter().product::<usize>());
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
            degree: degree.into(),
            chunk_nodes: 100,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        assert!(position_error(&space, &geometry) < 1e-14);
    }
}

/// Number of positions that differ by more than rounding.
fn distinct(positions: &[[f64; 3]]) -> usize {
    let key = |x: &[f64; 3]| x.map(|x| (x * 1e9).round() as i64);
    positions.iter().map(key).collect::<HashSet<_>>().len()
}

#[test]
fn chunks_follow_the_curve_and_are_sorted_by_kind() {
    // Bend one half of the box only, so that all kinds of one geometry degree occur.
    let mut mesh = bent_box([6, 4, 4], 1);
    for (i, x) in mesh.coordinates.to_mut().iter_mut().enumerate() {
        let bump = if i % 7 > 3 { 0.1 * (i % 5) as f64 } else { 0.0 };
        *x = [i % 7, i / 7 % 5, i / 35].map(|i| i as f64);
        x[2] += bump;
    }
    let params = SpaceParams {
        degree: 2.into(),
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
