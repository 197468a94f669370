//! The tables of a reference simplex.

/// A basis at the points of a quadrature rule, on the reference simplex {ξ_a ≥ 0, Σ ξ_a ≤ 1}.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// 2 for triangles, 3 for tetrahedra.
    pub dim: usize,
    /// Number of nodes, the vertices first (the origin, then the end of each axis).
    pub nodes: usize,
    /// Number of quadrature points.
    pub points: usize,
    /// Weights, `[point]`; they add up to the volume of the reference simplex.
    pub weights: Vec<f64>,
    /// Positions of the points, `[point][dim]`.
    pub positions: Vec<f64>,
    /// Values of the basis functions at the points, `[point][node]`.
    pub interp: Vec<f64>,
    /// Their derivatives by the reference coordinates, `[point][node][dim]`.
    pub grad: Vec<f64>,
}

impl Element {
    /// A basis at the points of a rule: `points` and `weights` are the rule's (the first `dim` numbers of
    /// a point count), `interp` is `[point][node]` and `grad` `[point][node][dim]`.
    pub fn new(
        dim: usize,
        (points, weights): (&[[f64; 3]], Vec<f64>),
        (interp, grad): (Vec<f64>, Vec<f64>),
    ) -> Self {
        Self {
            dim,
            nodes: interp.len() / points.len(),
            points: points.len(),
            weights,
            positions: points.iter().flat_map(|x| &x[..dim]).copied().collect(),
            interp,
            grad,
        }
    }

    /// Whether the basis is that of degree 1: then gradients are constant in a cell, and ∂u/∂ξ_a is the
    /// difference of vertex a + 1 and vertex 0.
    pub fn is_degree_one(&self) -> bool {
        let reference = |n: usize| {
            let (node, axis) = (n / self.dim % self.nodes, n % self.dim);
            match node {
                0 => -1.0,
                _ => f64::from(u8::from(node == axis + 1)),
            }
        };
        let close = |(n, &entry): (usize, &f64)| (entry - reference(n)).abs() < 1e-14;
        self.nodes == self.dim + 1 && self.grad.iter().enumerate().all(close)
    }

    /// Whether the rule is the same for any order of the vertices.
    pub fn is_symmetric(&self) -> bool {
        let barycentric = |point: usize| {
            let mut own = [0.0; 4];
            own[1..=self.dim].copy_from_slice(self.position(point));
            own[0] = 1.0 - self.position(point).iter().sum::<f64>();
            own
        };
        // Two neighbours changed places; these generate all orders.
        let has_turned = |point: usize, axis: usize| {
            let mut turned = barycentric(point);
            turned.swap(axis, axis + 1);
            (0..self.points).any(|other| {
                let pairs = turned.iter().zip(barycentric(other));
                let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                apart < 1e-13 && (self.weights[point] - self.weights[other]).abs() < 1e-13
            })
        };
        (0..self.points).all(|point| (0..self.dim).all(|axis| has_turned(point, axis)))
    }

    /// Value of a basis function at a point.
    pub fn value(&self, point: usize, node: usize) -> f64 {
        self.interp[point * self.nodes + node]
    }

    /// Derivatives of a basis function at a point, `[dim]`.
    pub fn gradient(&self, point: usize, node: usize) -> &[f64] {
        &self.grad[(point * self.nodes + node) * self.dim..][..self.dim]
    }

    /// Position of a point, `[dim]`.
    pub fn position(&self, point: usize) -> &[f64] {
        &self.positions[point * self.dim..][..self.dim]
    }
}
