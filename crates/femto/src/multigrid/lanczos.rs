//! The largest eigenvalue of M⁻¹A by the Lanczos process.
//!
//! Steps of conjugate gradients with the preconditioner M give its tridiagonal matrix: the diagonal has
//! 1/α_k + β_{k-1}/α_{k-1}, the other entries are √β_k/α_k (Saad, Iterative Methods for Sparse Linear
//! Systems, 2nd edition, section 6.7.3).

use super::MultigridError;
use crate::Number;
use crate::solve::LinearOperator;
use crate::vector::VectorOps;
use femto_platform::device::DeviceError;

/// Number of steps for an estimate a few per cent below the eigenvalue.
const STEPS: usize = 12;

/// The seed of the first vector.
const SEED: u32 = 0x6d67;

/// Estimates the largest eigenvalue of M⁻¹A from below in [`STEPS`] steps, given z = M⁻¹ r: A applied to a random
/// vector is the first direction.
pub(super) fn largest_eigenvalue<T: Number, D: VectorOps<T>>(
    device: &D,
    operator: &dyn LinearOperator<T, D>,
    mut inverse: impl FnMut(&D::Buffer<T>, &mut D::Buffer<T>) -> Result<(), DeviceError>,
) -> Result<f64, MultigridError> {
    let size = operator.size();
    let [mut p, mut r, mut z, mut ap] = [
        device.zeros(size)?,
        device.zeros(size)?,
        device.zeros(size)?,
        device.zeros(size)?,
    ];
    device.randomise(SEED, &mut p)?;
    operator.apply(&p, &mut r)?;
    let mut precondition = |r: &D::Buffer<T>, z: &mut D::Buffer<T>| {
        inverse(r, z)?;
        device.dot(r, z)
    };
    let mut product = precondition(&r, &mut z)?;
    if product == 0.0 {
        // Nothing is free.
        return Ok(1.0);
    }
    VectorOps::copy(device, &z, &mut p)?;
    let first = product;
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut from_before = 0.0;
    while diagonal.len() < STEPS {
        operator.apply(&p, &mut ap)?;
        let curvature = device.dot(&p, &ap)?;
        if !(curvature > 0.0 && curvature.is_finite() && product > 0.0) {
            return Err(MultigridError::NotPositiveDefinite { curvature });
        }
        let alpha = product / curvature;
        diagonal.push(1.0 / alpha + from_before);
        device.axpy(-alpha, &ap, &mut r)?;
        let before = std::mem::replace(&mut product, precondition(&r, &mut z)?);
        // The vectors span all that A makes of the first one.
        if product <= first * (T::EPSILON * T::EPSILON).max(1e-20) {
            break;
        }
        let beta = product / before;
        beside.push(beta.sqrt() / alpha);
        from_before = beta / alpha;
        device.xpby(&z, beta, &mut p)?;
    }
    Ok(largest_of_tridiagonal(&diagonal, &beside))
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection of the number of eigenvalues above
/// (Golub and Van Loan, Matrix Computations, section 8.4).
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let square = |i: usize| match i.checked_sub(1) {
        Some(before) => beside[before] * beside[before],
        None => 0.0,
    };
    // Whether all pivots of the matrix minus `shift` are negative.
    let is_above_all = |shift: f64| {
        let mut pivot = -1.0;
        (0..diagonal.len()).all(|i| {
            pivot = diagonal[i] - shift - square(i) / pivot;
            pivot < 0.0
        })
    };
    let radius = |i: usize| square(i).sqrt() + beside.get(i).copied().unwrap_or(0.0);
    let discs = (0..diagonal.len()).map(|i| diagonal[i] + radius(i));
    let (mut low, mut high) = (0.0, discs.fold(0.0, f64::max));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match is_above_all(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The eigenvalues of the 1-D difference matrix are 2 - 2 cos(k π/(n + 1)).
    #[test]
    fn the_largest_eigenvalue_of_a_tridiagonal_matrix() {
        for n in [1, 2, 3, 12] {
            let found = largest_of_tridiagonal(&vec![2.0; n], &vec![1.0; n - 1]);
            let n = n as f64;
            let wanted = 2.0 - 2.0 * (n * std::f64::consts::PI / (n + 1.0)).cos();
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
    }
}
