//! Periodic sides in cases: orders, files, output, mistakes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, json, run, scratch, text, write};
use femto::element::Cell;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::AnyBox;
use femto::fem::mesh::gmsh::{self, Encoding, Version};
use femto::platform::device::Accelerator;
use femto::platform::device::conformance::with;
use femto_cli::solve::Status;
use serde_json::Value;
use std::fs;

const PI2: f64 = std::f64::consts::PI * std::f64::consts::PI;

/// Prisms form columns.
const CELLS: [&str; 5] = [
    "hexahedron",
    "tetrahedron",
    "prism",
    "quadrilateral",
    "triangle",
];

/// The error of 2 u - Δu = f on a unit box of `cells` along each axis, periodic in x and y.
fn error(cell: &str, bend: &str, cells: usize, run: &str) -> f64 {
    let folder = scratch(&format!("orders-{cell}"));
    let dim = if ["triangle", "quadrilateral"].contains(&cell) {
        2
    } else {
        3
    };
    let along = vec![cells.to_string(); dim].join(", ");
    let axes: Vec<String> = ["x", "y", "z"][..dim]
        .iter()
        .map(|&axis| format!("\"{axis}{}\"", if axis == "z" { "" } else { bend }))
        .collect();
    let case = format!(
        "[mesh]\nperiodic = [['xmin', 'xmax'], ['ymin', 'ymax']]\n\
         [mesh.box]\ncell = '{cell}'\ncells = [{along}]\ndeformation = [{}]\n\
         [space]\ndegree = 2\n[form]\nf0 = '2*u'\nf1 = 'grad(u)'\n\
         [source]\nvalue = '{}*sin(2*pi*x)*cos(2*pi*y)'\n\
         [exact]\nvalue = 'sin(2*pi*x)*cos(2*pi*y)'\n\
         [solver]\ntolerance = 1e-10\n{run}",
        axes.join(", "),
        2.0 + 8.0 * PI2,
    );
    let case = write(&folder, "case.toml", &case);
    let output = femto(&["solve", &case, "--json", "--no-roofline", "--no-output"]);
    let report = json(&output);
    assert_eq!(report["status"], "converged", "{}", text(&output.stderr));
    report["errors"]["l2"].as_f64().unwrap()
}

#[test]
fn solutions_that_go_on_converge_in_their_order() {
    for cell in CELLS {
        for (bend, run) in [
            ("", ""),
            (
                " + 0.02*sin(2*pi*x)*sin(2*pi*y)",
                "[run]\ndata_level = 'on_the_fly'",
            ),
            ("", "[run]\ndata_level = 'partial'"),
        ] {
            let errors = [6, 12].map(|cells| error(cell, bend, cells, run));
            let order = (errors[0] / errors[1]).log2();
            assert!((2.7..3.6).contains(&order), "{cell} {bend}: {errors:?}");
        }
    }
}

#[test]
fn accelerators_agree_with_the_host() {
    with(Accelerator::opencl(0), |_| {
        for cell in CELLS {
            let bend = " + 0.02*sin(2*pi*x)*sin(2*pi*y)";
            let [host, opencl] = ["host", "opencl"]
                .map(|device| error(cell, bend, 4, &format!("[run]\ndevice = '{device}'")));
            assert!(
                (host - opencl).abs() < 1e-8 * host,
                "{cell} {host} {opencl}"
            );
        }
    });
}

/// Whose highest nodes are the lowest ones.
#[test]
fn columns_may_be_periodic_upwards() {
    let folder = scratch("upwards");
    let error = |cells: usize, device: &str| {
        let case = format!(
            "[mesh]\nperiodic = [['zmin', 'zmax']]\n[mesh.box]\ncell = 'prism'\ncells = [2, 2, {cells}]\n\
             [space]\ndegree = 2\n[form]\nf0 = '2*u'\nf1 = 'grad(u)'\n\
             [source]\nvalue = '{}*cos(2*pi*z)'\n[exact]\nvalue = 'cos(2*pi*z)'\n\
             [solver]\ntolerance = 1e-10\n[run]\ndevice = '{device}'\n",
            2.0 + 4.0 * PI2
        );
        let case = write(&folder, "case.toml", &case);
        let report = json(&femto(&[
            "solve",
            &case,
            "--json",
            "--no-roofline",
            "--no-output",
        ]));
        assert_eq!(report["status"], "converged", "{report}");
        report["errors"]["l2"].as_f64().unwrap()
    };
    let errors = [6, 12].map(|cells| error(cells, "host"));
    let order = (errors[0] / errors[1]).log2();
    assert!((2.7..3.6).contains(&order), "{errors:?}");
    with(Accelerator::opencl(0), |_| {
        let there = error(6, "opencl");
        assert!((there - errors[0]).abs() < 1e-8 * there, "{there}");
    });
}

#[test]
fn a_ring_is_closed() {
    let outcome = run("closed-ring");
    assert_eq!(outcome.report.status, Status::Converged);
    assert_eq!(outcome.report.unknowns.all, 16 * 4 * 17 * 4 / 4);
    assert!(outcome.report.errors.unwrap().l2 < 4e-5);
}

/// The number after `NumberOfPoints`.
fn points(vtu: &std::path::Path) -> usize {
    let bytes = fs::read(vtu).unwrap();
    let head = String::from_utf8_lossy(&bytes[..1000]).into_owned();
    let after = head.split("NumberOfPoints=\"").nth(1).unwrap();
    after.split('"').next().unwrap().parse().unwrap()
}

