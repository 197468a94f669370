//! Capturing work in a launch graph.

use femto_platform::device::accelerator::{Accelerator, LaunchGraph};
use femto_platform::device::host::Host;
use femto_platform::device::null::Null;
use femto_platform::device::{Device, DeviceError};
use std::convert::Infallible;

/// A device that may be able to capture work and to launch it again at less cost.
pub trait Capture: Device {
    /// Captured work.
    type LaunchGraph: Send;

    /// Captures what `body` asks of the device, without doing it. No other thread may use the device
    /// meanwhile.
    ///
    /// `None` if the device cannot, or if `body` fails, which it does when it reads, writes or
    /// allocates. Nothing has been done then, and the caller does the work itself.
    fn capture(
        &self,
        body: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Option<Self::LaunchGraph> {
        let _ = body;
        None
    }

    /// Does what was captured.
    ///
    /// # Errors
    /// What the device says.
    fn launch_graph(&self, graph: &Self::LaunchGraph) -> Result<(), DeviceError>;
}

impl Capture for Accelerator {
    type LaunchGraph = LaunchGraph;

    fn capture(&self, body: &mut dyn FnMut() -> Result<(), DeviceError>) -> Option<LaunchGraph> {
        if !self.features().graphs {
            return None;
        }
        Accelerator::capture(self, body).ok()
    }

    fn launch_graph(&self, graph: &LaunchGraph) -> Result<(), DeviceError> {
        Accelerator::launch_graph(self, graph)
    }
}

/// Nothing to gain: a call costs no more than launching a graph would.
impl Capture for Host {
    type LaunchGraph = Infallible;

    fn launch_graph(&self, graph: &Infallible) -> Result<(), DeviceError> {
        match *graph {}
    }
}

/// Counts every launch anyway.
impl Capture for Null {
    type LaunchGraph = Infallible;

    fn launch_graph(&self, graph: &Infallible) -> Result<(), DeviceError> {
        match *graph {}
    }
}
