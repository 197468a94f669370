//! Printing a graph as statements of C.

use super::{Binary, Graph, Handle, Input, Node, Unary};
use crate::scalar::Precision;
use core::fmt::Write;

/// The longest expression without a name of its own: keeps lines readable, nesting within compilers'
/// limits, and printing linear in the number of nodes.
const LONGEST: usize = 60;

/// A constant that is not finite in the precision of the printed text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the constant {value} is not finite in {precision}")]
pub struct GraphError {
    /// The constant.
    pub value: f64,
    /// The precision.
    pub precision: &'static str,
}

/// How a graph is printed.
#[derive(Clone, Copy, Debug)]
pub struct CStyle<N> {
    /// The precision of all numbers.
    pub precision: Precision,
    /// Whether mathematical functions of single precision have names of their own (`sinf`).
    pub suffixed: bool,
    /// The C expression of an input. Temporaries are called `t0`, `t1`, ...
    pub name: N,
}

impl<N: Fn(Input) -> String> CStyle<N> {
    /// The statements that evaluate `outputs` and write them to `places`. Values used more than once get a name.
    ///
    /// # Errors
    /// A constant that is not finite in this precision.
    pub fn print(
        &self,
        graph: &Graph,
        outputs: &[Handle],
        places: &[String],
    ) -> Result<String, GraphError> {
        let number = match self.precision {
            Precision::Fp64 => "double",
            Precision::Fp32 => "float",
        };
        let mut text = String::new();
        let needed = graph.needed_by(outputs);
        let uses = graph.uses(outputs);
        let mut terms = vec![Term::default(); graph.len()];
        let mut temporaries = 0;
        for handle in needed {
            let node = graph.node(handle);
            let mut term = self.term(node, &terms)?;
            let is_atom = matches!(node, Node::Constant(_) | Node::Input(_));
            let is_used_often = uses[handle.index()] > 1;
            if !is_atom && (is_used_often || term.text.len() > LONGEST) {
                _ = writeln!(text, "  const {number} t{temporaries} = {};", term.text);
                term = Term {
                    text: format!("t{temporaries}"),
                    binding: Binding::Atom,
                };
                temporaries += 1;
            }
            terms[handle.index()] = term;
        }
        for (place, output) in places.iter().zip(outputs) {
            _ = writeln!(text, "  {place} = {};", terms[output.index()].text);
        }
        Ok(text)
    }

    /// The text of one node, given the texts of its operands.
    fn term(&self, node: Node, terms: &[Term]) -> Result<Term, GraphError> {
        let text = |handle: Handle| terms[handle.index()].text.as_str();
        let bound = |handle: Handle, least| terms[handle.index()].bound(least);
        let call = |name: &str, arguments: &str| {
            let has_suffix = self.suffixed && self.precision == Precision::Fp32;
            let suffix = if has_suffix { "f" } else { "" };
            Term {
                text: format!("{name}{suffix}({arguments})"),
                binding: Binding::Atom,
            }
        };
        let infix = |a, operator, b, binding| {
            let text = format!(
                "{} {operator} {}",
                bound(a, binding),
                bound(b, binding.tighter())
            );
            Term { text, binding }
        };
        Ok(match node {
            Node::Constant(literal) => self.literal(literal.value())?,
            Node::Input(input) => Term {
                text: (self.name)(input),
                binding: Binding::Atom,
            },
            Node::Unary(Unary::Neg, a) => Term {
                text: format!("-{}", bound(a, Binding::Atom)),
                binding: Binding::Sign,
            },
            Node::Unary(function, a) => call(c_name(function), text(a)),
            Node::Binary(Binary::Add, a, b) => infix(a, "+", b, Binding::Sum),
            Node::Binary(Binary::Sub, a, b) => infix(a, "-", b, Binding::Sum),
            Node::Binary(Binary::Mul, a, b) => infix(a, "*", b, Binding::Product),
            Node::Binary(Binary::Div, a, b) => infix(a, "/", b, Binding::Product),
            Node::Binary(Binary::Pow, a, b) => call("pow", &format!("{}, {}", text(a), text(b))),
            Node::Binary(Binary::Min, a, b) => call("fmin", &format!("{}, {}", text(a), text(b))),
            Node::Binary(Binary::Max, a, b) => call("fmax", &format!("{}, {}", text(a), text(b))),
            Node::Select(mask, yes, no) => {
                let (lesser, greater) = (
                    bound(mask.lesser, Binding::Sum),
                    bound(mask.greater, Binding::Sum),
                );
                let (yes, no) = (bound(yes, Binding::Sum), bound(no, Binding::Sum));
                let text = format!("{lesser} < {greater} ? {yes} : {no}");
                Term {
                    text,
                    binding: Binding::Choice,
                }
            }
        })
    }

