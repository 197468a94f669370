//! Gmsh files written by hand: valid files that our own writer does not produce, and invalid ones, with the
//! text and line of each error.

use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{Mesh, MeshError, boxes::BoxMesh};

const HEAD_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const HEAD_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";

fn read(text: &str) -> Result<Mesh, MeshError> {
    gmsh::parse(text.as_bytes(), "test.msh")
}

/// The error without the file name, which every error must start with.
fn error(bytes: &[u8]) -> String {
    match gmsh::parse(bytes, "test.msh") {
        Ok(mesh) => format!("no error, but {mesh:?}"),
        Err(error) => {
            let text = error.to_string();
            let rest = text.strip_prefix("mesh file `test.msh`, ");
            rest.map_or(format!("no file name in: {text}"), str::to_string)
        }
    }
}

#[test]
fn numbers_may_be_sparse_and_in_any_order() -> Result<(), MeshError> {
    let mesh = read(
        "$Comments\nanything $End goes\n$EndComments\n\
         $MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
         $Nodes\n4\n9000000000 3 0 0\n5 1 0 0\n2 0 0 0\n700 2 0 0\n$EndNodes\n\
         $Unknown\n1 2 3\n$EndUnknown\n\
         $Elements\n3\n70 1 2 4 1 9000000000 700\n8 1 0 5 700\n1000000000000 15 3 -6 1 1 2\n\
         $EndElements\n",
    )?;
    let x: Vec<f64> = mesh.coordinates.iter().map(|x| x[0]).collect();
    assert_eq!(x, [3.0, 1.0, 0.0, 2.0]);
    assert_eq!(mesh.blocks[0].nodes, vec![0, 3, 1, 3].into());
    assert_eq!(mesh.blocks[0].tags, [4, 0]);
    assert_eq!(mesh.blocks[1].nodes, vec![2].into());
    assert_eq!(mesh.blocks[1].tags, [6]);
    assert_eq!((mesh.group(1, "4")?, mesh.group(0, "6")?), (4, 6));
    Ok(())
}

#[test]
fn windows_line_ends_and_byte_order_marks_change_nothing() -> Result<(), Box<dyn std::error::Error>>
{
    let mesh = BoxMesh::unit_cube(1).build(|x| x)?;
    for version in [Version::V2_2, Version::V4_1] {
        let mut text = Vec::new();
        gmsh::write(&mesh, &mut text, version, Encoding::Ascii)?;
        let text = String::from_utf8(text)?.replace('\n', "\r\n");
        assert_eq!(read(&text)?, mesh);
        assert_eq!(read(&format!("\u{feff}{text}"))?, mesh);
    }
    Ok(())
}

/// A square of one quadrilateral in groups 5 and 6, beside a line of an unlisted entity, with parametric
/// nodes, negative tags and a partition.
#[test]
fn entities_carry_groups_and_parameters() -> Result<(), MeshError> {
    let mesh = read(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
         $PhysicalNames\n1\n2 6 \"lid\"\n$EndPhysicalNames\n\
         $Entities\n0 0 1 0\n3 0 0 0 1 1 0 3 5 -6 5 2 7 -8\n$EndEntities\n\
         $PartitionedEntities\n2\n1\n9 1\n0 1 0 0\n4 1 1 2 1 2 0 0 0 1 0 0 1 8 0\n\
         $EndPartitionedEntities\n\
         $Nodes\n2 4 1 4\n1 4 1 2\n3\n1\n1 1 0 0.5\n0 0 0 0.25\n\
         2 3 1 2\n2\n4\n1 0 0 0.1 0.2\n0 1 0 0.3 0.4\n$EndNodes\n\
         $Elements\n3 3 1 3\n2 3 3 1\n1 1 2 3 4\n1 4 1 1\n2 1 2\n1 77 1 1\n3 2 3\n$EndElements\n",
    )?;
    assert_eq!(mesh.coordinates.at(0), [1.0, 1.0, 0.0]);
    assert_eq!(mesh.blocks[0].nodes, vec![1, 2, 0, 3].into());
    assert_eq!(mesh.groups_of(0, 0).collect::<Vec<i32>>(), [5, 6]);
    assert_eq!(mesh.blocks[1].tags, [8, 0]);
    assert_eq!((mesh.group(2, "lid")?, mesh.group(1, "8")?), (6, 8));
    Ok(())
}