fn unit_square(cell: Cell, cells: [usize; 2]) -> Mesh {
    let plane = AnyBox {
        cell,
        cells: cells.to_vec(),
        lower: vec![0.0; 2],
        upper: vec![1.0; 2],
        geometry_degree: 1,
        irregular: None,
    };
    plane.build(|x| x).unwrap()
}

/// A file that links two sides; alone, with the same links in the case, and with others.
#[test]
fn sides_come_from_the_file_or_from_the_case() {
    let folder = scratch("periodic-file");
    let mut mesh = unit_square(Cell::Triangle, [5, 4]);
    mesh.join_sides("xmax", "xmin").unwrap();
    let file = folder.join("linked.msh");
    let mut bytes = Vec::new();
    gmsh::write(&mesh, &mut bytes, Version::V4_1, Encoding::LittleEndian).unwrap();
    fs::write(&file, bytes).unwrap();
    let info = femto(&["mesh", "info", file.to_str().unwrap()]);
    assert!(text(&info.stdout).contains("5 nodes with their partners"));
    let vtu = folder.join("out.vtu");
    for (periodic, unknowns) in [
        ("", 15 * 13),
        ("periodic = []", 16 * 13),
        ("periodic = [['ymin', 'ymax']]", 16 * 12),
        ("periodic = [['ymin', 'ymax'], ['xmin', 'xmax']]", 15 * 12),
    ] {
        let case = format!(
            "[mesh]\nfile = 'linked.msh'\n{periodic}\n[space]\ndegree = 3\n\
             [form]\nkind = 'mass'\n[source]\nvalue = 'sin(2*pi*x)'\n"
        );
        let case = write(&folder, "case.toml", &case);
        let output = ["--output", vtu.to_str().unwrap()];
        let output = femto(&[
            "solve",
            &case,
            "--json",
            "--no-roofline",
            output[0],
            output[1],
        ]);
        assert_eq!(json(&output)["unknowns"]["all"], Value::from(unknowns));
        // Both sides of a seam are drawn.
        assert_eq!(points(&vtu), 16 * 13, "{periodic}");
    }
}

/// A list that lacks the pair in the middle, and one that leads inside the mesh.
#[test]
fn pairs_of_nodes_without_facets_are_refused() {
    let folder = scratch("periodic-pairs");
    let edits: [fn(&mut Mesh); 2] = [
        |mesh| _ = mesh.periodic[0].nodes.remove(1),
        |mesh| mesh.periodic[0].nodes.push([5, 6]),
    ];
    for edit in edits {
        let mut mesh = unit_square(Cell::Quadrilateral, [3, 2]);
        mesh.join_sides("xmin", "xmax").unwrap();
        edit(&mut mesh);
        let mut bytes = Vec::new();
        gmsh::write(&mesh, &mut bytes, Version::V4_1, Encoding::Ascii).unwrap();
        fs::write(folder.join("pairs.msh"), bytes).unwrap();
        let case = "[mesh]\nfile = 'pairs.msh'\n[space]\ndegree = 1\n[form]\nkind = 'mass'\n";
        let output = femto(&["solve", &write(&folder, "case.toml", case), "--no-roofline"]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("pairs of periodic nodes"), "{error}");
    }
}

/// One cell between ymin and ymax; the error does not tell which pair that is.
#[test]
fn a_narrow_period_points_at_its_pair_if_it_is_the_only_one() {
    let folder = scratch("periodic-narrow");
    for (pairs, place) in [
        ("['ymin', 'ymax']", ":6:13: "),
        ("['xmin', 'xmax'], ['ymin', 'ymax']", ":5:1: "),
    ] {
        let case = format!(
            "[space]\ndegree = 1\n[form]\nkind = 'mass'\n[mesh]\nperiodic = [{pairs}]\n\
             [mesh.box]\ncell = 'quadrilateral'\ncells = [4, 1]\n"
        );
        let output = femto(&["solve", &write(&folder, "case.toml", &case)]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{pairs}: {error}");
        let message = "at least two cells must lie between";
        assert!(error.contains(place) && error.contains(message), "{error}");
    }
}

#[test]
fn mistakes_point_at_the_sides_and_conditions() {
    let folder = scratch("periodic-mistakes");
    let case = fs::read_to_string(case_path("closed-ring")).unwrap();
    for (from, to, place, message) in [
        (
            "tags = [\"ymax\"]",
            "tags = [\"xmax\"]",
            ":24:9: ",
            "on periodic sides, which have no boundary",
        ),
        ("\"xmax\"]]", "\"ymax\"]]", ":6:13: ", "has no partner on"),
        (
            "\"xmax\"]]",
            "\"left\"]]",
            ":6:13: ",
            "no physical group `left`",
        ),
        (
            "\"xmax\"]]",
            "\"xmin\"]]",
            ":6:13: ",
            "they are the same group",
        ),
        (
            "\"xmax\"]]",
            "\"xmax\", \"ymin\"]]",
            ":6:13: ",
            "an array of 2 elements, found 3",
        ),
        (
            "[16, 4]\ngeometry_degree = 2\ndeformation",
            "[1, 4]\nupper = [1, 2]\n# deformation",
            ":6:13: ",
            "at least two cells must lie between",
        ),
    ] {
        let case = case.replace(from, to);
        let output = femto(&["solve", &write(&folder, "case.toml", &case)]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{to}: {error}");
        assert!(
            error.contains(place) && error.contains(message),
            "{to}: {error}"
        );
    }
}
