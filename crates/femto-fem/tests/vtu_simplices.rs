//! VTU files of triangles, tetrahedra, prisms and pyramids, read back by VTK.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::Command;

use femto_element::basis::BasisError;
use femto_element::basis::nodes::equispaced;
use femto_element::{Cell, Degree};
use femto_fem::io::IoError;
use femto_fem::io::vtu::{Field, VtuGrid, write_vtu, write_vtu_to};

/// Two cells side by side in x, curved, each with its own points.
struct TwoCells {
    cell: Cell,
    degree: Degree,
    points: Vec<[f64; 3]>,
    cells: Vec<u32>,
    polynomial: Vec<f64>,
    vector: Vec<f32>,
}

/// The curved map of a cell: of degree `degree`, invertible.
fn position(cell: usize, dim: usize, degree: Degree, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let d = degree.horizontal as i32;
    let up = if dim == 3 { 1.0 } else { 0.0 };
    [
        2.0 * cell as f64 + x + 0.1 * y.powi(d),
        1.5 * y + 0.1 * x.powi(d - 1) * (y + z),
        up * (z + 0.2 * (x + y).powi(d)),
    ]
}

/// A polynomial of full degree with no symmetry.
fn polynomial(cell: usize, degree: Degree, [x, y, z]: [f64; 3]) -> f64 {
    let [least, along, up] =
        [degree.least(), degree.horizontal, degree.vertical].map(|degree| degree as i32);
    let mixed = (x + 0.3 * y - 0.7 * z).powi(least) + x.powi(along - 1) * y + z.powi(up);
    cell as f64 + x + 2.0 * y + 3.0 * z + mixed
}

impl TwoCells {
    fn new(cell: Cell, degree: impl Into<Degree>) -> Self {
        let degree = degree.into();
        let nodes = equispaced(cell, degree);
        let all = || (0..2).flat_map(|cell| nodes.iter().map(move |&xi| (cell, xi)));
        let points: Vec<[f64; 3]> = all()
            .map(|(place, xi)| position(place, cell.dim(), degree, xi))
            .collect();
        Self {
            cell,
            degree,
            cells: (0..points.len() as u32).collect(),
            vector: points.iter().flatten().map(|&x| x as f32).collect(),
            points,
            polynomial: all()
                .map(|(cell, xi)| polynomial(cell, degree, xi))
                .collect(),
        }
    }

    fn grid(&self) -> VtuGrid<'_> {
        VtuGrid {
            degree: self.degree,
            points: &self.points,
            cells: vec![(self.cell, &self.cells)],
        }
    }
}

#[test]
fn grids_that_do_not_fit_are_errors() {
    let case = TwoCells::new(Cell::Tetrahedron, 2);
    let error = |grid: &VtuGrid<'_>| write_vtu_to(&mut Vec::new(), grid, &[], &[]).unwrap_err();
    let degree = error(&VtuGrid {
        degree: 9.into(),
        ..case.grid()
    });
    assert!(
        matches!(degree, IoError::Basis(BasisError::Degree { found: 9, .. })),
        "{degree}"
    );
    let prism = TwoCells::new(Cell::Prism, Degree::new(1, 6));
    let mistaken = error(&prism.grid()).to_string();
    assert!(
        mistaken.starts_with("prisms of degree 1 horizontally and 6 vertically cannot be written"),
        "{mistaken}"
    );
    let point = error(&VtuGrid {
        cells: vec![(Cell::Point, &case.cells)],
        ..case.grid()
    });
    assert!(
        matches!(
            point,
            IoError::Basis(BasisError::Cell { cell: Cell::Point })
        ),
        "{point}"
    );
    let cut = error(&VtuGrid {
        cells: vec![(Cell::Tetrahedron, &case.cells[..19])],
        ..case.grid()
    });
    assert!(
        cut.to_string().contains("10 nodes of a cell of degree 2"),
        "{cut}"
    );
    let lost = error(&VtuGrid {
        points: &case.points[..15],
        ..case.grid()
    });
    assert!(
        matches!(
            lost,
            IoError::PointIndex {
                cell: 1,
                point: 15,
                points: 15
            }
        ),
        "{lost}"
    );
}

