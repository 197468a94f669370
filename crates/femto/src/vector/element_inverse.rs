//! Inverses on the elements of a block, from L-vectors to E-vectors on devices.

use super::upload_f64;
use crate::Number;
use crate::pool::Pool;
use femto_kernel::roofline::Work;
use femto_kernel::vector::element_inverse::{InverseShape, Items, Lines};
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use std::fmt;

/// Inverses of separable operators on all elements of a space of interleaved components: see
/// [`femto_kernel::vector::element_inverse`].
pub struct ElementInverse<T: Number, D: Device> {
    pub(super) shape: InverseShape,
    pub(super) components: usize,
    pub(super) vectors: D::Buffer<T>,
    pub(super) values: D::Buffer<T>,
    pub(super) ends: D::Buffer<u32>,
    pub(super) strengths: D::Buffer<T>,
    pub(super) nodes: D::Buffer<u32>,
    pub(super) weights: D::Buffer<T>,
    /// Scratch memory of the host's threads.
    pub(super) scratch: Pool<Vec<T>>,
}

impl<T: Number, D: Device> ElementInverse<T, D> {
    /// Uploads the items, all of them, and the weights of an L-vector that has all nodes.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], or arrays whose lengths do not fit together.
    pub fn new(
        device: &D,
        (shape, lines): (InverseShape, Lines<'_, f64>),
        items: Items<'_, T>,
        weights: &[T],
    ) -> Result<Self, DeviceError> {
        let (count, elements) = (items.ends.len(), items.nodes.len() / shape.nodes());
        check_len("the ends of items", count, elements * items.components)?;
        check_len(
            "the strengths of items",
            items.strengths.len(),
            count * (1 + shape.axes),
        )?;
        Ok(Self {
            shape,
            components: items.components,
            vectors: upload_f64(device, lines.vectors)?,
            values: upload_f64(device, lines.values)?,
            ends: device.upload(items.ends)?,
            strengths: device.upload(items.strengths)?,
            nodes: device.upload(items.nodes)?,
            weights: device.upload(weights)?,
            scratch: Pool::of_threads(&device.info(), shape.scratch()),
        })
    }

    /// Elements times components.
    pub(super) fn items(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        let numbers = [&self.vectors, &self.values, &self.strengths, &self.weights];
        let numbers: usize = numbers.map(|buffer| buffer.len()).iter().sum();
        numbers * T::BYTES + (self.ends.len() + self.nodes.len()) * size_of::<u32>()
    }

    pub(super) fn work(&self) -> Work {
        let elements = self.items() / self.components.max(1);
        self.shape.work::<T>(elements, self.components)
    }

    /// Fails unless the vectors have their lengths.
    pub(super) fn check(&self, x: &D::Buffer<T>, e: &D::Buffer<T>) -> Result<(), DeviceError> {
        check_len("x of invert_elements", x.len(), self.weights.len())?;
        let entries = self.items() * self.shape.nodes();
        check_len("e of invert_elements", e.len(), entries)
    }
}

impl<T: Number, D: Device> fmt::Debug for ElementInverse<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElementInverse")
            .field("shape", &self.shape)
            .field("items", &self.items())
            .finish_non_exhaustive()
    }
}
