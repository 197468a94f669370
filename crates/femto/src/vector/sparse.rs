//! Sparse matrices on devices.

use super::csr::Value;
use super::slicing::Slicing;
use super::{Csr, VectorOps};
use crate::Number;
use crate::operator::OperatorError;
use crate::solve::LinearOperator;
use femto_fem::parallel;
use femto_kernel::roofline::Work;
use femto_kernel::vector::Strides;
use femto_kernel::vector::sparse::{BLOCKS, MOST_COMPONENTS, NO_COLUMN, SLICE, work};
use femto_platform::device::{Buffer, Device, DeviceError, DeviceKind, check_len};
use std::fmt;

/// Rows of the highest of [`BLOCKS`].
const MOST_ROWS: usize = {
    let [rows, _] = BLOCKS[BLOCKS.len() - 1];
    rows
};

/// A sparse matrix on a device, its rows in slices of [`SLICE`].
pub struct SparseMatrix<T: Number, D: Device> {
    device: D,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Rows and columns of its blocks.
    pub(super) block: [usize; 2],
    /// Of the vectors that it multiplies, one component after the other.
    pub(super) strides: Strides,
    /// As in [`femto_kernel::vector::sparse::Slices`].
    pub(super) order: Option<D::Buffer<u32>>,
    /// Rows of blocks of a window; of a slice if they are in order.
    pub(super) window: usize,
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
        Self::by_blocks(device, matrix, [1, 1])
    }

    /// Uploads a matrix that has whole blocks of so many rows and columns, such as the unknowns of two nodes have: of each only the
    /// first column is stored, if there are kernels for its size.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn by_blocks(
        device: &D,
        matrix: &Csr,
        block: [usize; 2],
    ) -> Result<Self, DeviceError> {
        Self::sliced(device, matrix, &Self::slicing(device, matrix, block))
    }

    /// How [`Self::by_blocks`] stores a matrix.
    pub(crate) fn slicing(device: &D, matrix: &Csr, block: [usize; 2]) -> Slicing {
        Slicing::new(device.info().kind, matrix, block_of(device, block))
    }

    /// Uploads a matrix as [`Self::slicing`] tells.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn sliced(device: &D, matrix: &Csr, slicing: &Slicing) -> Result<Self, DeviceError> {
        // Beyond the end of a row one of its own columns: what is read there is multiplied by zero.
        let beyond = |columns: &[u32]| columns.first().copied().unwrap_or(0);
        let positions = Self::positions(device, (matrix, slicing), beyond)?;
        let values: Vec<T> = values(matrix, slicing);
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
        let slicing = Slicing::new(device.info().kind, matrix, [1, 1]);
        Self::positions(device, (matrix, &slicing), |_| NO_COLUMN)
    }

    /// The matrix without its values; `beyond` gives the positions beyond the end of a row with these columns.
    fn positions<V: Value>(
        device: &D,
        (matrix, slicing): (&Csr<V>, &Slicing),
        beyond: fn(&[u32]) -> u32,
    ) -> Result<Self, DeviceError> {
        let size = (matrix.rows(), matrix.columns());
        let [height, width] = slicing.block;
        let places = slicing.filled(1, |row| {
            let columns = matrix.row_columns(row * height);
            (columns.iter().copied().step_by(width), beyond(columns))
        });
        let matrix = Self::of_slices(device, size, (&slicing.offsets, &places))?;
        let order = slicing.order.as_ref().map(|order| device.upload(order));
        Ok(Self {
            block: slicing.block,
            order: order.transpose()?,
            window: slicing.window,
            ..matrix
        })
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
        let column = |row| if row < rows { column(row) } else { NO_COLUMN };
        let places = parallel::map(rows.next_multiple_of(SLICE).max(1), column);
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
            block: [1, 1],
            strides: Strides::SCALAR,
            order: None,
            window: SLICE,
            offsets: device.upload(&offsets)?,
            places: device.upload(places)?,
            values: None,
        })
    }

    /// The same matrix for each component of vectors of up to [`MOST_COMPONENTS`].
    pub(crate) fn of_components(self, strides: Strides) -> Self {
        assert!(strides.components <= MOST_COMPONENTS && self.values.is_some());
        assert_eq!(self.block, [1, 1]);
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

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        let values = self.values.as_ref().map_or(0, Buffer::len);
        (self.indices() + self.places.len()) * size_of::<u32>() + values * T::BYTES
    }

    /// Indices beside those of the blocks.
    fn indices(&self) -> usize {
        self.offsets.len() + self.order.as_ref().map_or(0, Buffer::len)
    }

    /// Work of a product; of one that is added to its output if `add`.
    pub(crate) fn work(&self, add: bool) -> Work {
        let [height, width] = self.block;
        let block = self.values.is_some().then_some(height * width);
        work::<T>(
            [self.places.len(), self.indices()],
            (block, self.rows, self.columns),
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

/// The blocks as which a device takes these. On the host an entry of x is read once for all rows of a block; on devices on which each
/// row has a thread, neighbouring ones read the same entries.
fn block_of(device: &impl Device, block: [usize; 2]) -> [usize; 2] {
    match (BLOCKS.contains(&block), device.info().kind) {
        (false, _) => [1, 1],
        (true, DeviceKind::Host | DeviceKind::Null) => block,
        (true, DeviceKind::Cuda | DeviceKind::OpenCl) => [1, block[1]],
    }
}

fn values<T: Number>(matrix: &Csr, slicing: &Slicing) -> Vec<T> {
    let [height, width] = slicing.block;
    slicing.filled(height * width, |row| {
        let rows: [&[f64]; MOST_ROWS] = std::array::from_fn(|r| match r < height {
            true => matrix.row_values(row * height + r),
            false => &[],
        });
        // Column by column.
        let columns = 0..rows[0].len();
        let entries = columns.flat_map(move |column| (0..height).map(move |r| rows[r][column]));
        (entries.map(T::from_f64), T::default())
    })
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
