//! Spaces on several shapes: nodes shared by cells of different shapes are merged.
#![allow(clippy::unwrap_used)]

mod cut_common;
mod space_common;

use cut_common::cut_quadrilaterals;
use femto_element::basis::nodes;
use femto_element::{Cell, CellType};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::boxes::AnyBox;
use femto_fem::mesh::{CellBlock, Mesh};
use femto_fem::space::{Block, Constraints, SpaceError, SpaceParams};
use space_common::layout::check_blocks;
use space_common::{Random, bent_box};

/// A bent square with some cells cut into triangles.
fn mixed(random: &mut Random, geometry_degree: usize) -> Mesh {
    let rectangle = AnyBox {
        cells: vec![6, 5],
        lower: vec![0.0, -1.0],
        upper: vec![2.0, 1.0],
        geometry_degree,
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    let bend = |[x, y, z]: [f64; 3]| [x + 0.1 * y * y, y + 0.05 * (3.0 * x).sin(), z];
    let cut: Vec<bool> = (0..30)
        .map(|cell| cell == 7 || random.below(2) == 0)
        .collect();
    let is_cut = |cell: usize| cell != 20 && cut[cell];
    cut_quadrilaterals(&rectangle.build(bend).unwrap(), is_cut)
}

fn blocks(mesh: &Mesh, params: SpaceParams) -> Result<Vec<Block>, SpaceError> {
    Block::all(mesh, Geometry::of_shapes(mesh).unwrap(), params)
}

#[test]
fn shared_nodes_are_one() {
    let mut random = Random::new();
    for geometry_degree in [1, 2] {
        let mesh = mixed(&mut random, geometry_degree);
        for (degree, chunk_nodes) in [(1, 10), (1, 1000), (2, 20), (3, 1000), (3, 30)] {
            let params = SpaceParams {
                degree: degree.into(),
                chunk_nodes,
                ..SpaceParams::default()
            };
            let blocks = blocks(&mesh, params).unwrap();
            let cells: Vec<Cell> = blocks.iter().map(|block| block.space.cell()).collect();
            assert_eq!(cells, [Cell::Quadrilateral, Cell::Triangle]);
            check_blocks(&blocks);
            // Euler: V - E + F = 1.
            let [quadrilaterals, triangles] =
                [0, 1].map(|block: usize| blocks[block].space.elements());
            let (vertices, faces) = (7 * 6, quadrilaterals + triangles);
            assert_eq!(quadrilaterals + triangles / 2, 30);
            let edges = vertices + faces - 1;
            let inside = (degree - 1).pow(2) * quadrilaterals
                + (degree - 1) * (degree.max(2) - 2) / 2 * triangles;
            let nodes = vertices + edges * (degree - 1) + inside;
            assert_eq!(blocks[0].space.nodes(), nodes);
            assert_eq!(blocks[1].space.dofs(), nodes);

            // All elements agree about the nodes' positions, and no two nodes coincide.
            let positions = Block::node_positions(&blocks);
            for block in &blocks {
                let reference = nodes::positions(block.space.cell(), degree);
                for (element, &cell) in block.space.cells().iter().enumerate() {
                    let own = block.space.element_nodes(element);
                    for (&node, &xi) in own.iter().zip(&reference) {
                        let (x, all) = (
                            block.geometry.map(cell as usize, xi),
                            positions[node as usize],
                        );
                        assert!((0..3).all(|a| (x[a] - all[a]).abs() < 1e-14));
                    }
                }
            }
            let mut places: Vec<[i64; 2]> = positions
                .iter()
                .map(|&[x, y, _]| [x, y].map(|x| (x * 1e9).round() as i64))
                .collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), nodes);
        }
    }
}

