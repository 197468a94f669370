//! When iterations with Jacobi are so many that the set-up of multigrid pays.

use crate::solve::{Iteration, Monitor};
use femto_fem::space::Space;
use std::ops::ControlFlow;

/// The number of iterations with Jacobi that take the time of multigrid's set-up on an accelerator (`docs/solvers.md`):
/// the set-up is on the host and takes longest on the level of degree 1, the more for vectors, and for simplices, which
/// have more of its nodes.
pub(super) fn patience(space: &Space) -> usize {
    let of_hexahedra = match space.degree() {
        1 => 4000,
        2 => 1600,
        3 => 900,
        _ => 700,
    };
    let cells = if space.cell().is_simplex() { 2 } else { 1 };
    of_hexahedra * cells * space.components()
}

/// Hands iterations on to a monitor. After half of the patience, or half of all iterations that are allowed, it stops them as
/// soon as more seem to be left than the patience lasts, or than are allowed.
pub(super) struct Watch<'m> {
    monitor: &'m mut dyn Monitor,
    /// Iterations before these.
    done: usize,
    /// And the number of iterations that are allowed.
    patience: Option<(usize, usize)>,
    first: f64,
    least: f64,
    /// How many iterations there would be in all, if they were stopped for their number.
    pub(super) expected: Option<f64>,
}

impl<'m> Watch<'m> {
    /// Of iterations after those that were `done`.
    pub(super) fn new(
        monitor: &'m mut dyn Monitor,
        done: usize,
        patience: Option<(usize, usize)>,
    ) -> Self {
        Self {
            monitor,
            done,
            patience,
            first: f64::INFINITY,
            least: f64::INFINITY,
            expected: None,
        }
    }
}

impl Monitor for Watch<'_> {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        self.monitor.record(Iteration {
            number: self.done + iteration.number,
            ..iteration
        })?;
        if iteration.number == 0 {
            self.first = iteration.residual;
        }
        self.least = self.least.min(iteration.residual);
        let Some((patience, allowed)) = self.patience else {
            return ControlFlow::Continue(());
        };
        let expected = expected(iteration.number, [self.first, self.least, iteration.target]);
        let most = (iteration.number + patience).min(allowed);
        if iteration.number < patience.min(allowed) / 2 || expected <= most as f64 {
            return ControlFlow::Continue(());
        }
        self.expected = Some(expected);
        ControlFlow::Break(())
    }
}

/// The number of iterations to the target, if residuals fall by the same factor in each: the first one, the least
/// after `number` iterations, and the target.
fn expected(number: usize, [first, least, target]: [f64; 3]) -> f64 {
    let (fallen, whole) = ((first / least).ln(), (first / target).ln());
    match fallen > 0.0 {
        true => number as f64 * whole / fallen,
        false => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations whose residuals fall by `factor` each, after which the watch stopped them.
    fn stopped(factor: f64, (patience, allowed): (usize, usize)) -> Option<(usize, f64)> {
        let mut seen = Vec::new();
        let mut monitor = |iteration: Iteration| {
            seen.push(iteration.number);
            ControlFlow::Continue(())
        };
        let mut watch = Watch::new(&mut monitor, 7, Some((patience, allowed)));
        let last = (0..).find(|&number| {
            let iteration = Iteration {
                is_direction: false,
                number,
                residual: factor.powi(number as i32),
                target: 1e-8,
                newton_step: None,
            };
            watch.record(iteration).is_break() || iteration.residual < iteration.target
        });
        let expected = watch.expected;
        let last = last.unwrap();
        assert!(seen.into_iter().eq(7..=7 + last));
        expected.map(|expected| (last, expected))
    }

    #[test]
    fn slow_iterations_are_stopped_after_half_of_the_patience() {
        // 1e-8 in 2000 iterations.
        let steps = |count: f64| 1e-8_f64.powf(1.0 / count);
        let (last, expected) = stopped(steps(2000.0), (700, 9999)).unwrap();
        assert_eq!(last, 350);
        assert!((expected - 2000.0).abs() < 1.0);
        let (last, expected) = stopped(1.0, (700, 9999)).unwrap();
        assert_eq!((last, expected), (350, f64::INFINITY));
        assert_eq!(stopped(steps(900.0), (700, 9999)), None);
        assert_eq!(stopped(0.5, (700, 9999)), None);
        // Where fewer are allowed than are needed.
        assert_eq!(stopped(steps(900.0), (700, 800)).unwrap().0, 350);
        assert_eq!(stopped(steps(900.0), (5000, 800)).unwrap().0, 400);
        assert_eq!(stopped(steps(700.0), (5000, 800)), None);
    }
}
