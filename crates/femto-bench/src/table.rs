//! Aligned columns of words and numbers.

use std::fmt::{self, Formatter};

/// A column of a table of `R`.
pub struct Column<R> {
    /// Title and unit.
    head: [&'static str; 2],
    is_words: bool,
    cell: fn(&R) -> String,
}

impl<R> Column<R> {
    /// A column of words, left-aligned.
    pub const fn words(title: &'static str, cell: fn(&R) -> String) -> Self {
        Self {
            head: [title, ""],
            is_words: true,
            cell,
        }
    }

    /// A column of numbers, right-aligned.
    pub const fn numbers(title: &'static str, unit: &'static str, cell: fn(&R) -> String) -> Self {
        Self {
            head: [title, unit],
            is_words: false,
            cell,
        }
    }
}

/// Titles, units, then a line for each row.
///
/// # Errors
/// Those of the formatter.
pub fn write<'a, R: 'a>(
    f: &mut Formatter<'_>,
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = &'a R>,
) -> fmt::Result {
    let head = |line: usize| columns.iter().map(|it| it.head[line].to_owned()).collect();
    let mut lines: Vec<Vec<String>> = vec![head(0), head(1)];
    lines.extend(
        rows.into_iter()
            .map(|row| columns.iter().map(|it| (it.cell)(row)).collect()),
    );
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns.len()).map(|n| width(n).unwrap_or(0)).collect();
    for line in &lines {
        let cells = line.iter().zip(columns).zip(&widths);
        let cells = cells.map(|((text, column), &width)| match column.is_words {
            true => format!("{text:<width$}"),
            false => format!("{text:>width$}"),
        });
        writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
