//! `femto bench` and `femto paper`: options that change nothing, and files without rows to draw.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{femto, json, scratch, text, write};

/// The error of a command with wrong input.
fn refused(arguments: &[&str]) -> String {
    let output = femto(arguments);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    error.to_owned()
}

#[test]
fn options_that_change_nothing_are_refused() {
    for (arguments, message) in [
        (
            "bp1 --mesh box --layers 3",
            "--layers has no meaning here: only the meshes columns",
        ),
        (
            "bp1 --compile-first",
            "--compile-first has no meaning here: only accelerators",
        ),
        (
            "simplices --device host --table2",
            "--table2 has no meaning here",
        ),
        (
            "simplices --device host --best",
            "--best has no meaning here",
        ),
        (
            "helmholtz --device host --steps 2",
            "--steps has no meaning here",
        ),
        (
            "helmholtz --variants serial",
            "--variants has no meaning here",
        ),
        (
            "tet --stored full --per-thread 3",
            "--per-thread has no meaning here",
        ),
        ("tet --stored full --warps 3", "--warps has no meaning here"),
        (
            "tet --stored factors --prefetch true",
            "--prefetch has no meaning here",
        ),
        (
            "tet --stored full,triangle --steps 2,5",
            "full matrices 0 to 2",
        ),
        ("tet --steps 2 --sides 3", "steps have one right-hand side"),
        (
            "bp1 --knobs blocks=3+staged=1+blocks=4",
            "`blocks` is given twice",
        ),
        ("bp1 --knobs element=3", "staged=0..1"),
        (
            "bp1 bp3 --ladder",
            "no ladder of bp1, bp3 has a step `all`; bk1, bk3 and bk5",
        ),
    ] {
        let error = refused(&[&["bench"], &arguments.split(' ').collect::<Vec<_>>()[..]].concat());
        assert!(error.contains(message), "{arguments}: {error}");
    }
    for name in ["simplices", "prisms"] {
        let error = refused(&["paper", name, "--degree", "2"]);
        assert!(error.contains("--degree has no meaning here"), "{error}");
    }
}

#[test]
fn what_is_listed_twice_is_measured_once() {
    #[rustfmt::skip]
    let arguments = [
        "bench", "bp1", "bp1", "--degree", "2,1..2", "--dofs", "100,1e2", "--device", "host", "--json",
    ];
    let report = json(&femto(&arguments));
    assert_eq!(report["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn files_without_rows_to_draw_are_named_with_what_they_have() {
    let folder = scratch("no-rows");
    let figure = folder.join("a.svg");
    let draw = |benchmark: &[&str], from: &str| {
        let files = ["--from", from, "--figure", figure.to_str().unwrap()];
        refused(&[&["bench"], benchmark, &files].concat())
    };
    let empty = write(&folder, "empty.csv", "");
    let missing = folder.join("missing.csv").display().to_string();
    let stored = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benches/runs/2026-11-25-nvidia-h200/ladders/ladder.csv"
    );
    let stored = std::fs::read_to_string(stored).unwrap();
    let only = stored.lines().filter(|line| !line.starts_with("bk5,"));
    let only = only.collect::<Vec<_>>().join("\n");
    let error = draw(&["bk5", "--ladder"], &write(&folder, "others.csv", &only));
    assert!(
        error.contains("others.csv, only other steps of bk1/layers, bk3/cubes"),
        "{error}"
    );
    for benchmark in [&["bk5", "--ladder"][..], &["tet"]] {
        let error = draw(benchmark, &empty);
        assert!(
            error.contains(&format!("no rows to draw in {empty}")),
            "{error}"
        );
        let error = draw(benchmark, &missing);
        assert!(
            error.contains(&format!("cannot read {missing}: ")),
            "{error}"
        );
    }
}
