//! Values made once per device and stored with it, such as compiled kernels.

use super::Accelerator;
use crate::device::DeviceError;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by their type.
pub(super) type Kept = Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>;

impl Accelerator {
    /// The device's value of type `V`, made by the first call and shared by all clones of the device.
    ///
    /// A value that held a clone of the device would keep both alive for ever; kernels and buffers do not.
    ///
    /// # Errors
    /// The error of `make`; the next call tries again.
    pub fn kept<V: Any + Send + Sync>(
        &self,
        make: impl FnOnce() -> Result<V, DeviceError>,
    ) -> Result<Arc<V>, DeviceError> {
        if let Some(value) = self.find() {
            return Ok(value);
        }
        // Nothing is locked meanwhile: two threads may both make one, and one of them is kept.
        let made = Arc::new(make()?);
        let entry = Arc::clone(&made) as Arc<dyn Any + Send + Sync>;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(TypeId::of::<V>()).or_insert(entry);
        drop(kept);
        Ok(self.find().unwrap_or(made))
    }

    /// The map is valid after every statement, so a panic elsewhere cannot corrupt it.
    fn find<V: Any + Send + Sync>(&self) -> Option<Arc<V>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let value = Arc::clone(kept.get(&TypeId::of::<V>())?);
        value.downcast().ok()
    }
}
