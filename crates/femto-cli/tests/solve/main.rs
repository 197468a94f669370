//! `femto solve`: outcomes of cases.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod choices;
#[path = "../common/mod.rs"]
mod common;
mod finned_elbow;
mod output;

use common::{case_path, femto, json, run, scratch, text, write};
use femto::kernel::form::LinearElasticity;
use femto::platform::device::Device;
use femto::{Host, Operator, OperatorParams};
use femto_cli::solve::{Outcome, Status};

fn assert_close(what: &str, found: f64, expected: f64, relative: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= relative * expected.abs(),
        "{what}: {found:e} is not {expected:e}"
    );
}

#[test]
fn the_sine_in_a_box_has_its_error() {
    let Outcome { report, u } = run("box-sine");
    assert_eq!(report.status, Status::Converged);
    assert_eq!(
        (report.unknowns.free, report.unknowns.all),
        (15 * 15 * 15, 17 * 17 * 17)
    );
    let errors = report.errors.unwrap();
    assert_close("L2 error", errors.l2, 2.893e-6, 1e-3);
    assert_close("H1 error", errors.h1_seminorm.unwrap(), 1.449e-4, 1e-3);
    assert_close("L2 norm", errors.l2_exact, 0.125f64.sqrt(), 1e-9);
    let solver = report.solver.unwrap();
    assert!(
        (17..=21).contains(&solver.iterations),
        "{}",
        solver.iterations
    );
    assert!(solver.relative_residual <= 1e-10);
    assert_eq!(solver.residual_history.len(), solver.iterations + 1);
    assert_eq!(u.unwrap().values.len(), 17 * 17 * 17);
}

/// Columns of prisms over a hill and a valley.
#[test]
fn terrain_has_its_error() {
    let Outcome { report, u } = run("terrain");
    assert_eq!(report.status, Status::Converged);
    assert_eq!((report.mesh.cells, report.unknowns.all), (19_200, 11_025));
    assert!(report.mesh.source.contains("extruded to 24 layers"));
    let errors = report.errors.unwrap();
    assert_close("L2 error", errors.l2, 2.047e-2, 1e-3);
    assert_close("H1 error", errors.h1_seminorm.unwrap(), 5.764e-1, 1e-3);
    assert_eq!(u.unwrap().blocks[0].geometry.columns().unwrap().layers, 24);
}

/// An independent solve with degree 2 gives 56.83 as the lowest temperature.
#[test]
fn the_angle_bracket_is_as_warm_as_it_should_be() {
    let Outcome { report, .. } = run("bracket-temperature");
    assert_eq!(report.status, Status::Converged);
    assert_eq!((report.mesh.cells, report.unknowns.all), (1767, 23_908));
    let range = report.solution.unwrap();
    assert!((range.max - 80.0).abs() < 1e-6, "{range:?}");
    assert!((56.75..56.85).contains(&range.min), "{range:?}");
}

/// An independent solve with degree 2 gives 0.1248 as the largest displacement, and the weight is what the bolts carry.
#[test]
fn the_angle_bracket_bends_as_it_should() {
    let Outcome { report, u } = run("angle-bracket");
    assert_eq!(report.status, Status::Converged);
    assert_eq!(report.unknowns.all, 3 * 23_908);
    let range = report.solution.unwrap();
    assert!((0.129..0.131).contains(&range.max), "{range:?}");

    let u = u.unwrap();
    let host = Host::with_threads(2).unwrap();
    let (space, geometry) = (&u.blocks[0].space, &u.blocks[0].geometry);
    let form = LinearElasticity::<3>::from_young(210e3, 0.3);
    let operator =
        Operator::<f64, _>::new(&host, space, geometry, &form, OperatorParams::default());
    let mut forces = host.zeros(u.values.len()).unwrap();
    let displacements = host.upload(&u.values).unwrap();
    operator
        .unwrap()
        .apply(&displacements, &mut forces)
        .unwrap();
    let bolts = space.boundary_nodes("bolts").unwrap();
    let carried: f64 = bolts
        .iter()
        .map(|at| forces[space.entry(at.node as usize, 2)])
        .sum();
    assert_close("force on the bolts, N", carried, 500.0, 1e-3);
}

/// The exact solution is linear, so the space contains it.
#[test]
fn a_bar_in_tension_contracts_as_it_should() {
    let Outcome { report, .. } = run("elastic-beam");
    assert_eq!(report.status, Status::Converged);
    assert!(report.errors.unwrap().l2 < 1e-10, "{:?}", report.errors);
    assert_eq!(report.solver.unwrap().method, "cg");
    assert!(
        (report.solution.unwrap().max - 0.09).abs() < 1e-3,
        "lengths of displacements"
    );
}

/// The exact solution is linear here too.
#[test]
fn planes_of_symmetry_hold_an_eighth_of_a_block() {
    let Outcome { report, .. } = run("symmetric-block");
    assert_eq!(report.status, Status::Converged);
    assert!(report.errors.unwrap().l2 < 1e-10, "{:?}", report.errors);
    let held = 10 * 10 + 2 * 13 * 10;
    let all = 3 * 13 * 10 * 10;
    assert_eq!(
        (report.unknowns.all, report.unknowns.free),
        (all, all - held)
    );
}

#[test]
fn a_boundary_layer_is_solved_by_gmres() {
    let Outcome { report, .. } = run("convection-diffusion");
    assert_eq!(report.status, Status::Converged);
    let (errors, solver) = (report.errors.unwrap(), report.solver.unwrap());
    assert_eq!(solver.method, "gmres");
    let reason = solver.preconditioner_reason.unwrap();
    assert!(reason.starts_with("multigrid pays from"), "{reason}");
    assert!((1e-7..1e-4).contains(&errors.l2), "{errors:?}");
    assert!((errors.l2_exact - 0.2236).abs() < 1e-3, "{errors:?}");
}

