//! A basis at the points of a quadrature rule: 1-D factors on tensor products, or full tables.

use crate::Degree;
use crate::basis::{BasisError, LagrangeBasis, MAX_POINTS_1D, Matrix, check, lagrange, nodes};
use crate::cell::Cell;
use crate::quadrature::{Rule, Rule1d, gauss, gauss_lobatto};
use std::ops::Deref;
use std::sync::Arc;

/// The tables of a cell, in the form that a family needs. It dereferences to [`BasisAtPoints`].
#[derive(Clone, Debug)]
pub enum Tables {
    /// 1-D factors.
    Tensor(Arc<TensorTables>),
    /// Full tables.
    Dense(Arc<DenseTables>),
}

impl Deref for Tables {
    type Target = dyn BasisAtPoints;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Tensor(tables) => &**tables,
            Self::Dense(tables) => &**tables,
        }
    }
}

/// A basis at the points of a rule on a cell, independent of its storage.
pub trait BasisAtPoints {
    /// Number of nodes of a cell.
    fn nodes(&self) -> usize;
    /// Number of points of a cell.
    fn points(&self) -> usize;
    /// Weight of a point.
    fn weight(&self, point: usize) -> f64;
    /// Value of a basis function at a point, and its reference derivatives; those beyond the cell's
    /// dimension are zero.
    fn at(&self, point: usize, node: usize) -> (f64, [f64; 3]);
}

/// The Lagrange basis of a tensor-product cell on GLL nodes, at a tensor grid of quadrature points.
///
/// On the hexahedron the basis function of node `(i, j, k)` is ℓ_i(ξ) ℓ_j(η) ℓ_k(ζ); its values and
/// derivatives at the points are products of the matrices stored here. The matrices are exactly symmetric
/// about their centre, with g = `points_1d` and q = `nodes_1d`: `interp[i][j] == interp[g-1-i][q-1-j]` and
/// `grad[i][j] == -grad[g-1-i][q-1-j]`.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorTables {
    /// The cell: a line, quadrilateral or hexahedron.
    pub cell: Cell,
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
    /// Whether the points are the nodes, so that `interp_1d` is the identity.
    pub collocated: bool,
}

impl TensorTables {
    /// The basis of this degree with a Gauss rule.
    ///
    /// # Errors
    /// A degree without a basis on the cell, or points outside 1..=[`MAX_POINTS_1D`].
    pub fn gauss(cell: Cell, degree: usize, points_1d: usize) -> Result<Self, BasisError> {
        check_tensor(cell, degree)?;
        if !(1..=MAX_POINTS_1D).contains(&points_1d) {
            return Err(BasisError::Points { found: points_1d });
        }
        Ok(Self::new(cell, nodes::gll(degree), gauss(points_1d)))
    }

    /// The basis of this degree with its own GLL nodes as quadrature points: interpolation is exactly the
    /// identity.
    ///
    /// # Errors
    /// A degree without a basis on the cell.
    pub fn collocated(cell: Cell, degree: usize) -> Result<Self, BasisError> {
        check_tensor(cell, degree)?;
        let rule = gauss_lobatto(degree + 1).map_err(|_| BasisError::Degree {
            found: degree,
            cell,
        })?;
        Ok(Self::new(cell, rule.points.clone(), rule))
    }

    /// The polynomial degree.
    pub fn degree(&self) -> usize {
        self.nodes_1d - 1
    }

    /// The rule along an axis.
    pub fn line_rule(&self) -> Rule1d {
        Rule1d {
            points: self.points.clone(),
            weights: self.weights.clone(),
        }
    }

    /// The degree to which the rule is exact along each axis.
    pub fn exact_to(&self) -> usize {
        // Points that are the nodes are those of a Gauss–Lobatto rule, others of a Gauss rule.
        2 * self.points_1d - if self.collocated { 3 } else { 1 }
    }

    /// The tensor grid of points, lexicographic, with products of weights.
    pub fn rule(&self) -> Rule {
        Rule::product(&vec![self.line_rule(); self.cell.dim()], self.exact_to())
    }

    /// Number of nodes of a cell.
    pub fn nodes(&self) -> usize {
        self.nodes_1d.pow(self.cell.dim() as u32)
    }

    /// Number of points of a cell.
    pub fn points(&self) -> usize {
        self.points_1d.pow(self.cell.dim() as u32)
    }

