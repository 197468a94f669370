//! Errors of expressions, with their columns.

use core::fmt::{Display, Formatter};

/// An expression that cannot be parsed.
///
/// Displays as the message, then the expression, then a line that marks the position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    /// The kind of error.
    #[source]
    pub kind: ParseErrorKind,
    /// The expression.
    pub text: String,
    /// The first wrong character, counted from 1.
    pub column: usize,
    /// Number of wrong characters, at least 1.
    pub width: usize,
}

/// The kinds of errors in expressions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ParseErrorKind {
    #[error("the expression is empty")]
    Empty,
    #[error("the expression has {length} bytes; at most {limit} are supported")]
    TooLong { length: usize, limit: usize },
    #[error("the expression is nested too deeply; at most {limit} levels are supported")]
    TooDeep { limit: usize },
    #[error("`{found}` does not belong in an expression{}", hint_for_character(*.found))]
    UnknownCharacter { found: char },
    #[error("`{found}` is not a number that double precision can hold")]
    BadNumber { found: String },
    #[error("expected {expected}, found {found}")]
    Unexpected {
        expected: &'static str,
        found: String,
    },
    #[error("`{name}` is not known{} Known names: {}", hint(.suggestion), .known.join(", "))]
    UnknownName {
        name: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    #[error("there is no function `{name}`{} Functions: {}", hint(.suggestion), .known.join(", "))]
    UnknownFunction {
        name: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    #[error("`{name}` is not a function; a product is written `{name} * (...)`")]
    NotAFunction { name: String },
    #[error("`{name}` is a function: write `{name}(...)`")]
    FunctionWithoutArguments { name: String },
    #[error("`{name}` takes {expected}, found {found}")]
    WrongArguments {
        name: String,
        expected: &'static str,
        found: usize,
    },
    #[error("`grad` takes a name, and found {found}{} Gradients: {}", hint(.suggestion), .known.join(", "))]
    NoGradient {
        found: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    #[error(
        "`grad({name})` is a vector and a number is needed here: write `{name}_x`, `{name}_y` or `{name}_z`"
    )]
    MisplacedGradient { name: String },
    #[error("this is {value}; a constant must be finite")]
    NotFinite { value: String },
    #[error("a comparison may only be the first argument of `select(a < b, then, else)`")]
    MisplacedComparison,
    #[error("the first argument of `select` must be one comparison, such as `x < 0.5`")]
    MissingComparison,
}

/// The end of a message about an unknown word.
fn hint(suggestion: &Option<String>) -> String {
    match suggestion {
        Some(word) => format!("; did you mean `{word}`?"),
        None => ".".to_owned(),
    }
}

fn hint_for_character(found: char) -> &'static str {
    match found {
        '=' | '!' => "; the comparisons are < <= > >=, and there is no test for equality",
        '?' | ':' => "; write `select(a < b, then, else)`",
        '[' | ']' | '{' | '}' => "; group with ( and )",
        '&' | '|' => "; combine conditions by nesting `select`",
        _ => "",
    }
}

/// Characters of the expression shown on each side of the position.
const CONTEXT: usize = 40;

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        let characters = self.text.chars().count();
        let start = self.column.saturating_sub(1 + CONTEXT);
        let end = (self.column + self.width + CONTEXT).min(characters);
        let shown: String = (self
            .text
            .chars()
            .skip(start)
            .take(end.saturating_sub(start)))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
        let (left, right) = (
            if start > 0 { "..." } else { "" },
            if end < characters { "..." } else { "" },
        );
        let indent = " ".repeat(left.len() + self.column.saturating_sub(1 + start));
        let width = self
            .width
            .min(end.saturating_sub(self.column.saturating_sub(1)).max(1));
        writeln!(f, "{} (column {})", self.kind, self.column)?;
        writeln!(f, "  {left}{shown}{right}")?;
        write!(f, "  {indent}{}", "^".repeat(width))
    }
}
