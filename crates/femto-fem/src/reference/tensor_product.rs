//! The one-dimensional factors of a tensor-product basis and its quadrature.

use super::{MAX_DEGREE, MAX_POINTS_1D, Matrix, ReferenceError, lagrange, nodes};
use crate::quadrature::{Rule1d, gauss, gauss_lobatto};

/// The Lagrange basis of one degree on GLL nodes, seen from a quadrature rule.
///
/// On the hexahedron the basis function of node `(i, j, k)` is ℓ_i(ξ) ℓ_j(η) ℓ_k(ζ); its values and
/// derivatives at the tensor grid of points are products of the matrices kept here. The matrices
/// are symmetric about their centre to the bit, with g = `points_1d` and q = `nodes_1d`:
/// `interp[i][j] == interp[g-1-i][q-1-j]` and `grad[i][j] == -grad[g-1-i][q-1-j]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis1d {
    /// Nodes per direction: degree + 1.
    pub nodes_1d: usize,
    /// Quadrature points per direction.
    pub points_1d: usize,
    /// Positions of the nodes on `[-1, 1]`, `[nodes_1d]`.
    pub nodes: Vec<f64>,
    /// Positions of the quadrature points on `[-1, 1]`, `[points_1d]`.
    pub points: Vec<f64>,
    /// Quadrature weights, `[points_1d]`.
    pub weights: Vec<f64>,
    /// Values of the basis at the points, `[points_1d][nodes_1d]`.
    pub interp_1d: Vec<f64>,
    /// Derivatives of the basis at the points, `[points_1d][nodes_1d]`.
    pub grad_1d: Vec<f64>,
    /// Derivatives at the points of the Lagrange basis *on the points*, `[points_1d][points_1d]`.
    /// With at least as many points as nodes, `grad_1d = colloc_grad_1d interp_1d`.
    pub colloc_grad_1d: Vec<f64>,
}

impl Basis1d {
    /// The basis of this degree with a Gauss rule.
    ///
    /// # Errors
    /// A degree outside 1..=[`MAX_DEGREE`], points outside 1..=[`MAX_POINTS_1D`].
    pub fn gauss(degree: usize, points_1d: usize) -> Result<Self, ReferenceError> {
        check_degree(degree)?;
        if !(1..=MAX_POINTS_1D).contains(&points_1d) {
            return Err(ReferenceError::Points { found: points_1d });
        }
        Ok(Self::new(nodes::gll(degree), gauss(points_1d)))
    }

    /// The basis of this degree with its own GLL nodes as quadrature points: interpolation is the
    /// identity, exactly.
    ///
    /// # Errors
    /// A degree outside 1..=[`MAX_DEGREE`].
    pub fn collocated(degree: usize) -> Result<Self, ReferenceError> {
        check_degree(degree)?;
        let rule =
            gauss_lobatto(degree + 1).map_err(|_| ReferenceError::Degree { found: degree })?;
        Ok(Self::new(rule.points.clone(), rule))
    }

    /// The polynomial degree.
    pub fn degree(&self) -> usize {
        self.nodes_1d - 1
    }

    /// Whether the points are the nodes.
    pub fn is_collocated(&self) -> bool {
        self.points == self.nodes
    }

    fn new(nodes: Vec<f64>, rule: Rule1d) -> Self {
        let symmetric = |mut matrix: Matrix, sign| {
            matrix.symmetrise(sign);
            matrix.into_vec()
        };
        let points = rule.points;
        Self {
            nodes_1d: nodes.len(),
            points_1d: points.len(),
            interp_1d: symmetric(lagrange::interpolation(&nodes, &points), 1.0),
            grad_1d: symmetric(lagrange::differentiation(&nodes, &points), -1.0),
            colloc_grad_1d: symmetric(lagrange::differentiation(&points, &points), -1.0),
            nodes,
            points,
            weights: rule.weights,
        }
    }
}

fn check_degree(degree: usize) -> Result<(), ReferenceError> {
    if (1..=MAX_DEGREE).contains(&degree) {
        Ok(())
    } else {
        Err(ReferenceError::Degree { found: degree })
    }
}
