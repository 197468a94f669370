//! The sections `[form]`, `[fields]` and `[parameters]` of a case.

use super::document::Located;
use super::error::CaseError;
use super::form::{Allowed, Coefficient, CoefficientFunction, Form, FormSource, Moduli};
use super::section::{Section, Value};
use femto::kernel::form::{Expressions, FormExpressions};
use femto::problem::Function;

/// Every key of `[form]`, and the forms that have it.
const KEYS: [(&str, &str); 12] = [
    ("kind", "it goes without f0 and f1"),
    ("f0", "it goes without `kind`"),
    ("f1", "it goes without `kind`"),
    ("components", "only a form with f0 and f1 has it"),
    (
        "lambda",
        "only the forms screened_poisson, elasticity and neo_hookean have it",
    ),
    ("mu", "only the forms elasticity and neo_hookean have it"),
    ("young", "only the forms elasticity and neo_hookean have it"),
    (
        "poisson",
        "only the forms elasticity and neo_hookean have it",
    ),
    (
        "kappa",
        "only the forms diffusion, nonlinear_diffusion and convection_diffusion have it",
    ),
    ("velocity", "only the form convection_diffusion has it"),
    ("p", "only the form p_laplacian has it"),
    ("epsilon", "only the form p_laplacian has it"),
];

/// Default ε of the p-Laplacian.
const EPSILON: f64 = 1e-3;

/// Reads the form of a section `[form]`.
type Read = fn(&Section<'_>) -> Result<Form, CaseError>;

/// Every `kind` of form.
const KINDS: [(&str, Read); 9] = [
    ("poisson", |section| {
        only(section, &["kind"])?;
        Ok(Form::Poisson)
    }),
    ("mass", |section| {
        only(section, &["kind"])?;
        Ok(Form::Mass)
    }),
    ("screened_poisson", |section| {
        only(section, &["kind", "lambda"])?;
        needed(section, "lambda", Allowed::ANY).map(Form::ScreenedPoisson)
    }),
    ("diffusion", |section| {
        only(section, &["kind", "kappa"])?;
        needed(section, "kappa", Allowed::POSITIVE).map(Form::Diffusion)
    }),
    ("nonlinear_diffusion", |section| {
        only(section, &["kind", "kappa"])?;
        let kappa = section.required("kappa")?;
        kappa.per_axis(Value::number).map(Form::NonlinearDiffusion)
    }),
    ("convection_diffusion", convection_diffusion),
    ("p_laplacian", p_laplacian),
    ("elasticity", |section| {
        moduli(section).map(Form::Elasticity)
    }),
    ("neo_hookean", |section| {
        moduli(section).map(Form::NeoHookean)
    }),
];

/// Reads a form; `fields` and `parameters` are the sections of these names.
pub(super) fn form(
    form: &Value<'_>,
    fields: Option<Value<'_>>,
    parameters: Option<Value<'_>>,
) -> Result<Form, CaseError> {
    let section = form.section(&KEYS.map(|(key, _)| key))?;
    let is_text = ["f0", "f1"].map(|key| section.optional(key).is_some());
    if is_text != [false, false] {
        only(&section, &["f0", "f1", "components"])?;
        let source = text(&section, fields, parameters)?;
        return Ok(Form::Text(Box::new(source)));
    }
    if let Some(sections) = fields.or(parameters) {
        return Err(sections.meaningless("only a form with f0 and f1 has names"));
    }
    let Some(kind) = section.optional("kind") else {
        return Err(section.lacks("`kind`, `f0` or `f1`".to_owned()));
    };
    kind.choice(&KINDS)?(&section)
}

fn convection_diffusion(section: &Section<'_>) -> Result<Form, CaseError> {
    only(section, &["kind", "kappa", "velocity"])?;
    let velocity = section.required("velocity")?;
    let along = velocity.list()?;
    let along = along.iter().map(|value| coefficient(value, Allowed::ANY));
    let along = along.collect::<Result<_, _>>()?;
    Ok(Form::ConvectionDiffusion {
        kappa: needed(section, "kappa", Allowed::POSITIVE)?,
        velocity: velocity.located(along),
    })
}

fn p_laplacian(section: &Section<'_>) -> Result<Form, CaseError> {
    only(section, &["kind", "p", "epsilon"])?;
    let p = section.required("p")?;
    let exponent = p.number()?;
    if exponent <= 1.0 {
        return Err(p.out_of_range("above 1"));
    }
    Ok(Form::PLaplacian {
        p: exponent,
        epsilon: match section.optional("epsilon") {
            Some(epsilon) => epsilon.positive_number()?,
            None => EPSILON,
        },
    })
}

/// Fails for a key that the form does not have.
fn only(section: &Section<'_>, keys: &[&str]) -> Result<(), CaseError> {
    for (key, reason) in KEYS {
        match section.optional(key) {
            Some(value) if !keys.contains(&key) => return Err(value.meaningless(reason)),
            _ => (),
        }
    }
    Ok(())
}

fn moduli(section: &Section<'_>) -> Result<Moduli, CaseError> {
    let without = |key, reason| match section.optional(key) {
        Some(value) => Err(value.meaningless(reason)),
        None => Ok(()),
    };
    match section.either(["young", "lambda"])? {
        ("young", _) => {
            without("mu", "`young` goes with `poisson`")?;
            only(section, &["kind", "young", "poisson"])?;
            Ok(Moduli::Young {
                young: needed(section, "young", Allowed::POSITIVE)?,
                poisson: needed(section, "poisson", Allowed::RATIO)?,
            })
        }
        (_, value) => {
            without("poisson", "`lambda` goes with `mu`")?;
            only(section, &["kind", "lambda", "mu"])?;
            let lambda = coefficient(&value, Allowed::ANY)?;
            let mu = needed(section, "mu", Allowed::POSITIVE)?;
            check_lambda(&value, &lambda, &mu)?;
            Ok(Moduli::Lame { lambda, mu })
        }
    }
}

/// Fails if λ is -2/3 μ or less, somewhere that both are numbers.
fn check_lambda(
    value: &Value<'_>,
    lambda: &Coefficient,
    mu: &Coefficient,
) -> Result<(), CaseError> {
    let check =
        |value: &Value<'_>, group: Option<&str>| match (lambda.least(group), mu.least(group)) {
            (Some(lambda), Some(mu)) if Moduli::is_unstable(lambda, mu) => {
                Err(value.out_of_range(Moduli::STABLE))
            }
            _ => Ok(()),
        };
    match lambda {
        Coefficient::ByGroup(_) => value
            .section(&[])?
            .entries()
            .try_for_each(|(group, value)| check(&value, Some(&group.value))),
        _ => check(value, None),
    }
}

