//! Typed reading of TOML; anything not understood is an error.

use super::document::{Document, Located};
use super::error::{CaseError, MistakeKind};
use super::vector::Vector;
use femto::kernel::expr::suggest;
use femto::kernel::scalar::Precision;
use femto::platform::device::{self, DeviceId};
use femto::problem::Expression;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table whose keys are all known.
#[derive(Clone)]
pub(super) struct Section<'a> {
    document: &'a Document,
    /// Its name in errors; `None` for the whole case.
    name: Option<String>,
    table: &'a DeTable<'a>,
    span: Range<usize>,
}

impl<'a> Section<'a> {
    /// Checks that every key of `table` is in `known`; an empty list admits any.
    pub(super) fn new(
        document: &'a Document,
        name: Option<String>,
        (table, span): (&'a DeTable<'a>, Range<usize>),
        known: &[&'static str],
    ) -> Result<Self, CaseError> {
        for key in table.keys() {
            let name_of_key: &str = key.get_ref();
            if !known.is_empty() && !known.contains(&name_of_key) {
                let problem = MistakeKind::UnknownKey {
                    key: name_of_key.to_owned(),
                    section: name.unwrap_or_else(|| "the case".to_owned()),
                    suggestion: suggest(name_of_key, known.iter().copied()).map(str::to_owned),
                    known: known.to_vec(),
                };
                return Err(document.mistake(key.span(), problem));
            }
        }
        Ok(Self {
            document,
            name,
            table,
            span,
        })
    }

    /// A value positioned at the whole section.
    pub(super) fn located<T>(&self, value: T) -> Located<T> {
        let span = self.span.clone();
        Located { value, span }
    }

    pub(super) fn optional(&self, key: &'static str) -> Option<Value<'a>> {
        let value = self.table.get(key)?;
        Some(self.value(key, value))
    }

    fn value(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Value<'a> {
        let key = match (&self.name, value.get_ref()) {
            (Some(section), _) => format!("`{key}` in {section}"),
            (None, DeValue::Table(_)) => format!("[{key}]"),
            (None, DeValue::Array(_)) => format!("[[{key}]]"),
            (None, _) => format!("`{key}`"),
        };
        Value {
            document: self.document,
            key,
            value,
        }
    }

    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| "the case".to_owned())
    }

    pub(super) fn required(&self, key: &'static str) -> Result<Value<'a>, CaseError> {
        let found = self.optional(key);
        found.ok_or_else(|| self.lacks(format!("`{key}`")))
    }

    /// The error that a key, or one of some, is missing.
    pub(super) fn lacks(&self, keys: String) -> CaseError {
        let section = self.name();
        self.mistake(MistakeKind::MissingKey { section, keys })
    }

    /// The value of one of two mutually exclusive keys.
    pub(super) fn either(
        &self,
        keys: [&'static str; 2],
    ) -> Result<(&'static str, Value<'a>), CaseError> {
        match keys.map(|key| self.optional(key)) {
            [Some(value), None] => Ok((keys[0], value)),
            [None, Some(value)] => Ok((keys[1], value)),
            _ => {
                let (section, keys) = (self.name(), keys.to_vec());
                Err(self.mistake(MistakeKind::ExactlyOne { section, keys }))
            }
        }
    }

    /// All keys with their values.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Located<String>, Value<'a>)> {
        self.table.iter().map(|(key, value)| {
            let name: &str = key.get_ref();
            let located = Located {
                value: name.to_owned(),
                span: key.span(),
            };
            (located, self.value(name, value))
        })
    }

    fn mistake(&self, problem: MistakeKind) -> CaseError {
        self.document.mistake(self.span.clone(), problem)
    }
}

/// A value not yet interpreted.
pub(super) struct Value<'a> {
    document: &'a Document,
    /// Its name in errors.
    key: String,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn section(&self, known: &[&'static str]) -> Result<Section<'a>, CaseError> {
        let DeValue::Table(table) = self.value.get_ref() else {
            return Err(self.wrong_type("a table"));
        };
        let table = (table, self.value.span());
        Section::new(self.document, Some(self.key.clone()), table, known)
    }

    /// Its position.
    pub(super) fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// Its name in errors.
    pub(super) fn name(&self) -> &str {
        &self.key
    }

    pub(super) fn text(&self) -> Result<&'a str, CaseError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("a text")),
        }
    }

