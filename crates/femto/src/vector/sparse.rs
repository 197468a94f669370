//! Sparse matrices on devices.

use super::csr::Value;
use super::{Csr, VectorOps};
use crate::Number;
use crate::operator::OperatorError;
use crate::solve::LinearOperator;
use femto_kernel::roofline::Work;
use femto_kernel::vector::Strides;
use femto_kernel::vector::sparse::{MOST_COMPONENTS, NO_COLUMN, SLICE, work};
use femto_platform::device::{Buffer, Device, DeviceError, check_len};
use rayon::prelude::*;
use std::fmt;

/// Slices filled by one task.
const SLICES: usize = 64;

/// A sparse matrix on a device, its rows in slices of [`SLICE`].
pub struct SparseMatrix<T: Number, D: Device> {
    device: D,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Of the vectors that it multiplies, one component after the other.
    pub(super) strides: Strides,
    /// As in [`femto_kernel::vector::sparse::Slices`].
    pub(super) offsets: D::Buffer<u32>,
    pub(super) places: D::Buffer<u32>,
    /// `None` if all are one.
    pub(super) values: Option<D::Buffer<T>>,
}

impl<T: Number, D: Device + Clone> SparseMatrix<T, D> {
    /// Uploads a matrix.
    ///
    /// # Errors
    /// Not enough memory, or more entries than 32-bit indices can address.
    pub fn new(device: &D, matrix: &Csr) -> Result<Self, DeviceError> {
        // Beyond the end of a row one of its own columns: what is read there is multiplied by zero.
        let beyond = |columns: &[u32]| columns.first().copied().unwrap_or(0);
        let offsets = offsets(matrix);
        let positions = Self::positions(device, (matrix, &offsets), beyond)?;
        let values: Vec<T> = values(matrix, &offsets);
        Ok(Self {
            values: Some(device.upload(&values)?),
            ..positions
        })
    }

    /// Uploads a matrix whose entries are all one.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_ones(device: &D, matrix: &Csr<()>) -> Result<Self, DeviceError> {
        Self::positions(device, (matrix, &offsets(matrix)), |_| NO_COLUMN)
    }

    /// The matrix without its values; `beyond` gives the positions beyond the end of a row with these columns.
    fn positions<V: Value>(
        device: &D,
        (matrix, offsets): (&Csr<V>, &[usize]),
        beyond: fn(&[u32]) -> u32,
    ) -> Result<Self, DeviceError> {
        let size = (matrix.rows(), matrix.columns());
        Self::of_slices(device, size, (offsets, &places(matrix, offsets, beyond)))
    }

    /// Uploads a matrix of this size whose rows have a one in the column that `column` gives, or are empty if that is
    /// [`NO_COLUMN`].
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn selecting(
        device: &D,
        (rows, columns): (usize, usize),
        column: impl Fn(usize) -> u32 + Sync,
    ) -> Result<Self, DeviceError> {
        let places = 0..rows.next_multiple_of(SLICE).max(1);
        let column = |row| if row < rows { column(row) } else { NO_COLUMN };
        let places: Vec<u32> = places.into_par_iter().map(column).collect();
        let offsets = (0..=rows.div_ceil(SLICE)).map(|slice| slice * SLICE);
        let offsets: Vec<usize> = offsets.collect();
        Self::of_slices(device, (rows, columns), (&offsets, &places))
    }

    fn of_slices(
        device: &D,
        (rows, columns): (usize, usize),
        (offsets, places): (&[usize], &[u32]),
    ) -> Result<Self, DeviceError> {
        let narrow = |&offset: &usize| {
            u32::try_from(offset).map_err(|_| DeviceError::Unsupported {
                device: device.info().kind.name(),
                what: "multiply by a matrix of more than 4294967295 entries",
            })
        };
        let offsets: Vec<u32> = offsets.iter().map(narrow).collect::<Result<_, _>>()?;
        Ok(Self {
            device: device.clone(),
            rows,
            columns,
            strides: Strides::SCALAR,
            offsets: device.upload(&offsets)?,
            places: device.upload(places)?,
            values: None,
        })
    }

    /// The same matrix for each component of vectors of up to [`MOST_COMPONENTS`].
    pub(crate) fn of_components(self, strides: Strides) -> Self {
        assert!(strides.components <= MOST_COMPONENTS && self.values.is_some());
        Self { strides, ..self }
    }

    /// Number of components of vectors that have the matrix in common.
    pub(crate) fn components(&self) -> usize {
        self.strides.components
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Bytes of device memory that a matrix takes.
    pub(crate) fn bytes_of(matrix: &Csr) -> u64 {
        let slices = offsets(matrix);
        let entries = slices.last().copied().unwrap_or(0) * (size_of::<u32>() + T::BYTES);
        (entries + slices.len() * size_of::<u32>()) as u64
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        let places = self.offsets.len() + self.places.len();
        let values = self.values.as_ref().map_or(0, Buffer::len);
        places * size_of::<u32>() + values * T::BYTES
    }

    /// Work of a product; of one that is added to its output if `add`.
    pub(crate) fn work(&self, add: bool) -> Work {
        let has_values = self.values.is_some();
        work::<T>(
            (self.places.len(), has_values),
            (self.rows, self.columns),
            (self.strides.components, add),
        )
    }

    /// Fails unless the vectors have the matrix's size.
    pub(super) fn check(&self, x: &D::Buffer<T>, y: &D::Buffer<T>) -> Result<(), DeviceError> {
        let components = self.strides.components;
        check_len("x of multiply_sparse", x.len(), self.columns * components)?;
        check_len("y of multiply_sparse", y.len(), self.rows * components)
    }
}

