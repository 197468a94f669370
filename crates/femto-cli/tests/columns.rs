//! Columns of prisms of another degree vertically than horizontally.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{femto, json, mistake, scratch, text, write};
use serde_json::json;
use std::fs;

const CASE: &str = "[mesh.box]\ncell = \"triangle\"\ncells = [3, 3]\n[mesh.extrude]\nlayers = 3\n\
    [space]\ndegree = { horizontal = 1, vertical = 3 }\n[form]\nkind = \"poisson\"\n\
    [source]\nvalue = \"-6*(1 + x - 2*y)*(0.3 + z)\"\n[exact]\nvalue = \"(1 + x - 2*y)*(0.3 + z)^3\"\n\
    [[dirichlet]]\ntags = [\"bottom\", \"top\", \"xmin\", \"ymax\"]\nvalue = \"(1 + x - 2*y)*(0.3 + z)^3\"\n\
    [[neumann]]\ntags = [\"xmax\"]\nvalue = \"(0.3 + z)^3\"\n[[neumann]]\ntags = [\"ymin\"]\nvalue = \"2*(0.3 + z)^3\"\n";

#[test]
fn cases_may_have_a_degree_for_each_direction() {
    let folder = scratch("solved");
    let path = write(&folder, "case.toml", CASE);
    let output = femto(&["solve", &path, "--json", "--no-roofline"]);
    let report = json(&output);
    assert_eq!(report["status"], "converged", "{report}");
    let degree = json!({ "horizontal": 1, "vertical": 3 });
    assert_eq!(report["operator"]["degree"], degree);
    assert!(report["errors"]["l2"].as_f64().unwrap() < 1e-8, "{report}");
    let vtu = fs::read(folder.join("case.vtu")).unwrap();
    let head = String::from_utf8_lossy(&vtu);
    assert!(head.contains("<CellData HigherOrderDegrees=\"HigherOrderDegrees\">"));
    let uniform = femto(&["solve", &path, "--set", "space.degree=3", "--no-roofline"]);
    assert!(text(&uniform.stdout).contains("poisson of degree 3 in fp64"));
}

#[test]
fn degrees_that_do_not_exist_are_refused() {
    let folder = scratch("refused");
    for (change, wanted) in [
        (
            [", vertical = 3", ""],
            "CASE:7:10: space.degree needs the key `vertical`",
        ),
        (["vertical = 3", "vertical = 0"], "CASE:7:38: "),
        (["vertical = 3", "vertical = 9"], "CASE:7:38: "),
        (["vertical = 3", "up = 3"], "CASE:7:27: "),
        (
            ["vertical = 3", "vertical = 6"],
            "CASE:7:10: prisms of degree 1 horizontally and 6 vertically cannot be written to a VTU file",
        ),
        (
            ["[mesh.extrude]\nlayers = 3\n", ""],
            "CASE:7:10: degree 1 horizontally and 3 vertically on triangles: only prisms",
        ),
        (
            ["\"triangle\"", "\"quadrilateral\""],
            "CASE:7:10: degree 1 horizontally and 3 vertically on hexahedra: only prisms",
        ),
    ] {
        let error = mistake(&folder, "case.toml", CASE, change);
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn benchmarks_may_have_another_degree_vertically() {
    let of = ["bench", "bp3", "--degree", "1", "--vertical-degree", "2"];
    let small = [
        "--elements",
        "100",
        "--layers",
        "3",
        "--nreps",
        "1",
        "--json",
    ];
    let run = |mesh| femto(&[&of[..], &["--mesh", mesh], &small].concat());
    let report = json(&run("layers"));
    let row = &report["rows"][0];
    assert_eq!(
        (&row["degree"], &row["vertical_degree"]),
        (&json!(1), &json!(2))
    );
    let refused = run("sine");
    assert_eq!(refused.status.code(), Some(2));
    let message = text(&refused.stderr);
    assert!(message.contains("--vertical-degree"), "{message}");
}
