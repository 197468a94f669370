//! Sparse matrices and vectors in the MatrixMarket format (Boisvert, Pozo and Remington, The Matrix Market exchange
//! formats, NISTIR 5935, 1996), which nearly all packages for linear algebra read.
//!
//! Numbers are written so that they are read back with the same bits.

use super::IoError;
use super::atomic::write_atomically;
use std::io::{self, Write};
use std::path::Path;

/// Writes a matrix of this many rows, columns and entries; `triples` are the row, the column, each from 0 on, and the
/// value of each entry. The file is replaced only once everything is written.
///
/// # Errors
/// [`IoError`] if the file cannot be written, or around an error in place of a triple, which ends it.
pub fn write_matrix(
    path: impl AsRef<Path>,
    [rows, columns, entries]: [usize; 3],
    triples: impl Iterator<Item = io::Result<(usize, usize, f64)>>,
) -> Result<(), IoError> {
    write_atomically(path.as_ref(), |out| {
        writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
        writeln!(out, "{rows} {columns} {entries}")?;
        for triple in triples {
            let (row, column, value) = triple?;
            writeln!(out, "{} {} {value:e}", row + 1, column + 1)?;
        }
        Ok(())
    })
}

/// Writes a vector, as a matrix of one column. The file is replaced only once everything is written.
///
/// # Errors
/// [`IoError`] if the file cannot be written.
pub fn write_vector(path: impl AsRef<Path>, values: &[f64]) -> Result<(), IoError> {
    write_dense(path, [values.len(), 1], values.iter().copied())
}

/// Writes a matrix with all its entries, column by column. The file is replaced only once everything is written.
///
/// # Errors
/// [`IoError`] if the file cannot be written.
pub fn write_dense(
    path: impl AsRef<Path>,
    [rows, columns]: [usize; 2],
    values: impl Iterator<Item = f64>,
) -> Result<(), IoError> {
    write_atomically(path.as_ref(), |out| {
        writeln!(out, "%%MatrixMarket matrix array real general")?;
        writeln!(out, "{rows} {columns}")?;
        for value in values {
            writeln!(out, "{value:e}")?;
        }
        Ok(())
    })
}
