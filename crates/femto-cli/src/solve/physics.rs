//! A case's form as a graph, with its auxiliary fields and parameters.

use super::setup;
use crate::case::{self, Case, CaseError, Coefficient, Form, FormSource, Located, Moduli};
use crate::failure::Failure;
use femto::fem::mesh::Mesh;
use femto::kernel::expr::{Graph, Handle, Input, names};
use femto::kernel::form::{self, FormParseError, TracedForm, trace};
use femto::kernel::scalar::Traced;
use femto::operator::Auxiliary;
use femto::problem::{Expression, by_group};
use std::cell::RefCell;
use std::collections::HashSet;

/// A form on cells of one dimension.
pub(super) struct Physics {
    /// Its graph.
    pub(super) traced: TracedForm,
    /// Its auxiliary fields: numbers by group.
    pub(super) auxiliary: Vec<Auxiliary>,
    /// Its parameters.
    pub(super) parameters: Vec<f64>,
}

/// A coefficient in a graph, with its derivatives.
struct GraphCoefficient {
    value: Handle,
    gradient: [Handle; 3],
}

/// The case's form on cells of a dimension: uniform coefficients and functions of position become part of
/// the graph, numbers by group become auxiliary fields.
///
/// # Errors
/// Invalid expressions, unknown groups, or shapes that do not match the dimension.
pub(super) fn physics(case: &Case, mesh: &Mesh, dim: usize) -> Result<Physics, Failure> {
    let TracedForm { graph, f0, f1, .. } = match dim {
        2 => traced::<2>(case),
        _ => traced::<3>(case),
    }?;
    let outputs: Vec<Handle> = f0.iter().chain(&f1).copied().collect();
    let graph = RefCell::new(graph);
    let mut auxiliary = Vec::new();
    let mut coefficients = Vec::new();
    for coefficient in case.form.coefficients() {
        coefficients.push(add_coefficient(
            case,
            mesh,
            &graph,
            coefficient,
            &mut auxiliary,
        )?);
    }
    let mut graph = graph.into_inner();
    if let Form::Elasticity(Moduli::Young { .. }) | Form::NeoHookean(Moduli::Young { .. }) =
        &case.form
    {
        lame(&mut graph, &mut coefficients);
    }
    let replaced = graph.substitute(&outputs, |input| match input {
        Input::Field(field) => Some(coefficients.get(usize::from(field))?.value),
        Input::FieldGradient { field, axis } => coefficients
            .get(usize::from(field))?
            .gradient
            .get(usize::from(axis))
            .copied(),
        _ => None,
    });
    let (f0, f1) = replaced.split_at(f0.len());
    Ok(Physics {
        traced: TracedForm {
            graph,
            dim,
            f0: f0.to_vec(),
            f1: f1.to_vec(),
        },
        auxiliary,
        parameters: match &case.form {
            Form::Text(source) => source.parameters.iter().map(|(_, value)| *value).collect(),
            _ => Vec::new(),
        },
    })
}

/// The form with its coefficients as auxiliary fields, in the order of [`Form::coefficients`].
fn traced<const D: usize>(case: &Case) -> Result<TracedForm, Failure>
where
    form::NeoHookean<D>: form::Form<D, D>,
{
    let field = form::Coefficient::Auxiliary;
    let (lambda, mu) = (field(0), field(1));
    Ok(match &case.form {
        Form::Mass => trace::<_, D, 1>(&form::Mass),
        Form::Poisson => trace::<_, D, 1>(&form::Poisson),
        Form::ScreenedPoisson(_) => trace::<_, D, 1>(&form::ScreenedPoisson { lambda: None }),
        Form::Diffusion(_) => trace::<_, D, 1>(&form::Diffusion { kappa: field(0) }),
        &Form::NonlinearDiffusion(kappa) => trace::<_, D, 1>(&form::NonlinearDiffusion { kappa }),
        Form::ConvectionDiffusion { velocity, .. } => {
            let found = velocity.value.len();
            if found != D {
                let expected = format!("an array of {D} elements");
                let span = velocity.span.clone();
                return Err(mistake_of_length(
                    case,
                    "`velocity`",
                    (expected, found),
                    span,
                ));
            }
            trace::<_, D, 1>(&form::ConvectionDiffusion::<D> {
                kappa: field(0),
                velocity: std::array::from_fn(|axis| field(axis + 1)),
            })
        }
        &Form::PLaplacian { p, epsilon } => trace::<_, D, 1>(&form::PLaplacian { p, epsilon }),
        Form::Elasticity(_) => trace::<_, D, D>(&form::LinearElasticity { lambda, mu }),
        Form::NeoHookean(_) => trace::<_, D, D>(&form::NeoHookean { lambda, mu }),
        Form::Text(source) => {
            let found = source.components.value;
            if ![1, D].contains(&found) {
                let expected = format!("1 or {D} on these cells");
                let span = source.components.span.clone();
                return Err(mistake_of_length(
                    case,
                    "`components`",
                    (expected, found),
                    span,
                ));
            }
            let parsed = TracedForm::parse(&source.expressions, D, found);
            let parsed = parsed.map_err(|error| expression_mistake(case, source, error))?;
            check_names(case, source)?;
            parsed
        }
    })
}

