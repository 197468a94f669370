//! The `Problem` of a case, checks against the mesh, and positions of errors.

use super::mesh::in_case;
use super::monitor::seconds;
use crate::case::{
    self, Case, CaseError, Coefficient, CoefficientFunction, Conflict, Located, find_conflict,
};
use crate::failure::Failure;
use femto::OperatorParams;
use femto::fem::mesh::Mesh;
use femto::fem::space::SpaceError;
use femto::kernel::expr::Input;
use femto::operator::OperatorError;
use femto::problem::{
    AlongNormal, Boundary, Discretized, Function, FunctionName, GroupSource, Problem, ProblemError,
    ProblemForm, Robin, Role,
};
use std::collections::HashMap;
use std::ops::Range;

/// Rejects tags of sources and boundaries that the mesh does not have, two sources in one group and conditions on one
/// group that exclude each other, whether it is given by name or by number.
pub(super) fn check_tags(case: &Case, mesh: &Mesh) -> Result<(), CaseError> {
    let dimension = mesh.dimension().saturating_sub(1);
    let sources = case.group_sources.iter().flat_map(|it| &it.tags);
    check_groups(case, mesh, sources, "a source")?;
    let conflict = find_conflict(case.conditions(), |tag| group(case, mesh, dimension, tag))?;
    conflict.map_or(Ok(()), |Conflict { tag, first, .. }| {
        Err(same_group(case, tag, &first.value, "a condition"))
    })
}

/// Rejects λ of -2/3 μ or less in a group that one has by its name and the other by its number.
pub(super) fn check_moduli(case: &Case, mesh: &Mesh) -> Result<(), CaseError> {
    let (case::Form::Elasticity(moduli) | case::Form::NeoHookean(moduli)) = &case.form else {
        return Ok(());
    };
    let case::Moduli::Lame {
        lambda: Coefficient::ByGroup(lambdas),
        mu: Coefficient::ByGroup(mus),
    } = moduli
    else {
        return Ok(());
    };
    for ((tag, lambda), (other, mu)) in lambdas
        .iter()
        .flat_map(|it| mus.iter().map(move |mu| (it, mu)))
    {
        let [own, other] = [tag, other].map(|tag| group(case, mesh, mesh.dimension(), tag));
        if own? == other? && case::Moduli::is_unstable(*lambda, *mu) {
            let problem = case::MistakeKind::OutOfRange {
                key: format!("lambda of `{}`", tag.value),
                expected: case::Moduli::STABLE.to_owned(),
                found: lambda.to_string(),
            };
            return Err(case.document.mistake(tag.span.clone(), problem));
        }
    }
    Ok(())
}

/// As [`check_tags`], for groups of cells that have `what` each.
pub(super) fn check_groups<'a>(
    case: &Case,
    mesh: &Mesh,
    groups: impl Iterator<Item = &'a Located<String>>,
    what: &'static str,
) -> Result<(), CaseError> {
    let mut seen = HashMap::new();
    for tag in groups {
        let group = group(case, mesh, mesh.dimension(), tag)?;
        if let Some(first) = seen.insert(group, &tag.value) {
            return Err(same_group(case, tag, first, what));
        }
    }
    Ok(())
}

/// The number of the group with a name or number.
fn group(
    case: &Case,
    mesh: &Mesh,
    dimension: usize,
    tag: &Located<String>,
) -> Result<i32, CaseError> {
    mesh.group(dimension, &tag.value).map_err(|error| {
        let problem = case::MistakeKind::Mesh(error);
        case.document.mistake(tag.span.clone(), problem)
    })
}

fn same_group(case: &Case, tag: &Located<String>, first: &str, what: &'static str) -> CaseError {
    let same = case::MistakeKind::SameGroup {
        tag: tag.value.clone(),
        first: first.to_owned(),
        what,
    };
    case.document.mistake(tag.span.clone(), same)
}

