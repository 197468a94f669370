//! Construction of nodes, simplified on the way.

use super::{Binary, Graph, Handle, Input, Literal, Mask, Node, Unary};

/// The largest absolute integer exponent that is expanded into products.
pub const MAX_POWER: i32 = 64;

impl Graph {
    /// A number. Must be finite for the graph to be printed.
    pub fn constant(&mut self, value: f64) -> Handle {
        // Adding zero turns -0 into 0, which keeps the two from being different nodes.
        self.insert(Node::Constant(Literal((value + 0.0).to_bits())))
    }

    /// An input, known at each evaluation.
    pub fn input(&mut self, input: Input) -> Handle {
        self.insert(Node::Input(input))
    }

    /// `a + b`. Exact: `a + 0 = a`, `a + (-b) = a - b`.
    pub fn add(&mut self, a: Handle, b: Handle) -> Handle {
        if let Some(folded) = self.fold(Binary::Add, a, b) {
            return folded;
        }
        match (self.summand(a), self.summand(b)) {
            (Summand::Zero, _) => b,
            (_, Summand::Zero) => a,
            (_, Summand::Minus(b)) => self.sub(a, b),
            (Summand::Minus(a), _) => self.sub(b, a),
            (_, Summand::MinusConstant(b)) => {
                let b = self.constant(b);
                self.sub(a, b)
            }
            (Summand::MinusConstant(a), _) => {
                let a = self.constant(a);
                self.sub(b, a)
            }
            _ => self.binary(Binary::Add, a, b),
        }
    }

    /// `a - b`. Exact: `a - 0 = a`, `0 - a = -a`, `a - (-b) = a + b`, `(-a) - b = -(a + b)`.
    pub fn sub(&mut self, a: Handle, b: Handle) -> Handle {
        if let Some(folded) = self.fold(Binary::Sub, a, b) {
            return folded;
        }
        match (self.summand(a), self.summand(b)) {
            (Summand::Zero, _) => self.neg(b),
            (_, Summand::Zero) => a,
            (_, Summand::Minus(b)) => self.add(a, b),
            (_, Summand::MinusConstant(b)) => {
                let b = self.constant(b);
                self.add(a, b)
            }
            (Summand::Minus(a), _) => {
                let sum = self.add(a, b);
                self.neg(sum)
            }
            _ => self.binary(Binary::Sub, a, b),
        }
    }

    /// `a * b`. Exact: `a * 1 = a`, `a * (-1) = -a`, signs move outwards. `a * 0 = 0` for any `a`.
    pub fn mul(&mut self, a: Handle, b: Handle) -> Handle {
        if let Some(folded) = self.fold(Binary::Mul, a, b) {
            return folded;
        }
        for (factor, other) in [(a, b), (b, a)] {
            match self.constant_value(factor) {
                Some(0.0) => return factor,
                Some(1.0) => return other,
                Some(-1.0) => return self.neg(other),
                _ => {}
            }
        }
        match self.without_signs(a, b) {
            (false, a, b) => self.binary(Binary::Mul, a, b),
            (true, a, b) => {
                let product = self.mul(a, b);
                self.neg(product)
            }
        }
    }

    /// `a / b`. Exact: `a / 1 = a`, `a / (-1) = -a`, signs move outwards, division by a power of two
    /// becomes a product. `0 / b = 0` for any `b`.
    pub fn div(&mut self, a: Handle, b: Handle) -> Handle {
        if let Some(folded) = self.fold(Binary::Div, a, b) {
            return folded;
        }
        if self.constant_value(a) == Some(0.0) {
            return a;
        }
        if let Some(reciprocal) = self.constant_value(b).and_then(exact_reciprocal) {
            let reciprocal = self.constant(reciprocal);
            return self.mul(a, reciprocal);
        }
        match self.without_signs(a, b) {
            (false, a, b) => self.binary(Binary::Div, a, b),
            (true, a, b) => {
                let quotient = self.div(a, b);
                self.neg(quotient)
            }
        }
    }

    /// `-a`. Exact: `-(-a) = a`.
    pub fn neg(&mut self, a: Handle) -> Handle {
        self.unary(Unary::Neg, a)
    }

    /// `base` to the power `exponent`; a constant integer exponent means [`Graph::powi`].
    pub fn pow(&mut self, base: Handle, exponent: Handle) -> Handle {
        if let Some(folded) = self.fold(Binary::Pow, base, exponent) {
            return folded;
        }
        match self.constant_value(exponent) {
            Some(n) if n.fract() == 0.0 && n.abs() <= f64::from(MAX_POWER) => {
                self.powi(base, n as i32)
            }
            _ => self.binary(Binary::Pow, base, exponent),
        }
    }

