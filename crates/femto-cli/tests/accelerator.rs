//! Commands on an OpenCL device. Skipped with a note if there is none, unless `FEMTO_REQUIRE` names
//! `opencl`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, json, run, run_on, scratch, text};
use femto::platform::device::conformance::with;
use femto::platform::device::{Accelerator, DeviceId, DeviceKind};
use serde_json::Value;
use std::process::{Child, Command, Stdio};

/// Runs a test if there is an OpenCL device.
fn on_opencl(test: impl FnOnce()) {
    with(Accelerator::opencl(0), |_| test());
}

fn good(arguments: &[&str]) -> Value {
    let output = femto(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    json(&output)
}

#[test]
fn cases_have_the_same_solution_as_on_the_host() {
    on_opencl(|| {
        let device = DeviceId::first(DeviceKind::OpenCl);
        for (name, rounding) in [("box-sine", 0.0), ("symmetric-block", 1e-10)] {
            let (found, wanted) = (run_on(name, Some(device)), run(name));
            assert_eq!(found.report.device.kind, "opencl");
            let (u, v) = (found.u.unwrap().values, wanted.u.unwrap().values);
            assert_eq!(u.len(), v.len());
            let largest = v.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            for (u, v) in u.iter().zip(&v) {
                assert!((u - v).abs() < 1e-10 * largest, "{u} {v}");
            }
            let errors = [found.report.errors.unwrap(), wanted.report.errors.unwrap()];
            let [found, wanted] = errors.map(|errors| errors.l2);
            let most = 1e-10 * wanted + rounding;
            assert!((found - wanted).abs() < most, "{found} {wanted}");
        }
    });
}

/// With nothing compiled beforehand, neither by femto nor by PoCL.
#[test]
fn many_first_starts_at_once_succeed() {
    on_opencl(|| {
        let folder = scratch("first-starts");
        let start = |_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_femto"));
            command
                .args(["solve", &case_path("quarter-annulus"), "--no-roofline"])
                .args(["--no-output", "--device", "opencl"])
                .env("FEMTO_CACHE", folder.join("femto"))
                .env("POCL_CACHE_DIR", folder.join("pocl"))
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let children: Vec<Child> = (0..8).map(start).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let error = text(&output.stderr);
            assert!(output.status.success() && error.is_empty(), "{error}");
        }
    });
}

#[test]
fn the_option_wins_over_the_case() {
    on_opencl(|| {
        let folder = scratch("device");
        let case = std::fs::read_to_string(case_path("box-sine")).unwrap();
        let case = format!("{case}\n[run]\ndevice = \"opencl:99\"\n");
        let path = common::write(&folder, "case.toml", &case);
        let output = femto(&["solve", &path]);
        assert_eq!(output.status.code(), Some(2));
        let error = text(&output.stderr);
        assert!(error.contains("opencl"), "{error}");
        let report = good(&["solve", &path, "--device", "opencl:0", "--no-roofline"]);
        assert_eq!(report["device"]["kind"], "opencl");
        assert_eq!(report["status"], "converged");
    });
}

#[test]
fn rows_have_the_device_and_the_difference_from_the_host() {
    on_opencl(|| {
        let start = [
            "bench", "bp3", "bk1", "--nreps", "1", "--kept", "--degree", "2",
        ];
        let more = ["--elements", "27", "--device", "opencl:0"];
        let scatter = ["--scatter", "atomic,deterministic", "--compile-first"];
        let report = good(&[&start[..], &more, &scatter].concat());
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[1]["scatter"], "deterministic");
        for row in rows {
            assert_eq!(row["device"], "opencl:0");
            assert!(row["error"].as_f64().unwrap() < 1e-13, "{row}");
            assert!(row["compile_seconds"].as_f64().unwrap() > 0.0);
            assert!(row["seconds"].as_f64().unwrap() > 0.0);
        }
    });
}

