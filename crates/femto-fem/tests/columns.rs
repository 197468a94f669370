//! Columns, which are kept by their lowest nodes and numbered from the plane cells below them, beside the same cells as a
//! list.
#![allow(clippy::unwrap_used)]

mod space_common;

use femto_element::{Cell, Degree};
use femto_fem::geometry::{Geometry, GeometryAtPoints, Points};
use femto_fem::mesh::boxes::{AnyBox, SimplexBox};
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{CellNodes, Coordinates, Layers, Mesh};
use femto_fem::space::{Block, SpaceParams};
use space_common::Random;
use space_common::layout::check_blocks;

/// Columns over an irregular mesh of triangles of which some are missing, between curved ends.
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
    let low = |[x, y]: [f64; 2]| 0.2 * x * y;
    let mesh = plane.extrude(&Layers::graded(layers, 1.2), low, |[x, _]| {
        1.5 + 0.1 * x * x
    });
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

fn blocks(mesh: &Mesh, degree: impl Into<Degree>, chunk_nodes: usize) -> Vec<Block> {
    let params = SpaceParams {
        degree: degree.into(),
        chunk_nodes,
        ..SpaceParams::default()
    };
    Block::all(mesh, Geometry::of_shapes(mesh).unwrap(), params).unwrap()
}

/// Checks the layout of a space on columns and that on the same cells as a list, which must have the same elements,
/// boundary and nodes, by other numbers.
fn compare(mesh: &Mesh, degree: impl Into<Degree>, chunk_nodes: usize) -> [Block; 2] {
    let degree = degree.into();
    let all = [mesh, &listed(mesh)].map(|it| blocks(it, degree, chunk_nodes));
    all.iter().for_each(|blocks| check_blocks(blocks));
    let [own, other] = all.map(|mut blocks| blocks.swap_remove(0));
    assert!(own.space.is_on(&other.geometry) && other.space.is_on(&own.geometry));
    assert_eq!(own.space.nodes(), other.space.nodes());
    assert_eq!(own.space.cells(), other.space.cells());
    assert_eq!(own.space.boundary().all(), other.space.boundary().all());
    assert_eq!(own.space.unjoined(), other.space.unjoined());
    // The number in the list of each node.
    let mut number = vec![u32::MAX; own.space.nodes()];
    for element in 0..own.space.elements() {
        let [own, other] = [&own, &other].map(|it| it.space.element_nodes(element));
        for (node, other) in own.into_iter().zip(other) {
            let known = &mut number[node as usize];
            assert!([u32::MAX, other].contains(known));
            *known = other;
        }
    }
    number.sort_unstable();
    assert!(number.iter().copied().eq(0..own.space.nodes() as u32));
    [own, other]
}

#[test]
fn stored_and_listed_columns_have_the_same_space() {
    for (layers, degree) in [2, 3, 5, 4, 7, 2, 3, 2].into_iter().zip(1..) {
        let mesh = columns(layers);
        assert!(matches!(mesh.blocks[0].nodes, CellNodes::Columns(_)));
        for chunk_nodes in [150, 4000] {
            let [own, other] = compare(&mesh, degree, chunk_nodes);
            assert_eq!(own.space.restriction().layers, layers);
            assert_eq!(other.space.restriction().layers, 1);
            assert!(own.space.bytes() < other.space.bytes());
        }
    }
}

/// With another degree upwards than along the plane.
#[test]
fn degrees_may_differ_upwards() {
    for (layers, [horizontal, vertical]) in [(2, [1, 3]), (5, [3, 1]), (3, [2, 4]), (4, [4, 2])] {
        let degree = Degree::new(horizontal, vertical);
        let plane = SimplexBox {
            irregular: Some(Random::new().bits()),
            ..SimplexBox::unit_square(4)
        };
        let low = |[x, y]: [f64; 2]| 0.2 * x * y;
        let plane = plane.build(|x| x).unwrap();
        let mesh = plane.extrude(&Layers::graded(layers, 1.2), low, |_| 1.5);
        let mesh = mesh.unwrap();
        for chunk_nodes in [150, 4000] {
            let [own, other] = compare(&mesh, degree, chunk_nodes);
            for Block { space, geometry } in [&own, &other] {
                let positions = space.node_positions(geometry);
                let reference = femto_element::basis::nodes::positions(Cell::Prism, degree);
                for (element, &cell) in space.cells().iter().enumerate() {
                    let nodes = space.element_nodes(element).into_iter();
                    for (node, &xi) in nodes.zip(&reference) {
                        let (x, known) =
                            (geometry.map(cell as usize, xi), positions[node as usize]);
                        assert!((0..3).all(|a| (x[a] - known[a]).abs() < 1e-14), "{degree}");
                    }
                }
                for tag in ["bottom", "top", "xmin"] {
                    let traces = space.traces(geometry, tag).unwrap();
                    let own = traces[0]
                        .block
                        .space
                        .node_positions(&traces[0].block.geometry);
                    for (x, &node) in own.iter().zip(&traces[0].entries) {
                        let known = positions[node as usize];
                        assert!(
                            (0..3).all(|a| (x[a] - known[a]).abs() < 1e-14),
                            "{degree} {tag}"
                        );
                    }
                    assert_eq!(own.len(), space.boundary_nodes(tag).unwrap().len());
                }
            }
        }
    }
}

