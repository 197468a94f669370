//! The evaluation context: time and parameters; the precision of stored factors.

use crate::form::MAX_FIELDS;
use crate::scalar::Precision;

/// Time and parameters: constant during one application.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvalContext<'a> {
    /// The time.
    pub time: f64,
    /// Run-time parameters, `[parameter]`.
    pub parameters: &'a [f64],
}

impl EvalContext<'_> {
    /// The maximum number of parameters, padded by zeros.
    pub(crate) fn all_parameters(&self) -> [f64; MAX_FIELDS] {
        let mut all = [0.0; MAX_FIELDS];
        for (own, &given) in all.iter_mut().zip(self.parameters) {
            *own = given;
        }
        all
    }
}

/// The precision of factors stored at points. Factors that are constant per element always have the
/// arithmetic's precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FactorPrecision {
    /// The precision of the arithmetic.
    #[default]
    Same,
    /// Single precision, whatever the arithmetic: half the bytes of double precision, but each factor
    /// changes by at most [`FactorPrecision::SINGLE_CHANGE`] of itself.
    Single,
}

impl FactorPrecision {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Same, Self::Single];

    /// Half a unit in the last place of single precision: 6e-8.
    pub const SINGLE_CHANGE: f64 = 1.0 / (1 << 24) as f64;

    /// The precision of factors at points, for arithmetic in `precision`.
    pub fn at_points(self, precision: Precision) -> Precision {
        match self {
            Self::Same => precision,
            Self::Single => Precision::Fp32,
        }
    }

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Single => "single",
        }
    }
}
