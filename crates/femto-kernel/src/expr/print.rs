//! Printing a graph as a C function.

use super::dialect::{Dialect, Signature};
use super::{Binary, Graph, GraphError, Handle, Node, Unary};
use crate::scalar::Real;
use core::fmt::Write;

/// The longest expression without a name of its own: keeps lines readable, nesting within compilers'
/// limits, and printing linear in the number of nodes.
const LONGEST: usize = 60;

impl Graph {
    /// Prints the evaluation of `outputs` as a function in `dialect` and precision `T`. Values used more
    /// than once get a name.
    ///
    /// # Errors
    /// See [`Graph::validate`].
    pub fn print<T: Real>(
        &self,
        outputs: &[Handle],
        signature: &Signature<'_>,
        dialect: &Dialect,
    ) -> Result<String, GraphError> {
        let number = number_name::<T>();
        let mut arguments: String = signature
            .inputs
            .iter()
            .map(|(_, name)| format!("const {number} {name}, "))
            .collect();
        _ = write!(
            arguments,
            "{}{number} *{}",
            dialect.pointer, signature.result
        );
        let places: Vec<String> = (0..outputs.len())
            .map(|i| format!("{}[{i}]", signature.result))
            .collect();
        let body = self.print_body::<T>(outputs, &places, signature, dialect)?;
        Ok(format!(
            "{} void {}({arguments})\n{{\n{body}}}\n",
            dialect.function, signature.name
        ))
    }

    /// The statements of [`Graph::print`], which write the outputs to `places`.
    pub(crate) fn print_body<T: Real>(
        &self,
        outputs: &[Handle],
        places: &[String],
        signature: &Signature<'_>,
        dialect: &Dialect,
    ) -> Result<String, GraphError> {
        self.validate::<T>(outputs, signature.inputs)?;
        let number = number_name::<T>();
        let mut text = String::new();
        let needed = self.needed_by(outputs);
        let uses = self.uses(outputs);
        let mut terms = vec![Term::default(); self.len()];
        let mut temporaries = 0;
        for handle in needed {
            let mut term = self.term::<T>(self.node(handle), &terms, signature, dialect);
            let is_atom = matches!(self.node(handle), Node::Constant(_) | Node::Input(_));
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
    fn term<T: Real>(
        &self,
        node: Node,
        terms: &[Term],
        signature: &Signature<'_>,
        dialect: &Dialect,
    ) -> Term {
        let text = |handle: Handle| terms[handle.index()].text.as_str();
        let bound = |handle: Handle, least| terms[handle.index()].bound(least);
        let call = |name: &str, arguments: &str| {
            let suffix = if dialect.suffixed && is_single::<T>() {
                "f"
            } else {
                ""
            };
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
        match node {
            Node::Constant(literal) => literal_term::<T>(literal.value()),
            Node::Input(input) => {
                let name = signature.inputs.iter().find(|&&(known, _)| known == input);
                let text = name.map(|&(_, name)| name.to_owned()).unwrap_or_default();
                Term {
                    text,
                    binding: Binding::Atom,
                }
            }
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
        }
    }
}

fn number_name<T: Real>() -> &'static str {
    if is_single::<T>() { "float" } else { "double" }
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

/// A number with as many digits as identify it.
fn literal_term<T: Real>(value: f64) -> Term {
    let binding = if value < 0.0 {
        Binding::Sign
    } else {
        Binding::Atom
    };
    let text = if is_single::<T>() {
        format!("{:?}f", value as f32)
    } else {
        format!("{value:?}")
    };
    Term { text, binding }
}

fn is_single<T: Real>() -> bool {
    T::BYTES == 4
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
    use crate::expr::{Input, Symbols, parse};

    const SIGNATURE: Signature<'static> = Signature {
        name: "source",
        inputs: &[(Input::Position(0), "x"), (Input::Position(1), "y")],
        result: "f",
    };

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
        let (graph, outputs) = graph(&["sin(x*y) + (x*y)^2", "-(x - (y - 0.1))/(x*y)"]);
        let text = graph
            .print::<f64>(&outputs, &SIGNATURE, &Dialect::C)
            .unwrap();
        let expected = "\
static inline void source(const double x, const double y, double *f)
{
  const double t0 = x * y;
  f[0] = sin(t0) + t0 * t0;
  f[1] = -((x - (y - 0.1)) / t0);
}
";
        assert_eq!(text, expected);
    }

    #[test]
    fn dialects_differ_in_a_few_words() {
        let (graph, outputs) = graph(&["select(x <= -2, min(x, 1e-7), pow(2.5, y))"]);
        let cuda = graph
            .print::<f32>(&outputs, &SIGNATURE, &Dialect::CUDA)
            .unwrap();
        let expected = "\
static __device__ __forceinline__ void source(const float x, const float y, float *f)
{
  f[0] = -2.0f < x ? powf(2.5f, y) : fminf(x, 1e-7f);
}
";
        assert_eq!(cuda, expected);
        let opencl = graph
            .print::<f32>(&outputs, &SIGNATURE, &Dialect::OPENCL)
            .unwrap();
        let expected = "\
static inline void source(const float x, const float y, __private float *f)
{
  f[0] = -2.0f < x ? pow(2.5f, y) : fmin(x, 1e-7f);
}
";
        assert_eq!(opencl, expected);
    }

    #[test]
    fn what_cannot_be_printed_is_an_error() {
        let (mut graph, outputs) = graph(&["1e300*x", "z"]);
        let print = |graph: &Graph, output| graph.print::<f32>(&[output], &SIGNATURE, &Dialect::C);
        let constant = GraphError::Constant {
            value: 1e300,
            precision: "fp32",
        };
        assert_eq!(print(&graph, outputs[0]), Err(constant));
        let input = GraphError::MissingInput {
            input: Input::Position(2),
        };
        assert_eq!(print(&graph, outputs[1]), Err(input));
        let nan = graph.constant(f64::NAN);
        assert!(matches!(
            print(&graph, nan),
            Err(GraphError::Constant { .. })
        ));
        let foreign = GraphError::ForeignHandle {
            handle: nan.index(),
            nodes: 0,
        };
        assert_eq!(print(&Graph::new(), nan), Err(foreign));
    }
}
