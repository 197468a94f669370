//! Launch graphs: work captured once and launched many times.

use super::Accelerator;
use super::driver::{Resource, ResourceKind};
use crate::device::DeviceError;
use std::mem;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A capture in progress: its thread, and the objects that its work uses and must therefore keep alive.
#[derive(Debug)]
pub(super) struct Capture {
    thread: ThreadId,
    kept: Vec<Arc<Resource>>,
}

/// Leaves the capture if the work panics.
struct Leave<'a>(&'a Accelerator);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut captured = self.0.captured();
        if captured.take().is_some() {
            // The panic itself is the error to report.
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
    /// Captures the launches, copies and fills issued by `body`, without executing them.
    ///
    /// Meanwhile allocations, writes, reads and waits fail, and so do requests of other threads.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if [`Features::graphs`](super::Features::graphs) is false or another
    /// capture is in progress; the error of `body`; or a driver error.
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
        // The capture ends below. Once unlocked, there may be another thread's, which `Leave` would end.
        mem::forget(leave);
        let mut captured = self.captured();
        let kept = captured.take().map(|capture| capture.kept);
        // Also after a failure: the queue must leave the capture.
        let graph = self.driver.end_capture();
        drop(captured);
        let graph = graph.map(|graph| Resource::new(&self.driver, ResourceKind::Graph, graph));
        outcome?;
        Ok(LaunchGraph {
            graph: graph?,
            _kept: kept.unwrap_or_default(),
        })
    }

    /// Executes the captured work, in one launch.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`], or a driver error.
    pub fn launch_graph(&self, graph: &LaunchGraph) -> Result<(), DeviceError> {
        graph.graph.check(&self.driver, "a graph")?;
        let _issuing = self.keep([])?;
        // SAFETY: the graph belongs to this driver and is alive, with everything that it uses.
        unsafe { self.driver.launch_graph(graph.graph.handle()) }
    }

    /// Begins a capture, for this thread only.
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

    /// Makes the capture in progress, if any, keep the objects it uses. No capture begins or ends before the guard is
    /// dropped, after the work was issued.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if it belongs to another thread.
    pub(super) fn keep<'a>(
        &self,
        used: impl IntoIterator<Item = &'a Arc<Resource>>,
    ) -> Result<MutexGuard<'_, Option<Capture>>, DeviceError> {
        let mut captured = self.captured();
        if let Some(capture) = &mut *captured {
            if capture.thread != thread::current().id() {
                let device = self.name();
                let what = "work for a thread while another's work is captured";
                return Err(DeviceError::Unsupported { device, what });
            }
            capture.kept.extend(used.into_iter().map(Arc::clone));
        }
        Ok(captured)
    }

    /// For what may wait for the device, and would keep others waiting under the lock: a capture that another thread begins
    /// meanwhile fails in the driver.
    pub(super) fn refuse_while_capturing(&self, what: &'static str) -> Result<(), DeviceError> {
        match &*self.captured() {
            None => Ok(()),
            Some(_) => {
                let device = self.name();
                Err(DeviceError::Unsupported { device, what })
            }
        }
    }

    /// Valid after every statement, so a panic elsewhere cannot corrupt it.
    fn captured(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