/// Rejects values with the wrong number of components, and component indices out of range.
pub(super) fn check_components(case: &Case, components: usize) -> Result<(), CaseError> {
    let sections = [&case.source]
        .into_iter()
        .chain(&case.exact)
        .chain(&case.start)
        .chain(case.group_sources.iter().map(|it| &it.value));
    for component in case
        .boundaries()
        .flat_map(|it| it.components.iter().flatten())
    {
        if component.value >= components {
            let letters = ["x", "y", "z"].into_iter().take(components);
            let letters: Vec<&str> = letters.collect();
            let numbers = match components {
                1 => "0".to_owned(),
                _ => format!("from 0 to {}", components - 1),
            };
            let problem = case::MistakeKind::OutOfRange {
                key: "a component".to_owned(),
                expected: format!("{} or {numbers}", letters.join(", ")),
                found: case.document.text()[component.span.clone()].to_owned(),
            };
            return Err(case.document.mistake(component.span.clone(), problem));
        }
    }
    let is_whole = |it: &&case::Boundary| it.is_whole();
    let all = case.boundaries().filter(is_whole).map(|it| &it.value);
    let robin = case.robin.iter().filter(|it| is_whole(&&it.boundary));
    let values = sections.chain(all).map(|vector| ("`value`", vector));
    for (key, vector) in values.chain(robin.map(|it| ("`alpha`", &it.alpha))) {
        if !vector.serves(components) {
            let problem = case::MistakeKind::OutOfRange {
                key: key.to_owned(),
                expected: match components {
                    1 => "one expression or number".to_owned(),
                    _ => format!("one for all components, or {components}"),
                },
                found: vector.functions.len().to_string(),
            };
            return Err(case.document.mistake(vector.span.clone(), problem));
        }
    }
    Ok(())
}

/// The coefficients of the form that are functions of position.
fn functions_of(case: &Case) -> impl Iterator<Item = &CoefficientFunction> {
    let coefficients = case.form.coefficients().into_iter();
    coefficients.filter_map(|coefficient| match coefficient {
        Coefficient::Function(it) => Some(&**it),
        _ => None,
    })
}

/// Rejects functions with values that a coefficient may not take.
pub(super) fn check_values(case: &Case, spaces: &Discretized<'_, '_>) -> Result<(), CaseError> {
    for it in functions_of(case) {
        let found = spaces.find_value(&it.function.value, |value| !it.allowed.has(value));
        if let Some((position, value)) = found {
            let problem = case::MistakeKind::OutOfRange {
                key: it.key.clone(),
                expected: it.allowed.words.to_owned(),
                found: format!("{value} at {position:?}"),
            };
            return Err(case.document.mistake(it.function.span.clone(), problem));
        }
    }
    Ok(())
}

/// Rejects functions of z on a mesh in the plane. Expressions of forms are parsed for the dimension.
pub(super) fn check_plane(case: &Case, dim: usize) -> Result<(), CaseError> {
    if dim > 2 {
        return Ok(());
    }
    let functions = functions_of(case);
    let functions =
        functions.map(|it| (std::slice::from_ref(&it.function.value), &it.function.span));
    let conditions = case.boundaries().map(|it| &it.value);
    let all = [&case.source]
        .into_iter()
        .chain(&case.exact)
        .chain(&case.start)
        .chain(case.group_sources.iter().map(|it| &it.value))
        .chain(conditions)
        .chain(case.robin.iter().map(|it| &it.alpha));
    let all = all.map(|vector| (&vector.functions[..], &vector.span));
    for (functions, span) in all.chain(functions) {
        let programs = functions.iter().filter_map(Function::as_program);
        let mut inputs = programs.flat_map(|program| program.inputs().to_vec());
        if inputs.any(|input| input == Input::Position(2)) {
            return Err(case
                .document
                .mistake(span.clone(), case::MistakeKind::OutOfPlane));
        }
    }
    Ok(())
}

