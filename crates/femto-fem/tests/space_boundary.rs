//! Nodes and facets on the boundary.
#![allow(clippy::expect_used)]

mod space_common;

use std::collections::HashSet;

use femto_fem::space::{Constraints, Layout, SpaceParams};
use space_common::{bent_box, space};

#[test]
fn boundary_nodes_are_those_on_the_tagged_facets() {
    let mesh = bent_box([3, 4, 2], 1);
    for (degree, chunk_nodes) in [(1, 4), (2, 30), (3, 10_000), (5, 300)] {
        let params = SpaceParams {
            degree: degree.into(),
            chunk_nodes,
            ..SpaceParams::default()
        };
        let (space, geometry) = space(&mesh, params);
        let [nx, ny, nz] = [3, 4, 2].map(|n| n * degree + 1);
        let on_group = |tag: &str| -> HashSet<u32> {
            let facets = space.boundary().tagged(tag).unwrap();
            let nodes = facets.iter().flat_map(|facet| {
                let (axis, side) = (facet.number / 2, facet.number % 2);
                let fixed = usize::from(side) * degree;
                let all = space.element_nodes(facet.element as usize);
                let stride = (degree + 1).pow(u32::from(axis));
                (all.into_iter().enumerate())
                    .filter(move |(p, _)| p / stride % (degree + 1) == fixed)
                    .map(|(_, node)| node)
            });
            nodes.collect()
        };
        let positions = space.node_positions(&geometry);
        for (tag, count) in [("xmin", ny * nz), ("4", nx * nz)] {
            let nodes = space.boundary_nodes(tag).unwrap();
            assert_eq!(nodes.len(), count);
            assert!(nodes.is_sorted_by(|a, b| a.node < b.node));
            let found = nodes.iter().map(|node| node.node);
            assert_eq!(found.collect::<HashSet<_>>(), on_group(tag));
            let at = space.positions_of(&nodes, &geometry);
            for (node, x) in nodes.iter().zip(at) {
                let y = positions[node.node as usize];
                assert!((0..3).all(|a| (x[a] - y[a]).abs() < 1e-14));
            }
        }
        let constraints = Constraints::of_all_components(&space, &["xmin", "4"]).unwrap();
        let expected: HashSet<u32> = &on_group("xmin") | &on_group("ymax");
        assert_eq!(constraints.len(), (ny + nx - 1) * nz);
        assert!(constraints.entries().is_sorted_by(|a, b| a < b));
        let found = constraints.entries().iter().copied();
        assert_eq!(found.collect::<HashSet<_>>(), expected);
    }
}

#[test]
fn single_components_are_constrained_in_both_layouts() {
    let mesh = bent_box([3, 2, 2], 1);
    for layout in [Layout::Interleaved, Layout::Blocked] {
        let params = SpaceParams {
            degree: 3.into(),
            components: 3,
            layout,
            chunk_nodes: 60,
        };
        let (space, _) = space(&mesh, params);
        let groups: [(&str, &[usize]); 4] = [
            ("xmin", &[0]),
            ("ymin", &[1]),
            ("zmin", &[2, 0]),
            ("xmin", &[0]),
        ];
        let constraints = Constraints::new(&space, &groups).unwrap();
        let mut expected = HashSet::new();
        for (tag, components) in groups {
            for node in space.boundary_nodes(tag).unwrap() {
                let node = node.node as usize;
                expected.extend(components.iter().map(|&c| match layout {
                    Layout::Interleaved => node * 3 + c,
                    Layout::Blocked => c * space.nodes() + node,
                }));
            }
        }
        // A node on xmin and ymin has two constrained components, one on zmin as well all three.
        let [nx, ny, nz] = [10, 7, 7];
        assert_eq!(expected.len(), ny * nz + nx * nz + 2 * nx * ny - ny);
        assert!(constraints.entries().is_sorted_by(|a, b| a < b));
        let found = constraints.entries().iter().map(|&entry| entry as usize);
        assert_eq!(found.collect::<HashSet<_>>(), expected);
    }
}

#[test]
fn boundary_facets_carry_their_tag_side_and_cell() {
    let mesh = bent_box([3, 4, 2], 2);
    let (space, _) = space(&mesh, SpaceParams::default());
    let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    for (side, name) in sides.iter().enumerate() {
        let facets = space.boundary().tagged(name).unwrap();
        assert_eq!(facets.len(), [8, 6, 12][side / 2]);
        assert_eq!(
            facets,
            space.boundary().tagged(&format!("{}", side + 1)).unwrap()
        );
        assert!(facets.is_sorted_by_key(|facet| facet.element));
        for facet in facets {
            assert_eq!(usize::from(facet.number), side);
            assert_eq!(facet.tag, side as i32 + 1);
            assert_eq!(facet.cell, space.cells()[facet.element as usize]);
            let i = facet.cell as usize;
            let place = [i % 3, i / 3 % 4, i / 12][side / 2];
            assert_eq!(place, side % 2 * ([3, 4, 2][side / 2] - 1));
        }
    }
}

#[test]
fn an_inner_facet_belongs_to_the_cell_with_the_lower_number_and_counts_once() {
    let mut mesh = bent_box([2, 1, 1], 1);
    let cell = mesh.blocks[0].cell(1).to_vec();
    for quad in [[0, 3, 7, 4], [3, 7, 4, 0], [7, 3, 0, 4]] {
        mesh.blocks[1]
            .nodes
            .to_mut()
            .extend(quad.map(|v: usize| cell[v]));
        mesh.blocks[1].tags.push(6);
    }
    let (space, _) = space(&mesh, SpaceParams::default());
    let facets = space.boundary().tagged("zmax").unwrap();
    assert_eq!(facets.len(), 3);
    let inner: Vec<_> = facets.iter().filter(|facet| facet.number == 1).collect();
    assert_eq!((inner.len(), inner[0].cell), (1, 0));
}
