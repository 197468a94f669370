//! Periodic sides: merged nodes, in files and in spaces.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use femto_element::basis::max_degree;
use femto_element::{Cell, CellType, Degree};
use femto_fem::geometry::{Geometry, GeometryError};
use femto_fem::mesh::boxes::AnyBox;
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{CellBlock, Layers, Mesh, MeshError, PeriodicSides};
use femto_fem::space::{Block, Space, SpaceError, SpaceParams};
use std::collections::{BTreeSet, HashMap};

const CELLS: [Cell; 5] = [
    Cell::Hexahedron,
    Cell::Tetrahedron,
    Cell::Prism,
    Cell::Quadrilateral,
    Cell::Triangle,
];
const SIDES: [[&str; 2]; 3] = [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]];

fn unit_box(cell: Cell, cells: [usize; 3], axes: &[usize]) -> Mesh {
    let mesh = AnyBox {
        cell,
        cells: cells[..cell.dim()].to_vec(),
        lower: vec![0.0; cell.dim()],
        upper: vec![1.0; cell.dim()],
        geometry_degree: 1,
        irregular: None,
    };
    let mut mesh = mesh.build(|x| x).unwrap();
    for &axis in axes {
        let [first, second] = SIDES[axis];
        mesh.join_sides(first, second).unwrap();
    }
    mesh
}

/// A position as integers, modulo one period along the `axes`.
fn modulo(x: [f64; 3], axes: &[usize]) -> [i64; 3] {
    std::array::from_fn(|a| {
        let steps = (x[a] * 1e9).round() as i64;
        match axes.contains(&a) {
            true => steps.rem_euclid(1_000_000_000),
            false => steps,
        }
    })
}

/// Elements share a node exactly where they share a position, up to a period.
fn check(space: &Space, geometry: &Geometry, axes: &[usize], what: &str) {
    let mut places: HashMap<u32, [i64; 3]> = HashMap::new();
    let mut reference = femto_element::basis::nodes::positions(space.cell(), space.degree());
    reference.truncate(space.nodes_per_element());
    for element in 0..space.elements() {
        let cell = space.cells()[element] as usize;
        for (node, xi) in space.element_nodes(element).into_iter().zip(&reference) {
            let place = modulo(geometry.map(cell, *xi), axes);
            assert_eq!(*places.entry(node).or_insert(place), place, "{what}");
        }
    }
    let distinct: BTreeSet<[i64; 3]> = places.values().copied().collect();
    assert_eq!(distinct.len(), places.len(), "{what}");
    assert_eq!(space.nodes(), places.len(), "{what}");
}

#[test]
fn nodes_a_period_apart_are_one() {
    for cell in CELLS {
        for (cells, axes) in [
            ([2, 3, 3], &[0][..]),
            ([3, 2, 2], &[1]),
            ([2, 2, 2], &[0, 1]),
            ([3, 2, 4], &[0, 1, 2]),
        ] {
            let axes: Vec<usize> = axes.iter().copied().filter(|&a| a < cell.dim()).collect();
            let mesh = unit_box(cell, cells, &axes);
            let geometry = Geometry::new(&mesh).unwrap();
            let uniform = [(1, 9), (2, 20), (3, 1000), (4, 40)];
            let uniform =
                uniform.map(|(degree, nodes)| (max_degree(cell).min(degree).into(), nodes));
            let of_prisms = [(Degree::new(1, 3), 30), (Degree::new(4, 3), 1000)];
            let of_prisms = of_prisms.into_iter().filter(|_| cell == Cell::Prism);
            for (degree, chunk_nodes) in uniform.into_iter().chain(of_prisms) {
                let params = SpaceParams {
                    degree,
                    chunk_nodes,
                    ..SpaceParams::default()
                };
                let space = Space::new(&mesh, &geometry, params).unwrap();
                let what = format!("{cell:?} {cells:?} {axes:?} {degree}");
                check(&space, &geometry, &axes, &what);
                if axes == [0] || axes == [0, 1] && cell.dim() == 3 {
                    let side = if cell.dim() == 3 { "zmax" } else { "ymax" };
                    let trace = space.traces(&geometry, side).unwrap().remove(0);
                    check(&trace.block.space, &trace.block.geometry, &axes, &what);
                    let distinct: BTreeSet<u32> = trace.entries.iter().copied().collect();
                    assert_eq!(distinct.len(), trace.entries.len(), "{what}");
                    let held = space.boundary_nodes(side).unwrap().len();
                    assert_eq!(distinct.len(), held, "{what}");
                }
            }
        }
    }
}