    fn new(cell: Cell, nodes: Vec<f64>, rule: Rule1d) -> Self {
        let symmetric = |mut matrix: Matrix, sign| {
            matrix.symmetrise(sign);
            matrix.into_vec()
        };
        let points = rule.points;
        Self {
            cell,
            collocated: points == nodes,
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

impl BasisAtPoints for TensorTables {
    fn nodes(&self) -> usize {
        self.nodes()
    }

    fn points(&self) -> usize {
        self.points()
    }

    fn weight(&self, point: usize) -> f64 {
        let along = along_axes(point, self.points_1d);
        let axes = along.iter().take(self.cell.dim());
        axes.map(|&p| self.weights[p]).product()
    }

    fn at(&self, point: usize, node: usize) -> (f64, [f64; 3]) {
        let dim = self.cell.dim();
        let points = along_axes(point, self.points_1d);
        let nodes = along_axes(node, self.nodes_1d);
        let (mut value, mut gradient) = (1.0, [0.0; 3]);
        gradient[..dim].fill(1.0);
        for axis in 0..dim {
            let entry = points[axis] * self.nodes_1d + nodes[axis];
            let (factor, slope) = (self.interp_1d[entry], self.grad_1d[entry]);
            value *= factor;
            for (other, derivative) in gradient.iter_mut().enumerate() {
                *derivative *= if other == axis { slope } else { factor };
            }
        }
        (value, gradient)
    }
}

/// Indices along the axes of entry `n` of a lexicographic array of `len` along each.
fn along_axes(n: usize, len: usize) -> [usize; 3] {
    [n % len, n / len % len, n / (len * len)]
}

fn check_tensor(cell: Cell, degree: usize) -> Result<(), BasisError> {
    match cell.is_tensor_product() {
        true => check(cell, degree),
        false => Err(BasisError::Cell { cell }),
    }
}

/// A basis at the points of a quadrature rule on any cell, as full tables.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseTables {
    /// The cell.
    pub cell: Cell,
    /// Degree of the basis.
    pub degree: Degree,
    /// Dimension of the space around the cell: its own, or one more; derivatives and positions along axes
    /// beyond its own are zero.
    pub dim: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of quadrature points.
    pub points: usize,
    /// Weights, `[point]`; they add up to the volume of the reference cell.
    pub weights: Vec<f64>,
    /// Positions of the points, `[point][dim]`.
    pub positions: Vec<f64>,
    /// Values of the basis functions at the points, `[point][node]`.
    pub interp: Vec<f64>,
    /// Their reference derivatives, `[point][node][dim]`.
    pub grad: Vec<f64>,
}

impl DenseTables {
    /// A basis at the points of a rule on its cell.
    pub fn new(basis: &LagrangeBasis, rule: &Rule) -> Self {
        Self::in_space(basis, rule, basis.cell().dim())
    }

    /// As [`Self::new`], for a cell in a space of `dim` dimensions, its own or more.
    pub fn in_space(basis: &LagrangeBasis, rule: &Rule, dim: usize) -> Self {
        let (values, own) = (basis.at(&rule.points), basis.cell().dim());
        let positions = rule.points.iter().flat_map(|x| &x[..dim]);
        let gradients = values.grad.chunks_exact(own);
        let padded = |gradient: &[f64]| {
            let mut all = [0.0; 3];
            all[..own].copy_from_slice(gradient);
            all.into_iter().take(dim)
        };
        Self {
            cell: basis.cell(),
            degree: basis.degree(),
            dim,
            nodes: basis.nodes().len(),
            points: rule.len(),
            weights: rule.weights.clone(),
            positions: positions.copied().collect(),
            interp: values.interp,
            grad: gradients.flat_map(padded).collect(),
        }
    }

    /// Whether the basis is that of degree 1 on a simplex: gradients are then constant in a cell, and
    /// ∂u/∂ξ_a is the difference of vertex a + 1 and vertex 0.
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

    /// Whether the rule of a simplex is invariant under permutations of the vertices.
    pub fn is_symmetric(&self) -> bool {
        let barycentric = |point: usize| {
            let mut own = [0.0; 4];
            own[1..=self.dim].copy_from_slice(self.position(point));
            own[0] = 1.0 - self.position(point).iter().sum::<f64>();
            own
        };
        // Two neighbours swapped; such permutations generate all others.
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

    /// Positions of the points, `[point][3]`, zero beyond the cell's dimension.
    pub fn positions_3d(&self) -> Vec<[f64; 3]> {
        let points = self.positions.chunks_exact(self.dim);
        points
            .map(|point| core::array::from_fn(|axis| point.get(axis).copied().unwrap_or(0.0)))
            .collect()
    }

    /// Position of a point, `[dim]`.
    pub fn position(&self, point: usize) -> &[f64] {
        &self.positions[point * self.dim..][..self.dim]
    }
}

impl BasisAtPoints for DenseTables {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn points(&self) -> usize {
        self.points
    }

    fn weight(&self, point: usize) -> f64 {
        self.weights[point]
    }

    fn at(&self, point: usize, node: usize) -> (f64, [f64; 3]) {
        let mut gradient = [0.0; 3];
        gradient[..self.dim].copy_from_slice(self.gradient(point, node));
        (self.value(point, node), gradient)
    }
}
