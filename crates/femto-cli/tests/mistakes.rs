//! Mistakes in cases and meshes: `femto solve` points at them, and exits with code 2.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, json, mistake, scratch, text, write};

#[test]
fn bad_input_is_exit_code_2_and_points_at_its_line() {
    let folder = scratch("bad-input");
    let good = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let fail = |name: &str, from: &str, to: &str| mistake(&folder, name, &good, [from, to]);
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
    let moduli = "kind = \"elasticity\"\nlambda = { domain = -1 }\nmu = { 7 = 1 }";
    let unstable = fail("moduli", "kind = \"poisson\"", moduli);
    assert!(unstable.contains("above -2/3 of mu"), "{unstable}");
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
    for (smoother, wanted) in [
        ("schwarz", "Schwarz smoothing takes"),
        ("lines", "solves along lines take"),
    ] {
        let of = format!("[solver]\npreconditioner = \"multigrid\"\nsmoother = \"{smoother}\"");
        let cells = "cell = \"tetrahedron\"\ncells = [";
        let unsmoothed = good.replace("cells = [", cells);
        let path = write(&folder, smoother, &unsmoothed.replace("[solver]", &of));
        let output = femto(&["solve", &path]);
        assert_eq!(output.status.code(), Some(2));
        let refused = text(&output.stderr).replace(&path, "CASE");
        assert!(refused.contains(wanted), "{refused}");
        assert!(refused.contains("[solver]"), "{refused}");
    }
    let wind = "kind = \"convection_diffusion\"\nkappa = 1\nvelocity = [1, 0, 0]";
    let unsuited = good.replace("kind = \"poisson\"", wind);
    let dirichlet =
        good[good.find("[[dirichlet]]").unwrap()..good.find("[solver]").unwrap()].to_owned();
    let unbalanced = fail("unbalanced", &dirichlet, "");
    let wanted = "the loads do not balance: a constant of the solution is free, and against it";
    assert!(unbalanced.contains(wanted), "{unbalanced}");
    let singular = write(&folder, "singular", &unsuited.replace(&dirichlet, ""));
    let output = femto(&["solve", &singular]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("only determined up to a constant"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn inverted_elements_and_unknown_devices_are_bad_input() {
    let folder = scratch("inverted");
    let good = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let solve = |deformation: &str| {
        let deformed = format!("cells = [4, 4, 4]\ndeformation = {deformation}");
        let case = good.replace("cells = [4, 4, 4]", &deformed);
        femto(&[
            "solve",
            &write(&folder, "case.toml", &case),
            "--no-roofline",
        ])
    };
    // Cells beyond x = 0.6 are left-handed, and are turned; those on both sides are bad.
    let output = solve(r#"["x", "y*(0.6 - x)", "z"]"#);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("mesh cell 2 is inverted"),
        "{}",
        text(&output.stderr)
    );
    let output = solve(r#"["-x", "y", "z"]"#);
    assert_eq!(output.status.code(), Some(0));
    let note = "64 cells were clockwise or left-handed, and have been turned";
    assert!(
        text(&output.stdout).contains(note),
        "{}",
        text(&output.stdout)
    );
    let output = femto(&["solve", &case_path("box-sine"), "--device", "gpu"]);
    assert_eq!(output.status.code(), Some(2));
    let message = "there is no device \"gpu\"; these exist: host, cuda";
    assert!(text(&output.stderr).contains(message));
}

#[test]
fn undetermined_constants_and_z_in_the_plane_are_bad_input() {
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

#[test]
fn layers_maps_and_rules_that_cannot_be_are_bad_input() {
    let folder = scratch("layers");
    let case = |rest: &str| {
        let case = format!(
            "[mesh.box]\ncell = \"triangle\"\ncells = [2, 2]\n{rest}\n[space]\ndegree = 2\n[form]\nkind = \"poisson\"\n\
             [source]\nvalue = 1\n[[dirichlet]]\ntags = [\"xmin\"]\nvalue = 0\n"
        );
        let path = write(&folder, "case.toml", &case);
        femto(&["solve", &path, "--no-roofline"])
    };
    let extrude = |layers: &str| format!("[mesh.extrude]\n{layers}");
    let z = "`z` has no meaning here: the mesh lies in the plane";
    for (rest, place, message) in [
        (extrude("levels = []"), ":5:10: ", "at least two numbers"),
        (
            extrude("levels = [0, 0.5, 0.5, 1]"),
            ":4:1: ",
            "level 1 is 0.5, and the next 0.5",
        ),
        (extrude("layers = 2000\nratio = 2"), ":6:9: ", "no height"),
        (extrude("layers = 2\nbottom = \"0.1*z\""), ":6:10: ", z),
        ("deformation = [\"x + z\", \"y\"]".to_owned(), ":4:16: ", z),
        (
            "[output]\nvtu = \"a.vtk\"".to_owned(),
            ":5:7: ",
            "a name that ends in .vtu",
        ),
        (
            "[quadrature]\ndegree = 1".to_owned(),
            ":4:",
            "it must be exact to 2",
        ),
    ] {
        let output = case(&rest);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{rest}: {error}");
        assert!(error.contains(place) && error.contains(message), "{error}");
    }
    let fine = case(&extrude("layers = 2\nratio = 2\ntop = \"1 + x\""));
    assert_eq!(fine.status.code(), Some(0), "{}", text(&fine.stderr));
}

/// Values given on the command line take the place of the file's.
#[test]
fn values_can_be_set_on_the_command_line() {
    let case = case_path("box-sine");
    let solve = |settings: &[&str]| {
        let sets = settings.iter().flat_map(|it| ["--set", it]);
        let arguments = ["solve", &case, "--json", "--no-roofline", "--no-output"];
        femto(&arguments.into_iter().chain(sets).collect::<Vec<_>>())
    };
    let unknowns = |settings: &[&str]| {
        let output = solve(settings);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let report = json(&output);
        let method = if settings.is_empty() { "cg" } else { "gmres" };
        assert_eq!(report["solver"]["method"], method);
        report["unknowns"]["all"].as_u64().unwrap()
    };
    let file = unknowns(&[]);
    let coarse = unknowns(&[
        "space.degree=1",
        "mesh.box.cells=[2, 2, 2]",
        "solver.method=gmres",
    ]);
    assert_eq!(coarse, 27);
    assert!(file > coarse);
    // Text that is not TOML, with an accent of its own, quotes and a backslash.
    let title = "cafe\u{301} \"a\\b\"";
    let report = json(&solve(&[&format!("title={title}")]));
    assert_eq!(report["title"], title);
    for (setting, place) in [
        ("space.degre=1", "--set:1:7: unknown key `degre`"),
        (
            "space.degree=many",
            "--set:1:16: `degree` in [space] must be",
        ),
        (
            "space",
            "--set:1:1: this is not TOML: a setting is a key and a value",
        ),
        ("[mesh.box]", "a setting is a key and a value"),
    ] {
        let output = solve(&[setting]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(place), "{error}");
    }
}

/// Two squares, the second of which is twisted, with a file's own numbering.
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
            "only hexahedra and quadrilaterals have rules with given points",
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
            on(good, &format!("{poisson}[source]\nvalue = 1\n")),
            ":6:1: ",
            "the loads do not balance",
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
        // Of two conditions on a group it is that of the component.
        (
            on(
                "box = { cells = [1, 1, 1] }",
                "[space]\ndegree = 1\n[form]\nkind = \"elasticity\"\nyoung = 1\npoisson = 0.3\n\
                 [[dirichlet]]\ntags = [\"xmin\"]\ncomponents = [\"x\"]\nvalue = [0]\n\
                 [[dirichlet]]\ntags = [\"xmin\"]\ncomponents = [\"y\", \"z\"]\nvalue = [0, \"1/x\"]\n",
            ),
            ":17:9: ",
            "the boundary value on `xmin` is inf at",
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
