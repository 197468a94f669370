//! Reading allocates at most a small multiple of the file's size, whatever counts the file announces.
//!
//! The only test in its program: the allocator counts for all threads.

use femto_fem::mesh::gmsh::{self, Encoding, Version};
use femto_fem::mesh::{Mesh, boxes::BoxMesh};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

type Failure = Box<dyn std::error::Error>;

/// Maximum bytes allocated at once, per byte of the file.
const FACTOR: usize = 6;
/// Bytes independent of the file, such as error texts.
const SLACK: usize = 16 << 10;

fn peak(bytes: &[u8], name: &str) -> (usize, bool) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let read = gmsh::parse(bytes, name).is_ok();
    (ALLOCATOR.peak_usage() - before, read)
}

fn check(bytes: &[u8], name: &str, expected: bool) {
    let (peak, read) = peak(bytes, name);
    assert_eq!(read, expected, "{name}");
    let bound = FACTOR * bytes.len() + SLACK;
    assert!(
        peak <= bound,
        "{name}: {peak} bytes for {} of the file",
        bytes.len()
    );
}

fn file(mesh: &Mesh, version: Version, encoding: Encoding) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    gmsh::write(mesh, &mut bytes, version, encoding)?;
    Ok(bytes)
}

#[test]
fn memory_is_bounded_by_the_file() -> Result<(), Failure> {
    let mesh = BoxMesh::unit_cube(20).build(|x| x)?;
    for version in [Version::V2_2, Version::V4_1] {
        for encoding in [Encoding::Ascii, Encoding::LittleEndian] {
            let bytes = file(&mesh, version, encoding)?;
            check(&bytes, &format!("{version:?} {encoding:?}"), true);
        }
    }
    // The shortest nodes that the format allows, numbered upwards, downwards and sparsely.
    for step in [1, -1, 1_000_003_i64] {
        let number = |n: i64| if step < 0 { 20_001 - n } else { n * step };
        let nodes: String = (1..=20_000)
            .map(|n| format!("{} 0 0 0\n", number(n)))
            .collect();
        let text = format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n20000\n{nodes}$EndNodes\n\
             $Elements\n0\n$EndElements\n"
        );
        check(text.as_bytes(), &format!("nodes in steps of {step}"), true);
    }
    // Every number in a file, such as counts, numbers and types, replaced by huge ones.
    let small = BoxMesh::unit_cube(1).build(|x| x)?;
    for version in [Version::V2_2, Version::V4_1] {
        let text = String::from_utf8(file(&small, version, Encoding::Ascii)?)?;
        let tokens: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for at in 0..tokens.len() {
            for huge in ["3000", "2000000000", "1099511627776", "9223372036854775807"] {
                let mut damaged = tokens.clone();
                let replacement = format!(
                    "{huge}{}",
                    if tokens[at].ends_with('\n') {
                        '\n'
                    } else {
                        ' '
                    }
                );
                damaged[at] = &replacement;
                let damaged = damaged.concat();
                let (peak, _) = peak(damaged.as_bytes(), "huge");
                assert!(
                    peak <= FACTOR * damaged.len() + SLACK,
                    "{peak} bytes for {damaged}"
                );
            }
        }
    }
    Ok(())
}
