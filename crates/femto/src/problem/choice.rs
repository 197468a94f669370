//! The choice of a preconditioner, with its reason.

use super::{Method, MultigridLevel};
use crate::multigrid::MultigridError;
use crate::solve::StopReason;
use femto_platform::device::DeviceKind;
use std::fmt;

/// Multigrid is chosen from this number of unknowns, where its set-up begins to pay on the host
/// (`docs/multigrid.md`).
const ENOUGH: usize = 20_000;

/// An approximate inverse of the operator or, for nonlinear forms, of the Jacobian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreconditionerKind {
    /// Multigrid for many unknowns on the host if the form, or its derivative, is symmetric or has little convection;
    /// otherwise Jacobi, which also takes its place if it cannot be set up or iterations fail with it; none for GMRES where
    /// the diagonal of a linear form is not positive. On accelerators
    /// Jacobi until it proves slow, and multigrid from then on, or at once if Jacobi is likely to be slow.
    /// [`PreconditionerChoice`] says which it is and why.
    #[default]
    Automatic,
    /// The identity.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// A cycle over spaces of lower degree, then aggregates, for symmetric positive definite forms, and others with little
    /// convection: see [`crate::multigrid`]. For nonlinear forms it is kept from step to step, and set up again when it
    /// has become slow.
    Multigrid,
}

impl PreconditionerKind {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::Automatic, Self::Multigrid, Self::Jacobi, Self::None];

    /// The name in cases and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::None => "none",
            Self::Jacobi => "jacobi",
            Self::Multigrid => "multigrid",
        }
    }
}

/// The preconditioner in use.
#[derive(Clone, Debug, PartialEq)]
pub struct PreconditionerChoice {
    /// Which one; never [`PreconditionerKind::Automatic`].
    pub kind: PreconditionerKind,
    /// Why.
    pub reason: PreconditionerReason,
}

