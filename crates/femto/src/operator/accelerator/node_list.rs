//! Lists of nodes on a device, shared by the operators on a space.

use crate::operator::OperatorError;
use femto_fem::space::{Restriction, Space};
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use femto_platform::device::{Buffer, Device};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The nodes of some elements of a space.
#[derive(Debug)]
pub(super) struct NodeList {
    restriction: Arc<Restriction>,
    /// Ascending.
    pub(super) elements: Vec<u32>,
    /// L-vector nodes `[element][node]`.
    pub(super) nodes: AcceleratorBuffer<u32>,
}

/// The lists of a device that are in use.
#[derive(Default)]
struct NodeLists(Mutex<Vec<Weak<NodeList>>>);

impl NodeLists {
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<NodeList>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NodeList {
    /// The list that another operator uses, or a new one of the nodes that `nodes` gives.
    pub(super) fn shared<'a>(
        device: &Accelerator,
        space: &Space,
        elements: Vec<u32>,
        nodes: impl FnOnce() -> &'a [u32],
    ) -> Result<Arc<Self>, OperatorError> {
        let lists = device.kept(|| Ok(NodeLists::default()))?;
        let is_same = |list: &Arc<Self>| {
            Arc::ptr_eq(&list.restriction, space.restriction()) && list.elements == elements
        };
        let same = lists.lock().iter().filter_map(Weak::upgrade).find(is_same);
        if let Some(list) = same {
            return Ok(list);
        }
        // Nothing is locked meanwhile: two threads may both make one.
        let list = Arc::new(Self {
            restriction: space.restriction().clone(),
            elements,
            nodes: device.upload(nodes())?,
        });
        let mut lists = lists.lock();
        lists.retain(|list| list.strong_count() > 0);
        lists.push(Arc::downgrade(&list));
        Ok(list)
    }

    /// Bytes of device memory that one of its users has.
    pub(super) fn bytes(list: &Arc<Self>) -> usize {
        list.nodes.len() * size_of::<u32>() / Arc::strong_count(list)
    }
}