#[test]
fn impossible_joins_are_errors() {
    let error = |mesh: &Mesh| {
        let geometry = Geometry::new(mesh).unwrap();
        Space::new(mesh, &geometry, SpaceParams::default()).unwrap_err()
    };
    // One cell across.
    let narrow = unit_box(Cell::Quadrilateral, [1, 3, 1], &[0]);
    assert!(matches!(error(&narrow), SpaceError::NarrowPeriod { .. }));
    // A side with two partners.
    let mut twice = unit_box(Cell::Quadrilateral, [3, 3, 1], &[0]);
    let nodes = &twice.periodic[0].nodes;
    let shifted: Vec<[u32; 2]> = nodes
        .iter()
        .zip(nodes.iter().rev())
        .map(|(pair, other)| [pair[0], other[1]])
        .collect();
    twice.periodic[0].nodes = shifted;
    let [first, second] = SIDES[0];
    twice.join_sides(first, second).unwrap();
    let message = error(&twice).to_string();
    assert!(message.contains("share one facet"), "{message}");
    // Partners that are not a facet, or an inner one, or the same.
    let mut mesh = unit_box(Cell::Quadrilateral, [3, 3, 1], &[0]);
    for pair in &mut mesh.periodic[0].nodes {
        pair[1] = pair[0];
    }
    let message = error(&mesh).to_string();
    assert!(message.ends_with("which is the same"), "{message}");
    for pair in &mut mesh.periodic[0].nodes {
        pair[1] = pair[0] + 1;
    }
    let message = error(&mesh).to_string();
    assert!(
        message.ends_with("which lies between two cells"),
        "{message}"
    );
    for pair in &mut mesh.periodic[0].nodes {
        pair[1] = 1;
    }
    let message = error(&mesh).to_string();
    assert!(message.ends_with("which no cell has"), "{message}");
    for pair in &mut mesh.periodic[0].nodes {
        pair[1] = 1_000_000;
    }
    let error = Geometry::new(&mesh).unwrap_err();
    assert!(matches!(error, GeometryError::Contradiction { .. }));
}

/// As Gmsh writes them for sides of extruded meshes.
#[test]
fn links_without_nodes_are_errors() {
    let text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n$Elements\n1\n\
                1 2 2 1 1 1 2 3\n$EndElements\n$Periodic\n1\n1 2 4\nAffine 1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1\n0\n$EndPeriodic\n";
    let mut mesh = gmsh::parse(text.as_bytes(), "links.msh").unwrap();
    let message = |mesh: &Mesh| {
        let geometry = Geometry::new(mesh).unwrap();
        Space::new(mesh, &geometry, SpaceParams::default()).map_err(|error| error.to_string())
    };
    let found = message(&mesh).unwrap_err();
    assert!(
        found.starts_with("pair 1 of the mesh's periodic sides has no nodes"),
        "{found}"
    );
    mesh.periodic.clear();
    assert!(message(&mesh).is_ok());
}

/// A square whose partners are the vertices of a triangle and a node of no cell.
#[test]
fn partners_that_are_no_vertices_are_errors() {
    let cell = |cell, nodes| CellBlock {
        cell_type: CellType::complete(cell, 1).unwrap(),
        nodes,
        tags: vec![0],
    };
    let square = [[0, 0], [1, 0], [1, 1], [0, 1]];
    let hexahedron = [0, 1].map(|z| square.map(|[x, y]| [x, y, z])).concat();
    let tetrahedron = [[3, 0, 0], [3, 1, 0], [3, 0, 1], [4, 0, 0]];
    let all = [hexahedron, tetrahedron.to_vec(), vec![[3, 1, 1]]].concat();
    let all = all.into_iter();
    let mesh = Mesh {
        coordinates: all.map(|x| x.map(f64::from)).collect::<Vec<_>>().into(),
        blocks: vec![
            cell(Cell::Hexahedron, (0..8).collect()),
            cell(Cell::Tetrahedron, vec![8, 9, 10, 11].into()),
        ],
        periodic: vec![PeriodicSides {
            nodes: vec![[0, 8], [3, 9], [4, 10], [7, 12]],
        }],
        ..Mesh::default()
    };
    let geometries = Geometry::of_shapes(&mesh).unwrap();
    let error = Block::all(&mesh, geometries, SpaceParams::default()).unwrap_err();
    assert!(matches!(error, SpaceError::NoPartner { .. }), "{error}");
}

