//! Expressions as plain trees: evaluated without a graph, written as fully parenthesised text, and parsed
//! back. They share no code with the forms under test.

use femto::kernel::expr::Input;
use femto::kernel::form::Point;
use femto::kernel::scalar::Scalar;

/// The names of a form's inputs in expressions.
pub(crate) type Names = [(String, Input)];

/// An expression. Functions have their names from the expression language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Number(f64),
    Input(Input),
    /// `-`, or a function of one number.
    Unary(String, Box<Tree>),
    /// `+ - * / ^`.
    Infix(char, Box<Tree>, Box<Tree>),
    /// `min` or `max`.
    Extremum(String, Box<Tree>, Box<Tree>),
    /// The third if the first is less than the second, else the fourth.
    Select(Box<[Tree; 4]>),
}

impl Tree {
    pub(crate) fn unary(name: &str, a: Self) -> Self {
        Self::Unary(name.to_owned(), Box::new(a))
    }

    pub(crate) fn infix(a: Self, operator: char, b: Self) -> Self {
        Self::Infix(operator, Box::new(a), Box::new(b))
    }

    /// The value at a point.
    pub(crate) fn evaluate<S: Scalar, const D: usize, const C: usize>(
        &self,
        p: &Point<S, D, C>,
    ) -> S {
        let at = |tree: &Self| tree.evaluate(p);
        match self {
            Self::Number(value) => p.constant(*value),
            Self::Input(input) => read(*input, p),
            Self::Unary(name, a) => function(name, at(a)),
            Self::Infix('^', a, b) => match **b {
                Self::Number(n) if n.fract() == 0.0 => at(a).powi(n as i32),
                _ => at(a).powf(at(b)),
            },
            Self::Infix('+', a, b) => at(a) + at(b),
            Self::Infix('-', a, b) => at(a) - at(b),
            Self::Infix('*', a, b) => at(a) * at(b),
            Self::Infix(_, a, b) => at(a) / at(b),
            Self::Extremum(name, a, b) if name == "min" => at(a).min(at(b)),
            Self::Extremum(_, a, b) => at(a).max(at(b)),
            Self::Select(parts) => {
                let [a, b, yes, no] = [0, 1, 2, 3].map(|i| at(&parts[i]));
                S::select(a.less(b), yes, no)
            }
        }
    }

    /// The text.
    pub(crate) fn text(&self, names: &Names) -> String {
        let text = |tree: &Self| tree.text(names);
        match self {
            Self::Number(value) if *value < 0.0 => format!("(-{:?})", -value),
            Self::Number(value) => format!("{value:?}"),
            Self::Input(input) => {
                let name = names.iter().find(|(_, known)| known == input);
                name.map_or_else(|| format!("{input:?}"), |(name, _)| name.clone())
            }
            Self::Unary(name, a) if name == "-" => format!("(-{})", text(a)),
            Self::Unary(name, a) => format!("{name}({})", text(a)),
            Self::Infix(operator, a, b) => format!("({} {operator} {})", text(a), text(b)),
            Self::Extremum(name, a, b) => format!("{name}({}, {})", text(a), text(b)),
            Self::Select(parts) => {
                let [a, b, yes, no] = [0, 1, 2, 3].map(|i| text(&parts[i]));
                format!("select({a} < {b}, {yes}, {no})")
            }
        }
    }

    /// The tree of a text written by [`Tree::text`]; `None` for other texts.
    pub(crate) fn parse(text: &str, names: &Names) -> Option<Self> {
        let mut rest = text;
        let tree = Self::read(&mut rest, names)?;
        rest.is_empty().then_some(tree)
    }

    fn read(rest: &mut &str, names: &Names) -> Option<Self> {
        if eat(rest, "(-") {
            let a = Self::read(rest, names)?;
            return eat(rest, ")").then(|| Self::unary("-", a));
        }
        if eat(rest, "(") {
            let a = Self::read(rest, names)?;
            let operator = rest.trim_start().chars().next()?;
            *rest = rest.get(3..)?;
            let b = Self::read(rest, names)?;
            return eat(rest, ")").then(|| Self::infix(a, operator, b));
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        *rest = after;
        if let Ok(value) = word.parse() {
            return Some(Self::Number(value));
        }
        if !eat(rest, "(") {
            let (_, input) = names.iter().find(|(name, _)| name == word)?;
            return Some(Self::Input(*input));
        }
        let mut parts = vec![Self::read(rest, names)?];
        while eat(rest, ", ") || eat(rest, " < ") {
            parts.push(Self::read(rest, names)?);
        }
        if !eat(rest, ")") {
            return None;
        }
        let mut boxed = parts.clone().into_iter().map(Box::new);
        match (word, parts.len()) {
            ("select", 4) => Some(Self::Select(Box::new(parts.try_into().ok()?))),
            ("min" | "max", 2) => Some(Self::Extremum(
                word.to_owned(),
                boxed.next()?,
                boxed.next()?,
            )),
            (_, 1) => Some(Self::Unary(word.to_owned(), boxed.next()?)),
            _ => None,
        }
    }

    /// The subtrees, in the order of the text.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Number(_) | Self::Input(_) => Vec::new(),
            Self::Unary(_, a) => vec![a],
            Self::Infix(_, a, b) | Self::Extremum(_, a, b) => vec![a, b],
            Self::Select(parts) => parts.iter().collect(),
        }
    }

    pub(crate) fn parts_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Number(_) | Self::Input(_) => Vec::new(),
            Self::Unary(_, a) => vec![a],
            Self::Infix(_, a, b) | Self::Extremum(_, a, b) => vec![a, b],
            Self::Select(parts) => parts.iter_mut().collect(),
        }
    }

    /// Number of nodes.
    pub(crate) fn size(&self) -> usize {
        1 + self.parts().into_iter().map(Self::size).sum::<usize>()
    }
}

fn eat(rest: &mut &str, start: &str) -> bool {
    let Some(after) = rest.strip_prefix(start) else {
        return false;
    };
    *rest = after;
    true
}

fn function<S: Scalar>(name: &str, a: S) -> S {
    match name {
        "-" => -a,
        "sqrt" => a.sqrt(),
        "abs" => a.abs(),
        "exp" => a.exp(),
        "ln" => a.ln(),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "tan" => a.tan(),
        "sinh" => a.sinh(),
        "cosh" => a.cosh(),
        "tanh" => a.tanh(),
        _ => unreachable!("{name} is no function of a tree"),
    }
}

fn read<S: Scalar, const D: usize, const C: usize>(input: Input, p: &Point<S, D, C>) -> S {
    match input {
        Input::Position(axis) => p.x[usize::from(axis)],
        Input::Time => p.time,
        Input::Parameter(index) => p.parameters[usize::from(index)],
        Input::Value(component) => p.u[usize::from(component)],
        Input::Gradient { component, axis } => p.grad_u[usize::from(component)][usize::from(axis)],
        Input::Field(field) => p.a[usize::from(field)],
        Input::FieldGradient { field, axis } => p.grad_a[usize::from(field)][usize::from(axis)],
        other => unreachable!("{other} is nothing that a tree reads"),
    }
}
