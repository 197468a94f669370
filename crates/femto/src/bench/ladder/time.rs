//! Device time of short work, without what the host does between two launches.

use crate::bench::{Sampling, Timing};
use femto_platform::device::accelerator::{Accelerator, Event, Graph};
use femto_platform::device::{Device, DeviceError};

/// Runs that are captured together, at most.
const MOST_CAPTURED: usize = 20;

/// Seconds of one `run` on the device's clock. Short runs are captured and replayed together where the
/// device can; `run` only launches, copies and fills.
pub(in crate::bench) fn time(
    device: &Accelerator,
    sampling: &Sampling,
    mut run: impl FnMut() -> Result<(), DeviceError>,
) -> Result<Timing, DeviceError> {
    let clock = Clock::new(device)?;
    // The first run does not count; the second says how many make a sample.
    run()?;
    let runs_of = |seconds: f64| {
        // A float that is no such number saturates.
        ((sampling.seconds / seconds.max(f64::MIN_POSITIVE)).ceil() as usize).max(1)
    };
    let together = runs_of(clock.seconds(&mut run)?).min(MOST_CAPTURED);
    let captured: Option<Graph> = match together {
        1 => None,
        _ if !device.features().graphs => None,
        _ => Some(device.capture(&mut || (0..together).try_for_each(|_| run()))?),
    };
    let mut batch = || match &captured {
        Some(graph) => device.replay(graph),
        None => (0..together).try_for_each(|_| run()),
    };
    batch()?;
    let once = clock.seconds(&mut batch)? / together as f64;
    let batches = runs_of(once).div_ceil(together);
    let repeats = batches * together;
    let mut sample = || (0..batches).try_for_each(|_| batch());
    let samples = (0..sampling.samples.max(1))
        .map(|_| Ok(clock.seconds(&mut sample)? / repeats as f64))
        .collect::<Result<_, DeviceError>>()?;
    Ok(Timing::of(samples, repeats))
}

/// The device's clock, read before and after some work.
struct Clock<'a> {
    device: &'a Accelerator,
    start: Event,
    end: Event,
}

impl<'a> Clock<'a> {
    fn new(device: &'a Accelerator) -> Result<Self, DeviceError> {
        let (start, end) = (device.event()?, device.event()?);
        Ok(Self { device, start, end })
    }

    /// Seconds of the device's time for `work`.
    fn seconds(
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
