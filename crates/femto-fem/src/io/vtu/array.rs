//! Data arrays as bytes, compressed as VTK expects.

use crate::parallel;
use flate2::{Compression, write::ZlibEncoder};
use std::io::{self, Write};
use std::ops::Range;

/// Bytes of a block before compression.
const BLOCK: usize = 1 << 17;

/// The values of a field, `[points or cells][components]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision.
    F32(&'a [f32]),
    /// Integers, such as tags.
    I32(&'a [i32]),
    /// Large integers, such as cell numbers.
    I64(&'a [i64]),
    /// Bytes, such as cell types.
    U8(&'a [u8]),
}

impl Values<'_> {
    /// Number of values, counting all components.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(v) => v.len(),
            Self::F32(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::U8(v) => v.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// VTK's name of the number type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::F64(_) => "Float64",
            Self::F32(_) => "Float32",
            Self::I32(_) => "Int32",
            Self::I64(_) => "Int64",
            Self::U8(_) => "UInt8",
        }
    }

    /// The values as little-endian bytes, in blocks, each compressed by zlib.
    pub(super) fn compress(&self) -> Result<Compressed, io::Error> {
        match self {
            Self::F64(v) => compress(v, |x| x.to_le_bytes()),
            Self::F32(v) => compress(v, |x| x.to_le_bytes()),
            Self::I32(v) => compress(v, |x| x.to_le_bytes()),
            Self::I64(v) => compress(v, |x| x.to_le_bytes()),
            Self::U8(v) => compress(v, |x| [x]),
        }
    }
}

impl<'a> From<&'a [f64]> for Values<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}

impl<'a> From<&'a [f32]> for Values<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::F32(values)
    }
}

impl<'a> From<&'a [i32]> for Values<'a> {
    fn from(values: &'a [i32]) -> Self {
        Self::I32(values)
    }
}

impl<'a> From<&'a [i64]> for Values<'a> {
    fn from(values: &'a [i64]) -> Self {
        Self::I64(values)
    }
}

/// One array as stored in the file.
///
/// Layout (VTK, `vtkXMLDataReader`): UInt64 number of blocks, bytes of a full block, bytes of the
/// last block if it is not full (else 0), compressed bytes of each block; then the blocks.
pub(super) struct Compressed {
    header: Vec<u8>,
    blocks: Vec<Vec<u8>>,
}

impl Compressed {
    /// Bytes in the file.
    pub(super) fn len(&self) -> usize {
        self.header.len() + self.blocks.iter().map(Vec::len).sum::<usize>()
    }

    /// Appends the array to the file.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.header)?;
        self.blocks
            .iter()
            .try_for_each(|block| out.write_all(block))
    }
}

/// Compresses block by block on all threads, without a second copy of the whole array.
fn compress<T: Copy + Sync, const N: usize>(
    values: &[T],
    to_le_bytes: impl Fn(T) -> [u8; N] + Sync,
) -> Result<Compressed, io::Error> {
    compress_bytes(values.len() * N, &|bytes| {
        let values = &values[bytes.start / N..bytes.end / N];
        values.iter().flat_map(|&x| to_le_bytes(x)).collect()
    })
}

/// Compresses so many bytes, given a range of them.
fn compress_bytes(
    len: usize,
    of: &(dyn Fn(Range<usize>) -> Vec<u8> + Sync),
) -> Result<Compressed, io::Error> {
    let blocks = parallel::try_map(len.div_ceil(BLOCK), |block| {
        let bytes = of(block * BLOCK..len.min((block + 1) * BLOCK));
        let capacity = Vec::with_capacity(bytes.len() / 2);
        let mut encoder = ZlibEncoder::new(capacity, Compression::fast());
        encoder.write_all(&bytes)?;
        encoder.finish()
    })?;
    let header = [blocks.len(), BLOCK, len % BLOCK]
        .into_iter()
        .chain(blocks.iter().map(Vec::len))
        .flat_map(|count| (count as u64).to_le_bytes())
        .collect();
    Ok(Compressed { header, blocks })
}
