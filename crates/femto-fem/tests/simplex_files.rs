//! Triangles and tetrahedra of meshes that nobody here made (../shared/meshes).
#![allow(clippy::unwrap_used)]

mod simplex_common;
mod space_common;

use std::f64::consts::PI;

use femto_fem::geometry::{Geometry, GeometryError, GeometryKind};
use femto_fem::mesh::Mesh;
use femto_fem::quadrature::gauss;
use femto_fem::reference::MAX_SIMPLEX_DEGREE;
use femto_fem::space::{SpaceError, SpaceParams};
use simplex_common::{count, inside, volume};
use space_common::layout::check_layout;
use space_common::space;

fn mesh(file: &str) -> Mesh {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/meshes");
    Mesh::read(format!("{folder}/{file}")).unwrap()
}

fn read(file: &str) -> Geometry {
    Geometry::new(&mesh(file)).unwrap()
}

#[test]
fn meshes_that_nobody_here_made_have_their_volumes() {
    // All straight, though Gmsh puts the inner nodes of the quadratic and cubic ones on their
    // straight sides only to 1e-12.
    let meshes = [
        ("paranumal-cubeTet.msh", 750, 8.0),
        ("petsc-cube_q2.msh", 24, 1.0),
        ("petsc-tets-q2.msh", 4, 2.0 / 3.0),
        ("petsc-tets-q3.msh", 4, 2.0 / 3.0),
        ("petsc-gmsh-3d-ascii.msh2", 364, 1.0),
        ("petsc-gmsh-3d-ascii-64.msh", 364, 1.0),
        ("petsc-gmsh-3d-binary-64.msh", 364, 1.0),
        ("petsc-gmsh-3d-binary.msh2", 364, 1.0),
        ("petsc-mesh-3d-box-innersphere.msh", 577, 1.0),
        ("petsc-mesh-3d-box-innersphere_bin.msh", 577, 1.0),
        ("firedrake-t11_tria.msh", 1321, 4.375),
    ];
    for (file, cells, expected) in meshes {
        let geometry = read(file);
        assert_eq!(geometry.check(&gauss(3).points), Ok(vec![]), "{file}");
        assert_eq!(geometry.len(), cells, "{file}");
        assert!(
            geometry
                .kinds()
                .iter()
                .all(|&kind| kind == GeometryKind::Affine),
            "{file}"
        );
        let volume = volume(&geometry, 1);
        assert!((volume / expected - 1.0).abs() < 1e-10, "{file}: {volume}");
    }
}

#[test]
fn a_file_of_clockwise_triangles_is_an_error() {
    let geometry = read("petsc-square_bin_physnames.msh");
    let error = geometry.check(&gauss(3).points).unwrap_err();
    let all_bad = matches!(
        error,
        GeometryError::NotInvertible {
            bad_cells: 242,
            cells: 242,
            ..
        }
    );
    assert!(all_bad, "{error}");
}

/// With 12 arcs of half-angle α = π/12; see geometry_meshes.rs.
/// Edges that run across the arcs are no parabolas of the circle, hence the tolerance.
#[test]
fn the_cylinder_of_tet10_has_its_volume() {
    let geometry = read("palace-cylinder-tet.msh");
    assert_eq!(geometry.check(&gauss(3).points), Ok(vec![]));
    assert_eq!(geometry.len(), 288);
    let kinds = geometry.kinds().iter();
    let curved = kinds.filter(|&&kind| kind == GeometryKind::Curved).count();
    assert!(curved > 100 && curved < 288, "{curved}");
    let (alpha, radius, height) = (PI / 12.0, 2.74, 5.48);
    let exact = 12.0 * radius * radius * height * alpha.sin() * (1.0 + (1.0 - alpha.cos()) / 3.0);
    let volume = volume(&geometry, 3);
    assert!((volume / exact - 1.0).abs() < 1e-6, "{volume} {exact}");
}

#[test]
fn meshes_that_nobody_here_made_are_numbered() {
    let files = [
        "paranumal-cubeTet.msh",
        "petsc-gmsh-3d-binary.msh2",
        "petsc-mesh-3d-box-innersphere.msh",
        "palace-cylinder-tet.msh",
        "petsc-tets-q3.msh",
        "firedrake-t11_tria.msh",
        "petsc-square_bin_physnames.msh",
    ];
    for file in files {
        let mesh = mesh(file);
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            let params = SpaceParams {
                degree,
                chunk_nodes: 300,
                ..SpaceParams::default()
            };
            let (space, _) = space(&mesh, params);
            check_layout(&space);
            let counts = count(&mesh, space.cell_shape());
            let nodes = counts
                .iter()
                .zip(inside(degree))
                .map(|(count, size)| count * size);
            assert_eq!(space.nodes(), nodes.sum::<usize>(), "{file}");
            for group in &mesh.groups {
                if group.dimension + 1 == space.dim() {
                    let faces = space.boundary_faces(&group.number.to_string());
                    // Half of this file's triangles are no faces of its tetrahedra.
                    if file == "paranumal-cubeTet.msh" {
                        assert!(matches!(
                            faces,
                            Err(SpaceError::NoSuchFace { count: 150, .. })
                        ));
                        continue;
                    }
                    let faces = faces.unwrap_or_else(|error| panic!("{file}: {error}"));
                    assert!(!faces.is_empty(), "{file}: {group}");
                }
            }
        }
    }
}
