//! Triangles and tetrahedra: volumes, areas, numberings.

use femto_element::MapKind;
use std::f64::consts::PI;
use std::path::Path;

use femto_element::basis::MAX_SIMPLEX_DEGREE;
use femto_element::quadrature::{gauss, simplex_rule};
use femto_fem::geometry::jacobian::dot;
use femto_fem::geometry::{Geometry, GeometryError};
use femto_fem::mesh::Mesh;
use femto_fem::space::{SpaceError, SpaceParams};

use crate::paths::{own, shared};
use crate::simplex_common::{count, inside, volume};
use crate::space_common::layout::check_layout;
use crate::space_common::space;
use crate::{read, sector};

fn geometry(path: &Path) -> Geometry {
    Geometry::new(&read(path)).unwrap()
}

fn check_straight(path: &Path, cells: usize, expected: f64) {
    let file = path.display();
    let geometry = geometry(path);
    assert_eq!(geometry.check(&gauss(3).points), Ok(vec![]), "{file}");
    assert_eq!(geometry.len(), cells, "{file}");
    let affine = |&kind: &MapKind| kind == MapKind::Affine;
    assert!(geometry.kinds().iter().all(affine), "{file}");
    let volume = volume(&geometry, 1);
    assert!((volume / expected - 1.0).abs() < 1e-10, "{file}: {volume}");
}

#[test]
fn straight_meshes_have_their_volumes() {
    for (file, cells, expected) in [
        ("box-in-box-2.2-ascii.msh", 189, 1.0),
        ("box-in-box-4.1-binary.msh", 189, 1.0),
        ("ell.msh", 32, 0.75),
    ] {
        check_straight(&own(file), cells, expected);
    }
    // All straight, though Gmsh puts the inner nodes of quadratic and cubic ones on their straight sides
    // only to 1e-12.
    for (file, cells, expected) in [
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
    ] {
        if let Some(path) = shared(file) {
            check_straight(&path, cells, expected);
        }
    }
}

/// The cube around the cube has groups 1 and 2, and so have both surfaces.
#[test]
fn groups_have_their_volumes_and_areas() {
    let mesh = read(&own("box-in-box-4.1-ascii.msh"));
    for (group, expected) in [(1, 7.0 / 8.0), (2, 1.0 / 8.0)] {
        let mut part = mesh.clone();
        part.blocks.retain(|block| block.cell_type.dimension() == 3);
        let [block] = &mut part.blocks[..] else {
            panic!("one block of tetrahedra");
        };
        let cells = (0..block.len()).filter(|&cell| block.tags[cell] == group);
        let nodes: Vec<u32> = cells.flat_map(|cell| block.cell(cell).to_vec()).collect();
        block.tags = vec![group; nodes.len() / 4];
        block.nodes = nodes.into();
        let volume = volume(&Geometry::new(&part).unwrap(), 1);
        assert!((volume / expected - 1.0).abs() < 1e-12, "{group}: {volume}");
    }
    let (space, geometry) = space(&mesh, SpaceParams::default());
    let rule = simplex_rule(2, 1).unwrap();
    for (group, expected) in [("boundary", 6.0), ("the inner faces", 6.0 / 4.0)] {
        let mut area = 0.0;
        for facet in space.boundary().tagged(group).unwrap() {
            let at =
                geometry.facet_at_points(facet.cell as usize, facet.number.into(), &rule.points);
            let terms = at.iter().zip(&rule.weights);
            area += terms
                .map(|(p, weight)| weight * dot(p.area_normal, p.area_normal).sqrt())
                .sum::<f64>();
        }
        assert!((area / expected - 1.0).abs() < 1e-12, "{group}: {area}");
    }
}

fn check_clockwise(path: &Path, triangles: usize) {
    let error = geometry(path).check(&gauss(3).points).unwrap_err();
    let all_bad = matches!(
        error,
        GeometryError::NotInvertible { bad_cells, cells, .. } if [bad_cells, cells] == [triangles; 2]
    );
    assert!(all_bad, "{error}");
}

#[test]
fn a_file_of_clockwise_triangles_is_an_error() {
    check_clockwise(&own("square.msh"), 42);
    if let Some(path) = shared("petsc-square_bin_physnames.msh") {
        check_clockwise(&path, 242);
    }
}

