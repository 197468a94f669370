//! The evaluation context: time and parameters; the precision of stored factors.

use crate::form::MAX_FIELDS;
use crate::roofline::Precision;

/// Time and parameters: the same for all points of one application.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvalContext<'a> {
    /// The time.
    pub time: f64,
    /// Run-time parameters, `[parameter]`.
    pub parameters: &'a [f64],
}

impl EvalContext<'_> {
    /// As many parameters as a form may index, zeros where none is given.
    pub(crate) fn all_parameters(&self) -> [f64; MAX_FIELDS] {
        let mut all = [0.0; MAX_FIELDS];
        for (own, &given) in all.iter_mut().zip(self.parameters) {
            *own = given;
        }
        all
    }
}

/// The precision of stored factors at points. Those that are constant per element are numbers as all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FactorPrecision {
    /// As all numbers.
    #[default]
    Same,
    /// In single precision, whatever the arithmetic: half the bytes of double precision, and an operator
    /// in which each factor is changed by at most [`FactorPrecision::SINGLE_CHANGE`] of itself.
    Single,
}

impl FactorPrecision {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Same, Self::Single];

    /// Half a unit in the last place of single precision: 6e-8.
    pub const SINGLE_CHANGE: f64 = 1.0 / (1 << 24) as f64;

    /// The precision of factors at points, where arithmetic has this one.
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
