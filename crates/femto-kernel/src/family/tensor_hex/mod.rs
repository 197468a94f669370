//! tensor_hex: operators on hexahedra by sum factorisation.
//!
//! On an element the unknowns are values at the (N+1)³ tensor-product GLL nodes, `[k][j][i]`. Values
//! at the tensor-product quadrature points are three 1-D contractions (Świrydowicz et al. 2019, eq. 7),
//!
//! ```text
//! u(ξ_i, η_j, ζ_k) = Σ_c I[k][c] Σ_b I[j][b] Σ_a I[i][a] u[c][b][a],
//! ```
//!
//! and reference gradients three more with the differentiation matrix of the Lagrange basis *on the
//! points* (eq. 9; twelve contractions instead of eighteen for forward and transpose together).
//! At the points the form acts, and the transposed contractions bring the result back. When the
//! points are the nodes (BK5, BP5) the interpolation is the identity and is left out.
//!
//! [`oracle`] is the oracle of everything here; [`host`] the fast loops; [`work`] counts bytes
//! and flops.

pub mod factors;
pub mod forms;
pub mod host;
pub mod ladder;
pub mod oracle;
pub mod pencils;
pub mod schedule;
pub mod work;

pub use super::batch::EvalContext;

/// The 1-D tables of an element: nodes, points, weights and matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    /// Nodes along an axis, degree + 1.
    pub nodes_1d: usize,
    /// Quadrature points along an axis.
    pub points_1d: usize,
    /// Positions of the points in [−1, 1], `[points_1d]`.
    pub points: Vec<f64>,
    /// Weights of the points, `[points_1d]`.
    pub weights: Vec<f64>,
    /// Node values to point values, `[points_1d][nodes_1d]`.
    pub interp_1d: Vec<f64>,
    /// Point values to derivatives at the points, `[points_1d][points_1d]`.
    pub colloc_grad_1d: Vec<f64>,
    /// The points are the nodes, so that `interp_1d` is the identity.
    pub collocated: bool,
}

impl Basis {
    /// Nodes of one element.
    pub fn nodes(&self) -> usize {
        self.nodes_1d.pow(3)
    }

    /// Points of one element.
    pub fn points(&self) -> usize {
        self.points_1d.pow(3)
    }

    /// Node values to derivatives at the points, `[points_1d][nodes_1d]`: `colloc_grad · interp`.
    pub fn grad_1d(&self) -> Vec<f64> {
        let (q, g) = (self.nodes_1d, self.points_1d);
        let entry = |i: usize, a: usize| {
            (0..g)
                .map(|m| self.colloc_grad_1d[i * g + m] * self.interp_1d[m * q + a])
                .sum()
        };
        (0..g * q).map(|n| entry(n / q, n % q)).collect()
    }
}

/// How an element's geometry is kept (the data levels of the design, by kind of map).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Storage {
    /// A parallelepiped's 4 coefficient vectors; the Jacobian follows (`on_the_fly`).
    Affine,
    /// A trilinear map's 8 coefficient vectors; the Jacobian follows (`on_the_fly`).
    Trilinear,
    /// Jacobian (and position, if it is read) at every point (`partial`), for any form.
    Jacobians,
    /// Factors of a form λ u, K ∇u, one set per element (`partial`, affine maps only).
    ElementFactors,
    /// Factors of a form λ u, K ∇u at every point (`partial`).
    PointFactors,
}

/// The geometry of one element, from which [`host::HexPlan::pack`] takes what its storage needs.
#[derive(Clone, Copy, Debug)]
pub enum ElementGeometry<'a> {
    /// `x = Σ c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`, `[8][3]`.
    Map(&'a [[f64; 3]; 8]),
    /// At the points, lexicographic: Jacobians `[physical][reference]` and positions.
    Points {
        /// ∂x/∂ξ.
        jacobian: &'a [[[f64; 3]; 3]],
        /// x.
        position: &'a [[f64; 3]],
    },
}
