//! How long Newton's method keeps a preconditioner.

use crate::solve::History;

/// Linear solves may take this many times the iterations per digit of the first one before the preconditioner is renewed.
const STALE: f64 = 2.0;

/// A solve is stopped, for a new preconditioner, after [`LONG`] times as many iterations and [`FEW`] more.
const LONG: f64 = 3.0;
const FEW: f64 = 10.0;

/// How good a preconditioner is for linearisations after the one that it was set up for: a set-up takes the time of ten
/// iterations or more (`docs/multigrid.md`).
#[derive(Debug, Default)]
pub(super) struct Age {
    /// Iterations for each digit in the first solve after its set-up.
    first: Option<f64>,
    is_stale: bool,
    /// Whether the last solve reached its tolerance.
    has_solved: bool,
}

impl Age {
    /// Whether there was a solve with it.
    pub(super) fn is_known(&self) -> bool {
        self.first.is_some()
    }

    /// Whether it is good enough for another linearisation, whose solve begins.
    pub(super) fn begin(&mut self) -> bool {
        let has_solved = std::mem::take(&mut self.has_solved);
        self.is_known() && has_solved && !self.is_stale
    }

    /// The number of iterations that a solve to this relative tolerance may take with it.
    pub(super) fn allowed(&self, tolerance: f64) -> usize {
        let allowed = |first| LONG * first * (-tolerance.log10()).max(1.0) + FEW;
        self.first
            .map_or(usize::MAX, |first| allowed(first) as usize)
    }

    /// After a solve with it.
    pub(super) fn solved(&mut self, history: &History) {
        let residuals = &history.residuals;
        let [Some(before), Some(after)] = [residuals.first(), residuals.last()] else {
            return;
        };
        self.has_solved = true;
        // In less than a digit residuals may grow before they fall.
        let rate = history.iterations() as f64 / (before / after).log10().max(1.0);
        match self.first {
            // Without an iteration nothing is known.
            _ if !(rate > 0.0 && rate.is_finite()) => (),
            None => self.first = Some(rate),
            Some(first) => self.is_stale = rate > STALE * first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::Method;

    fn solve(residuals: &[f64]) -> History {
        History {
            method: Method::Cg,
            residuals: residuals.to_vec(),
            reference: 1.0,
            newton_steps: Vec::new(),
        }
    }

    #[test]
    fn it_is_stale_when_solves_take_twice_as_long() {
        let mut age = Age::default();
        assert!(!age.is_known() && !age.begin());
        assert_eq!(age.allowed(1e-8), usize::MAX);
        age.solved(&solve(&[1.0]));
        assert!(!age.is_known());
        // A digit in two iterations.
        age.solved(&solve(&[10.0, 3.0, 1.0]));
        assert!(age.is_known() && age.begin());
        // That solve did not reach its tolerance.
        assert!(!age.begin());
        assert_eq!([0.5, 1e-1, 1e-4].map(|it| age.allowed(it)), [16, 16, 34]);
        age.solved(&solve(&[1.0, 0.8, 0.5, 0.2, 0.09]));
        assert!(age.begin());
        age.solved(&solve(&[1.0, 0.8, 0.5, 0.3, 0.2, 0.09]));
        assert!(age.is_known() && !age.begin());
        // Little is known from a part of a digit.
        let mut age = Age::default();
        age.solved(&solve(&[1.0, 40.0, 5.0, 0.85]));
        assert_eq!(age.allowed(1e-3), 37);
    }
}