#[test]
fn vectors_are_gathered_and_scattered_by_all_blocks() {
    let mut random = Random::new();
    let mesh = mixed(&mut random, 1);
    let params = SpaceParams {
        degree: 3.into(),
        components: 2,
        chunk_nodes: 40,
        ..SpaceParams::default()
    };
    let blocks = blocks(&mesh, params).unwrap();
    let u = random.vector(blocks[0].space.dofs());
    let mut sums = vec![0.0; u.len()];
    let mut count = vec![0; u.len() / 2];
    for block in &blocks {
        let mut e = vec![f64::NAN; block.space.element_dofs()];
        block.space.gather(&u, &mut e);
        block.space.scatter_add(&e, &mut sums);
        for element in 0..block.space.elements() {
            for node in block.space.element_nodes(element) {
                count[node as usize] += 1;
            }
        }
    }
    for (entry, (sum, u)) in sums.iter().zip(&u).enumerate() {
        let wanted = u * f64::from(count[entry / 2]);
        assert!((sum - wanted).abs() < 1e-14);
    }
    assert!(count.iter().all(|&count| count > 0));
}

#[test]
fn groups_have_facets_of_both_shapes() {
    let mut random = Random::new();
    let mesh = mixed(&mut random, 2);
    let params = SpaceParams {
        degree: 2.into(),
        ..SpaceParams::default()
    };
    let blocks = blocks(&mesh, params).unwrap();
    let (mut facets, mut entries) = (0, Vec::new());
    for block in &blocks {
        facets += block.space.boundary().tagged("ymin").unwrap().len();
        for trace in block.space.traces(&block.geometry, "ymin").unwrap() {
            let all = Block::node_positions(&blocks);
            let own = trace.block.space.node_positions(&trace.block.geometry);
            for (x, &node) in own.iter().zip(&trace.entries) {
                let apart = (0..3).map(|a| (x[a] - all[node as usize][a]).abs());
                assert!(apart.fold(0.0, f64::max) < 1e-14);
            }
            entries.extend(trace.entries);
        }
    }
    assert_eq!(facets, 6);
    entries.sort_unstable();
    entries.dedup();
    let held = Constraints::of_blocks(&blocks, &[("ymin", [0])]).unwrap();
    assert_eq!(held.entries(), entries);
    assert_eq!(held.len(), 13);
}

#[test]
fn mismatched_parts_are_errors() {
    // A tetrahedron on a face of a cube: three of its four vertices, and the fifth beyond.
    let mut mesh = bent_box([1, 1, 1], 1);
    let beyond = mesh.coordinates.len() as u32;
    mesh.coordinates.to_mut().push([3.0, 0.5, 0.5]);
    mesh.blocks.push(CellBlock {
        cell_type: CellType::TET4,
        nodes: vec![1, 3, 5, beyond].into(),
        tags: vec![0],
    });
    let error = blocks(&mesh, SpaceParams::default()).unwrap_err();
    match &error {
        SpaceError::DisagreeingFaces { cells, second, .. } => {
            assert_eq!(*cells, [0, 1]);
            assert_eq!(second.len(), 3);
        }
        other => panic!("{other}"),
    }

    // They may share an edge.
    let last = mesh.blocks.last_mut().unwrap();
    last.nodes = vec![1, 3, beyond, beyond + 1].into();
    mesh.coordinates.to_mut().push([3.0, 1.5, 0.5]);
    let blocks = blocks(&mesh, SpaceParams::default()).unwrap();
    assert_eq!(blocks[0].space.nodes(), 10);
    check_blocks(&blocks);

    // Three cells at an edge, by mesh cell number.
    let mut random = Random::new();
    let mut flat = mixed(&mut random, 1);
    let shapes = Geometry::of_shapes(&flat).unwrap();
    let all = shapes.iter().map(Geometry::len).sum::<usize>() as u32;
    let edge = flat.blocks[0].cell(0)[..2].to_vec();
    flat.coordinates.to_mut().push([9.0, 9.0, 0.0]);
    let triangles = flat
        .blocks
        .iter_mut()
        .find(|it| it.cell_type == CellType::TRI3);
    let triangles = triangles.unwrap();
    for _ in 0..2 {
        triangles
            .nodes
            .to_mut()
            .extend([edge[0], edge[1], flat.coordinates.len() as u32 - 1]);
        triangles.tags.push(0);
    }
    match Block::all(
        &flat,
        Geometry::of_shapes(&flat).unwrap(),
        SpaceParams::default(),
    ) {
        Err(SpaceError::CrowdedFacet { mut cells, .. }) => {
            cells.sort_unstable();
            assert!(
                cells.contains(&all) || cells.contains(&(all + 1)),
                "{cells:?}"
            );
        }
        other => panic!("{other:?}"),
    }
}
