//! How long Newton's method keeps a preconditioner.

use crate::solve::History;

/// A preconditioner of an earlier linearisation is kept as long as a linear solve takes at most so many times the
/// iterations, for each digit, of the first solve after its set-up.
const STALE: f64 = 2.0;

/// A solve that takes longer than so many times as many, and a few, does not go on with it.
const LONG: f64 = 3.0;
const FEW: f64 = 10.0;

/// How good a preconditioner is for linearisations after the one that it was set up for: a set-up takes the time of ten
/// iterations or more (`docs/solvers.md`).
#[derive(Debug, Default)]
pub(super) struct Age {
    /// Iterations for each digit in the first solve after its set-up.
    first: Option<f64>,
    is_stale: bool,
}

impl Age {
    /// Whether there was a solve with it.
    pub(super) fn is_known(&self) -> bool {
        self.first.is_some()
    }

    /// Whether it is good enough for another linearisation.
    pub(super) fn is_fit(&self) -> bool {
        self.is_known() && !self.is_stale
    }

    /// The number of iterations that a solve to this relative tolerance may take with it.
    pub(super) fn allowed(&self, tolerance: f64) -> usize {
        let allowed = |first| LONG * first * -tolerance.log10() + FEW;
        self.first
            .map_or(usize::MAX, |first| allowed(first) as usize)
    }

    /// After a solve with it.
    pub(super) fn solved(&mut self, history: &History) {
        let residuals = &history.residuals;
        let [Some(before), Some(after)] = [residuals.first(), residuals.last()] else {
            return;
        };
        let rate = history.iterations() as f64 / (before / after).log10();
        match self.first {
            // Solved before the first iteration.
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
        assert!(!age.is_known() && !age.is_fit());
        assert_eq!(age.allowed(1e-8), usize::MAX);
        age.solved(&solve(&[1.0]));
        assert!(!age.is_known());
        // A digit in two iterations.
        age.solved(&solve(&[10.0, 3.0, 1.0]));
        assert!(age.is_known() && age.is_fit());
        assert_eq!([1e-1, 1e-4].map(|it| age.allowed(it)), [16, 34]);
        age.solved(&solve(&[1.0, 0.8, 0.5, 0.2, 0.099]));
        assert!(age.is_fit());
        age.solved(&solve(&[1.0, 0.8, 0.5, 0.2, 0.101]));
        assert!(age.is_known() && !age.is_fit());
    }
}
