//! Boundary data on devices: values of functions at points, and integrals over facets.

mod accelerator;
mod host;
mod null;

use crate::operator::OperatorError;
use femto_kernel::boundary::{FacetSizes, FacetSums};
use femto_kernel::expr::Program;
use femto_platform::device::{Buffer, Device, DeviceError, check_len};

/// A device that evaluates functions and integrates them over facets, in double precision.
///
/// Sums are taken in an order that the tables fix, so that they are deterministic to the bit.
pub trait BoundaryOps: Device {
    /// The values `[point]` of a function of x, y, z and t at positions `[point][3]`.
    ///
    /// # Errors
    /// A program that needs more than these; buffers of different numbers of points.
    fn values(
        &self,
        function: &Program,
        at: &Points<'_, Self::Buffer<f64>>,
        values: &mut Self::Buffer<f64>,
    ) -> Result<(), OperatorError>;

    /// The sums `[node]` of values `[facet][point]`.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] where values or sums do not fit the tables.
    fn facet_sums(
        &self,
        tables: &FacetTables<Self>,
        values: &Self::Buffer<f64>,
        sums: &mut Self::Buffer<f64>,
    ) -> Result<(), DeviceError>
    where
        Self: Sized;
}

/// Where and when a function is evaluated.
#[derive(Debug)]
pub struct Points<'a, B> {
    /// `[point][3]`
    pub positions: &'a B,
    /// The time.
    pub time: f64,
}

impl<B: Buffer<f64>> Points<'_, B> {
    /// Fails unless there is a value for each point.
    fn check(&self, values: &B) -> Result<(), DeviceError> {
        check_len("positions", self.positions.len(), 3 * values.len())
    }
}

/// The tables of a [`FacetSums`] on a device.
#[derive(Debug)]
pub struct FacetTables<D: Device> {
    sizes: FacetSizes,
    offsets: D::Buffer<u32>,
    contributions: D::Buffer<u32>,
    basis: D::Buffer<f64>,
    weights: D::Buffer<f64>,
}

impl<D: Device> FacetTables<D> {
    /// Brings the tables to the device.
    ///
    /// # Errors
    /// Memory that is not there.
    pub fn new(device: &D, sums: &FacetSums<'_>) -> Result<Self, DeviceError> {
        Ok(Self {
            sizes: sums.sizes(),
            offsets: device.upload(sums.offsets)?,
            contributions: device.upload(sums.contributions)?,
            basis: device.upload(sums.basis)?,
            weights: device.upload(sums.weights)?,
        })
    }

    /// How long they are.
    pub fn sizes(&self) -> FacetSizes {
        self.sizes
    }

    /// Fails unless there is a value for each point and a sum for each node.
    fn check(&self, values: &D::Buffer<f64>, sums: &D::Buffer<f64>) -> Result<(), DeviceError> {
        check_len("values of facets", values.len(), self.sizes.weights)?;
        check_len("sums of nodes", sums.len(), self.sizes.nodes)
    }
}

#[cfg(test)]
mod tests;
