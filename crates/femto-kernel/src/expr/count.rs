//! Exact operation counts.

use super::{Binary, Graph, Handle, Node, Unary};
use core::ops::{Add, AddAssign};

/// Number of operations of each kind in one evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ops {
    /// Additions and subtractions.
    pub add: usize,
    /// Products.
    pub mul: usize,
    /// Divisions.
    pub div: usize,
    /// Square roots.
    pub sqrt: usize,
    /// Exponentials, logarithms, general powers, trigonometric and hyperbolic functions.
    pub special: usize,
    /// Minima, maxima, and comparisons with their selection (one each).
    pub compare: usize,
    /// Changes of sign and absolute values, which cost nothing on most hardware.
    pub sign: usize,
}

impl Ops {
    /// Floating-point operations by the usual convention: additions, products and divisions count as one
    /// each, everything else as none.
    pub fn flops(self) -> usize {
        self.add + self.mul + self.div
    }

    /// All operations.
    pub fn total(self) -> usize {
        self.flops() + self.sqrt + self.special + self.compare + self.sign
    }

    fn of(node: Node) -> Self {
        let mut ops = Self::default();
        match node {
            Node::Constant(_) | Node::Input(_) => {}
            Node::Unary(Unary::Neg | Unary::Abs, _) => ops.sign = 1,
            Node::Unary(Unary::Sqrt, _) => ops.sqrt = 1,
            Node::Unary(..) | Node::Binary(Binary::Pow, ..) => ops.special = 1,
            Node::Binary(Binary::Add | Binary::Sub, ..) => ops.add = 1,
            Node::Binary(Binary::Mul, ..) => ops.mul = 1,
            Node::Binary(Binary::Div, ..) => ops.div = 1,
            Node::Binary(Binary::Min | Binary::Max, ..) | Node::Select(..) => ops.compare = 1,
        }
        ops
    }
}

impl Add for Ops {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            add: self.add + other.add,
            mul: self.mul + other.mul,
            div: self.div + other.div,
            sqrt: self.sqrt + other.sqrt,
            special: self.special + other.special,
            compare: self.compare + other.compare,
            sign: self.sign + other.sign,
        }
    }
}

impl AddAssign for Ops {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Graph {
    /// The operations of evaluating all `outputs` together, each needed node once.
    pub fn count(&self, outputs: &[Handle]) -> Ops {
        let mut ops = Ops::default();
        for handle in self.needed_by(outputs) {
            ops += Ops::of(self.node(handle));
        }
        ops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Symbols, parse};

    #[test]
    fn shared_nodes_count_once() {
        let mut g = Graph::new();
        let symbols = Symbols::position();
        let a = parse(&mut g, "sin(x*y) + x*y", &symbols).unwrap();
        let b = parse(&mut g, "sin(y*x) / (-z)", &symbols).unwrap();
        let expected = Ops {
            add: 1,
            mul: 1,
            special: 1,
            ..Ops::default()
        };
        assert_eq!(g.count(&[a]), expected);
        assert_eq!(
            g.count(&[a, b]),
            Ops {
                div: 1,
                sign: 1,
                ..expected
            }
        );
        assert_eq!(g.count(&[a, b]).flops(), 3);
        assert_eq!(g.count(&[a, b]).total(), 5);
    }
}
