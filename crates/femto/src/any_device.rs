//! Devices whose kind is chosen at run time.

use crate::{Host, on_device};
use femto_platform::device::null::Null;
use femto_platform::device::{Accelerator, Device, DeviceError, DeviceId, DeviceInfo, DeviceKind};

/// A device of any kind. [`Discretized::assemble_on`](crate::problem::Discretized::assemble_on) and
/// [`AnyDevice::operator`] return values that do not carry its type.
#[derive(Clone, Debug)]
pub enum AnyDevice {
    /// The processor.
    Host(Host),
    /// A device that compiles kernels.
    Accelerator(Accelerator),
    /// The device that only counts.
    Null(Null),
}

impl AnyDevice {
    /// Opens a device. `threads` is for the host; `None` uses every core.
    ///
    /// # Errors
    /// A device that is missing or unusable.
    pub fn open(id: DeviceId, threads: Option<usize>) -> Result<Self, DeviceError> {
        Ok(match (id.kind, threads) {
            (DeviceKind::Host, Some(threads)) => Host::with_threads(threads)?.into(),
            (DeviceKind::Host, None) => Host::new()?.into(),
            (DeviceKind::Null, _) => Null::new().into(),
            (DeviceKind::Cuda | DeviceKind::OpenCl, _) => Accelerator::open(id)?.into(),
        })
    }

    /// A description of the device.
    pub fn info(&self) -> DeviceInfo {
        on_device!(self, |device| device.info())
    }
}

/// Evaluates an expression with the device inside an [`AnyDevice`], whatever its type.
#[macro_export]
macro_rules! on_device {
    ($any:expr, |$device:ident| $body:expr) => {
        match $any {
            $crate::AnyDevice::Host($device) => $body,
            $crate::AnyDevice::Accelerator($device) => $body,
            $crate::AnyDevice::Null($device) => $body,
        }
    };
}

impl From<Host> for AnyDevice {
    fn from(device: Host) -> Self {
        Self::Host(device)
    }
}

impl From<Accelerator> for AnyDevice {
    fn from(device: Accelerator) -> Self {
        Self::Accelerator(device)
    }
}

impl From<Null> for AnyDevice {
    fn from(device: Null) -> Self {
        Self::Null(device)
    }
}