    /// `base` to an integer power, by repeated squaring up to [`MAX_POWER`]; `base^0 = 1` for any
    /// base, `base^-n = 1 / base^n`.
    pub fn powi(&mut self, base: Handle, exponent: i32) -> Handle {
        if exponent.unsigned_abs() > MAX_POWER.unsigned_abs() || self.constant_value(base).is_some()
        {
            let exponent = self.constant(f64::from(exponent));
            return match self.fold(Binary::Pow, base, exponent) {
                Some(folded) => folded,
                None => self.binary(Binary::Pow, base, exponent),
            };
        }
        let one = self.constant(1.0);
        let (mut power, mut square) = (one, base);
        let mut remaining = exponent.unsigned_abs();
        while remaining > 0 {
            if remaining & 1 == 1 {
                power = self.mul(power, square);
            }
            remaining >>= 1;
            if remaining > 0 {
                square = self.mul(square, square);
            }
        }
        if exponent < 0 {
            self.div(one, power)
        } else {
            power
        }
    }

    /// The smaller of two numbers.
    pub fn min(&mut self, a: Handle, b: Handle) -> Handle {
        match self.fold(Binary::Min, a, b) {
            Some(folded) => folded,
            None if a == b => a,
            None => self.binary(Binary::Min, a, b),
        }
    }

    /// The larger of two numbers.
    pub fn max(&mut self, a: Handle, b: Handle) -> Handle {
        match self.fold(Binary::Max, a, b) {
            Some(folded) => folded,
            None if a == b => a,
            None => self.binary(Binary::Max, a, b),
        }
    }

    /// A function of one number. Exact: `-(-a) = a`, `abs(-a) = abs(a)`.
    pub fn unary(&mut self, function: Unary, a: Handle) -> Handle {
        if let Some(value) = self.constant_value(a) {
            let folded = function.apply(value);
            if folded.is_finite() {
                return self.constant(folded);
            }
        }
        match (function, self.node(a)) {
            (Unary::Neg, Node::Unary(Unary::Neg, inner)) => inner,
            (Unary::Abs, Node::Unary(Unary::Neg, inner)) => self.unary(Unary::Abs, inner),
            (Unary::Abs, Node::Unary(Unary::Abs, _)) => a,
            _ => self.insert(Node::Unary(function, a)),
        }
    }

    /// The comparison `a < b`, false if either is NaN.
    pub fn less(&self, a: Handle, b: Handle) -> Mask {
        Mask {
            lesser: a,
            greater: b,
        }
    }

    /// `yes` where the mask holds, otherwise `no`.
    pub fn select(&mut self, mask: Mask, yes: Handle, no: Handle) -> Handle {
        if yes == no || mask.lesser == mask.greater {
            return no;
        }
        match (
            self.constant_value(mask.lesser),
            self.constant_value(mask.greater),
        ) {
            (Some(lesser), Some(greater)) if lesser < greater => yes,
            (Some(_), Some(_)) => no,
            _ => self.insert(Node::Select(mask, yes, no)),
        }
    }

    /// The same outputs with some inputs replaced by nodes, simplified again.
    pub fn substitute(
        &mut self,
        outputs: &[Handle],
        replace: impl Fn(Input) -> Option<Handle>,
    ) -> Vec<Handle> {
        let needed = self.needed_by(outputs);
        let mut known: Vec<Handle> = (0..self.len() as u32).map(Handle).collect();
        for handle in needed {
            let at = |operand: Handle| known[operand.index()];
            let replaced = match self.node(handle) {
                Node::Constant(_) => handle,
                Node::Input(input) => replace(input).unwrap_or(handle),
                Node::Unary(function, a) => self.unary(function, at(a)),
                Node::Binary(function, a, b) => self.apply(function, at(a), at(b)),
                Node::Select(mask, yes, no) => {
                    let mask = self.less(at(mask.lesser), at(mask.greater));
                    self.select(mask, at(yes), at(no))
                }
            };
            known[handle.index()] = replaced;
        }
        outputs.iter().map(|output| known[output.index()]).collect()
    }

    /// A function of two numbers, simplified.
    pub(super) fn apply(&mut self, function: Binary, a: Handle, b: Handle) -> Handle {
        match function {
            Binary::Add => self.add(a, b),
            Binary::Sub => self.sub(a, b),
            Binary::Mul => self.mul(a, b),
            Binary::Div => self.div(a, b),
            Binary::Pow => self.pow(a, b),
            Binary::Min => self.min(a, b),
            Binary::Max => self.max(a, b),
        }
    }

    /// The node of an operation that cannot be simplified; commuting operands are sorted, so that `a + b`
    /// and `b + a` are the same node.
    fn binary(&mut self, function: Binary, a: Handle, b: Handle) -> Handle {
        let (a, b) = if function.is_commutative() && b < a {
            (b, a)
        } else {
            (a, b)
        };
        self.insert(Node::Binary(function, a, b))
    }