#[test]
fn a_cell_in_two_groups_is_kept_once_with_both() -> Result<(), MeshError> {
    let nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
    let elements = "$Elements\n4\n1 2 2 1 1 1 2 3\n2 2 2 2 1 1 2 3\n\
                    3 4 2 3 1 1 2 3 4\n4 4 2 4 1 1 2 3 4\n$EndElements\n";
    let version_2 = read(&format!("{HEAD_2}{nodes}{elements}"))?;
    let version_4 = read(&format!(
        "{HEAD_4}$Entities\n0 0 1 1\n1 0 0 0 0 0 0 2 1 2 0\n1 0 0 0 0 0 0 2 3 4 0\n$EndEntities\n\
         $Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n\
         $Elements\n2 2 1 2\n2 1 2 1\n1 1 2 3\n3 1 4 1\n2 1 2 3 4\n$EndElements\n"
    ))?;
    for (block, groups) in [(0, [1, 2]), (1, [3, 4])] {
        assert_eq!(version_2.blocks[block].len(), 1);
        assert_eq!(version_2.groups_of(block, 0).collect::<Vec<i32>>(), groups);
    }
    assert_eq!(version_2, version_4);
    let sizes: Vec<usize> = version_2
        .summary()
        .groups
        .iter()
        .map(|it| it.cells)
        .collect();
    assert_eq!(sizes, [1; 4]);
    // Written files keep this.
    for version in [Version::V2_2, Version::V4_1] {
        for encoding in [Encoding::Ascii, Encoding::LittleEndian] {
            let mut bytes = Vec::new();
            gmsh::write(&version_2, &mut bytes, version, encoding).expect("memory");
            assert_eq!(gmsh::parse(&bytes, "again.msh")?, version_2);
        }
    }
    Ok(())
}

/// MSH 4.1 of a 32-bit machine: counts and numbers of 4 bytes.
#[test]
fn sizes_of_four_bytes_are_read() -> Result<(), MeshError> {
    let mut bytes = b"$MeshFormat\n4.1 1 4\n".to_vec();
    let ints = |bytes: &mut Vec<u8>, values: &[i32]| {
        bytes.extend(values.iter().flat_map(|v| v.to_be_bytes()));
    };
    ints(&mut bytes, &[1]);
    bytes.extend(b"\n$EndMeshFormat\n$Nodes\n");
    ints(&mut bytes, &[1, 1, 10, 10, 0, 1, 0, 1, 10]);
    bytes.extend([1.0, 2.0, 3.0f64].iter().flat_map(|x| x.to_be_bytes()));
    bytes.extend(b"\n$EndNodes\n$Elements\n");
    ints(&mut bytes, &[1, 1, 1, 1, 0, 1, 15, 1, 1, 10]);
    bytes.extend(b"\n$EndElements\n");
    let mesh = gmsh::parse(&bytes, "test.msh")?;
    assert_eq!(mesh.coordinates, vec![[1.0, 2.0, 3.0]].into());
    assert_eq!(mesh.blocks[0].nodes, vec![0].into());
    Ok(())
}

#[rustfmt::skip]
const FORMAT_ERRORS: &[(&str, &str)] = &[
    ("", "line 1: the file has no $MeshFormat section"),
    (" \n\n", "line 3: the file has no $MeshFormat section"),
    ("<VTKFile type=\"x\">", "line 1: not a Gmsh mesh: it begins with `<VTKFile`; supported are Gmsh MSH 1.0, 2.0 to 2.2, 4.0 and 4.1"),
    ("$MeshFormat\n4.2 0 8\n$EndMeshFormat\n", "line 2: unsupported MSH version 4.2; supported are 1.0, 2.0, 2.1, 2.2, 4.0 and 4.1"),
    ("$MeshFormat\n3 0 8\n$EndMeshFormat\n", "line 2: unsupported MSH version 3; supported are 1.0, 2.0, 2.1, 2.2, 4.0 and 4.1"),
    ("$MeshFormat\nnan 0 8\n", "line 2: unsupported MSH version nan; supported are 1.0, 2.0, 2.1, 2.2, 4.0 and 4.1"),
    ("$MeshFormat\n2.2 2 8\n", "line 2: the file type is 2; it must be 0 (ASCII) or 1 (binary)"),
    ("$MeshFormat\n2.2 0 4\n", "line 2: unsupported data size 4; supported in MSH 2.2: 8"),
    ("$MeshFormat\n4.1 0 16\n", "line 2: unsupported data size 16; supported in MSH 4.1: 4 and 8"),
    ("$MeshFormat\n4.1 0 8 9\n", "line 2: expected the end of the line, found `9`"),
    ("$MeshFormat\n4.1 0", "line 2: the file ends where the data size should be"),
    ("$MeshFormat\n4.1 1 8\nabcd", "line 3: the byte-order mark of a binary file must be the 32-bit integer 1, found bytes [97, 98, 99, 100]"),
    ("$MeshFormat\n4.1 1 8\nab", "line 3: the file ends where the byte-order mark should be"),
    ("$MeshFormat\n2.2 0 8\n$Nodes\n", "line 3: expected `$EndMeshFormat`, found `$Nodes`"),
    ("$Nodes\n0\n$EndNodes\n", "line 1: section $Nodes comes before $MeshFormat"),
    ("$Comments\n$EndComment\n", "line 1: the file ends where `$EndComments`, for the section that begins here, should be"),
];

