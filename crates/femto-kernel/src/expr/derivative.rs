//! Symbolic differentiation.

use super::{Graph, Handle, Input, Program};
use crate::scalar::{Dual, Scalar, Traced};
use core::cell::RefCell;

impl Graph {
    /// The derivatives of `outputs` with respect to `input`, as ordinary nodes of this graph: their program, run once on
    /// dual numbers of traced ones. See [`Dual`] for derivatives at kinks.
    pub fn differentiate(&mut self, outputs: &[Handle], input: Input) -> Vec<Handle> {
        let program = Program::new(self, outputs);
        let graph = RefCell::new(core::mem::take(self));
        let number = |known: Input| {
            let value = Traced::input(&graph, known);
            let slope = value.constant(f64::from(u8::from(known == input)));
            Dual { value, slope }
        };
        let mut registers = program.registers::<_, 1>(number(input));
        let mut derivatives = Vec::with_capacity(outputs.len());
        program.run(
            &mut registers,
            |i, lanes| *lanes = [number(program.inputs()[i])],
            |_, lanes| derivatives.push(lanes[0].slope.handle()),
        );
        drop(registers);
        *self = graph.into_inner();
        derivatives
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
        let derivative = g.differentiate(&[function], Input::Position(0))[0];
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
