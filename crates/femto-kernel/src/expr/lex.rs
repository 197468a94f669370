//! Splitting the text of an expression into words.

use super::error::ParseErrorKind;

/// A word of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    /// The word itself; empty at the end of the expression.
    pub(super) text: &'a str,
    /// Its first byte.
    pub(super) start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind {
    Number(f64),
    Name,
    /// An operator, a parenthesis or a comma.
    Mark,
    End,
}

impl Token<'_> {
    /// The word, as named in error messages.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the expression".to_owned(),
            _ => format!("`{}`", self.text),
        }
    }
}

const TWO_CHARACTER_MARKS: [&str; 3] = ["**", "<=", ">="];
const MARKS: &str = "+-*/^()<>,";

/// The token that starts at or after byte `from`, or the position and kind of the error.
pub(super) fn next_token(
    text: &str,
    from: usize,
) -> Result<Token<'_>, (Token<'_>, ParseErrorKind)> {
    let rest = &text[from..];
    let start = from + (rest.len() - rest.trim_start().len());
    let rest = &text[start..];
    let token = |length, kind| Token {
        kind,
        text: rest.get(..length).unwrap_or_default(),
        start,
    };
    let Some(first) = rest.chars().next() else {
        return Ok(token(0, TokenKind::End));
    };
    if first.is_ascii_digit() || first == '.' {
        let length = number_length(rest.as_bytes());
        let word = &rest[..length];
        return match word.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(token(length, TokenKind::Number(value))),
            _ => {
                let kind = ParseErrorKind::BadNumber {
                    found: word.to_owned(),
                };
                Err((token(length, TokenKind::Mark), kind))
            }
        };
    }
    if first.is_alphabetic() || first == '_' {
        let is_end = |c: char| !c.is_alphanumeric() && c != '_';
        return Ok(token(
            rest.find(is_end).unwrap_or(rest.len()),
            TokenKind::Name,
        ));
    }
    if TWO_CHARACTER_MARKS
        .iter()
        .any(|mark| rest.starts_with(mark))
    {
        return Ok(token(2, TokenKind::Mark));
    }
    if MARKS.contains(first) {
        return Ok(token(1, TokenKind::Mark));
    }
    let kind = ParseErrorKind::UnknownCharacter { found: first };
    Err((token(first.len_utf8(), TokenKind::Mark), kind))
}

/// The names in an expression, with their first bytes, up to the first invalid word.
pub fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    let words = std::iter::from_fn(move || {
        let token = next_token(text, from).ok()?;
        from = token.start + token.text.len();
        (token.kind != TokenKind::End).then_some(token)
    });
    words
        .filter(|token| token.kind == TokenKind::Name)
        .map(|token| (token.start, token.text))
}

/// The length of the number at the start of `bytes`: digits, a point, and an exponent if its `e` is
/// followed by digits.
fn number_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = length + 1 + sign;
        if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
            length = exponent + digits(exponent);
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let (mut from, mut words) = (0, Vec::new());
        loop {
            let token = next_token(text, from).unwrap();
            if token.kind == TokenKind::End {
                return words;
            }
            words.push(token.text);
            from = token.start + token.text.len();
        }
    }

    #[test]
    fn words_are_cut_where_they_end() {
        assert_eq!(words("2e-3*e+.5"), ["2e-3", "*", "e", "+", ".5"]);
        assert_eq!(words("2e"), ["2", "e"]);
        assert_eq!(words(" x_1**2<=pi "), ["x_1", "**", "2", "<=", "pi"]);
        assert!(matches!(
            next_token("1e999", 0),
            Err((_, ParseErrorKind::BadNumber { .. }))
        ));
        assert!(matches!(
            next_token(".", 0),
            Err((_, ParseErrorKind::BadNumber { .. }))
        ));
        assert!(matches!(
            next_token("€", 0),
            Err((_, ParseErrorKind::UnknownCharacter { .. }))
        ));
    }
}
