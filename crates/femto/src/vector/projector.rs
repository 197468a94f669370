//! The projection of L-vectors to those that are zero where they are constrained.

use super::{Entries, VectorOps};
use crate::Number;
use femto_fem::space::{Constraints, Slanted};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::sync::Arc;

/// The orthogonal projection to the vectors that are zero at constrained entries and, at some nodes, along constrained
/// directions. It is symmetric.
pub struct Projector<T: Number, D: Device> {
    /// The constrained entries.
    pub(crate) entries: Entries<D>,
    /// The nodes with constrained directions.
    pub(crate) slanted: Arc<SlantedNodes<T, D>>,
}

/// Nodes with constrained directions, on a device; vectors store the components of a node together.
pub struct SlantedNodes<T: Number, D: Device> {
    pub(super) components: usize,
    /// Ascending; at least one, since buffers cannot be empty.
    pub(super) nodes: D::Buffer<u32>,
    /// `[node][component][component]`
    pub(super) projectors: D::Buffer<T>,
    /// All entries of the nodes, `[node][component]`.
    pub(crate) entries: Entries<D>,
    /// Of the projectors, `[node][component]`.
    diagonals: Vec<f64>,
}

impl<T: Number, D: Device> Projector<T, D> {
    /// Uploads constraints.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(device: &D, constraints: &Constraints) -> Result<Self, DeviceError> {
        Ok(Self {
            entries: Entries::new(device, constraints.entries())?,
            slanted: Arc::new(SlantedNodes::new(device, constraints.slanted())?),
        })
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        self.entries.bytes() + self.slanted.bytes()
    }
}

impl<T: Number, D: VectorOps<T>> Projector<T, D> {
    /// Projects a vector.
    ///
    /// # Errors
    /// A vector that is too short, or a device error.
    pub fn project(&self, device: &D, v: &mut D::Buffer<T>) -> Result<(), DeviceError> {
        device.set_entries(&self.entries, 0.0, v)?;
        device.project(&self.slanted, v)
    }

    /// Makes the diagonal of an operator A that of a matrix which, inverted, preconditions P A P and maps projected
    /// vectors to such: one at constrained entries, and at nodes with constrained directions the mean over those that
    /// are free.
    ///
    /// # Errors
    /// A vector that is too short, or a device error.
    pub fn set_diagonal(&self, device: &D, d: &mut D::Buffer<T>) -> Result<(), DeviceError> {
        device.set_entries(&self.entries, 1.0, d)?;
        let slanted = &self.slanted;
        if slanted.len() == 0 {
            return Ok(());
        }
        let (count, len) = (slanted.components, slanted.entries.len());
        let mut own = device.zeros(len)?;
        device.gather(d, &slanted.entries, &mut own)?;
        let mut values = vec![T::default(); len];
        device.read(&own, &mut values)?;
        let nodes = values.chunks_exact_mut(count);
        for (values, free) in nodes.zip(slanted.diagonals.chunks_exact(count)) {
            let products = values.iter().zip(free).map(|(value, p)| p * value.to_f64());
            let mean = products.sum::<f64>() / free.iter().sum::<f64>();
            values.fill(T::from_f64(mean));
        }
        device.write(&values, &mut own)?;
        device.set_entries(&slanted.entries, 0.0, d)?;
        device.add_to_entries(&own, &slanted.entries, d)
    }
}

impl<T: Number, D: Device> SlantedNodes<T, D> {
    /// Uploads them.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub(crate) fn new(device: &D, slanted: &Slanted) -> Result<Self, DeviceError> {
        let count = slanted.components;
        let (mut nodes, values) = (slanted.nodes.clone(), slanted.projectors.iter());
        let mut projectors: Vec<T> = values.map(|&value| T::from_f64(value)).collect();
        let entries = nodes.iter().flat_map(|&node| {
            let first = node * count as u32;
            first..first + count as u32
        });
        let entries: Vec<u32> = entries.collect();
        let diagonals = slanted.iter().flat_map(|(_, projector)| {
            let diagonal = projector.iter().step_by(count + 1);
            diagonal.copied()
        });
        let diagonals = diagonals.collect();
        if nodes.is_empty() {
            nodes.push(0);
            projectors.push(T::default());
        }
        Ok(Self {
            components: count,
            nodes: device.upload(&nodes)?,
            projectors: device.upload(&projectors)?,
            entries: Entries::new(device, &entries)?,
            diagonals,
        })
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        match self.entries.is_empty() {
            true => 0,
            false => self.nodes.len(),
        }
    }

    fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<u32>()
            + self.projectors.len() * T::BYTES
            + self.entries.bytes()
    }
}