fn needed(
    section: &Section<'_>,
    key: &'static str,
    allowed: Allowed,
) -> Result<Coefficient, CaseError> {
    coefficient(&section.required(key)?, allowed)
}

/// A number, a function of position, or numbers by group. The values of a function are not checked here.
fn coefficient(value: &Value<'_>, allowed: Allowed) -> Result<Coefficient, CaseError> {
    let check = |value: &Value<'_>, number: f64| match allowed.has(number) {
        true => Ok(number),
        false => Err(value.out_of_range(allowed.words)),
    };
    if value.is_number() {
        return check(value, value.number()?).map(Coefficient::Uniform);
    }
    if !value.is_table() {
        let function = value.expression()?;
        if let Some(number) = function.as_constant() {
            check(value, number)?;
        }
        return Ok(Coefficient::Function(Box::new(CoefficientFunction {
            function: value.located(function),
            key: value.name().to_owned(),
            allowed,
        })));
    }
    let groups = value.section(&[])?;
    let coefficients: Vec<(Located<String>, f64)> = groups
        .entries()
        .map(|(tag, value)| Ok((tag, check(&value, value.number()?)?)))
        .collect::<Result<_, _>>()?;
    match coefficients.is_empty() {
        true => Err(value.out_of_range("a number, or a table with at least one group")),
        false => Ok(Coefficient::ByGroup(coefficients)),
    }
}

fn text(
    section: &Section<'_>,
    fields: Option<Value<'_>>,
    parameters: Option<Value<'_>>,
) -> Result<FormSource, CaseError> {
    let (mut parts, mut places) = (Vec::new(), Vec::new());
    let mut part = |key| match section.optional(key) {
        Some(value) => {
            parts.push(value.located(key));
            expressions(key, &value, &mut places).map(Some)
        }
        None => Ok(None),
    };
    let (f0, f1) = (part("f0")?, part("f1")?);
    let components = match section.optional("components") {
        Some(value) => value.located(value.integer(1..=3)?),
        None => section.located(1),
    };
    let mut named = Vec::new();
    if let Some(fields) = fields {
        for (name, value) in fields.section(&[])?.entries() {
            named.push((name, coefficient(&value, Allowed::ANY)?));
        }
    }
    let mut numbers = Vec::new();
    if let Some(parameters) = parameters {
        for (name, value) in parameters.section(&[])?.entries() {
            numbers.push((name, value.number()?));
        }
    }
    Ok(FormSource {
        expressions: FormExpressions {
            f0,
            f1,
            fields: named.iter().map(|(name, _)| name.value.clone()).collect(),
            parameters: numbers.iter().map(|(name, _)| name.value.clone()).collect(),
        },
        parts,
        places,
        components,
        fields: named,
        parameters: numbers,
    })
}

/// One expression, a list, or a list of lists; records each one's position.
fn expressions(
    key: &str,
    value: &Value<'_>,
    places: &mut Vec<(String, Located<String>)>,
) -> Result<Expressions, CaseError> {
    let mut note = |place: String, value: &Value<'_>| {
        let text = value.number_or_text()?;
        places.push((place, value.located(text.clone())));
        Ok(text)
    };
    if !value.is_list() {
        return note(key.to_owned(), value).map(Expressions::One);
    }
    let rows = value.list()?;
    if rows.first().is_some_and(Value::is_list) {
        let row = |(i, row): (usize, &Value<'_>)| {
            let row = row.list()?;
            let entries = row.iter().enumerate();
            entries
                .map(|(j, value)| note(format!("{key}[{i}][{j}]"), value))
                .collect()
        };
        let rows = rows.iter().enumerate().map(row);
        return rows.collect::<Result<_, _>>().map(Expressions::Matrix);
    }
    let entries = rows.iter().enumerate();
    let entries = entries.map(|(i, value)| note(format!("{key}[{i}]"), value));
    entries.collect::<Result<_, _>>().map(Expressions::Each)
}
