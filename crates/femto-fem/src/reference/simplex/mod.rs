//! Lagrange elements on the line, triangle and tetrahedron {ξ_a ≥ 0, Σ ξ_a ≤ 1}.
//!
//! Nodes are on the lattice of multi-indices of [`lattice()`], in the order of [`super::cell`], at
//! positions that are Gauss–Lobatto points on every edge, so that traces match those of hexahedra.
//! The basis is evaluated through an orthonormal one: with ψ_m the modes and V\[i\]\[m\] = ψ_m(x_i)
//! their values at the nodes, ℓ(x) = V⁻ᵀ ψ(x). Nothing here depends on the degree.

mod lattice;
mod modes;

pub(crate) use lattice::ordered;
pub use lattice::{equispaced, gmsh_lattice, lattice};

use super::{MAX_SIMPLEX_DEGREE, Matrix, ReferenceError};
use modes::modes;

/// A Lagrange element on a simplex of dimension 1, 2 or 3.
#[derive(Clone, Debug, PartialEq)]
pub struct Simplex {
    dim: usize,
    degree: usize,
    nodes: Vec<[f64; 3]>,
    /// V⁻¹, `[modes][nodes]`.
    from_modes: Matrix,
}

/// Values and gradients of a simplex's basis at points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimplexTables {
    /// Dimension of the simplex.
    pub dim: usize,
    /// Number of points.
    pub points: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Values of the basis, `[points][nodes]`.
    pub interp: Vec<f64>,
    /// Derivatives of the basis along the reference axes, `[points][nodes][dim]`.
    pub grad: Vec<f64>,
}

impl Simplex {
    /// The element of a dimension and degree.
    ///
    /// # Errors
    /// A dimension outside 1..=3, a degree outside 1..=[`MAX_SIMPLEX_DEGREE`].
    pub fn new(dim: usize, degree: usize) -> Result<Self, ReferenceError> {
        if !(1..=3).contains(&dim) {
            return Err(ReferenceError::SimplexDimension { found: dim });
        }
        if !(1..=MAX_SIMPLEX_DEGREE).contains(&degree) {
            return Err(ReferenceError::SimplexDegree { found: degree });
        }
        Ok(Self::of_any_degree(dim, degree))
    }

    fn of_any_degree(dim: usize, degree: usize) -> Self {
        let nodes = lattice::nodes(dim, degree);
        let mut values = Matrix::zeros(nodes.len(), nodes.len());
        for (i, &node) in nodes.iter().enumerate() {
            for (m, mode) in modes(dim, degree, node).iter().enumerate() {
                values[(i, m)] = mode.value;
            }
        }
        Self {
            dim,
            degree,
            nodes,
            from_modes: values.inverse(),
        }
    }

    /// Dimension of the simplex.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Polynomial degree.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Positions of the nodes, `[nodes][3]`, in the order of [`super::cell`]; coordinates beyond
    /// the dimension are zero.
    pub fn nodes(&self) -> &[[f64; 3]] {
        &self.nodes
    }

    /// Values and gradients of the basis at points, `[points][3]`, which may lie anywhere;
    /// coordinates beyond the dimension are ignored.
    pub fn tables(&self, points: &[[f64; 3]]) -> SimplexTables {
        let (nodes, dim) = (self.nodes.len(), self.dim);
        let mut tables = SimplexTables {
            dim,
            points: points.len(),
            nodes,
            interp: Vec::with_capacity(points.len() * nodes),
            grad: Vec::with_capacity(points.len() * nodes * dim),
        };
        for &point in points {
            match self.degree {
                1 => self.push_barycentric(point, &mut tables),
                _ => self.push(point, &mut tables),
            }
        }
        tables
    }

    fn push(&self, point: [f64; 3], tables: &mut SimplexTables) {
        let modes = modes(self.dim, self.degree, point);
        for node in 0..self.nodes.len() {
            let mut value = 0.0;
            let mut gradient = [0.0; 3];
            for (m, mode) in modes.iter().enumerate() {
                let weight = self.from_modes[(m, node)];
                value += weight * mode.value;
                for (sum, slope) in gradient.iter_mut().zip(mode.gradient) {
                    *sum += weight * slope;
                }
            }
            tables.interp.push(value);
            tables.grad.extend(&gradient[..self.dim]);
        }
    }

