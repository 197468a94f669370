//! The equations of a linear problem as a sparse matrix, for other programs.

use super::assembled::Equation;
use super::stages::downloaded;
use super::{Assembled, Constrained, ProblemError};
use crate::multigrid::{Graph, Probe};
use crate::operator::Backend;
use crate::vector::{Csr, VectorOps};
use crate::{Host, Number};
use femto_fem::io::{IoError, matrix_market};
use femto_platform::device::Device;
use std::path::Path;

/// Bytes for each pair of unknowns of an element while the matrix is made: its graph, its values and itself.
const BYTES: usize = 24;

/// A x = b, whose solution x is that of the problem, an L-vector.
///
/// Constrained entries have the row and the column of the identity. At nodes with constrained directions A is P A P, with the
/// projector P to what is free, and a multiple of 1 - P. Where constants or motions are free, A is singular.
#[derive(Clone, Debug)]
pub struct SparseSystem {
    /// A.
    pub matrix: Csr,
    /// b.
    pub right_hand_side: Vec<f64>,
}

impl SparseSystem {
    /// Writes `matrix.mtx` and `right-hand-side.mtx` into a folder, in the MatrixMarket format.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), IoError> {
        let matrix = &self.matrix;
        let size = [matrix.rows(), matrix.columns(), matrix.entries()];
        let row = |row| {
            let entries = matrix.row(row);
            entries.map(move |(column, value)| (row, column as usize, value))
        };
        let triples = (0..matrix.rows()).flat_map(row);
        matrix_market::write_matrix(folder.join("matrix.mtx"), size, triples)?;
        let path = folder.join("right-hand-side.mtx");
        matrix_market::write_vector(path, &self.right_hand_side)
    }
}

impl<T, B> Assembled<'_, T, B>
where
    T: Number,
    B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
{
    /// The equations as a sparse matrix, found by as many products as it takes (`multigrid/probe.rs`).
    ///
    /// # Errors
    /// [`ProblemError::NoMatrix`] for a form that is not linear, or if memory is short; a device error.
    pub fn sparse_system(&self) -> Result<SparseSystem, ProblemError> {
        if let Equation::Newton(_) = self.equation {
            let why = "the form is not linear".to_owned();
            return Err(ProblemError::NoMatrix { why });
        }
        let pairs = self.blocks.iter().map(|block| {
            let space = &block.space;
            let per_element = space.element_dofs() / space.elements().max(1);
            space.element_dofs() * per_element
        });
        let needed = BYTES * pairs.sum::<usize>();
        if let Some(allowed) = Host::with_threads(1)?.info().memory_bytes
            && needed as u64 > allowed
        {
            let [needed, allowed] = [needed as f64, allowed as f64].map(|bytes| bytes * 1e-9);
            let why = format!("it may take {needed:.1} GB to make, and {allowed:.1} GB are there");
            return Err(ProblemError::NoMatrix { why });
        }
        let operator = Constrained::new(&self.operator, &self.projector);
        let probe = Probe {
            operator: &operator,
            graph: &Graph::new(&self.blocks),
            components: self.blocks[0].space.components(),
            constraints: &self.constraints,
            slanted: &self.projector.slanted,
        };
        let matrix = probe.matrix(&self.device)?;
        let mut right_hand_side = downloaded(&self.device, &self.b)?;
        let mut given = vec![0.0; right_hand_side.len()];
        self.boundary_values.insert(&self.constraints, &mut given);
        // Zero at free entries: given values have been lifted.
        let of_row = |row: usize| {
            matrix
                .row(row)
                .map(|(column, a)| a * given[column as usize])
        };
        let rows = right_hand_side.iter_mut().enumerate();
        rows.for_each(|(row, entry)| *entry += of_row(row).sum::<f64>());
        Ok(SparseSystem {
            matrix,
            right_hand_side,
        })
    }
}
