//! Solutions written to files.

use super::{bump, host, linear};
use crate::common::hexahedra;
use crate::common::meshes::maps;
use femto::element::{Cell, MapKind};
use femto::fem::geometry::Points;
use femto::problem::{LagrangeGrid, OutputField, Problem, write_solution};

/// The points of an output grid have the geometry's positions and the function's values.
#[test]
fn output_grids_are_equispaced_and_carry_the_solution() {
    for &map in maps(Cell::Hexahedron) {
        let mesh = hexahedra(map, [3, 2, 2]);
        for degree in [2, 5] {
            let problem = Problem {
                degree: degree.into(),
                source: vec![&0.0],
                ..bump(&mesh)
            };
            let u = problem.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
            let grid = LagrangeGrid::new(&u).expect("written");
            let block = &u.blocks[0];
            let cells = &grid.cells[0].1;
            assert_eq!(cells.len(), block.space.element_dofs());
            assert_eq!(grid.points.len(), u.values.len(), "neighbours share points");
            let n = degree + 1;
            let mut points = Vec::new();
            let nodes = (0..n).map(|i| -1.0 + 2.0 * i as f64 / degree as f64);
            let nodes = Points::Grid(nodes.collect());
            for (cell, &number) in cells.chunks_exact(n * n * n).zip(block.space.cells()) {
                (block.geometry).positions(number as usize, &nodes, &mut points);
                for (&point, expected) in cell.iter().zip(&points) {
                    let found = grid.points[point as usize];
                    let far = (0..3)
                        .map(|c| (found[c] - expected[c]).abs())
                        .fold(0.0, f64::max);
                    assert!(far < 1e-14, "{map:?} degree {degree}: {far:e}");
                    let error = (grid.values[0][point as usize] - linear(found)).abs();
                    assert!(error < 1e-6, "{map:?} degree {degree}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn solutions_are_written_with_fields_and_tags() {
    let mesh = hexahedra(MapKind::Curved, [2, 2, 2]);
    let u = bump(&mesh)
        .solve::<f64, _>(&host(), &mut ())
        .expect("solved")
        .u;
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("problem.vtu");
    let fields = [
        ("u", OutputField::Solution),
        ("exact", OutputField::Function(&[&linear])),
        ("error", OutputField::Error(&[&linear])),
    ];
    let not_finite = write_solution(&path, &mesh, &u, &fields, 0.0).expect("written");
    assert!(not_finite.is_empty());
    let bytes = std::fs::read(&path).expect("readable");
    let xml = String::from_utf8_lossy(&bytes);
    for name in ["u", "exact", "error", "tag", "cell"] {
        assert!(xml.contains(&format!("Name=\"{name}\"")), "{name}");
    }
    let singular = |[x, _, _]: [f64; 3]| 1.0 / x;
    let fields = [fields[0], ("singular", OutputField::Function(&[&singular]))];
    let not_finite = write_solution(&path, &mesh, &u, &fields, 0.0).expect("written");
    assert_eq!(not_finite, ["singular"]);
    let twice = [fields[0], fields[0]];
    assert!(write_solution(&path, &mesh, &u, &twice, 0.0).is_err());

    let misfit = |u, field| {
        let refused = write_solution(&path, &mesh, u, &[("misfit", field)], 0.0);
        refused.unwrap_err().to_string()
    };
    let found = misfit(&u, OutputField::Error(&[&linear, &linear]));
    assert!(
        found.contains("'misfit' needs one exact function"),
        "{found}"
    );
    let mut short = [u.clone()];
    short[0].values.pop();
    let found = misfit(&short[0], OutputField::Solution);
    assert!(
        found.contains("'solution' has 342 values; 343 nodes"),
        "{found}"
    );
    let found = misfit(&u, OutputField::Axes(&short));
    assert!(found.contains("'misfit' has 342 values"), "{found}");
    // Of another space.
    let coarse = Problem {
        degree: 1.into(),
        ..bump(&mesh)
    };
    let coarse = coarse.solve::<f64, _>(&host(), &mut ()).expect("solved").u;
    let found = misfit(&u, OutputField::Axes(&[coarse]));
    assert!(found.contains("'misfit' has 27 values"), "{found}");
}
