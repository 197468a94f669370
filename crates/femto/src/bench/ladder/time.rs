//! Device time of short work, without what the host does between two launches.

use crate::bench::{Sampling, Timing};
use femto_platform::device::accelerator::{Accelerator, Graph};
use femto_platform::device::{Device, DeviceError};

/// Runs in a captured graph.
const BATCH: usize = 10;

/// Several runs, as the device takes them fastest.
enum Batch<'a, F> {
    /// Captured once, replayed as a whole.
    Graph(&'a Accelerator, Graph),
    /// One after the other.
    Runs(F),
}

impl<F: FnMut() -> Result<(), DeviceError>> Batch<'_, F> {
    fn run(&mut self) -> Result<(), DeviceError> {
        match self {
            Self::Graph(device, graph) => device.replay(graph),
            Self::Runs(run) => (0..BATCH).try_for_each(|_| run()),
        }
    }
}

/// Seconds of one `run` on the device's clock. Runs are captured and replayed in batches where the
/// device can; `run` only launches, copies and fills.
pub(super) fn time(
    device: &Accelerator,
    sampling: &Sampling,
    mut run: impl FnMut() -> Result<(), DeviceError>,
) -> Result<Timing, DeviceError> {
    let mut batch = if device.features().graphs {
        let mut all = || (0..BATCH).try_for_each(|_| run());
        Batch::Graph(device, device.capture(&mut all)?)
    } else {
        Batch::Runs(run)
    };
    let (start, end) = (device.event()?, device.event()?);
    let mut seconds = |batches: usize| -> Result<f64, DeviceError> {
        device.record(&start)?;
        (0..batches).try_for_each(|_| batch.run())?;
        device.record(&end)?;
        device.synchronize()?;
        Ok(device.seconds_between(&start, &end)? / (batches * BATCH) as f64)
    };
    seconds(1)?;
    let once = seconds(1)?.max(f64::MIN_POSITIVE);
    // A float that is no such number saturates.
    let batches = ((sampling.seconds / (once * BATCH as f64)).ceil() as usize).max(1);
    let samples = (0..sampling.samples.max(1)).map(|_| seconds(batches));
    let samples = samples.collect::<Result<_, _>>()?;
    Ok(Timing::of(samples, batches * BATCH))
}