#[test]
fn chunks_may_cut_columns() {
    let plane = SimplexBox::unit_square(1).build(|x| x).unwrap();
    let mesh = plane.extrude(&Layers::uniform(200), |_| 0.0, |_| 1.0);
    let [own, _] = compare(&mesh.unwrap(), 8, 4000);
    let restriction = own.space.restriction();
    let is_cut = |end: usize| !end.is_multiple_of(200);
    assert!((restriction.chunks.iter()).any(|chunk| is_cut(chunk.elements.end)));
    assert_eq!(restriction.layers, 1);
}

/// Triangles and quadrilaterals become columns, whose spaces are numbered as those of lists.
#[test]
fn columns_of_two_shapes_are_numbered_together() {
    let mut plane = AnyBox::unit(Cell::Quadrilateral, 3).build(|x| x).unwrap();
    let square = plane.blocks[0].cell(4).to_vec();
    let halves = [[0, 1, 2], [0, 2, 3]].map(|corners| corners.map(|n: usize| square[n]));
    let block = &mut plane.blocks[0];
    block.nodes.to_mut().drain(16..20);
    block.tags.pop();
    let tags = vec![block.tags[0]; 2];
    plane.blocks.push(femto_fem::mesh::CellBlock {
        cell_type: femto_element::CellType::TRI3,
        nodes: halves.concat().into(),
        tags,
    });
    let mesh = plane
        .extrude(&Layers::uniform(3), |_| 0.0, |_| 1.0)
        .unwrap();
    let in_columns = |it: &&femto_fem::mesh::CellBlock| matches!(it.nodes, CellNodes::Columns(_));
    assert_eq!(mesh.blocks.iter().filter(in_columns).count(), 3);
    let [own, other] = [&mesh, &listed(&mesh)].map(|it| blocks(it, 2, 500));
    check_blocks(&own);
    assert_eq!(own.len(), 2);
    for (own, other) in own.iter().zip(&other) {
        assert_eq!(own.space.listed_nodes(), other.space.listed_nodes());
    }
}

/// A plate with a pad whose nodes lie on nodes inside the plate, without being joined.
#[test]
fn lines_that_touch_are_found() {
    let mut plane = SimplexBox::unit_square(4).build(|x| x).unwrap();
    let nodes = plane.coordinates.len() as u32;
    let pad = SimplexBox::unit_square(1)
        .build(|x| x.map(|x| 0.25 + 0.5 * x))
        .unwrap();
    plane.coordinates.to_mut().extend(pad.coordinates.iter());
    let block = &mut plane.blocks[0];
    block
        .nodes
        .to_mut()
        .extend(pad.blocks[0].nodes.all().map(|node| node + nodes));
    block.tags.extend([1; 2]);
    let mesh = plane
        .extrude(&Layers::uniform(2), |_| 0.0, |_| 1.0)
        .unwrap();
    let [own, _] = compare(&mesh, 1, 4000);
    assert!(!own.space.unjoined().coincident.is_empty());
}

/// Facets that no cell has, or that are turned, are found as such.
#[test]
fn other_facets_are_none_of_columns() {
    let mut mesh = columns(3);
    let top = mesh
        .groups
        .iter()
        .find(|it| it.name == "top")
        .unwrap()
        .number;
    let ends = (mesh.blocks.iter_mut())
        .rfind(|it| it.tags.contains(&top))
        .unwrap();
    // A triangle between two levels, and one that is an edge.
    let first = ends.cell(0).to_vec();
    let nodes = ends.nodes.to_mut();
    nodes[..3].copy_from_slice(&[first[0], first[1] + 1, first[2]]);
    let count = nodes.len();
    nodes[count - 3..].copy_from_slice(&[first[0] + 3, first[1] + 3, first[1] + 3]);
    let error = |mesh: &Mesh| {
        let blocks = blocks(mesh, 1, 4000);
        let boundary = blocks[0].space.boundary();
        ["bottom", "top"].map(|tag| boundary.tagged(tag).unwrap_err().to_string())
    };
    assert_eq!(error(&mesh), error(&listed(&mesh)));
}

