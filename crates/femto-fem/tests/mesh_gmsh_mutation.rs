//! Damaged files: every small file is cut, flipped and spliced, and must still give a mesh or an error.
//! Deterministic; the fuzzer in `fuzz/` continues from here.

use femto_element::CellType;
use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{CellBlock, Mesh, MeshError, PhysicalGroup, boxes::BoxMesh};

type Failure = Box<dyn std::error::Error>;

/// Two hexahedra with their sides, a line in no group, and an unnamed group.
fn mesh() -> Result<Mesh, MeshError> {
    let mut mesh = BoxMesh {
        cells: [2, 1, 1],
        ..BoxMesh::unit_cube(1)
    }
    .build(|x| x)?;
    mesh.blocks[1].tags[3] = 0;
    mesh.blocks.push(CellBlock {
        cell_type: CellType::LINE2,
        nodes: vec![0, 1].into(),
        tags: vec![9],
    });
    mesh.groups.push(PhysicalGroup {
        dimension: 1,
        number: 9,
        name: String::new(),
    });
    Ok(mesh)
}

/// The mesh in every version and encoding.
fn files() -> Result<Vec<Vec<u8>>, Failure> {
    let mesh = mesh()?;
    let mut files = Vec::new();
    for version in [Version::V2_2, Version::V4_1] {
        for encoding in [Encoding::Ascii, Encoding::LittleEndian, Encoding::BigEndian] {
            let mut bytes = Vec::new();
            gmsh::write(&mesh, &mut bytes, version, encoding)?;
            files.push(bytes);
        }
    }
    Ok(files)
}

/// Whether a damaged file can be read; if so, the mesh must at least be consistent.
fn survives(bytes: &[u8]) -> bool {
    let Ok(mesh) = gmsh::parse(bytes, "damaged.msh") else {
        return false;
    };
    let nodes = mesh.coordinates.len();
    for block in &mesh.blocks {
        assert_eq!(
            block.nodes.len(),
            block.tags.len() * block.cell_type.nodes()
        );
        assert!(block.nodes.all().all(|n| (n as usize) < nodes));
    }
    assert!(mesh.coordinates.iter().flatten().all(|x| x.is_finite()));
    true
}

/// Xorshift: G. Marsaglia, Journal of Statistical Software 8 (2003) 14.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

#[test]
fn cut_files_are_errors() -> Result<(), Failure> {
    for file in files()? {
        assert!(survives(&file));
        let text = file.trim_ascii_end().len();
        for length in 0..text {
            assert!(
                !survives(&file[..length]),
                "cut at {length} of {}",
                file.len()
            );
        }
    }
    Ok(())
}

#[test]
fn missing_pieces_are_survived() -> Result<(), Failure> {
    for file in files()? {
        for start in 0..file.len() {
            for length in [1, 4, 8, 31] {
                let end = (start + length).min(file.len());
                survives(&[&file[..start], &file[end..]].concat());
            }
        }
    }
    Ok(())
}

#[test]
fn flipped_bits_are_survived() -> Result<(), Failure> {
    for file in files()? {
        for at in 0..file.len() {
            let mut damaged = file.clone();
            for bit in 0..8 {
                damaged[at] = file[at] ^ (1 << bit);
                survives(&damaged);
            }
        }
    }
    Ok(())
}

/// Invalid values for counts, types and node numbers.
const HOSTILE: [i64; 14] = [
    i64::MIN,
    i32::MIN as i64,
    -2,
    -1,
    0,
    2,
    7,
    34,
    255,
    i32::MAX as i64,
    u32::MAX as i64,
    1 << 40,
    i64::MAX - 1,
    i64::MAX,
];

#[test]
fn hostile_numbers_are_survived() -> Result<(), Failure> {
    for file in files()? {
        for number in HOSTILE {
            // Replacing every token of ASCII files, and of the text in binary ones.
            let is_start = |at: usize| {
                !file[at].is_ascii_whitespace() && (at == 0 || file[at - 1].is_ascii_whitespace())
            };
            for start in (0..file.len()).filter(|&at| is_start(at)) {
                let token = file[start..].iter().position(u8::is_ascii_whitespace);
                let end = start + token.unwrap_or(file.len() - start);
                let text = number.to_string();
                survives(&[&file[..start], text.as_bytes(), &file[end..]].concat());
            }
            // Over any bytes, in both orders and widths.
            for bytes in [
                &number.to_le_bytes()[..],
                &number.to_be_bytes(),
                &(number as i32).to_le_bytes(),
                &(number as i32).to_be_bytes(),
            ] {
                for start in 0..file.len() - bytes.len() {
                    let mut damaged = file.clone();
                    damaged[start..start + bytes.len()].copy_from_slice(bytes);
                    survives(&damaged);
                }
            }
        }
    }
    Ok(())
}

/// Pieces of one file spliced into another, or twice into the same.
#[test]
fn spliced_files_are_survived() -> Result<(), Failure> {
    let files = files()?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let mut damaged = files[random.below(files.len())].clone();
        for _ in 0..1 + random.below(4) {
            let from = &files[random.below(files.len())];
            let start = random.below(from.len());
            let end = start + random.below(80).min(from.len() - start);
            let at = random.below(damaged.len());
            let until = at + random.below(80).min(damaged.len() - at);
            damaged.splice(at..until, from[start..end].iter().copied());
        }
        survives(&damaged);
    }
    Ok(())
}
