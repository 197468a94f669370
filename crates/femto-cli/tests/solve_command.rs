//! `femto solve`: reports, failures, interruption; `femto mesh box`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, json, scratch, text, write};
use femto::element::Cell;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::AnyBox;
use femto::fem::mesh::gmsh::{self, Encoding, Version};
use serde_json::Value;

#[test]
fn the_report_has_every_subject_and_a_pipe_sees_no_progress() {
    let folder = scratch("report");
    let vtu = folder.join("box.vtu");
    let output = femto(&[
        "solve",
        &case_path("box-sine"),
        "--output",
        vtu.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let report = text(&output.stdout);
    for subject in [
        "sine in a box\n",
        "problem ",
        "mesh ",
        "unknowns    3 375, and 1 538 boundary values\n",
        "solver      cg with jacobi: ",
        "chosen      jacobi: multigrid pays from about 20000 unknowns on, and there are 3375\n",
        "solution    from 0 to 1\n",
        "errors      L2 2.89",
        "times ",
        "from mesh to first iteration",
        "memory ",
        "operator    bound ",
        "% of the bound",
        "ceilings ",
        "output ",
    ] {
        assert!(report.contains(subject), "{subject} is not in\n{report}");
    }
    assert!(vtu.is_file());
    let explained = femto(&["solve", &case_path("box-sine"), "-v", "--no-output"]);
    assert!(text(&explained.stdout).contains("as the literature counts"));
}

#[test]
fn the_json_report_has_every_field() {
    let output = femto(&["solve", &case_path("box-sine"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = json(&output);
    for (pointer, expected) in [
        ("/status", Value::from("converged")),
        ("/form", "poisson".into()),
        ("/device/kind", "host".into()),
        ("/mesh/cells", 64.into()),
        ("/mesh/warnings", Value::Array(vec![])),
        ("/unknowns/free", 3375.into()),
        ("/solver/method", "cg".into()),
        ("/solver/preconditioner", "jacobi".into()),
        (
            "/solver/preconditioner_reason",
            "multigrid pays from about 20000 unknowns on, and there are 3375".into(),
        ),
        ("/solver/levels", Value::Array(vec![])),
        ("/times/stages/0/name", "mesh".into()),
        ("/operator/family", "sum_factorization".into()),
        ("/operator/dofs", 4913.into()),
        ("/message", Value::Null),
        ("/output", Value::Null),
    ] {
        assert_eq!(report.pointer(pointer), Some(&expected), "{pointer}");
    }
    for pointer in [
        "/solver/relative_residual",
        "/errors/l2",
        "/errors/h1_seminorm",
        "/solution/max",
        "/times/to_first_iteration",
        "/times/per_iteration",
        "/times/total",
        "/mesh/bytes",
        "/memory/geometry",
        "/memory/space",
        "/memory/operator",
        "/memory/vectors",
        "/operator/bound_seconds",
        "/operator/measured_seconds",
        "/operator/fraction",
        "/ceilings/copy",
    ] {
        let number = report.pointer(pointer).and_then(Value::as_f64);
        assert!(
            number.is_some_and(|number| number > 0.0),
            "{pointer}: {number:?}"
        );
    }
    let history = report["solver"]["residual_history"].as_array().unwrap();
    assert_eq!(
        history.len() as u64,
        1 + report["solver"]["iterations"].as_u64().unwrap()
    );
    assert!(report.get("error").is_none());
}

#[test]
fn no_convergence_is_exit_code_1_with_report_and_output() {
    let folder = scratch("no-convergence");
    let case = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let case = case.replace(
        "max_iterations = 1000",
        "max_iterations = 3\n[output]\nvtu = \"new/box.vtu\"",
    );
    let path = write(&folder, "case.toml", &case);
    let output = femto(&["solve", &path, "--json", "--no-roofline"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    assert_eq!(report["status"], "not_converged");
    assert_eq!(
        report["solver"]["residual_history"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(report["error"]["exit_code"], 1);
    assert!(
        report["message"]
            .as_str()
            .unwrap()
            .starts_with("no convergence in the iterations allowed: ")
    );
    assert!(text(&output.stderr).starts_with("error: no convergence in the iterations allowed: "));
    assert!(folder.join("new/box.vtu").is_file(), "{report}");
    let output = femto(&["solve", &path, "--no-roofline", "--no-output"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("3 iterations, relative residual"));
    assert!(text(&output.stdout).contains(": not converged"));
    assert!(text(&output.stdout).contains("\nmemory      "));
}

/// Single precision cannot reach the tolerance, though the recurrence reports that it does.
#[test]
fn exhausted_precision_has_a_label_and_both_residuals() {
    let folder = scratch("exhausted");
    let case = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let case = format!("{case}\n[run]\nprecision = \"fp32\"\n");
    let path = write(&folder, "case.toml", &case);
    let output = femto(&["solve", &path, "--json", "--no-roofline"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    assert_eq!(report["status"], "stagnated");
    let norm = report["solver"]["true_relative_residual"].as_f64();
    assert!(norm.unwrap() > 1e-10);
    assert!(report["memory"]["operator"].as_u64().unwrap() > 0);
    let output = femto(&["solve", &path, "--no-roofline"]);
    let report = text(&output.stdout);
    assert!(
        report.contains("b - A x") && report.contains(": the precision is exhausted"),
        "{report}"
    );
}

#[test]
fn the_null_device_counts() {
    let output = femto(&[
        "solve",
        &case_path("box-sine"),
        "--device",
        "null",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let report = json(&output);
    assert_eq!(report["status"], "counted");
    assert!(report["operator"]["bytes_read"].as_u64().unwrap() > 0);
    assert_eq!(report["solver"], Value::Null);
}

/// A corner with a flat angle is a warning, not an error.
#[test]
fn corner_warnings_are_told() {
    let folder = scratch("corner");
    let good = std::fs::read_to_string(case_path("box-sine")).unwrap();
    // One cell whose vertex (1, 1, 1) lies in the plane of its neighbours.
    let flat =
        "cells = [1, 1, 1]\ndeformation = [\"x - x*y*z/3\", \"y - x*y*z/3\", \"z - x*y*z/3\"]";
    let path = write(
        &folder,
        "case.toml",
        &good.replace("cells = [4, 4, 4]", flat),
    );
    let told = |path: &str| {
        let output = femto(&["solve", path, "--no-roofline"]);
        let report = text(&output.stdout);
        let warning = "warning     mesh cell 0 is degenerate at its corner 7";
        assert!(report.contains(warning), "{report}");
        output.status.code()
    };
    assert_eq!(told(&path), Some(0));
    let case = std::fs::read_to_string(&path).unwrap();
    let few = case.replace("max_iterations = 1000", "max_iterations = 2");
    assert_eq!(told(&write(&folder, "few.toml", &few)), Some(1));
}

#[test]
fn boxes_are_made_and_solved_on() {
    let folder = scratch("boxes");
    let [a, b, c] = ["a.msh", "b.msh", "c.msh"].map(|name| folder.join(name).display().to_string());
    let deform = ["--deform", "x + 0.1*sin(pi*y)", "y", "-0.1*x + z"];
    let binary = [&["mesh", "box", &a, "--cells", "3", "4", "5"][..], &deform].concat();
    let ascii = [
        "mesh", "box", &b, "--cells", "3", "4", "5", "--ascii", "--format", "2.2",
    ];
    let ascii = [&ascii[..], &deform].concat();
    for arguments in [binary, ascii] {
        let output = femto(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let [a, b] = [a, b].map(|path| Mesh::read(path).unwrap());
    assert_eq!(a, b);
    assert_eq!(a.blocks[0].len(), 60);
    let box_section = [
        "[mesh.box]",
        "cells = [4, 4, 4]",
        "lower = [0, 0, 0]",
        "upper = [1, 1, 1]",
    ]
    .join("\n");
    let case = std::fs::read_to_string(case_path("box-sine")).unwrap();
    assert!(case.contains(&box_section));
    let path = write(
        &folder,
        "case.toml",
        &case.replace(&box_section, "[mesh]\nfile = \"a.msh\""),
    );
    let output = femto(&["solve", &path, "--no-roofline", "--json"]);
    assert_eq!(
        json(&output)["mesh"]["cells"],
        60,
        "{}",
        text(&output.stderr)
    );
    for wrong in [["0", "1", "1"], ["-1", "1", "1"], ["1", "1", "x"]] {
        let arguments = [&["mesh", "box", &c, "--cells"][..], &wrong].concat();
        assert_eq!(femto(&arguments).status.code(), Some(2), "{wrong:?}");
    }
    let two = ["mesh", "box", &c, "--cells", "2", "2", "2"];
    for (cell, options, cells) in [
        ("tetrahedron", &["--irregular", "3"][..], 48),
        ("tetrahedron", &["--geometry-degree", "3"], 48),
        ("prism", &[], 16),
        ("pyramid", &["--geometry-degree", "2"], 48),
    ] {
        let output = femto(&[&two, &["--cell", cell][..], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let mesh = Mesh::read(&c).unwrap();
        let solids = mesh
            .blocks
            .iter()
            .filter(|block| block.cell_type.dimension() == 3);
        let all: usize = solids.map(|block| block.len()).sum();
        assert_eq!(all, cells, "{cell}");
    }
    for (options, message) in [
        (["--cell", "triangle"], "possible values"),
        (["--irregular", "3"], "irregular"),
        (["--geometry-degree", "3"], "geometry degree 3"),
    ] {
        let output = femto(&[&two, &options[..]].concat());
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

/// If the available memory is known; the box needs more than any machine has.
#[test]
fn a_box_that_does_not_fit_is_refused_before_it_is_made() {
    let folder = scratch("memory");
    let case = "[mesh.box]\ncells = [100, 100, 4_000_000]\n[space]\ndegree = 2\n\
                [form]\nkind = \"mass\"\n";
    let path = write(&folder, "case.toml", case);
    let output = femto(&["solve", &path, "--no-output"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    if cfg!(target_os = "linux") {
        assert!(error.contains(":1:2: the case needs at least"), "{error}");
        assert!(
            error.contains("GB of memory, and this process may use"),
            "{error}"
        );
    }
    let plane = folder.join("plane.msh").display().to_string();
    let large = folder.join("large.msh").display().to_string();
    let mesh = AnyBox::unit(Cell::Triangle, 100).build(|x| x).unwrap();
    let mut file = Vec::new();
    gmsh::write(&mesh, &mut file, Version::V2_2, Encoding::Ascii).unwrap();
    std::fs::write(&plane, file).unwrap();
    let cells = ["--cells", "1000", "1000", "1000000"];
    for arguments in [
        [&["mesh", "box", &large], &cells[..]].concat(),
        vec!["mesh", "extrude", &plane, &large, "--layers", "1000000"],
    ] {
        let output = femto(&arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("the mesh needs at least"), "{error}");
    }
}

/// Wherever the limit strikes, the exit code says that the work failed.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_runs_out_on_the_way_is_a_failure() {
    let folder = scratch("limits");
    let case = "[mesh.box]\ncells = [60, 60, 60]\n[space]\ndegree = 3\n[form]\nkind = \"mass\"\n[source]\nvalue = 1\n";
    let path = write(&folder, "case.toml", case);
    for kibibytes in [150_000, 250_000, 350_000, 500_000] {
        let command = format!(
            "ulimit -v {kibibytes}; exec {} solve {path} --no-roofline --no-output",
            env!("CARGO_BIN_EXE_femto")
        );
        let shell = std::process::Command::new("sh")
            .args(["-c", &command])
            .output();
        let output = shell.unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{kibibytes}: {error}");
        assert!(error.contains("memory"), "{kibibytes}: {error}");
    }
}
