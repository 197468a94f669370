//! How long something takes: samples of several runs each, and their median.

use crate::Number;
use crate::operator::{Backend, Operator, OperatorError};
use femto_platform::device::{Device, DeviceError};
use rayon::prelude::*;
use std::time::Instant;

/// Least number of runs in a sample.
const LEAST_REPEATS: usize = 3;
/// Random numbers that one task makes.
const RANDOM_PIECE: usize = 1 << 16;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Number of samples; at least one is taken. Default 21.
    pub samples: usize,
    /// Least length of a sample in seconds, reached by running several times. Default 0.02.
    pub seconds: f64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            samples: 21,
            seconds: 0.02,
        }
    }
}

/// Seconds of one run, over all samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The middle sample, or the mean of the two in the middle.
    pub median: f64,
    /// The fastest sample.
    pub min: f64,
    /// The slowest sample.
    pub max: f64,
    /// Number of samples.
    pub samples: usize,
    /// Runs per sample.
    pub repeats: usize,
}

impl Timing {
    /// Of samples of `repeats` runs each, in seconds per run; zeros where there is none.
    pub(super) fn of(mut samples: Vec<f64>, repeats: usize) -> Self {
        samples.sort_by(f64::total_cmp);
        let middle = |upper: bool| {
            let last = samples.len().saturating_sub(1);
            let index = if upper { last.div_ceil(2) } else { last / 2 };
            samples.get(index).copied().unwrap_or_default()
        };
        Self {
            median: 0.5 * (middle(false) + middle(true)),
            min: samples.first().copied().unwrap_or_default(),
            max: samples.last().copied().unwrap_or_default(),
            samples: samples.len(),
            repeats,
        }
    }

    /// Width of the samples' range relative to the median.
    pub fn spread(&self) -> f64 {
        (self.max - self.min) / self.median
    }
}

/// Seconds of one [`Operator::apply`] on L-vectors that change with every entry.
///
/// # Errors
/// No memory for two L-vectors, or what `apply` says.
pub fn time_apply<T: Number, D: Backend>(
    operator: &Operator<T, D>,
    sampling: &Sampling,
) -> Result<Timing, OperatorError> {
    let device = operator.device();
    let u = device.upload(&random::<T>(operator.dofs()))?;
    let mut v = device.zeros::<T>(operator.dofs())?;
    operator.apply(&u, &mut v)?;
    time(device, sampling, || operator.apply(&u, &mut v))
}

/// Seconds of one `run`: after one run that does not count, one that says how many make a sample.
pub(super) fn time<D: Device, E: From<DeviceError> + Send>(
    device: &D,
    sampling: &Sampling,
    mut run: impl FnMut() -> Result<(), E> + Send,
) -> Result<Timing, E> {
    let mut seconds = |repeats: usize| -> Result<f64, E> {
        device.synchronize()?;
        let start = Instant::now();
        for _ in 0..repeats {
            run()?;
        }
        device.synchronize()?;
        Ok(start.elapsed().as_secs_f64() / repeats as f64)
    };
    device.enter(|| {
        seconds(1)?;
        let once = seconds(1)?.max(f64::MIN_POSITIVE);
        // A float that is no such number saturates: a run takes at least nanoseconds.
        let repeats = ((sampling.seconds / once).ceil() as usize).max(LEAST_REPEATS);
        let samples = (0..sampling.samples.max(1)).map(|_| seconds(repeats));
        Ok(Timing::of(samples.collect::<Result<_, E>>()?, repeats))
    })
}

/// Seconds since `start`.
pub(super) fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

/// Numbers in [-1, 1), the same every time: xorshift64 (Marsaglia 2003) in pieces, each from its own
/// start (splitmix64, Steele et al. 2014).
pub(super) fn random<T: Number>(len: usize) -> Vec<T> {
    let mut numbers = vec![T::default(); len];
    let pieces = numbers.par_chunks_mut(RANDOM_PIECE).enumerate();
    pieces.for_each(|(index, piece)| {
        let mut state = start_of(index as u64);
        for number in piece {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *number = T::from_f64((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
        }
    });
    numbers
}

fn start_of(index: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // Only zero stays zero.
    (z ^ (z >> 31)) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_platform::device::host::Host;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn the_median_is_in_the_middle() {
        let timing = Timing::of(vec![5.0, 1.0, 2.0], 7);
        assert_eq!((timing.median, timing.min, timing.max), (2.0, 1.0, 5.0));
        assert_eq!((timing.samples, timing.repeats), (3, 7));
        assert_eq!(timing.spread(), 2.0);
        assert_eq!(Timing::of(vec![4.0, 1.0, 2.0, 3.0], 1).median, 2.5);
        assert_eq!(Timing::of(vec![3.0], 1).median, 3.0);
    }

    #[test]
    fn samples_are_as_long_as_asked_and_seconds_are_per_run() {
        let host = Host::with_threads(1).unwrap();
        let (sampling, mut runs) = (
            Sampling {
                samples: 2,
                seconds: 0.01,
            },
            0,
        );
        let timing = time(&host, &sampling, || {
            runs += 1;
            sleep(Duration::from_millis(1));
            Ok::<_, DeviceError>(())
        });
        let timing = timing.unwrap();
        assert!(timing.min >= 0.001, "{timing:?}");
        assert!((3..=10).contains(&timing.repeats), "{timing:?}");
        assert_eq!(runs, 2 + 2 * timing.repeats);
    }

    #[test]
    fn random_numbers_fill_the_interval() {
        let numbers = random::<f32>(100_000);
        let mean = numbers.iter().map(|&x| f64::from(x)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!(numbers.iter().all(|x| (-1.0..=1.0).contains(x)));
        assert!(numbers.iter().any(|x| *x < -0.99) && numbers.iter().any(|x| *x > 0.99));
    }
}
