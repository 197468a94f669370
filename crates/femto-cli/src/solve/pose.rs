//! The problem that a case describes.

use crate::case::{self, Case, CaseError, Lambda, Located};
use crate::failure::Failure;
use femto::OperatorParams;
use femto::fem::mesh::{Mesh, MeshError};
use femto::fem::space::SpaceError;
use femto::problem::{Boundary, PreconditionerKind, Problem, ProblemError, by_group};
use femto::solve::cg::CgParams;
use std::collections::HashMap;
use std::ops::Range;

/// Fails for a boundary tag that the mesh does not have, and for two tags, one the name and one the
/// number, of the same group.
pub(super) fn check_tags(case: &Case, mesh: &Mesh) -> Result<(), CaseError> {
    check_groups(case, mesh, 2, case.boundary_tags())
}

/// As [`check_tags`], for groups of a dimension.
fn check_groups<'a>(
    case: &Case,
    mesh: &Mesh,
    dimension: usize,
    tags: impl Iterator<Item = &'a Located<String>>,
) -> Result<(), CaseError> {
    let mut seen = HashMap::new();
    for tag in tags {
        let group = mesh.group(dimension, &tag.value);
        let group = group.map_err(|error| unknown_tag(case, tag, error))?;
        if let Some(first) = seen.insert(group, &tag.value) {
            let same = case::Problem::SameGroup {
                tag: tag.value.clone(),
                first: first.clone(),
                what: match dimension {
                    2 => "a condition",
                    _ => "a value",
                },
            };
            return Err(case.document.mistake(tag.span.clone(), same));
        }
    }
    Ok(())
}

fn unknown_tag(case: &Case, tag: &Located<String>, error: MeshError) -> CaseError {
    let problem = case::Problem::Mesh(error);
    case.document.mistake(tag.span.clone(), problem)
}

/// λ where it is the same everywhere, else `None` and the auxiliary field that holds it.
pub(super) fn lambda(
    case: &Case,
    mesh: &Mesh,
    lambda: &Lambda,
) -> Result<(Option<f64>, Vec<Vec<f64>>), Failure> {
    let groups = match lambda {
        Lambda::Uniform(value) => return Ok((Some(*value), vec![])),
        Lambda::ByGroup(groups) => groups,
    };
    check_groups(case, mesh, 3, groups.iter().map(|(tag, _)| tag))?;
    let values: Vec<(&str, f64)> = groups
        .iter()
        .map(|(tag, value)| (&tag.value[..], *value))
        .collect();
    let field = by_group(mesh, &values).map_err(|error| place(case, error))?;
    Ok((None, vec![field]))
}

/// The case's problem, without the exact solution and auxiliary fields.
pub(super) fn problem<'a, F>(case: &'a Case, mesh: &'a Mesh, form: F) -> Problem<'a, F> {
    Problem {
        operator: OperatorParams {
            quadrature: case.quadrature,
            data_level: case.run.data_level,
            factors: case.run.factors,
            scatter: case.run.scatter,
            ..OperatorParams::default()
        },
        source: &case.source,
        neumann: boundaries(&case.neumann),
        dirichlet: boundaries(&case.dirichlet),
        solver: CgParams {
            relative_tolerance: case.solver.tolerance,
            max_iterations: case.solver.max_iterations,
            ..CgParams::default()
        },
        preconditioner: match case.solver.preconditioner {
            case::Preconditioner::None => PreconditionerKind::None,
            case::Preconditioner::Jacobi => PreconditionerKind::Jacobi,
        },
        ..Problem::new(mesh, case.degree, form)
    }
}

fn boundaries(parts: &[case::Boundary]) -> Vec<Boundary<'_>> {
    fn of_part(part: &case::Boundary) -> impl Iterator<Item = Boundary<'_>> {
        let tags = part.tags.iter();
        tags.map(|tag| Boundary::new(&tag.value, &part.value))
    }
    parts.iter().flat_map(of_part).collect()
}

/// The error with its place in the case, where there is one.
pub(super) fn place(case: &Case, error: ProblemError) -> Failure {
    match span_of(case, &error) {
        Some(span) => {
            let problem = case::Problem::Posed(Box::new(error));
            case.document.mistake(span, problem).into()
        }
        None => error.into(),
    }
}

fn span_of(case: &Case, error: &ProblemError) -> Option<Range<usize>> {
    let found: &Located<String> = match (error, &case.form) {
        (ProblemError::Space(SpaceError::NoSuchFace { tag, .. }), _) => {
            case.boundary_tags().find(|other| other.value == *tag)?
        }
        (ProblemError::NoValue { .. }, case::Form::ScreenedPoisson(Lambda::ByGroup(groups))) => {
            &groups.first()?.0
        }
        _ => return None,
    };
    Some(found.span.clone())
}