fn mistake_of_length(
    case: &Case,
    key: &str,
    (expected, found): (String, usize),
    span: std::ops::Range<usize>,
) -> Failure {
    let problem = case::MistakeKind::OutOfRange {
        key: format!("{key} in [form]"),
        expected,
        found: found.to_string(),
    };
    case.document.mistake(span, problem).into()
}

/// A mistake in the expressions of a form, with its position.
fn expression_mistake(case: &Case, source: &FormSource, error: FormParseError) -> Failure {
    let named = |place: &str| source.places.iter().find(|(name, _)| name == place);
    if let FormParseError::Expression {
        place,
        source: parse,
    } = &error
        && let Some((_, text)) = named(place)
    {
        let marked = (parse.column - 1, parse.width);
        let span = text.span.clone();
        let span = case.document.place_in_text(span, &text.value, marked);
        let problem = case::MistakeKind::Expression(parse.kind.clone());
        return case.document.mistake(span, problem).into();
    }
    let mut names = named_by(source);
    let part_of = |part: &str| {
        let mut parts = source.parts.iter();
        parts.find(|it| it.value == part).map(|it| &it.span)
    };
    let chosen = match &error {
        FormParseError::NotAName { name, .. } | FormParseError::NameTaken { name, .. } => {
            names.rfind(|known| known.value == *name).map(|it| &it.span)
        }
        FormParseError::Shape { part, .. } => part_of(part),
        FormParseError::SameFlux => part_of("f1"),
        _ => None,
    };
    let first = source.parts.first().map(|it| &it.span);
    let span = chosen.or(first).unwrap_or(&source.components.span).clone();
    case.document
        .mistake(span, case::MistakeKind::Form(error))
        .into()
}

/// The names of fields and parameters.
fn named_by(source: &FormSource) -> impl DoubleEndedIterator<Item = &Located<String>> {
    let fields = source.fields.iter().map(|(name, _)| name);
    fields.chain(source.parameters.iter().map(|(name, _)| name))
}

/// Fails if an expression reads the time, which cases do not have, or if a name is never read.
fn check_names(case: &Case, source: &FormSource) -> Result<(), CaseError> {
    let mut read = HashSet::new();
    for (_, text) in &source.places {
        for (start, name) in names(&text.value) {
            if name == "t" {
                let place = (text.value[..start].chars().count(), 1);
                let span = (case.document).place_in_text(text.span.clone(), &text.value, place);
                return Err(case.document.mistake(span, case::MistakeKind::NoTime));
            }
            read.insert(name);
        }
    }
    for name in named_by(source) {
        let along = ["x", "y", "z"].map(|axis| format!("{}_{axis}", name.value));
        let is_read = |name: &String| read.contains(&name[..]);
        if !is_read(&name.value) && !along.iter().any(is_read) {
            let name_of = name.value.clone();
            let problem = case::MistakeKind::Unread { name: name_of };
            return Err(case.document.mistake(name.span.clone(), problem));
        }
    }
    Ok(())
}

/// Adds a coefficient to the graph.
fn add_coefficient(
    case: &Case,
    mesh: &Mesh,
    graph: &RefCell<Graph>,
    coefficient: &Coefficient,
    auxiliary: &mut Vec<Auxiliary>,
) -> Result<GraphCoefficient, Failure> {
    let zero = graph.borrow_mut().constant(0.0);
    let constant = |value| GraphCoefficient {
        value,
        gradient: [zero; 3],
    };
    Ok(match coefficient {
        Coefficient::Uniform(value) => constant(graph.borrow_mut().constant(*value)),
        Coefficient::Function(it) => {
            let function = &it.function.value;
            let gradient = function.gradient();
            GraphCoefficient {
                value: import(graph, function),
                gradient: gradient.each_ref().map(|along| import(graph, along)),
            }
        }
        Coefficient::ByGroup(groups) => {
            setup::check_groups(case, mesh, groups.iter().map(|(tag, _)| tag), "a value")?;
            let values: Vec<(&str, f64)> = groups
                .iter()
                .map(|(tag, value)| (&tag.value[..], *value))
                .collect();
            let values = by_group(mesh, &values);
            let values = values.map_err(|error| setup::locate(case, error))?;
            let field = Input::Field(auxiliary.len() as u8);
            auxiliary.push(Auxiliary::PerCell(values));
            constant(graph.borrow_mut().input(field))
        }
    })
}

/// A function in another graph.
fn import(graph: &RefCell<Graph>, function: &Expression) -> Handle {
    let like = Traced::input(graph, Input::Time);
    let mut value = like;
    let input = |input| Traced::input(graph, input);
    let program = function.program();
    program.run_point(like, input, |_, found| value = found);
    value.handle()
}

/// Replaces Young's modulus and Poisson's ratio by λ and μ. Forms of elasticity do not read their
/// gradients.
fn lame(graph: &mut Graph, coefficients: &mut [GraphCoefficient]) {
    let [young, poisson] = coefficients else {
        return;
    };
    let (e, nu) = (young.value, poisson.value);
    let (one, two) = (graph.constant(1.0), graph.constant(2.0));
    let plus = graph.add(one, nu);
    let twice = graph.mul(two, nu);
    let less = graph.sub(one, twice);
    let product = graph.mul(plus, less);
    let numerator = graph.mul(e, nu);
    young.value = graph.div(numerator, product);
    let denominator = graph.mul(two, plus);
    poisson.value = graph.div(e, denominator);
}