#[test]
fn errors_of_the_format() {
    for (text, expected) in FORMAT_ERRORS {
        assert_eq!(error(text.as_bytes()), *expected, "for {text:?}");
    }
}

/// Text after the format section of a 2.2 file, which ends on line 3.
#[rustfmt::skip]
const VERSION_2_ERRORS: &[(&str, &str)] = &[
    ("", "line 4: the file has no $Nodes section"),
    ("$Nodes\n0\n$EndNodes\n", "line 7: the file has no $Elements section"),
    ("nodes\n", "line 4: expected the beginning of a section, such as `$Nodes`, found `nodes`"),
    ("$EndNodes\n", "line 4: expected the beginning of a section, such as `$Nodes`, found `$EndNodes`"),
    ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "line 4: a second $MeshFormat section"),
    ("$Elements\n0\n$EndElements\n", "line 4: section $Elements comes before $Nodes"),
    ("$Nodes\n", "line 5: the file ends where the number of nodes should be"),
    ("$Nodes\n-1\n", "line 5: the number of nodes is -1; it must be 0 or more"),
    ("$Nodes\n9223372036854775807\n1 0 0 0\n", "line 5: the number of nodes is 9223372036854775807: that takes at least 73786976294838206456 bytes, but only 8 are left in the file"),
    ("$Nodes\n99999999999999999999\n", "line 5: the number of nodes is `99999999999999999999`; it must be a 64-bit integer"),
    ("$Nodes\n2\n1 0 0 0\n2 0 0\n$EndNodes\n", "line 8: expected a z coordinate, found `$EndNodes`"),
    ("$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n", "line 7: node number 1 occurs a second time"),
    ("$Nodes\n2\n7777 0 0 0\n7777 0 0 0\n$EndNodes\n", "line 7: node number 7777 occurs a second time"),
    ("$Nodes\n1\n0 0 0 0\n$EndNodes\n", "line 6: a node number is 0; it must be 1 or more"),
    ("$Nodes\n1\n-5 0 0 0\n$EndNodes\n", "line 6: a node number is -5; it must be 0 or more"),
    ("$Nodes\n1\n1.5 0 0 0\n$EndNodes\n", "line 6: expected a node number, found `1.5`"),
    ("$Nodes\n1\n1 0 nan 0\n$EndNodes\n", "line 6: node 1 lies at [0.0, NaN, 0.0]: coordinates must be finite"),
    ("$Nodes\n1\n1 0 0 1e999\n$EndNodes\n", "line 6: node 1 lies at [0.0, 0.0, inf]: coordinates must be finite"),
    ("$Nodes\n1\n1 0 0 zero\n$EndNodes\n", "line 6: expected a z coordinate, found `zero`"),
    ("$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n", "line 7: expected `$EndNodes`, found `2`"),
    ("$Nodes\n1\n1 0 0 0\n$Elements\n", "line 7: expected `$EndNodes`, found `$Elements`"),
    ("$ParametricNodes\n0\n$EndParametricNodes\n", "line 4: nodes with parametric coordinates are only read in version 4: write the mesh with `Mesh.SaveParametric = 0`"),
    ("$Nodes\n0\n$EndNodes\n$Nodes\n0\n$EndNodes\n", "line 7: a second $Nodes section"),
    ("$PhysicalNames\n1\n4 1 \"a\"\n$EndPhysicalNames\n", "line 6: the dimension of a physical group is 4; it must be 0 to 3, or -1"),
    ("$PhysicalNames\n1\n2 0 \"a\"\n$EndPhysicalNames\n", "line 6: the number of a physical group is 0; it must be 1 to 2^31 - 1"),
    ("$PhysicalNames\n1\n2 1 a\n$EndPhysicalNames\n", "line 6: expected the name of a physical group in double quotes, found `a`"),
    ("$PhysicalNames\n1\n2 1 \"a\n$EndPhysicalNames\n", "line 6: expected the name of a physical group in double quotes, found `\\\"a`"),
    ("$PhysicalNames\n2\n2 1 \"a\"\n2 1 \"b\"\n$EndPhysicalNames\n", "line 7: physical group 1 of dimension 2 is declared a second time"),
];

