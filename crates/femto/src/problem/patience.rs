//! When Jacobi takes so many iterations that the set-up of multigrid pays.

use super::{Method, PreconditionerReason, SolverParams};
use crate::solve::{Iteration, Monitor};
use femto_fem::space::Space;
use femto_kernel::scalar::Precision;
use std::ops::ControlFlow;

/// The number of iterations with Jacobi that take the time of multigrid's set-up on an accelerator (`docs/multigrid.md`):
/// the set-up is on the host and takes longest on the level of degree 1, the more for vectors, and for simplices, which
/// have more of its nodes; for both at once if it is the only one. Products with the Jacobian of a nonlinear form take longer, and so do iterations of GMRES,
/// which makes each vector orthogonal to those before and waits for sums.
fn patience(space: &Space, is_jacobian: bool, krylov: Method) -> usize {
    let of_hexahedra = match space.degree().least() {
        1 => 4000,
        2 => 1600,
        3 => 900,
        _ => 700,
    };
    let longer = match (space.cell().is_simplex(), space.components() > 1) {
        (false, false) => 1,
        (true, true) if space.degree() == 1 => 4,
        _ => 2,
    };
    let products = if is_jacobian { 2 } else { 1 };
    let iterations = if krylov == Method::Cg { 1 } else { 4 };
    of_hexahedra * longer / (products * iterations)
}

/// With fewer unknowns multigrid's set-up takes longer than its share of iterations.
const LARGE: usize = 100_000;

/// How long Jacobi is kept on an accelerator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    unknowns: usize,
    /// Iterations that take the time of multigrid's set-up, or all that a solve may take.
    set_up: usize,
    /// Iterations that Jacobi takes at least.
    least: f64,
}

impl Patience {
    /// For a space with this many unknowns that are not given.
    pub(super) fn new(
        space: &Space,
        (unknowns, is_jacobian): (usize, bool),
        (krylov, solver, precision): (Method, &SolverParams, Precision),
    ) -> Self {
        let nodes = unknowns / space.components();
        let tolerance = solver.tolerance(precision);
        Self {
            unknowns,
            set_up: patience(space, is_jacobian, krylov).min(solver.max_iterations),
            least: on_a_cube([space.dim(), space.degree().most()], nodes, tolerance),
        }
    }

    /// The number of iterations that Jacobi takes at least, if they take longer than multigrid's set-up.
    pub(super) fn too_many(&self) -> Option<f64> {
        let is_slow = self.unknowns >= LARGE && self.least > self.set_up as f64;
        is_slow.then_some(self.least)
    }
}

/// About how many iterations Jacobi takes for Poisson's equation on a cube or square with `nodes` inside, given
/// its dimension and degree: 2 √degree for each node along an axis, to 1e-8 (`docs/multigrid.md`). On other domains there
/// are usually more, but fewer if long sides are held.
fn on_a_cube([dim, degree]: [usize; 2], nodes: usize, tolerance: f64) -> f64 {
    let along_axis = (nodes as f64).powf(1.0 / dim as f64);
    let digits = (2.0 / tolerance.max(f64::EPSILON)).ln() / (2.0 / 1e-8_f64).ln();
    2.0 * (degree as f64).sqrt() * along_axis * digits
}

/// Hands iterations on to a monitor, and stops them once it expects more than `set_up` to be left, or more than are
/// allowed. It does not judge before half of `set_up`, or of those allowed, nor before the number that Jacobi needs at
/// least: until then residuals fall slowly.
pub(super) struct Watch<'m> {
    monitor: &'m mut dyn Monitor,
    /// Iterations before these.
    done: usize,
    /// And the number of iterations that are allowed.
    patience: Option<(Patience, usize)>,
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
        patience: Option<(Patience, usize)>,
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
        // If it stopped them before, they had come to their end.
        self.slow = None;
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
        let set_up = patience.set_up;
        let most = (iteration.number + set_up).min(allowed);
        let half = set_up.min(allowed) / 2;
        let least = patience.least.min(set_up as f64) as usize;
        let earliest = half.max(least.min(allowed / 2));
        if iteration.number < earliest || expected <= most as f64 {
            return ControlFlow::Continue(());
        }
        self.slow = Some(PreconditionerReason::Slow {
            iterations,
            expected,
        });
        ControlFlow::Break(())
    }
}

/// Hands iterations of Newton's method on to a monitor. It stops them in a direction that takes as long as multigrid's
/// set-up, and at the iterate before which directions took as long in all, if half as many iterations seem to be left.
pub(super) struct DirectionsWatch<'m> {
    monitor: &'m mut dyn Monitor,
    /// Newton steps before these.
    done: usize,
    patience: Option<Patience>,
    /// Iterations for the directions before the last, and for that.
    before: usize,
    last: usize,
    /// The residual of the start.
    first: f64,
    /// That Jacobi is slow, if it stopped them.
    pub(super) slow: Option<PreconditionerReason>,
}

