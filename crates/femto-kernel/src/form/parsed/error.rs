//! Errors of parsed forms.

use crate::expr::ParseError;

/// Why the expressions of a form cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FormParseError {
    #[error("{place}: {source}")]
    Expression {
        /// `f0`, `f1`, or for an entry of a list: `f0[component]`, `f1[component][axis]`.
        place: String,
        source: Box<ParseError>,
    },
    #[error("{part} is {expected}; found {found}")]
    Shape {
        part: &'static str,
        expected: String,
        found: String,
    },
    #[error(
        "`{name}` cannot be the name of a {role}: a name has letters, digits and _, and starts with none of the digits"
    )]
    NotAName { role: Role, name: String },
    #[error("`{name}` cannot be the name of a {role}: `{taken}` has a meaning already")]
    NameTaken {
        role: Role,
        name: String,
        taken: String,
    },
    #[error("{found} {role}s are named; at most {limit} are supported")]
    TooManyNames {
        role: Role,
        found: usize,
        limit: usize,
    },
    #[error(
        "f1 is the same along all axes: write it with grad, or give an expression for each axis"
    )]
    SameFlux,
    #[error("the form has {found} operations; at most {limit} are supported")]
    TooLarge { found: usize, limit: usize },
}

/// The role of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An auxiliary field.
    Field,
    /// A run-time parameter.
    Parameter,
}

impl core::fmt::Display for Role {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Field => "field",
            Self::Parameter => "parameter",
        })
    }
}

/// One output of a form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// The form's dimension.
    pub(super) dim: usize,
    /// Number of the form's components.
    pub(super) components: usize,
    pub(super) component: usize,
    /// The axis of f1; `None` for f0.
    pub(super) axis: Option<usize>,
}

impl Output {
    /// The name of its part, f0 or f1.
    pub(super) fn part(self) -> &'static str {
        match self.axis {
            None => "f0",
            Some(_) => "f1",
        }
    }
}
