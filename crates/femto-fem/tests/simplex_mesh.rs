//! Boxes of triangles and tetrahedra.
#![allow(clippy::unwrap_used)]

mod space_common;

use std::collections::BTreeSet;

use femto_element::quadrature::gauss;
use femto_fem::geometry::Geometry;
use femto_fem::geometry::jacobian::dot;
use femto_fem::mesh::Mesh;
use femto_fem::mesh::boxes::SimplexBox;
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::space::{Constraints, Space, SpaceParams};
use space_common::layout::check_layout;
use space_common::{Random, space};

fn meshes() -> Vec<Mesh> {
    let mut random = Random::new();
    let mut meshes = Vec::new();
    for order in 1..=3 {
        for irregular in [None, Some(random.bits())] {
            let square = SimplexBox::<2> {
                cells: [5, 4],
                lower: [0.0, -1.0],
                upper: [0.5, 2.0],
                geometry_degree: order,
                irregular,
            };
            let cube = SimplexBox::<3> {
                cells: [3, 4, 2],
                lower: [0.0, -1.0, 1.0],
                upper: [0.5, 2.0, 4.0],
                geometry_degree: order,
                irregular,
            };
            meshes.extend([square.build(|x| x).unwrap(), cube.build(|x| x).unwrap()]);
        }
    }
    meshes
}

#[test]
fn sides_are_tagged_lie_on_the_boundary_and_face_outwards() {
    for mesh in meshes() {
        let dim = mesh.blocks[0].cell_type.dimension();
        let order = mesh.blocks[0].cell_type.order();
        assert_eq!(mesh.summary().unused_nodes, 0);
        let sides = &mesh.blocks[1];
        assert_eq!(
            (sides.cell_type.dimension(), sides.cell_type.order()),
            (dim - 1, order)
        );
        let (space, geometry) = space(&mesh, Default::default());
        let extent = mesh.summary().bounding_box.unwrap();
        let mut found = BTreeSet::new();
        for (name, number) in ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"]
            .iter()
            .zip(1..)
        {
            if number > 2 * dim as i32 {
                continue;
            }
            assert_eq!(mesh.group(dim - 1, name).unwrap(), number);
            let (axis, side) = ((number as usize - 1) / 2, (number - 1) % 2);
            let plane = if side == 0 { extent.0 } else { extent.1 }[axis];
            for facet in space.boundary().tagged(name).unwrap() {
                found.insert((facet.element, facet.number));
                let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.2, 0.3, 0.0]];
                for point in
                    geometry.facet_at_points(facet.cell as usize, facet.number.into(), &points)
                {
                    assert!((point.position[axis] - plane).abs() < 1e-14);
                    assert_eq!(point.area_normal[axis] > 0.0, side == 1);
                }
            }
            for cell in (0..sides.len()).filter(|&cell| sides.tags[cell] == number) {
                let x: Vec<[f64; 3]> = (sides.cell(cell).iter())
                    .map(|&node| mesh.coordinates.at(node as usize))
                    .collect();
                assert!(x.iter().all(|x| x[axis] == plane));
                let minus = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|c| a[c] - b[c]);
                let (u, v) = match dim {
                    2 => (minus(x[1], x[0]), [0.0, 0.0, 1.0]),
                    _ => (minus(x[1], x[0]), minus(x[2], x[0])),
                };
                let normal = femto_fem::geometry::jacobian::cross(u, v);
                let mut outward = [0.0; 3];
                outward[axis] = [-1.0, 1.0][side as usize];
                assert!(dot(normal, outward) > 0.0, "{name}");
            }
        }
        assert_eq!(found.len(), sides.len());
        assert_eq!(mesh.group(dim, "domain").unwrap(), 7);
    }
}