/// The case's problem, without the exact solution.
pub(super) fn problem<'a>(case: &'a Case, mesh: &'a Mesh, form: ProblemForm) -> Problem<'a> {
    let components = form.components();
    let parts = |parts: &'a [case::Boundary], is_normal| {
        let parts = parts.iter();
        parts.filter(move |part| part.is_normal == is_normal)
    };
    Problem {
        operator: OperatorParams {
            quadrature: case.quadrature,
            data_level: case.run.data_level,
            factors: case.run.factors,
            scatter: case.run.scatter,
            ..OperatorParams::default()
        },
        source: case.source.of(components),
        group_sources: group_sources(&case.group_sources, components),
        neumann: boundaries(parts(&case.neumann, false), components),
        neumann_along_normal: along_normal(parts(&case.neumann, true)),
        dirichlet: boundaries(parts(&case.dirichlet, false), components),
        along_normal: along_normal(parts(&case.dirichlet, true)),
        robin: robins(&case.robin, components),
        start: case.start.as_ref().map(|start| start.of(components)),
        solver: case.solver.params,
        preconditioner: case.solver.preconditioner,
        multigrid: case.solver.multigrid,
        clock: Some(seconds),
        ..Problem::of_form(mesh, case.degree, form)
    }
}

fn group_sources<'a>(parts: &'a [case::GroupSource], components: usize) -> Vec<GroupSource<'a>> {
    let of_part = |part: &'a case::GroupSource| {
        part.tags.iter().map(move |tag| GroupSource {
            tag: tag.value.clone(),
            value: part.value.of(components),
        })
    };
    parts.iter().flat_map(of_part).collect()
}

fn along_normal<'a>(parts: impl Iterator<Item = &'a case::Boundary>) -> Vec<AlongNormal<'a>> {
    let of_part = |part: &'a case::Boundary| {
        part.tags.iter().map(|tag| AlongNormal {
            tag: tag.value.clone(),
            value: part.value.function(0),
        })
    };
    parts.flat_map(of_part).collect()
}

fn boundaries<'a>(
    parts: impl Iterator<Item = &'a case::Boundary>,
    components: usize,
) -> Vec<Boundary<'a>> {
    let mut boundaries = Vec::new();
    for part in parts {
        boundaries.extend(part.tags.iter().map(|tag| Boundary {
            tag: tag.value.clone(),
            value: part.functions(components),
        }));
    }
    boundaries
}

fn robins(parts: &[case::Robin], components: usize) -> Vec<Robin<'_>> {
    let mut robins = Vec::new();
    for case::Robin { boundary, alpha } in parts {
        robins.extend(boundary.tags.iter().map(|tag| Robin {
            tag: tag.value.clone(),
            alpha: boundary.given(alpha, components),
            value: boundary.functions(components),
        }));
    }
    robins
}

/// The error with its position in the case, if it has one.
pub(super) fn locate(case: &Case, error: ProblemError) -> Failure {
    if !error.is_of_input() {
        return error.into();
    }
    let span = span_of(case, &error).unwrap_or_else(|| section_of(case, &error));
    let in_file = in_case(case, &error.cells());
    let problem = case::MistakeKind::Setup {
        error: Box::new(error),
        in_file,
    };
    case.document.mistake(span, problem).into()
}

/// The section responsible for an error without a more precise position.
fn section_of(case: &Case, error: &ProblemError) -> Range<usize> {
    let places = &case.places;
    let place = match error {
        ProblemError::Space(SpaceError::Basis(_) | SpaceError::NoVertical { .. }) => &places.degree,
        ProblemError::Operator(OperatorError::Reference(_)) => &places.degree,
        ProblemError::Operator(
            OperatorError::Quadrature { .. }
            | OperatorError::QuadratureByAxis
            | OperatorError::QuadratureDegree { .. }
            | OperatorError::Rule(_),
        ) => &places.quadrature,
        ProblemError::Mesh(_) | ProblemError::Geometry(_) | ProblemError::Space(_) => &places.mesh,
        ProblemError::Operator(
            OperatorError::SingleFactorsOnHost
            | OperatorError::MatricesTooLarge { .. }
            | OperatorError::SparseMatrixTooLarge { .. }
            | OperatorError::TooManyContributions { .. },
        ) => &places.run,
        ProblemError::Multigrid(_) => &places.solver,
        ProblemError::RoundedToZero { .. } => &places.run,
        _ => &places.form,
    };
    place.clone()
}

