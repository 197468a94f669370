//! Nodes and faces on the boundary.
#![allow(clippy::expect_used)]

mod space_common;

use std::collections::HashSet;

use femto_fem::space::SpaceParams;
use space_common::layout::check_layout;
use space_common::{bent_box, space};

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
