//! `femto bench`: arguments, rows, files.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::process::{Command, Output};
use std::sync::LazyLock;

const CACHE: (&str, &str) = (
    "FEMTO_CACHE",
    concat!(env!("CARGO_TARGET_TMPDIR"), "/bench-cache"),
);

/// Ceilings are measured once and kept for all runs.
static CEILINGS: LazyLock<Output> = LazyLock::new(|| {
    Command::new(env!("CARGO_BIN_EXE_femto"))
        .args(["roofline", "--threads", "1", "--kept"])
        .env(CACHE.0, CACHE.1)
        .output()
        .unwrap()
});

fn bench(arguments: &[&str]) -> Output {
    assert!(CEILINGS.status.success(), "{}", text(&CEILINGS.stderr));
    Command::new(env!("CARGO_BIN_EXE_femto"))
        .args(["bench", "--nreps", "1", "--kept", "--threads", "1"])
        .args(arguments)
        .env(CACHE.0, CACHE.1)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = bench(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn rows_hold_what_was_asked_and_every_combination() {
    let report = json(&[
        "bp5",
        "bk1",
        "--degree",
        "1,3",
        "--elements",
        "8",
        "--mesh",
        "box,curved",
        "--precision",
        "fp32",
    ]);
    assert!(report["processor"].is_string() && report["simd"].is_string());
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let last = &rows[7];
    for (key, wanted) in [
        ("benchmark", Value::from("bk1")),
        ("measured", "application".into()),
        ("vector", "E".into()),
        ("degree", 3.into()),
        ("points_1d", 5.into()),
        ("precision", "fp32".into()),
        ("data_level", "on_the_fly".into()),
        ("factors", "same".into()),
        ("mesh", "curved".into()),
        ("cells_x", 2.into()),
        ("elements", 8.into()),
        ("dofs", (8 * 64).into()),
        ("threads", 1.into()),
        ("samples", 1.into()),
        ("rate_unit", "nodes/s on E-vectors".into()),
    ] {
        assert_eq!(last[key], wanted, "{key}");
    }
    assert_eq!(rows[0]["rate_unit"], "DOF/s on L-vectors");
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a;
        assert!(same(number("rate"), number("dofs") / number("seconds")));
        assert!(same(
            number("fraction"),
            number("bound_seconds") / number("seconds")
        ));
        assert!(same(
            number("flop_rate"),
            number("flops") / number("seconds")
        ));
        assert!(same(
            number("fma_fraction"),
            number("flop_rate") / number("ceiling_fma")
        ));
        assert!(number("seconds_min") <= number("seconds"));
    }
}

#[test]
fn the_table_names_units_and_the_csv_file_has_the_rows() {
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/bench.csv");
    let output = bench(&[
        "bp1", "bk5", "--degree", "1..2", "--dofs", "1e3", "--csv", path,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let table = text(&output.stdout);
    for part in [
        "MDOF/s (L)",
        "Gnodes/s (E)",
        "of bound",
        "ceilings, threads 1",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let file = std::fs::read_to_string(path).unwrap();
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).from_reader(file.as_bytes());
    // Records of different lengths are errors.
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 5);
    let first = |line: usize, count: usize| lines[line].iter().take(count).collect::<Vec<_>>();
    assert_eq!(first(0, 3), ["benchmark", "measured", "vector"]);
    assert_eq!(first(4, 4), ["bk5", "application", "E", "2"]);
}

#[test]
fn iterations_of_conjugate_gradients_are_rows_too() {
    let report = json(&["bp3", "--degree", "2", "--elements", "27", "--cg"]);
    let row = &report["rows"][0];
    assert_eq!(
        (&row["measured"], &row["vector"]),
        (&"cg_iteration".into(), &"L".into())
    );
    assert_eq!(row["dofs"], 125);
}

#[test]
fn iterations_on_columns_hold_their_ends() {
    let columns = ["--mesh", "columns", "--layers", "3", "--elements", "96"];
    let report = json(&[&["bp3", "--degree", "2", "--cg"][..], &columns].concat());
    assert_eq!(report["rows"][0]["measured"], "cg_iteration");
}

/// One document, with the rows that were measured and why others were not.
#[test]
fn failures_are_reported_once() {
    let output = bench(&[
        "bp3",
        "--degree",
        "1,2",
        "--elements",
        "1",
        "--cg",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rows"].as_array().unwrap().len(), 1);
    assert!(text(&output.stderr).contains("nothing to iterate"));
    // A table that cannot be written is found before anything is measured; an empty one is not written.
    let table = concat!(env!("CARGO_TARGET_TMPDIR"), "/earlier.csv");
    std::fs::write(table, "earlier").unwrap();
    let none = bench(&[
        "bp3",
        "--degree",
        "1",
        "--elements",
        "1",
        "--cg",
        "--csv",
        table,
    ]);
    assert_eq!(none.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(table).unwrap(), "earlier");
    let nowhere = bench(&[
        "bp3",
        "--csv",
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/a.csv"),
    ]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(text(&nowhere.stdout).is_empty());
}

#[test]
fn stored_ladders_are_drawn() {
    let stored = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benches/runs/2026-11-25-nvidia-h200/ladders/ladder.csv"
    );
    let [figure, picture] = [
        concat!(env!("CARGO_TARGET_TMPDIR"), "/ladder.svg"),
        concat!(env!("CARGO_TARGET_TMPDIR"), "/ladder.png"),
    ];
    let draw = |from: &str, figure: &str| {
        Command::new(env!("CARGO_BIN_EXE_femto"))
            .args(["bench", "bk1", "bk5", "--ladder=layers", "--json"])
            .args(["--from", from, "--figure", figure])
            .output()
            .unwrap()
    };
    let refused = draw(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), figure);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("has no rows"));
    let refused = draw(stored, "ladder.pdf");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("figures are SVG or PNG files"));
    let copy = concat!(env!("CARGO_TARGET_TMPDIR"), "/rows.svg");
    std::fs::copy(stored, copy).unwrap();
    let refused = draw(copy, copy);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("would be written over"));
    assert_eq!(draw(stored, picture).status.code(), Some(0));
    let bytes = std::fs::read(picture).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    let output = draw(stored, figure);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    // 8 and 10 steps, 15 degrees, 3 sizes.
    assert_eq!(report["rows"], (8 + 10) * 15 * 3);
    let drawn = std::fs::read_to_string(figure).unwrap();
    for part in [
        "NVIDIA H200",
        "BK1 layers, 4096 elements",
        "BK5 layers, 512 elements",
    ] {
        assert!(drawn.contains(part), "{part}");
    }
    assert!(!drawn.contains("cubes"));
}

