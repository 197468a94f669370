//! The tables of a text: 1-D matrices, their products, the rule.

use crate::dialect::SourceBuilder;
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
    let interp = Matrix {
        rows: g,
        columns: q,
        entries: basis.interp_1d.clone(),
    };
    let (columns, grad) = match of_nodes {
        true => (q, &basis.grad_1d),
        false => (g, &basis.colloc_grad_1d),
    };
    let grad = Matrix {
        rows: g,
        columns,
        entries: grad.clone(),
    };
    for (name, matrix) in [
        ("interp_transposed", interp.transposed()),
        ("interp", interp),
        ("grad_transposed", grad.transposed()),
        ("grad", grad),
    ] {
        if even_odd {
            let (even, odd) = matrix.parts();
            source.table(&format!("c_{name}_even"), &even);
            source.table(&format!("c_{name}_odd"), &odd);
        } else {
            source.table(&format!("c_{name}"), &matrix.entries);
        }
    }
}

/// Products of entries of the 1-D matrices, for diagonals.
pub(super) fn products(source: &mut SourceBuilder, basis: &TensorTables) {
    let (interp, grad) = (&basis.interp_1d, basis.grad_1d.clone());
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let products = [
        product(interp, interp),
        product(interp, &grad),
        product(&grad, &grad),
    ];
    source.table("c_products", &products.concat());
}

/// The quadrature rule.
pub(super) fn rule(source: &mut SourceBuilder, basis: &TensorTables) {
    source.table("c_points", &basis.points);
    source.table("c_weights", &basis.weights);
}

/// A 1-D matrix `[rows][columns]`.
struct Matrix {
    rows: usize,
    columns: usize,
    entries: Vec<f64>,
}

impl Matrix {
    fn transposed(&self) -> Self {
        let (rows, columns) = (self.columns, self.rows);
        let entry = |n: usize| self.entries[(n % columns) * self.columns + n / columns];
        Self {
            rows,
            columns,
            entries: (0..rows * columns).map(entry).collect(),
        }
    }

    /// The factors of the even and odd parts of a pencil, `[(rows + 1) / 2][(columns + 1) / 2]` and
    /// `[(rows + 1) / 2][columns / 2]`; see `family/sum_factorization/text/contraction.h`.
    fn parts(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut even, mut odd) = (Vec::new(), Vec::new());
        for row in self
            .entries
            .chunks_exact(self.columns)
            .take(self.rows.div_ceil(2))
        {
            for (m, &entry) in row.iter().enumerate().take(self.columns / 2) {
                let mirrored = row[self.columns - 1 - m];
                even.push((entry + mirrored) / 2.0);
                odd.push((entry - mirrored) / 2.0);
            }
            if self.columns % 2 == 1 {
                even.push(row[self.columns / 2]);
            }
        }
        (even, odd)
    }
}
