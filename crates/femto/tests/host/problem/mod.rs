//! Boundary value problems, from mesh to solution.

mod boundary;
mod choice;
mod columns;
mod cycle_precision;
mod diagonal;
mod facets;
mod failures;
mod integrals;
mod monitor;
mod multigrid;
mod newton;
mod newton_precision;
mod null_space;
mod output;
mod reactions;
mod rounded;
mod slanted;
mod stretched;
mod weakly_held;

use femto::fem::mesh::Mesh;
use femto::kernel::form::Poisson;
use femto::problem::{Boundary, Exact, Function, GridFunction, Problem, SolverParams};
use femto::{Host, Quadrature};

const SIDES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
const RULES: [Quadrature; 2] = [Quadrature::Gauss, Quadrature::Collocated];

/// A linear function, in every space on every mesh.
fn linear([x, y, z]: [f64; 3]) -> f64 {
    1.0 + 2.0 * x - 3.0 * y + 0.5 * z
}

fn host() -> Host {
    Host::with_threads(2).expect("two threads")
}

fn on_all_sides<'a>(value: &'a dyn Function) -> Vec<Boundary<'a>> {
    SIDES.map(|side| Boundary::new(side, value)).into()
}

fn accurate() -> SolverParams {
    SolverParams {
        relative_tolerance: Some(1e-13),
        ..SolverParams::default()
    }
}

/// The largest difference from `exact` at the nodes.
fn worst(u: &GridFunction, exact: impl Fn([f64; 3]) -> f64) -> f64 {
    let positions = u.node_positions();
    let errors = positions
        .iter()
        .zip(&u.values)
        .map(|(&x, u)| (u - exact(x)).abs());
    errors.fold(0.0, |m: f64, e| if e.is_nan() { e } else { m.max(e) })
}

/// A problem that takes some iterations.
fn bump(mesh: &Mesh) -> Problem<'_> {
    Problem {
        source: vec![&1.0],
        dirichlet: on_all_sides(&linear),
        exact: Some(Exact {
            value: vec![&linear],
            gradient: None,
        }),
        ..Problem::new(mesh, 3, Poisson::<3>)
    }
}
