//! Spaces of lower degrees on the elements of a space.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cut_common;
mod space_common;

use cut_common::cut_quadrilaterals;
use femto_element::basis::nodes;
use femto_element::{Cell, Degree};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::boxes::AnyBox;
use femto_fem::mesh::{Layers, Mesh};
use femto_fem::space::{Block, MAX_CHUNK_NODES, Space, SpaceError, SpaceParams};
use space_common::bent_box;
use space_common::layout::check_blocks;
use std::collections::BTreeSet;

fn any_box(cell: Cell) -> Mesh {
    AnyBox::unit(cell, 4).build(|x| x).unwrap()
}

/// Hexahedra with several kinds of maps, tetrahedra, two shapes, columns, a closed ring.
fn meshes() -> Vec<Mesh> {
    let mut some_bent = bent_box([6, 4, 4], 1);
    for (i, x) in some_bent.coordinates.to_mut().iter_mut().enumerate() {
        let bump = if i % 7 > 3 { 0.1 * (i % 5) as f64 } else { 0.0 };
        *x = [i % 7, i / 7 % 5, i / 35].map(|i| i as f64);
        x[2] += bump;
    }
    let plane = AnyBox {
        cells: vec![5, 4],
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    let plane = plane.build(|x| x).unwrap();
    let two_shapes = cut_quadrilaterals(&plane, |cell| cell % 3 == 1);
    let columns = any_box(Cell::Triangle);
    let columns = columns.extrude(&Layers::graded(4, 1.2), |_| 0.0, |_| 1.0);
    let mut ring = any_box(Cell::Hexahedron);
    ring.join_sides("xmax", "xmin").unwrap();
    let others = [two_shapes, columns.unwrap(), ring, some_bent];
    let boxes = [Cell::Tetrahedron, Cell::Quadrilateral].map(any_box);
    others.into_iter().chain(boxes).collect()
}

/// The positions of each node in the elements that have it, two of them on periodic sides.
fn nodes_of(blocks: &[Block]) -> BTreeSet<Vec<[i64; 3]>> {
    let mut places = vec![Vec::new(); blocks[0].space.nodes()];
    for Block { space, geometry } in blocks {
        let reference = nodes::positions(space.cell(), space.degree());
        for (element, &cell) in space.cells().iter().enumerate() {
            for (node, &xi) in space.element_nodes(element).into_iter().zip(&reference) {
                let x = geometry.map(cell as usize, xi);
                places[node as usize].push(x.map(|x| (x * 1e9).round() as i64));
            }
        }
    }
    for node in &mut places {
        node.sort_unstable();
        node.dedup();
    }
    places.into_iter().collect()
}

#[test]
fn they_have_the_nodes_of_spaces_made_from_the_mesh() {
    for mesh in meshes() {
        let geometries = || Geometry::of_shapes(&mesh).unwrap();
        for (degree, chunk_nodes) in [(2, 20), (3, 1), (4, 100), (4, 10_000)] {
            let params = SpaceParams {
                degree: degree.into(),
                components: 2,
                chunk_nodes,
                ..SpaceParams::default()
            };
            let Ok(finer) = Block::all(&mesh, geometries(), params.clone()) else {
                // Not every cell has every degree.
                continue;
            };
            for lower in 1..degree {
                let params = SpaceParams {
                    degree: lower.into(),
                    ..params.clone()
                };
                let made = Block::of_lower_degree(&finer, lower).unwrap();
                let wanted = Block::all(&mesh, geometries(), params).unwrap();
                check_blocks(&made);
                assert_eq!(nodes_of(&made), nodes_of(&wanted));
                for ((made, finer), wanted) in made.iter().zip(&finer).zip(&wanted) {
                    assert_eq!(made.space.cells(), finer.space.cells());
                    assert_eq!(made.space.dofs(), wanted.space.dofs());
                    let tagged = |space: &Space| {
                        let facets = space.boundary().all().iter();
                        facets.map(|it| (it.tag, it.cell, it.number)).collect()
                    };
                    let facets: BTreeSet<_> = tagged(&made.space);
                    assert_eq!(facets, tagged(&wanted.space));
                }
            }
        }
    }
}

/// Where all cells have one kind of map, they are in the order of spaces made from the mesh.
#[test]
fn without_kinds_the_order_is_the_same() {
    let mesh = bent_box([5, 4, 3], 1);
    let space = |degree: usize| {
        let params = SpaceParams {
            degree: degree.into(),
            ..SpaceParams::default()
        };
        Block::all(&mesh, Geometry::of_shapes(&mesh).unwrap(), params).unwrap()
    };
    let made = Block::of_lower_degree(&space(4), 2).unwrap();
    assert_eq!(made[0].space.cells(), space(2)[0].space.cells());
}

/// Columns of another degree upwards than along the plane.
#[test]
fn degrees_may_be_lower_in_one_direction() {
    let plane = any_box(Cell::Triangle);
    let columns = plane.extrude(&Layers::uniform(3), |[x, _]| 0.1 * x, |_| 1.0);
    let mesh = columns.unwrap();
    let all = |degree: Degree| {
        let params = SpaceParams {
            degree,
            chunk_nodes: 200,
            ..SpaceParams::default()
        };
        Block::all(&mesh, Geometry::of_shapes(&mesh).unwrap(), params).unwrap()
    };
    let degree = Degree::new;
    for (high, low) in [
        (degree(2, 4), degree(1, 2)),
        (degree(4, 1), degree(2, 1)),
        (degree(3, 3), degree(3, 1)),
        (degree(1, 4), degree(1, 1)),
    ] {
        let made = Block::of_lower_degree(&all(high), low).unwrap();
        check_blocks(&made);
        let lattice = (4 * low.horizontal + 1).pow(2) * (3 * low.vertical + 1);
        assert_eq!(made[0].space.nodes(), lattice);
        let nodes = nodes_of(&made);
        assert_eq!(nodes.len(), lattice);
        assert_eq!(nodes, nodes_of(&all(low)));
        let refused = Block::of_lower_degree(&made, degree(1, 5)).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("1 horizontally and 5 vertically")
        );
    }
}

