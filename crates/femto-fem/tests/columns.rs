//! Spaces on columns, which are numbered from the plane cells below them, beside the same cells as a list.
#![allow(clippy::unwrap_used)]

mod space_common;

use femto_element::Cell;
use femto_fem::geometry::Geometry;
use femto_fem::mesh::boxes::{AnyBox, SimplexBox};
use femto_fem::mesh::{CellNodes, Layers, Mesh};
use femto_fem::space::{Block, BoundaryFacet, SpaceParams};
use space_common::Random;
use space_common::layout::check_blocks;

/// Columns over an irregular mesh of triangles with a hole, with sides in several groups, between hills.
fn columns(layers: usize) -> Mesh {
    let plane = SimplexBox {
        irregular: Some(Random::new().bits()),
        ..SimplexBox::unit_square(5)
    };
    let mut plane = plane.build(|x| x).unwrap();
    let block = &mut plane.blocks[0];
    let (kept, nodes) = (block.len() - 3, block.nodes.to_mut());
    nodes.truncate(3 * kept);
    block.tags.truncate(kept);
    let hills = |[x, y]: [f64; 2]| 0.2 * x * y;
    let mesh = plane.extrude(&Layers::graded(layers, 1.2), hills, |[x, _]| 1.5 + 0.1 * x);
    mesh.unwrap()
}

/// The same cells and facets, each with its nodes.
fn listed(mesh: &Mesh) -> Mesh {
    let mut mesh = mesh.clone();
    for block in &mut mesh.blocks {
        block.nodes.to_mut();
    }
    mesh.coordinates.to_mut();
    mesh
}

fn blocks(mesh: &Mesh, degree: usize, chunk_nodes: usize) -> Vec<Block> {
    let params = SpaceParams {
        degree,
        chunk_nodes,
        ..SpaceParams::default()
    };
    Block::all(mesh, Geometry::of_shapes(mesh).unwrap(), params).unwrap()
}

/// All facets in groups, and those that are in none.
fn boundary(block: &Block) -> Vec<BoundaryFacet> {
    let boundary = block.space.boundary();
    let mut facets = boundary.all().to_vec();
    facets.sort_unstable();
    facets
}

#[test]
fn stored_and_listed_columns_have_the_same_space() {
    for (layers, degree) in [(2, 1), (3, 2), (5, 3), (4, 4), (7, 1)] {
        let mesh = columns(layers);
        assert!(matches!(mesh.blocks[0].nodes, CellNodes::Columns(_)));
        for chunk_nodes in [150, 4000] {
            let [own, other] = [&mesh, &listed(&mesh)].map(|it| blocks(it, degree, chunk_nodes));
            check_blocks(&own);
            let ([own], [other]) = (&own[..], &other[..]) else {
                panic!("one shape");
            };
            assert_eq!(own.space.nodes(), other.space.nodes());
            assert_eq!(own.space.cells(), other.space.cells());
            assert_eq!(boundary(own), boundary(other));
            assert_eq!(own.space.unjoined(), other.space.unjoined());
            // A node has one position, the same in every element that has it.
            let positions = own.space.node_positions(&own.geometry);
            let there = other.space.node_positions(&other.geometry);
            for element in 0..own.space.elements() {
                let [a, b] = [own, other].map(|it| it.space.element_nodes(element));
                for (a, b) in a.iter().zip(&b) {
                    let [a, b] = [positions[*a as usize], there[*b as usize]];
                    assert!(
                        (0..3).all(|axis| (a[axis] - b[axis]).abs() < 1e-14),
                        "{a:?} {b:?}"
                    );
                }
            }
            assert!(own.space.bytes() < other.space.bytes());
        }
    }
}

/// Only what is stored as columns of one height is; chunks may cut columns.
#[test]
fn columns_beside_others_and_in_parts_are_numbered() {
    let mesh = columns(40);
    let own = blocks(&mesh, 2, 20);
    check_blocks(&own);
    let other = blocks(&listed(&mesh), 2, 20);
    assert_eq!(own[0].space.nodes(), other[0].space.nodes());
    let plane = AnyBox::unit(Cell::Quadrilateral, 3).build(|x| x).unwrap();
    let mesh = plane
        .extrude(&Layers::uniform(3), |_| 0.0, |_| 1.0)
        .unwrap();
    assert!(matches!(mesh.blocks[0].nodes, CellNodes::Columns(_)));
    let [own, other] = [&mesh, &listed(&mesh)].map(|it| blocks(it, 2, 500));
    assert_eq!(own[0].space.listed_nodes(), other[0].space.listed_nodes());
}

/// Facets that no cell has, or that are turned, are found as such.
#[test]
fn other_facets_are_none_of_columns() {
    let mut mesh = columns(3);
    let number = mesh
        .groups
        .iter()
        .find(|it| it.name == "top")
        .unwrap()
        .number;
    let ends = mesh
        .blocks
        .iter_mut()
        .rfind(|it| it.tags.contains(&number))
        .unwrap();
    // A triangle between two levels, and one across cells.
    let first = ends.cell(0).to_vec();
    let nodes = ends.nodes.to_mut();
    nodes[..3].copy_from_slice(&[first[0], first[1] + 1, first[2]]);
    let count = nodes.len();
    nodes[count - 3..].copy_from_slice(&[first[0] + 3, first[1] + 3, first[1] + 3]);
    let error = |mesh: &Mesh| {
        let params = SpaceParams::default();
        let blocks = Block::all(mesh, Geometry::of_shapes(mesh).unwrap(), params).unwrap();
        let boundary = blocks[0].space.boundary();
        ["bottom", "top"].map(|tag| boundary.tagged(tag).unwrap_err().to_string())
    };
    assert_eq!(error(&mesh), error(&listed(&mesh)));
}
