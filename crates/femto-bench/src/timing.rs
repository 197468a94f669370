//! Timing: samples of several runs each, and their median.

use crate::roofline::on_timed;
use femto::operator::{AnyOperator, Application, OperatorError};
use femto::{AnyDevice, Number};
use femto_fem::parallel;
use femto_kernel::vector::random::entry;
use femto_platform::device::accelerator::{Accelerator, Event};
use femto_platform::device::{Device, DeviceError};
use std::time::Instant;

/// Minimum number of runs in a sample.
const LEAST_REPEATS: usize = 3;
/// Maximum number of runs captured together.
const MOST_CAPTURED: usize = 20;

/// Number and length of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Number of samples; at least one is taken. Default 21.
    pub samples: usize,
    /// Minimum length of a sample in seconds, reached by repeated runs. Default 0.02.
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

impl Sampling {
    /// Number of runs that fill a sample, of `seconds` seconds each.
    fn repeats(&self, seconds: f64) -> usize {
        // Out-of-range floats saturate: a run takes at least nanoseconds.
        ((self.seconds / seconds.max(f64::MIN_POSITIVE)).ceil() as usize).max(1)
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
    /// From samples of `repeats` runs each, in seconds per run; zeros without samples.
    pub(crate) fn of(mut samples: Vec<f64>, repeats: usize) -> Self {
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

    /// The time of one run, from samples of `runs` runs together.
    fn of_runs(self, runs: usize) -> Self {
        let one = |seconds: f64| seconds / runs as f64;
        Self {
            median: one(self.median),
            min: one(self.min),
            max: one(self.max),
            repeats: self.repeats * runs,
            ..self
        }
    }

    /// Width of the samples' range relative to the median.
    pub fn spread(&self) -> f64 {
        (self.max - self.min) / self.median
    }
}

/// Seconds of one [`AnyOperator::application`] to L-vectors that change with every entry.
///
/// # Errors
/// Not enough memory for two L-vectors, or the error of `apply`.
pub fn time_apply(
    operator: &dyn AnyOperator,
    sampling: &Sampling,
) -> Result<Timing, OperatorError> {
    let run = operator.application(&random::<f64>(operator.dofs()))?;
    time_application(&operator.device(), run, sampling)
}

/// Seconds of what is applied on a device, on the host's clock.
///
/// # Errors
/// That of the application.
pub fn time_application(
    device: &AnyDevice,
    run: Application<'_>,
    sampling: &Sampling,
) -> Result<Timing, OperatorError> {
    on_timed!(device, |device| time(device, sampling, run))
}

/// Seconds of one `run` on the host's clock.
pub(crate) fn time<D: Device, E: From<DeviceError> + Send>(
    device: &D,
    sampling: &Sampling,
    mut run: impl FnMut() -> Result<(), E> + Send,
) -> Result<Timing, E> {
    device.enter(|| {
        sample(sampling, LEAST_REPEATS, |repeats| {
            device.synchronize()?;
            let start = Instant::now();
            (0..repeats).try_for_each(|_| run())?;
            device.synchronize()?;
            Ok(since(start))
        })
    })
}

/// Seconds of one `run` on the device's clock. Short runs are captured and launched together if the device
/// can, so that no host work between launches is included; `run` may only launch, copy and fill.
pub(crate) fn time_on_device(
    device: &Accelerator,
    sampling: &Sampling,
    mut run: impl FnMut() -> Result<(), DeviceError>,
) -> Result<Timing, DeviceError> {
    let clock = DeviceClock::new(device);
    run()?;
    let once = clock.seconds(&mut run)?;
    let together = sampling.repeats(once).min(MOST_CAPTURED);
    if together == 1 || !device.features().graphs {
        return time_in_stream(device, sampling, run);
    }
    let graph = device.capture(&mut || (0..together).try_for_each(|_| run()))?;
    let batches = time_in_stream(device, sampling, || device.launch_graph(&graph))?;
    Ok(batches.of_runs(together))
}

/// Seconds of one `run` on the device's clock, launched again each time.
pub(crate) fn time_in_stream(
    device: &Accelerator,
    sampling: &Sampling,
    mut run: impl FnMut() -> Result<(), DeviceError>,
) -> Result<Timing, DeviceError> {
    let clock = DeviceClock::new(device);
    sample(sampling, 1, |repeats| {
        clock.seconds(&mut || (0..repeats).try_for_each(|_| run()))
    })
}

/// After an untimed run, one run determines how many make a sample. `seconds` are those of a given number
/// of runs.
fn sample<E>(
    sampling: &Sampling,
    least: usize,
    mut seconds: impl FnMut(usize) -> Result<f64, E>,
) -> Result<Timing, E> {
    seconds(1)?;
    let repeats = sampling.repeats(seconds(1)?).max(least);
    let samples = (0..sampling.samples.max(1)).map(|_| Ok(seconds(repeats)? / repeats as f64));
    Ok(Timing::of(samples.collect::<Result<_, E>>()?, repeats))
}

/// The device's clock, read before and after some work.
pub(crate) struct DeviceClock<'a> {
    device: &'a Accelerator,
    start: Event,
    end: Event,
}

impl<'a> DeviceClock<'a> {
    pub(crate) fn new(device: &'a Accelerator) -> Self {
        Self {
            device,
            start: Event::default(),
            end: Event::default(),
        }
    }

    /// Seconds of the device's time for `work`.
    pub(crate) fn seconds(
        &self,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        self.device.record(&self.start)?;
        work()?;
        self.device.record(&self.end)?;
        self.device.synchronize()?;
        self.device.seconds_between(&self.start, &self.end)
    }
}

/// Seconds since `start`.
pub(crate) fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

/// Random numbers in [-1, 1), the same every time.
pub(crate) fn random<T: Number>(len: usize) -> Vec<T> {
    let number = |index: usize| T::from_f64(entry(0, index as u32));
    parallel::map(len, number)
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