/// VTK evaluates each cell at points inside; both the map and the field must be those of the
/// polynomials, which fails for any wrong node order.
#[test]
fn vtk_reads_the_same_polynomials() {
    let Some(python) = std::env::var_os("FEMTO_PYTHON") else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("vtu_simplices");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/python/read_vtu.py"
    );
    let uniform = |most: usize| -> Vec<Degree> { (1..=most).map(Degree::from).collect() };
    let other = [[1, 2], [1, 4], [2, 1], [3, 2], [2, 5]].map(|[h, v]| Degree::new(h, v));
    for (cell, degrees, vtk_type) in [
        (Cell::Triangle, uniform(8), 69),
        (Cell::Tetrahedron, uniform(8), 71),
        (Cell::Prism, [uniform(8), other.to_vec()].concat(), 73),
        (Cell::Pyramid, uniform(1), 14),
        (
            Cell::Quadrilateral,
            vec![Degree::new(1, 3), Degree::new(2, 4)],
            70,
        ),
    ] {
        let mut paths = Vec::new();
        for (number, &degree) in degrees.iter().enumerate() {
            let case = TwoCells::new(cell, degree);
            let path = folder.join(format!("{}-{number}.vtu", cell.name()));
            let fields = [
                Field::scalar("u", &case.polynomial[..]),
                Field::new("position <f32>", 3, &case.vector[..]),
            ];
            let tags = [Field::scalar("tag", &[7i32, -3][..])];
            write_vtu(&path, &case.grid(), &fields, &tags).unwrap();
            paths.push(path);
        }
        let output = Command::new(&python)
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
        let mut samples = 0;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (along, up) = words[1].split_once('x').unwrap_or((words[1], words[1]));
            let degree = Degree::new(along.parse().unwrap(), up.parse().unwrap());
            if words[0] == "grid" {
                let points = 2 * equispaced(cell, degree).len();
                let shown = words[1];
                let expected =
                    format!("grid {shown} points {points} cells 2 types {vtk_type} tags 7 -3");
                assert_eq!(line, expected);
                continue;
            }
            let place: usize = words[2].parse().unwrap();
            let numbers: Vec<f64> = words[3..].iter().map(|w| w.parse().unwrap()).collect();
            let [mut p, x, v] = [0, 3, 7].map(|i| [numbers[i], numbers[i + 1], numbers[i + 2]]);
            p[cell.dim()..].fill(0.0);
            // Outside the cell the rounding of the nodes' values grows.
            let in_plane = p[0] + p[1];
            let is_inside = match cell {
                Cell::Pyramid => true,
                Cell::Prism => in_plane <= 1.0,
                Cell::Quadrilateral => true,
                _ => in_plane + p[2] <= 1.0,
            };
            // VTK's coordinates are those of the cube from 0 to 1, collapsed for pyramids.
            p = match cell {
                Cell::Pyramid => cell.collapsed(p.map(|x| 2.0 * x - 1.0)),
                Cell::Prism => [p[0], p[1], 2.0 * p[2] - 1.0],
                Cell::Quadrilateral => [2.0 * p[0] - 1.0, 2.0 * p[1] - 1.0, 0.0],
                _ => p,
            };
            let [double, single] = if is_inside {
                [1e-12, 1e-5]
            } else {
                [1e-7, 1.0]
            };
            let expected = position(place, cell.dim(), degree, p);
            for axis in 0..3 {
                assert!(
                    (x[axis] - expected[axis]).abs() < double,
                    "{line}: {expected:?}"
                );
                assert!(
                    (v[axis] - expected[axis]).abs() < single,
                    "{line}: {expected:?}"
                );
            }
            let expected = polynomial(place, degree, p);
            assert!((numbers[6] - expected).abs() < double, "{line}: {expected}");
            samples += 1;
        }
        assert_eq!(samples, degrees.len() * 2 * 27);
    }
}
