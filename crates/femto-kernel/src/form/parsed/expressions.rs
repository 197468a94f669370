//! The expressions of a form, before parsing.

use super::error::{FormParseError, Output, Role};
use serde::Deserialize;

/// The expressions of a form, and the names in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormExpressions {
    /// Coefficient of the test function: one expression for all components, or one for each. Zero if
    /// absent.
    pub f0: Option<Expressions>,
    /// Coefficient of the test function's gradient: one expression for all components and axes; one for
    /// each component, in which `grad` stands for its axes; one for each axis, for a scalar form; or
    /// `[component][axis]`. Zero if absent.
    pub f1: Option<Expressions>,
    /// Names of the auxiliary fields, in the operator's order.
    pub fields: Vec<String>,
    /// Names of the run-time parameters, in the operator's order.
    pub parameters: Vec<String>,
}

/// One or several expressions for f0 or f1.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Expressions {
    /// One for everything.
    One(String),
    /// One for each component; for f1 of a scalar form also one for each axis.
    Each(Vec<String>),
    /// `[component][axis]`.
    Matrix(Vec<Vec<String>>),
}

impl FormExpressions {
    /// The chosen names, by role.
    pub(super) fn names(&self) -> [(Role, &[String]); 2] {
        [
            (Role::Field, &self.fields),
            (Role::Parameter, &self.parameters),
        ]
    }
}

impl Expressions {
    /// The expression of an output, and whether it is used for all components.
    pub(super) fn of(&self, output: Output) -> Result<(&str, bool), FormParseError> {
        let Output {
            dim,
            components,
            component,
            axis,
        } = output;
        let found = match (self, axis) {
            (Self::One(text), _) => Some(text),
            (Self::Each(expressions), _) => {
                index(expressions.len(), output).map(|index| &expressions[index])
            }
            (Self::Matrix(rows), Some(axis)) if is_matrix(rows, components, dim) => {
                rows[component].get(axis)
            }
            _ => None,
        };
        let serves_all = components == 1 || matches!(self, Self::One(_));
        let text = found.ok_or_else(|| FormParseError::Shape {
            part: output.part(),
            expected: match (axis, components) {
                (None, 1) => "one text".to_owned(),
                (None, _) => format!("one text, or {components}, one for each component"),
                (_, 1) => format!("one text, or {dim}, one for each axis"),
                _ => format!(
                    "one text, or {components}, one for each component, or {components} lists of {dim}"
                ),
            },
            found: self.shape(),
        })?;
        Ok((text, serves_all))
    }

    /// The name of an output's expression in error messages.
    pub(super) fn place(&self, output: Output) -> String {
        let part = output.part();
        match self {
            Self::One(_) => part.to_owned(),
            Self::Each(expressions) => {
                let index = index(expressions.len(), output).unwrap_or(0);
                format!("{part}[{index}]")
            }
            Self::Matrix(_) => {
                format!("{part}[{}][{}]", output.component, output.axis.unwrap_or(0))
            }
        }
    }

    fn shape(&self) -> String {
        match self {
            Self::One(_) => "one text".to_owned(),
            Self::Each(expressions) => format!("a list of {}", expressions.len()),
            Self::Matrix(rows) => {
                let lengths: Vec<String> = rows.iter().map(|row| row.len().to_string()).collect();
                format!("lists of {}", lengths.join(", "))
            }
        }
    }
}

/// The index of an output's expression in a list.
fn index(expressions: usize, output: Output) -> Option<usize> {
    let Output {
        dim, components, ..
    } = output;
    if expressions == components {
        Some(output.component)
    } else {
        (output.axis).filter(|_| components == 1 && expressions == dim)
    }
}

fn is_matrix(rows: &[Vec<String>], count: usize, length: usize) -> bool {
    rows.len() == count && rows.iter().all(|row| row.len() == length)
}

impl From<&str> for Expressions {
    fn from(text: &str) -> Self {
        Self::One(text.to_owned())
    }
}

impl<const N: usize> From<[&str; N]> for Expressions {
    fn from(expressions: [&str; N]) -> Self {
        Self::Each(expressions.map(str::to_owned).to_vec())
    }
}

impl<const N: usize, const M: usize> From<[[&str; N]; M]> for Expressions {
    fn from(rows: [[&str; N]; M]) -> Self {
        Self::Matrix(rows.map(|row| row.map(str::to_owned).to_vec()).to_vec())
    }
}