#[test]
fn conditions_on_a_seam_are_errors() {
    let mesh = unit_box(Cell::Triangle, [3, 3, 1], &[0]);
    let geometry = Geometry::new(&mesh).unwrap();
    let space = Space::new(&mesh, &geometry, SpaceParams::default()).unwrap();
    for side in SIDES[0] {
        let message = space.boundary_nodes(side).unwrap_err().to_string();
        assert!(
            message.contains("3 of its facets are on periodic sides"),
            "{message}"
        );
    }
    assert_eq!(space.boundary_nodes("ymin").unwrap().len(), 3);
}

#[test]
fn sides_that_are_not_translations_are_rejected() {
    let mut mesh = unit_box(Cell::Hexahedron, [3, 3, 3], &[]);
    let message = |result: Result<(), MeshError>| result.unwrap_err().to_string();
    assert!(message(mesh.join_sides("xmin", "xmin")).contains("the same group"));
    assert!(message(mesh.join_sides("xmin", "nowhere")).contains("nowhere"));
    assert!(message(mesh.join_sides("xmin", "ymin")).contains("has no partner on `xmin`"));
    mesh.coordinates.to_mut()[0] = [0.0, 0.01, 0.0];
    assert!(message(mesh.join_sides("xmin", "xmax")).contains("has no partner"));
    assert!(mesh.periodic.is_empty());
}

/// A crack between two sides: its nodes are at the same positions twice.
#[test]
fn sides_with_coincident_nodes_are_rejected() {
    let lower = unit_box(Cell::Quadrilateral, [3, 3, 1], &[]);
    let mut mesh = lower.clone();
    let first = mesh.coordinates.len() as u32;
    let above = lower.coordinates.iter().map(|[x, y, z]| [x, y + 1.0, z]);
    mesh.coordinates.to_mut().extend(above);
    for (block, own) in mesh.blocks.iter_mut().zip(&lower.blocks) {
        block
            .nodes
            .to_mut()
            .extend(own.nodes.all().map(|node| node + first));
        block.tags.extend(&own.tags);
    }
    let message = mesh.join_sides("xmin", "xmax").unwrap_err().to_string();
    assert!(message.contains("at the same position"), "{message}");
}

/// Lists that do not fit each other, of meshes made by hand.
#[test]
fn contradictions_are_errors() {
    let good = unit_box(Cell::Quadrilateral, [3, 3, 1], &[0]);
    let (mut untagged, mut missing, mut unpaired) = (good.clone(), good.clone(), good);
    untagged.blocks[0].tags.clear();
    missing.blocks[0].nodes.to_mut()[3] = 1000;
    unpaired.periodic[0].nodes[0][1] = 1000;
    for mut mesh in [untagged, missing, unpaired] {
        let layers = Layers::uniform(2);
        let of_extrusion = mesh.extrude(&layers, |_| 0.0, |_| 1.0).map(|_| ());
        for result in [of_extrusion, mesh.join_sides("ymin", "ymax")] {
            assert!(matches!(result, Err(MeshError::Contradiction { .. })));
        }
        let written = gmsh::write(&mesh, &mut Vec::new(), Version::V4_1, Encoding::Ascii);
        assert!(
            written
                .unwrap_err()
                .to_string()
                .contains("contradicts itself")
        );
    }
}

/// Seams of several shapes are joined shape by shape.
#[test]
fn mixed_shapes_go_on_across_a_seam() {
    let mut mesh = unit_box(Cell::Quadrilateral, [4, 3, 1], &[]);
    // The cells of two rows are cut.
    let cells = &mut mesh.blocks[0];
    let (mut kept, mut cut) = (Vec::new(), Vec::new());
    for cell in 0..cells.len() {
        let nodes = cells.cell(cell).to_vec();
        match cell % 4 < 2 {
            true => kept.extend(nodes),
            false => cut.extend([nodes[0], nodes[1], nodes[2], nodes[0], nodes[2], nodes[3]]),
        }
    }
    let (kept_tags, cut_tags) = (vec![7; kept.len() / 4], vec![7; cut.len() / 3]);
    (cells.nodes, cells.tags) = (kept.into(), kept_tags);
    mesh.blocks.push(femto_fem::mesh::CellBlock {
        cell_type: femto_element::CellType::TRI3,
        nodes: cut.into(),
        tags: cut_tags,
    });
    mesh.join_sides("xmin", "xmax").unwrap();
    let geometries = Geometry::of_shapes(&mesh).unwrap();
    for degree in [1, 2, 3] {
        let params = SpaceParams {
            degree: degree.into(),
            ..SpaceParams::default()
        };
        let blocks = Block::all(&mesh, geometries.clone(), params).unwrap();
        assert_eq!(blocks.len(), 2);
        let nodes = blocks[0].space.nodes();
        assert_eq!(nodes, 4 * degree * (3 * degree + 1) - cut_nodes(degree));
    }
}

