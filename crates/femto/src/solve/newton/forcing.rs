//! Forcing terms: tolerances of the linear solves.

use super::Forcing;

/// The sequence of forcing terms.
pub(super) struct Terms {
    forcing: Forcing,
    /// η and |R(u)| of the previous step.
    before: Option<[f64; 2]>,
}

impl Terms {
    pub(super) fn new(forcing: Forcing) -> Self {
        Self {
            forcing,
            before: None,
        }
    }

    /// η for the step from a u with |R(u)| = `norm`.
    pub(super) fn next(&mut self, norm: f64, target: f64) -> f64 {
        let eta = match (self.forcing, self.before) {
            (Forcing::Fixed(eta), _) => return eta,
            (Forcing::EisenstatWalker { first, .. }, None) => first,
            (Forcing::EisenstatWalker { most, .. }, Some([eta, before])) => {
                let floor = GAMMA * eta * eta;
                let eta = GAMMA * (norm / before).powi(2);
                let eta = if floor > 0.1 { eta.max(floor) } else { eta };
                eta.max(0.5 * target / norm).min(most)
            }
        };
        self.before = Some([eta, norm]);
        eta
    }
}

/// γ of choice 2.
const GAMMA: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_follow_the_square_of_the_decrease_within_bounds() {
        let mut terms = Terms::new(Forcing::default());
        assert_eq!(terms.next(1.0, 1e-12), 0.3);
        assert_eq!(terms.next(0.1, 1e-12), 0.9 * (0.1_f64 / 1.0).powi(2));
        // No progress: the maximum.
        assert_eq!(terms.next(0.1, 1e-12), 0.9);
        // The square of a large previous term is a lower bound.
        assert_eq!(terms.next(1e-3, 1e-12), 0.9 * 0.9 * 0.9);
        for norm in [1e-4, 1e-5, 1e-6, 1e-7] {
            terms.next(norm, 1e-12);
        }
        // No more accurate than the target requires.
        assert_eq!(terms.next(1e-12, 1e-13), 0.5 * 1e-13 / 1e-12);
        let mut fixed = Terms::new(Forcing::Fixed(1e-3));
        assert_eq!([fixed.next(1.0, 0.0), fixed.next(0.5, 0.0)], [1e-3; 2]);
    }
}
