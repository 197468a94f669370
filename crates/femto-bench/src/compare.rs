//! Comparison of outputs with expected values.

use crate::BenchError;
use femto::Number;

/// Fails at the first value that is not finite.
pub(crate) fn finite<T: Number>(what: impl ToString, values: &[T]) -> Result<(), BenchError> {
    match values.iter().position(|value| !value.to_f64().is_finite()) {
        None => Ok(()),
        Some(index) => Err(BenchError::NotFinite {
            what: what.to_string(),
            index,
            length: values.len(),
            value: values[index].to_f64(),
        }),
    }
}

/// The largest difference between found and expected values, relative to the largest expected one.
pub(crate) fn difference(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut difference, mut scale) = (0.0_f64, f64::MIN_POSITIVE);
    for (found, wanted) in pairs {
        difference = difference.max((found - wanted).abs());
        scale = scale.max(wanted.abs());
    }
    difference / scale
}