/// Nothing is measured for a figure of stored rows.
#[test]
fn options_of_measurements_are_refused_beside_stored_rows() {
    let both = [
        &["--degree", "3"][..],
        &["--elements", "8"],
        &["--precision", "fp64"],
        &["--nreps", "1"],
        &["--device", "opencl"],
        &["--kept"],
        &["--csv", "b.csv"],
    ];
    let ladder: &[&[&str]] = &[&["--dofs", "1e3"], &["--compile-first"]];
    let tet: &[&[&str]] = &[
        &["--stored", "full"],
        &["--steps", "1"],
        &["--sides", "1"],
        &["--per-thread", "2"],
        &["--prefetch", "true"],
    ];
    let benchmarks = [(&["bk5", "--ladder"][..], ladder), (&["tet"], tet)];
    for (benchmark, own) in benchmarks {
        for option in both.iter().chain(own) {
            let output = Command::new(env!("CARGO_BIN_EXE_femto"))
                .arg("bench")
                .args(benchmark)
                .args(["--figure", "a.svg", "--from", "a.csv"])
                .args(*option)
                .output()
                .unwrap();
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{option:?}: {error}");
            assert!(error.contains("cannot be used with"), "{option:?}: {error}");
            assert!(error.contains(option[0]), "{option:?}: {error}");
        }
    }
}

