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
    let file = folder.join("u.vtu").display().to_string();
    let written = femto(&["solve", &path, "--output", &file, "--no-roofline"]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    let vtu = fs::read(file).unwrap();
    let head = String::from_utf8_lossy(&vtu);
    assert!(head.contains("<CellData HigherOrderDegrees=\"HigherOrderDegrees\">"));
    let uniform = femto(&["solve", &path, "--set", "space.degree=3", "--no-roofline"]);
    assert!(text(&uniform.stdout).contains("poisson of degree 3 in fp64"));
}

/// A terrain of four triangles, one of them clockwise.
const TERRAIN: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0.1\n2 1 0 0.3\n3 1 1 0.2\n4 0 1 0\n\
    5 0.5 0.5 0.4\n$EndNodes\n$Elements\n4\n1 2 2 1 1 1 2 5\n2 2 2 1 1 2 3 5\n3 2 2 1 1 3 4 5\n4 2 2 1 1 4 5 1\n\
    $EndElements\n";

/// The heights of a surface are those of its nodes.
#[test]
fn terrains_are_extruded() {
    let folder = scratch("terrain");
    let terrain = write(&folder, "terrain.msh", TERRAIN);
    let flipped = TERRAIN.replace("4 2 2 1 1 4 5 1", "4 2 2 1 1 4 1 5");
    let flipped = write(&folder, "flipped.msh", &flipped);
    for mesh in ["terrain", "flipped"] {
        let case = format!(
            "mesh.file = \"{mesh}.msh\"\nspace.degree = 2\n[mesh.extrude]\nlayers = 3\nbottom = \"-1 - 0.1*x\"\n\
             top = \"z\"\n[form]\nkind = \"mass\"\n[source]\nvalue = \"z\"\n[exact]\nvalue = \"z\"\n\
             [output]\nfields = [\"solution\"]\n"
        );
        let path = write(&folder, &format!("{mesh}.toml"), &case);
        let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
        assert_eq!(report["status"], "converged", "{report}");
        // From the lowest corner of the bottom to the highest of the terrain.
        let range = &report["solution"];
        assert!(
            (range["min"].as_f64().unwrap() + 1.1).abs() < 1e-6,
            "{report}"
        );
        assert!(
            (range["max"].as_f64().unwrap() - 0.4).abs() < 1e-6,
            "{report}"
        );
        assert!(report["errors"]["l2"].as_f64().unwrap() < 1e-7, "{report}");
    }
    let out = folder.join("out.msh").display().to_string();
    let extrude = |mesh: &str, top: &[&str]| {
        let arguments = ["mesh", "extrude", mesh, &out, "--layers", "2"];
        femto(&[&arguments[..], top].concat())
    };
    assert!(
        extrude(&flipped, &["--top", "z + 1", "--bottom", "z"])
            .status
            .success()
    );
    let refused = extrude(&terrain, &["--top", "2"]);
    let message = text(&refused.stderr);
    assert!(
        message.contains("unless the bottom or the top is a function of z"),
        "{message}"
    );
}

#[test]
fn degrees_that_do_not_exist_are_refused() {
    let folder = scratch("refused");
    let case = format!("{CASE}[output]\nvtu = \"u.vtu\"\n");
    for (change, wanted) in [
        (
            [", vertical = 3", ""],
            "CASE:7:10: `degree` in [space] needs the key `vertical`",
        ),
        (["vertical = 3", "vertical = 0"], "CASE:7:39: "),
        (["vertical = 3", "vertical = 9"], "CASE:7:39: "),
        (["vertical = 3", "up = 3"], "CASE:7:28: "),
        (
            ["vertical = 3", "vertical = 6"],
            "CASE:7:10: prisms of degree 1 horizontally and 6 vertically cannot be written to a VTU file",
        ),
        (
            ["\"triangle\"", "\"quadrilateral\""],
            "CASE:7:10: degree 1 horizontally and 3 vertically on hexahedra: only prisms",
        ),
    ] {
        let error = mistake(&folder, "case.toml", &case, change);
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn benchmarks_may_have_another_degree_vertically() {
    let of = ["bench", "bp3", "--degree", "1", "--vertical-degree", "2"];
    let run = |others: &[&str]| {
        let small = ["--elements", "100", "--nreps", "1", "--json"];
        femto(&[&of[..], &small, others].concat())
    };
    let report = json(&run(&["--mesh", "layers", "--layers", "3"]));
    let row = &report["rows"][0];
    assert_eq!(
        (&row["degree"], &row["vertical_degree"]),
        (&json!(1), &json!(2))
    );
    let refused = run(&["--mesh", "sine"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = text(&refused.stderr);
    assert!(message.contains("--vertical-degree"), "{message}");
}