    /// The result of an operation on two constants, if it is finite.
    fn fold(&mut self, function: Binary, a: Handle, b: Handle) -> Option<Handle> {
        let folded = function.apply(self.constant_value(a)?, self.constant_value(b)?);
        folded.is_finite().then(|| self.constant(folded))
    }

    fn summand(&self, handle: Handle) -> Summand {
        match self.node(handle) {
            Node::Unary(Unary::Neg, inner) => Summand::Minus(inner),
            Node::Constant(literal) if literal.value() == 0.0 => Summand::Zero,
            Node::Constant(literal) if literal.value() < 0.0 => {
                Summand::MinusConstant(-literal.value())
            }
            _ => Summand::Other,
        }
    }

    /// Two factors without their minus signs, and whether that changes the sign of their product.
    fn without_signs(&self, a: Handle, b: Handle) -> (bool, Handle, Handle) {
        let strip = |handle| match self.node(handle) {
            Node::Unary(Unary::Neg, inner) => (true, inner),
            _ => (false, handle),
        };
        let ((a_negated, a), (b_negated, b)) = (strip(a), strip(b));
        (a_negated != b_negated, a, b)
    }
}

/// The form of a summand, as the simplifier sees it.
enum Summand {
    Zero,
    Minus(Handle),
    MinusConstant(f64),
    Other,
}

/// The reciprocal of a power of two, if it is a normal number.
fn exact_reciprocal(value: f64) -> Option<f64> {
    const MANTISSA: u64 = (1 << 52) - 1;
    let reciprocal = value.recip();
    let is_power_of_two = value.is_normal() && value.to_bits() & MANTISSA == 0;
    (is_power_of_two && reciprocal.is_normal()).then_some(reciprocal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xy() -> (Graph, Handle, Handle) {
        let mut graph = Graph::new();
        let x = graph.input(Input::Position(0));
        let y = graph.input(Input::Position(1));
        (graph, x, y)
    }

    #[test]
    fn equal_nodes_are_one_node() {
        let (mut g, x, y) = xy();
        assert_eq!(g.add(x, y), g.add(y, x));
        assert_eq!(g.mul(x, y), g.mul(y, x));
        assert_ne!(g.sub(x, y), g.sub(y, x));
        assert_eq!(g.constant(0.0), g.constant(-0.0));
    }

    #[test]
    fn neutral_elements_and_signs_vanish() {
        let (mut g, x, y) = xy();
        let (zero, one, two) = (g.constant(0.0), g.constant(1.0), g.constant(2.0));
        let (minus_x, minus_y) = (g.neg(x), g.neg(y));
        assert_eq!(g.add(x, zero), x);
        assert_eq!(g.sub(x, zero), x);
        assert_eq!(g.sub(zero, x), minus_x);
        assert_eq!(g.mul(one, x), x);
        assert_eq!(g.mul(x, zero), zero);
        assert_eq!(g.div(zero, x), zero);
        assert_eq!(g.div(x, one), x);
        assert_eq!(g.neg(minus_x), x);
        assert_eq!(g.add(x, minus_y), g.sub(x, y));
        assert_eq!(g.mul(minus_x, minus_y), g.mul(x, y));
        let half = g.constant(0.5);
        assert_eq!(g.div(x, two), g.mul(x, half));
    }

    #[test]
    fn constants_fold_while_they_stay_finite() {
        let (mut g, ..) = xy();
        let (zero, one, three) = (g.constant(0.0), g.constant(1.0), g.constant(3.0));
        let third = g.div(one, three);
        assert_eq!(g.constant_value(third), Some(1.0 / 3.0));
        let infinite = g.div(one, zero);
        assert_eq!(g.constant_value(infinite), None);
        let logarithm = g.unary(Unary::Ln, zero);
        assert_eq!(g.constant_value(logarithm), None);
    }

    #[test]
    fn integer_powers_share_their_squares() {
        let (mut g, x, _) = xy();
        let fourth = g.powi(x, 4);
        let nodes = g.len();
        let square = g.powi(x, 2);
        assert_eq!(g.len(), nodes);
        assert_eq!(g.node(fourth), Node::Binary(Binary::Mul, square, square));
        let hundredth = g.powi(x, 100);
        assert!(matches!(g.node(hundredth), Node::Binary(Binary::Pow, ..)));
    }

    #[test]
    fn selects_with_a_known_outcome_vanish() {
        let (mut g, x, y) = xy();
        let (one, two) = (g.constant(1.0), g.constant(2.0));
        let (yes, no) = (g.less(one, two), g.less(two, one));
        assert_eq!(g.select(yes, x, y), x);
        assert_eq!(g.select(no, x, y), y);
    }
}
