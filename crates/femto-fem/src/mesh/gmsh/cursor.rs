//! A position in the bytes of a file, with text readers.

use super::error::GmshError;

/// A problem and the byte offset where it was found. Boxed, so that results of the token readers fit in
/// registers.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) problem: GmshError,
}

/// The result of reading something from the file.
pub(super) type Parsed<T> = Result<T, Box<Fault>>;

/// Reads a file front to back.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Longest excerpt of the file that an error quotes.
const EXCERPT: usize = 40;

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The byte offset of the next token.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The line of a byte offset, counted from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        let before = &self.bytes[..at.min(self.bytes.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// The unread bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Size of the whole file.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Skips white space and returns the offset after it.
    #[inline]
    pub(super) fn skip_space(&mut self) -> usize {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.at
    }

    /// The next `N` bytes.
    #[inline]
    pub(super) fn take<const N: usize>(&mut self, what: &'static str) -> Parsed<[u8; N]> {
        match self.rest().first_chunk() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(end(self.size(), what)),
        }
    }

    /// Skips `count` bytes, at most to the end of the file.
    pub(super) fn advance(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.bytes.len());
    }

    /// The bytes up to the next white space; empty at the end of the file.
    #[inline]
    pub(super) fn token(&mut self) -> &'a [u8] {
        self.skip_space();
        let rest = self.rest();
        let space = rest.iter().position(u8::is_ascii_whitespace);
        let token = &rest[..space.unwrap_or(rest.len())];
        self.at += token.len();
        token
    }

    /// A decimal integer.
    #[inline]
    pub(super) fn integer(&mut self, what: &'static str) -> Parsed<i64> {
        let start = self.skip_space();
        let negative = match self.bytes.get(start) {
            Some(b'-') => {
                self.at += 1;
                true
            }
            Some(b'+') => {
                self.at += 1;
                false
            }
            _ => false,
        };
        let digits = self.at;
        let mut value = 0i64;
        let mut fits = true;
        while let Some(digit) = self.bytes.get(self.at).map(|byte| byte.wrapping_sub(b'0')) {
            if digit > 9 {
                break;
            }
            let next = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(digit.into()));
            fits &= next.is_some();
            value = next.unwrap_or(0);
            self.at += 1;
        }
        let ended = self.bytes.get(self.at).is_none_or(u8::is_ascii_whitespace);
        if self.at > digits && ended && fits {
            Ok(if negative { -value } else { value })
        } else {
            self.at = start;
            Err(self.not_an_integer(what))
        }
    }

    /// A decimal floating-point number, not necessarily finite.
    #[inline]
    pub(super) fn float(&mut self, what: &'static str) -> Parsed<f64> {
        let start = self.skip_space();
        let text = std::str::from_utf8(self.token());
        match text.ok().and_then(|text| text.parse().ok()) {
            Some(value) => Ok(value),
            None => {
                self.at = start;
                Err(self.unexpected(what))
            }
        }
    }

    /// A string between double quotes, on one line.
    pub(super) fn quoted(&mut self, what: &'static str) -> Parsed<String> {
        self.skip_space();
        let line = self.rest().split(|&byte| byte == b'\n').next();
        let mut parts = line.unwrap_or_default().splitn(3, |&byte| byte == b'"');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(b""), Some(text), Some(_)) => {
                self.advance(text.len() + 2);
                Ok(String::from_utf8_lossy(text).into_owned())
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Skips the rest of the line, which must be blank.
    pub(super) fn end_of_line(&mut self) -> Parsed<()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !byte.is_ascii_whitespace() {
                return Err(self.unexpected("the end of the line"));
            }
            self.at += 1;
            if byte == b'\n' {
                break;
            }
        }
        Ok(())
    }

    /// A fault at anything else than `expected`.
    #[cold]
    pub(super) fn unexpected(&self, expected: &str) -> Box<Fault> {
        if self.rest().is_empty() {
            return end(self.at, expected);
        }
        fault(
            self.at,
            GmshError::Expected {
                expected: expected.into(),
                found: self.excerpt(),
            },
        )
    }

    #[cold]
    fn not_an_integer(&self, what: &'static str) -> Box<Fault> {
        let token = self.clone().token();
        let digits = token.strip_prefix(b"-").unwrap_or(token);
        if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            let (found, supported) = (self.excerpt(), "a 64-bit integer");
            return fault(
                self.at,
                GmshError::Range {
                    what,
                    found,
                    supported,
                },
            );
        }
        self.unexpected(what)
    }

    /// The next token, cut to fit an error message.
    pub(super) fn excerpt(&self) -> String {
        let token = self.clone().token();
        let cut = &token[..token.len().min(EXCERPT)];
        let dots = if cut.len() < token.len() { "..." } else { "" };
        let text = String::from_utf8_lossy(cut);
        format!("`{}{dots}`", text.escape_debug())
    }
}

/// A problem at a byte offset.
#[cold]
pub(super) fn fault(at: usize, problem: GmshError) -> Box<Fault> {
    Box::new(Fault { at, problem })
}

#[cold]
fn end(at: usize, expected: &str) -> Box<Fault> {
    let expected = expected.into();
    fault(at, GmshError::End { expected })
}
