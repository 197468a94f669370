//! Cells, groups and nodes of files written by Gmsh and others.

use std::f64::consts::PI;
use std::path::PathBuf;

use femto_element::Cell;
use femto_element::quadrature::rule;
use femto_fem::geometry::{Geometry, GeometryAtPoints, Points};
use femto_fem::mesh::{Mesh, PhysicalGroup};

use crate::paths::{own, shared};
use crate::read;

/// File, cells by type in file order, size of groups, number of nodes.
type Facts = (
    &'static str,
    &'static [(&'static str, usize)],
    &'static [(usize, &'static str, usize)],
    usize,
);

/// As counted by Gmsh itself; printed by `make.py`.
#[rustfmt::skip]
const OWN: &[Facts] = &[
    ("cylinder-hex27.msh", &[("quad9", 40), ("hex27", 24)],
     &[(2, "top", 12), (2, "bottom", 12), (2, "exterior", 16), (3, "cylinder", 24)], 285),
    ("cylinder-tet10.msh", &[("tri6", 60), ("tet10", 84)],
     &[(2, "top", 14), (2, "bottom", 14), (2, "exterior", 32), (3, "cylinder", 84)], 185),
    ("cylinder-prism18.msh", &[("tri6", 28), ("quad9", 16), ("prism18", 28)],
     &[(2, "top", 14), (2, "bottom", 14), (2, "exterior", 16), (3, "cylinder", 28)], 185),
    ("ring-hex20.msh", &[("quad8", 16), ("hex20", 4)],
     &[(2, "inner", 2), (2, "outer", 2), (2, "start", 2), (2, "end", 2), (2, "bottom", 4),
       (2, "top", 4), (3, "domain", 4)], 51),
    ("ring-tet20.msh", &[("point", 8), ("line4", 20), ("tri10", 32), ("tet20", 24)], &[], 196),
    ("cube-hex8.msh", &[("quad4", 72), ("hex8", 96)],
     &[(2, "xmin", 12), (2, "zmax", 12), (3, "domain", 96)], 147),
    ("sheared-hex27.msh", &[("quad9", 72), ("hex27", 96)],
     &[(2, "xmin", 12), (2, "zmax", 12), (3, "domain", 96)], 941),
    ("box-in-box-4.1-ascii.msh", &[("tri3", 108), ("tet4", 189)],
     &[(2, "boundary", 84), (2, "the inner faces", 24), (3, "1", 165), (3, "2", 24)], 58),
    ("square.msh", &[("point", 1), ("line2", 4), ("tri3", 42)],
     &[(0, "bottom left", 1), (1, "left", 4), (2, "interior", 42)], 30),
    ("ell.msh", &[("point", 7), ("line2", 16), ("tri3", 32)], &[], 26),
    ("hybrid.msh", &[("hex8", 8), ("prism6", 28)], &[(3, "all", 36)], 54),
    ("solids-20.msh", &[("tet10", 1), ("hex20", 1), ("prism15", 1), ("pyramid13", 1)], &[(3, "all", 4)], 36),
    ("solids-27.msh", &[("tet10", 1), ("hex27", 1), ("prism18", 1), ("pyramid14", 1)], &[(3, "all", 4)], 45),
];

