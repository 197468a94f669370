//! Names in the expressions of a form.

use super::FormExpressions;
use super::error::{FormParseError, Output, Role};
use crate::expr::{Input, Symbol, Symbols};
use crate::form::MAX_FIELDS;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Checks that each chosen name is valid and unique, in any output of the form.
pub(super) fn check(expressions: &FormExpressions, output: Output) -> Result<(), FormParseError> {
    let mut symbols = built_in(output, true);
    for (role, names) in expressions.names() {
        let (found, limit) = (names.len(), MAX_FIELDS);
        if found > limit {
            return Err(FormParseError::TooManyNames { role, found, limit });
        }
        for (index, name) in names.iter().enumerate() {
            let meanings = meanings(output.dim, role, name, index);
            let known = |name: &str| symbols.get(name).is_some() || Symbols::is_function(name);
            let taken = meanings
                .iter()
                .map(|(name, _)| name)
                .find(|name| known(name));
            match (is_name(name), taken) {
                (false, _) => {
                    let name = name.clone();
                    return Err(FormParseError::NotAName { role, name });
                }
                (true, Some(taken)) => {
                    let (name, taken) = (name.clone(), taken.clone());
                    return Err(FormParseError::NameTaken { role, name, taken });
                }
                (true, None) => symbols = with_all(symbols, meanings),
            }
        }
    }
    Ok(())
}

/// The meanings of the names in the text of an output; if it serves all components, `u` is its own
/// component.
pub(super) fn of(expressions: &FormExpressions, output: Output, serves_all: bool) -> Symbols {
    let mut symbols = built_in(output, serves_all);
    for (role, names) in expressions.names() {
        for (index, name) in names.iter().enumerate() {
            symbols = with_all(symbols, meanings(output.dim, role, name, index));
            if role == Role::Field {
                let along = |axis| field_gradient(index, axis);
                symbols = symbols.with_gradient(name, output.axis.map(along));
            }
        }
    }
    symbols
}

/// The coordinates, the time and the solution.
fn built_in(output: Output, serves_all: bool) -> Symbols {
    let axes = || AXES.into_iter().enumerate().take(output.dim);
    let mut symbols = Symbols::constants().and_time();
    for (axis, name) in axes() {
        symbols = symbols.with(name, Symbol::Input(Input::Position(axis as u8)));
    }
    let own = serves_all.then(|| ("u".to_owned(), output.component));
    let components = output.components;
    let each = (0..components).filter(|_| components > 1);
    let each = each.map(|c| (format!("u{c}"), c));
    for (name, component) in own.into_iter().chain(each) {
        let component = component as u8;
        let slope = |axis: usize| Input::Gradient {
            component,
            axis: axis as u8,
        };
        symbols = symbols
            .with(&name, Symbol::Input(Input::Value(component)))
            .with_gradient(&name, output.axis.map(slope));
        for (axis, along) in axes() {
            symbols = symbols.with(&format!("{name}_{along}"), Symbol::Input(slope(axis)));
        }
    }
    symbols
}

/// The words that a chosen name introduces, with their meanings.
fn meanings(dim: usize, role: Role, name: &str, index: usize) -> Vec<(String, Input)> {
    match role {
        Role::Parameter => vec![(name.to_owned(), Input::Parameter(index as u16))],
        Role::Field => {
            let slopes = AXES.into_iter().enumerate().take(dim);
            let slopes = slopes
                .map(|(axis, along)| (format!("{name}_{along}"), field_gradient(index, axis)));
            core::iter::once((name.to_owned(), Input::Field(index as u8)))
                .chain(slopes)
                .collect()
        }
    }
}

fn field_gradient(field: usize, axis: usize) -> Input {
    Input::FieldGradient {
        field: field as u8,
        axis: axis as u8,
    }
}

fn with_all(symbols: Symbols, meanings: Vec<(String, Input)>) -> Symbols {
    meanings
        .into_iter()
        .fold(symbols, |symbols, (name, input)| {
            symbols.with(&name, Symbol::Input(input))
        })
}

/// Whether an expression would be split into exactly this word.
fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_')
}
