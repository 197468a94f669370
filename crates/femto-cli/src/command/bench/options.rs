//! Parsers of option values.

use crate::command::interrupt::Interrupt;
use crate::failure::Failure;
use crate::files::{check_output, check_separate};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use femto::element::basis::MAX_DEGREE;
use femto::kernel::scalar::Precision;
use femto_bench::paper::Paper;
use femto_bench::{Benchmark, CeilingsFrom, RunOptions, Size, read_rows};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Minimum seconds of a sample, on a device's own clock.
pub(in crate::command) const SAMPLE_SECONDS: f64 = 0.005;

/// The options of every benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// Use ceilings from an earlier run of `femto roofline`, if any.
    #[arg(long)]
    kept: bool,
    /// Also write the rows to a CSV file, updated as they are measured.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl Common {
    /// The options of a run that can write its table, and its figure if it has one, and that signals end early.
    pub(super) fn run_options(&self, figure: Option<&Path>) -> Result<RunOptions, Failure> {
        let tables = self.csv.as_slice();
        for table in tables {
            check_output(table)?;
        }
        check_figure(figure, tables)?;
        Ok(RunOptions {
            ceilings: match self.kept {
                true => CeilingsFrom::Kept,
                false => CeilingsFrom::Measurement,
            },
            csv: self.csv.clone(),
            interrupt: Interrupt::listen().signal,
        })
    }
}

/// Fails for the first of these options that is given but changes nothing.
pub(in crate::command) fn check_meaning(
    options: &[(&'static str, bool, &'static str)],
) -> Result<(), Failure> {
    match options.iter().find(|(_, is_idle, _)| *is_idle) {
        Some(&(option, _, reason)) => Err(Failure::NoMeaning { option, reason }),
        None => Ok(()),
    }
}

/// The rows of stored tables, to be drawn as a figure that can be written.
pub(super) fn stored_rows<P: DeserializeOwned>(
    tables: &[PathBuf],
    figure: Option<&Path>,
) -> Result<Vec<P>, Failure> {
    let mut rows = Vec::new();
    for table in tables {
        rows.extend(read_rows::<P>(table)?);
    }
    check_figure(figure, tables)?;
    match rows.is_empty() {
        true => Err(no_rows(tables, String::new())),
        false => Ok(rows),
    }
}

/// The error of stored tables without rows to draw, and what they have instead.
pub(super) fn no_rows(tables: &[PathBuf], found: String) -> Failure {
    let names = tables.iter().map(|table| table.display().to_string());
    let files = names.collect::<Vec<_>>().join(", ");
    Failure::NoRows { files, found }
}

/// Checks that a figure can be written, and over no table.
fn check_figure(figure: Option<&Path>, tables: &[PathBuf]) -> Result<(), Failure> {
    figure.map_or(Ok(()), |figure| {
        check_output(figure)?;
        check_separate(figure, tables)
    })
}

/// A list of degrees.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct Degrees(pub(in crate::command) Vec<usize>);

impl FromStr for Degrees {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut degrees = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = match part.split_once("..") {
                Some((first, last)) => (degree(first)?, degree(last)?),
                None => (degree(part)?, degree(part)?),
            };
            if first > last {
                return Err(format!(
                    "range `{part}` is empty; its first number is the smaller one, as in `1..8`"
                ));
            }
            degrees.extend(first..=last);
        }
        Ok(Self(degrees))
    }
}

fn degree(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(degree) if (1..=MAX_DEGREE).contains(&degree) => Ok(degree),
        Ok(degree) => Err(format!(
            "degree {degree} is out of range; degrees 1 to {MAX_DEGREE} are supported"
        )),
        Err(_) => Err(format!(
            "`{text}` is not a degree; expected numbers and ranges, such as `1..8` or `2,4..6`"
        )),
    }
}

