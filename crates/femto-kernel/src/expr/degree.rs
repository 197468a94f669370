//! Estimated polynomial degrees.

use super::{Binary, Graph, Handle, Input, Node, Unary};

/// Degree added by a function that is not a polynomial.
const BEYOND: usize = 2;

impl Graph {
    /// The polynomial degree of `output`, if each input has the degree given by `of`: exact for
    /// polynomials; a quotient counts as a product, and any other function adds two to the degree of its
    /// argument, unless that is constant.
    pub fn degree(&self, output: Handle, of: impl Fn(Input) -> usize) -> usize {
        let mut degrees = vec![0_usize; self.len()];
        for handle in self.needed_by(&[output]) {
            let at = |operand: Handle| degrees[operand.index()];
            let beyond = |degree: usize| match degree {
                0 => 0,
                _ => degree.saturating_add(BEYOND),
            };
            degrees[handle.index()] = match self.node(handle) {
                Node::Constant(_) => 0,
                Node::Input(input) => of(input),
                Node::Unary(Unary::Neg | Unary::Abs, a) => at(a),
                Node::Unary(_, a) => beyond(at(a)),
                Node::Binary(Binary::Mul | Binary::Div, a, b) => at(a).saturating_add(at(b)),
                Node::Binary(Binary::Pow, a, b) => beyond(at(a).max(at(b))),
                Node::Binary(_, a, b) => at(a).max(at(b)),
                Node::Select(_, yes, no) => at(yes).max(at(no)),
            };
        }
        degrees[output.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Symbols, parse};

    #[test]
    fn degrees_of_polynomials_are_exact_and_others_estimated() {
        let cases = [
            ("3 + pi", 0),
            ("x*y^2 - z", 3),
            ("(x + 1)^5", 5),
            ("exp(x*y)", 4),
            ("exp(2) * x", 1),
            ("x / (1 + y)", 2),
            ("select(x < 0, y^2, z)", 2),
            ("abs(x) + sqrt(t)", 1),
        ];
        for (text, expected) in cases {
            let mut graph = Graph::new();
            let output = parse(&mut graph, text, &Symbols::position().and_time()).unwrap();
            let of = |input| usize::from(matches!(input, Input::Position(_)));
            assert_eq!(graph.degree(output, of), expected, "{text}");
        }
    }
}
