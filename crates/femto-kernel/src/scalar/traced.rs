//! Numbers that record operations in a graph.

use super::Scalar;
use crate::expr::{Graph, Handle, Mask, Unary};
use core::cell::RefCell;
use core::fmt::{self, Debug};
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A node of a graph that grows with every operation: running a form on these traces it.
///
/// ```
/// use femto_kernel::{expr::{Graph, Input, Symbols, parse}, scalar::{Scalar, Traced}};
/// use std::cell::RefCell;
///
/// let graph = RefCell::new(Graph::new());
/// let x = Traced::input(&graph, Input::Position(0));
/// let traced = (x * 2.0).sin() + x.powi(3);
/// let text = parse(&mut graph.borrow_mut(), "sin(2*x) + x^3", &Symbols::position())?;
/// assert_eq!(traced.handle(), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Traced<'g> {
    graph: &'g RefCell<Graph>,
    handle: Handle,
}

impl<'g> Traced<'g> {
    /// An input, known at each evaluation.
    pub fn input(graph: &'g RefCell<Graph>, input: crate::expr::Input) -> Self {
        let handle = graph.borrow_mut().input(input);
        Self { graph, handle }
    }

    /// The node.
    pub fn handle(self) -> Handle {
        self.handle
    }

    fn with(self, make: impl FnOnce(&mut Graph) -> Handle) -> Self {
        let handle = make(&mut self.graph.borrow_mut());
        Self { handle, ..self }
    }

    fn unary(self, function: Unary) -> Self {
        self.with(|graph| graph.unary(function, self.handle))
    }
}

impl Debug for Traced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Traced").field(&self.handle).finish()
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl $trait for Traced<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.with(|graph| graph.$method(self.handle, other.handle))
            }
        }

        impl $trait<f64> for Traced<'_> {
            type Output = Self;
            fn $method(self, constant: f64) -> Self {
                self.$method(self.constant(constant))
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Neg for Traced<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(Unary::Neg)
    }
}

/// Functions that are nodes.
macro_rules! nodes {
    ($($function:ident $node:ident),*) => {
        $(fn $function(self) -> Self {
            self.unary(Unary::$node)
        })*
    };
}

impl Scalar for Traced<'_> {
    type Mask = Mask;

    fn constant(self, value: f64) -> Self {
        self.with(|graph| graph.constant(value))
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self * factor + addend
    }
    nodes!(sqrt Sqrt, abs Abs, exp Exp, ln Ln, sin Sin, cos Cos, tan Tan, sinh Sinh, cosh Cosh, tanh Tanh);
    fn powi(self, exponent: i32) -> Self {
        self.with(|graph| graph.powi(self.handle, exponent))
    }
    fn powf(self, exponent: Self) -> Self {
        self.with(|graph| graph.pow(self.handle, exponent.handle))
    }
    fn min(self, other: Self) -> Self {
        self.with(|graph| graph.min(self.handle, other.handle))
    }
    fn max(self, other: Self) -> Self {
        self.with(|graph| graph.max(self.handle, other.handle))
    }
    fn less(self, other: Self) -> Mask {
        self.graph.borrow().less(self.handle, other.handle)
    }
    fn select(mask: Mask, yes: Self, no: Self) -> Self {
        yes.with(|graph| graph.select(mask, yes.handle, no.handle))
    }
}
