//! sum_factorization: operators on hexahedra and quadrilaterals by sum factorisation.
//!
//! The unknowns of an element are values at the (N+1)³ tensor-product GLL nodes, `[k][j][i]`. Values at the
//! tensor-product quadrature points are three 1-D contractions (Świrydowicz et al. 2019, eq. 7),
//!
//! ```text
//! u(ξ_i, η_j, ζ_k) = Σ_c I[k][c] Σ_b I[j][b] Σ_a I[i][a] u[c][b][a],
//! ```
//!
//! and reference gradients three more with the differentiation matrix of the Lagrange basis *on the points*
//! (eq. 9; twelve contractions instead of eighteen for forward and transpose together). On a quadrilateral,
//! `[j][i]`, there are no contractions along k. The form is evaluated at the points, and the transposed
//! contractions bring the result back. If the points are the nodes (BK5, BP5) the interpolation is the
//! identity and is left out.
//!
//! The [oracle](super::oracle) is that of all families; [`host`] has the fast loops; [`work`] counts bytes and
//! flops.

mod block;
mod contraction;
mod entries;
pub mod factors;
pub mod host;
pub mod kernel;
mod pack;
pub mod work;

pub use block::{Block, SumFactorization};

use super::FactorPrecision;
use crate::scalar::Precision;

/// The storage of an element's geometry, by kind of map and data level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Storage {
    /// A parallelepiped's 4 coefficient vectors, a parallelogram's 3; the Jacobian is recomputed
    /// (`on_the_fly`).
    Affine,
    /// A trilinear map's 8 coefficient vectors, a bilinear one's 4; the Jacobian is recomputed
    /// (`on_the_fly`).
    Multilinear,
    /// Jacobian (and position, if it is read) at every point (`partial`), for any form.
    Jacobians,
    /// Factors of a form λ u, K ∇u on hexahedra, one set per element (`partial`, affine maps only).
    ElementFactors,
    /// Factors of a form λ u, K ∇u on hexahedra at every point (`partial`).
    PointFactors,
    /// What factors of a form λ u, κ ∇u on trilinear hexahedra are recomputed from (`on_the_fly`): 7 coefficient vectors,
    /// λ and κ, or without gradients the 27 coefficients of λ det J.
    MapFactors,
    /// The numbers of the element's matrix (`partial`, degree 1, maps that are not affine), for a form λ u, κ ∇u on
    /// hexahedra, unless it is diagonal.
    Entries,
}

impl Storage {
    /// Whether the coefficients of a form λ u, κ ∇u are folded into what is stored.
    pub fn is_factors(self) -> bool {
        matches!(
            self,
            Self::ElementFactors | Self::PointFactors | Self::MapFactors | Self::Entries
        )
    }

    /// Whether numbers are stored for every point, not for every element.
    pub fn is_at_points(self) -> bool {
        matches!(self, Self::Jacobians | Self::PointFactors)
    }

    /// The precision of stored geometry, for arithmetic in `precision`.
    fn precision(self, factors: FactorPrecision, precision: Precision) -> Precision {
        match self {
            Self::PointFactors | Self::Entries => factors.at_points(precision),
            _ => precision,
        }
    }
}

impl work::Shape {
    /// The coefficients of a map that [`Storage::Affine`] and [`Storage::Multilinear`] keep: of ξ, η, ...
    /// and finally, if positions are read, of 1, `[coefficient][axis]`.
    fn kept(&self, c: &[[f64; 3]; 8]) -> impl Iterator<Item = f64> {
        let linear = self.storage == Storage::Affine;
        let is_kept = move |m: &usize| !linear || m.is_power_of_two();
        let last = self.position.then_some(0);
        let (dim, c) = (self.dim, *c);
        let kept = (1..1 << dim).filter(is_kept).chain(last);
        kept.flat_map(move |m| (0..dim).map(move |d| c[m][d]))
    }

    /// The columns of a Jacobian `[physical][reference]`, one after the other.
    fn columns(&self, jacobian: &[[f64; 3]; 3]) -> impl Iterator<Item = f64> {
        let (dim, j) = (self.dim, *jacobian);
        (0..dim * dim).map(move |n| j[n % dim][n / dim])
    }
}