#[rustfmt::skip]
const SHARED: &[Facts] = &[
    ("palace-cylinder-hex.msh", &[("quad9", 72), ("hex27", 80)],
     &[(2, "top", 20), (2, "bottom", 20), (2, "exterior", 32), (3, "cylinder", 80)], 801),
    ("palace-cylinder-tet.msh", &[("tri6", 144), ("tet10", 288)],
     &[(2, "top", 24), (2, "bottom", 24), (2, "exterior", 96), (3, "cylinder", 288)], 549),
    ("palace-cylinder-prism.msh", &[("tri6", 48), ("quad9", 48), ("prism18", 96)],
     &[(2, "top", 24), (2, "bottom", 24), (2, "exterior", 48), (3, "cylinder", 96)], 549),
    ("palace-coaxial.msh", &[("quad9", 544), ("hex27", 256)],
     &[(2, "boundaries", 512), (2, "port1", 16), (2, "port2", 16), (3, "cylinder", 256)], 3168),
    ("petsc-gmsh-hex-20node.msh", &[("quad8", 16), ("hex20", 4)],
     &[(2, "bottom", 4), (2, "start", 2), (2, "outer", 2), (2, "end", 2), (2, "inner", 2),
       (2, "top", 4), (3, "domain", 4)], 51),
    ("petsc-cube_q2.msh", &[("point", 8), ("line3", 12), ("tri6", 24), ("tet10", 24)], &[], 63),
    ("petsc-tets-q2.msh", &[("tet10", 4)], &[(3, "MyTetrahedron", 4)], 22),
    ("petsc-tets-q3.msh", &[("tet20", 4)], &[(3, "MyTetrahedron", 4)], 50),
    ("petsc-gmsh-3d-ascii-64.msh", &[("tri3", 160), ("tet4", 364)],
     &[(2, "boundary", 160), (3, "domain", 364)], 131),
    ("petsc-mesh-3d-box-innersphere.msh", &[("tri3", 168), ("tet4", 577)],
     &[(2, "1", 168), (3, "1", 485), (3, "2", 92)], 150),
    ("petsc-mesh-3d-box-innersphere_bin.msh", &[("tri3", 168), ("tet4", 577)],
     &[(2, "1", 168), (3, "1", 485), (3, "2", 92)], 150),
    ("petsc-square_bin_physnames.msh", &[("point", 4), ("line2", 40), ("tri3", 242)],
     &[(0, "bottomleft", 1), (1, "leftside", 10), (2, "interior", 242)], 142),
    ("petsc-hybrid_hexwedge.msh", &[("prism6", 18), ("hex8", 84)], &[], 224),
    ("paranumal-cubeHex.msh", &[("quad4", 216), ("hex8", 216)],
     &[(2, "Inflow", 216), (3, "Domain", 216)], 343),
    ("paranumal-cubeTet.msh", &[("tri3", 300), ("tet4", 750)],
     &[(2, "Inflow", 300), (3, "Domain", 750)], 216),
    ("dealii-sphere_r6.msh", &[("quad4", 150), ("hex8", 4625)], &[(2, "2", 150), (3, "1", 4625)], 4776),
    ("firedrake-broken_rogue_point.msh", &[("point", 1), ("tri3", 4)], &[(0, "7", 1), (2, "8", 4)], 6),
    ("firedrake-t11_tria.msh", &[("point", 4), ("line2", 41), ("tri3", 1321)], &[], 682),
];

fn check(mesh: &Mesh, &(name, cells, groups, nodes): &Facts) {
    let summary = mesh.summary();
    let blocks = summary.blocks.iter();
    let found: Vec<_> = blocks.map(|b| (b.cell_type, b.cells)).collect();
    assert_eq!(found, cells, "{name}");
    assert_eq!(summary.nodes, nodes, "{name}");
    for &(dimension, tag, size) in groups {
        let named = |g: &PhysicalGroup| g.name == tag || g.number.to_string() == tag;
        let mut all = summary.groups.iter();
        let group = all.find(|g| g.group.dimension == dimension && named(&g.group));
        assert_eq!(group.map(|g| g.cells), Some(size), "{name}: {tag}");
    }
}

#[test]
fn files_hold_what_their_list_says() {
    for facts in OWN {
        check(&read(&own(facts.0)), facts);
    }
    for facts in SHARED {
        if let Some(path) = shared(facts.0) {
            check(&read(&path), facts);
        }
    }
}

/// A point used by no other cell is a normal node.
#[test]
fn a_stray_point_is_kept() {
    let mesh = read(&own("ell.msh"));
    let stray = mesh.coordinates.iter().position(|x| x == [7.0, 7.0, 0.0]);
    let stray = stray.unwrap() as u32;
    let cells = mesh
        .blocks
        .iter()
        .filter(|block| block.nodes.all().any(|node| node == stray));
    assert!(cells.map(|block| block.cell_type.name()).eq(["point"]));
    assert_eq!(mesh.summary().unused_nodes, 0);
}

/// A cylinder of radius 1.5 and height 2 with sides of order 2.
#[test]
fn prisms_of_order_2_have_round_sides() {
    let mesh = read(&own("cylinder-prism18.msh"));
    let geometry = Geometry::new(&mesh).unwrap();
    assert!(geometry.check(&[-0.8, 0.0, 0.8]).unwrap().is_empty());
    let rule = rule(Cell::Prism, 5).unwrap();
    let points = Points::List(rule.points);
    let mut at = GeometryAtPoints::default();
    let mut volume = 0.0;
    for cell in 0..geometry.len() {
        geometry.at_points(cell, &points, &mut at);
        let parts = at.determinant.iter().zip(&rule.weights);
        volume += parts.map(|(j, w)| j * w).sum::<f64>();
    }
    // Eight parabolic arcs instead of a circle: short of it by 7e-4 of the area.
    let cylinder = 2.0 * PI * 1.5f64.powi(2);
    assert!((0.9985..1.0).contains(&(volume / cylinder)), "{volume}");
}

