//! `femto solve`: reports, failures, interruption; `femto mesh box`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, json, scratch, text, write};
use femto::fem::mesh::Mesh;
use serde_json::Value;
use std::path::Path;

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
            .starts_with("no convergence: ")
    );
    assert!(text(&output.stderr).starts_with("error: no convergence: "));
    assert!(folder.join("new/box.vtu").is_file(), "{report}");
    let output = femto(&["solve", &path, "--no-roofline", "--no-output"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("3 iterations, relative residual"));
    assert!(text(&output.stdout).contains(": not converged"));
    assert!(text(&output.stdout).contains("\nmemory      "));
}

/// Single precision cannot reach what is asked for; the recurrence thinks that it can.
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
fn bad_input_is_exit_code_2_and_points_at_its_line() {
    let folder = scratch("bad-input");
    let good = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let fail = |name: &str, from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        let path = write(&folder, name, &good.replace(from, to));
        let output = femto(&["solve", &path]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        text(&output.stderr).replace(&path, "CASE")
    };
    let misspelt = fail("key", "tolerance =", "tolerence =");
    assert!(
        misspelt.contains("CASE:26:1: unknown key `tolerence`"),
        "{misspelt}"
    );
    assert!(misspelt.contains("did you mean `tolerance`?"), "{misspelt}");
    let tag = fail("tag", "\"zmin\"", "\"zmni\"");
    assert!(
        tag.contains("CASE:22:41: no physical group `zmni`"),
        "{tag}"
    );
    assert!(tag.contains("`zmin` = 5 (dimension 2)"), "{tag}");
    let lambda = "kind = \"screened_poisson\"\nlambda = { steel = 1 }";
    let group = fail("group", "kind = \"poisson\"", lambda);
    assert!(
        group.contains("CASE:14:12: no physical group `steel`"),
        "{group}"
    );
    let twice = fail("twice", "\"zmin\"", "5, \"zmin\"");
    assert!(
        twice
            .contains("CASE:22:44: `zmin` is the group that `5` is, which has a condition already"),
        "{twice}"
    );
    let lambda = "kind = \"screened_poisson\"\nlambda = { domain = 1, 7 = 2.0 }";
    let twice = fail("values", "kind = \"poisson\"", lambda);
    assert!(
        twice.contains("the group that `7` is, which has a value already"),
        "{twice}"
    );
    let component = "components = [\"y\"]\nvalue";
    let component = fail("component", "value = \"0\"", &format!("{component} = 0"));
    assert!(
        component.contains("a component must be x or 0, found \"y\""),
        "{component}"
    );
    let dirichlet =
        good[good.find("[[dirichlet]]").unwrap()..good.find("[solver]").unwrap()].to_owned();
    let singular = fail("singular", &dirichlet, "");
    assert!(
        singular.contains("only determined up to a constant"),
        "{singular}"
    );
}

