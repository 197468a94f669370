//! Parsing text to a graph.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = signed (("*" | "/") signed)*
//! signed  = ("-" | "+") signed | power
//! power   = atom (("^" | "**") signed)?             right associative: -x^2 = -(x^2), 2^-x is legal
//! atom    = number | name | "(" sum ")" | name "(" sum ("," sum)* ")"
//!         | "grad" "(" name ")"                    where `Symbols` know gradients
//!         | "select" "(" sum ("<" | "<=" | ">" | ">=") sum "," sum "," sum ")"
//! ```

use super::error::{ParseError, ParseErrorKind};
use super::lex::{Token, TokenKind, next_token};
use super::symbols::{FUNCTIONS, Function, GRADIENT, Symbol, Symbols, function, suggest};
use super::{Binary, Graph, Handle, Mask, Unary};

/// Maximum length of an expression, in bytes.
pub const MAX_LENGTH: usize = 65_536;
/// Maximum nesting of parentheses, signs and powers.
pub const MAX_DEPTH: usize = 200;

/// Parses an expression into `graph` and returns the node of its value.
///
/// The text may be untrusted: its length and nesting are limited, so that neither memory nor the stack can
/// be exhausted.
///
/// # Errors
/// The first mistake in the text, with its position; nodes made before it stay in the graph, unused.
pub fn parse(graph: &mut Graph, text: &str, symbols: &Symbols) -> Result<Handle, ParseError> {
    let mut parser = Parser {
        graph,
        symbols,
        text,
        token: START,
        depth: 0,
    };
    parser.expression().map_err(|(token, kind)| {
        let before = &text[..token.start.min(text.len())];
        ParseError {
            kind,
            text: text.chars().take(MAX_LENGTH).collect(),
            column: before.chars().count() + 1,
            width: token.text.chars().count().max(1),
        }
    })
}

const START: Token<'static> = Token {
    kind: TokenKind::End,
    text: "",
    start: 0,
};

/// The kind of error, and the word that it is at.
type Failure<'a> = (Token<'a>, ParseErrorKind);

