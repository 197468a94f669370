//! Warnings about cases that can be solved, but probably not as they were meant.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{femto, json, scratch, text, write};

#[test]
fn poissons_ratios_near_a_half_are_warned_of() {
    let folder = scratch("ratios");
    let warning = |moduli: &str| {
        let case = format!(
            "[mesh.box]\ncells = [1, 1, 1]\n[space]\ndegree = 1\n[form]\nkind = \"elasticity\"\n{moduli}\n"
        );
        let path = write(&folder, "case.toml", &case);
        let output = femto(&["solve", &path, "--no-roofline"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let report = text(&output.stdout);
        let line = report.lines().find(|line| line.contains("locking"));
        line.map(str::to_owned)
    };
    let near = warning("young = 1\npoisson = 0.4999").unwrap();
    let wanted = "warning     Poisson's ratio 0.4999 is near 1/2";
    assert!(near.starts_with(wanted), "{near}");
    assert!(warning("young = 1\npoisson = { domain = 0.495 }").is_some());
    assert!(warning("lambda = 100\nmu = 1").is_some());
    assert!(warning("lambda = { domain = 100 }\nmu = 1").is_some());
    for far in [
        "young = 1\npoisson = 0.45",
        "lambda = 1\nmu = 1",
        // Known at points only.
        "young = 1\npoisson = \"0.495 + 0.001*x\"",
    ] {
        assert_eq!(warning(far), None);
    }
}

#[test]
fn convection_that_multigrid_does_not_smooth_is_warned_of() {
    let folder = scratch("convection");
    for (velocity, is_warned) in [("0.5", false), ("50", true)] {
        let case = format!(
            "[mesh.box]\ncells = [4, 4, 4]\n[space]\ndegree = 2\n[form]\nkind = \"convection_diffusion\"\nkappa = 1\n\
             velocity = [{velocity}, 0, 0]\n[source]\nvalue = 1\n[[dirichlet]]\ntags = [\"xmin\", \"xmax\"]\nvalue = 0\n\
             [solver]\npreconditioner = \"multigrid\"\n"
        );
        let path = write(&folder, "case.toml", &case);
        let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
        assert_eq!(report["status"], "converged", "{report}");
        let told = report["solver"]["warnings"].to_string();
        assert_eq!(told.contains("as convection, is"), is_warned, "{told}");
        let cg = [
            "--set",
            "solver.method=cg",
            "--set",
            "solver.preconditioner=jacobi",
        ];
        let report = json(&femto(
            &[&["solve", &path, "--json", "--no-roofline"][..], &cg].concat(),
        ));
        let told = report["mesh"]["warnings"].to_string();
        assert!(told.contains("not symmetric"), "{told}");
    }
}

/// A square beside two halves of one, and two squares with their own nodes.
#[test]
fn cells_that_touch_without_being_joined_are_warned_of() {
    let folder = scratch("unjoined");
    let case = "[mesh]\nfile = \"mesh.msh\"\n[space]\ndegree = 1\n[form]\nkind = \"mass\"\n";
    let case = write(&folder, "case.toml", case);
    let head =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n";
    let hanging = "5 1 0.5 0\n6 2 0 0\n7 2 0.5 0\n8 2 1 0\n$EndNodes\n$Elements\n3\n1 3 2 1 1 1 2 3 4\n\
                   2 3 2 1 1 2 6 7 5\n3 3 2 1 1 5 7 8 3\n$EndElements\n";
    let apart = "5 1 0 0\n6 2 0 0\n7 2 1 0\n8 1 1 0\n$EndNodes\n$Elements\n2\n1 3 2 1 1 1 2 3 4\n\
                 2 3 2 1 1 5 6 7 8\n$EndElements\n";
    for (rest, wanted) in [
        (hanging, "no hanging nodes"),
        (apart, "2 pairs of the mesh's nodes"),
    ] {
        let mesh = write(&folder, "mesh.msh", &format!("{head}{rest}"));
        let report = json(&femto(&["solve", &case, "--json", "--no-roofline"]));
        let told = report["mesh"]["warnings"].to_string();
        assert!(told.contains(wanted), "{told}");
        let output = femto(&["mesh", "info", &mesh]);
        let told = text(&output.stdout);
        assert!(told.contains(wanted), "{told}");
    }
}

/// What holds the solution is so stiff that its loads hide those of the rest, unless femto goes on without a tolerance.
#[test]
fn solutions_that_are_not_accurate_are_warned_of() {
    let folder = scratch("unsettled");
    let cases = [("1e3", false), ("1e9", true)].into_iter();
    let cases = cases.flat_map(|case| ["cg", "newton"].map(|method| (case, method)));
    for ((alpha, is_warned), method) in cases {
        let case = format!(
            "[mesh.box]\ncell = \"quadrilateral\"\ncells = [8, 8]\n[space]\ndegree = 2\n[form]\nkind = \"poisson\"\n\
             [source]\nvalue = 1\n[[robin]]\ntags = [\"xmin\"]\nalpha = {alpha}\nvalue = \"20*{alpha}\"\n\
             [exact]\nvalue = \"20 + x - x^2/2 + 1/{alpha}\"\n[solver]\nmethod = \"{method}\"\n"
        );
        let path = write(&folder, "case.toml", &case);
        let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
        assert_eq!(report["status"], "converged", "{report}");
        let told = report["solver"]["warnings"].to_string();
        assert!(!told.contains("not accurate"), "{method} {told}");
        let error = report["errors"]["l2"].as_f64().unwrap();
        assert!(error < 1e-3, "{method} {error:e}");
        let path = write(&folder, "case.toml", &format!("{case}tolerance = 1e-8\n"));
        let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
        let told = report["solver"]["warnings"].to_string();
        assert_eq!(told.contains("not accurate"), is_warned, "{method} {told}");
    }
}

/// Thin cells have large loads, which hide the residual of thick ones, unless femto goes on without a tolerance.
#[test]
fn solutions_on_layers_of_very_different_height_are_warned_of() {
    let folder = scratch("layers");
    for (ratio, is_warned) in [("2", true), ("1.05", false)] {
        let case = format!(
            "[mesh.box]\ncell = \"triangle\"\ncells = [4, 4]\n[mesh.extrude]\nlayers = 30\nratio = {ratio}\n\
             [space]\ndegree = 1\n[form]\nkind = \"poisson\"\n\
             [[dirichlet]]\ntags = [\"bottom\", \"top\"]\nvalue = \"1 + 3*z\"\n[exact]\nvalue = \"1 + 3*z\"\n[solver]\n"
        );
        for (tolerance, is_warned) in [("", false), ("tolerance = 1e-8\n", is_warned)] {
            let path = write(&folder, "case.toml", &format!("{case}{tolerance}"));
            let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
            assert_eq!(report["status"], "converged", "{report}");
            let told = report["solver"]["warnings"].to_string();
            assert_eq!(told.contains("not accurate"), is_warned, "{told}");
            let error = report["errors"]["l2"].as_f64().unwrap();
            assert!(is_warned || error < 1e-6, "{error:e}");
        }
    }
}

/// A quarter of a ring, whose periodic sides are turned by a right angle.
#[test]
fn vectors_on_turned_sides_are_warned_of() {
    let folder = scratch("turned");
    for (form, fields, is_warned) in [
        ("elasticity\"\nyoung = 1\npoisson = 0.3", "solution", true),
        ("mass\"", "solution", false),
        ("mass\"", "flux", true),
    ] {
        let case = format!(
            "[mesh]\nperiodic = [[\"ymin\", \"ymax\"]]\n[mesh.box]\ncell = \"quadrilateral\"\ncells = [2, 4]\n\
             lower = [1, 0]\nupper = [2, 1]\ndeformation = [\"x*cos(pi*y/2)\", \"x*sin(pi*y/2)\"]\n\
             [space]\ndegree = 1\n[form]\nkind = \"{form}\n\
             [[dirichlet]]\ntags = [\"xmin\"]\nvalue = {}\n[output]\nfields = [\"{fields}\"]\n",
            if form.starts_with("mass") {
                "0"
            } else {
                "[0, 0]"
            }
        );
        let path = write(&folder, "case.toml", &case);
        let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
        assert_eq!(report["status"], "converged", "{report}");
        let told = report["mesh"]["warnings"].to_string();
        assert_eq!(
            told.contains("turned or deformed"),
            is_warned,
            "{form}: {told}"
        );
    }
}

/// A coefficient in coordinates of a map: fp32 tells neither its values nor the cells apart, and cycles take fp64.
#[test]
fn positions_that_are_rounded_are_warned_of() {
    let folder = scratch("far");
    let case = "[mesh.box]\ncell = \"tetrahedron\"\ncells = [6, 6, 6]\nlower = [5500000, 0, 0]\n\
                upper = [5500006, 6, 6]\n[space]\ndegree = 2\n[form]\nkind = \"diffusion\"\n\
                kappa = \"1+0.1*(x-5500000)\"\n[source]\nvalue = -0.1\n[[dirichlet]]\ntags = [\"xmin\", \"xmax\"]\n\
                value = \"x-5500000\"\n[exact]\nvalue = \"x-5500000\"\n[solver]\npreconditioner = \"multigrid\"\n";
    let path = write(&folder, "case.toml", case);
    let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
    assert!(report["errors"]["l2"].as_f64().unwrap() < 1e-6, "{report}");
    assert!(
        report["solver"]["iterations"].as_u64().unwrap() < 15,
        "{report}"
    );
    assert_eq!(report["mesh"]["warnings"], serde_json::json!([]));
    let set = [
        "--set",
        "run.precision=fp32",
        "--set",
        "solver.preconditioner=jacobi",
    ];
    let single = [&["solve", &path, "--json", "--no-roofline"][..], &set].concat();
    let told = json(&femto(&single))["mesh"]["warnings"].to_string();
    assert!(told.contains("fp32 rounds the positions"), "{told}");
    // Robin terms read them too.
    let robin = case
        .replace("1+0.1*(x-5500000)", "1")
        .replace("\"xmax\"]", "]");
    let robin =
        robin + "[[robin]]\ntags = [\"xmax\"]\nalpha = \"1+0.1*(y+x-5500000)\"\nvalue = 0\n";
    write(&folder, "case.toml", &robin);
    let told = json(&femto(&single))["mesh"]["warnings"].to_string();
    assert!(told.contains("fp32 rounds the positions"), "{told}");
}

/// Seven cells with a flat corner, beside one that is turned: only warnings about corners are cut short.
#[test]
fn of_many_flat_corners_a_few_are_told() {
    let folder = scratch("corners");
    let flat = [[0, 0], [1, 0], [2, 0], [1, 1]];
    let clockwise = [[0, 0], [0, 1], [1, 1], [1, 0]];
    let (mut nodes, mut cells) = (String::new(), String::new());
    for (cell, vertices) in [flat; 7].iter().chain([&clockwise]).enumerate() {
        cells += &format!("{} 3 2 1 1", cell + 1);
        for (vertex, [x, y]) in vertices.iter().enumerate() {
            let number = 4 * cell + vertex + 1;
            nodes += &format!("{number} {} {y} 0\n", 3 * cell + x);
            cells += &format!(" {number}");
        }
        cells += "\n";
    }
    let mesh = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n32\n{nodes}$EndNodes\n$Elements\n8\n{cells}$EndElements\n"
    );
    write(&folder, "mesh.msh", &mesh);
    let case = "[mesh]\nfile = \"mesh.msh\"\n[space]\ndegree = 1\n[form]\nkind = \"mass\"\n";
    let case = write(&folder, "case.toml", case);
    let output = femto(&["solve", &case, "--no-roofline"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    for (line, count) in [
        ("warning     1 cell was clockwise", 1),
        (" is degenerate at its corner ", 5),
        ("warning     2 more like this", 1),
    ] {
        assert_eq!(report.matches(line).count(), count, "{report}");
    }
    let report = json(&femto(&["solve", &case, "--json", "--no-roofline"]));
    assert_eq!(report["mesh"]["warnings"].as_array().unwrap().len(), 8);
}

#[test]
fn values_of_an_output_that_are_not_finite_are_warned_of() {
    let folder = scratch("infinite");
    let case = "[mesh.box]\ncell = \"quadrilateral\"\ncells = [2, 2]\n[space]\ndegree = 1\n[form]\nkind = \"mass\"\n\
                [source]\nvalue = \"1/x\"\n[output]\nvtu = \"infinite.vtu\"\n";
    let path = write(&folder, "case.toml", case);
    let output = femto(&["solve", &path, "--no-roofline"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told = "warning     the output's field `source` has values that are not finite";
    assert!(
        text(&output.stdout).contains(told),
        "{}",
        text(&output.stdout)
    );
}