/// Why a preconditioner is in use; [`fmt::Display`] says it in words.
#[derive(Clone, Debug, PartialEq)]
pub enum PreconditionerReason {
    /// The problem asks for it.
    Asked,
    /// Multigrid, because the form or its derivative is symmetric and there are many unknowns.
    Suitable,
    /// Multigrid, because the form or its derivative, though not symmetric, has little convection, and there are many
    /// unknowns.
    LittleConvection,
    /// Multigrid on the host, for the directions of Newton's method, though there are few unknowns: where coefficients vary
    /// much with u, Jacobi leaves errors in directions that their residuals hardly show.
    Directions,
    /// Jacobi, because there is much convection: from [`CONVECTIVE`](crate::multigrid::CONVECTIVE) on, or half of it in
    /// Newton's method.
    MuchConvection {
        /// As [`MultigridLevel::convection`](super::MultigridLevel::convection).
        convection: f64,
    },
    /// Jacobi, because the method, or that of Newton's directions, is not the one that multigrid is chosen with: conjugate
    /// gradients if the operator is symmetric, otherwise GMRES.
    OtherMethod(Method),
    /// Jacobi, because the form has no gradients: its condition does not depend on the mesh.
    NoGradients,
    /// Jacobi, because there are few unknowns.
    Few {
        /// Their number.
        unknowns: usize,
    },
    /// Multigrid on an accelerator, because there are so many unknowns that Jacobi is likely to be slow.
    Large {
        /// About how many iterations Jacobi takes on a cube of as many nodes.
        expected: f64,
    },
    /// Jacobi on an accelerator, as long as it is not slow.
    Watched,
    /// Multigrid from the last iterate on, because there were many iterations left with Jacobi.
    Slow {
        /// The number of these iterations.
        iterations: usize,
        /// About how many there would have been in all; infinite if the residual had not become smaller.
        expected: f64,
    },
    /// Multigrid from the last iterate on, because Jacobi took many iterations for Newton's directions.
    SlowDirections {
        /// The number of these iterations.
        iterations: usize,
    },
    /// Jacobi, because multigrid could not be set up.
    NoMultigrid(MultigridError),
    /// None, because Jacobi takes positive diagonals.
    Diagonal {
        /// The first entry that is not.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Jacobi from the last iterate on, because iterations with multigrid failed.
    GaveUp {
        /// The number of these iterations.
        iterations: usize,
        /// Why they ended.
        reason: StopReason,
    },
}

/// What the choice depends on.
pub(super) struct Facts {
    /// Of Newton's directions if the form is not linear.
    pub(super) krylov: Method,
    pub(super) symmetric: bool,
    /// Whether Newton's method solves.
    pub(super) is_newton: bool,
    pub(super) has_gradients: bool,
    /// Number of free entries.
    pub(super) unknowns: usize,
    pub(super) device: DeviceKind,
    /// About how many iterations Jacobi takes at least, if they take longer than multigrid's set-up on an accelerator.
    pub(super) slow: Option<f64>,
}

impl PreconditionerChoice {
    /// The preconditioner asked for, or the one for these facts.
    pub(super) fn new(asked: PreconditionerKind, facts: &Facts) -> Self {
        if asked != PreconditionerKind::Automatic {
            let reason = PreconditionerReason::Asked;
            return Self {
                kind: asked,
                reason,
            };
        }
        let reason = match *facts {
            Facts {
                krylov: method,
                symmetric,
                ..
            } if (method == Method::Cg) != symmetric => PreconditionerReason::OtherMethod(method),
            Facts {
                has_gradients: false,
                ..
            } => PreconditionerReason::NoGradients,
            Facts {
                unknowns,
                is_newton,
                device,
                ..
            } if unknowns < ENOUGH => match is_newton && device == DeviceKind::Host {
                true => PreconditionerReason::Directions,
                false => PreconditionerReason::Few { unknowns },
            },
            Facts {
                device: DeviceKind::Host,
                symmetric,
                ..
            } => match symmetric {
                true => PreconditionerReason::Suitable,
                false => PreconditionerReason::LittleConvection,
            },
            Facts { slow, .. } => match slow {
                Some(expected) => PreconditionerReason::Large { expected },
                None => PreconditionerReason::Watched,
            },
        };
        match reason {
            PreconditionerReason::Suitable
            | PreconditionerReason::LittleConvection
            | PreconditionerReason::Directions
            | PreconditionerReason::Large { .. } => Self::multigrid(reason),
            _ => Self::jacobi(reason),
        }
    }

    /// Jacobi, for a reason.
    pub(super) fn jacobi(reason: PreconditionerReason) -> Self {
        let kind = PreconditionerKind::Jacobi;
        Self { kind, reason }
    }

    /// Multigrid, for a reason.
    pub(super) fn multigrid(reason: PreconditionerReason) -> Self {
        let kind = PreconditionerKind::Multigrid;
        Self { kind, reason }
    }

    /// Whether Jacobi takes its place if it fails.
    pub(super) fn is_on_trial(&self) -> bool {
        self.kind == PreconditionerKind::Multigrid && self.reason != PreconditionerReason::Asked
    }