/// Start of each slice, and the end of the last.
fn offsets<V: Value>(matrix: &Csr<V>) -> Vec<usize> {
    let slices = matrix.rows().div_ceil(SLICE);
    let width = |slice: usize| {
        let rows = slice * SLICE..matrix.rows().min((slice + 1) * SLICE);
        rows.map(|row| matrix.row_columns(row).len()).max()
    };
    let mut offsets = vec![0];
    offsets.par_extend(
        (0..slices)
            .into_par_iter()
            .map(|slice| width(slice).unwrap_or(0) * SLICE),
    );
    for slice in 0..slices {
        offsets[slice + 1] += offsets[slice];
    }
    offsets
}

fn places<V: Value>(matrix: &Csr<V>, offsets: &[usize], beyond: fn(&[u32]) -> u32) -> Vec<u32> {
    let row = |row: usize| {
        let columns = matrix.row_columns(row);
        (columns, beyond(columns))
    };
    filled((matrix.rows(), offsets), row, |&column| column)
}

fn values<T: Number>(matrix: &Csr, offsets: &[usize]) -> Vec<T> {
    let row = |row: usize| (matrix.row_values(row), T::default());
    filled((matrix.rows(), offsets), row, |&value| T::from_f64(value))
}

/// An array over the slices' entries: `row` gives those of a row, and the one beyond its end. Never empty, as buffers cannot be.
fn filled<'a, V: 'a, E: Copy + Default + Send + Sync>(
    (rows, offsets): (usize, &[usize]),
    row: impl Fn(usize) -> (&'a [V], E) + Sync,
    entry: impl Fn(&V) -> E + Sync,
) -> Vec<E> {
    let entries = offsets.last().copied().unwrap_or(0);
    let mut array = vec![E::default(); entries.max(1)];
    let starts = offsets.iter().copied().step_by(SLICES);
    let starts: Vec<usize> = starts.chain([entries]).collect();
    let lengths: Vec<usize> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
    let tasks = split_by_lengths(&mut array, &lengths).into_par_iter();
    tasks.enumerate().for_each(|(task, own)| {
        let slices = offsets[task * SLICES..].windows(2);
        for (slice, ends) in (task * SLICES..).zip(slices).take(SLICES) {
            let first = slice * SLICE;
            let row = |lane| match first + lane < rows {
                true => row(first + lane),
                false => (&[][..], E::default()),
            };
            let rows: [(&[V], E); SLICE] = std::array::from_fn(row);
            let own = &mut own[ends[0] - starts[task]..ends[1] - starts[task]];
            for (place, own) in own.as_chunks_mut::<SLICE>().0.iter_mut().enumerate() {
                for (own, &(row, beyond)) in own.iter_mut().zip(&rows) {
                    *own = row.get(place).map_or(beyond, &entry);
                }
            }
        }
    });
    array
}

/// Cuts a slice into parts of these lengths, as long as it is together.
fn split_by_lengths<'a, T>(mut slice: &'a mut [T], lengths: &[usize]) -> Vec<&'a mut [T]> {
    let part = |&length: &usize| {
        let (part, rest) = std::mem::take(&mut slice).split_at_mut(length);
        slice = rest;
        part
    };
    lengths.iter().map(part).collect()
}

impl<T: Number, D: VectorOps<T>> LinearOperator<T, D> for SparseMatrix<T, D> {
    fn size(&self) -> usize {
        self.rows * self.strides.components
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