struct Parser<'a> {
    graph: &'a mut Graph,
    symbols: &'a Symbols,
    text: &'a str,
    /// The next word.
    token: Token<'a>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn expression(&mut self) -> Result<Handle, Failure<'a>> {
        let length = self.text.len();
        if length > MAX_LENGTH {
            return Err((
                START,
                ParseErrorKind::TooLong {
                    length,
                    limit: MAX_LENGTH,
                },
            ));
        }
        self.advance()?;
        if self.token.kind == TokenKind::End {
            return Err((START, ParseErrorKind::Empty));
        }
        let value = self.sum()?;
        match self.token.kind {
            TokenKind::End => Ok(value),
            _ => Err(self.unexpected("an operator or the end of the expression")),
        }
    }

    fn sum(&mut self) -> Result<Handle, Failure<'a>> {
        self.chain([("+", Binary::Add), ("-", Binary::Sub)], Self::product)
    }

    fn product(&mut self) -> Result<Handle, Failure<'a>> {
        self.chain([("*", Binary::Mul), ("/", Binary::Div)], Self::signed)
    }

    /// Operands with operators between them, from left to right.
    fn chain(
        &mut self,
        operators: [(&str, Binary); 2],
        operand: fn(&mut Self) -> Result<Handle, Failure<'a>>,
    ) -> Result<Handle, Failure<'a>> {
        let mut value = operand(self)?;
        loop {
            let operator = self.token;
            let known = operators.iter().find(|(mark, _)| *mark == operator.text);
            let Some(&(_, function)) = known else {
                return Ok(value);
            };
            self.advance()?;
            let right = operand(self)?;
            value = self.binary(operator, function, [value, right])?;
        }
    }

    /// Every recursion passes through here, so its depth is limited here.
    fn signed(&mut self) -> Result<Handle, Failure<'a>> {
        if self.depth == MAX_DEPTH {
            return Err((self.token, ParseErrorKind::TooDeep { limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let value = if self.accept("-")? {
            let value = self.signed()?;
            self.graph.neg(value)
        } else if self.accept("+")? {
            self.signed()?
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<Handle, Failure<'a>> {
        let base = self.atom()?;
        let operator = self.token;
        if self.accept("^")? || self.accept("**")? {
            let exponent = self.signed()?;
            return self.binary(operator, Binary::Pow, [base, exponent]);
        }
        Ok(base)
    }

    fn binary(
        &mut self,
        place: Token<'a>,
        function: Binary,
        [a, b]: [Handle; 2],
    ) -> Result<Handle, Failure<'a>> {
        let constants = self
            .graph
            .constant_value(a)
            .zip(self.graph.constant_value(b));
        check_constant(place, constants.map(|(a, b)| function.apply(a, b)))?;
        Ok(self.graph.apply(function, a, b))
    }

    fn unary(
        &mut self,
        place: Token<'a>,
        function: Unary,
        a: Handle,
    ) -> Result<Handle, Failure<'a>> {
        let constant = self.graph.constant_value(a);
        check_constant(place, constant.map(|a| function.apply(a)))?;
        Ok(self.graph.unary(function, a))
    }

    fn atom(&mut self) -> Result<Handle, Failure<'a>> {
        let token = self.token;
        match token.kind {
            TokenKind::Number(value) => {
                self.advance()?;
                Ok(self.graph.constant(value))
            }
            TokenKind::Name => {
                self.advance()?;
                if self.token.text == "(" {
                    self.call(token)
                } else {
                    self.name(token)
                }
            }
            _ if self.accept("(")? => {
                let value = self.sum()?;
                self.expect(")", "`)`")?;
                Ok(value)
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn name(&mut self, token: Token<'a>) -> Result<Handle, Failure<'a>> {
        let name = token.text.to_owned();
        match self.symbols.get(&name) {
            Some(Symbol::Constant(value)) => Ok(self.graph.constant(value)),
            Some(Symbol::Input(input)) => Ok(self.graph.input(input)),
            None if function(&name).is_some() || self.is_gradient(&name) => {
                Err((token, ParseErrorKind::FunctionWithoutArguments { name }))
            }
            None => {
                let known: Vec<String> = self.symbols.names().map(str::to_owned).collect();
                let suggestion = suggest(&name, self.symbols.names()).map(str::to_owned);
                Err((
                    token,
                    ParseErrorKind::UnknownName {
                        name,
                        suggestion,
                        known,
                    },
                ))
            }
        }
    }

    fn call(&mut self, token: Token<'a>) -> Result<Handle, Failure<'a>> {
        let name = token.text.to_owned();
        if self.is_gradient(&name) {
            return self.gradient(token);
        }
        let Some(function) = function(&name) else {
            if self.symbols.get(&name).is_some() {
                return Err((token, ParseErrorKind::NotAFunction { name }));
            }
            let gradient = self.is_gradient(GRADIENT).then_some(GRADIENT);
            let known = || FUNCTIONS.map(|(name, _)| name).into_iter().chain(gradient);
            let suggestion = suggest(&name, known()).map(str::to_owned);
            let known = known().map(str::to_owned).collect();
            return Err((
                token,
                ParseErrorKind::UnknownFunction {
                    name,
                    suggestion,
                    known,
                },
            ));
        };
        self.advance()?; // the parenthesis
        let comparison = match function {
            Function::Select => Some(self.comparison()?),
            _ => None,
        };
        let arguments = self.arguments(comparison.is_some())?;
        let wrong = |expected, found| {
            Err((
                token,
                ParseErrorKind::WrongArguments {
                    name,
                    expected,
                    found,
                },
            ))
        };
        match (function, comparison, arguments.as_slice()) {
            (Function::Unary(function), _, &[a]) => self.unary(token, function, a),
            (Function::Unary(_), _, other) => wrong("1 argument", other.len()),
            (Function::Binary(function), _, &[a, b]) => self.binary(token, function, [a, b]),
            (Function::Binary(_), _, other) => wrong("2 arguments", other.len()),
            (Function::Select, Some((mask, true)), &[yes, no]) => {
                Ok(self.graph.select(mask, yes, no))
            }
            (Function::Select, Some((mask, false)), &[yes, no]) => {
                Ok(self.graph.select(mask, no, yes))
            }
            (Function::Select, _, other) => wrong("a comparison and 2 arguments", 1 + other.len()),
        }
    }

    /// Whether gradients are available here under `name`.
    fn is_gradient(&self, name: &str) -> bool {
        name == GRADIENT && self.symbols.gradients().next().is_some()
    }

    /// `(name)` after `grad`.
    fn gradient(&mut self, call: Token<'a>) -> Result<Handle, Failure<'a>> {
        self.advance()?; // the parenthesis
        let token = self.token;
        let name = token.text.to_owned();
        let Some(derivative) = self.symbols.gradient(&name) else {
            let suggestion = suggest(&name, self.symbols.gradients()).map(str::to_owned);
            let known = self.symbols.gradients().map(str::to_owned).collect();
            let found = token.describe();
            let kind = ParseErrorKind::NoGradient {
                found,
                suggestion,
                known,
            };
            return Err((token, kind));
        };
        let Some(input) = derivative else {
            return Err((call, ParseErrorKind::MisplacedGradient { name }));
        };
        self.advance()?;
        self.expect(")", "`)`, because `grad` takes a name and nothing else")?;
        Ok(self.graph.input(input))
    }

    /// The arguments up to and including the closing parenthesis; `started` means that the first argument
    /// has begun.
    fn arguments(&mut self, started: bool) -> Result<Vec<Handle>, Failure<'a>> {
        let mut arguments = Vec::new();
        if !started && self.accept(")")? {
            return Ok(arguments);
        }
        if !started {
            arguments.push(self.sum()?);
        }
        while self.accept(",")? {
            arguments.push(self.sum()?);
        }
        self.expect(")", "`,` or `)`")?;
        Ok(arguments)
    }

    /// A mask, and whether the comparison holds where the mask does or where it does not.
    fn comparison(&mut self) -> Result<(Mask, bool), Failure<'a>> {
        let start = self.token;
        let left = self.sum()?;
        let operator = self.token;
        if !is_comparison(operator) {
            return Err((start, ParseErrorKind::MissingComparison));
        }
        self.advance()?;
        let right = self.sum()?;
        Ok(match operator.text {
            "<" => (self.graph.less(left, right), true),
            ">" => (self.graph.less(right, left), true),
            "<=" => (self.graph.less(right, left), false),
            _ => (self.graph.less(left, right), false),
        })
    }

    fn advance(&mut self) -> Result<(), Failure<'a>> {
        self.token = next_token(self.text, self.token.start + self.token.text.len())?;
        Ok(())
    }

    /// Steps over `mark` if it is next.
    fn accept(&mut self, mark: &str) -> Result<bool, Failure<'a>> {
        let is_next = self.token.kind == TokenKind::Mark && self.token.text == mark;
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, mark: &str, expected: &'static str) -> Result<(), Failure<'a>> {
        if self.accept(mark)? {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn unexpected(&self, expected: &'static str) -> Failure<'a> {
        let found = self.token.describe();
        let kind = match is_comparison(self.token) {
            true => ParseErrorKind::MisplacedComparison,
            false => ParseErrorKind::Unexpected { expected, found },
        };
        (self.token, kind)
    }
}

/// Fails if an operation on constants has no finite value.
fn check_constant(place: Token<'_>, value: Option<f64>) -> Result<(), Failure<'_>> {
    match value {
        Some(value) if !value.is_finite() => Err((
            place,
            ParseErrorKind::NotFinite {
                value: value.to_string(),
            },
        )),
        _ => Ok(()),
    }
}

fn is_comparison(token: Token<'_>) -> bool {
    matches!(token.text, "<" | "<=" | ">" | ">=")
}
