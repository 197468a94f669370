//! Step lengths along a direction: the scalar part of the line search.

use super::LineSearch;

/// The step lengths to try, from 1 downwards.
///
/// The next length minimises the parabola through |R|² at 0 and at the last two lengths, within a tenth and
/// a half of the last (Kelley, Iterative Methods for Linear and Nonlinear Equations, 1995, section 8.3.1).
pub(super) struct Lengths {
    rule: LineSearch,
    /// The initial |R(u)|.
    start: f64,
    /// The length to try.
    pub(super) length: f64,
    /// The previous length, and |R|² there relative to its initial value.
    before: Option<[f64; 2]>,
    cuts: usize,
}

impl Lengths {
    pub(super) fn new(rule: LineSearch, start: f64) -> Self {
        Self {
            rule,
            start,
            length: 1.0,
            before: None,
            cuts: 0,
        }
    }

    /// Whether a residual of this norm is small enough for the current length.
    pub(super) fn accepts(&self, norm: f64) -> bool {
        norm <= (1.0 - self.rule.decrease * self.length) * self.start
    }

    /// Moves to a shorter length after one that gave `norm`; false if none is left.
    pub(super) fn cut(&mut self, norm: f64) -> bool {
        if self.cuts == self.rule.max_cuts {
            return false;
        }
        self.cuts += 1;
        let now = [self.length, (norm / self.start).powi(2)];
        let shorter = match self.before {
            Some(before) => lowest(now, before).unwrap_or(0.5 * self.length),
            None => 0.5 * self.length,
        };
        self.before = Some(now);
        self.length = shorter.clamp(0.1 * self.length, 0.5 * self.length);
        true
    }
}

/// The minimiser of the parabola through (0, 1) and two points `[place, value]`; `None` if it has no
/// minimum or a value is not finite.
fn lowest([x, fx]: [f64; 2], [y, fy]: [f64; 2]) -> Option<f64> {
    let (fx, fy) = ((fx - 1.0) / x, (fy - 1.0) / y);
    let curvature = (fy - fx) / (y - x);
    let slope = fx - curvature * x;
    let place = -slope / (2.0 * curvature);
    (curvature > 0.0 && place.is_finite()).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_is_met_at_its_lowest() {
        let f = |x: f64| 1.0 - 0.6 * x + 1.5 * x * x;
        let found = lowest([0.5, f(0.5)], [1.0, f(1.0)]).unwrap();
        assert!((found - 0.2).abs() < 1e-15, "{found}");
        assert_eq!(lowest([0.5, 2.0], [1.0, 2.5]), None);
        assert_eq!(lowest([0.5, f64::NAN], [1.0, 2.5]), None);
        assert_eq!(lowest([0.5, 2.0], [1.0, f64::INFINITY]), None);
    }

    #[test]
    fn lengths_shrink_by_a_half_to_a_tenth_and_come_to_an_end() {
        let rule = LineSearch {
            max_cuts: 3,
            decrease: 1e-4,
        };
        let mut lengths = Lengths::new(rule, 2.0);
        assert!(lengths.accepts(1.999) && !lengths.accepts(2.0) && !lengths.accepts(f64::NAN));
        assert!(lengths.cut(f64::NAN));
        assert_eq!(lengths.length, 0.5);
        assert!(lengths.cut(2.0 * 10.0_f64.sqrt()));
        assert_eq!(lengths.length, 0.25);
        // The parabola has its minimum at a negative length.
        assert!(lengths.cut(4.0));
        assert_eq!(lengths.length, 0.025);
        assert!(!lengths.cut(4.0));
    }
}
