//! Setting up the chosen preconditioner, with Jacobi in place of multigrid that cannot be set up.

use super::assembled::LinearPreconditioner;
use super::multigrid::AnyPreconditioner;
use super::{
    Constrained, Method, PreconditionerChoice, PreconditionerKind, PreconditionerReason,
    ProblemError,
};
use crate::Number;
use crate::multigrid::{CONVECTIVE, MultigridError};
use crate::operator::Backend;
use crate::solve::JacobiError;
use crate::vector::VectorOps;
use femto_kernel::scalar::Precision;

/// The preconditioner of a linear form. GMRES goes without one where the diagonal does not suit Jacobi, unless that was
/// asked for.
pub(super) fn preconditioner<T: Number, B: Backend + VectorOps<T>>(
    (method, choice): (Method, &mut PreconditionerChoice),
    operator: &Constrained<'_, T, B>,
    multigrid: &dyn Fn(Precision) -> Result<AnyPreconditioner<T, B>, ProblemError>,
) -> Result<LinearPreconditioner<T, B>, ProblemError> {
    let multigrid = linear_multigrid(choice, multigrid)?;
    Ok(match (multigrid, choice.kind) {
        (Some(multigrid), _) => LinearPreconditioner::Multigrid(multigrid),
        (None, PreconditionerKind::None) => LinearPreconditioner::Identity,
        (None, _) => match operator.jacobi() {
            Err(ProblemError::Jacobi(JacobiError::NotPositive { index, value }))
                if method == Method::Gmres && choice.reason != PreconditionerReason::Asked =>
            {
                choice.kind = PreconditionerKind::None;
                choice.reason = PreconditionerReason::Diagonal { index, value };
                LinearPreconditioner::Identity
            }
            jacobi => LinearPreconditioner::Jacobi(jacobi?),
        },
    })
}

/// As [`chosen_multigrid`], set up: for a linear form. Where fp32 is too coarse for a level's matrix, cycles are in fp64.
/// Jacobi also takes its place where there is much convection.
pub(super) fn linear_multigrid<T: Number, B: Backend>(
    choice: &mut PreconditionerChoice,
    make: impl Fn(Precision) -> Result<AnyPreconditioner<T, B>, ProblemError>,
) -> Result<Option<AnyPreconditioner<T, B>>, ProblemError> {
    let made = chosen_multigrid(choice, || {
        let mut multigrid = make(Precision::Fp32)?;
        match multigrid.set_up() {
            Err(error) if error.may_be_the_precisions() => {
                let before = multigrid.precision();
                drop(multigrid);
                multigrid = make(Precision::Fp64)?;
                if multigrid.precision() == before {
                    return Err(error.into());
                }
                multigrid.set_up()?;
            }
            made => made?,
        }
        Ok(multigrid)
    })?;
    let levels = made.as_ref().map_or_else(Vec::new, |it| it.levels());
    match PreconditionerReason::much_convection(&levels, CONVECTIVE) {
        Some(reason) if choice.is_on_trial() => {
            *choice = PreconditionerChoice::jacobi(reason);
            Ok(None)
        }
        _ => Ok(made),
    }
}

/// Multigrid, if it is chosen; the choice changes to Jacobi if it was not asked for and cannot be made.
pub(super) fn chosen_multigrid<T: Number, B: Backend>(
    choice: &mut PreconditionerChoice,
    make: impl FnOnce() -> Result<AnyPreconditioner<T, B>, ProblemError>,
) -> Result<Option<AnyPreconditioner<T, B>>, ProblemError> {
    if choice.kind != PreconditionerKind::Multigrid {
        return Ok(None);
    }
    match make() {
        Err(error) if choice.is_on_trial() => {
            let reason = PreconditionerReason::NoMultigrid(not_made(error)?);
            *choice = PreconditionerChoice::jacobi(reason);
            Ok(None)
        }
        made => made.map(Some),
    }
}

/// Why multigrid cannot be made, if Jacobi may take its place: not for mistakes of its parameters.
fn not_made(error: ProblemError) -> Result<MultigridError, ProblemError> {
    match error {
        ProblemError::Multigrid(error) if !error.is_of_parameters() => Ok(error),
        ProblemError::Operator(error) => Ok(error.into()),
        ProblemError::Device(error) => Ok(error.into()),
        error => Err(error),
    }
}