#[test]
fn errors_of_version_2_nodes_and_names() {
    for (text, expected) in VERSION_2_ERRORS {
        let text = format!("{HEAD_2}{text}");
        assert_eq!(error(text.as_bytes()), *expected, "for {text:?}");
    }
}

/// Text after a count of 2 elements on line 11 of a 2.2 file with the nodes 1, 2 and 3.
#[rustfmt::skip]
const ELEMENT_ERRORS: &[(&str, &str)] = &[
    ("1 1 2 7 7 1 2\n1 1 2 7 7 2 3\n", "line 13: element number 1 occurs a second time"),
    ("1 1 2 7 7 1 2\n2 1 2 7 7 2 4\n", "line 13: element 2 refers to node 4, which the file does not have"),
    ("1 1 2 7 7 1 9000000000000\n", "line 12: element 1 refers to node 9000000000000, which the file does not have"),
    ("1 1 2 7 7 1 -2\n", "line 12: a node number of an element is -2; it must be 0 or more"),
    ("-1 1 2 7 7 1 2\n", "line 12: an element number is -1; it must be 0 or more"),
    ("1 1 -2 7 7 1 2\n", "line 12: the number of tags of an element is -2; it must be 0 or more"),
    ("1 1 1000000000000 7 7 1 2\n", "line 13: expected an element tag, found `$EndElements`"),
    ("1 1 2 -2147483648 7 1 2\n", "line 12: a physical tag is -2147483648; it must be a number between -2^31 and 2^31"),
    ("1 1 2 2147483648 7 1 2\n", "line 12: an element tag is 2147483648; it must be a 32-bit integer"),
    ("1 1 2 7 7 1 2\n", "line 13: expected an element number, found `$EndElements`"),
    ("1 1 2 7 7 1 2 3\n", "line 13: expected an element type, found `$EndElements`"),
];

#[test]
fn errors_of_version_2_elements() {
    let nodes = "$Nodes\n3\n1 0 0 0\n2 0 0 0\n3 0 0 0\n$EndNodes\n";
    let file = |elements: &str| format!("{HEAD_2}{nodes}$Elements\n2\n{elements}$EndElements\n");
    for (elements, expected) in ELEMENT_ERRORS {
        assert_eq!(
            error(file(elements).as_bytes()),
            *expected,
            "for {elements:?}"
        );
    }
    let polygon = error(file("1 34 2 7 7 1 2\n").as_bytes());
    assert!(
        polygon.starts_with(
            "line 12: element type 34 is not supported; supported are 1 (line2), 2 (tri3)"
        ),
        "{polygon}"
    );
}

