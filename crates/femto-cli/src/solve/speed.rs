//! The speed of the operator compared with the device's ceilings.

use crate::failure::Failure;
use femto::kernel::roofline::Ceilings as Rates;
use femto::operator::{AnyOperator, Explanation, OperatorError};
use femto::problem::{AnyAssembled, MultigridLevel};
use femto_bench::roofline::{self, Origin};
use femto_bench::{Sampling, time_application, time_apply, uncounted};
use serde::Serialize;

/// Short, since it follows every solve.
const SAMPLING: Sampling = Sampling {
    samples: 7,
    seconds: 0.02,
};

/// The rates that bound an operator.
#[derive(Clone, Debug, Serialize)]
pub struct Ceilings {
    /// In bytes and flops per second.
    #[serde(flatten)]
    pub rates: Rates,
    /// Their source.
    pub origin: String,
}

/// A level of multigrid, with its part of a cycle.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Level {
    /// The level.
    #[serde(flatten)]
    pub level: MultigridLevel,
    /// Seconds that a cycle spends on it, with the transfer to the next; `None` if not measured.
    pub cycle_seconds: Option<f64>,
}

impl From<MultigridLevel> for Level {
    fn from(level: MultigridLevel) -> Self {
        let cycle_seconds = None;
        Self {
            level,
            cycle_seconds,
        }
    }
}

/// Times the levels of multigrid, if there are any: the cycles from a level on and from the next on differ by its part.
pub(super) fn measure_levels(
    system: &dyn AnyAssembled,
    levels: &mut [Level],
) -> Result<(), OperatorError> {
    let device = system.linear_operator().device();
    let mut below = 0.0;
    for (number, level) in levels.iter_mut().enumerate().rev() {
        if let Some(cycle) = system.cycle_from(number)? {
            let seconds = time_application(&device, cycle, &SAMPLING)?.median;
            level.cycle_seconds = Some((seconds - below).max(0.0));
            below = seconds;
        }
    }
    Ok(())
}

/// Times one application, and explains it with the saved ceilings, which are measured now if there are
/// none.
pub(super) fn measure(operator: &dyn AnyOperator) -> Result<(Explanation, Ceilings), Failure> {
    let found = roofline::ceilings(&operator.device())?;
    let seconds = time_apply(operator, &SAMPLING)?.median;
    let counting = operator.count_wavefronts();
    let mut explanation = operator.explain(Some(&found.ceilings), Some(seconds));
    let warning = counting.err().map(|error| uncounted(&error));
    explanation.warnings.extend(warning);
    let ceilings = Ceilings {
        rates: found.ceilings,
        origin: match found.origin {
            Origin::Loaded(path) => format!("kept in {}", path.display()),
            Origin::Measured(path) => format!("measured now and kept in {}", path.display()),
            Origin::NotKept(error) => format!("measured now and not kept: {error}"),
        },
    };
    Ok((explanation, ceilings))
}