#[test]
fn irregular_meshes_are_good_and_repeatable() {
    let mut random = Random::new();
    let seed = random.bits();
    let with = |irregular| SimplexBox::<3> {
        irregular,
        ..SimplexBox::unit_cube(12)
    };
    let mesh = with(Some(seed)).build(|x| x).unwrap();
    assert_eq!(mesh, with(Some(seed)).build(|x| x).unwrap());
    assert_ne!(mesh, with(Some(seed ^ 1)).build(|x| x).unwrap());
    let square = SimplexBox::<2> {
        irregular: Some(seed),
        ..SimplexBox::unit_square(40)
    };
    for (mesh, regular) in [
        (mesh, 12f64.powi(-3)),
        (square.build(|x| x).unwrap(), 40f64.powi(-2)),
    ] {
        let geometry = Geometry::new(&mesh).unwrap();
        assert_eq!(geometry.check(&gauss(2).points), Ok(vec![]));
        let determinants = (0..geometry.len()).map(|cell| {
            femto_fem::geometry::jacobian::determinant(&geometry.jacobian(cell, [0.0; 3]))
        });
        let least = determinants.fold(f64::INFINITY, f64::min);
        assert!(least > 0.15 * regular, "{}", least / regular);
    }
}

#[test]
fn invalid_boxes_are_errors() {
    let error = |mesh: SimplexBox<3>| mesh.build(|x| x).unwrap_err().to_string();
    let unit = SimplexBox::unit_cube(2);
    assert!(
        error(SimplexBox {
            cells: [1, 0, 1],
            ..unit
        })
        .contains("[1, 0, 1]")
    );
    assert!(
        error(SimplexBox {
            cells: [2000; 3],
            ..unit
        })
        .contains("2^32")
    );
    assert!(
        error(SimplexBox {
            geometry_degree: 4,
            ..unit
        })
        .contains("degree 4")
    );
    assert!(
        error(SimplexBox {
            upper: [1.0, 0.0, 1.0],
            ..unit
        })
        .contains("0.0")
    );
    let flat = SimplexBox::unit_square(0)
        .build(|x| x)
        .unwrap_err()
        .to_string();
    assert!(flat.contains("[0, 0, 1]"), "{flat}");
}

/// Damaged meshes give an error or a space, never a panic.
#[test]
fn damaged_meshes_are_survived() {
    let mut random = Random::new();
    let all = meshes();
    for round in 0..2000 {
        let mut mesh = all[random.below(all.len())].clone();
        for _ in 0..1 + random.below(3) {
            let block = random.below(2);
            let nodes = mesh.blocks[block].nodes.to_mut();
            let coordinates = mesh.coordinates.to_mut();
            let at = random.below(nodes.len());
            let node = random.below(coordinates.len());
            let axis = random.below(3);
            match random.below(7) {
                0 => nodes[at] = node as u32,
                1 => nodes[at] = random.bits() as u32,
                2 => coordinates[node][axis] = f64::NAN,
                3 => coordinates[node][axis] = f64::from_bits(random.bits()),
                4 => coordinates[node] = coordinates[0],
                5 => mesh.blocks.swap(0, 1),
                _ => {
                    let other = all[random.below(all.len())].blocks[0].clone();
                    mesh.blocks.push(other);
                }
            }
        }
        let Ok(geometry) = Geometry::new(&mesh) else {
            continue;
        };
        let _ = geometry.check(&gauss(2).points);
        let params = SpaceParams {
            degree: (1 + round % 3).into(),
            chunk_nodes: 40,
            ..SpaceParams::default()
        };
        if let Ok(space) = Space::new(&mesh, &geometry, params) {
            check_layout(&space);
            _ = Constraints::of_all_components(&space, &["ymax"]);
            assert_eq!(space.node_positions(&geometry).len(), space.nodes());
        }
    }
}

#[test]
fn gmsh_files_of_simplices_read_back() {
    for mesh in meshes() {
        for version in [Version::V2_2, Version::V4_1] {
            for encoding in [Encoding::Ascii, Encoding::LittleEndian, Encoding::BigEndian] {
                let mut bytes = Vec::new();
                gmsh::write(&mesh, &mut bytes, version, encoding).unwrap();
                let read = gmsh::parse(&bytes, "box.msh").unwrap();
                assert_eq!(read.coordinates, mesh.coordinates);
                assert_eq!(read.blocks, mesh.blocks);
            }
        }
    }
}
