//! Capturing work in a launch graph.

use femto_platform::device::accelerator::{Accelerator, LaunchGraph};
use femto_platform::device::host::Host;
use femto_platform::device::null::Null;
use femto_platform::device::{Device, DeviceError};
use std::convert::Infallible;

/// A device that may be able to capture work and replay it at lower cost.
pub trait Capture: Device {
    /// Captured work.
    type LaunchGraph: Send;

    /// Captures the work that `body` issues, without executing it. No other thread may use the device
    /// meanwhile.
    ///
    /// `None` if the device cannot capture, or if `body` fails, which it does on reads, writes and
    /// allocations. Nothing has been executed then, and the caller runs the work itself.
    fn capture(
        &self,
        body: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Option<Self::LaunchGraph> {
        let _ = body;
        None
    }

    /// Executes the captured work.
    ///
    /// # Errors
    /// The device's error.
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

/// Direct calls cost no more than launching a graph would.
impl Capture for Host {
    type LaunchGraph = Infallible;

    fn launch_graph(&self, graph: &Infallible) -> Result<(), DeviceError> {
        match *graph {}
    }
}

/// Every launch must be counted.
impl Capture for Null {
    type LaunchGraph = Infallible;

    fn launch_graph(&self, graph: &Infallible) -> Result<(), DeviceError> {
        match *graph {}
    }
}