/// Entities, nodes and elements of a 4.1 file, each from line 4 on.
#[rustfmt::skip]
const VERSION_4_ERRORS: &[(&str, &str)] = &[
    ("$Entities\n0 0 0 8\n$EndEntities\n", "line 5: the number of entities is 8: that takes at least 16 bytes, but only 14 are left in the file"),
    ("$Entities\n0 0 0 1\n1 0 0 0 0 0 0 500000000 1 0\n$EndEntities\n", "line 6: the number of physical tags of an entity is 500000000: that takes at least 1000000000 bytes, but only 18 are left in the file"),
    ("$Entities\n0 0 0 1\n1 0 0 0 0 0 0 1 1 2 1\n$EndEntities\n", "line 7: expected a tag, found `$EndEntities`"),
    ("$Nodes\n1 1 1 1\n4 1 0 1\n1\n0 0 0\n$EndNodes\n", "line 6: the dimension of an entity is 4; it must be 0 to 3"),
    ("$Nodes\n1 1 1 1\n3 1 2 1\n1\n0 0 0\n$EndNodes\n", "line 6: the parametric flag of a node block is 2; it must be 0 or 1"),
    ("$Nodes\n1 2 1 2\n3 1 0 1\n1\n0 0 0\n$EndNodes\n", "line 5: the section announces 2 nodes, but its blocks hold 1"),
    ("$Nodes\n1 1 1 1\n3 1 0 2\n1\n2\n0 0 0\n1 1 1\n$EndNodes\n", "line 5: the section announces 1 nodes, but its blocks hold 2"),
    ("$Nodes\n1 2 1 2\n3 1 0 2\n1\n1\n0 0 0\n1 1 1\n$EndNodes\n", "line 8: node number 1 occurs a second time"),
    ("$Nodes\n1 1 1 1\n3 1 0 1\n1\n0 0 -inf\n$EndNodes\n", "line 7: node 1 lies at [0.0, 0.0, -inf]: coordinates must be finite"),
    ("$Nodes\n1 1 1 1\n3 1 0 9\n1\n0 0 0\n$EndNodes\n", "line 6: the number of nodes is 9: that takes at least 72 bytes, but only 19 are left in the file"),
    ("$Nodes\n99999 1 1 1\n3 1 0 1\n1\n0 0 0\n$EndNodes\n", "line 5: the number of node blocks is 99999: that takes at least 799992 bytes, but only 33 are left in the file"),
];

/// Elements of a 4.1 file with the nodes 1 and 2, the count on line 11.
#[rustfmt::skip]
const BLOCK_ERRORS: &[(&str, &str)] = &[
    ("1 1 1 1\n2 1 1 1\n1 1 2\n", "line 12: elements of type line2 in an entity of dimension 2"),
    ("1 1 1 1\n1 1 99 1\n1 1 2\n", "line 12: element type 99 is not supported; supported are "),
    ("1 1 1 1\n1 1 1 1\n1 1 3\n", "line 13: element 1 refers to node 3, which the file does not have"),
    ("1 2 1 2\n1 1 1 2\n1 1 2\n1 2 1\n", "line 14: element number 1 occurs a second time"),
    ("2 2 1 2\n1 1 1 1\n1 1 2\n", "line 14: expected the dimension of an entity, found `$EndElements`"),
    ("1 3 1 2\n1 1 1 1\n1 1 2\n", "line 11: the section announces 3 elements, but its blocks hold 1"),
    ("1 1 1 1\n1 1 1 7\n1 1 2\n", "line 12: the number of elements is 7: that takes at least 42 bytes, but only 20 are left in the file"),
];

#[test]
fn errors_of_version_4() {
    for (text, expected) in VERSION_4_ERRORS {
        let text = format!("{HEAD_4}{text}");
        assert_eq!(error(text.as_bytes()), *expected, "for {text:?}");
    }
    let nodes = "$Nodes\n1 2 1 2\n3 1 0 2\n1 2\n0 0 0 0 0 1\n$EndNodes\n";
    for (elements, expected) in BLOCK_ERRORS {
        let text = format!("{HEAD_4}{nodes}$Elements\n{elements}$EndElements\n");
        let found = error(text.as_bytes());
        assert!(found.starts_with(expected), "{found:?} for {text:?}");
    }
    let late = format!("{HEAD_4}{nodes}$Elements\n0 0 0 0\n$EndElements\n$Entities\n");
    let expected = "line 13: section $Elements comes before $Entities";
    assert_eq!(error(late.as_bytes()), expected);
}

/// A file of one curve in the groups 1 to `groups`, with this many lines.
fn lines_in_groups(lines: usize, groups: usize) -> String {
    let numbers: Vec<String> = (1..=groups).map(|group| group.to_string()).collect();
    let cells: Vec<String> = (1..=lines).map(|cell| format!("{cell} 1 2\n")).collect();
    format!(
        "{HEAD_4}$Entities\n0 1 0 0\n1 0 0 0 0 0 0 {groups} {} 0\n$EndEntities\n\
         $Nodes\n1 2 1 2\n1 1 0 2\n1 2\n0 0 0 0 0 1\n$EndNodes\n\
         $Elements\n1 {lines} 1 {lines}\n1 1 1 {lines}\n{}$EndElements\n",
        numbers.join(" "),
        cells.join("")
    )
}

