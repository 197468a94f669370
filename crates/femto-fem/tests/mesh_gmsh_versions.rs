//! Versions of Gmsh's format that femto reads but does not write: the same mesh in each must be read
//! equally.

use femto_fem::mesh::boxes::BoxMesh;
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{Mesh, MeshError};

fn read(bytes: &[u8]) -> Result<Mesh, MeshError> {
    gmsh::parse(bytes, "test.msh")
}

/// Two triangles, "left" in group 1 and "right" in none, an edge in group 7 and one in the group that is called 1
/// as well; node numbers with gaps.
const V2_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
    $PhysicalNames\n2\n1 7 \"wall\"\n2 1 \"left\"\n$EndPhysicalNames\n\
    $Nodes\n4\n10 0 0 0\n20 1 0 0\n30 1 1 0\n40 0 1 0.5\n$EndNodes\n\
    $Elements\n4\n1 1 2 7 1 10 20\n2 1 2 1 2 20 30\n3 2 2 1 1 10 20 30\n4 2 2 0 2 10 30 40\n$EndElements\n";

const V1: &str = "$NOD\n4\n10 0 0 0\n20 1 0 0\n30 1 1 0\n40 0 1 0.5\n$ENDNOD\n\
    $ELM\n4\n1 1 7 1 2 10 20\n2 1 1 2 2 20 30\n3 2 1 1 3 10 20 30\n4 2 0 2 3 10 30 40\n$ENDELM\n";

/// Points 1 and 2, curves 1 (group 7) and 2 (group 1), surfaces 1 (group 1) and 2 (none).
const V4_0: &str = "$MeshFormat\n4 0 8\n$EndMeshFormat\n\
    $PhysicalNames\n2\n1 7 \"wall\"\n2 1 \"left\"\n$EndPhysicalNames\n\
    $Entities\n1 2 2 0\n5 0 0 0 0 0 0 1 99\n\
    1 0 0 0 1 0 0 1 7 2 5 -5\n2 1 0 0 1 1 0 1 1 0\n\
    1 0 0 0 1 1 0 1 1 0\n2 0 0 0 1 1 1 0 3 1 2 -1\n$EndEntities\n\
    $Nodes\n2 4\n1 1 1 2\n10 0 0 0 0.25\n20 1 0 0 0.5\n1 2 0 2\n30 1 1 0\n40 0 1 0.5\n$EndNodes\n\
    $Elements\n4 4\n1 1 1 1\n1 10 20\n2 1 1 1\n2 20 30\n1 2 2 1\n3 10 20 30\n2 2 2 1\n4 10 30 40\n$EndElements\n";

#[test]
fn one_mesh_is_the_same_in_every_version() -> Result<(), MeshError> {
    let wanted = read(V2_2.as_bytes())?;
    assert_eq!(wanted.groups.len(), 3);
    assert_eq!(read(V4_0.as_bytes())?, wanted);
    for version in ["2.1", "2", "2.0"] {
        let text = V2_2.replacen("2.2", version, 1);
        assert_eq!(read(text.as_bytes())?, wanted, "{version}");
    }
    let mut nameless = wanted;
    nameless
        .groups
        .sort_by_key(|group| (group.dimension, group.number));
    for group in &mut nameless.groups {
        group.name.clear();
    }
    assert_eq!(read(V1.as_bytes())?, nameless);
    Ok(())
}

/// In most files of version 2.0 names have no dimension.
#[test]
fn a_name_without_a_dimension_is_that_of_all_groups_with_its_number() -> Result<(), MeshError> {
    let text = V2_2.replacen("2.2", "2", 1);
    let text = text.replace("1 7 \"wall\"\n2 1 \"left\"", "7 \"wall\"\n 1  \"left\"");
    let mesh = read(text.as_bytes())?;
    let groups = mesh.groups.iter();
    let groups: Vec<(usize, i32, &str)> = groups
        .map(|group| (group.dimension, group.number, &group.name[..]))
        .collect();
    assert_eq!(groups, [(1, 1, "left"), (1, 7, "wall"), (2, 1, "left")]);
    let error = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    let twice = text.replace("7 \"wall\"", "1 \"wall\"");
    assert_eq!(
        error(&twice),
        "mesh file `test.msh`, line 7: physical group 1 is named a second time"
    );
    let missing = error(&text.replacen("\n2 0", "\n2.1 0", 1));
    assert!(
        missing.contains("line 6: the dimension of a physical group is 7; it must be"),
        "{missing}"
    );
    Ok(())
}

#[test]
fn names_of_dimension_minus_one_are_passed_over() -> Result<(), MeshError> {
    let text = V2_2.replace("$PhysicalNames\n2\n", "$PhysicalNames\n3\n-1 0 \"all\"\n");
    assert_eq!(read(text.as_bytes())?, read(V2_2.as_bytes())?);
    let text = V2_2.replace("$PhysicalNames\n2\n", "$PhysicalNames\n3\n-2 0 \"all\"\n");
    assert!(read(text.as_bytes()).is_err());
    Ok(())
}

#[test]
fn binary_files_of_2_0_and_2_1_are_those_of_2_2() -> Result<(), Box<dyn std::error::Error>> {
    let mesh = BoxMesh::unit_cube(2).build(|x| x)?;
    for encoding in [Encoding::LittleEndian, Encoding::BigEndian] {
        let mut bytes = Vec::new();
        gmsh::write(&mesh, &mut bytes, Version::V2_2, encoding)?;
        for digit in *b"01" {
            let place = bytes
                .windows(3)
                .position(|part| part == b"2.2")
                .ok_or("no version")?;
            let mut bytes = bytes.clone();
            bytes[place + 2] = digit;
            assert_eq!(read(&bytes)?, mesh);
        }
    }
    Ok(())
}

