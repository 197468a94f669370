//! The prism of degree 1 in both directions, and its rule of 8 points.
//!
//! φ_{2c+b} = λ_c(X, Y) ℓ_b(Z) with λ = (1−X−Y, X, Y) and ℓ = (1−Z, Z) on 0 ≤ X, Y, X+Y ≤ 1, 0 ≤ Z ≤ 1. Point 4a+2b+c
//! is Y = (4∓√6)/10 by b, X = (1−Y)(3∓√3)/6 by a, Z = (3∓√3)/6 by c, with weight (9±√6)/144 by b: exact for
//! degree 3 in (X, Y) and in Z.

/// Nodes of a cell.
pub(super) const NODES: usize = 6;

/// Points of a cell.
pub(super) const POINTS: usize = 8;

/// Basis and rule at the points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    /// φ, `[point][node]`.
    pub(super) values: [[f64; NODES]; POINTS],
    /// ∂φ, `[X, Y, Z][point][node]`.
    pub(super) derivatives: [[[f64; NODES]; POINTS]; 3],
    /// `[point]`
    pub(super) weights: [f64; POINTS],
}

impl Element {
    pub(super) fn new() -> Self {
        let mut element = Self {
            values: [[0.0; NODES]; POINTS],
            derivatives: [[[0.0; NODES]; POINTS]; 3],
            weights: [0.0; POINTS],
        };
        let gauss = |upper: usize| (3.0 + sign(upper) * 3f64.sqrt()) / 6.0;
        for point in 0..POINTS {
            let [a, b, c] = [point / 4, point / 2 % 2, point % 2];
            let y = (4.0 + sign(b) * 6f64.sqrt()) / 10.0;
            let x = (1.0 - y) * gauss(a);
            let z = gauss(c);
            element.weights[point] = (9.0 - sign(b) * 6f64.sqrt()) / 144.0;
            let lambda = [1.0 - x - y, x, y];
            let along_z = [1.0 - z, z];
            for node in 0..NODES {
                let (corner, above) = (node / 2, node % 2);
                element.values[point][node] = lambda[corner] * along_z[above];
                element.derivatives[0][point][node] = [-1.0, 1.0, 0.0][corner] * along_z[above];
                element.derivatives[1][point][node] = [-1.0, 0.0, 1.0][corner] * along_z[above];
                element.derivatives[2][point][node] = lambda[corner] * sign(above);
            }
        }
        element
    }

    /// φ, ∂_X φ, ∂_Y φ, ∂_Z φ as `[table][point][node]`, then the weights: the order of the kernels.
    pub(super) fn tables(&self) -> Vec<f64> {
        let tables = [&self.values].into_iter().chain(&self.derivatives);
        let entries = tables.flatten().flatten().chain(&self.weights);
        entries.copied().collect()
    }
}

/// −1 or 1.
fn sign(upper: usize) -> f64 {
    2.0 * upper as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that the authors print.
    #[test]
    fn tables_are_those_of_the_authors() {
        let element = Element::new();
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-14, "{wanted}");
        close(element.weights[0], 0.0795103454359941);
        close(element.weights[2], 0.0454896545640056);
        for (node, wanted) in [0.525565416968315, 0.140824829046386, 0.140824829046386]
            .into_iter()
            .enumerate()
        {
            close(element.values[0][node], wanted);
        }
        close(element.values[7][5], 0.508655219095739);
        close(element.derivatives[0][1][2], 0.211324865405187);
        close(element.derivatives[1][2][4], 0.788675134594813);
        close(element.derivatives[2][4][2], -0.666390246014701);
        close(element.derivatives[2][7][3], 0.280019915499074);
        close(element.weights.iter().sum(), 0.5);
        assert_eq!(element.tables().len(), 4 * 48 + 8);
    }
}
