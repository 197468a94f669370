//! VTU files, read back by our own decoder and by VTK.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::Command;

use femto_element::Cell;
use femto_element::basis::BasisError;
use femto_element::basis::nodes::equispaced;
use femto_fem::io::IoError;
use femto_fem::io::vtu::{Field, VtuGrid, write_vtu, write_vtu_to};

/// Two hexahedra side by side in x, curved, each with its own points.
struct TwoCells {
    degree: usize,
    points: Vec<[f64; 3]>,
    cells: Vec<u32>,
    polynomial: Vec<f64>,
    vector: Vec<f32>,
}

/// The curved map of a cell: of degree `degree` in each reference direction, invertible.
fn position(cell: usize, degree: usize, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let d = degree as i32;
    [
        2.0 * cell as f64 + x + 0.1 * y.powi(d),
        1.5 * y + 0.1 * x.powi(d) * z,
        z + 0.2 * x * y.powi(d) - 0.1 * x.powi(d),
    ]
}

/// A polynomial with the full degree in every reference direction and no symmetry.
fn polynomial(cell: usize, degree: usize, [x, y, z]: [f64; 3]) -> f64 {
    let d = degree as i32;
    cell as f64 + x + 2.0 * y + 3.0 * z + x.powi(d) * y.powi(d) * z.powi(d) + 0.5 * x.powi(d) * y
        - 0.25 * y.powi(d) * z
}

impl TwoCells {
    fn new(degree: usize) -> Self {
        let nodes = equispaced(Cell::Hexahedron, degree);
        let mut points = Vec::new();
        let mut values = Vec::new();
        for cell in 0..2 {
            for &x in &nodes {
                points.push(position(cell, degree, x));
                values.push(polynomial(cell, degree, x));
            }
        }
        Self {
            degree,
            cells: (0..points.len() as u32).collect(),
            vector: points.iter().flatten().map(|&x| x as f32).collect(),
            points,
            polynomial: values,
        }
    }

    fn grid(&self) -> VtuGrid<'_> {
        VtuGrid {
            degree: self.degree.into(),
            points: &self.points,
            cells: vec![(Cell::Hexahedron, &self.cells)],
        }
    }

    fn point_fields(&self) -> [Field<'_>; 2] {
        [
            Field::scalar("u", &self.polynomial[..]),
            Field::new("position <f32>", 3, &self.vector[..]),
        ]
    }
}

const TAGS: [i32; 2] = [7, -3];

fn bytes_of(case: &TwoCells) -> Vec<u8> {
    let mut bytes = Vec::new();
    let cell_fields = [Field::scalar("tag", &TAGS[..])];
    write_vtu_to(&mut bytes, &case.grid(), &case.point_fields(), &cell_fields).unwrap();
    bytes
}

/// The raw bytes of the array `name`, decoded independently of the writer.
fn decode(file: &[u8], name: &str) -> Vec<u8> {
    let marker = b"<AppendedData encoding=\"raw\">\n_";
    let at = file
        .windows(marker.len())
        .position(|w| w == marker)
        .unwrap();
    let xml = std::str::from_utf8(&file[..at]).unwrap();
    let line = xml
        .lines()
        .find(|l| l.contains(&format!("Name=\"{name}\"")))
        .unwrap();
    let offset = line
        .split("offset=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let data = &file[at + marker.len() + offset.parse::<usize>().unwrap()..];

    let word = |i: usize| u64::from_le_bytes(data[8 * i..8 * i + 8].try_into().unwrap()) as usize;
    let (blocks, block, last) = (word(0), word(1), word(2));
    let mut at = 8 * (3 + blocks);
    let mut bytes = Vec::new();
    for index in 0..blocks {
        let length = word(3 + index);
        let before = bytes.len();
        flate2::read::ZlibDecoder::new(&data[at..at + length])
            .read_to_end(&mut bytes)
            .unwrap();
        let full = index + 1 < blocks || last == 0;
        assert_eq!(bytes.len() - before, if full { block } else { last });
        at += length;
    }
    bytes
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|&b| f64::from_le_bytes(b))
        .collect()
}

