//! A multigrid cycle as a preconditioner: levels of lower degree on the same mesh, then smoothed aggregation.
//!
//! The degree is halved down to 1, with the form's operator on every level ([`Hierarchy`]); the matrix of
//! degree 1 goes on by aggregation. A cycle is
//!
//! ```text
//! cycle(b):  x = S b                         smooth from zero
//!            x = x + P cycle(Pᵀ (b - A x))   correct by the next level
//!            x = x + S (b - A x)             smooth again
//! ```
//! with a polynomial S of M⁻¹A, where M is the diagonal (`smoother.rs`), lines of nodes (`lines`) or Schwarz's (`schwarz.rs`), prolongation P
//! (`transfer.rs`, `aggregation.rs`), and the inverse matrix on the coarsest level. The matrix of degree 1 may do the
//! last two lines twice. A cycle is linear up to rounding, and symmetric and positive definite if A is; it allocates nothing,
//! and reads nothing back, so that solvers can capture it.
//!
//! A cycle may have a lower precision than the solver's vectors: fp32 cycles need no more iterations of fp64
//! conjugate gradients, since a fixed linear cycle only changes a little.

mod aggregates;
mod aggregation;
mod constrained_matrix;
mod cycle;
mod dense;
mod error;
mod hierarchy;
mod lanczos;
mod lines;
mod modes;
mod schwarz;
mod smoother;
mod stopwatch;
mod strengths;
mod transfer;

pub(crate) use aggregates::NearKernel;
pub(crate) use constrained_matrix::constrained_matrix;
pub use cycle::{Cycle, LevelMethod, Multigrid, MultigridWorkspace};
pub use error::MultigridError;
pub use hierarchy::{FormLevel, Hierarchy};
pub use smoother::MAX_ORDER;
pub use stopwatch::Clock;
pub(crate) use stopwatch::Stopwatch;

use crate::Host;
use femto_element::{Cell, Degree};
use femto_fem::space::Block;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use transfer::Pairing;

/// From about this [`Cycle::convection`] on iterations with Jacobi take about as long or less (`docs/multigrid.md`).
pub const CONVECTIVE: f64 = 2.0;

/// Parameters of a multigrid preconditioner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultigridParams {
    /// Precision of a cycle. Default fp32, whatever the solver's, and for linear problems fp64 where a level's matrix is not
    /// positive definite in fp32; fp32 does not hold where positions need fp64
    /// ([`Problem::needs_double_positions`](crate::problem::Problem::needs_double_positions)).
    pub precision: Option<Precision>,
    /// What smooths on levels of elements. The matrices below are smoothed along lines where nodes are coupled along these,
    /// but for [`SmootherKind::Diagonal`] and forms that are not symmetric.
    pub smoother: SmootherKind,
    /// Order of the smoother on levels of elements, 1 to [`MAX_ORDER`]. Default 3, and 6 with Schwarz.
    pub order: Option<usize>,
    /// Factor that makes an estimate of a level's largest eigenvalue, which is low by a few per cent, an upper
    /// bound. Default 1.15; with less than 1 cycles are not positive definite.
    pub safety: f64,
}

/// The matrix whose inverse a smoother on a level of elements applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmootherKind {
    /// Lines or Schwarz where cells are stretched, otherwise the diagonal.
    #[default]
    Automatic,
    /// The diagonal.
    Diagonal,
    /// A separable model on each element: for quadrilaterals and hexahedra.
    Schwarz,
    /// Solves along lines of nodes where cells are short in one direction: for quadrilaterals, hexahedra and prisms.
    Lines,
}

impl SmootherKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Automatic, Self::Diagonal, Self::Schwarz, Self::Lines];

    /// The name in cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Diagonal => "diagonal",
            Self::Schwarz => "schwarz",
            Self::Lines => "lines",
        }
    }
}

impl Default for MultigridParams {
    fn default() -> Self {
        Self {
            precision: None,
            smoother: SmootherKind::Automatic,
            order: None,
            safety: 1.15,
        }
    }
}

impl MultigridParams {
    /// Fails if a parameter is out of range.
    pub(crate) fn check(&self) -> Result<(), MultigridError> {
        match self.order {
            Some(found) if !(1..=MAX_ORDER).contains(&found) => {
                Err(MultigridError::Order { found })
            }
            _ if !(self.safety > 0.0 && self.safety.is_finite()) => {
                Err(MultigridError::Safety { found: self.safety })
            }
            _ => Ok(()),
        }
    }
}

/// The degrees of the levels on a cell: halved down to 1, a higher horizontal one first down to the vertical one. Odd ones are
/// rounded down on tensor products, which takes less time there though more iterations, and up on other cells.
pub fn degrees(cell: Cell, degree: impl Into<Degree>) -> Vec<Degree> {
    let halved = |degree: usize| match degree {
        0 | 1 => degree,
        _ if cell.is_tensor_product() => degree / 2,
        _ => degree.div_ceil(2),
    };
    let lower = |degree: &Degree| match degree.horizontal > degree.vertical {
        true => Degree::new(
            halved(degree.horizontal).max(degree.vertical),
            degree.vertical,
        ),
        false => degree.map(halved),
    };
    let next = |degree: &Degree| (degree.most() > 1).then(|| lower(degree));
    std::iter::successors(Some(degree.into()), next).collect()
}

/// The values of scalar functions of the space `from`, given at its nodes, at the nodes of the space `to` on the
/// same mesh.
pub(crate) fn at_nodes(
    from: &[Block],
    to: &[Block],
    values: &[f64],
) -> Result<Vec<f64>, MultigridError> {
    let host = Host::with_threads(1)?;
    let [from, to] = [from, to].map(|blocks| blocks.iter().map(Block::scalar).collect::<Vec<_>>());
    let transfer = Pairing::new(&from, &to)?.interpolation(&host, 0)?;
    let mut scratch = host.zeros(transfer.scratch())?;
    let mut found = host.zeros(transfer.rows())?;
    transfer.apply(&host.upload(values)?, &mut scratch, false, &mut found)?;
    Ok(found.to_vec())
}

#[cfg(test)]
mod tests;
