//! The monitor of a solve: clock, progress line, interruption.

use super::{Solver, StageTime, Times};
use crate::progress::Progress;
use femto::fem::space::{Block, Constraints};
use femto::problem::{Stage, StageMonitor};
use femto::solve::{Iteration, Monitor};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub(super) struct SolveMonitor<'a> {
    progress: &'a mut Progress,
    interrupt: &'a AtomicBool,
    start: Instant,
    /// Start of the first iteration, and end of the last one.
    iterations: Option<[Instant; 2]>,
}

/// Seconds since the first call.
pub(super) fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(now).elapsed().as_secs_f64()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the report says how long it took"
)]
fn now() -> Instant {
    Instant::now()
}

impl<'a> SolveMonitor<'a> {
    pub(super) fn new(progress: &'a mut Progress, interrupt: &'a AtomicBool) -> Self {
        Self {
            progress,
            interrupt,
            start: now(),
            iterations: None,
        }
    }

    /// Runs a stage that is not one of the problem's.
    pub(super) fn stage<R>(&mut self, name: &str, body: impl FnOnce() -> R) -> R {
        self.progress.stage(name);
        let result = body();
        self.progress.end_stage();
        result
    }

    /// The flag of the user's signals.
    pub(super) fn interrupt(&self) -> &'a AtomicBool {
        self.interrupt
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// The times until now.
    pub(super) fn times(&self, solver: Option<&Solver>) -> Times {
        let stages = self.progress.done().iter();
        let stages = stages.map(|(name, seconds)| StageTime {
            name: name.clone(),
            seconds: *seconds,
        });
        let iterations = solver.map_or(0, |solver| solver.iterations);
        let per_iteration = self.iterations.filter(|_| iterations > 0);
        Times {
            stages: stages.collect(),
            to_first_iteration: self
                .iterations
                .map(|[first, _]| (first - self.start).as_secs_f64()),
            per_iteration: per_iteration
                .map(|[first, last]| (last - first).as_secs_f64() / iterations as f64),
            total: self.start.elapsed().as_secs_f64(),
        }
    }
}

impl Monitor for SolveMonitor<'_> {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        let of = match iteration.is_direction {
            true => "direction: ",
            false => "",
        };
        if !iteration.is_direction {
            let last = now();
            let [first, _] = self.iterations.unwrap_or([last; 2]);
            self.iterations = Some([first, last]);
        }
        self.progress.detail(|| {
            let Iteration {
                number,
                residual,
                target,
                ..
            } = iteration;
            format!("{of}iteration {number}, residual {residual:.2e}, to be {target:.2e}")
        });
        match self.is_interrupted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl StageMonitor for SolveMonitor<'_> {
    fn begin(&mut self, stage: Stage) {
        self.progress.stage(stage.to_string());
    }

    fn end(&mut self, _: Stage) {
        self.progress.end_stage();
    }

    fn space(&mut self, blocks: &[Block], constraints: &Constraints) {
        let free = blocks[0].space.dofs() - constraints.len();
        let elements = Block::elements(blocks);
        self.progress
            .note(|| format!("{free} unknowns on {elements} {}", Block::plural(blocks)));
    }

    fn stop(&mut self) -> bool {
        self.is_interrupted()
    }
}