/// Numbers of 4.0 in a byte order.
struct Bytes(Vec<u8>, bool);

impl Bytes {
    fn text(&mut self, text: &str) {
        self.0.extend(text.as_bytes());
    }

    fn push<const N: usize>(&mut self, [little, big]: [[u8; N]; 2]) {
        self.0.extend(if self.1 { big } else { little });
    }

    fn ints(&mut self, values: &[i32]) {
        values
            .iter()
            .for_each(|value| self.push([value.to_le_bytes(), value.to_be_bytes()]));
    }

    fn counts(&mut self, values: &[u64]) {
        values
            .iter()
            .for_each(|value| self.push([value.to_le_bytes(), value.to_be_bytes()]));
    }

    fn floats(&mut self, values: &[f64]) {
        values
            .iter()
            .for_each(|value| self.push([value.to_le_bytes(), value.to_be_bytes()]));
    }
}

/// Counts have eight bytes there, numbers of nodes and elements four.
#[test]
fn binary_files_of_4_0_are_read() -> Result<(), MeshError> {
    for is_big in [false, true] {
        let mut file = Bytes(Vec::new(), is_big);
        file.text("$MeshFormat\n4 1 8\n");
        file.ints(&[1]);
        file.text("\n$EndMeshFormat\n$PhysicalNames\n2\n1 7 \"wall\"\n2 1 \"left\"\n$EndPhysicalNames\n$Entities\n");
        file.counts(&[1, 2, 2, 0]);
        let entity = |file: &mut Bytes, tag: i32, groups: &[i32], bounds: Option<&[i32]>| {
            file.ints(&[tag]);
            file.floats(&[0.0; 6]);
            file.counts(&[groups.len() as u64]);
            file.ints(groups);
            if let Some(bounds) = bounds {
                file.counts(&[bounds.len() as u64]);
                file.ints(bounds);
            }
        };
        entity(&mut file, 5, &[99], None);
        entity(&mut file, 1, &[7], Some(&[5, -5]));
        entity(&mut file, 2, &[1], Some(&[]));
        entity(&mut file, 1, &[1], Some(&[]));
        entity(&mut file, 2, &[], Some(&[1, 2, -1]));
        file.text("\n$EndEntities\n$Nodes\n");
        file.counts(&[2, 4]);
        file.ints(&[1, 1, 1]);
        file.counts(&[2]);
        for (node, x) in [(10, [0.0, 0.0, 0.0, 0.25]), (20, [1.0, 0.0, 0.0, 0.5])] {
            file.ints(&[node]);
            file.floats(&x);
        }
        file.ints(&[1, 2, 0]);
        file.counts(&[2]);
        for (node, x) in [(30, [1.0, 1.0, 0.0]), (40, [0.0, 1.0, 0.5])] {
            file.ints(&[node]);
            file.floats(&x);
        }
        file.text("\n$EndNodes\n$Elements\n");
        file.counts(&[4, 4]);
        for (entity, cell) in [
            ([1, 1, 1], &[1, 10, 20][..]),
            ([2, 1, 1], &[2, 20, 30]),
            ([1, 2, 2], &[3, 10, 20, 30]),
            ([2, 2, 2], &[4, 10, 30, 40]),
        ] {
            file.ints(&entity);
            file.counts(&[1]);
            file.ints(cell);
        }
        file.text("\n$EndElements\n");
        assert_eq!(read(&file.0)?, read(V2_2.as_bytes())?);
    }
    Ok(())
}

#[rustfmt::skip]
const ERRORS: &[(&str, &str)] = &[
    ("$NOD\n1\n1 0 0 0\n$EndNOD\n", "line 4: expected `$ENDNOD`, found `$EndNOD`"),
    ("$NOD\n0\n$ENDNOD\n$NOD\n0\n$ENDNOD\n", "line 4: a second $NOD section"),
    ("$NOD\n0\n$ENDNOD\n$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "line 4: a second $MeshFormat section"),
    ("$NOD\n0\n$ENDNOD\n", "line 4: the file has no $Elements section"),
    ("$ELM\n0\n$ENDELM\n", "line 1: the file ends where `$EndELM`, for the section that begins here, should be"),
    ("$NOD\n2\n1 0 0 0\n2 1 0 0\n$ENDNOD\n$ELM\n1\n1 1 0 0 3 1 2 2\n$ENDELM\n", "line 8: the number of nodes of an element is 3; it must be the number of nodes of the element's type"),
    ("$NOD\n2\n1 0 0 0\n2 1 0 0\n$ENDNOD\n$ELM\n9\n1 1 0 0 2 1 2\n$ENDELM\n", "line 7: the number of elements is 9: that takes at least 108 bytes, but only 22 are left in the file"),
    ("$MeshFormat\n4 0 4\n", "line 2: unsupported data size 4; supported in MSH 4.0: 8"),
    ("$MeshFormat\n2.1 0 4\n", "line 2: unsupported data size 4; supported in MSH 2.1: 8"),
    ("$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n1 1\n1 4 0 1\n1 0 0 0\n$EndNodes\n", "line 6: the dimension of an entity is 4; it must be 0 to 3"),
    ("$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n1 2\n1 0 0 1\n1 0 0 0\n$EndNodes\n", "line 5: the section announces 2 nodes, but its blocks hold 1"),
];

#[test]
fn errors_name_what_is_wrong_and_where() {
    for (text, expected) in ERRORS {
        let error = read(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("mesh file `test.msh`, {expected}"),
            "for {text:?}"
        );
    }
}