#[test]
fn wrong_arguments_have_exit_code_2_and_a_hint() {
    for (arguments, hint) in [
        (&["bp55"][..], "'bp5'"),
        (&[], "<BENCHMARK>"),
        (&["bp5", "--degree", "0..3"], "degrees 1 to 15"),
        (&["bp5", "--degree", "4..2"], "is empty"),
        (&["bp5", "--mesh", "cosine"], "'sine'"),
        (&["bp5", "--precision", "fp16"], "fp64"),
        (&["bp5", "--dofs", "many"], "1.5e6"),
        (
            &["bp5", "--dofs", "1e3", "--elements", "8"],
            "cannot be used with",
        ),
        (&["bp5", "--dofs", "1e12"], "GB"),
        (&["bk5", "--degree", "1", "--cg"], "bp1 to bp6"),
        (&["bp1", "--nreps", "0"], "--nreps"),
        (&["bk1", "--figure", "f.svg"], "cannot be used with"),
        (&["bp1", "--factors", "half"], "single"),
        (&["bp1", "--factors", "single"], "for cuda and opencl"),
        (&["bp1", "--knobs", "staged=2"], "staged=0..1"),
        (
            &["bp1", "--knobs", "staged=1"],
            "on cuda and opencl devices",
        ),
    ] {
        let output = bench(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(hint), "{arguments:?}: {error}");
    }
}

#[test]
fn the_challenge_has_a_row_for_every_stage_of_every_loop() {
    assert!(CEILINGS.status.success(), "{}", text(&CEILINGS.stderr));
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_femto"))
            .args(["bench", "helmholtz", "--kept"])
            .args(arguments)
            .env(CACHE.0, CACHE.1)
            .output()
            .unwrap()
    };
    let small = "--device host --threads 2 --triangles 32 --layers 4 --nreps 1 --json";
    let output = run(&small.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    // Three stages by femto's own operators.
    assert_eq!(rows.len(), 3 * 8 + 3);
    for row in rows {
        assert_eq!(
            (&row["triangles"], &row["cells"]),
            (&32.into(), &128.into())
        );
        assert!(row["error"].as_f64().unwrap() < 1e-12, "{row}");
    }
    assert_eq!(
        (&rows[7]["step"], &rows[7]["stage"]),
        (&"serial".into(), &"together".into())
    );

    let unknown = run(&["--steps", "1,11"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        text(&unknown.stderr).contains("steps 1 to 10"),
        "{}",
        text(&unknown.stderr)
    );
}

/// Rows are printed that were measured before the signal, which then ends the command.
#[cfg(unix)]
#[test]
fn a_signal_loses_no_rows() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::Duration;
    assert!(CEILINGS.status.success(), "{}", text(&CEILINGS.stderr));
    for (signal, number, form) in [("INT", 2, "--json"), ("TERM", 15, "--nreps=21")] {
        let table = format!("{}/{signal}.csv", env!("CARGO_TARGET_TMPDIR"));
        _ = std::fs::remove_file(&table);
        let mut child = Command::new(env!("CARGO_BIN_EXE_femto"))
            .args(["bench", "bp1", "--elements", "8", "--kept"])
            .args(["--threads", "1", form, "--csv", &table])
            .env(CACHE.0, CACHE.1)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !std::path::Path::new(&table).is_file() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let kill = ["-s", signal, &child.id().to_string()].map(str::to_owned);
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.signal(), Some(number), "{error}");
        assert!(
            error.starts_with("error: interrupted; rows measured: "),
            "{error}"
        );
        let rows = std::fs::read_to_string(&table).unwrap().lines().count() - 1;
        assert!((1..8).contains(&rows), "{rows}");
        let shown = text(&output.stdout);
        if form == "--json" {
            let report: Value = serde_json::from_str(shown).unwrap();
            assert_eq!(report["rows"].as_array().unwrap().len(), rows);
            assert_eq!(report["interrupted"], true);
        } else {
            assert!(shown.contains(&format!("; {rows} rows; ")), "{shown}");
        }
    }
}