/// A count, such as `4096` or `1.5e6`.
pub(in crate::command) fn count(text: &str) -> Result<usize, String> {
    let most = 1e12;
    match text.trim().parse::<f64>() {
        Ok(number) if (1.0..=most).contains(&number) => Ok(number.round() as usize),
        Ok(_) => Err(format!("expected a number from 1 to {most:.0e}")),
        Err(_) => Err("expected a number, such as `4096` or `1.5e6`".to_owned()),
    }
}

/// A figure's file; checked before anything is measured for it.
pub(super) fn figure(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    match femto_bench::check_figure(&path) {
        Ok(()) => Ok(path),
        Err(error) => Err(error.to_string()),
    }
}

/// A number of elements, or `large`.
pub(super) fn elements(text: &str) -> Result<Size, String> {
    match text.trim() {
        "large" => Ok(Size::LARGE),
        text => Ok(Size::Elements(count(text)?)),
    }
}

pub(super) fn benchmark() -> impl TypedValueParser<Value = Benchmark> {
    let value = |it: Benchmark| PossibleValue::new(it.name()).help(it.description());
    one_of(&Benchmark::ALL, Benchmark::name, value)
}

/// At least one layer.
pub(super) fn layers() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u32)
        .range(1..1_000_000)
        .map(|layers| layers as usize)
}

pub(in crate::command) fn paper() -> impl TypedValueParser<Value = Paper> {
    let value = |it: Paper| PossibleValue::new(it.name()).help(it.title());
    one_of(&Paper::ALL, Paper::name, value)
}

pub(in crate::command) fn precision() -> impl TypedValueParser<Value = Precision> {
    named(&[Precision::Fp64, Precision::Fp32], Precision::name)
}

/// Each of `all` combined with each of the values.
pub(in crate::command) fn vary<P: Copy, T: Copy>(
    all: Vec<P>,
    values: &[T],
    set: fn(&mut P, T),
) -> Vec<P> {
    let with = |params: P| {
        values.iter().map(move |&value| {
            let mut params = params;
            set(&mut params, value);
            params
        })
    };
    all.into_iter().flat_map(with).collect()
}

/// A parser of names that are not listed in the help.
pub(in crate::command) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    one_of(all, name, move |it| PossibleValue::new(name(it)))
}

/// A parser of names; clap lists them and suggests the nearest.
pub(in crate::command) fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    value: impl Fn(T) -> PossibleValue,
) -> impl TypedValueParser<Value = T> {
    let values = all.iter().map(|&it| value(it));
    PossibleValuesParser::new(values).try_map(move |text| {
        let found = all.iter().copied().find(|&it| name(it) == text);
        found.ok_or("unknown name")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(text: &str) -> Result<Vec<usize>, String> {
        text.parse().map(|Degrees(degrees)| degrees)
    }

    #[test]
    fn degrees_are_numbers_ranges_and_lists() {
        assert_eq!(degrees("3"), Ok(vec![3]));
        assert_eq!(degrees("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(degrees("2, 4..6,15"), Ok(vec![2, 4, 5, 6, 15]));
        assert_eq!(degrees("5..5"), Ok(vec![5]));
    }

    #[test]
    fn what_is_no_degree_is_said() {
        for (text, message) in [
            ("", "`` is not a degree"),
            ("1..x", "`x` is not a degree"),
            ("1..=3", "`=3` is not a degree"),
            ("-1", "`-1` is not a degree"),
            ("0", "degree 0 is out of range"),
            ("1..99999999", "degree 99999999 is out of range"),
            ("4..2", "range `4..2` is empty"),
        ] {
            let error = degrees(text).expect_err("no degrees");
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn counts_may_have_exponents() {
        assert_eq!(count("1.5e6"), Ok(1_500_000));
        assert_eq!(count("4096"), Ok(4096));
        for bad in ["0", "-3", "nan", "inf", "1e300", "many", ""] {
            assert!(count(bad).is_err(), "{bad}");
            assert!(elements(bad).is_err(), "{bad}");
        }
        assert_eq!(elements("512"), Ok(Size::Elements(512)));
        assert_eq!(elements("large"), Ok(Size::Dofs(50_000_000)));
    }
}
