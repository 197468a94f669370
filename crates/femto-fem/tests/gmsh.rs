//! Meshes of other people's making, and our own written and read back.
//!
//! The files under `shared/meshes` lie beside the repository, not in it; the tests on them need
//! that folder and say so when it is not there.

use std::path::Path;

use femto_fem::mesh::box_mesh::BoxMesh;
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{CellBlock, CellType, Mesh, MeshError, PhysicalGroup};

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/meshes");

/// The path of a shared mesh; nothing where the folder is missing altogether.
#[expect(
    clippy::print_stderr,
    reason = "a test that does nothing should say so"
)]
fn shared(name: &str) -> Option<String> {
    if Path::new(SHARED).is_dir() {
        return Some(format!("{SHARED}/{name}"));
    }
    eprintln!("skipped {name}: no folder {SHARED}");
    None
}

/// File, cells by type in file order, size of groups, number of nodes.
type Facts = (
    &'static str,
    &'static [(&'static str, usize)],
    &'static [(usize, &'static str, usize)],
    usize,
);

#[rustfmt::skip]
const FACTS: &[Facts] = &[
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

#[test]
fn shared_meshes_hold_what_their_list_says() -> Result<(), MeshError> {
    for (name, cells, groups, nodes) in FACTS {
        let Some(path) = shared(name) else { continue };
        let summary = Mesh::read(path)?.summary();
        let blocks = summary.blocks.iter();
        let found: Vec<_> = blocks.map(|b| (b.cell_type, b.cells)).collect();
        assert_eq!(found, *cells, "{name}");
        assert_eq!(summary.nodes, *nodes, "{name}");
        for &(dimension, tag, size) in *groups {
            let named = |g: &PhysicalGroup| g.name == tag || g.number.to_string() == tag;
            let mut all = summary.groups.iter();
            let group = all.find(|g| g.group.dimension == dimension && named(&g.group));
            assert_eq!(group.map(|g| g.cells), Some(size), "{name}: {tag}");
        }
    }
    Ok(())
}

#[test]
fn names_and_numbers_find_the_same_cells() -> Result<(), MeshError> {
    let Some(path) = shared("palace-coaxial.msh") else {
        return Ok(());
    };
    let mesh = Mesh::read(path)?;
    assert_eq!(mesh.group(2, "port1")?, mesh.group(2, "3")?);
    let missing = mesh.group(3, "port1").map_err(|e| e.to_string());
    assert_eq!(
        missing,
        Err(
            "no physical group `port1` of dimension 3 in the mesh; it has: `boundaries` = 2 \
             (dimension 2), `port1` = 3 (dimension 2), `port2` = 4 (dimension 2), `cylinder` = 1 \
             (dimension 3)"
                .into()
        )
    );
    Ok(())
}

#[test]
fn version_1_is_refused_by_name() {
    let Some(path) = shared("dealii-hex-negative.msh") else {
        return;
    };
    let error = Mesh::read(path).unwrap_err().to_string();
    let expected = "line 1: unsupported MSH version 1.0; supported are 2.2 and 4.1";
    assert!(error.ends_with(expected), "{error}");
    assert!(error.contains("dealii-hex-negative.msh"), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Mesh::read("no/such.msh").unwrap_err().to_string();
    assert!(error.starts_with("mesh file `no/such.msh`: "), "{error}");
}

/// One mesh, written by Gmsh in 2.2 and 4.1, ASCII and binary. Types, tags and order of the cells,
/// groups and connectivity must be the same in all four, and so must be the position of every node
/// of every cell: bit by bit within an encoding, and to the 16 digits that Gmsh prints between
/// ASCII and binary. Gmsh numbered some nodes differently in 2.2 and in 4.1; within a version the
/// numbers must be the same too.
#[test]
fn the_same_mesh_in_four_formats_reads_identically() -> Result<(), MeshError> {
    let names = ["ascii-64.msh", "ascii.msh2", "binary-64.msh", "binary.msh2"];
    let paths = names.map(|name| shared(&format!("petsc-gmsh-3d-{name}")));
    let [Some(a4), Some(a2), Some(b4), Some(b2)] = paths else {
        return Ok(());
    };
    let [a4, a2] = [Mesh::read(a4)?, Mesh::read(a2)?];
    let [b4, b2] = [Mesh::read(b4)?, Mesh::read(b2)?];
    for (one, other) in [(&a4, &b4), (&a2, &b2)] {
        assert!(one.blocks == other.blocks);
    }
    for (one, other, tolerance) in [(&a4, &a2, 0.0), (&b4, &b2, 0.0), (&a4, &b4, 1e-16)] {
        assert_eq!(one.groups, other.groups);
        let difference = difference(one, other);
        assert!(difference <= tolerance, "{difference:e}");
    }
    Ok(())
}

/// Greatest difference of coordinates between the nodes of the cells of two meshes, whose cells
/// must be the same but for the numbers of their nodes.
fn difference(one: &Mesh, other: &Mesh) -> f64 {
    assert_eq!(one.coordinates.len(), other.coordinates.len());
    assert_eq!(one.blocks.len(), other.blocks.len());
    let mut partner = vec![None; one.coordinates.len()];
    let mut difference: f64 = 0.0;
    for (a, b) in one.blocks.iter().zip(&other.blocks) {
        assert_eq!(a.cell_type, b.cell_type);
        assert_eq!(a.tags, b.tags);
        for (&a, &b) in a.nodes.iter().zip(&b.nodes) {
            assert_eq!(*partner[a as usize].get_or_insert(b), b);
            let pairs = one.coordinates[a as usize].iter();
            let pairs = pairs.zip(&other.coordinates[b as usize]);
            difference = pairs.fold(difference, |most, (a, b)| most.max((a - b).abs()));
        }
    }
    // Every node has a partner, and no two the same.
    partner.sort_unstable();
    assert!(
        partner
            .into_iter()
            .eq((0..one.coordinates.len()).map(|n| Some(n as u32)))
    );
    difference
}

const VERSIONS: [Version; 2] = [Version::V2_2, Version::V4_1];
const ENCODINGS: [Encoding; 3] = [Encoding::Ascii, Encoding::LittleEndian, Encoding::BigEndian];

/// The mesh after it was written and read, once per version and encoding.
fn round_trips(mesh: &Mesh) -> Result<Vec<(String, Mesh)>, Box<dyn std::error::Error>> {
    let mut read = Vec::new();
    for version in VERSIONS {
        for encoding in ENCODINGS {
            let name = format!("{version:?} {encoding:?}");
            let mut bytes = Vec::new();
            gmsh::write(mesh, &mut bytes, version, encoding)?;
            let mesh = gmsh::parse(&bytes, &name)?;
            read.push((name, mesh));
        }
    }
    Ok(read)
}

#[test]
fn what_is_written_is_read_back() -> Result<(), Box<dyn std::error::Error>> {
    for geometry_degree in [1, 2] {
        let mesh = BoxMesh {
            cells: [3, 2, 4],
            lower: [-1e-300, 0.1, 2.0],
            upper: [1.0, 1.0 / 3.0, 2e100],
            geometry_degree,
        }
        .build(|[x, y, z]| [x + 0.1 * y * y, y.sin(), z * (1.0 + 0.1 * x)])?;
        for (name, read) in round_trips(&mesh)? {
            assert_eq!(read, mesh, "{name}");
        }
    }
    Ok(())
}

/// Cells without a group, groups without a name or without a cell, unused nodes, tags that change
/// from cell to cell, a name with spaces, and one number in two dimensions.
#[test]
fn odd_tags_are_read_back() -> Result<(), Box<dyn std::error::Error>> {
    let mut mesh = BoxMesh::unit_cube(2).build(|x| x)?;
    mesh.coordinates.push([9.0; 3]);
    mesh.blocks[0].tags = vec![3, 0, 3, 5, 0, 0, 7, 3];
    mesh.blocks.push(CellBlock {
        cell_type: CellType::LINE2,
        nodes: vec![0, 1, 1, 2],
        tags: vec![3, 0],
    });
    let group = |dimension, number, name: &str| PhysicalGroup {
        dimension,
        number,
        name: name.into(),
    };
    mesh.groups.push(group(3, 3, "the first alloy, 20 °C"));
    mesh.groups.push(group(3, 5, ""));
    mesh.groups.push(group(1, 3, "the first alloy, 20 °C"));
    mesh.groups.push(group(0, 1, "empty"));
    for (name, read) in round_trips(&mesh)? {
        assert_eq!(read, mesh, "{name}");
    }
    Ok(())
}

#[test]
fn a_name_that_would_break_the_file_is_not_written() -> Result<(), MeshError> {
    for name in ["say \"no\"", "two\nlines"] {
        let mut mesh = BoxMesh::unit_cube(1).build(|x| x)?;
        mesh.groups[0].name = name.into();
        let error = gmsh::write(&mesh, &mut Vec::new(), Version::V4_1, Encoding::Ascii);
        let kind = error.map_err(|e| e.kind());
        assert_eq!(kind, Err(std::io::ErrorKind::InvalidInput), "{name}");
    }
    Ok(())
}
