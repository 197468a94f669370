//! The tables of a text: 1-D matrices, their products, the rule.

use crate::dialect::SourceBuilder;
use crate::family::sum_factorization::contraction::{self, Contraction};
use femto_element::tables::TensorTables;

/// The 1-D matrices, whole or as even and odd parts; derivatives at points are those of values at points or, with
/// `of_nodes`, at nodes.
pub(super) fn matrices(
    source: &mut SourceBuilder,
    basis: &TensorTables,
    even_odd: bool,
    of_nodes: bool,
) {
    let (q, g) = (basis.nodes_1d, basis.points_1d);
    let (columns, grad) = match of_nodes {
        true => (q, &basis.grad_1d),
        false => (g, &basis.colloc_grad_1d),
    };
    for (name, matrix, columns) in [("interp", &basis.interp_1d, q), ("grad", grad, columns)] {
        let transposed = Contraction::<f64>::transposed(matrix, columns, g);
        let matrix = Contraction::new(matrix, g, columns);
        for (name, matrix) in [
            (format!("{name}_transposed"), transposed),
            (name.into(), matrix),
        ] {
            if even_odd {
                source.table(&format!("c_{name}_even"), &matrix.even);
                source.table(&format!("c_{name}_odd"), &matrix.odd);
            } else {
                source.table(&format!("c_{name}"), &matrix.dense);
            }
        }
    }
}

/// Products of entries of the 1-D matrices, for diagonals.
pub(super) fn products(source: &mut SourceBuilder, basis: &TensorTables) {
    source.table("c_products", &contraction::products(basis).concat());
}

/// The quadrature rule.
pub(super) fn rule(source: &mut SourceBuilder, basis: &TensorTables) {
    source.table("c_points", &basis.points);
    source.table("c_weights", &basis.weights);
}
