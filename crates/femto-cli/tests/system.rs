//! The equations of a case as files, solved by SciPy and by PyAMG.
//!
//! Needs `FEMTO_PYTHON`, a Python with the wheels of tests/python/requirements.txt; `cargo xtask test` sets it.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod common;

use common::{case_path, femto, read, run_with, scratch, text};
use femto::fem::io::matrix_market;
use femto_cli::case::{Case, Document};
use femto_cli::solve::{Options, Outcome, OutputTo};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Solves a case, writes its equations into a folder, and has the script compare them; the outcome, and what the script
/// prints. `None` without Python.
fn compared(name: &str, case: &Case, more: &[&str]) -> Option<(Outcome, Value)> {
    let Some(python) = std::env::var_os("FEMTO_PYTHON") else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return None;
    };
    let folder = scratch(name);
    let options = Options {
        output: OutputTo::Nowhere,
        roofline: false,
        system: Some(folder.clone()),
        ..Options::default()
    };
    let outcome = run_with(case, &options);
    let solution = folder.join("solution.mtx");
    matrix_market::write_vector(&solution, &outcome.u.as_ref().unwrap().values).unwrap();
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/python/solve_system.py"
    );
    let output = Command::new(python)
        .arg(script)
        .args([&folder, &solution])
        .args(more)
        .output()
        .unwrap();
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some((outcome, serde_json::from_slice(&output.stdout).unwrap()))
}

#[test]
fn scipy_solves_the_equations_to_the_same_solution() {
    for name in [
        "box-sine",
        "symmetric-block",
        "pipe-sector",
        "insulated-pipe",
    ] {
        let case = read(Path::new(&case_path(name))).unwrap();
        let Some((outcome, found)) = compared(name, &case, &[]) else {
            return;
        };
        let positions = outcome.u.as_ref().unwrap().node_positions();
        for axis in 0..3 {
            let wanted: f64 = positions.iter().map(|x| x[axis]).sum();
            let found = found["positions"][axis].as_f64().unwrap();
            assert!(
                (found - wanted).abs() < 1e-10 * positions.len() as f64,
                "{name}"
            );
        }
        let number = |key: &str| found[key].as_f64().unwrap();
        assert_eq!(found["size"], outcome.report.unknowns.all, "{name}");
        assert!(number("asymmetry") < 1e-13, "{name}: {found}");
        assert!(number("difference") < 1e-6, "{name}: {found}");
    }
}

/// Smoothed aggregation takes as many iterations as PyAMG's, or two more, with as few entries.
#[test]
fn aggregation_is_as_good_as_that_of_pyamg() {
    let document = Document::new(
        Path::new("cubes.toml"),
        "[mesh.box]\ncells = [20, 20, 20]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n\
         [space]\ndegree = 1\n[form]\nkind = 'poisson'\n[source]\nvalue = 1\n\
         [[dirichlet]]\ntags = ['xmin', 'xmax', 'ymin', 'ymax', 'zmin', 'zmax']\nvalue = 0\n\
         [solver]\npreconditioner = 'multigrid'\n"
            .to_owned(),
    );
    let case = Case::parse(document).unwrap();
    let Some((outcome, found)) = compared("pyamg", &case, &["amg"]) else {
        return;
    };
    let own = outcome.report.solver.unwrap().iterations as u64;
    let other = found["iterations"].as_u64().unwrap();
    eprintln!("femto takes {own} iterations, PyAMG {other}: {found}");
    assert!(own <= other + 2, "{own}: {found}");
}

#[test]
fn nonlinear_equations_have_no_matrix() {
    let folder = scratch("nonlinear");
    let (case, folder) = (case_path("p-laplacian"), folder.to_str().unwrap());
    let output = femto(&["solve", &case, "--no-roofline", "--system", folder]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.contains("there is no sparse matrix of the equations: Newton's method solves them"),
        "{message}"
    );
}