impl<'m> DirectionsWatch<'m> {
    pub(super) fn new(monitor: &'m mut dyn Monitor, patience: Option<Patience>) -> Self {
        Self {
            monitor,
            done: 0,
            patience,
            before: 0,
            last: 0,
            first: f64::INFINITY,
            slow: None,
        }
    }

    /// After the boundary values were extended: that does not count.
    pub(super) fn begin(&mut self) {
        self.last = 0;
    }

    /// Goes on after this number of steps.
    pub(super) fn continue_after(&mut self, done: usize) {
        (self.done, self.last) = (done, 0);
    }

    /// Goes on after this number of steps, and never stops them again.
    pub(super) fn go_on(&mut self, done: usize) {
        (self.done, self.patience, self.last) = (done, None, 0);
    }
}

impl Monitor for DirectionsWatch<'_> {
    fn record(&mut self, iteration: Iteration) -> ControlFlow<()> {
        // If it stopped them before, they had come to their end.
        self.slow = None;
        if iteration.is_direction {
            self.monitor.record(iteration)?;
            self.last = iteration.number;
            return match self.patience {
                Some(Patience { set_up, .. }) if self.last >= set_up => {
                    let iterations = self.before + self.last;
                    self.slow = Some(PreconditionerReason::SlowDirections { iterations });
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            };
        }
        self.monitor.record(Iteration {
            number: self.done + iteration.number,
            ..iteration
        })?;
        self.before += std::mem::take(&mut self.last);
        let (iterations, residual) = (self.before, iteration.residual);
        if iteration.number == 0 {
            self.first = residual;
        }
        let all = expected(iterations, [self.first, residual, iteration.target]);
        let left = all - iterations as f64;
        match self.patience {
            Some(Patience { set_up, .. })
                if iterations >= set_up && left >= set_up as f64 / 2.0 =>
            {
                self.slow = Some(PreconditionerReason::SlowDirections { iterations });
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The number of iterations to the target, if residuals fall by the same factor in each, given the first one, the least
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
    fn stopped(factor: f64, (set_up, allowed): (usize, usize)) -> Option<(usize, f64)> {
        stopped_after(factor, (lasting(set_up, 0.0), allowed))
    }

    fn lasting(set_up: usize, least: f64) -> Patience {
        Patience {
            unknowns: LARGE,
            set_up,
            least,
        }
    }

    fn stopped_after(factor: f64, patience: (Patience, usize)) -> Option<(usize, f64)> {
        let mut seen = Vec::new();
        let mut monitor = |iteration: Iteration| {
            seen.push(iteration.number);
            ControlFlow::Continue(())
        };
        let mut watch = Watch::new(&mut monitor, 7, Some(patience));
        let last = (0..).find(|&number| {
            let iteration = Iteration {
                is_direction: false,
                number,
                residual: factor.powi(number as i32),
                target: 1e-8,
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
        // Not before as many as there are at least.
        let after = |least| stopped_after(steps(2000.0), (lasting(700, least), 9999));
        assert_eq!(after(600.0).unwrap().0, 600);
        assert_eq!(after(3000.0).unwrap().0, 700);
        assert_eq!(lasting(700, 700.5).too_many(), Some(700.5));
        assert_eq!(lasting(700, 699.5).too_many(), None);
        let few = (lasting(4000, 2000.0), 1000);
        assert_eq!(stopped_after(steps(1800.0), few).unwrap().0, 500);
        // Where fewer are allowed than are needed.
        assert_eq!(stopped(steps(900.0), (700, 800)).unwrap().0, 350);
        assert_eq!(stopped(steps(900.0), (5000, 800)).unwrap().0, 400);
        assert_eq!(stopped(steps(700.0), (5000, 800)), None);
    }

    /// The iterate at which a watch with a patience of 100 stops Newton's method whose directions take so many
    /// iterations, and the iterations until then.
    fn newton(directions: &[usize], residual: impl Fn(usize) -> f64) -> Option<(usize, usize)> {
        let mut monitor = ();
        let mut watch = DirectionsWatch::new(&mut monitor, Some(lasting(100, 0.0)));
        let iteration = |is_direction, number| Iteration {
            is_direction,
            number,
            residual: residual(number),
            target: 1e-8,
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
            let mut numbers = 0..=direction;
            if numbers.any(|number| watch.record(iteration(true, number)).is_break()) {
                assert!(watch.slow.is_some());
                return Some((step, watch.before + watch.last));
            }
        }
        assert_eq!(watch.slow, None);
        None
    }

    #[test]
    fn slow_directions_are_counted_at_each_step() {
        let same = |_| 1.0;
        assert_eq!(newton(&[60, 60, 60], same), Some((2, 120)));
        assert_eq!(newton(&[60, 200], same), Some((1, 160)));
        assert_eq!(newton(&[99, 0], same), None);
        // 30 iterations for a digit, of which four are left; 20, and two are left.
        let digits = |digits: f64| move |number| 0.1_f64.powf(digits * number as f64);
        assert_eq!(newton(&[60, 60, 0], digits(4.0 / 2.0)), Some((2, 120)));
        assert_eq!(newton(&[60, 60, 0], digits(6.0 / 2.0)), None);
    }
}