#[test]
fn cells_may_be_in_many_groups() {
    let text = lines_in_groups(100, 6);
    let mesh = gmsh::parse(text.as_bytes(), "text").unwrap();
    assert_eq!((mesh.blocks[0].len(), mesh.memberships.len()), (100, 500));
    assert!(mesh.groups_of(0, 0).eq(1..=6));
}

/// Two curves have the same line, which is one cell in both groups; the third's is in two groups.
#[test]
fn merged_cells_keep_the_groups_of_others() {
    let text = format!(
        "{HEAD_4}$Entities\n0 3 0 0\n1 0 0 0 1 0 0 1 10 0\n2 0 0 0 1 0 0 1 20 0\n3 0 0 0 1 0 0 2 30 40 0\n\
         $EndEntities\n$Nodes\n1 3 1 3\n1 1 0 3\n1 2 3\n0 0 0 1 0 0 2 0 0\n$EndNodes\n\
         $Elements\n3 4 1 4\n1 1 1 1\n1 1 2\n1 2 1 1\n2 1 2\n1 3 1 2\n3 2 3\n4 3 1\n$EndElements\n"
    );
    let mesh = gmsh::parse(text.as_bytes(), "text").unwrap();
    let groups: Vec<Vec<i32>> = (0..mesh.blocks[0].len())
        .map(|cell| mesh.groups_of(0, cell).collect())
        .collect();
    assert_eq!(groups, [[10, 20], [30, 40], [30, 40]]);
}

/// A cell in a hundred thousand groups, one after the other, takes linear time.
#[test]
fn a_cell_may_be_repeated_for_very_many_groups() {
    let many = 100_000;
    let of_groups = |groups: Vec<i32>| {
        let line = |(number, group): (usize, &i32)| format!("{} 1 2 {group} 1 1 2\n", number + 1);
        let lines: String = groups.iter().enumerate().map(line).collect();
        let nodes = "$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n";
        let count = groups.len();
        let text = format!("{HEAD_2}{nodes}$Elements\n{count}\n{lines}$EndElements\n");
        read(&text).unwrap()
    };
    let mesh = of_groups((1..=many).collect());
    assert_eq!(mesh.blocks[0].len(), 1);
    assert!(mesh.groups_of(0, 0).eq(1..=many));
    // In a group that it has, it is another cell.
    let mesh = of_groups((1..=many).chain([8]).collect());
    assert_eq!(mesh.blocks[0].len(), 2);
}

/// A mesh made by a program may have cells that are in groups only by memberships.
#[test]
fn cells_with_memberships_alone_are_written_once_for_each() {
    let lines = "1 1 2 1 1 1 2\n2 1 2 2 1 1 2\n3 1 2 1 1 2 3\n4 1 2 2 1 2 3\n";
    let nodes = "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 2 0 0\n$EndNodes\n";
    let text = format!("{HEAD_2}{nodes}$Elements\n4\n{lines}$EndElements\n");
    let mut mesh = read(&text).unwrap();
    mesh.blocks[0].tags[1] = 0;
    for encoding in [Encoding::Ascii, Encoding::LittleEndian] {
        for version in [Version::V2_2, Version::V4_1] {
            let mut bytes = Vec::new();
            gmsh::write(&mesh, &mut bytes, version, encoding).unwrap();
            let found = gmsh::parse(&bytes, "test.msh").unwrap();
            let blocks = &found.blocks;
            assert_eq!(blocks.iter().map(|it| it.len()).sum::<usize>(), 2);
            let groups = |block| found.groups_of(block, 0).collect::<Vec<i32>>();
            let mut all: Vec<_> = (0..blocks.len()).map(groups).collect();
            all.extend((blocks.len() == 1).then(|| found.groups_of(0, 1).collect()));
            assert_eq!(all, [vec![1, 2], vec![2]], "{version:?} {encoding:?}");
        }
    }
}

/// Memberships are kept up to a memory bound.
#[test]
fn cells_in_absurdly_many_groups_are_refused() {
    let text = lines_in_groups(1000, 2000);
    let expected = "the cells of this file are in too many physical groups at once";
    let found = error(text.as_bytes());
    assert!(found.ends_with(expected), "{found}");
}
