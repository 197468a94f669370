//! Components along the normal in cases: planes that no axis is normal to, mistakes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, mistake, run, scratch, text, write};
use femto_cli::solve::{Outcome, Status};

/// One of the planes of symmetry is slanted, and the cells and the space do not contain the solution.
#[test]
fn a_slanted_plane_of_symmetry_holds_a_sector_of_a_pipe() {
    let Outcome { report, .. } = run("pipe-sector");
    assert_eq!(report.status, Status::Converged);
    let errors = report.errors.unwrap();
    assert!((1e-10..1e-5).contains(&errors.l2_relative()), "{errors:?}");
    let (all, side, end) = (3 * 17 * 13 * 9, 17 * 9, 17 * 13);
    let held = 2 * side + 2 * end;
    assert_eq!(
        (report.unknowns.all, report.unknowns.free),
        (all, all - held)
    );
}

/// Two sides whose normals are less than 40° apart have one plane where they meet, whichever group comes first: a
/// translation is found, without forces.
#[test]
fn groups_of_one_plane_share_it() {
    let folder = scratch("plane");
    let sides = [("xmax", "\"0.1/sqrt(5)\""), ("ymin", "0")];
    let sides = sides.map(|(tag, value)| {
        format!("[[dirichlet]]\ntags = [\"{tag}\"]\nnormal = true\nvalue = {value}\n")
    });
    for (name, order) in [("one", [0, 1]), ("other", [1, 0])] {
        let case = format!(
            "[mesh.box]\ncell = \"quadrilateral\"\ncells = [4, 4]\ndeformation = [\"x + 2*y\", \"y\"]\n\
             [space]\ndegree = 2\n[form]\nkind = \"elasticity\"\nyoung = 1\npoisson = 0.3\n\
             [exact]\nvalue = [0.1, 0]\n{}[output]\nreactions = true\n",
            order.map(|side| &sides[side][..]).concat(),
        );
        let path = write(&folder, name, &case);
        let output = femto(&["solve", &path, "--no-roofline", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        assert!(
            number(&report["errors"]["l2"]) < 1e-7,
            "{}",
            report["errors"]
        );
        for reaction in report["reactions"].as_array().unwrap() {
            let sum = reaction["sum"].as_array().unwrap();
            assert!(sum.iter().all(|it| number(it).abs() < 1e-7), "{reaction}");
        }
    }
}

#[test]
fn conditions_along_the_normal_are_checked() {
    let folder = scratch("normal");
    let good = std::fs::read_to_string(case_path("pipe-sector")).unwrap();
    let fail = |name: &str, from: &str, to: &str| mistake(&folder, name, &good, [from, to]);
    let normal = "normal = true\nvalue = 0";
    for (name, to, wanted) in [
        (
            "word",
            "normal = 1\nvalue = 0",
            "CASE:25:10: `normal` in element 1 of [[dirichlet]] must be true or false",
        ),
        (
            "components",
            "components = [\"x\"]\nnormal = true\nvalue = 0",
            "CASE:26:10: `normal` in element 1 of [[dirichlet]] has no meaning here: `components` are given",
        ),
        (
            "vector",
            "normal = true\nvalue = [0, 0, 1]",
            "CASE:26:9: `value` in element 1 of [[dirichlet]] must be one, along the normal",
        ),
        (
            "twice",
            "normal = true\nvalue = 0\n[[dirichlet]]\ntags = [\"ymin\"]\nvalue = 0",
            "CASE:28:9: group `ymin` has a condition already, in [[dirichlet]]",
        ),
        (
            "whole",
            "normal = true\nvalue = 0\n[[dirichlet]]\ntags = [3]\nvalue = 0",
            "CASE:28:9: `3` is the group that `ymin` is, which has a condition already",
        ),
        (
            "again",
            "normal = true\nvalue = 0\n[[dirichlet]]\ntags = [3]\nnormal = true\nvalue = 0",
            "`3` is the group that `ymin` is, which has a condition already",
        ),
        (
            "infinite",
            "normal = true\nvalue = \"1/z\"",
            "CASE:26:9: the boundary value on `ymin` is inf",
        ),
    ] {
        let found = fail(name, normal, to);
        assert!(found.contains(wanted), "{found}");
    }
    let scalar = "kind = \"poisson\"\n";
    let pressure = "tags = [\"xmin\"]\nnormal = true";
    for (to, wanted) in [
        ("components = [\"x\"]", "`components` are given"),
        (
            "value = 1\n[[neumann]]\ntags = [\"xmin\"]",
            "group `xmin` has a condition already, in [[neumann]]",
        ),
    ] {
        let found = fail("flux", pressure, &format!("{pressure}\n{to}"));
        assert!(found.contains(wanted), "{found}");
    }
    // A flux along the normal has all components, and a group may be given by number.
    let flux_on = "[[neumann]]\ntags = [\"xmin\"]";
    let [whole, along_normal] = ["", "normal = true\n"].map(|normal| {
        format!("[[dirichlet]]\ntags = [\"xmin\"]\n{normal}value = 0.1\n[[neumann]]\ntags = [1]")
    });
    let found = fail("number", flux_on, &whole);
    let wanted = "`1` is the group that `xmin` is, which has a condition already";
    assert!(found.contains(wanted), "{found}");
    let path = write(&folder, "beside", &good.replace(flux_on, &along_normal));
    let coarse = ["--set", "space.degree=1", "--set", "solver.tolerance=1e-8"];
    let output = femto(&[&["solve", &path, "--no-roofline"][..], &coarse].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let wanted = "facets of `1` in `xmin` too, where the solution is given";
    let found = text(&output.stdout);
    assert!(found.contains(wanted), "{found}");
    let vector =
        good[good.find("[exact]").unwrap()..good.find("[[dirichlet]]").unwrap()].to_owned();
    let flux = &good[good.find("[[neumann]]").unwrap()..good.find("[solver]").unwrap()];
    let (start, end) = (good.find("kind =").unwrap(), good.find("[exact]").unwrap());
    let scalar = good
        .replace(&good[start..end], scalar)
        .replace(&vector, "")
        .replace(flux, "");
    let path = write(&folder, "scalar", &scalar);
    let output = femto(&["solve", &path]);
    assert_eq!(output.status.code(), Some(2));
    let found = text(&output.stderr);
    assert!(
        found.contains("a vector with as many components as dimensions"),
        "{found}"
    );
}
