//! The binary: output, errors, exit codes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::process::{Command, Output};

const CUBE: &str = "\
$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
$PhysicalNames\n2\n2 1 \"floor\"\n3 2 \"body\"\n$EndPhysicalNames\n\
$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n\
$Elements\n2\n1 3 2 1 1 1 4 3 2\n2 5 2 2 1 1 2 3 4 5 6 7 8\n$EndElements\n";

fn femto(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_femto"))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A file for one test.
fn file(name: &str, content: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn mesh_info_describes_the_mesh_and_is_quiet_in_a_pipe() {
    let path = file("cube.msh", CUBE);
    let output = femto(&["mesh", "info", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    for line in [
        "nodes   8",
        "1 hex8",
        "`body` = 2 (dimension 3): 1 cells",
        "1 affine, 0 multilinear",
    ] {
        assert!(
            text(&output.stdout).contains(line),
            "{line}: {}",
            text(&output.stdout)
        );
    }
}

#[test]
fn mesh_info_as_json_holds_the_same() {
    let path = file("cube_json.msh", CUBE);
    let output = femto(&["mesh", "info", &path, "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["nodes"], 8);
    assert_eq!(json["bounding_box"]["upper"][2], 1.0);
    assert_eq!(json["blocks"][1]["type"], "hex8");
    assert_eq!(json["groups"][0]["name"], "floor");
    assert_eq!(json["elements"]["affine"], 1);
}

fn with_vertices(vertices: &str) -> String {
    let cube = CUBE.replace(
        "1 2 3 4 5 6 7 8\n$EndElements",
        &format!("{vertices}\n$EndElements"),
    );
    assert_ne!(cube, CUBE);
    cube
}

#[test]
fn an_inverted_element_is_reported() {
    let twisted = with_vertices("2 1 3 4 5 6 7 8");
    let path = file("inverted.msh", &twisted);
    let output = femto(&["mesh", "info", &path]);
    assert!(text(&output.stdout).contains("unusable: mesh cell 0 is inverted"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nothing can be solved on this mesh"));
    let output = femto(&["--json", "mesh", "info", &path]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let message = json["elements"]["unusable"].as_str().unwrap();
    assert!(message.contains("mesh cell 0 is inverted"), "{message}");
    assert_eq!(json["error"], message);
}

#[test]
fn a_left_handed_element_is_turned() {
    let mirrored = with_vertices("5 6 7 8 1 2 3 4");
    let path = file("left_handed.msh", &mirrored);
    let output = femto(&["mesh", "info", &path]);
    let line = "warning 1 cell was clockwise or left-handed, and has been turned";
    assert!(
        text(&output.stdout).contains(line),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(output.status.code(), Some(0));
    let case = format!(
        "[mesh]\nfile = \"{path}\"\n[space]\ndegree = 3\n[form]\nkind = \"mass\"\n\
         [source]\nvalue = \"x + z\"\n[exact]\nvalue = \"x + z\"\n"
    );
    let case = file("left_handed.toml", &case);
    let output = femto(&["--json", "solve", &case, "--no-roofline"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let warning = json["mesh"]["warnings"][0].as_str().unwrap();
    assert_eq!(warning, line.strip_prefix("warning ").unwrap());
    assert!(json["errors"]["l2"].as_f64().unwrap() < 1e-7, "{json}");
}

#[test]
fn a_mesh_is_not_extruded_over_itself() {
    let plane = file("plane.msh", "whatever it is");
    let refused = femto(&["mesh", "extrude", &plane, &plane, "--layers", "2"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("would be written over"));
    assert_eq!(std::fs::read_to_string(&plane).unwrap(), "whatever it is");
    for other in ["plane.ele", "solid.vtu"] {
        let refused = femto(&["mesh", "extrude", &plane, other, "--layers", "2"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains("ends in .msh"));
    }
}

/// Cells are counted by type and by kind of map; prisms between two planes are columns.
#[test]
fn prisms_beside_hexahedra_are_reported() {
    let meshes = concat!(env!("CARGO_MANIFEST_DIR"), "/../femto-fem/tests/meshes");
    let output = femto(&["--json", "mesh", "info", &format!("{meshes}/hybrid.msh")]);
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let blocks = &json["blocks"];
    assert_eq!([&blocks[0]["type"], &blocks[1]["type"]], ["hex8", "prism6"]);
    assert_eq!([&blocks[0]["cells"], &blocks[1]["cells"]], [8, 28]);
    let elements = &json["elements"];
    assert_eq!([&elements["multilinear"], &elements["extruded"]], [8, 28]);
}

#[test]
fn bad_input_has_exit_code_2_and_says_why() {
    let output = femto(&["--json", "mesh", "info", "/nowhere.msh"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("error: mesh file `/nowhere.msh`: "));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["error"]["exit_code"], 2);
    assert!(
        json["error"]["message"]
            .as_str()
            .unwrap()
            .contains("/nowhere.msh")
    );

    let broken = femto(&["mesh", "info", &file("broken.msh", &CUBE[..CUBE.len() / 2])]);
    assert_eq!(broken.status.code(), Some(2));
    assert!(
        text(&broken.stderr).contains("broken.msh"),
        "{}",
        text(&broken.stderr)
    );

    let usage = femto(&["mesh", "inof", "a.msh", "--json"]);
    assert_eq!(usage.status.code(), Some(2));
    assert!(
        text(&usage.stderr).contains("'info'"),
        "{}",
        text(&usage.stderr)
    );
    let json: Value = serde_json::from_slice(&usage.stdout).unwrap();
    assert_eq!(json["error"]["exit_code"], 2);
    let message = json["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("unrecognized subcommand"), "{message}");
}

#[test]
fn devices_lists_the_host() {
    let output = femto(&["devices", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json[0]["kind"], "host");
    assert!(json[0]["threads"].as_u64().unwrap() >= 1);
    assert!(text(&femto(&["devices"]).stdout).starts_with("host "));
}

#[test]
fn roofline_keeps_what_it_measured() {
    let cache = format!("{}/cache", env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::remove_dir_all(&cache);
    let run = || -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_femto"))
            .args(["roofline", "--threads", "1", "--kept", "--json"])
            .env("FEMTO_CACHE", &cache)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (first, second) = (run(), run());
    assert_eq!(first[0]["measured_now"], true);
    assert_eq!(second[0]["measured_now"], false);
    assert_eq!(first[0]["copy"], second[0]["copy"]);
    assert!(first[0]["copy"].as_f64().unwrap() > 1e8);
    let refused = femto(&["roofline", "--threads", "0"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}