#[test]
fn own_file_decodes_to_what_was_written() {
    // Degree 15 gives arrays of more than one compression block for the points.
    for degree in [1, 2, 15] {
        let case = TwoCells::new(degree);
        let file = bytes_of(&case);
        assert_eq!(doubles(&decode(&file, "u")), case.polynomial);
        assert_eq!(
            doubles(&decode(&file, "Points")),
            case.points.as_flattened()
        );
        let tags = decode(&file, "tag");
        assert_eq!(tags, TAGS.map(i32::to_le_bytes).as_flattened());
        assert_eq!(decode(&file, "types"), [72, 72]);
    }
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    let case = TwoCells::new(2);
    let write = |grid: &VtuGrid<'_>, point: &[Field<'_>], cell: &[Field<'_>]| {
        write_vtu_to(&mut Vec::new(), grid, point, cell).unwrap_err()
    };
    let short = [Field::scalar("u", &case.polynomial[1..])];
    let error = write(&case.grid(), &short, &[]).to_string();
    assert!(
        error.contains("'u' has 53 values") && error.contains("54"),
        "{error}"
    );

    let twice = [Field::scalar("tag", &TAGS[..]); 2];
    assert!(matches!(
        write(&case.grid(), &[], &twice),
        IoError::Field { .. }
    ));

    let cut = VtuGrid {
        cells: vec![(Cell::Hexahedron, &case.cells[..50])],
        ..case.grid()
    };
    assert!(matches!(
        write(&cut, &[], &[]),
        IoError::CellArray { found: 50, .. }
    ));

    let lost = VtuGrid {
        points: &case.points[..53],
        ..case.grid()
    };
    assert!(matches!(
        write(&lost, &[], &[]),
        IoError::PointIndex {
            cell: 1,
            point: 53,
            ..
        }
    ));

    let degree = VtuGrid {
        degree: 0.into(),
        ..case.grid()
    };
    assert!(matches!(
        write(&degree, &[], &[]),
        IoError::Basis(BasisError::Degree { found: 0, .. })
    ));
}

#[test]
fn a_failed_write_leaves_no_file_and_names_the_path() {
    let case = TwoCells::new(1);
    let folder = scratch("failed_write");
    let path = folder.join("out.vtu");
    let bad = [Field::scalar("u", &case.polynomial[1..])];
    assert!(write_vtu(&path, &case.grid(), &bad, &[]).is_err());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);

    let nowhere = folder.join("no/such/folder.vtu");
    let error = write_vtu(&nowhere, &case.grid(), &[], &[]).unwrap_err();
    assert!(error.to_string().contains("no/such/folder.vtu"), "{error}");
}

/// VTK evaluates each cell at points inside; both the map and the field must be those of the
/// polynomials, which fails for any wrong node order.
#[test]
fn vtk_reads_the_same_polynomials() {
    let Some(python) = std::env::var_os("FEMTO_PYTHON") else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return;
    };
    let folder = scratch("vtk");
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/python/read_vtu.py"
    );
    let degrees = 1..=8;
    let paths: Vec<PathBuf> = degrees
        .clone()
        .map(|degree| folder.join(format!("{degree}.vtu")))
        .collect();
    for (degree, path) in degrees.clone().zip(&paths) {
        let case = TwoCells::new(degree);
        let tags = [Field::scalar("tag", &TAGS[..])];
        write_vtu(path, &case.grid(), &case.point_fields(), &tags).unwrap();
    }
    let output = Command::new(python)
        .arg(script)
        .args(&paths)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{errors}{text}"
    );

    let mut samples = [0; 9];
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let degree: usize = words[1].parse().unwrap();
        if words[0] == "grid" {
            let points = 2 * (degree + 1).pow(3);
            let expected = format!("grid {degree} points {points} cells 2 types 72 tags 7 -3");
            assert_eq!(line, expected);
            continue;
        }
        let cell: usize = words[2].parse().unwrap();
        let numbers: Vec<f64> = words[3..].iter().map(|w| w.parse().unwrap()).collect();
        let [p, x, v] = [0, 3, 7].map(|i| [numbers[i], numbers[i + 1], numbers[i + 2]]);
        let u = numbers[6];
        let reference = p.map(|p| 2.0 * p - 1.0);
        let expected = position(cell, degree, reference);
        for axis in 0..3 {
            assert!(
                (x[axis] - expected[axis]).abs() < 1e-12,
                "{line}: {expected:?}"
            );
            assert!(
                (v[axis] - expected[axis]).abs() < 1e-4,
                "{line}: {expected:?}"
            );
        }
        let expected = polynomial(cell, degree, reference);
        assert!((u - expected).abs() < 1e-12, "{line}: {expected}");
        samples[degree] += 1;
    }
    assert_eq!(samples[1..], [2 * 27; 8]);
}

/// An empty folder for one test.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("vtu_{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