    /// A number with as many digits as identify it.
    fn literal(&self, value: f64) -> Result<Term, GraphError> {
        let single = value as f32;
        let (is_finite, text) = match self.precision {
            Precision::Fp64 => (value.is_finite(), format!("{value:?}")),
            Precision::Fp32 => (single.is_finite(), format!("{single:?}f")),
        };
        if !is_finite {
            let precision = self.precision.name();
            return Err(GraphError { value, precision });
        }
        let binding = match value < 0.0 {
            true => Binding::Sign,
            false => Binding::Atom,
        };
        Ok(Term { text, binding })
    }
}

/// A piece of C, and how tightly its outermost operator binds.
#[derive(Clone, Debug, Default)]
struct Term {
    text: String,
    binding: Binding,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Sum,
    Product,
    Sign,
    #[default]
    Atom,
}

impl Binding {
    fn tighter(self) -> Self {
        match self {
            Self::Choice => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Sign,
            Self::Sign | Self::Atom => Self::Atom,
        }
    }
}

impl Term {
    /// The text, in parentheses unless it binds at least as tightly as `least`.
    fn bound(&self, least: Binding) -> String {
        if self.binding < least {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

fn c_name(function: Unary) -> &'static str {
    match function {
        Unary::Neg => "-",
        Unary::Sqrt => "sqrt",
        Unary::Abs => "fabs",
        Unary::Exp => "exp",
        Unary::Ln => "log",
        Unary::Sin => "sin",
        Unary::Cos => "cos",
        Unary::Tan => "tan",
        Unary::Sinh => "sinh",
        Unary::Cosh => "cosh",
        Unary::Tanh => "tanh",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Symbols, parse};

    fn print(
        (graph, outputs): &(Graph, Vec<Handle>),
        precision: Precision,
        suffixed: bool,
    ) -> Result<String, GraphError> {
        let places: Vec<String> = (0..outputs.len()).map(|i| format!("f[{i}]")).collect();
        let style = CStyle {
            precision,
            suffixed,
            name: |input: Input| input.to_string(),
        };
        style.print(graph, outputs, &places)
    }

    fn graph(texts: &[&str]) -> (Graph, Vec<Handle>) {
        let mut graph = Graph::new();
        let symbols = Symbols::position();
        let outputs = texts
            .iter()
            .map(|text| parse(&mut graph, text, &symbols).unwrap())
            .collect();
        (graph, outputs)
    }

    #[test]
    fn what_is_used_twice_has_a_name() {
        let graph = graph(&["sin(x*y) + (x*y)^2", "-(x - (y - 0.1))/(x*y)"]);
        let expected = "  const double t0 = x * y;
  f[0] = sin(t0) + t0 * t0;
  f[1] = -((x - (y - 0.1)) / t0);
";
        assert_eq!(print(&graph, Precision::Fp64, true).unwrap(), expected);
    }

    #[test]
    fn functions_of_single_precision_have_suffixes_in_some_languages() {
        let graph = graph(&["select(x <= -2, min(x, 1e-7), pow(2.5, y))"]);
        for (suffixed, expected) in [
            (true, "-2.0f < x ? powf(2.5f, y) : fminf(x, 1e-7f)"),
            (false, "-2.0f < x ? pow(2.5f, y) : fmin(x, 1e-7f)"),
        ] {
            let text = print(&graph, Precision::Fp32, suffixed).unwrap();
            assert_eq!(text, format!("  f[0] = {expected};\n"));
        }
    }

    #[test]
    fn constants_beyond_the_precision_are_errors() {
        let mut graph = graph(&["1e300*x"]);
        assert!(print(&graph, Precision::Fp64, true).is_ok());
        let error = GraphError {
            value: 1e300,
            precision: "fp32",
        };
        assert_eq!(print(&graph, Precision::Fp32, true), Err(error));
        graph.1 = vec![graph.0.constant(f64::NAN)];
        assert!(print(&graph, Precision::Fp64, true).is_err());
    }
}
