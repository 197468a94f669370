//! Work that is noted once and done many times.

use femto_platform::device::accelerator::{Accelerator, Graph};
use femto_platform::device::host::Host;
use femto_platform::device::null::Null;
use femto_platform::device::{Device, DeviceError};
use std::convert::Infallible;

/// A device that may be able to note work and to do it again at less cost.
pub trait Replay: Device {
    /// Work that was noted.
    type Recording: Send;

    /// Notes what `body` asks of the device, without doing it. No other thread may use the device
    /// meanwhile.
    ///
    /// `None` where the device cannot, or `body` fails, which it does where it reads, writes or
    /// allocates; nothing has been done then, and the caller is to do the work itself.
    fn record(&self, body: &mut dyn FnMut() -> Result<(), DeviceError>) -> Option<Self::Recording>;

    /// Does what was noted.
    ///
    /// # Errors
    /// What the device says.
    fn replay(&self, recording: &Self::Recording) -> Result<(), DeviceError>;
}

impl Replay for Accelerator {
    type Recording = Graph;

    fn record(&self, body: &mut dyn FnMut() -> Result<(), DeviceError>) -> Option<Graph> {
        if !self.features().graphs {
            return None;
        }
        self.capture(body).ok()
    }

    fn replay(&self, recording: &Graph) -> Result<(), DeviceError> {
        Accelerator::replay(self, recording)
    }
}

/// Nothing to gain: a call costs no more than what would replay it.
impl Replay for Host {
    type Recording = Infallible;

    fn record(&self, _: &mut dyn FnMut() -> Result<(), DeviceError>) -> Option<Infallible> {
        None
    }

    fn replay(&self, recording: &Infallible) -> Result<(), DeviceError> {
        match *recording {}
    }
}

/// Notes everything anyhow.
impl Replay for Null {
    type Recording = Infallible;

    fn record(&self, _: &mut dyn FnMut() -> Result<(), DeviceError>) -> Option<Infallible> {
        None
    }

    fn replay(&self, recording: &Infallible) -> Result<(), DeviceError> {
        match *recording {}
    }
}