/// Additional nodes inside the six squares that are cut into two triangles.
fn cut_nodes(degree: usize) -> usize {
    let square = (degree - 1).pow(2);
    let triangles = (degree - 1) * degree.saturating_sub(2) + (degree - 1);
    6 * (square - triangles)
}

#[test]
fn files_keep_their_sides() {
    for (cell, axes) in [(Cell::Hexahedron, &[0, 2][..]), (Cell::Triangle, &[1])] {
        let mesh = unit_box(cell, [2, 3, 2], axes);
        assert_eq!(mesh.periodic.len(), axes.len());
        for version in [Version::V2_2, Version::V4_1] {
            for encoding in [Encoding::Ascii, Encoding::LittleEndian, Encoding::BigEndian] {
                let mut bytes = Vec::new();
                gmsh::write(&mesh, &mut bytes, version, encoding).unwrap();
                let read = gmsh::parse(&bytes, "written").unwrap();
                assert_eq!(read, mesh, "{version:?} {encoding:?}");
            }
        }
    }
}

/// As Gmsh writes them: with maps, and with the curves and points of the surfaces.
const V2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n\
6 2 1 0\n$EndNodes\n$Elements\n2\n1 3 2 1 1 1 2 5 4\n2 3 2 1 1 2 3 6 5\n$EndElements\n$Periodic\n2\n0 3 1\n1\n3 1\n\
1 2 1\nAffine 1 0 0 2 0 1 0 0 0 0 1 0 0 0 0 1\n2\n3 1\n6 4\n$EndPeriodic\n";

/// The nodes and elements of [`V2`].
const V4: &str = "$Nodes\n1 6 1 6\n2 1 0 6\n1\n2\n3\n4\n5\n6\n0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n2 1 0\n$EndNodes\n\
$Elements\n1 2 1 2\n2 1 3 2\n1 1 2 5 4\n2 2 3 6 5\n$EndElements\n$Periodic\n2\n0 3 1\n0\n1\n3 1\n\
1 2 1\n16 1 0 0 2 0 1 0 0 0 0 1 0 0 0 0 1\n2\n3 1\n6 4\n$EndPeriodic\n";

#[test]
fn links_of_all_versions_are_read() {
    let four_one = format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n{V4}");
    for text in [V2, &V2.replace("2.2 0 8", "2.1 0 8"), &four_one] {
        let mesh = gmsh::parse(text.as_bytes(), "text").unwrap();
        assert_eq!(mesh.periodic.len(), 1);
        assert_eq!(mesh.periodic[0].nodes, [[2, 0], [5, 3]]);
        let geometry = Geometry::new(&mesh).unwrap();
        let space = Space::new(&mesh, &geometry, SpaceParams::default()).unwrap();
        assert_eq!(space.nodes(), 4);
    }
    let error = |text: &str| {
        gmsh::parse(text.as_bytes(), "text")
            .unwrap_err()
            .to_string()
    };
    // Curves of a part that is not in the file, except for one of their ends.
    let elsewhere = V2.replace("$Periodic\n2\n", "$Periodic\n3\n1 4 3\n2\n2 5\n8 9\n");
    let mesh = gmsh::parse(elsewhere.as_bytes(), "text").unwrap();
    assert_eq!(mesh.periodic.len(), 1);
    assert_eq!(mesh.periodic[0].nodes, [[2, 0], [5, 3]]);
    let message = error(&V2.replace("1 2 1\nAffine", "3 2 1\nAffine"));
    assert!(
        message.contains("dimension of a periodic entity is 3"),
        "{message}"
    );
    let message = error(&V2.replace("Affine 1", "Affine one"));
    assert!(message.contains("map of a periodic entity"), "{message}");
}
