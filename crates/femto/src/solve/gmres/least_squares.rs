//! The least-squares problem of GMRES, on the host.

/// Minimises |β e₀ - H y| for an upper Hessenberg H that grows column by column, by Givens rotations (Saad,
/// Iterative Methods for Sparse Linear Systems, 2nd edition, section 6.5.3).
#[derive(Default)]
pub(super) struct LeastSquares {
    /// R of H = Q R, column by column; column k has k + 1 numbers.
    r: Vec<f64>,
    /// The rotations that make up Qᵀ: `[column][cosine, sine]`.
    rotations: Vec<[f64; 2]>,
    /// Qᵀ β e₀, one number more than columns.
    g: Vec<f64>,
    /// The minimiser.
    y: Vec<f64>,
}

impl LeastSquares {
    /// Resets to no columns, with this β.
    pub(super) fn start(&mut self, beta: f64) {
        self.r.clear();
        self.rotations.clear();
        self.g.clear();
        self.g.push(beta);
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> usize {
        self.rotations.len()
    }

    /// The minimum of |β e₀ - H y|.
    pub(super) fn residual(&self) -> f64 {
        self.g.last().copied().unwrap_or(0.0).abs()
    }

    /// Adds column k, of k + 2 numbers, where k columns exist so far. Returns false, without adding it, if
    /// R would become singular: if its pivot is `negligible`.
    pub(super) fn push(&mut self, column: &mut [f64], negligible: f64) -> bool {
        let k = self.columns();
        for (row, &[cosine, sine]) in self.rotations.iter().enumerate() {
            let (above, below) = (column[row], column[row + 1]);
            column[row] = cosine * above + sine * below;
            column[row + 1] = cosine * below - sine * above;
        }
        let pivot = column[k].hypot(column[k + 1]);
        if pivot <= negligible {
            return false;
        }
        let [cosine, sine] = [column[k] / pivot, column[k + 1] / pivot];
        self.r.extend_from_slice(&column[..k]);
        self.r.push(pivot);
        self.rotations.push([cosine, sine]);
        let last = self.g[k];
        self.g[k] = cosine * last;
        self.g.push(-sine * last);
        true
    }

    /// The minimiser y, one number per column.
    pub(super) fn solve(&mut self) -> &[f64] {
        let columns = self.columns();
        self.y.clear();
        self.y.extend_from_slice(&self.g[..columns]);
        for k in (0..columns).rev() {
            let column = &self.r[k * (k + 1) / 2..][..=k];
            self.y[k] /= column[k];
            let y = self.y[k];
            for (above, r) in self.y[..k].iter_mut().zip(column) {
                *above -= r * y;
            }
        }
        &self.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H by columns.
    const H: [[f64; 4]; 3] = [
        [1.0, 2.0, 0.0, 0.0],
        [-3.0, 0.5, 1.5, 0.0],
        [2.0, 1.0, -1.0, 0.25],
    ];

    /// β e₀ - H y.
    fn rest(y: &[f64]) -> [f64; 4] {
        let mut rest = [3.0, 0.0, 0.0, 0.0];
        for (column, y) in H.iter().zip(y) {
            for (rest, h) in rest.iter_mut().zip(column) {
                *rest -= h * y;
            }
        }
        rest
    }

    /// The residual at the minimum is orthogonal to the columns.
    #[test]
    fn the_residual_is_orthogonal_and_has_the_reported_norm() {
        let mut problem = LeastSquares::default();
        problem.start(3.0);
        for columns in 1..=3 {
            let mut column = H[columns - 1];
            assert!(problem.push(&mut column[..=columns], 0.0));
            let y = problem.solve().to_vec();
            assert_eq!(y.len(), columns);
            let rest = rest(&y);
            for column in &H[..columns] {
                let product: f64 = column.iter().zip(rest).map(|(h, r)| h * r).sum();
                assert!(product.abs() < 1e-14, "{product}");
            }
            let norm = rest.iter().map(|r| r * r).sum::<f64>().sqrt();
            assert!((norm - problem.residual()).abs() < 1e-14);
        }
    }

    #[test]
    fn a_column_without_a_pivot_is_left_out() {
        let mut problem = LeastSquares::default();
        problem.start(1.0);
        assert!(!problem.push(&mut [1e-20, 0.0], 1e-15));
        assert_eq!(problem.columns(), 0);
        assert_eq!(problem.residual(), 1.0);
        assert!(problem.solve().is_empty());
    }
}
