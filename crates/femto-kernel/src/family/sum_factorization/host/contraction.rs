//! Products of pencils with 1-D matrices split by even-odd decomposition.

use crate::scalar::Lanes;

/// `M x` for a pencil of `NI` values; `ODD` for a centro-antisymmetric matrix.
#[inline(always)]
pub(crate) fn contract<L: Lanes, const NI: usize, const NO: usize, const ODD: bool>(
    token: L::Token,
    (even, odd): (&[L::Real], &[L::Real]),
    x: [L; NI],
) -> [L; NO] {
    let (half, sums) = (NI / 2, NI.div_ceil(2));
    let zero = L::splat(token, L::Real::default());
    // Sums first, then differences: e[m], then o[m] at the mirrored position.
    let mut folded = x;
    for m in 0..half {
        folded[m] = x[m] + x[NI - 1 - m];
        folded[NI - 1 - m] = x[m] - x[NI - 1 - m];
    }
    let mut y = [zero; NO];
    for j in 0..NO.div_ceil(2) {
        let middle = 2 * j + 1 == NO;
        let (mut a, mut b) = (zero, zero);
        // The middle row of a symmetric matrix has no odd part, that of an antisymmetric one no even part.
        if !(middle && ODD) {
            for m in 0..sums {
                a = folded[m].mul_add(L::splat(token, even[j * sums + m]), a);
            }
        }
        if !middle || ODD {
            for m in 0..half {
                b = folded[NI - 1 - m].mul_add(L::splat(token, odd[j * half + m]), b);
            }
        }
        y[j] = a + b;
        if !middle {
            y[NO - 1 - j] = if ODD { b - a } else { a - b };
        }
    }
    y
}
