//! When iterations with Jacobi are so many that the set-up of multigrid pays.

use super::PreconditionerReason;
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

/// With fewer unknowns multigrid's set-up takes longer than its share of iterations.
const LARGE: usize = 100_000;

/// The number of iterations that Jacobi takes at least, if there are more than the patience lasts.
pub(super) fn too_many(space: &Space, unknowns: usize, tolerance: f64) -> Option<f64> {
    let nodes = unknowns / space.components();
    let expected = on_a_cube([space.dim(), space.degree()], nodes, tolerance);
    (unknowns >= LARGE && expected > patience(space) as f64).then_some(expected)
}

/// About how many iterations Jacobi takes for Poisson's equation on a cube or square with so many nodes inside, given
/// its dimension and degree: 2 √degree for each node along an axis, to 1e-8 (`docs/solvers.md`). On other domains there
/// are usually more.
fn on_a_cube([dim, degree]: [usize; 2], nodes: usize, tolerance: f64) -> f64 {
    let along_axis = (nodes as f64).powf(1.0 / dim as f64);
    let digits = (2.0 / tolerance).ln() / (2.0 / 1e-8_f64).ln();
    2.0 * (degree as f64).sqrt() * along_axis * digits
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
    /// That Jacobi is slow, if it stopped them.
    pub(super) slow: Option<PreconditionerReason>,
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
            slow: None,
        }
    }
}

impl Monitor for Watch<'_> {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        let iterations = self.done + iteration.number;
        self.monitor.record(Iteration {
            number: iterations,
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
        self.slow = Some(PreconditionerReason::Slow {
            iterations,
            expected,
        });
        ControlFlow::Break(())
    }
}

/// Multigrid is set up anew at a step of Newton's method in this part of the time of the first set-up, or less.
const ANEW: usize = 2;

/// Hands iterations of Newton's method on to a monitor. It stops them at the iterate before which directions took as long
/// as the patience lasts, if the last one took longer than to set up multigrid anew.
pub(super) struct DirectionsWatch<'m> {
    monitor: &'m mut dyn Monitor,
    /// Newton steps before these.
    done: usize,
    /// Iterations for all directions.
    patience: Option<usize>,
    /// Iterations for the directions before the last.
    before: usize,
    /// Iterations for the last direction.
    last: usize,
    /// That Jacobi is slow, if it stopped them.
    pub(super) slow: Option<PreconditionerReason>,
}

impl<'m> DirectionsWatch<'m> {
    pub(super) fn new(monitor: &'m mut dyn Monitor, patience: Option<usize>) -> Self {
        Self {
            monitor,
            done: 0,
            patience,
            before: 0,
            last: 0,
            slow: None,
        }
    }

    /// Goes on after this number of steps, without end to its patience.
    pub(super) fn go_on(&mut self, done: usize) {
        (self.done, self.patience) = (done, None);
    }
}

impl Monitor for DirectionsWatch<'_> {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        if iteration.is_direction {
            self.last = iteration.number;
            return self.monitor.record(iteration);
        }
        self.monitor.record(Iteration {
            number: self.done + iteration.number,
            ..iteration
        })?;
        let last = std::mem::take(&mut self.last);
        self.before += last;
        match self.patience {
            Some(patience) if self.before >= patience && last >= patience / ANEW => {
                let iterations = self.before;
                self.slow = Some(PreconditionerReason::SlowDirections { iterations });
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
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
        let slow = watch.slow.take();
        let last = last.unwrap();
        assert!(seen.into_iter().eq(7..=7 + last));
        slow.map(|reason| match reason {
            PreconditionerReason::Slow {
                iterations,
                expected,
            } if iterations == 7 + last => (last, expected),
            other => panic!("{other}"),
        })
    }

    /// Measured on cubes with slightly curved cells.
    #[test]
    fn iterations_on_a_cube_are_known() {
        for (degree, nodes, measured) in [
            (1, 9_800_344, 421.0),
            (2, 970_299, 281.0),
            (2, 9_663_597, 623.0),
            (3, 9_938_375, 785.0),
            (4, 103_823, 182.0),
            (4, 9_938_375, 882.0),
            (8, 857_375, 483.0),
        ] {
            let found = on_a_cube([3, degree], nodes, 1e-8);
            assert!(
                (found / measured - 1.0_f64).abs() < 0.15,
                "{degree} {found}"
            );
        }
        assert_eq!(on_a_cube([2, 4], 10_000, 1e-8), 400.0);
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

    /// The iterate at which a watch with a patience of 100 stops Newton's method whose directions take so many
    /// iterations, and the iterations until then.
    fn newton(directions: &[usize]) -> Option<(usize, usize)> {
        let mut monitor = ();
        let mut watch = DirectionsWatch::new(&mut monitor, Some(100));
        let iteration = |is_direction, number| Iteration {
            is_direction,
            number,
            residual: 1.0,
            target: 1e-8,
            newton_step: None,
        };
        for (step, &direction) in directions.iter().enumerate() {
            if watch.record(iteration(false, step)).is_break() {
                return match watch.slow {
                    Some(PreconditionerReason::SlowDirections { iterations }) => {
                        Some((step, iterations))
                    }
                    other => panic!("{other:?}"),
                };
            }
            for number in 0..=direction {
                assert!(watch.record(iteration(true, number)).is_continue());
            }
        }
        assert_eq!(watch.slow, None);
        None
    }

    #[test]
    fn slow_directions_are_counted_at_each_step() {
        assert_eq!(newton(&[60, 60, 60]), Some((2, 120)));
        assert_eq!(newton(&[200, 60]), Some((1, 200)));
        // More than the patience in all, but no direction longer than setting up anew.
        assert_eq!(newton(&[45, 45, 45, 45]), None);
        assert_eq!(newton(&[45, 45, 45, 55, 45]), Some((4, 190)));
        assert_eq!(newton(&[99, 0]), None);
    }
}