#[test]
fn ladders_are_measured_on_the_same_data() {
    on_opencl(|| {
        let csv = scratch("ladder").join("rows.csv");
        let start = ["bench", "bk1", "bk5", "--ladder=bk1/layers/8,cubes/1"];
        let sizes = ["--degree", "1,4", "--elements", "3", "--nreps", "1"];
        let more = [
            "--kept",
            "--device",
            "opencl:0",
            "--csv",
            csv.to_str().unwrap(),
        ];
        let report = good(&[&start[..], &sizes, &more].concat());
        let rows = report["rows"].as_array().unwrap();
        let names: Vec<&str> = rows.iter().filter_map(|row| row["step"].as_str()).collect();
        let [bk1, bk5] = ["bk1/layers/8", "bk5/cubes/1"];
        assert_eq!(names, [bk1, bk1, bk5, bk5]);
        for row in rows {
            assert!(row["error"].as_f64().unwrap() < 1e-13, "{row}");
            assert!(row["roofline_copy"].as_f64().unwrap() > 0.0);
        }
        assert_eq!(report["illegal"], Value::Array(vec![]));
        let lines = std::fs::read_to_string(csv).unwrap();
        assert_eq!(lines.lines().count(), rows.len() + 1);
    });
}

/// Both ladders and femto's own kernels, with one and with two right-hand sides; the rows and the figure are kept.
#[test]
fn both_routes_of_tetrahedra_are_measured_and_compared() {
    on_opencl(|| {
        let folder = scratch("tet");
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let (table, figure, again) = (path("tet.csv"), path("tet.svg"), path("again.svg"));
        let start = [
            "bench", "tet", "--device", "opencl", "--kept", "--nreps", "1",
        ];
        let sizes = ["--degree", "2", "--elements", "50", "--sides", "1,2"];
        let which = ["--precision", "fp64", "--steps", "0,2,10"];
        let files = ["--csv", &table, "--figure", &figure];
        let arguments = [&start[..], &sizes, &which, &files].concat();
        let output = femto(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let shown = text(&output.stdout);
        assert_eq!(shown.matches(" times\n").count(), 2, "{shown}");

        let report = good(&arguments);
        let rows = report["rows"].as_array().unwrap();
        let count = |stored: &str| rows.iter().filter(|row| row["stored"] == stored).count();
        // Three steps, and femto's own for one and two sides; steps 0 and 2 of matrices.
        assert_eq!(
            (count("factors"), count("full"), count("triangle")),
            (5, 4, 2),
            "{rows:?}"
        );
        assert!(
            rows.iter()
                .all(|row| row["error"].as_f64().unwrap() < 1e-13)
        );

        let drawn = good(&["bench", "tet", "--figure", &again, "--from", &table]);
        assert_eq!(drawn["rows"], rows.len());
        let figures = [figure, again].map(|path| std::fs::read_to_string(path).unwrap());
        assert!(
            figures
                .iter()
                .all(|it| it.contains("Stored matrices, 50 elements, fp64"))
        );
    });
}

/// Small sizes of those texts that compile in seconds: files are made, and nothing fails.
#[test]
fn papers_are_made_anew() {
    on_opencl(|| {
        for (name, sizes, files) in [
            ("tetrahedra", &["--degree", "1"][..], 2 * (1 + 3)),
            ("element-matrices", &["--degree", "1"], 2 * (1 + 3)),
            ("prisms", &[], 1),
        ] {
            let folder = scratch(name);
            let folder = folder.to_str().unwrap();
            let start = ["paper", name, "--device", "opencl", "--folder", folder];
            let options = ["--elements", "20", "--nreps", "1", "--kept"];
            let made = good(&[&start[..], &options, sizes].concat());
            let made = made["files"].as_array().unwrap();
            assert_eq!(made.len(), files, "{name}: {made:?}");
            for file in made {
                let bytes = std::fs::read(file.as_str().unwrap()).unwrap();
                assert!(!bytes.is_empty(), "{name}: {file}");
            }
        }
    });
}

#[test]
fn unknown_ladder_steps_are_bad_input() {
    let output = femto(&[
        "bench",
        "bk5",
        "--ladder=bk1/layers/8",
        "--device",
        "opencl:0",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("no ladder of bk5 has a step `bk1/layers/8`"),
        "{error}"
    );
    let output = femto(&["bench", "bk5", "--ladder", "--cg"]);
    assert!(text(&output.stderr).contains("cannot be used with"));
    let output = femto(&["bench", "bk5", "--ladder", "--device", "host"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("compile kernels"));
}