/// What is written is kept as columns again where it is read.
#[test]
fn written_columns_are_read_as_columns() {
    let mesh = columns(4);
    for (version, encoding) in [
        (Version::V2_2, Encoding::Ascii),
        (Version::V4_1, Encoding::LittleEndian),
    ] {
        let mut bytes = Vec::new();
        gmsh::write(&mesh, &mut bytes, version, encoding).unwrap();
        let read = gmsh::parse(&bytes, "columns.msh").unwrap();
        assert!(matches!(read.blocks[0].nodes, CellNodes::Columns(_)));
        assert!(matches!(read.coordinates, Coordinates::Lines(_)));
        assert_eq!(read.blocks[0], mesh.blocks[0]);
        assert_eq!(read.coordinates, mesh.coordinates);
    }
}

/// A triangle of order 2 and the one through the middles of its sides: their six nodes each are no column of prisms.
#[test]
fn triangles_of_order_2_are_no_columns() {
    let nodes = "1 0 0 0\n2 .5 0 0\n3 1 0 0\n4 1 0 0\n5 .75 .5 0\n6 .5 1 0\n7 0 1 0\n8 .25 .5 0\n9 .5 .25 0\n";
    let cells = "1 9 2 1 1 1 4 7 2 5 8\n2 9 2 1 1 2 5 8 3 6 9\n3 2 2 1 1 4 7 2\n";
    let text = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n9\n{nodes}$EndNodes\n$Elements\n3\n{cells}$EndElements\n"
    );
    let mesh = gmsh::parse(text.as_bytes(), "triangles.msh").unwrap();
    assert!(matches!(mesh.blocks[0].nodes, CellNodes::Listed(_)));
    let geometry = Geometry::new(&mesh).unwrap();
    let vertices = [0, 1, 2].map(|cell| geometry.vertex_nodes(cell).to_vec());
    assert_eq!(vertices, [[0, 3, 6], [1, 4, 7], [3, 6, 1]]);
    // Nor do prisms' columns pass for those of other cells.
    let mut mesh = columns(2);
    mesh.blocks[0].cell_type = femto_element::CellType::HEX8;
    let error = Geometry::new(&mesh).unwrap_err().to_string();
    assert!(error.contains("columns of other cells"), "{error}");
}

/// The check does not visit the points of prisms that a bound accepts: it must not accept one that is turned inside out.
#[test]
fn the_check_of_columns_agrees_with_determinants() {
    let (mut random, mut outcomes) = (Random::new(), [0; 2]);
    let plane = SimplexBox::unit_square(1).build(|x| x).unwrap();
    let along: Vec<f64> = (0..=8).map(|n| f64::from(n) / 4.0 - 1.0).collect();
    let triangle = along
        .iter()
        .flat_map(|&x| along.iter().map(move |&y| [x, y]));
    let points = triangle.flat_map(|[x, y]| along.iter().map(move |&z| [x, y, z]));
    let points = Points::List(points.map(|x| Cell::Prism.collapsed(x)).collect());
    let mut at = GeometryAtPoints::default();
    for sample in 0..400 {
        let mesh = plane.extrude(&Layers::uniform(2), |_| 0.0, |_| 1.0);
        let mut mesh = mesh.unwrap();
        // Columns of thin, sloping prisms, whose edges may point down, or lean if they are no columns.
        let most = [0.4, 0.6, 30.0][sample % 3];
        for x in mesh.coordinates.to_mut() {
            x[2] += most * random.uniform();
            if sample % 2 == 0 {
                x[0] += 0.3 * random.uniform();
            }
        }
        let geometry = Geometry::new(&mesh).unwrap();
        let is_good = geometry.check(&along) == Ok(vec![]);
        let is_positive = (0..geometry.len()).all(|cell| {
            geometry.at_points(cell, &points, &mut at);
            at.determinant.iter().all(|&it| it > 0.0)
        });
        assert!(!is_good || is_positive, "sample {sample}");
        outcomes[usize::from(is_good)] += 1;
        assert_eq!(is_good, geometry.check(&along) == Ok(vec![]));
    }
    assert!(outcomes.iter().all(|&count| count > 20), "{outcomes:?}");
}

/// Prisms whose volume is positive, but so small that its square is no number, are refused as other cells are.
#[test]
fn columns_without_height_are_refused() {
    let plane = SimplexBox::unit_square(2).build(|x| x).unwrap();
    let layers = Layers::graded(400, 3.0);
    let mesh = plane.extrude(&layers, |_| 0.0, |_| 1.0).unwrap();
    let error = Geometry::new(&mesh).unwrap().check(&[-0.5, 0.5]);
    assert!(error.unwrap_err().to_string().contains("degenerate"));
}