    /// A finite number.
    pub(super) fn number(&self) -> Result<f64, CaseError> {
        let number = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().unwrap_or(f64::NAN),
            DeValue::Integer(_) => self.any_integer()? as f64,
            _ => return Err(self.wrong_type("a number")),
        };
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.out_of_range("a finite number"))
        }
    }

    /// A finite number above zero.
    pub(super) fn positive_number(&self) -> Result<f64, CaseError> {
        let number = self.number()?;
        if number > 0.0 {
            Ok(number)
        } else {
            Err(self.out_of_range("above zero"))
        }
    }

    pub(super) fn integer(&self, range: RangeInclusive<usize>) -> Result<usize, CaseError> {
        let integer = usize::try_from(self.any_integer()?)
            .ok()
            .filter(|i| range.contains(i));
        integer.ok_or_else(|| match *range.end() {
            only if only == *range.start() => self.out_of_range(&only.to_string()),
            usize::MAX => self.out_of_range(&format!("at least {}", range.start())),
            last => self.out_of_range(&format!("from {} to {last}", range.start())),
        })
    }

    fn any_integer(&self) -> Result<i64, CaseError> {
        match self.value.get_ref() {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .map_err(|_| self.out_of_range("an integer of 64 bits")),
            _ => Err(self.wrong_type("an integer")),
        }
    }

    /// The value of one of a few words.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Result<T, CaseError> {
        let found = self.text()?;
        let chosen = choices.iter().find(|(word, _)| *word == found);
        chosen.map(|&(_, meaning)| meaning).ok_or_else(|| {
            let known: Vec<_> = choices.iter().map(|&(word, _)| word).collect();
            self.mistake(MistakeKind::UnknownChoice {
                key: self.key.clone(),
                found: found.to_owned(),
                suggestion: suggest(found, known.iter().copied()).map(str::to_owned),
                known,
            })
        })
    }

    /// A precision.
    pub(super) fn precision(&self) -> Result<Precision, CaseError> {
        let choices = [Precision::Fp64, Precision::Fp32];
        self.choice(&choices.map(|choice| (choice.name(), choice)))
    }

    /// The name of a device.
    pub(super) fn device(&self) -> Result<DeviceId, CaseError> {
        let found = self.text()?;
        device::parse(found).map_err(|error| self.mistake(MistakeKind::Device(error)))
    }

    /// `true` or `false`.
    pub(super) fn truth(&self) -> Result<bool, CaseError> {
        match self.value.get_ref() {
            DeValue::Boolean(truth) => Ok(*truth),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// The tables of an array of tables.
    pub(super) fn sections(&self) -> Result<Vec<Value<'a>>, CaseError> {
        match self.value.get_ref() {
            DeValue::Table(_) => {
                Err(self.wrong_type("in two pairs of brackets, as there may be several"))
            }
            _ => self.list(),
        }
    }

    /// The elements of an array.
    pub(super) fn list(&self) -> Result<Vec<Value<'a>>, CaseError> {
        let DeValue::Array(array) = self.value.get_ref() else {
            return Err(self.wrong_type("an array"));
        };
        let element = |(i, value)| Value {
            document: self.document,
            key: format!("element {} of {}", i + 1, self.key),
            value,
        };
        Ok(array.iter().enumerate().map(element).collect())
    }

    /// An array with one element per axis.
    pub(super) fn per_axis<T, const N: usize>(
        &self,
        read: impl Fn(&Value<'a>) -> Result<T, CaseError>,
    ) -> Result<[T; N], CaseError> {
        let elements = self.list()?;
        let read: Vec<T> = elements.iter().map(read).collect::<Result<_, _>>()?;
        let count = read.len();
        read.try_into().map_err(|_| {
            let (key, expected) = (self.key.clone(), format!("an array of {N} elements"));
            self.mistake(MistakeKind::OutOfRange {
                key,
                expected,
                found: format!("{count}"),
            })
        })
    }

    /// A result read from this value, with its position.
    pub(super) fn located<T>(&self, value: T) -> Located<T> {
        let span = self.value.span();
        Located { value, span }
    }

    /// A text, or a number as written.
    pub(super) fn number_or_text(&self) -> Result<String, CaseError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ if self.is_number() => Ok(self.number()?.to_string()),
            _ => Err(self.wrong_type("an expression or a number")),
        }
    }

    /// One expression, or a list of them, one for each component.
    pub(super) fn vector(&self) -> Result<Vector, CaseError> {
        let functions = match self.is_list() {
            true => self.list()?.iter().map(Self::expression).collect(),
            false => self.expression().map(|function| vec![function]),
        }?;
        if functions.is_empty() {
            return Err(self.out_of_range("a value, or one for each component"));
        }
        let span = self.value.span();
        Ok(Vector { functions, span })
    }

    /// The name or number of a group.
    pub(super) fn tag(&self) -> Result<Located<String>, CaseError> {
        let value = match self.value.get_ref() {
            DeValue::String(name) => name.to_string(),
            DeValue::Integer(_) => self.any_integer()?.to_string(),
            _ => return Err(self.wrong_type("the name or the number of a group")),
        };
        Ok(Located {
            value,
            span: self.value.span(),
        })
    }

    /// A number or a function of position.
    pub(super) fn expression(&self) -> Result<Expression, CaseError> {
        let DeValue::String(text) = self.value.get_ref() else {
            return match self.number() {
                Err(_) if !self.is_number() => Err(self.wrong_type("an expression or a number")),
                number => number.map(Expression::constant),
            };
        };
        Expression::parse(text).map_err(|error| {
            let place = (error.column - 1, error.width);
            let span = self.document.place_in_text(self.value.span(), text, place);
            self.document
                .mistake(span, MistakeKind::Expression(error.kind))
        })
    }

    /// A number or a function of x and y, for a mesh in the plane.
    pub(super) fn plane_expression(&self) -> Result<Expression, CaseError> {
        let function = self.expression()?;
        match function.reads_z() {
            true => Err(self.mistake(MistakeKind::OutOfPlane)),
            false => Ok(function),
        }
    }

    /// An error for a key that has no meaning here.
    pub(super) fn meaningless(&self, reason: &'static str) -> CaseError {
        self.mistake(MistakeKind::Meaningless {
            key: self.key.clone(),
            reason,
        })
    }

    /// An error about the value.
    pub(super) fn out_of_range(&self, expected: &str) -> CaseError {
        let (key, expected, found) = (self.key.clone(), expected.to_owned(), self.describe());
        self.mistake(MistakeKind::OutOfRange {
            key,
            expected,
            found,
        })
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Array(_))
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(
            self.value.get_ref(),
            DeValue::Float(_) | DeValue::Integer(_)
        )
    }

    fn wrong_type(&self, expected: &'static str) -> CaseError {
        let (key, found) = (self.key.clone(), self.describe());
        self.mistake(MistakeKind::WrongType {
            key,
            expected,
            found,
        })
    }

    /// The value as written, if it is short, with its type.
    fn describe(&self) -> String {
        const SHORT: usize = 40;
        let kind = self.value.get_ref().type_str();
        match self.document.text().get(self.value.span()) {
            Some(raw) if raw.len() <= SHORT && !raw.contains('\n') => format!("the {kind} {raw}"),
            _ => format!("a value of type {kind}"),
        }
    }

    fn mistake(&self, problem: MistakeKind) -> CaseError {
        self.document.mistake(self.value.span(), problem)
    }
}