#[test]
fn names_and_numbers_find_the_same_cells() {
    let mesh = read(&own("cylinder-hex27.msh"));
    assert_eq!(mesh.group(2, "exterior").unwrap(), 3);
    assert_eq!(mesh.group(2, "3").unwrap(), 3);
    assert_eq!(
        mesh.group(3, "exterior").unwrap_err().to_string(),
        "no physical group `exterior` of dimension 3 in the mesh; it has: `top` = 1 (dimension 2), \
         `bottom` = 2 (dimension 2), `exterior` = 3 (dimension 2), `cylinder` = 4 (dimension 3)"
    );
}

#[test]
fn a_file_of_version_1_is_read() {
    if let Some(path) = shared("dealii-hex-negative.msh") {
        let mut mesh = read(&path);
        assert_eq!(mesh.turn_left_handed(), 0);
        let geometry = Geometry::new(&mesh).unwrap();
        assert!(geometry.check(&[0.0]).unwrap().is_empty());
        assert_eq!(mesh.group(3, "100").unwrap(), 100);
    }
}

/// One mesh, written by Gmsh in 2.2 and 4.1, ASCII and binary. Types, tags and order of the cells,
/// groups and connectivity must be the same in all four, and so must be the position of every node
/// of every cell: bit by bit within an encoding, and to the 16 digits that Gmsh prints between
/// ASCII and binary. Gmsh numbered some nodes differently in 2.2 and in 4.1; within a version the
/// numbers must be the same too.
#[test]
fn the_same_mesh_in_four_formats_reads_identically() {
    let check = |[a4, a2, b4, b2]: [PathBuf; 4]| {
        let [a4, a2, b4, b2] = [&a4, &a2, &b4, &b2].map(|path| read(path));
        for (one, other) in [(&a4, &b4), (&a2, &b2)] {
            assert!(one.blocks == other.blocks);
        }
        for (one, other, tolerance) in [(&a4, &a2, 0.0), (&b4, &b2, 0.0), (&a4, &b4, 1e-16)] {
            assert_eq!(one.groups, other.groups);
            let difference = difference(one, other);
            assert!(difference <= tolerance, "{difference:e}");
        }
    };
    let ours = ["4.1-ascii", "2.2-ascii", "4.1-binary", "2.2-binary"];
    check(ours.map(|name| own(&format!("box-in-box-{name}.msh"))));
    let others = ["ascii-64.msh", "ascii.msh2", "binary-64.msh", "binary.msh2"];
    let others = others.map(|name| shared(&format!("petsc-gmsh-3d-{name}")));
    if let [Some(a4), Some(a2), Some(b4), Some(b2)] = others {
        check([a4, a2, b4, b2]);
    }
}

/// Largest difference of coordinates between the nodes of the cells of two meshes, whose cells must be the
/// same except for node numbers.
fn difference(one: &Mesh, other: &Mesh) -> f64 {
    assert_eq!(one.coordinates.len(), other.coordinates.len());
    assert_eq!(one.blocks.len(), other.blocks.len());
    let mut partner = vec![None; one.coordinates.len()];
    let mut difference: f64 = 0.0;
    for (a, b) in one.blocks.iter().zip(&other.blocks) {
        assert_eq!(a.cell_type, b.cell_type);
        assert_eq!(a.tags, b.tags);
        let nodes = a.cells().flat_map(|cell| cell.each());
        for (a, b) in nodes.zip(b.cells().flat_map(|cell| cell.each())) {
            assert_eq!(*partner[a as usize].get_or_insert(b), b);
            let pairs = one.coordinates.at(a as usize).into_iter();
            let pairs = pairs.zip(other.coordinates.at(b as usize));
            difference = pairs.fold(difference, |most, (a, b)| most.max((a - b).abs()));
        }
    }
    // Every node has a partner, all of them distinct.
    partner.sort_unstable();
    assert!(
        partner
            .into_iter()
            .eq((0..one.coordinates.len()).map(|n| Some(n as u32)))
    );
    difference
}
