//! Timed copies of given sizes.

use super::accelerator::Probes;
use crate::timing::{Sampling, time_in_stream, time_on_device};
use femto_kernel::roofline::probe_text::REALS_PER_BLOCK;
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{Accelerator, Argument};
use femto_platform::device::{Device, DeviceError};
use std::collections::BTreeMap;

/// Timed copies on a device, by the bytes that they read and write in total.
#[derive(Debug)]
pub(crate) struct Copies<'a> {
    device: &'a Accelerator,
    probes: Option<Probes>,
    seconds: BTreeMap<u64, f64>,
}

impl<'a> Copies<'a> {
    pub(crate) fn new(device: &'a Accelerator) -> Self {
        Self {
            device,
            probes: None,
            seconds: BTreeMap::new(),
        }
    }

    /// Seconds of a copy that reads and writes this many bytes in total (Świrydowicz et al. 2019, eq. 12), rounded up to
    /// a block's share: the better of a kernel and the driver's own copy. That one is not captured: in a captured graph
    /// it has two thirds of its rate on an H200.
    ///
    /// # Errors
    /// Not enough memory for source and target, or another device error.
    pub(crate) fn seconds(&mut self, bytes: u64, sampling: &Sampling) -> Result<f64, DeviceError> {
        if let Some(&seconds) = self.seconds.get(&bytes) {
            return Ok(seconds);
        }
        let device = self.device;
        let precision = Precision::Fp64;
        let share = 2 * precision.bytes() as u64 * u64::from(REALS_PER_BLOCK);
        let blocks = bytes.div_ceil(share).max(1) as u32;
        let len = blocks as usize * REALS_PER_BLOCK as usize;
        let (from, mut to) = (device.zeros::<f64>(len)?, device.zeros::<f64>(len)?);
        let probes = match &self.probes {
            Some(probes) => probes,
            None => self.probes.insert(Probes::new(device, precision)?),
        };
        let (kernel, launch) = probes.kernel("probe_copy", blocks)?;
        let own = time_on_device(device, sampling, || {
            let arguments = [Argument::input(&from), Argument::output(&mut to)];
            device.launch(&kernel, &launch, &arguments)
        })?;
        let drivers = time_in_stream(device, sampling, || device.copy(&from, &mut to))?;
        let seconds = own.median.min(drivers.median);
        self.seconds.insert(bytes, seconds);
        Ok(seconds)
    }
}
