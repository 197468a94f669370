//! Our own files written and read back.

use femto_element::CellType;
use femto_fem::mesh::boxes::BoxMesh;
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{CellBlock, Mesh, MeshError, PhysicalGroup};

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
fn written_files_are_read_back() -> Result<(), Box<dyn std::error::Error>> {
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
    mesh.coordinates.to_mut().push([9.0; 3]);
    mesh.blocks[0].tags = vec![3, 0, 3, 5, 0, 0, 7, 3];
    mesh.blocks.push(CellBlock {
        cell_type: CellType::LINE2,
        nodes: vec![0, 1, 1, 2].into(),
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

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Mesh::read("no/such.msh").unwrap_err().to_string();
    assert!(error.starts_with("mesh file `no/such.msh`: "), "{error}");
}