    /// Degree 1 without rounding: the basis functions are the barycentric coordinates.
    fn push_barycentric(&self, point: [f64; 3], tables: &mut SimplexTables) {
        let axes = &point[..self.dim];
        tables.interp.push(1.0 - axes.iter().sum::<f64>());
        tables.interp.extend(axes);
        tables.grad.extend(vec![-1.0; self.dim]);
        for node in 0..self.dim {
            let slope = |axis| if axis == node { 1.0 } else { 0.0 };
            tables.grad.extend((0..self.dim).map(slope));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::nodes::gll;

    /// A polynomial of full degree without symmetry, and its gradient.
    fn polynomial(degree: usize, [x, y, z]: [f64; 3]) -> (f64, [f64; 3]) {
        let n = degree as i32;
        let (a, b) = (1.0 + x - 0.5 * y + 0.7 * z, 0.3 - x + 0.2 * y - 1.1 * z);
        let slopes = |c: f64| f64::from(n) * c.powi(n - 1);
        let gradient = [
            slopes(a) - slopes(b),
            -0.5 * slopes(a) + 0.2 * slopes(b),
            0.7 * slopes(a) - 1.1 * slopes(b),
        ];
        (a.powi(n) + b.powi(n), gradient)
    }

    fn flat(dim: usize, mut x: [f64; 3]) -> [f64; 3] {
        x[dim..].fill(0.0);
        x
    }

    const POINTS: [[f64; 3]; 4] = [
        [0.1, 0.2, 0.3],
        [0.7, 0.05, 0.21],
        [0.0, 1.0, 0.0],
        [-0.4, 1.3, 0.2],
    ];

    #[test]
    fn the_basis_is_nodal_and_reproduces_polynomials() {
        for dim in 1..=3 {
            for degree in 1..=7 {
                let simplex = Simplex::of_any_degree(dim, degree);
                let tables = simplex.tables(simplex.nodes());
                for (i, &value) in tables.interp.iter().enumerate() {
                    let delta = f64::from(i / tables.nodes == i % tables.nodes);
                    assert!((value - delta).abs() < 1e-12, "{dim} {degree} {i}: {value}");
                }
                let at_nodes: Vec<f64> = (simplex.nodes().iter())
                    .map(|&x| polynomial(degree, x).0)
                    .collect();
                let tables = simplex.tables(&POINTS.map(|x| flat(dim, x)));
                for (p, x) in POINTS.map(|x| flat(dim, x)).into_iter().enumerate() {
                    let interp = &tables.interp[p * tables.nodes..][..tables.nodes];
                    let one: f64 = interp.iter().sum();
                    assert!((one - 1.0).abs() < 1e-11, "{dim} {degree}: {one}");
                    let (value, gradient) = polynomial(degree, x);
                    let found: f64 = interp.iter().zip(&at_nodes).map(|(l, u)| l * u).sum();
                    assert!(
                        (found - value).abs() < 1e-9,
                        "{dim} {degree}: {found} {value}"
                    );
                    for (axis, expected) in gradient.into_iter().enumerate().take(dim) {
                        let slope = |node| tables.grad[(p * tables.nodes + node) * dim + axis];
                        let terms = at_nodes.iter().enumerate();
                        let found: f64 = terms.map(|(node, u)| slope(node) * u).sum();
                        assert!((found - expected).abs() < 1e-8, "{dim} {degree} {axis}");
                    }
                }
            }
        }
    }

    #[test]
    fn traces_on_edges_are_those_of_hexahedra() {
        for dim in 1..=3 {
            for degree in 1..=7 {
                let nodes = Simplex::of_any_degree(dim, degree).nodes;
                let line = gll(degree);
                // Edge 0 runs from vertex 0 to vertex 1, along ξ.
                for m in 1..degree {
                    let x = nodes[dim + m];
                    assert!((x[0] - 0.5 * (1.0 + line[m])).abs() < 1e-15, "{x:?}");
                    assert_eq!(x[1..], [0.0; 2]);
                }
            }
        }
    }

    #[test]
    fn what_is_no_element_is_an_error() {
        let degree = Simplex::new(2, 4).unwrap_err().to_string();
        assert!(
            degree.contains("degree 4") && degree.contains("1 to 3"),
            "{degree}"
        );
        assert!(Simplex::new(2, 0).is_err());
        assert!(Simplex::new(0, 1).is_err());
        assert!(Simplex::new(4, 1).is_err());
        assert_eq!(Simplex::new(3, 3).unwrap().nodes().len(), 20);
    }
}
