//! Errors in cases, with their positions.

use femto::fem::mesh::MeshError;
use femto::kernel::expr::ParseErrorKind;
use femto::kernel::form::FormParseError;
use femto::platform::device::DeviceError;
use femto::problem::ProblemError;
use std::fmt::{Display, Formatter};
use std::path::PathBuf;

/// Why a case cannot be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CaseError {
    #[error("cannot read the case `{}`: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("`{}` is not a case: it is longer than {limit} bytes", path.display())]
    TooLong { path: PathBuf, limit: u64 },
    #[error(transparent)]
    Mistake(Box<Mistake>),
}

/// Longest part of a line that is shown, in characters.
const SHOWN: usize = 120;

/// A mistake at one position of a case. Displays as `file:line:column: problem`, then the line, of a long one the part
/// around the position, then a mark under it.
#[derive(Debug, thiserror::Error)]
pub struct Mistake {
    /// The case file.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// Number of wrong characters in the line, at least 1.
    pub width: usize,
    /// The line.
    pub excerpt: String,
    /// The mistake.
    #[source]
    pub problem: MistakeKind,
}

impl Display for Mistake {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self {
            line,
            column,
            width,
            excerpt,
            problem,
            ..
        } = self;
        writeln!(f, "{}:{line}:{column}: {problem}", self.path.display())?;
        let number = line.to_string();
        // Tabs stay tabs, so that the mark is aligned at any tab width.
        let blank = |c| if c == '\t' { '\t' } else { ' ' };
        let line: Vec<char> = excerpt.chars().collect();
        let first = match line.len() <= SHOWN {
            true => 0,
            false => (column - 1).saturating_sub(SHOWN / 3),
        };
        let shown = &line[first..line.len().min(first + SHOWN)];
        let (before, after) = (first > 0, first + shown.len() < line.len());
        let dots = |left_out| if left_out { "..." } else { "" };
        let text: String = shown.iter().collect();
        let indent = shown.iter().take(column - 1 - first).copied().map(blank);
        let indent = " ".repeat(dots(before).len()) + &indent.collect::<String>();
        let marks = "^".repeat((*width).min((first + SHOWN + 1).saturating_sub(*column).max(1)));
        let margin = " ".repeat(number.len());
        writeln!(f, "  {number} | {}{text}{}", dots(before), dots(after))?;
        write!(f, "  {margin} | {indent}{marks}")
    }
}

/// A mistake, in words.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MistakeKind {
    #[error("this is not TOML: {message}")]
    Syntax { message: String },
    #[error("unknown key `{key}` in {section}{} Known keys: {}", hint(suggestion), .known.join(", "))]
    UnknownKey {
        key: String,
        section: String,
        suggestion: Option<String>,
        known: Vec<&'static str>,
    },
    #[error("`z` has no meaning here: the mesh lies in the plane")]
    OutOfPlane,
    #[error("`t` has no meaning here: a case has no time")]
    NoTime,
    #[error("no expression of the form reads `{name}`")]
    Unread { name: String },
    #[error(
        "the case needs at least {needed:.1} GB of memory, and this process may use {allowed:.1} GB: take fewer \
         cells or a lower degree"
    )]
    Memory {
        /// For the mesh, the space and the vectors alone.
        needed: f64,
        /// By the machine or the process's control group.
        allowed: f64,
    },
    #[error("{section} needs the key {keys}")]
    MissingKey { section: String, keys: String },
    #[error("{key} must be {expected}, found {found}")]
    WrongType {
        key: String,
        expected: &'static str,
        found: String,
    },
    #[error("{key} must be {expected}, found {found}")]
    OutOfRange {
        key: String,
        expected: String,
        found: String,
    },
    #[error("{key} cannot be `{found}`{} Supported: {}", hint(suggestion), .known.join(", "))]
    UnknownChoice {
        key: String,
        found: String,
        suggestion: Option<String>,
        known: Vec<&'static str>,
    },
    #[error("{section} needs exactly one of {}", .keys.join(", "))]
    ExactlyOne {
        section: String,
        keys: Vec<&'static str>,
    },
    #[error("{key} has no meaning here: {reason}")]
    Meaningless { key: String, reason: &'static str },
    #[error(
        "group `{tag}` has a condition already, in {first}; a group has one for each component"
    )]
    RepeatedTag { tag: String, first: &'static str },
    #[error("`{tag}` is the group that `{first}` is, which has {what} already")]
    SameGroup {
        tag: String,
        first: String,
        what: &'static str,
    },
    #[error("{0}")]
    Expression(ParseErrorKind),
    #[error(transparent)]
    Form(FormParseError),
    #[error(transparent)]
    Device(DeviceError),
    #[error(transparent)]
    Mesh(MeshError),
    #[error("{0}")]
    Output(String),
    #[error("{error}{in_file}")]
    Setup {
        error: Box<ProblemError>,
        /// Where the mesh file has the cells named in the error, in words.
        in_file: String,
    },
}

/// The end of a message about an unknown word.
fn hint(suggestion: &Option<String>) -> String {
    match suggestion {
        Some(word) => format!("; did you mean `{word}`?"),
        None => ".".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_part_around_the_mistake_is_shown() {
        for (column, width) in [(1, 1), (30, 3), (1000, 4), (1999, 2), (10, 1990)] {
            let excerpt: String = (0..2000)
                .map(|i| char::from(b'a' + (i % 26) as u8))
                .collect();
            let wrong: String = excerpt
                .chars()
                .skip(column - 1)
                .take(width.min(SHOWN / 2))
                .collect();
            let mistake = Mistake {
                path: "case.toml".into(),
                line: 7,
                column,
                width,
                excerpt,
                problem: MistakeKind::OutOfPlane,
            };
            let shown = mistake.to_string();
            let [_, line, marks] = shown.lines().collect::<Vec<_>>()[..] else {
                panic!("{shown}");
            };
            assert!(
                line.len() < SHOWN + 20 && marks.len() <= line.len(),
                "{shown}"
            );
            let place = marks.find('^').expect("a mark");
            assert!(line[place..].starts_with(&wrong), "{shown}");
        }
    }
}
