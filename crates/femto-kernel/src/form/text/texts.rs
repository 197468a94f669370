//! The texts of a form, before they are read.

use super::error::{FormTextError, Output};
use serde::Deserialize;

/// A form as text, and the names that it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormExpressions {
    /// What multiplies the test function: one text for all components, or one for each. Zero where absent.
    pub f0: Option<Texts>,
    /// What multiplies the gradient of the test function: one text for all components and axes; one for
    /// each component, in which `grad` gives its axes; one for each axis, of a scalar form; or
    /// `[component][axis]`. Zero where absent.
    pub f1: Option<Texts>,
    /// Names of the auxiliary fields, in the order in which an operator takes them.
    pub fields: Vec<String>,
    /// Names of the run-time parameters, in the order in which an operator takes them.
    pub parameters: Vec<String>,
}

/// One or several texts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// One for everything.
    One(String),
    /// One for each component; of f1 of a scalar form also one for each axis.
    Each(Vec<String>),
    /// `[component][axis]`.
    Matrix(Vec<Vec<String>>),
}

impl Texts {
    /// The text of an output, and whether it serves all components.
    pub(super) fn of<const D: usize, const C: usize>(
        &self,
        output: Output,
    ) -> Result<(&str, bool), FormTextError> {
        let Output { component, axis } = output;
        let found = match (self, axis) {
            (Self::One(text), _) => Some(text),
            (Self::Each(texts), _) => index::<D, C>(texts.len(), output).map(|index| &texts[index]),
            (Self::Matrix(rows), Some(axis)) if is_matrix(rows, C, D) => rows[component].get(axis),
            _ => None,
        };
        let serves_all = C == 1 || matches!(self, Self::One(_));
        let text = found.ok_or_else(|| FormTextError::Shape {
            part: output.part(),
            expected: match (axis, C) {
                (None, 1) => "one text".to_owned(),
                (None, _) => format!("one text, or {C}, one for each component"),
                (_, 1) => format!("one text, or {D}, one for each axis"),
                _ => format!("one text, or {C}, one for each component, or {C} lists of {D}"),
            },
            found: self.shape(),
        })?;
        Ok((text, serves_all))
    }

    /// How an error message calls the text of an output.
    pub(super) fn place<const D: usize, const C: usize>(&self, output: Output) -> String {
        let part = output.part();
        match self {
            Self::One(_) => part.to_owned(),
            Self::Each(texts) => {
                let index = index::<D, C>(texts.len(), output).unwrap_or(0);
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
            Self::Each(texts) => format!("a list of {}", texts.len()),
            Self::Matrix(rows) => {
                let lengths: Vec<String> = rows.iter().map(|row| row.len().to_string()).collect();
                format!("lists of {}", lengths.join(", "))
            }
        }
    }
}

/// The place of an output's text in a list.
fn index<const D: usize, const C: usize>(texts: usize, output: Output) -> Option<usize> {
    if texts == C {
        Some(output.component)
    } else {
        output.axis.filter(|_| C == 1 && texts == D)
    }
}

fn is_matrix(rows: &[Vec<String>], count: usize, length: usize) -> bool {
    rows.len() == count && rows.iter().all(|row| row.len() == length)
}

impl From<&str> for Texts {
    fn from(text: &str) -> Self {
        Self::One(text.to_owned())
    }
}

impl<const N: usize> From<[&str; N]> for Texts {
    fn from(texts: [&str; N]) -> Self {
        Self::Each(texts.map(str::to_owned).to_vec())
    }
}

impl<const N: usize, const M: usize> From<[[&str; N]; M]> for Texts {
    fn from(rows: [[&str; N]; M]) -> Self {
        Self::Matrix(rows.map(|row| row.map(str::to_owned).to_vec()).to_vec())
    }
}
