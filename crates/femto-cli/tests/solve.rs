//! `femto solve`: outcomes of cases.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, json, run, run_changed, scratch, text, write};
use femto::kernel::form::{LinearElasticity, Poisson};
use femto::platform::device::Device;
use femto::problem::GridFunction;
use femto::{Host, Operator, OperatorParams, Quadrature};
use femto_cli::solve::{Outcome, Status};
use serde_json::Value;

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

/// An independent solve with degree 2 gives 45.64 as the lowest temperature.
#[test]
fn the_finned_elbow_is_as_warm_as_it_should_be() {
    let Outcome { report, u } = run("finned-elbow");
    assert_eq!(report.status, Status::Converged);
    assert_eq!((report.mesh.cells, report.unknowns.all), (1784, 143_800));
    let range = report.solution.unwrap();
    assert!((range.max - 90.0).abs() < 1e-9, "{range:?}");
    assert!((45.5..45.7).contains(&range.min), "{range:?}");
    assert!(report.mesh.warnings.is_empty());
    let text = report.to_string();
    assert!(
        text.contains("levels      degree 4: 143 800, degree 2: "),
        "{text}"
    );
    assert!(
        text.contains("chosen      multigrid: the operator is"),
        "{text}"
    );
    let solver = report.solver.unwrap();
    assert!(solver.iterations <= 20, "{}", solver.iterations);
    let degrees = solver.levels.iter().map(|level| level.degree);
    assert!(
        degrees.eq([Some(4), Some(2), Some(1), None]),
        "{:?}",
        solver.levels
    );

    let u = u.unwrap();
    let (entering, leaving) = (entering(&u), leaving(&u));
    assert!(leaving > 1e3, "{leaving}");
    assert_close("heat that enters", entering, leaving, 1e-6);
}

/// What the case asks for is taken, and needs no reason. Curved cells of poor shape take many iterations.
#[test]
fn the_finned_elbow_takes_many_iterations_with_jacobi() {
    let jacobi = "[solver]\npreconditioner = \"jacobi\"";
    let Outcome { report, .. } = run_changed("finned-elbow", "[solver]", jacobi);
    assert_eq!(report.status, Status::Converged);
    assert!(!report.to_string().contains("chosen"));
    let solver = report.solver.unwrap();
    let iterations = solver.iterations;
    assert!((380..=460).contains(&iterations), "{iterations}");
    assert_eq!(
        (solver.preconditioner, solver.preconditioner_reason),
        ("jacobi", None)
    );
}

/// ∫ ∂u/∂n over the bore: A u at the constrained nodes, where no flux is given.
fn entering(u: &GridFunction) -> f64 {
    let host = Host::with_threads(2).unwrap();
    let params = OperatorParams::default();
    let poisson = Operator::<f64, _>::new(
        &host,
        &u.blocks[0].space,
        &u.blocks[0].geometry,
        &Poisson::<3>,
        params,
    )
    .unwrap();
    let mut product = host.zeros(u.values.len()).unwrap();
    poisson
        .apply(&host.upload(&u.values).unwrap(), &mut product)
        .unwrap();
    // The nodes on the rim of the bore would also belong to the cooled part, if they touched.
    let on = u.discretization(Quadrature::Gauss, 0.0);
    let mut given = host.zeros(u.values.len()).unwrap();
    on.neumann(&host, "cooled", &[&cooling], &mut given)
        .unwrap();
    let bore = u.blocks[0].space.boundary_nodes("bore").unwrap();
    let at = bore.iter().map(|node| node.node as usize);
    at.map(|node| product[node] - given[node]).sum()
}

/// The flux given by the case on the cooled faces.
fn cooling([_, y, _]: [f64; 3]) -> f64 {
    -0.2 * (1.0 - 0.5 * y / 22.0)
}

/// -∫ g over the cooled faces, by an independent rule.
fn leaving(u: &GridFunction) -> f64 {
    let rule = femto::element::quadrature::gauss(9);
    let weights = rule
        .weights
        .iter()
        .flat_map(|a| rule.weights.iter().map(move |b| a * b));
    let weights: Vec<f64> = weights.collect();
    let rows = rule.points.iter();
    let grid = rows.flat_map(|&t| rule.points.iter().map(move |&s| [s, t, 0.0]));
    let grid: Vec<[f64; 3]> = grid.collect();
    let facets = u.blocks[0].space.boundary().tagged("cooled").unwrap();
    let heat = facets.iter().flat_map(|facet| {
        let (cell, number) = (facet.cell as usize, usize::from(facet.number));
        let at = u.blocks[0].geometry.facet_at_points(cell, number, &grid);
        let terms = at.iter().zip(&weights).map(|(point, weight)| {
            let [x, y, z] = point.area_normal;
            -weight * (x * x + y * y + z * z).sqrt() * cooling(point.position)
        });
        terms.collect::<Vec<_>>()
    });
    heat.sum()
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
    let reason = "multigrid takes symmetric operators, and this is not one";
    assert_eq!(solver.preconditioner_reason.as_deref(), Some(reason));
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
        (4..=15).contains(&solver.iterations),
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

/// VTK reads what femto reports, and so does meshio.
#[test]
fn vtk_reads_the_output() {
    let Some(python) = std::env::var_os("FEMTO_PYTHON") else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return;
    };
    let folder = scratch("vtk");
    let (all, alone) = (["error", "exact", "solution", "source"], ["solution"]);
    // VTK's Lagrange hexahedra, tetrahedra, triangles and quadrilaterals.
    for (name, fields, volume, cell) in [
        ("box-sine", &all[..], 1.0, 72),
        ("finned-elbow", &alone[..], 95_074.0, 72),
        ("neo-hookean-block", &alone[..], 2.0, 71),
        ("p-laplacian", &all[..], 4.0, 69),
        (
            "quarter-annulus",
            &all[..3],
            // The area of VTK's polygons for the arcs, 48 sides a quarter.
            72.0 * (std::f64::consts::PI / 96.0).sin(),
            70,
        ),
    ] {
        let vtu = folder.join(format!("{name}.vtu"));
        let vtu = vtu.to_str().unwrap();
        let output = femto(&[
            "solve",
            &case_path(name),
            "--output",
            vtu,
            "--json",
            "--no-roofline",
        ]);
        let report = json(&output);
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/python/vtu_ranges.py"
        );
        let read = std::process::Command::new(&python)
            .args([script, vtu])
            .output()
            .unwrap();
        assert!(read.status.success(), "{}", text(&read.stderr));
        let seen = json(&read);
        let components = if name == "neo-hookean-block" { 3 } else { 1 };
        let points = seen["points"].as_u64().map(|points| components * points);
        assert_eq!(points, report["unknowns"]["all"].as_u64());
        assert_eq!(seen["cells"], report["mesh"]["cells"]);
        assert_eq!(seen["types"], Value::from(vec![cell]), "{name}");
        let meshio = [&seen["points"], &seen["cells"], &Value::from(fields)];
        assert!(meshio.into_iter().eq(seen["meshio"].as_array().unwrap()));
        let names: Vec<_> = seen["point_data"].as_object().unwrap().keys().collect();
        assert_eq!(names, fields);
        let greatest = seen["point_data"]["solution"][1].as_f64().unwrap();
        // VTK's nodes are equispaced, femto's are not: their maxima differ slightly.
        assert_close(
            "greatest",
            greatest,
            report["solution"]["max"].as_f64().unwrap(),
            1e-3,
        );
        assert_close("volume", seen["volume"].as_f64().unwrap(), volume, 1e-4);
    }
}
