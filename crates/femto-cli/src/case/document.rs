//! The text of a case, and positions in it.

use super::error::{CaseError, Mistake, MistakeKind};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Case files are written by hand: a larger file must be something else.
const LONGEST: u64 = 1 << 20;

/// A case file.
#[derive(Clone, Debug)]
pub struct Document {
    path: PathBuf,
    /// The file, and a line for each setting.
    text: String,
    /// Where the lines of settings start.
    settings: Vec<usize>,
}

/// A value read from a document, with its position for later errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the document.
    pub span: Range<usize>,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is not UTF-8 or is longer than a mebibyte.
    pub fn read(path: &Path) -> Result<Self, CaseError> {
        let read = || {
            let mut bytes = Vec::new();
            std::fs::File::open(path)?
                .take(LONGEST + 1)
                .read_to_end(&mut bytes)?;
            String::from_utf8(bytes).map_err(|error| {
                let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
                let message = format!("line {line} is not UTF-8");
                io::Error::new(io::ErrorKind::InvalidData, message)
            })
        };
        let text = read().map_err(|source| CaseError::Read {
            path: path.to_owned(),
            source,
        })?;
        if text.len() as u64 > LONGEST {
            return Err(CaseError::TooLong {
                path: path.to_owned(),
                limit: LONGEST,
            });
        }
        Ok(Self::new(path, text))
    }

    /// A document from memory; `path` is its name in errors and the base of relative paths.
    pub fn new(path: &Path, text: String) -> Self {
        Self {
            path: path.to_owned(),
            text,
            settings: Vec::new(),
        }
    }

    /// The document with settings `KEY=VALUE` in place of the file's values. A value that is not TOML is text.
    ///
    /// # Errors
    /// What is not a key with a value.
    pub fn with_settings(mut self, settings: &[String]) -> Result<Self, CaseError> {
        for setting in settings {
            let parts = setting.split_once('=');
            let named = parts.filter(|(key, _)| DeTable::parse(&format!("{key} = 0")).is_ok());
            let is_toml = DeTable::parse(setting).is_ok();
            let line = match named {
                Some((key, value)) if !is_toml => format!("{key} = {}", quoted(value.trim())),
                _ => setting.replace('\n', " "),
            };
            self.text.push('\n');
            self.settings.push(self.text.len());
            self.text.push_str(&line);
            if named.is_none() {
                let message = "a setting is a key and a value: space.degree=3".to_owned();
                let start = self.text.len() - line.len();
                let problem = MistakeKind::Syntax { message };
                return Err(self.mistake(start..self.text.len(), problem));
            }
        }
        Ok(self)
    }

    /// The texts of the file and of each setting, whose positions are those in the document.
    pub(super) fn parts(&self) -> Vec<String> {
        let ends = self
            .settings
            .iter()
            .map(|start| start - 1)
            .chain([self.text.len()]);
        let starts = [0].into_iter().chain(self.settings.iter().copied());
        let part = |(start, end)| " ".repeat(start) + &self.text[start..end];
        starts.zip(ends).map(part).collect()
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `path` as seen from the current directory, if it is relative to the document.
    pub fn resolve(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// A mistake at a position of this document.
    pub fn mistake(&self, span: Range<usize>, problem: MistakeKind) -> CaseError {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        let line_start = self.text[..start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let line_end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |length| start + length);
        let line = self.text[..start].matches('\n').count() + 1;
        let setting = self.settings.iter().filter(|it| **it <= start).count();
        CaseError::Mistake(Box::new(Mistake {
            path: match setting {
                0 => self.path.clone(),
                _ => PathBuf::from("--set"),
            },
            line: if setting > 0 { setting } else { line },
            column: self.text[line_start..start].chars().count() + 1,
            width: self.text[start..end.min(line_end)].chars().count().max(1),
            excerpt: self.text[line_start..line_end].trim_end().to_owned(),
            problem,
        }))
    }

    /// The position of some characters (the first, and how many) of a string with contents `text` at
    /// `span`; the whole string if it has escapes.
    pub fn place_in_text(
        &self,
        span: Range<usize>,
        text: &str,
        (first, count): (usize, usize),
    ) -> Range<usize> {
        let raw = self.text.get(span.clone()).unwrap_or_default();
        let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") {
            3
        } else {
            1
        };
        // A newline after the opening quotes is not part of the text.
        let first_byte = raw.len().saturating_sub(quotes + text.len());
        if raw.get(first_byte..first_byte + text.len()) != Some(text) {
            return span;
        }
        let bytes = |characters| {
            text.chars()
                .take(characters)
                .map(char::len_utf8)
                .sum::<usize>()
        };
        let start = span.start + first_byte;
        start + bytes(first)..start + bytes(first + count)
    }

    /// The last character boundary at or before byte `place`.
    fn boundary(&self, place: usize) -> usize {
        (0..=place.min(self.text.len()))
            .rfind(|&b| self.text.is_char_boundary(b))
            .unwrap_or(0)
    }
}

/// A text in TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            _ if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
