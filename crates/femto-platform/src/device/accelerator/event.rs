//! Time on the device's own clock.

use super::Accelerator;
use super::driver::{Resource, ResourceKind};
use crate::device::DeviceError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A point in the order of a device's work, not recorded by default.
#[derive(Debug, Default)]
pub struct Event {
    recorded: Mutex<Option<Arc<Resource>>>,
}

impl Event {
    fn recorded(&self) -> MutexGuard<'_, Option<Arc<Resource>>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Accelerator {
    /// Records the time when all work so far is done. An event may be recorded many times; the last one
    /// counts.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] for an event recorded by another device, or a driver error.
    pub fn record(&self, event: &Event) -> Result<(), DeviceError> {
        self.refuse_while_capturing("note times while work is captured")?;
        let mut recorded = event.recorded();
        if let Some(earlier) = &*recorded {
            earlier.check(&self.driver, "an event")?;
        }
        let handle = self.driver.record()?;
        let event = Resource::new(&self.driver, ResourceKind::Event, handle);
        // If another thread is just reading the earlier one's time, that thread releases it.
        *recorded = Some(Arc::new(event));
        Ok(())
    }

    /// Seconds of device time from `from` to `to`, once both have happened.
    ///
    /// # Errors
    /// [`DeviceError::NotRecorded`], [`DeviceError::OtherDevice`], or a driver error.
    pub fn seconds_between(&self, from: &Event, to: &Event) -> Result<f64, DeviceError> {
        let recorded = |event: &Event| event.recorded().clone();
        let (Some(from), Some(to)) = (recorded(from), recorded(to)) else {
            return Err(DeviceError::NotRecorded);
        };
        from.check(&self.driver, "an event")?;
        to.check(&self.driver, "an event")?;
        // SAFETY: both belong to this driver and are alive.
        unsafe { self.driver.seconds_between(from.handle(), to.handle()) }
    }
}
