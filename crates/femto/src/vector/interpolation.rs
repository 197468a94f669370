//! Interpolations from L-vectors to E-vectors on devices.

use super::upload_f64;
use crate::Number;
use crate::pool::Pool;
use femto_element::Interpolation;
use femto_fem::parallel;
use femto_kernel::roofline::Work;
use femto_kernel::vector::Strides;
use femto_kernel::vector::interpolation::{InterpolationShape, NO_NODE};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::fmt;

/// An interpolation of the values at the nodes of a block of elements: a part of an E-vector
/// `[element][component][node]`.
pub struct ElementInterpolation<T: Number, D: Device> {
    pub(super) shape: InterpolationShape,
    /// `[to][from]`
    pub(super) matrix: D::Buffer<T>,
    /// `[element][from node]`, as in [`femto_kernel::vector::interpolation::interpolate`].
    pub(super) nodes: D::Buffer<u32>,
    pub(super) strides: Strides,
    /// The minimum length of an L-vector that contains the nodes.
    len: usize,
    /// The place of the first value in the E-vector.
    pub(super) first: usize,
    /// Scratch memory of the host's threads.
    pub(super) scratch: Pool<Vec<T>>,
}

impl<T: Number, D: Device> ElementInterpolation<T, D> {
    /// Uploads the `nodes` of the elements, `[element][from node]`, with [`NO_NODE`] where the value is zero.
    /// The first value is entry `first` of the E-vector.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn new(
        device: &D,
        interpolation: &Interpolation,
        (nodes, strides): (&[u32], Strides),
        first: usize,
    ) -> Result<Self, DeviceError> {
        // One more than the last, so that none is 0.
        let after = |place: usize| match nodes[place] {
            NO_NODE => 0,
            node => node as usize + 1,
        };
        let end = parallel::reduce(nodes.len(), 0, after, usize::max);
        let last_component = strides.components.saturating_sub(1) * strides.component;
        let shape = InterpolationShape {
            axes: interpolation.axes,
            from: interpolation.from,
            to: interpolation.to,
        };
        Ok(Self {
            shape,
            matrix: upload_f64(device, &interpolation.matrix)?,
            nodes: device.upload(nodes)?,
            len: match end {
                0 => 0,
                _ => (end - 1) * strides.node + last_component + 1,
            },
            strides,
            first,
            scratch: Pool::of_threads(&device.info(), shape.scratch()),
        })
    }

    /// Number of elements.
    pub(super) fn elements(&self) -> usize {
        self.nodes.len() / self.shape.inputs()
    }

    /// Elements times components.
    pub(super) fn items(&self) -> usize {
        self.elements() * self.strides.components
    }

    /// The end of its part of the E-vector.
    pub fn end(&self) -> usize {
        self.first + self.items() * self.shape.outputs()
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<u32>() + self.matrix.len() * T::BYTES
    }

    pub(super) fn work(&self) -> Work {
        self.shape.work::<T>(self.items())
    }

    /// Fails unless the vectors are long enough.
    pub(super) fn check(&self, x: &D::Buffer<T>, e: &D::Buffer<T>) -> Result<(), DeviceError> {
        for (what, found, expected) in [
            ("x of interpolate", x.len(), self.len),
            ("e of interpolate", e.len(), self.end()),
        ] {
            if found < expected {
                return Err(DeviceError::LengthMismatch {
                    what,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}

impl<T: Number, D: Device> fmt::Debug for ElementInterpolation<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElementInterpolation")
            .field("shape", &self.shape)
            .field("elements", &self.elements())
            .finish_non_exhaustive()
    }
}
