//! Whether element matrices fit.

use super::{OperatorError, Plan};
use femto_kernel::scalar::Precision;

/// Fails if element matrices, the vectors that assemble them and L-vectors of input and output do not fit `memory`
/// bytes.
pub(super) fn check_memory(
    plans: &[Plan],
    memory: Option<u64>,
    precision: Precision,
) -> Result<(), OperatorError> {
    let elements = plans.iter().map(|plan| plan.elements).sum();
    let matrices = plans.iter().map(|plan| plan.matrices_bytes(precision));
    let matrices: u64 = matrices.sum();
    let vectors = plans.iter().map(|plan| {
        let numbers = plan.elements as u64 * plan.element_dofs() + plan.dofs as u64;
        2 * numbers * precision.bytes() as u64
    });
    match (matrices, memory) {
        (0, _) | (_, None) => Ok(()),
        (_, Some(available)) => matrices_fit(elements, matrices + vectors.sum::<u64>(), available),
    }
}

/// Fails if matrices of elements that take `bytes` do not fit, with the number that would.
fn matrices_fit(elements: usize, bytes: u64, available: u64) -> Result<(), OperatorError> {
    if bytes <= available {
        return Ok(());
    }
    let most = u128::from(available) * elements as u128 / u128::from(bytes);
    Err(OperatorError::MatricesTooLarge {
        elements,
        bytes,
        available,
        most: most as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_that_do_not_fit_are_refused_with_the_number_that_would() {
        assert_eq!(matrices_fit(1000, 8_000, 8_000), Ok(()));
        let refused = matrices_fit(1000, 8_000, 4_004).unwrap_err();
        assert!(refused.is_of_input());
        let words = refused.to_string();
        assert!(
            words.contains("1000 matrices") && words.ends_with("500 elements would"),
            "{words}"
        );
    }
}
