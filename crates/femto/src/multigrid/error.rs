//! Errors of multigrid.

use super::MAX_ORDER;
use crate::operator::OperatorError;
use crate::solve::JacobiError;
use femto_element::Degree;
use femto_element::basis::BasisError;
use femto_platform::device::DeviceError;
use thiserror::Error;

/// Why an operator has no multigrid preconditioner.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MultigridError {
    /// An empty list of levels.
    #[error("multigrid on no level")]
    NoLevel,
    /// Levels whose degrees do not fall to 1.
    #[error(
        "levels of degrees {}; they must decrease to 1, as those of multigrid::degrees do",
        found.iter().map(Degree::to_string).collect::<Vec<_>>().join(", then ")
    )]
    Degrees {
        /// The degrees, in the order of the levels.
        found: Vec<Degree>,
    },
    /// A level with the constraints of a larger space.
    #[error("constraints reach beyond the vectors of the level of degree {degree}")]
    OtherConstraints {
        /// Degree of the level.
        degree: Degree,
    },
    /// The cycle of another hierarchy.
    #[error(
        "the cycle is that of a hierarchy whose levels have {found:?} unknowns, and these have {expected:?}"
    )]
    OtherCycle {
        /// Unknowns of the levels that it was set up for, finest first.
        found: Vec<usize>,
        /// Those of the hierarchy's levels.
        expected: Vec<usize>,
    },
    /// Levels on different elements, or with different components.
    #[error(
        "the levels' elements or components differ, or are in another order: see Block::of_lower_degree"
    )]
    OtherElements,
    /// Vectors whose components are one after the other.
    #[error("multigrid takes spaces whose components are interleaved (`Layout::Interleaved`)")]
    Layout,
    /// A field that has values at the points of the finest level only.
    #[error(
        "multigrid evaluates fields on levels of lower degree, and auxiliary field {field} is only known at \
         the points of the finest: give it per cell or at the nodes, or take `jacobi`"
    )]
    FieldAtPoints {
        /// Index of the field.
        field: usize,
    },
    /// Cells or a form without Schwarz smoothing.
    #[error(
        "Schwarz smoothing takes meshes of quadrilaterals or of hexahedra, and forms with a positive energy of each component; \
         take the smoother `diagonal`"
    )]
    NoSchwarz,
    /// Cells or a form without lines to solve along.
    #[error(
        "solves along lines take meshes of quadrilaterals, of hexahedra or of prisms, and forms with a positive energy of each \
         component; take the smoother `diagonal`"
    )]
    NoLines,
    /// A smoother's order.
    #[error("a smoother of order {found}; orders are 1 to {MAX_ORDER}")]
    Order {
        /// Order requested.
        found: usize,
    },
    /// A factor of safety that is zero, negative or not finite.
    #[error("a factor of safety of {found}; it is a positive number, usually a little more than 1")]
    Safety {
        /// The factor.
        found: f64,
    },
    /// A level whose E-vector is longer than 32-bit indices address.
    #[error("a level has {entries} entries at the nodes of its elements, more than 4294967295")]
    TooLarge {
        /// Number of entries.
        entries: usize,
    },
    /// A level's matrix has a direction without positive curvature.
    #[error(
        "a level's matrix is not positive definite in the cycle's precision: (p, A p) = {curvature:.3e} for some p; \
         take `jacobi` or `none`, or cycles in fp64 if they are in fp32"
    )]
    NotPositiveDefinite {
        /// The curvature.
        curvature: f64,
    },
    /// A level's diagonal has entries that are not positive.
    #[error("the diagonal of a level: {0}")]
    Diagonal(#[from] JacobiError),
    /// A level of lower degree has no basis.
    #[error(transparent)]
    Basis(#[from] BasisError),
    /// A level's operator cannot be built or applied.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A device error.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl MultigridError {
    /// Whether a parameter is out of range.
    pub(crate) fn is_of_parameters(&self) -> bool {
        matches!(self, Self::Order { .. } | Self::Safety { .. })
    }

    /// Whether rounding, or too large or small a number, may be the reason.
    pub(crate) fn may_be_the_precisions(&self) -> bool {
        matches!(self, Self::NotPositiveDefinite { .. } | Self::Diagonal(_))
    }

    /// Whether the problem as it was given is wrong, as opposed to a fault of femto or of the device.
    pub fn is_of_input(&self) -> bool {
        match self {
            Self::FieldAtPoints { .. } | Self::NoSchwarz | Self::NoLines => true,
            Self::Order { .. } | Self::Safety { .. } => true,
            Self::Operator(error) => error.is_of_input(),
            Self::TooLarge { .. }
            | Self::NoLevel
            | Self::Degrees { .. }
            | Self::OtherConstraints { .. }
            | Self::OtherCycle { .. }
            | Self::OtherElements
            | Self::Layout
            | Self::NotPositiveDefinite { .. }
            | Self::Diagonal(_)
            | Self::Basis(_)
            | Self::Device(_) => false,
        }
    }
}
