//! Choosing kernels: the first that the device can run and that agree with the oracle.

use super::block::{BoundBlock, Compiled};
use super::operator::AcceleratorBound;
use crate::Number;
use crate::operator::OperatorError;
use femto_kernel::family::{Candidate, Vectors};
use femto_platform::device::DeviceError;

/// Edits a kernel text, given its schedule in words, before it is compiled. Only the test that plants a
/// wrong kernel uses it.
pub(super) type Edit = fn(&str, String) -> String;

/// A kernel for each block, and warnings.
pub(super) type Kernels = (Vec<Compiled>, Vec<String>);

impl<T: Number> AcceleratorBound<T> {
    /// The kernels of the first schedules that the device can run and whose `error` is only rounding.
    ///
    /// Wrong kernels are dropped with a warning; kernels the device cannot compile, or launch where they are compared, are
    /// skipped silently.
    pub(super) fn choose(
        &self,
        vectors: Vectors,
        error: impl Fn(&Self, &[Compiled]) -> Result<f64, OperatorError>,
    ) -> Result<Kernels, OperatorError> {
        let candidates = self.candidates(vectors)?;
        let attempts = candidates.iter().map(Vec::len).max().unwrap_or(0);
        let (mut warnings, mut last) = (Vec::new(), None);
        for attempt in 0..attempts {
            // For each block, candidate number `attempt`, or the last one.
            let chosen = candidates
                .iter()
                .map(|all| &all[attempt.min(all.len() - 1)]);
            let chosen = self.blocks.iter().zip(chosen);
            let kernels: Result<Vec<_>, _> = chosen
                .map(|(block, candidate)| self.compile(block, candidate.clone()))
                .collect();
            let compared = kernels.map_err(OperatorError::from).and_then(|kernels| {
                let is_finite = self.expected.is_finite();
                let error = is_finite.then(|| error(self, &kernels)).transpose()?;
                Ok((kernels, error))
            });
            let (kernels, error) = match compared {
                Ok(compared) => compared,
                // The device rejects this kernel; it may accept a plainer one.
                Err(error @ OperatorError::Device(DeviceError::Kernel(_))) => {
                    last = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(error) = error else {
                if vectors.scatter().is_some() {
                    let words = "the form has no finite value at the states that kernels are compared \
                                 at, so this one was not";
                    warnings.push(words.to_owned());
                }
                return Ok((kernels, warnings));
            };
            if error <= self.expected.tolerance() {
                return Ok((kernels, warnings));
            }
            let schedules: Vec<&str> = kernels.iter().map(|it| &it.schedule[..]).collect();
            let wrong = OperatorError::WrongVariant {
                kernel: kernels
                    .first()
                    .map_or_else(String::new, |it| it.source.name.clone()),
                schedule: schedules.join("; "),
                error,
            };
            warnings.push(format!("{wrong}; it is not used"));
            last = Some(wrong);
        }
        match last {
            Some(error) => Err(error),
            // Without elements there is nothing to launch.
            None => Ok((Vec::new(), warnings)),
        }
    }

    /// For each block, the kernels the device can run.
    pub(super) fn candidates(
        &self,
        vectors: Vectors,
    ) -> Result<Vec<Vec<Candidate>>, OperatorError> {
        let blocks = self.blocks.iter();
        blocks
            .map(|block| Ok(block.kernels.candidates(vectors)?))
            .collect()
    }

    fn compile(
        &self,
        block: &BoundBlock<T>,
        mut candidate: Candidate,
    ) -> Result<Compiled, DeviceError> {
        let text = std::mem::take(&mut candidate.source.text);
        candidate.source.text = (self.edit)(&candidate.schedule, text);
        let compiled = Compiled::new(&self.device, &self.cache, candidate)?;
        if block.kernels.prefers_l1() {
            compiled.prefer_l1(T::PRECISION)?;
        }
        Ok(compiled)
    }
}
