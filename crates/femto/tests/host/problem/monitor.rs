//! A monitor sees the whole solve and can stop it.

use super::{SIDES, bump, host};
use crate::common::hexahedra;
use femto::element::MapKind;
use femto::fem::space::{Block, Constraints};
use femto::platform::device::null::Null;
use femto::problem::{Problem, ProblemError, SolverParams, Stage, StageMonitor, StopReason};
use femto::solve::{Iteration, Monitor};
use std::ops::ControlFlow;

/// Records everything, and stops when asked to.
#[derive(Default)]
struct Notes {
    begun: Vec<Stage>,
    ended: Vec<Stage>,
    iterations: Vec<usize>,
    dofs: usize,
    constraints: usize,
    stop_before: Option<Stage>,
    stop_at_iteration: Option<usize>,
}

impl Monitor for Notes {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        self.iterations.push(iteration.number);
        match self.stop_at_iteration {
            Some(last) if iteration.number >= last => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl StageMonitor for Notes {
    fn begin(&mut self, stage: Stage) {
        self.begun.push(stage);
    }
    fn end(&mut self, stage: Stage) {
        self.ended.push(stage);
    }
    fn space(&mut self, blocks: &[Block], constraints: &Constraints) {
        self.dofs = blocks[0].space.dofs();
        self.constraints = constraints.len();
    }
    fn stop(&mut self) -> bool {
        let stages = [
            Stage::Geometry,
            Stage::Space,
            Stage::Operator,
            Stage::Loads,
            Stage::Lifting,
            Stage::Preconditioner,
            Stage::Solve,
        ];
        self.begun.len() == self.ended.len()
            && stages.get(self.begun.len()) == self.stop_before.as_ref()
            && self.stop_before.is_some()
    }
}

#[test]
fn monitors_see_every_stage_and_iteration() {
    let mesh = hexahedra(MapKind::Multilinear, [3, 3, 3]);
    let mut notes = Notes::default();
    let solution = bump(&mesh)
        .solve::<f64, _>(&host(), &mut notes)
        .expect("solved");
    assert!(
        notes.begun.is_sorted() && notes.begun.len() == 9,
        "{:?}",
        notes.begun
    );
    assert_eq!(notes.begun, notes.ended);
    assert!(
        notes
            .iterations
            .iter()
            .copied()
            .eq(0..=solution.info.iterations())
    );
    assert_eq!(notes.dofs, solution.u.values.len());
    let held = Constraints::of_all_components(&solution.u.blocks[0].space, &SIDES).expect("a box");
    assert_eq!(notes.constraints, held.len());
    let total = solution.memory.total();
    assert!(total > 8 * 8 * notes.dofs, "{total} bytes");
}

#[test]
fn stopping_before_a_stage_is_clean() {
    let mesh = hexahedra(MapKind::Multilinear, [3, 3, 3]);
    for stage in [
        Stage::Geometry,
        Stage::Operator,
        Stage::Preconditioner,
        Stage::Solve,
    ] {
        let mut notes = Notes {
            stop_before: Some(stage),
            ..Notes::default()
        };
        let error = bump(&mesh)
            .solve::<f64, _>(&host(), &mut notes)
            .expect_err("stopped");
        assert!(
            matches!(error, ProblemError::Interrupted { stage: at } if at == stage),
            "{error}"
        );
        assert!(error.is_interruption());
        assert_eq!(notes.begun, notes.ended);
        assert!(notes.begun.iter().all(|&begun| begun < stage));
    }
}

#[test]
fn the_last_iterate_is_kept() {
    let mesh = hexahedra(MapKind::Multilinear, [3, 3, 3]);
    let converged = bump(&mesh)
        .solve::<f64, _>(&host(), &mut ())
        .expect("solved");
    let mut notes = Notes {
        stop_at_iteration: Some(5),
        ..Notes::default()
    };
    let stopped = bump(&mesh)
        .solve::<f64, _>(&host(), &mut notes)
        .expect_err("stopped");
    assert!(stopped.is_interruption());
    assert_eq!(stopped.to_string().split(' ').next(), Some("interrupted"));
    let tired = Problem {
        solver: SolverParams {
            max_iterations: 5,
            ..SolverParams::default()
        },
        ..bump(&mesh)
    };
    let tired = tired
        .solve::<f64, _>(&host(), &mut ())
        .expect_err("5 iterations are too few");
    assert!(!tired.is_interruption());
    let ProblemError::Unsolved(stopped) = stopped else {
        panic!("{stopped}")
    };
    let ProblemError::Unsolved(tired) = tired else {
        panic!("{tired}")
    };
    assert!(matches!(
        tired.error.reason,
        StopReason::NotConverged { .. }
    ));
    assert_eq!(
        tired.u.values, stopped.u.values,
        "the fifth iterate of both"
    );
    assert_eq!(
        tired.error.history.residuals,
        converged.info.history.residuals[..6]
    );
    assert_eq!(tired.error.history, stopped.error.history);
    let errors = [tired.errors, stopped.errors].map(|errors| errors.unwrap().unwrap());
    assert_eq!(errors[0], errors[1]);
    // The iterate includes the boundary values, but is not a solution yet.
    let held = Constraints::of_all_components(&tired.u.blocks[0].space, &SIDES).expect("a box");
    let both = tired.u.values.iter().zip(&converged.u.values);
    for (entry, (tired, converged)) in (0..).zip(both) {
        let is_held = held.entries().binary_search(&entry).is_ok();
        assert_eq!(is_held, tired == converged, "{entry}");
    }
}

#[test]
fn the_null_device_goes_all_the_way() {
    let mesh = hexahedra(MapKind::Multilinear, [2, 2, 2]);
    let null = Null::default();
    let solver = SolverParams {
        max_iterations: 3,
        ..SolverParams::default()
    };
    let problem = Problem {
        solver,
        ..bump(&mesh)
    };
    assert!(problem.assemble::<f64, _>(&null, &mut ()).is_ok());
    assert!(problem.assemble::<f32, _>(&null, &mut ()).is_ok());
}