fn span_of(case: &Case, error: &ProblemError) -> Option<Range<usize>> {
    let found: &Located<String> = match error {
        ProblemError::NotFinite { function, .. } | ProblemError::NotPeriodic { function, .. } => {
            return span_of_function(case, function);
        }
        ProblemError::Space(SpaceError::NoPartner { .. } | SpaceError::NarrowPeriod { .. }) => {
            return match case.periodic.as_deref()? {
                [pair] => Some(pair.span.clone()),
                // Any of them may be the one.
                _ => None,
            };
        }
        ProblemError::Space(
            SpaceError::NoSuchFacet { tag, .. }
            | SpaceError::PeriodicFacet { tag, .. }
            | SpaceError::NoNormal { tag, .. },
        ) => {
            let mut tags = case.boundaries().flat_map(|it| &it.tags);
            tags.find(|other| other.value == *tag)?
        }
        ProblemError::RepeatedFlux { second, .. } => {
            let robin = case.robin.iter().map(|it| &it.boundary);
            let mut tags = case.neumann.iter().chain(robin).flat_map(|it| &it.tags);
            tags.rfind(|other| other.value == *second)?
        }
        ProblemError::TwoValues { groups, .. } => {
            let second = |coefficient: &Coefficient| match coefficient {
                Coefficient::ByGroup(list) => {
                    let mut tags = list.iter().map(|(tag, _)| tag);
                    let has_first = tags.clone().any(|tag| tag.value == groups[0]);
                    let second = tags.find(|tag| tag.value == groups[1]);
                    second.filter(|_| has_first).map(|tag| tag.span.clone())
                }
                _ => None,
            };
            return case.form.coefficients().into_iter().find_map(second);
        }
        ProblemError::NoValue { groups, .. } => {
            let first = |coefficient: &Coefficient| match coefficient {
                Coefficient::ByGroup(list) => {
                    let names: Vec<&str> = list.iter().map(|(tag, _)| &tag.value[..]).collect();
                    (names == *groups).then(|| list.first().map(|(tag, _)| tag.span.clone()))
                }
                _ => None,
            };
            let coefficients = case.form.coefficients();
            return coefficients.into_iter().find_map(first)?;
        }
        _ => return None,
    };
    Some(found.span.clone())
}

/// Where the case has a function.
fn span_of_function(case: &Case, function: &FunctionName) -> Option<Range<usize>> {
    let gives = |it: &case::Boundary, tag: &str| {
        let components = it.components.as_ref();
        it.tags.iter().any(|other| other.value == tag)
            && components.is_none_or(|all| all.iter().any(|one| one.value == function.component))
            && it.is_normal >= matches!(function.role, Role::AlongNormal(_))
            && (!it.is_normal || !matches!(function.role, Role::Dirichlet(_)))
    };
    let robin = |tag| case.robin.iter().find(move |it| gives(&it.boundary, tag));
    let vector = match &function.role {
        Role::Source => &case.source,
        Role::GroupSource(tag) => {
            let has_tag = |it: &&case::GroupSource| it.tags.iter().any(|own| own.value == *tag);
            &case.group_sources.iter().find(has_tag)?.value
        }
        Role::Start => case.start.as_ref()?,
        Role::Exact | Role::ExactGradient => return Some(case.exact.as_ref()?.span.clone()),
        Role::Dirichlet(tag) | Role::AlongNormal(tag) => {
            &case.dirichlet.iter().find(|it| gives(it, tag))?.value
        }
        Role::Neumann(tag) => &case.neumann.iter().find(|it| gives(it, tag))?.value,
        Role::Robin(tag) => &robin(tag)?.boundary.value,
        Role::RobinCoefficient(tag) => &robin(tag)?.alpha,
    };
    Some(vector.span.clone())
}