/// x² + y² is of degree 2, and the rule is exact for a form of degree 3 in ∇u: the only error is the
/// solver's, and the small coefficient at the origin makes it larger than its residual.
#[test]
fn a_form_as_text_is_solved_by_newtons_method() {
    let Outcome { report, .. } = run("p-laplacian");
    assert_eq!(report.status, Status::Converged);
    let (errors, solver) = (report.errors.unwrap(), report.solver.unwrap());
    assert_eq!(
        (solver.method, &report.mesh.shape[..]),
        ("newton", "triangles")
    );
    assert!(errors.l2 < 1e-6, "{errors:?}");
    assert!(
        (4..=20).contains(&solver.iterations),
        "{}",
        solver.iterations
    );
    assert!(solver.linear_iterations > solver.iterations);
}

/// Cells of order 2 and the space of degree 3 do not contain the solution, so there is an error.
#[test]
fn a_cylinder_in_a_flow_has_cells_of_two_shapes() {
    let Outcome { report, .. } = run("potential-flow");
    assert_eq!(report.status, Status::Converged);
    assert_eq!(report.mesh.shape, "quadrilaterals and triangles");
    assert_eq!(report.mesh.cells, 32 * (3 + 2 * 3));
    let errors = report.errors.unwrap();
    assert!(errors.l2_relative() < 1e-4, "{errors:?}");
}

/// Cells of order 2 miss the circles by about 1e-6; the space of degree 4 is better than that.
#[test]
fn an_annulus_of_curved_quadrilaterals_is_as_round_as_its_cells() {
    let Outcome { report, .. } = run("quarter-annulus");
    assert_eq!(report.status, Status::Converged);
    assert_eq!(
        (
            &report.mesh.shape[..],
            report.mesh.cells,
            report.unknowns.all
        ),
        ("quadrilaterals", 96, 33 * 49)
    );
    let errors = report.errors.unwrap();
    assert!((1e-8..1e-5).contains(&errors.l2), "{errors:?}");
}

/// Air takes heat from the outside: a Robin condition on a curved side.
#[test]
fn the_insulated_pipe_is_cooled_by_air() {
    let Outcome { report, .. } = run("insulated-pipe");
    assert_eq!(report.status, Status::Converged);
    let range = report.solution.unwrap();
    let outside = 90.0 - 210.0 / (0.5 + 3.0 * 2f64.ln()) * 2f64.ln();
    assert_close("outside", range.min, outside, 1e-6);
    let errors = report.errors.unwrap();
    assert!((1e-7..1e-3).contains(&errors.l2), "{errors:?}");
}

/// Stretched by half, the block becomes thinner in the middle, by less than an incompressible one.
#[test]
fn a_rubber_block_is_stretched() {
    let Outcome { report, u } = run("neo-hookean-block");
    assert_eq!(report.status, Status::Converged);
    assert_eq!(
        (report.unknowns.all, report.mesh.cells),
        (3 * 9 * 5 * 5, 96)
    );
    let solver = report.solver.unwrap();
    assert_eq!(solver.method, "newton");
    assert!(
        (3..=12).contains(&solver.iterations),
        "{}",
        solver.iterations
    );
    let range = report.solution.unwrap();
    assert!((range.max - 1.04f64.sqrt()).abs() < 1e-9, "{range:?}");
    // The middle of the block becomes thinner: the centre of its side y = 1, z = 1/2 moves inwards.
    let u = u.unwrap();
    let positions = u.node_positions();
    let at = |wanted: [f64; 3]| {
        let near = |x: &[f64; 3]| (0..3).all(|d| (x[d] - wanted[d]).abs() < 1e-9);
        let node = positions.iter().position(near).unwrap();
        [0, 1, 2].map(|c| u.values[3 * node + c])
    };
    let (upper, lower) = (at([1.0, 1.0, 0.5]), at([1.0, 0.0, 0.5]));
    let thinning = lower[1] - upper[1];
    assert!((0.05..0.2).contains(&thinning), "{thinning}");
    assert!((0.4..0.6).contains(&upper[0]), "{upper:?}");
}

/// No side is held, and the loads of the sine balance if its sides lose as much as the source gives: 8 times 3/π over
/// 6 sides.
#[test]
fn an_insulated_box_has_mean_zero() {
    let folder = scratch("insulated");
    let case = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let held = "[[dirichlet]]";
    let (start, end) = (case.find(held).unwrap(), case.find("[solver]").unwrap());
    let sides =
        "[[neumann]]\ntags = [\"xmin\", \"xmax\", \"ymin\", \"ymax\", \"zmin\", \"zmax\"]\n";
    let exact = case.find("[exact]").unwrap();
    let with = |flux: &str| {
        let case = format!(
            "{}{sides}value = \"{flux}\"\n{}",
            &case[..exact],
            &case[end..]
        );
        let path = write(&folder, "case.toml", &case);
        femto(&["solve", &path, "--no-roofline", "--json"])
    };
    assert!(exact < start);
    let balanced = with("-4/pi");
    assert_eq!(
        balanced.status.code(),
        Some(0),
        "{}",
        text(&balanced.stderr)
    );
    let report = json(&balanced);
    assert_eq!(report["free"]["count"], 1);
    assert_eq!(report["free"]["rigid"], false);
    assert!(report["free"]["imbalance"].as_f64().unwrap() < 1e-3);
    let unbalanced = with("0");
    assert_eq!(unbalanced.status.code(), Some(2));
    let message = text(&unbalanced.stderr);
    // 3π² (2/π)³.
    assert!(
        message.contains("they add up to 7.639e0, 1.0e0 of their size"),
        "{message}"
    );
}
