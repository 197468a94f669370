//! Groups of facets and cells that conditions name: empty, ambiguous, inside the domain, in common; and other input
//! that is refused before anything is solved.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{femto, json, mistake, scratch, text, write};
use std::fs;

/// Two unit squares side by side; the group `left` = 4 is on the left side and `right` = 2 on the right one.
const SQUARES: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 4 \"left\"\n1 2 \"right\"\n\
    2 9 \"domain\"\n$EndPhysicalNames\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n\
    $Elements\n4\n1 1 2 4 1 1 4\n2 1 2 2 1 3 6\n3 3 2 9 1 1 2 5 4\n4 3 2 9 1 2 3 6 5\n$EndElements\n";

const CASE: &str = "mesh.file = \"mesh.msh\"\nspace.degree = 1\nform.kind = \"poisson\"\nsource.value = 1\n\
    [[dirichlet]]\ntags = [\"left\", \"right\"]\nvalue = 0\n";

fn refused(arguments: &[&str], code: i32, wanted: &str) {
    let output = femto(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(message.contains(wanted), "{arguments:?}: {message}");
}

#[test]
fn groups_that_are_empty_or_ambiguous_are_refused() {
    let folder = scratch("empty");
    let kappa = "\"diffusion\"\nform.kappa = { domain = 1, ghost = 5 }";
    for (mesh, case, wanted) in [
        (
            ["$Elements\n4\n1 1 2 4 1 1 4\n", "$Elements\n3\n"],
            ["", ""],
            "CASE:6:9: the physical group `left` = 4 of dimension 1 has no cells",
        ),
        (
            ["\"right\"", "\"4\""],
            ["\"right\"", "4"],
            "CASE:6:17: `4` is the name or number of several",
        ),
        (
            ["3\n1 4", "4\n2 5 \"ghost\"\n1 4"],
            ["\"poisson\"", kappa],
            "`ghost` = 5 of dimension 2 has no cells",
        ),
    ] {
        write(&folder, "mesh.msh", &SQUARES.replace(mesh[0], mesh[1]));
        let error = mistake(&folder, "case.toml", CASE, case);
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn fluxes_inside_the_domain_and_where_the_solution_is_given_are_warned_of() {
    let folder = scratch("fluxes");
    let flux = "[[neumann]]\ntags = [7]\nvalue = 1\n";
    let case = write(&folder, "case.toml", &format!("{CASE}{flux}"));
    for (facet, warning) in [
        ("1 2", None),
        (
            "2 5",
            Some("1 facet of `7` between two cells: a flux there is a source inside the domain"),
        ),
        (
            "1 4",
            Some(
                "1 facet of `7` in `left` too, where the solution is given: a flux has no effect there, except on reactions",
            ),
        ),
    ] {
        let more = format!("$Elements\n5\n9 1 2 7 1 {facet}\n");
        write(
            &folder,
            "mesh.msh",
            &SQUARES.replace("$Elements\n4\n", &more),
        );
        let report = json(&femto(&["solve", &case, "--json", "--no-roofline"]));
        let told = report["mesh"]["warnings"].as_array().unwrap();
        let told: Vec<&str> = told.iter().filter_map(|it| it.as_str()).collect();
        assert_eq!(told, warning.into_iter().collect::<Vec<_>>(), "{facet}");
    }
}

/// Two squares that are groups of their own, -Δu + u = f with f = 1 and 2 there: ∫ f = ∫ u.
#[test]
fn sources_of_groups_of_cells() {
    let folder = scratch("sources");
    let squares = SQUARES
        .replace("\n3\n1 4", "\n4\n2 5 \"hot\"\n1 4")
        .replace("4 3 2 9 1 2", "4 3 2 5 1 2");
    write(&folder, "mesh.msh", &squares);
    let case = "mesh.file = \"mesh.msh\"\nspace.degree = 2\n[form]\nkind = \"screened_poisson\"\nlambda = 1\n\
        [output]\nvtu = \"u.vtu\"\n[[source]]\ntags = [\"domain\"]\nvalue = 1\n[[source]]\ntags = [\"hot\"]\n\
        value = \"2 + sqrt(x - 1)\"\n";
    let path = write(&folder, "case.toml", &case.replace(" + sqrt(x - 1)", ""));
    let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
    let range = &report["solution"];
    let [least, most] = ["min", "max"].map(|key| range[key].as_f64().unwrap());
    assert!(
        1.0 < least && least < 1.4 && 1.6 < most && most < 2.0,
        "{range}"
    );
    assert!((least + most - 3.0).abs() < 1e-6, "symmetric: {range}");
    // A function is evaluated in its own cells only.
    let path = write(&folder, "function.toml", case);
    assert_eq!(
        femto(&["solve", &path, "--no-roofline"]).status.code(),
        Some(0)
    );
    for (change, wanted) in [
        (
            ["\"hot\"", "\"cold\""],
            "CASE:12:9: no physical group `cold` of dimension 2",
        ),
        (
            ["\"hot\"", "9"],
            "CASE:12:9: `9` is the group that `domain` is, which has a source already",
        ),
        (["x - 1", "x - 2"], "the source in `hot`"),
        (
            ["vtu = \"u.vtu\"", "fields = [\"source\"]"],
            "it is given by group, and jumps at nodes between these",
        ),
        (["tags = [\"hot\"]\n", ""], "`tags`"),
    ] {
        let error = mistake(&folder, "wrong.toml", case, change);
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn what_cannot_be_computed_or_written_is_said_at_once() {
    let folder = scratch("refused");
    write(&folder, "mesh.msh", SQUARES);
    let case = write(&folder, "case.toml", CASE);
    let solve = |options: &[&str], code, wanted: &str| {
        refused(
            &[&["solve", &case, "--no-roofline"], options].concat(),
            code,
            wanted,
        );
    };
    solve(
        &["--output", "q.txt"],
        2,
        "--output must be a name that ends in .vtu, by which readers go, not `q.txt`",
    );
    let nothing = "the device `null` computes nothing that --output could write";
    solve(&["--device", "null", "--output", "q.vtu"], 2, nothing);
    let small =
        "the right-hand side is too small for this precision, its norm 0.0e0: scale the loads";
    solve(&["--set", "source.value=1e-200"], 1, small);
    let small = "the right-hand side is too small for this precision, its norm 7";
    let single = ["--set", "run.precision=fp32", "--set", "source.value=1e-33"];
    solve(&single, 1, small);
    let form = mistake(
        &folder,
        "form.toml",
        CASE,
        ["form.kind = \"poisson\"", "form.f1 = [\"u_x\"]"],
    );
    assert!(form.contains("CASE:3:"), "{form}");
    let file = folder.join("box.msh");
    let file = file.to_str().unwrap();
    for (x, wanted) in [
        ("1/x", "node 0 is at [inf"),
        ("0*x", "inverted or degenerate"),
    ] {
        let arguments = [
            "mesh", "box", "--cells", "2", "2", "2", "--deform", x, "y", "z", file,
        ];
        refused(&arguments, 2, wanted);
        assert!(!folder.join("box.msh").exists());
    }
}

/// A square of four triangles whose middle node lies outside: one is turned, and lies on two others.
#[test]
fn folded_meshes_are_refused() {
    let folder = scratch("folded");
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 1.3 0.5 0\n\
        $EndNodes\n$Elements\n4\n1 2 0 1 2 5\n2 2 0 2 3 5\n3 2 0 3 4 5\n4 2 0 4 1 5\n$EndElements\n";
    let mesh = write(&folder, "mesh.msh", mesh);
    refused(
        &["mesh", "info", &mesh],
        2,
        "lie on the same side of the facet",
    );
    let case = "mesh.file = \"mesh.msh\"\nspace.degree = 1\nform.kind = \"mass\"\n";
    let case = write(&folder, "case.toml", case);
    refused(&["solve", &case], 2, "the mesh is folded there");
    let straight = fs::read_to_string(&mesh)
        .unwrap()
        .replace("1.3 0.5", "0.3 0.5");
    fs::write(&mesh, straight).unwrap();
    assert!(femto(&["mesh", "info", &mesh]).status.success());
}

#[test]
fn sides_that_are_deformed_differently_are_not_periodic() {
    let folder = scratch("periodic");
    let case = "mesh.box = { cell = \"triangle\", cells = [6, 3], deformation = [\"x\", \"y*(1+x)\"] }\n\
        mesh.periodic = [[\"xmin\", \"xmax\"]]\nspace.degree = 1\nform.kind = \"mass\"\n";
    let wanted = "CASE:2:18: `xmin` and `xmax` cannot be one side: they are deformed differently";
    let error = mistake(&folder, "case.toml", case, ["mesh.box", "mesh.box"]);
    assert!(error.contains(wanted), "{error}");
    let wave = case.replace("y*(1+x)", "y + 0.1*sin(2*pi*x)");
    let wave = write(&folder, "wave.toml", &wave);
    assert!(femto(&["solve", &wave, "--no-roofline"]).status.success());
}
