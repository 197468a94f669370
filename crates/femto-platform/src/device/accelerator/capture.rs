//! Launch graphs: work captured once and launched many times.

use super::Accelerator;
use super::driver::{Resource, ResourceKind};
use crate::device::DeviceError;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A capture under way: whose it is, and what its work uses and so must outlive it.
#[derive(Debug)]
pub(super) struct Capture {
    thread: ThreadId,
    kept: Vec<Arc<Resource>>,
}

/// Leaves the capture, also if the work panics.
struct Leave<'a>(&'a Accelerator);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if self.0.captured().take().is_some() {
            // The panic is what there is to say.
            _ = self.0.driver.end_capture();
        }
    }
}

/// Captured work. Keeps the buffers and kernels that it uses.
#[derive(Debug)]
pub struct LaunchGraph {
    graph: Resource,
    _kept: Vec<Arc<Resource>>,
}

impl Accelerator {
    /// Captures the launches, copies and fills that `body` asks for, without doing them.
    ///
    /// While it runs, nothing may be allocated, written, read or waited for, and other threads are
    /// refused what they ask of the device.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where [`Features::graphs`](super::Features::graphs) is false
    /// or a capture is under way; what `body` returns; what the driver says.
    pub fn capture(
        &self,
        body: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<LaunchGraph, DeviceError> {
        if !self.features().graphs {
            let device = self.name();
            let what = "capture work";
            return Err(DeviceError::Unsupported { device, what });
        }
        self.begin()?;
        let leave = Leave(self);
        let outcome = body();
        let kept = self.captured().take().map(|capture| capture.kept);
        // Also after a failure: the queue must leave the capture.
        let graph = self.driver.end_capture();
        drop(leave);
        let graph = graph.map(|graph| Resource::new(&self.driver, ResourceKind::Graph, graph));
        outcome?;
        Ok(LaunchGraph {
            graph: graph?,
            _kept: kept.unwrap_or_default(),
        })
    }

    /// Does what was captured, in one launch.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`], or what the driver says.
    pub fn launch_graph(&self, graph: &LaunchGraph) -> Result<(), DeviceError> {
        graph.graph.check(&self.driver, "a graph")?;
        // SAFETY: the graph belongs to this driver and is alive, with everything that it uses.
        unsafe { self.driver.launch_graph(graph.graph.handle()) }
    }

    /// Begins a capture, for this thread alone.
    fn begin(&self) -> Result<(), DeviceError> {
        let mut captured = self.captured();
        if captured.is_some() {
            let (device, what) = (self.name(), "capture work inside of a capture");
            return Err(DeviceError::Unsupported { device, what });
        }
        self.driver.begin_capture()?;
        *captured = Some(Capture {
            thread: thread::current().id(),
            kept: Vec::new(),
        });
        Ok(())
    }

    /// Has a capture, if one is under way, keep what it uses.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where it is another thread's.
    pub(super) fn keep<'a>(
        &self,
        used: impl IntoIterator<Item = &'a Arc<Resource>>,
    ) -> Result<(), DeviceError> {
        match &mut *self.captured() {
            None => Ok(()),
            Some(capture) if capture.thread == thread::current().id() => {
                capture.kept.extend(used.into_iter().map(Arc::clone));
                Ok(())
            }
            Some(_) => {
                let device = self.name();
                let what = "work for a thread while another's work is captured";
                Err(DeviceError::Unsupported { device, what })
            }
        }
    }

    pub(super) fn refuse_while_capturing(&self, what: &'static str) -> Result<(), DeviceError> {
        match &*self.captured() {
            None => Ok(()),
            Some(_) => {
                let device = self.name();
                Err(DeviceError::Unsupported { device, what })
            }
        }
    }

    /// It is valid after every statement, so a panic elsewhere does not spoil it.
    fn captured(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
