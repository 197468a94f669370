//! Meshes and parameters that do not make a space.
#![allow(clippy::expect_used)]

mod space_common;

use femto_element::basis::BasisError;
use femto_element::{Cell, CellType, Degree};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::{CellBlock, Mesh, PhysicalGroup};
use femto_fem::space::{Constraints, Space, SpaceError, SpaceParams};
use space_common::{bent_box, hexahedra, space, two_cubes};

fn error(mesh: &Mesh, params: SpaceParams) -> SpaceError {
    let geometry = Geometry::new(mesh).expect("a geometry");
    Space::new(mesh, &geometry, params).expect_err("a space of a bad mesh or bad parameters")
}

#[test]
fn bad_parameters_and_tags_are_errors() {
    let mut mesh = bent_box([2, 1, 1], 1);
    let with = |degree: usize, components| SpaceParams {
        degree: degree.into(),
        components,
        ..SpaceParams::default()
    };
    assert!(matches!(
        error(&mesh, with(0, 1)),
        SpaceError::Basis(BasisError::Degree { found: 0, .. })
    ));
    assert!(matches!(
        error(&mesh, with(16, 1)),
        SpaceError::Basis(BasisError::Degree { found: 16, .. })
    ));
    assert!(matches!(error(&mesh, with(1, 0)), SpaceError::Components));

    let constrain = |mesh: &Mesh, tag| {
        let components: &[usize] = if tag == "zmax" { &[0, 1] } else { &[0] };
        let (space, _) = space(mesh, SpaceParams::default());
        Constraints::new(&space, &[(tag, components)])
    };
    let missing = constrain(&mesh, "xmid").unwrap_err().to_string();
    assert!(
        missing.contains("xmid") && missing.contains("xmax"),
        "{missing}"
    );
    let component = constrain(&mesh, "zmax").unwrap_err();
    assert_eq!(
        component.to_string(),
        "component 1 on `zmax`; components are numbered from 0 and the space has 1"
    );

    // A quadrilateral across a cell is not a facet, in a group that is requested.
    let cell = mesh.blocks[0].cell(0).to_vec();
    mesh.blocks[1]
        .nodes
        .to_mut()
        .extend([0, 1, 6, 7].map(|v| cell[v]));
    mesh.blocks[1].tags.push(3);
    let stranger = constrain(&mesh, "ymin").unwrap_err();
    let corners = [0, 1, 6, 7].map(|v| cell[v]);
    assert!(
        matches!(&stranger, SpaceError::NoSuchFacet { tag, nodes, count: 1 }
            if tag == "ymin" && *nodes == corners),
        "{stranger}"
    );
    let (space, _) = space(&mesh, SpaceParams::default());
    assert!(space.boundary().tagged("ymin").is_err());
    assert!(space.boundary().tagged("ymax").is_ok());
}

/// Only prisms have another degree vertically, and only if they agree about what is vertical.
#[test]
fn degrees_that_differ_where_they_cannot_are_errors() {
    let params = SpaceParams {
        degree: Degree::new(1, 2),
        ..SpaceParams::default()
    };
    let hexahedra = error(&bent_box([2, 1, 1], 1), params.clone());
    let text =
        "degree 1 horizontally and 2 vertically on hexahedra: only prisms may have another degree";
    assert!(hexahedra.to_string().starts_with(text), "{hexahedra}");
    // Two prisms; their common quadrilateral stands on another side in each.
    let nodes = [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 1],
        [0, 1, 1],
        [2, 1, 0],
        [1, 2, 0],
    ];
    let mesh = Mesh {
        coordinates: nodes.map(|x| x.map(f64::from)).to_vec().into(),
        blocks: vec![CellBlock {
            cell_type: CellType::complete(Cell::Prism, 1).expect("a type"),
            nodes: vec![0, 1, 2, 3, 4, 5, 1, 4, 6, 2, 5, 7].into(),
            tags: vec![1; 2],
        }],
        groups: Vec::new(),
        memberships: Vec::new(),
        periodic: Vec::new(),
    };
    let geometry = Geometry::new(&mesh).expect("a geometry");
    Space::new(&mesh, &geometry, SpaceParams::default()).expect("a space of one degree");
    for degree in [Degree::new(1, 2), Degree::new(2, 1), Degree::new(3, 2)] {
        let params = SpaceParams {
            degree,
            ..params.clone()
        };
        let turned = error(&mesh, params).to_string();
        let text = format!("a space of degree {degree}: cells ");
        let (start, rest) = turned.split_at(text.len());
        assert_eq!(start, text);
        assert!(
            rest.starts_with("0 and 1 disagree") || rest.starts_with("1 and 0 disagree"),
            "{turned}"
        );
    }
}

/// Triangles among the quadrilaterals of a group, or alone in it, are cells of the group that are no facets.
#[test]
fn shapes_that_no_facet_has_are_errors() {
    let mut mesh = bent_box([2, 1, 1], 1);
    let cell = mesh.blocks[0].cell(0).to_vec();
    let triangle = CellBlock {
        cell_type: CellType::complete(Cell::Triangle, 1).unwrap(),
        nodes: vec![cell[0], cell[1], cell[2]].into(),
        tags: vec![1],
    };
    mesh.blocks.push(triangle);
    for tag in [1, 77] {
        mesh.blocks[2].tags = vec![tag];
        mesh.groups.push(PhysicalGroup {
            dimension: 2,
            number: 77,
            name: "alone".to_owned(),
        });
        let (space, _) = space(&mesh, SpaceParams::default());
        let stranger = space.boundary().tagged(&tag.to_string()).unwrap_err();
        assert!(
            matches!(&stranger, SpaceError::NoSuchFacet { nodes, count: 1, .. } if nodes.len() == 3),
            "{stranger}"
        );
        mesh.groups.pop();
    }
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
        SpaceError::CrowdedFacet {
            mut cells,
            mut nodes,
        } => {
            cells.sort_unstable();
            nodes.sort_unstable();
            assert_eq!((cells, nodes), ([0, 1, 2], vec![4, 5, 6, 7]));
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
        nodes: vec![0, 1, 2, 4].into(),
        tags: vec![0],
    });
    match error(&mesh, SpaceParams::default()) {
        SpaceError::UnsupportedCells { name, count } => assert_eq!((name, count), ("tet4", 1)),
        other => panic!("{other}"),
    }
}
