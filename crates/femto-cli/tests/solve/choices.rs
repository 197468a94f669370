//! Choices that must not change a solution.

use crate::common::{case_path, femto, json, scratch, text, write};

/// A replacement in a case: old text, new text.
type Change<'a> = (&'a str, &'a str);

/// Every form, rule, data level and precision against one solution: u = sin πx sin πy sin πz.
#[test]
fn choices_of_a_case_do_not_change_the_solution() {
    let folder = scratch("choices");
    let base = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let errors = |name: &str, change: &[Change]| {
        let mut case = base.clone();
        for (from, to) in change {
            assert!(case.contains(from), "{from}");
            case = case.replace(from, to);
        }
        let path = write(&folder, name, &case);
        let output = femto(&["solve", &path, "--no-roofline", "--json"]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{name}: {}",
            text(&output.stderr)
        );
        json(&output)["errors"]["l2"].as_f64().unwrap()
    };
    let poisson = "kind = \"poisson\"";
    let amplitude = "value = \"3 * pi^2";
    let last = "max_iterations = 1000";
    let screened = "kind = \"screened_poisson\"\nlambda = ";
    let cases: [(&str, &[Change], f64); 7] = [
        (
            "mass",
            &[(poisson, "kind = \"mass\""), (amplitude, "value = \"1")],
            3e-6,
        ),
        (
            "screened",
            &[
                (poisson, &format!("{screened}2.5")),
                (amplitude, "value = \"(2.5 + 3 * pi^2)"),
            ],
            3e-6,
        ),
        (
            "by-group",
            &[
                (poisson, &format!("{screened}{{ domain = 4 }}")),
                (amplitude, "value = \"(4 + 3 * pi^2)"),
            ],
            3e-6,
        ),
        (
            "collocated",
            &[(last, "\n[quadrature]\nkind = \"gauss_lobatto\"")],
            2e-5,
        ),
        (
            "few-points",
            &[(last, "\n[quadrature]\npoints_1d = 5")],
            3e-6,
        ),
        (
            "partial",
            &[(last, "\n[run]\ndata_level = \"partial\"\nthreads = 1")],
            3e-6,
        ),
        (
            "fp32",
            &[
                ("tolerance = 1e-10", "tolerance = 1e-6"),
                (last, "\n[run]\nprecision = \"fp32\""),
            ],
            1e-5,
        ),
    ];
    for (name, change, most) in cases {
        let error = errors(name, change);
        assert!(error < most, "{name}: {error:e}");
    }
}

/// With its report of speed, a solve tells what each level of multigrid costs.
#[test]
fn levels_have_their_costs() {
    let folder = scratch("levels");
    let case = "[mesh.box]\ncells = [9, 9, 9]\n[space]\ndegree = 2\n[form]\nkind = \"poisson\"\n[source]\nvalue = 1\n\
                [[dirichlet]]\ntags = [\"xmin\"]\nvalue = 0\n[solver]\npreconditioner = \"multigrid\"\n";
    let path = write(&folder, "case.toml", case);
    let report = json(&femto(&["solve", &path, "--json", "--explain"]));
    let levels = report["solver"]["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 3, "{levels:?}");
    for level in levels {
        assert!(level["bytes"].as_u64().unwrap() > 0, "{level}");
        assert!(level["set_up_seconds"].as_f64().unwrap() > 0.0, "{level}");
    }
    let cycles = levels
        .iter()
        .map(|level| level["cycle_seconds"].as_f64().unwrap());
    assert!(cycles.sum::<f64>() > 0.0, "{levels:?}");
    let output = femto(&["solve", &path, "--explain"]);
    let lines = text(&output.stdout).lines();
    let lines: Vec<&str> = lines.filter(|line| line.starts_with("level  ")).collect();
    assert!(
        lines[0].contains("degree 2: 6 859, ") && lines[2].contains("aggregates: "),
        "{lines:?}"
    );
    assert!(lines.iter().all(|line| line.contains(" MB, set up in ")));
}

/// One triangle, held on all sides: nothing is free on the levels of multigrid below degree 3.
#[test]
fn nothing_may_be_free_on_levels_of_lower_degree() {
    let folder = scratch("held");
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n$Elements\n4\n\
        1 1 2 7 1 1 2\n2 1 2 7 1 2 3\n3 1 2 7 1 3 1\n4 2 2 9 1 1 2 3\n$EndElements\n";
    write(&folder, "mesh.msh", mesh);
    for (degree, unknowns) in [(2, 0), (3, 1)] {
        let case = format!(
            "[mesh]\nfile = \"mesh.msh\"\n[space]\ndegree = {degree}\n[form]\nkind = \"poisson\"\n[source]\nvalue = 1\n\
             [[dirichlet]]\ntags = [7]\nvalue = 0\n[solver]\npreconditioner = \"multigrid\"\n"
        );
        let path = write(&folder, "case.toml", &case);
        let report = json(&femto(&["solve", &path, "--json", "--no-roofline"]));
        assert_eq!(report["status"], "converged", "{report}");
        assert_eq!(report["unknowns"]["free"], unknowns);
    }
}