#[test]
fn inverted_elements_and_unknown_devices_are_bad_input() {
    let folder = scratch("inverted");
    let good = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let inverted = "cells = [4, 4, 4]\ndeformation = [\"-x\", \"y\", \"z\"]";
    let path = write(
        &folder,
        "case.toml",
        &good.replace("cells = [4, 4, 4]", inverted),
    );
    let output = femto(&["solve", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("mesh cell 0 is inverted"),
        "{}",
        text(&output.stderr)
    );
    let output = femto(&["solve", &case_path("box-sine"), "--device", "gpu"]);
    assert_eq!(output.status.code(), Some(2));
    let message = "there is no device \"gpu\"; these exist: host, cuda";
    assert!(text(&output.stderr).contains(message));
}

#[test]
fn constants_that_are_none_and_z_in_the_plane_are_bad_input() {
    let folder = scratch("constants");
    let case = |source: &str| {
        let case = format!(
            "[mesh.box]\ncell = \"triangle\"\ncells = [2, 2]\n[space]\ndegree = 1\n\
             [form]\nkind = \"mass\"\n[source]\nvalue = \"{source}\"\n"
        );
        femto(&[
            "solve",
            &write(&folder, "case.toml", &case),
            "--no-roofline",
        ])
    };
    for (source, place, message) in [
        (
            "x + 0*ln(0)",
            ":9:16: ",
            "this is -inf; a constant must be finite",
        ),
        (
            "x + 0/0",
            ":9:15: ",
            "this is NaN; a constant must be finite",
        ),
        (
            "x + y*z",
            ":9:9: ",
            "`z` has no meaning here: the mesh lies in the plane",
        ),
    ] {
        let output = case(source);
        assert_eq!(output.status.code(), Some(2), "{source}");
        let error = text(&output.stderr);
        assert!(error.contains(place) && error.contains(message), "{error}");
    }
    assert_eq!(case("x + y").status.code(), Some(0));
}

/// Two squares, the second of which is twisted, with numbers as files have them.
const TWISTED: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n\
5 1 1 0\n6 2 1 0\n$EndNodes\n$Elements\n3\n17 1 2 1 1 1 2\n301 3 2 9 1 1 2 5 4\n4711 3 2 9 1 2 3 5 6\n$EndElements\n";

#[test]
fn mistakes_have_their_line_and_cells_the_number_of_their_file() {
    let folder = scratch("places");
    write(&folder, "twisted.msh", TWISTED);
    write(&folder, "good.msh", &TWISTED.replace("3 5 6\n", "3 6 5\n"));
    let mass = "[space]\ndegree = 2\n[form]\nkind = \"mass\"\n";
    let poisson = "[space]\ndegree = 2\n[form]\nkind = \"poisson\"\n";
    let on = |mesh: &str, rest: &str| format!("title = \"a\"\n[mesh]\n{mesh}\n{rest}");
    let boxed = |cells: &str| format!("box = {{ cell = \"tetrahedron\", cells = {cells} }}");
    let good = "file = \"good.msh\"";
    for (case, place, message) in [
        (
            on("file = \"twisted.msh\"", mass),
            ":2:1: ",
            "mesh cell 1 is inverted",
        ),
        (
            on("file = \"twisted.msh\"", mass),
            ":2:1: ",
            "it is element 4711",
        ),
        (
            on(
                good,
                "[space]\ndegree = 2\n[form]\nkind = \"diffusion\"\nkappa = { 7 = 2 }\n",
            ),
            ":8:11: ",
            "no physical group `7`",
        ),
        (
            on(&boxed("[1, 1, 1]"), &mass.replace('2', "9")),
            ":5:10: ",
            "degree 9",
        ),
        (
            on(&boxed("[1, 1, 1], upper = [1, 1, 0]"), mass),
            ":2:1: ",
            "both corners must be finite",
        ),
        (
            on(
                &boxed("[2, 2, 2]"),
                &format!("{mass}[quadrature]\npoints_1d = 3\n"),
            ),
            ":8:1: ",
            "triangles and tetrahedra take",
        ),
        (on("file = \"nowhere.msh\"", mass), ":2:1: ", "nowhere.msh"),
        (
            on(good, &format!("{mass}[run]\ndevice = \"opencl:99\"\n")),
            ":8:1: ",
            "opencl",
        ),
        (
            on(good, &format!("{mass}[output]\nvtu = \"good.msh/a.vtu\"\n")),
            ":8:1: ",
            "cannot make the folder",
        ),
        (
            on(good, poisson),
            ":6:1: ",
            "only determined up to a constant",
        ),
        (
            on(good, &format!("{mass}[source]\nvalue = \"1/(x - x)\"\n")),
            ":9:9: ",
            "the source is inf at",
        ),
        (
            on(good, &format!("{mass}[start]\nvalue = \"ln(-1 - x)\"\n")),
            ":9:9: ",
            "the start is NaN at",
        ),
        (
            on(
                good,
                &format!("{mass}[[neumann]]\ntags = [1]\nvalue = \"1/y\"\n"),
            ),
            ":10:9: ",
            "the flux on `1` is inf at",
        ),
    ] {
        let output = femto(&[
            "solve",
            &write(&folder, "case.toml", &case),
            "--no-roofline",
        ]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{case}: {error}");
        assert!(
            error.contains(place) && error.contains(message),
            "{case}: {error}"
        );
    }
    let info = femto(&["mesh", "info", folder.join("twisted.msh").to_str().unwrap()]);
    assert!(
        text(&info.stdout).contains("it is element 4711"),
        "{}",
        text(&info.stdout)
    );
}

#[test]
fn fluxes_inside_the_domain_are_warned_of() {
    let folder = scratch("inside");
    let mesh = TWISTED.replace("3 5 6\n", "3 6 5\n");
    let case = "[mesh]\nfile = \"mesh.msh\"\n[space]\ndegree = 1\n[form]\nkind = \"mass\"\n\
                [[neumann]]\ntags = [1]\nvalue = 1\n";
    let case = write(&folder, "case.toml", case);
    for (facet, warnings) in [("1 1 2", 0), ("1 2 5", 1)] {
        write(
            &folder,
            "mesh.msh",
            &mesh.replace("1 1 2\n301", &format!("{facet}\n301")),
        );
        let report = json(&femto(&["solve", &case, "--json", "--no-roofline"]));
        let told = report["mesh"]["warnings"].as_array().unwrap();
        assert_eq!(told.len(), warnings, "{facet}: {told:?}");
        let wanted = "1 facet of `1` between two cells: a flux there is a source inside the domain";
        assert!(told.iter().all(|warning| warning == wanted), "{told:?}");
    }
}

/// What a form on triangles reads, and what nothing reads.
#[test]
fn names_without_a_meaning_are_bad_input() {
    let folder = scratch("names");
    let head = "[mesh.box]\ncell = \"triangle\"\ncells = [2, 2]\n[space]\ndegree = 1\n";
    let case = |rest: &str| {
        let case = write(&folder, "case.toml", &format!("{head}{rest}"));
        femto(&["solve", &case, "--no-roofline"])
    };
    for (rest, place, message) in [
        (
            "[form]\nf0 = \"u + sin(t)*u\"",
            ":7:15: ",
            "`t` has no meaning here: a case has no time",
        ),
        (
            "[form]\nf0 = \"u\"\nf1 = [\"u_x\", \"t*u_y\"]",
            ":8:15: ",
            "`t` has no meaning here",
        ),
        ("[form]\nf0 = \"z*u\"", ":7:7: ", "`z` is not known"),
        (
            "[form]\nkind = \"diffusion\"\nkappa = \"1 + z^2\"",
            ":8:9: ",
            "`z` has no meaning here: the mesh lies in the plane",
        ),
        (
            "[form]\nkind = \"diffusion\"\nkappa = \"x - 0.6\"\n[[dirichlet]]\ntags = [\"xmax\"]\nvalue = 0",
            ":8:9: ",
            "`kappa` in [form] must be above zero, found -0.",
        ),
        (
            "[form]\nkind = \"elasticity\"\nyoung = 1\npoisson = \"0.4 + 0.1*sqrt(y - 0.5)\"\n[[dirichlet]]\ntags = [\"xmax\"]\nvalue = 0",
            ":9:11: ",
            "`poisson` in [form] must be above -1 and below 0.5, found NaN at [",
        ),
        (
            "[form]\nf0 = \"a*u\"\n[fields]\na = \"2 + z\"",
            ":9:5: ",
            "`z` has no meaning here",
        ),
        (
            "[form]\nf0 = \"a*u\"\n[parameters]\na = 2\nb = 3",
            ":10:1: ",
            "no expression of the form reads `b`",
        ),
        (
            "[form]\nf0 = \"u\"\n[fields]\nrate = 3",
            ":9:1: ",
            "no expression of the form reads `rate`",
        ),
        (
            "[form]\nf0 = \"u\"\n[parameters]\nu = 3",
            ":9:1: ",
            "`u` has a meaning already",
        ),
        (
            "[form]\nf0 = \"u\"\nf1 = [\"u_x\", \"u_y\", \"0\"]",
            ":8:6: ",
            "f1 is one text, or 2, one for each axis; found a list of 3",
        ),
    ] {
        let output = case(rest);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{rest} {error}");
        assert!(error.contains(place) && error.contains(message), "{error}");
    }
    // Zero on the boundary is nobody's value.
    let output = case(
        "[form]\nkind = \"diffusion\"\nkappa = \"x*y\"\n[[dirichlet]]\ntags = [\"xmax\"]\nvalue = 0",
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let good =
        "[form]\nf0 = \"a*u\"\nf1 = \"k_x*grad(u)\"\n[fields]\nk = \"x\"\n[parameters]\na = 2\n";
    let output = case(good);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
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

/// A corner whose angle is flat is no error, but is told.
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

/// A case that never converges, in a folder, where its output goes to `box.vtu`.
#[cfg(unix)]
fn endless(folder: &Path) -> String {
    let case = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let endless = [
        ("[4, 4, 4]", "[16, 16, 16]"),
        ("1e-10", "1e-300"),
        ("1000", "1_000_000_000\n[output]\nvtu = \"box.vtu\""),
    ];
    let case = endless
        .iter()
        .fold(case, |case, (from, to)| case.replace(from, to));
    write(folder, "case.toml", &case)
}

/// A program that was started to ignore a signal, as by `nohup`, goes on ignoring it.
#[cfg(unix)]
#[test]
fn ignored_signals_stay_ignored() {
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let path = endless(&scratch("nohup"));
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_femto"), "solve", &path, "--json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    for _ in 0..2 {
        std::thread::sleep(Duration::from_secs(2));
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        let sent = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(sent.unwrap().success());
    }
    std::thread::sleep(Duration::from_secs(1));
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Ctrl-C, or what a batch system sends, after a while: what was reached is written and reported.
#[cfg(unix)]
#[test]
fn signals_stop_after_the_iteration() {
    stops_after_the_iteration("INT");
    stops_after_the_iteration("TERM");
    // Under `nohup` this program and those that it starts ignore it.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if mask.is_none_or(|mask| mask & 1 == 0) {
        stops_after_the_iteration("HUP");
    }
}

#[cfg(unix)]
fn stops_after_the_iteration(signal: &str) {
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let folder = scratch(signal);
    let path = endless(&folder);
    // A slow machine may still be setting up after the first waits.
    for seconds in [1, 4, 16, 60] {
        let child = Command::new(env!("CARGO_BIN_EXE_femto"))
            .args(["solve", &path, "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs(seconds));
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &pid])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        if text(&output.stderr).contains("interrupted before the stage") {
            continue;
        }
        let report = json(&output);
        assert_eq!(report["status"], "interrupted", "{}", text(&output.stderr));
        assert!(report["solver"]["iterations"].as_u64().unwrap() >= 1);
        assert_eq!(
            report["ceilings"],
            Value::Null,
            "nothing is measured any more"
        );
        assert!(text(&output.stderr).starts_with("error: interrupted"));
        assert!(folder.join("box.vtu").is_file());
        return;
    }
    panic!("never came to the first iteration");
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
}

/// Where the memory is known; more than any machine has.
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
}

/// Whatever part of it the limit meets, the exit code says that the work failed.
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
