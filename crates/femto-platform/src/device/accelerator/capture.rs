//! Work that is noted once and replayed many times.

use super::Accelerator;
use super::driver::{Resource, ResourceKind};
use crate::device::DeviceError;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What captured work uses, and so must outlive it.
#[derive(Debug, Default)]
pub(super) struct Capture {
    kept: Vec<Arc<Resource>>,
}

/// Work to be replayed. Keeps the buffers and kernels that it uses.
#[derive(Debug)]
pub struct Graph {
    graph: Resource,
    _kept: Vec<Arc<Resource>>,
}

impl Accelerator {
    /// Notes the launches, copies and fills that `body` asks for, without doing them.
    ///
    /// While it runs, nothing may be allocated, written, read or waited for, and no other thread
    /// may use the device.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where [`Features::graphs`](super::Features::graphs) is false
    /// or a capture is under way; what `body` returns; what the driver says.
    pub fn capture(
        &self,
        body: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Graph, DeviceError> {
        if !self.features().graphs {
            let device = self.name();
            let what = "capture work";
            return Err(DeviceError::Unsupported { device, what });
        }
        self.refuse_while_capturing("capture work inside of a capture")?;
        self.driver.begin_capture()?;
        *self.captured() = Some(Capture::default());
        let outcome = body();
        let capture = self.captured().take().unwrap_or_default();
        // Also after a failure: the queue must leave the capture.
        let graph = self.driver.end_capture();
        let graph = graph.map(|graph| Resource::new(&self.driver, ResourceKind::Graph, graph));
        outcome?;
        Ok(Graph {
            graph: graph?,
            _kept: capture.kept,
        })
    }

    /// Does what was captured.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`], or what the driver says.
    pub fn replay(&self, graph: &Graph) -> Result<(), DeviceError> {
        graph.graph.check(&self.driver, "a graph")?;
        // SAFETY: the graph belongs to this driver and is alive, with everything that it uses.
        unsafe { self.driver.replay(graph.graph.handle()) }
    }

    /// Has a capture, if one is under way, keep what it uses.
    pub(super) fn keep<'a>(&self, used: impl IntoIterator<Item = &'a Arc<Resource>>) {
        if let Some(capture) = &mut *self.captured() {
            capture.kept.extend(used.into_iter().map(Arc::clone));
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

    /// The list is valid after every statement, so a panic elsewhere does not spoil it.
    fn captured(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