/// The triangles on the side follow the parabolas of the arcs if the midpoints of their diagonals have the
/// middle angle; Gmsh puts them there in our file, not in the other.
#[test]
fn cylinders_of_tet10_have_their_volumes() {
    let check = |path: &Path, cells: usize, arcs: f64, [radius, height]: [f64; 2], tolerance| {
        let geometry = geometry(path);
        assert_eq!(geometry.check(&gauss(3).points), Ok(vec![]));
        assert_eq!(geometry.len(), cells);
        let kinds = geometry.kinds().iter();
        let curved = kinds.filter(|&&kind| kind == MapKind::Curved).count();
        assert!(curved > cells / 3 && curved < cells, "{curved}");
        let exact = arcs * radius * radius * height * sector(2, PI / arcs);
        let volume = volume(&geometry, 3);
        assert!((volume / exact - 1.0).abs() < tolerance, "{volume} {exact}");
    };
    check(&own("cylinder-tet10.msh"), 84, 8.0, [1.5, 2.0], 1e-12);
    if let Some(path) = shared("palace-cylinder-tet.msh") {
        check(&path, 288, 12.0, [2.74, 5.48], 1e-6);
    }
}

/// A quarter of a ring, radii 1 and 2, height 1/2, with two arcs: a box in polar coordinates, so that every
/// cell has an arc.
#[test]
fn the_ring_of_tet20_has_its_volume() {
    let ring = geometry(&own("ring-tet20.msh"));
    assert_eq!(ring.check(&gauss(3).points), Ok(vec![]));
    assert_eq!(ring.kinds(), [MapKind::Curved; 24]);
    let alpha = PI / 8.0;
    let volume = volume(&ring, 6);
    let exact = 2.0 * (4.0 - 1.0) * sector(3, alpha) * 0.5;
    assert!((volume / exact - 1.0).abs() < 1e-12, "{volume} {exact}");
    let error = volume / (3.0 * alpha) - 1.0;
    assert!(error.abs() < alpha.powi(4) / 30.0, "{error:e}");
}

/// Nodes on periodic sides are merged: 29 of 131 have a partner.
#[test]
fn linked_sides_share_their_nodes() {
    for file in [
        "petsc-gmsh-3d-ascii.msh2",
        "petsc-gmsh-3d-binary.msh2",
        "petsc-gmsh-3d-ascii-64.msh",
        "petsc-gmsh-3d-binary-64.msh",
    ] {
        if let Some(path) = shared(file) {
            let mesh = Mesh::read(path).unwrap();
            let (space, _) = space(&mesh, SpaceParams::default());
            assert_eq!(space.nodes(), 131 - 29, "{file}");
        }
    }
    // Three pairs of opposite sides, which meet at edges and corners.
    for file in [
        "petsc-mesh-3d-box-innersphere.msh",
        "petsc-mesh-3d-box-innersphere_bin.msh",
    ] {
        if let Some(path) = shared(file) {
            let mesh = Mesh::read(path).unwrap();
            let (space, _) = space(&mesh, SpaceParams::default());
            // 21 on each side: 9 inside, 8 on edges, 4 corners; 12 edges of 2 nodes are 3, 8 corners are 1.
            assert_eq!(space.nodes(), 150 - 3 * 9 - 9 * 2 - 7, "{file}");
        }
    }
}

/// Checks the layout and the number of nodes for all degrees, and that groups of facets are found; facets
/// on periodic sides are counted separately.
fn check_numbering(mesh: &Mesh, file: &str) {
    let mesh = &Mesh {
        periodic: vec![],
        ..mesh.clone()
    };
    for degree in 1..=MAX_SIMPLEX_DEGREE {
        let params = SpaceParams {
            degree: degree.into(),
            chunk_nodes: 300,
            ..SpaceParams::default()
        };
        let (space, _) = space(mesh, params);
        check_layout(&space);
        let counts = count(mesh, space.cell());
        let nodes = counts
            .iter()
            .zip(inside(degree))
            .map(|(count, size)| count * size);
        assert_eq!(space.nodes(), nodes.sum::<usize>(), "{file}");
        for group in &mesh.groups {
            if group.dimension + 1 == space.dim() {
                let facets = space.boundary().tagged(&group.number.to_string());
                // Half of this file's triangles are not facets of its tetrahedra.
                if file == "paranumal-cubeTet.msh" {
                    assert!(matches!(
                        facets,
                        Err(SpaceError::NoSuchFacet { count: 150, .. })
                    ));
                    continue;
                }
                let facets = facets.unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(!facets.is_empty(), "{file}: {group}");
            }
        }
    }
}

#[test]
fn meshes_are_numbered() {
    for file in [
        "box-in-box-2.2-binary.msh",
        "cylinder-tet10.msh",
        "ring-tet20.msh",
        "ell.msh",
        "square.msh",
    ] {
        check_numbering(&read(&own(file)), file);
    }
    for file in [
        "paranumal-cubeTet.msh",
        "petsc-gmsh-3d-binary.msh2",
        "petsc-mesh-3d-box-innersphere.msh",
        "palace-cylinder-tet.msh",
        "petsc-tets-q3.msh",
        "firedrake-t11_tria.msh",
        "petsc-square_bin_physnames.msh",
    ] {
        if let Some(path) = shared(file) {
            check_numbering(&read(&path), file);
        }
    }
}
