//! Names in expressions.

use super::{Binary, Input, Unary};
use std::collections::BTreeMap;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Symbol {
    /// An input, known at each evaluation.
    Input(Input),
    /// A number.
    Constant(f64),
}

/// The names available to an expression, besides functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symbols {
    names: BTreeMap<String, Symbol>,
    gradients: BTreeMap<String, Option<Input>>,
}

impl Symbols {
    /// The constants `pi` and `e`.
    pub fn constants() -> Self {
        Self::default()
            .with("pi", Symbol::Constant(core::f64::consts::PI))
            .with("e", Symbol::Constant(core::f64::consts::E))
    }

    /// The constants and the coordinates `x`, `y`, `z`.
    pub fn position() -> Self {
        let axes = ["x", "y", "z"].into_iter().zip(0..);
        axes.fold(Self::constants(), |symbols, (name, axis)| {
            symbols.with(name, Symbol::Input(Input::Position(axis)))
        })
    }

    /// These names and the time `t`.
    pub fn and_time(self) -> Self {
        self.with("t", Symbol::Input(Input::Time))
    }

    /// These names and one more, which replaces any previous meaning.
    pub fn with(mut self, name: &str, symbol: Symbol) -> Self {
        self.names.insert(name.to_owned(), symbol);
        self
    }

    /// These names, and `grad(name)` for `derivative`, the derivative along the expression's axis; `None`
    /// if the expression has no axis, so that the vector is rejected with a message.
    pub fn with_gradient(mut self, name: &str, derivative: Option<Input>) -> Self {
        self.gradients.insert(name.to_owned(), derivative);
        self
    }

    /// The meaning of `grad(name)`; the inner `None` means that a vector does not fit.
    pub fn gradient(&self, name: &str) -> Option<Option<Input>> {
        self.gradients.get(name).copied()
    }

    /// All names with a gradient, sorted.
    pub fn gradients(&self) -> impl Iterator<Item = &str> {
        self.gradients.keys().map(String::as_str)
    }

    /// The meaning of `name`.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.names.get(name).copied()
    }

    /// Whether `name` is a function, here or in other expressions.
    pub fn is_function(name: &str) -> bool {
        name == GRADIENT || function(name).is_some()
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }
}

/// A function by its number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Unary(Unary),
    Binary(Binary),
    Select,
}

/// The functions of the language. `log` is the natural logarithm.
pub(super) const FUNCTIONS: [(&str, Function); 15] = [
    ("sqrt", Function::Unary(Unary::Sqrt)),
    ("abs", Function::Unary(Unary::Abs)),
    ("exp", Function::Unary(Unary::Exp)),
    ("log", Function::Unary(Unary::Ln)),
    ("ln", Function::Unary(Unary::Ln)),
    ("sin", Function::Unary(Unary::Sin)),
    ("cos", Function::Unary(Unary::Cos)),
    ("tan", Function::Unary(Unary::Tan)),
    ("sinh", Function::Unary(Unary::Sinh)),
    ("cosh", Function::Unary(Unary::Cosh)),
    ("tanh", Function::Unary(Unary::Tanh)),
    ("min", Function::Binary(Binary::Min)),
    ("max", Function::Binary(Binary::Max)),
    ("pow", Function::Binary(Binary::Pow)),
    ("select", Function::Select),
];

/// The function that takes the gradient of a name, if available.
pub(super) const GRADIENT: &str = "grad";

pub(super) fn function(name: &str) -> Option<Function> {
    FUNCTIONS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, function)| function)
}

/// The known word of which `word` is probably a misspelling.
///
/// Allows one edit for every three characters of the longer word, and at least one; case is ignored.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Distances take quadratic time: no misspelling is this long.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&lower, &name.to_lowercase()),
                name,
            )
        })
        .filter(|&(distance, name)| distance <= (word.len().max(name.len()) / 3).max(1))
        .filter(|&(distance, name)| distance < name.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near() {
        let known = ["sin", "cos", "select", "tolerance"];
        assert_eq!(suggest("sni", known), Some("sin"));
        assert_eq!(suggest("SELECT", known), Some("select"));
        assert_eq!(suggest("tolerence", known), Some("tolerance"));
        assert_eq!(suggest("wave", known), None);
        assert_eq!(suggest(&"s".repeat(100_000), known), None);
    }
}
