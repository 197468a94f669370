//! The matrix of an operator with constraints.

use crate::operator::{Backend, OperatorError};
use crate::vector::{Csr, VectorOps};
use crate::{Number, Operator};
use femto_fem::space::Constraints;
use std::collections::HashMap;

/// The matrix of P A P with the projector P to what is free. Constrained entries have the row and column of the identity; the
/// zeros of nodes that are held in part are entries too. Nodes with constrained directions, whose components must be interleaved,
/// have a multiple of 1 - P, the mean of the other eigenvalues, beside their part of P A P, so that it has an inverse.
///
/// # Errors
/// As [`Operator::matrix`].
pub(crate) fn constrained_matrix<T: Number, D: Backend + VectorOps<T>>(
    operator: &Operator<T, D>,
    constraints: &Constraints,
) -> Result<Csr, OperatorError> {
    let size = operator.dofs();
    let is_held = constraints.is_held(size);
    if constraints.slanted().nodes.is_empty() {
        return operator.matrix_without(&is_held);
    }
    // Projectors need all couplings of a node.
    let matrix = operator.matrix()?;
    let projected = Projected {
        matrix: &matrix,
        projectors: constraints.slanted().iter().collect(),
        components: operator.inspection().components,
    };
    let held = operator.held(&is_held);
    let row = |row: usize, entries: &mut Vec<(u32, f64)>| {
        held.write_row(row, entries, |entries| {
            let columns = matrix.row_columns(row).iter().copied();
            entries.extend(columns.zip(projected.row(row)));
        });
    };
    Ok(Csr::by_rows((size, size), row))
}

/// A matrix between the projectors of nodes.
struct Projected<'a> {
    matrix: &'a Csr,
    /// By nodes.
    projectors: HashMap<usize, &'a [f64]>,
    components: usize,
}

impl Projected<'_> {
    /// The values of a row of P A P, and of the multiple of 1 - P.
    fn row(&self, row: usize) -> Vec<f64> {
        let components = self.components;
        let (node, own) = (row / components, row % components);
        // (P A)_c = Σ_k P_ck A_k
        let Some(left) = self.projectors.get(&node) else {
            return self.row_of_ap(row);
        };
        let first = node * components;
        let rows: Vec<_> = (first..first + components)
            .map(|row| self.row_of_ap(row))
            .collect();
        let product = |c: usize, place: usize| -> f64 {
            let factors = left[c * components..][..components].iter();
            factors.zip(&rows).map(|(p, row)| p * row[place]).sum()
        };
        let mut values: Vec<f64> = (0..rows[0].len())
            .map(|place| product(own, place))
            .collect();
        let columns = self.matrix.row_columns(row);
        let place = columns.partition_point(|&column| (column as usize) < first);
        let free: f64 = left.iter().step_by(components + 1).sum();
        let mean = (0..components).map(|c| product(c, place + c)).sum::<f64>() / free;
        for (d, value) in values[place..][..components].iter_mut().enumerate() {
            *value += mean * (f64::from(own == d) - left[own * components + d]);
        }
        values
    }

    /// The values of a row of A P.
    fn row_of_ap(&self, row: usize) -> Vec<f64> {
        let components = self.components;
        let mut values = self.matrix.row_values(row).to_vec();
        let nodes = self.matrix.row_columns(row).iter().step_by(components);
        for (&column, block) in nodes.zip(values.chunks_exact_mut(components)) {
            if let Some(right) = self.projectors.get(&(column as usize / components)) {
                let given = block.to_vec();
                for (d, value) in block.iter_mut().enumerate() {
                    let along = given.iter().zip(right[d..].iter().step_by(components));
                    *value = along.map(|(a, p)| a * p).sum();
                }
            }
        }
        values
    }
}
