//! Symbolic differentiation.

use super::{Binary, Graph, Handle, Input, Mask, Node, Unary};

impl Graph {
    /// The derivative of `handle` with respect to `input`, as ordinary nodes of this graph.
    ///
    /// Forward mode, in one loop over the nodes that `handle` needs, adding at most a fixed number of nodes
    /// for each. At a kink the derivative is one-sided: from the right for `abs`, that of the second
    /// operand for `min` and `max`, that of the chosen operand for `select`. A general power `a^b` is
    /// differentiated as `exp(b ln a)`, so its derivative is NaN for `a <= 0`, unless `b` is constant.
    pub fn differentiate(&mut self, handle: Handle, input: Input) -> Handle {
        let zero = self.constant(0.0);
        // The nodes added below need no derivative: the table covers those before them.
        let mut derivatives = vec![zero; self.len()];
        for node in self.needed_by(&[handle]) {
            derivatives[node.index()] = match self.node(node) {
                Node::Constant(_) => zero,
                Node::Input(other) if other == input => self.constant(1.0),
                Node::Input(_) => zero,
                Node::Unary(function, a) => {
                    self.differentiate_unary(function, node, a, derivatives[a.index()])
                }
                Node::Binary(function, a, b) => {
                    let da_db = (derivatives[a.index()], derivatives[b.index()]);
                    self.differentiate_binary(function, node, (a, b), da_db)
                }
                Node::Select(mask, yes, no) => {
                    self.select(mask, derivatives[yes.index()], derivatives[no.index()])
                }
            };
        }
        derivatives[handle.index()]
    }

    /// The derivative of `value = function(a)`, with `da` the derivative of `a`.
    fn differentiate_unary(
        &mut self,
        function: Unary,
        value: Handle,
        a: Handle,
        da: Handle,
    ) -> Handle {
        if self.constant_value(da) == Some(0.0) {
            return da;
        }
        let one = self.constant(1.0);
        let slope = match function {
            Unary::Neg => return self.neg(da),
            Unary::Ln => return self.div(da, a),
            Unary::Sqrt => {
                let two = self.constant(2.0);
                let denominator = self.mul(two, value);
                return self.div(da, denominator);
            }
            Unary::Abs => {
                let (zero, minus_da) = (self.constant(0.0), self.neg(da));
                let mask = self.less(a, zero);
                return self.select(mask, minus_da, da);
            }
            Unary::Exp => value,
            Unary::Sin => self.unary(Unary::Cos, a),
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, a);
                self.neg(sine)
            }
            Unary::Tan => {
                let square = self.mul(value, value);
                self.add(one, square)
            }
            Unary::Sinh => self.unary(Unary::Cosh, a),
            Unary::Cosh => self.unary(Unary::Sinh, a),
            Unary::Tanh => {
                let square = self.mul(value, value);
                self.sub(one, square)
            }
        };
        self.mul(slope, da)
    }

    /// The derivative of `value = function(a, b)`, with `da` and `db` the derivatives of `a` and `b`.
    fn differentiate_binary(
        &mut self,
        function: Binary,
        value: Handle,
        (a, b): (Handle, Handle),
        (da, db): (Handle, Handle),
    ) -> Handle {
        match function {
            Binary::Add => self.add(da, db),
            Binary::Sub => self.sub(da, db),
            Binary::Mul => {
                let (left, right) = (self.mul(da, b), self.mul(a, db));
                self.add(left, right)
            }
            Binary::Div => {
                // (a/b)' = (a' - (a/b) b') / b
                let correction = self.mul(value, db);
                let numerator = self.sub(da, correction);
                self.div(numerator, b)
            }
            Binary::Min => self.select(
                Mask {
                    lesser: a,
                    greater: b,
                },
                da,
                db,
            ),
            Binary::Max => self.select(
                Mask {
                    lesser: b,
                    greater: a,
                },
                da,
                db,
            ),
            Binary::Pow => self.differentiate_pow(value, (a, b), (da, db)),
        }
    }

    fn differentiate_pow(
        &mut self,
        value: Handle,
        (a, b): (Handle, Handle),
        (da, db): (Handle, Handle),
    ) -> Handle {
        if let Some(exponent) = self.constant_value(b) {
            let reduced = self.constant(exponent - 1.0);
            let power = self.pow(a, reduced);
            let slope = self.mul(b, power);
            return self.mul(slope, da);
        }
        // a^b = exp(b ln a): the derivative is a^b (b' ln a + b a' / a).
        let logarithm = self.unary(Unary::Ln, a);
        let of_exponent = self.mul(db, logarithm);
        let ratio = self.div(da, a);
        let of_base = self.mul(b, ratio);
        let sum = self.add(of_exponent, of_base);
        self.mul(value, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Symbols, parse};

    fn derivative_is(text: &str, expected: &str) {
        let symbols = Symbols::position();
        let mut g = Graph::new();
        let function = parse(&mut g, text, &symbols).unwrap();
        let derivative = g.differentiate(function, Input::Position(0));
        let expected = parse(&mut g, expected, &symbols).unwrap();
        assert_eq!(
            g.node(derivative),
            g.node(expected),
            "{text}: {:?}",
            g.nodes
        );
    }

    #[test]
    fn derivatives_are_simplified() {
        derivative_is("y^3 + 7", "0");
        derivative_is("3*x + y", "3");
        derivative_is("x*y", "y");
        derivative_is("x^2", "x + x");
        derivative_is("sin(2*x)", "cos(2*x) * 2");
        derivative_is("cos(x)", "-sin(x)");
        derivative_is("exp(-x)", "-exp(-x)");
        derivative_is("ln(x)", "1/x");
        derivative_is("x^2.5", "2.5 * x^1.5");
        derivative_is("2^x", "2^x * ln(2)");
        derivative_is("select(x < y, x, y)", "select(x < y, 1, 0)");
        derivative_is("abs(x)", "select(x < 0, -1, 1)");
    }
}
