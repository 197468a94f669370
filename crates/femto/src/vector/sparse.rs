//! Sparse matrices on devices.

use super::{Csr, VectorOps};
use crate::Number;
use crate::operator::OperatorError;
use crate::solve::LinearOperator;
use femto_kernel::roofline::Work;
use femto_kernel::vector::sparse::{SLICE, work};
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use std::fmt;

/// A sparse matrix on a device, its rows in slices of [`SLICE`].
pub struct SparseMatrix<T: Number, D: Device> {
    device: D,
    rows: usize,
    columns: usize,
    /// As in [`femto_kernel::vector::sparse::Slices`].
    pub(super) offsets: D::Buffer<u32>,
    pub(super) places: D::Buffer<u32>,
    pub(super) values: D::Buffer<T>,
}

impl<T: Number, D: Device + Clone> SparseMatrix<T, D> {
    /// Uploads a matrix.
    ///
    /// # Errors
    /// Not enough memory, or more entries than 32-bit indices can address.
    pub fn new(device: &D, matrix: &Csr) -> Result<Self, DeviceError> {
        let (mut offsets, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for first in (0..matrix.rows()).step_by(SLICE) {
            let rows = first..matrix.rows().min(first + SLICE);
            let lengths = rows.clone().map(|row| matrix.row_columns(row).len());
            let (width, start) = (lengths.max().unwrap_or(0), places.len());
            places.resize(start + width * SLICE, 0);
            values.resize(start + width * SLICE, T::default());
            for (lane, row) in rows.enumerate() {
                let columns = matrix.row_columns(row);
                // Any column of the row's own: its value may be read, and is multiplied by zero.
                let own = columns.first().copied().unwrap_or(0);
                for k in 0..width {
                    places[start + k * SLICE + lane] = columns.get(k).copied().unwrap_or(own);
                }
                for (k, (_, value)) in matrix.row(row).enumerate() {
                    values[start + k * SLICE + lane] = T::from_f64(value);
                }
            }
            offsets.push(
                u32::try_from(places.len()).map_err(|_| DeviceError::Unsupported {
                    device: device.info().kind.name(),
                    what: "multiply by a matrix of more than 4294967295 entries",
                })?,
            );
        }
        if places.is_empty() {
            // Never read, but buffers cannot be empty.
            (places, values) = (vec![0], vec![T::default()]);
        }
        Ok(Self {
            device: device.clone(),
            rows: matrix.rows(),
            columns: matrix.columns(),
            offsets: device.upload(&offsets)?,
            places: device.upload(&places)?,
            values: device.upload(&values)?,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        let places = self.offsets.len() + self.places.len();
        places * size_of::<u32>() + self.values.len() * T::BYTES
    }

    /// Work of a product; of one that is added to its output if `add`.
    pub(super) fn work(&self, add: bool) -> Work {
        work::<T>(self.values.len(), (self.rows, self.columns), add)
    }

    /// Fails unless the vectors have the matrix's size.
    pub(super) fn check(&self, x: &D::Buffer<T>, y: &D::Buffer<T>) -> Result<(), DeviceError> {
        check_len("x of multiply_sparse", x.len(), self.columns)?;
        check_len("y of multiply_sparse", y.len(), self.rows)
    }
}

impl<T: Number, D: VectorOps<T>> LinearOperator<T, D> for SparseMatrix<T, D> {
    fn size(&self) -> usize {
        self.rows
    }

    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        Ok(self.device.multiply_sparse(self, u, false, v)?)
    }
}

impl<T: Number, D: Device> fmt::Debug for SparseMatrix<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseMatrix")
            .field("rows", &self.rows)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}
