//! The equations of a linear problem as a sparse matrix, for other programs.

use super::assembled::Equation;
use super::{Assembled, ProblemError};
use crate::Number;
use crate::multigrid::constrained_matrix;
use crate::operator::Backend;
use crate::vector::{Csr, VectorOps, download_f64};
use femto_fem::io::{IoError, matrix_market};
use femto_fem::space::Block;
use std::io::ErrorKind;
use std::path::Path;

/// A x = b, whose solution x is that of the problem, an L-vector.
///
/// Constrained entries have the row and the column of the identity; where a node is constrained in part, zeros are entries too. At
/// nodes with constrained directions A is P A P,
/// with the projector P to what is free, and a multiple of 1 - P. Where constants or motions are free, A is singular.
#[derive(Clone, Debug)]
pub struct SparseSystem {
    /// A.
    pub matrix: Csr,
    /// b.
    pub right_hand_side: Vec<f64>,
    /// Of the nodes, `[node]`. With C components, component c of node n has row C n + c.
    pub positions: Vec<[f64; 3]>,
}

impl SparseSystem {
    /// Writes `matrix.mtx`, `right-hand-side.mtx` and `positions.mtx`, a row for each node, into a folder, in the MatrixMarket
    /// format. `stop` is asked at each row.
    ///
    /// # Errors
    /// A file that cannot be written, or one of [`ErrorKind::Interrupted`] if it is to stop.
    pub fn write(&self, folder: &Path, stop: &dyn Fn() -> bool) -> Result<(), IoError> {
        let matrix = &self.matrix;
        let size = [matrix.rows(), matrix.columns(), matrix.entries()];
        let row = |row| {
            let entries = matrix.row(row);
            let stopped = stop().then(|| Err(ErrorKind::Interrupted.into()));
            let entries = entries.map(move |(column, value)| Ok((row, column as usize, value)));
            stopped.into_iter().chain(entries)
        };
        let triples = (0..matrix.rows()).flat_map(row);
        matrix_market::write_matrix(folder.join("matrix.mtx"), size, triples)?;
        let path = folder.join("right-hand-side.mtx");
        matrix_market::write_vector(path, &self.right_hand_side)?;
        let coordinates = (0..3).flat_map(|axis| self.positions.iter().map(move |x| x[axis]));
        let size = [self.positions.len(), 3];
        matrix_market::write_dense(folder.join("positions.mtx"), size, coordinates)
    }
}

impl<T, B> Assembled<'_, T, B>
where
    T: Number,
    B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
{
    /// The equations as a sparse matrix.
    ///
    /// # Errors
    /// [`ProblemError::NoMatrix`] for Newton's method; as [`Operator::matrix`](crate::Operator::matrix).
    pub fn sparse_system(&self) -> Result<SparseSystem, ProblemError> {
        if let Equation::Newton(_) = self.equation {
            let why = "Newton's method solves them, for a form that is not linear or because it was asked for";
            let why = why.to_owned();
            return Err(ProblemError::NoMatrix { why });
        }
        let matrix = constrained_matrix(&self.operator, &self.constraints)?;
        let mut right_hand_side = download_f64(&self.device, &self.b)?;
        let mut given = vec![0.0; right_hand_side.len()];
        // What the equations leave out.
        self.extend(&mut given);
        let rows = right_hand_side.iter_mut().zip(matrix.product(&given));
        rows.for_each(|(entry, value)| *entry += value);
        Ok(SparseSystem {
            matrix,
            right_hand_side,
            positions: Block::node_positions(&self.blocks),
        })
    }
}