#[test]
fn other_degrees_are_refused() {
    let mesh = any_box(Cell::Hexahedron);
    let params = SpaceParams {
        degree: 2.into(),
        ..SpaceParams::default()
    };
    let blocks = Block::all(&mesh, Geometry::of_shapes(&mesh).unwrap(), params).unwrap();
    for degree in [2, 3] {
        let error = Block::of_lower_degree(&blocks, degree).unwrap_err();
        assert!(
            matches!(error, SpaceError::NotLower { of, .. } if of == 2),
            "{error}"
        );
    }
    assert!(matches!(
        Block::of_lower_degree(&blocks, 0).unwrap_err(),
        SpaceError::Basis(_)
    ));
    let mixed = &meshes()[0];
    let params = SpaceParams {
        degree: 2.into(),
        ..SpaceParams::default()
    };
    let mixed = Block::all(mixed, Geometry::of_shapes(mixed).unwrap(), params).unwrap();
    let [first, second] = [0, 1].map(|block: usize| mixed[block].clone());
    for some in [
        vec![second.clone(), first.clone()],
        vec![second],
        vec![first],
    ] {
        let error = Block::of_lower_degree(&some, 1).unwrap_err();
        let is_it = matches!(error, SpaceError::NotAllBlocks { blocks: 2, .. });
        assert!(is_it, "{error}");
    }
    assert!(matches!(
        Block::of_lower_degree(&[], 1).unwrap_err(),
        SpaceError::NoCells
    ));
}

/// The facets of a group are elements of a space of their own.
#[test]
fn traces_have_lower_degrees_too() {
    let mesh = bent_box([5, 4, 3], 1);
    let params = SpaceParams {
        degree: 3.into(),
        ..SpaceParams::default()
    };
    let blocks = Block::all(&mesh, Geometry::of_shapes(&mesh).unwrap(), params).unwrap();
    let Block { space, geometry } = &blocks[0];
    let trace = space.traces(geometry, "xmin").unwrap().remove(0);
    let made = Block::of_lower_degree(&[trace.block], 2).unwrap();
    assert_eq!(made[0].space.elements(), 4 * 3);
    assert_eq!(made[0].space.nodes(), (4 * 2 + 1) * (3 * 2 + 1));
    check_blocks(&made);
}

/// Chunks are joined, not only kept: a lower degree has fewer.
#[test]
fn chunks_are_joined() {
    let mesh = bent_box([16, 16, 16], 1);
    let params = SpaceParams {
        degree: 4.into(),
        chunk_nodes: 1024,
        ..SpaceParams::default()
    };
    let blocks = Block::all(&mesh, Geometry::of_shapes(&mesh).unwrap(), params).unwrap();
    let chunks = |blocks: &[Block]| blocks[0].space.restriction().chunks.len();
    let made = Block::of_lower_degree(&blocks, 2).unwrap();
    assert_eq!((chunks(&blocks), chunks(&made)), (256, 32));
}

/// Chunks have whole columns of prisms where these fit.
#[test]
fn chunks_cut_columns_that_are_too_tall() {
    for (layers, whole) in [(40, true), (200, false)] {
        let base = any_box(Cell::Triangle);
        let mesh = base
            .extrude(&Layers::uniform(layers), |_| 0.0, |_| 1.0)
            .unwrap();
        let params = SpaceParams {
            degree: 8.into(),
            ..SpaceParams::default()
        };
        let fine = Block::all(&mesh, Geometry::of_shapes(&mesh).unwrap(), params).unwrap();
        let lower = [4, 1].map(|degree| Block::of_lower_degree(&fine, degree).unwrap());
        for blocks in lower.iter().chain([&fine]) {
            check_blocks(blocks);
            let space = &blocks[0].space;
            let degree = space.degree().horizontal;
            assert_eq!(
                space.nodes(),
                (4 * degree + 1).pow(2) * (degree * layers + 1)
            );
            let restriction = space.restriction();
            assert!(restriction.most_chunk_nodes() <= MAX_CHUNK_NODES);
            let starts = restriction.chunks.iter().map(|chunk| chunk.elements.start);
            let cuts = starts.filter(|start| !start.is_multiple_of(layers)).count();
            assert!(!whole || cuts == 0);
            assert!(whole || degree < 8 || cuts > 0);
        }
    }
}
