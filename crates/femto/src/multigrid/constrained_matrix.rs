//! The matrix of an operator with constraints.

use crate::vector::Csr;
use femto_fem::space::Constraints;
use std::collections::HashMap;

/// The matrix of P A P with the projector P to what is free, for interleaved components whose couplings come in blocks of
/// nodes. Constrained entries have the row and column of the identity; nodes with constrained directions have a multiple of
/// 1 - P, the mean of the other eigenvalues, beside their part of P A P, so that it has an inverse.
pub(crate) fn constrained_matrix(
    matrix: &Csr,
    constraints: &Constraints,
    components: usize,
) -> Csr {
    let is_held = constraints.is_held(matrix.rows());
    let projectors: HashMap<usize, &[f64]> = constraints.slanted().iter().collect();
    let row = |row: usize, entries: &mut Vec<(u32, f64)>| {
        if is_held[row] {
            return entries.push((row as u32, 1.0));
        }
        let columns = matrix.row_columns(row).iter().copied();
        if projectors.is_empty() {
            entries.extend(columns.zip(matrix.row_values(row).iter().copied()));
        } else {
            entries.extend(columns.zip(projected(matrix, &projectors, components, row)));
        }
        entries.retain(|entry| !is_held[entry.0 as usize]);
    };
    Csr::by_rows((matrix.rows(), matrix.columns()), row)
}

/// The values of a row.
fn projected(
    matrix: &Csr,
    projectors: &HashMap<usize, &[f64]>,
    components: usize,
    row: usize,
) -> Vec<f64> {
    let (node, own) = (row / components, row % components);
    // (P A)_c = Σ_k P_ck A_k
    let Some(left) = projectors.get(&node) else {
        return times(matrix, projectors, components, row);
    };
    let rows: Vec<Vec<f64>> = (0..components)
        .map(|k| times(matrix, projectors, components, node * components + k))
        .collect();
    let product = |c: usize, place: usize| -> f64 {
        let factors = left[c * components..][..components].iter();
        factors.zip(&rows).map(|(p, row)| p * row[place]).sum()
    };
    let mut values: Vec<f64> = (0..rows[0].len())
        .map(|place| product(own, place))
        .collect();
    let first = (node * components) as u32;
    let place = matrix
        .row_columns(row)
        .partition_point(|&column| column < first);
    let free: f64 = left.iter().step_by(components + 1).sum();
    let mean = (0..components).map(|c| product(c, place + c)).sum::<f64>() / free;
    for (d, value) in values[place..][..components].iter_mut().enumerate() {
        *value += mean * (f64::from(own == d) - left[own * components + d]);
    }
    values
}

/// The values of a row times the projectors of its columns' nodes.
fn times(
    matrix: &Csr,
    projectors: &HashMap<usize, &[f64]>,
    components: usize,
    row: usize,
) -> Vec<f64> {
    let mut values = matrix.row_values(row).to_vec();
    let nodes = matrix.row_columns(row).iter().step_by(components);
    for (&column, block) in nodes.zip(values.chunks_exact_mut(components)) {
        if let Some(right) = projectors.get(&(column as usize / components)) {
            let given = block.to_vec();
            for (d, value) in block.iter_mut().enumerate() {
                let along = given.iter().zip(right[d..].iter().step_by(components));
                *value = along.map(|(a, p)| a * p).sum();
            }
        }
    }
    values
}
