//! Solutions corrected along functions that the operator holds weakly.

use super::candidates::Candidates;
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::vector::{VectorOps, upload_f64};
use femto_fem::space::{Block, Constraints};
use femto_platform::device::Buffer;

/// A constant or motion z that A holds weakly, as by a small Robin term.
pub(in crate::problem) struct WeakFunction {
    /// Of the functions of [`Candidates`].
    pub(super) combination: Vec<f64>,
    /// (z, A z), positive.
    pub(super) energy: f64,
    /// |z|.
    pub(super) size: f64,
}

/// How to correct a solution along weakly held functions.
pub(in crate::problem) struct Correction<'a, B> {
    pub(in crate::problem) device: &'a B,
    pub(in crate::problem) functions: &'a [WeakFunction],
    pub(in crate::problem) blocks: &'a [Block],
    pub(in crate::problem) constraints: &'a Constraints,
    /// Changes of the solution below this part of it do not count.
    pub(in crate::problem) tolerance: f64,
    /// The largest residual of a corrected solution; `None` if what is undecided is only to be told.
    pub(in crate::problem) limit: Option<f64>,
}

impl<B> Correction<'_, B> {
    /// Corrects the solution x of A x = b along the functions until its residual does no work on them, which makes the
    /// energy of its error least if A is positive definite; x stays as it was where rounding is most of the change, or the
    /// residual would exceed the limit. `residual` gives b - A x, `size` is that of the solution. Returns what is undecided
    /// along the functions in the end, relative to the solution.
    pub(in crate::problem) fn apply<T: Number>(
        &self,
        mut residual: impl FnMut(&B::Buffer<T>) -> Result<B::Buffer<T>, OperatorError>,
        (x, size): (&mut B::Buffer<T>, f64),
    ) -> Result<f64, OperatorError>
    where
        B: Backend + VectorOps<T>,
    {
        let r = residual(x)?;
        let r_size = self.device.norm(&r)?;
        let hides = |it: &WeakFunction| r_size * it.size * it.size / it.energy;
        let most = self.functions.iter().map(hides).fold(0.0, f64::max);
        let negligible = self.tolerance * size;
        if most.is_nan() || most <= negligible {
            return Ok(0.0);
        }
        let candidates = Candidates::new(self.blocks);
        let vector = |it: &WeakFunction| {
            upload_f64::<T, _>(
                self.device,
                &candidates.free_values(&it.combination, self.constraints),
            )
        };
        let parts = |r: &B::Buffer<T>| {
            let part = |it: &WeakFunction| Ok(self.device.dot(&vector(it)?, r)? / it.energy);
            let parts: Result<Vec<f64>, OperatorError> = self.functions.iter().map(part).collect();
            parts
        };
        let change = |parts: &[f64]| {
            let squares = self.functions.iter().zip(parts);
            squares
                .map(|(it, part)| (part * it.size).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let add = |factor: f64, parts: &[f64], x: &mut B::Buffer<T>| {
            let mut all = self.functions.iter().zip(parts);
            all.try_for_each(|(it, part)| {
                self.device.axpy(factor * part, &vector(it)?, x)?;
                Ok::<(), OperatorError>(())
            })
        };
        let first = parts(&r)?;
        drop(r);
        let Some(limit) = self.limit else {
            return Ok(change(&first) / size);
        };
        // Whatever fails from here on leaves x as it was.
        let mut before = self.device.zeros(x.len())?;
        VectorOps::copy(self.device, x, &mut before)?;
        let corrected = add(1.0, &first, x).and_then(|()| {
            let r = residual(x)?;
            let second = parts(&r)?;
            let (done, left) = (change(&first), change(&second));
            let is_better =
                (left <= negligible || left <= 0.5 * done) && self.device.norm(&r)? <= limit;
            // Which may take the residual beyond a limit.
            if is_better && left > negligible && limit.is_infinite() {
                add(1.0, &second, x)?;
            }
            Ok((is_better, if is_better { left } else { left.max(done) }))
        });
        if !matches!(corrected, Ok((true, _))) {
            VectorOps::copy(self.device, &before, x)?;
        }
        corrected.map(|(_, left)| left / size)
    }
}