    /// Whether multigrid takes its place if many iterations are left.
    pub(super) fn is_watched(&self) -> bool {
        self.reason == PreconditionerReason::Watched
    }
}

impl PreconditionerReason {
    /// [`Self::MuchConvection`], if that of the levels is at least `limit`.
    pub fn much_convection(levels: &[MultigridLevel], limit: f64) -> Option<Self> {
        let convection = levels.iter().find_map(|level| level.convection);
        let convection = convection.filter(|&it| it >= limit)?;
        Some(Self::MuchConvection { convection })
    }
}

impl fmt::Display for PreconditionerReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => write!(f, "it is asked for"),
            Self::Suitable => write!(
                f,
                "the operator is symmetric, and there are at least {ENOUGH} unknowns"
            ),
            Self::LittleConvection => write!(
                f,
                "there is little convection, and there are at least {ENOUGH} unknowns"
            ),
            Self::Directions => write!(
                f,
                "on the host Newton's method takes it for its directions, however many unknowns there are"
            ),
            Self::MuchConvection { convection } => write!(
                f,
                "what is not symmetric in the form, as convection, is {convection:.1} times as strong as diffusion in a cell at degree 1"
            ),
            Self::OtherMethod(method) => write!(
                f,
                "multigrid is chosen for conjugate gradients where forms are symmetric, and for gmres otherwise, and the \
                 method is {method}"
            ),
            Self::NoGradients => write!(f, "the form has no gradients, which multigrid is for"),
            Self::Few { unknowns } => write!(
                f,
                "multigrid pays from about {ENOUGH} unknowns on, and there are {unknowns}"
            ),
            Self::Large { expected } => write!(
                f,
                "jacobi takes about {expected:.0} iterations on a cube of as many nodes, longer than multigrid's set-up"
            ),
            Self::Watched => write!(
                f,
                "multigrid's set-up on the host takes as long as hundreds of iterations here, or more"
            ),
            Self::Slow {
                iterations,
                expected,
            } => match expected.is_finite() {
                true => write!(
                    f,
                    "jacobi would have taken about {expected:.0} iterations; multigrid took over after {iterations}"
                ),
                false => write!(
                    f,
                    "jacobi made no progress; multigrid took over after {iterations} iterations"
                ),
            },
            Self::SlowDirections { iterations } => write!(
                f,
                "jacobi took {iterations} iterations for Newton's directions; multigrid took over"
            ),
            Self::Diagonal { index, value } => write!(
                f,
                "jacobi takes positive diagonals, and entry {index} is {value:.3e}"
            ),
            Self::NoMultigrid(error) => write!(f, "multigrid cannot be set up: {error}"),
            Self::GaveUp { iterations, reason } => {
                write!(
                    f,
                    "multigrid was given up after {iterations} iterations: {reason}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(change: impl FnOnce(&mut Facts)) -> PreconditionerReason {
        let mut facts = Facts {
            krylov: Method::Cg,
            symmetric: true,
            is_newton: false,
            has_gradients: true,
            unknowns: ENOUGH,
            device: DeviceKind::Host,
            slow: Some(700.5),
        };
        change(&mut facts);
        let choice = PreconditionerChoice::new(PreconditionerKind::Automatic, &facts);
        assert_eq!(
            choice.kind == PreconditionerKind::Multigrid,
            choice.is_on_trial()
        );
        let asked = PreconditionerChoice::new(PreconditionerKind::None, &facts);
        assert_eq!(asked.kind, PreconditionerKind::None);
        assert_eq!(asked.reason, PreconditionerReason::Asked);
        choice.reason
    }

    #[test]
    fn multigrid_is_for_many_unknowns_on_the_host() {
        use PreconditionerReason::*;
        assert_eq!(reason(|_| ()), Suitable);
        let gmres = |facts: &mut Facts| {
            (facts.symmetric, facts.krylov) = (false, Method::Gmres);
        };
        assert_eq!(reason(gmres), LittleConvection);
        let cg = OtherMethod(Method::Cg);
        assert_eq!(reason(|facts| facts.symmetric = false), cg);
        assert_eq!(reason(|facts| facts.has_gradients = false), NoGradients);
        let expected = 700.5;
        assert_eq!(
            reason(|facts| facts.device = DeviceKind::Cuda),
            Large { expected }
        );
        let watched = reason(|facts| (facts.device, facts.slow) = (DeviceKind::Cuda, None));
        assert_eq!(watched, Watched);
        let unknowns = ENOUGH - 1;
        assert_eq!(reason(|facts| facts.unknowns = unknowns), Few { unknowns });
        let newton = |facts: &mut Facts| (facts.unknowns, facts.is_newton) = (unknowns, true);
        assert_eq!(reason(newton), Directions);
        let method = Method::Gmres;
        assert_eq!(reason(|facts| facts.krylov = method), OtherMethod(method));
    }
}
