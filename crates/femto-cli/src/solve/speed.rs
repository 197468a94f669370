//! The speed of the operator compared with the device's ceilings.

use crate::failure::Failure;
use femto::kernel::roofline::Ceilings as Rates;
use femto::operator::{AnyOperator, Explanation};
use femto_bench::roofline::{self, Origin};
use femto_bench::{Sampling, time_apply, uncounted};
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
