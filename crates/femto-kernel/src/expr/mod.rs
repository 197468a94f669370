//! Expression graphs of traced forms and parsed expressions.
//!
//! A [`Graph`] is an arena of immutable [`Node`]s, pure functions of [`Input`]s, referred to by
//! [`Handle`]s. Operands always precede their users, so every pass is one loop over the arena and nothing
//! here recurses over a graph. Equal nodes are the same node, so common subexpressions are evaluated,
//! counted and printed once.
//!
//! ```
//! use femto_kernel::expr::{Graph, Input, Program, Symbols, Values, parse};
//!
//! let mut graph = Graph::new();
//! let u = parse(&mut graph, "sin(pi*x) * y^2", &Symbols::position())?;
//! let du_dy = graph.differentiate(&[u], Input::Position(1))[0];
//! let mut result = [0.0; 2];
//! Program::new(&graph, &[u, du_dy]).evaluate(&[[0.5, 3.0, 0.0]], &Values::default(), &mut result)?;
//! assert_eq!(result, [9.0, 6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The meaning of an expression
//!
//! The arithmetic is that of IEEE 754, with these liberties, all taken when a node is made (see
//! [`Graph::add`] and its neighbours):
//!
//! - Operations on constants are done at once in double precision, unless the result would not be finite:
//!   such an operation stays in the graph. Constants are therefore always finite.
//! - A constant zero factor or numerator gives zero, even if the other operand is NaN, infinite or zero.
//!   This lets derivatives lose their vanishing terms.
//! - The sign of zero is not kept.
//! - Integer powers up to [`MAX_POWER`] in absolute value are products by repeated squaring.
//! - All other simplifications are exact, so a NaN anywhere else propagates.
//!
//! There is one comparison, `a < b`; `a <= b` means "not `b < a`" and so holds if either is NaN.
//!
//! # Not in the language
//!
//! No loops, no assignments, no state, no side effects, no recursion, no user-defined functions; no
//! vectors or matrices (a vector is several handles); no integers and no booleans as values (a
//! [`Mask`] only goes into [`Graph::select`]); no short-circuit: both sides of a `select` are
//! evaluated; no equality test; no conversion between precisions (a graph is evaluated wholly in
//! one); no random numbers, no table look-ups, no derivatives as nodes ([`Graph::differentiate`]
//! makes ordinary ones).

mod build;
mod compile;
mod count;
mod degree;
mod derivative;
mod error;
mod lex;
mod parse;
mod print;
mod program;
mod symbols;

pub use build::MAX_POWER;
pub use count::Ops;
pub use error::{ParseError, ParseErrorKind};
pub use lex::names;
pub use parse::{MAX_DEPTH, MAX_LENGTH, parse};
pub use print::{CStyle, GraphError};
pub use program::{Program, ProgramError, Registers, Values};
pub use symbols::{Symbol, Symbols, suggest};

use crate::scalar::Scalar;
use std::collections::HashMap;

/// A node of one [`Graph`]. Using it with another graph is a mistake, detected only if the other graph is
/// too small, by a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u32);

impl Handle {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// An input of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Input {
    /// A physical coordinate: 0 is x, 1 is y, 2 is z.
    Position(u8),
    /// The time.
    Time,
    /// A number set by the caller at run time, by its index in [`Values::parameters`].
    Parameter(u16),
    /// A component of the solution.
    Value(u8),
    /// The derivative of a component of the solution along an axis.
    Gradient {
        /// The component.
        component: u8,
        /// The axis: 0 is x, 1 is y, 2 is z.
        axis: u8,
    },
    /// An auxiliary field.
    Field(u8),
    /// The derivative of an auxiliary field along an axis.
    FieldGradient {
        /// The field.
        field: u8,
        /// The axis: 0 is x, 1 is y, 2 is z.
        axis: u8,
    },
}

impl Input {
    /// Whether it is a value or a derivative of the solution.
    pub fn is_solution(self) -> bool {
        matches!(self, Self::Value(_) | Self::Gradient { .. })
    }
}

impl core::fmt::Display for Input {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let axis_name = |axis: u8| ["x", "y", "z"].get(usize::from(axis)).copied();
        match *self {
            Self::Position(axis) => match axis_name(axis) {
                Some(name) => f.write_str(name),
                None => write!(f, "coordinate {axis}"),
            },
            Self::Value(component) => write!(f, "component {component} of the solution"),
            Self::Gradient { component, axis } => {
                let axis = axis_name(axis).unwrap_or("?");
                write!(f, "d/d{axis} of component {component} of the solution")
            }
            Self::Field(field) => write!(f, "field {field}"),
            Self::FieldGradient { field, axis } => {
                write!(f, "d/d{} of field {field}", axis_name(axis).unwrap_or("?"))
            }
            Self::Time => f.write_str("t"),
            Self::Parameter(index) => write!(f, "parameter {index}"),
        }
    }
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "they are the functions of `Scalar` of the same names"
)]
pub enum Unary {
    Neg,
    Sqrt,
    Abs,
    Exp,
    Ln,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Tanh,
}

impl Unary {
    /// The value of the function.
    #[inline(always)]
    pub fn apply<S: Scalar>(self, a: S) -> S {
        match self {
            Self::Neg => -a,
            Self::Sqrt => a.sqrt(),
            Self::Abs => a.abs(),
            Self::Exp => a.exp(),
            Self::Ln => a.ln(),
            Self::Sin => a.sin(),
            Self::Cos => a.cos(),
            Self::Tan => a.tan(),
            Self::Sinh => a.sinh(),
            Self::Cosh => a.cosh(),
            Self::Tanh => a.tanh(),
        }
    }
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "they are the functions of `Scalar` of the same names"
)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Min,
    Max,
}

impl Binary {
    /// The value of the function.
    #[inline(always)]
    pub fn apply<S: Scalar>(self, a: S, b: S) -> S {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
            Self::Pow => a.powf(b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }

    fn is_commutative(self) -> bool {
        matches!(self, Self::Add | Self::Mul | Self::Min | Self::Max)
    }
}

/// The outcome of `lesser < greater`, for use in [`Graph::select`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mask {
    /// The left operand.
    pub lesser: Handle,
    /// The right operand.
    pub greater: Handle,
}

/// A constant, compared and hashed by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal(u64);

impl Literal {
    /// The number.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl core::fmt::Debug for Literal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.value().fmt(f)
    }
}

/// One operation of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant.
    Constant(Literal),
    /// An input, known at each evaluation.
    Input(Input),
    /// A function of one node.
    Unary(Unary, Handle),
    /// A function of two nodes.
    Binary(Binary, Handle, Handle),
    /// The second handle where the mask holds, otherwise the third.
    Select(Mask, Handle, Handle),
}

impl Node {
    /// The operands of this node, in the order of writing.
    pub fn operands(self) -> impl Iterator<Item = Handle> {
        let operands = match self {
            Self::Constant(_) | Self::Input(_) => [None; 4],
            Self::Unary(_, a) => [Some(a), None, None, None],
            Self::Binary(_, a, b) => [Some(a), Some(b), None, None],
            Self::Select(mask, yes, no) => [mask.lesser, mask.greater, yes, no].map(Some),
        };
        operands.into_iter().flatten()
    }
}

/// An arena of nodes. See the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Node, Handle>,
}

impl Graph {
    /// A graph with no nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of nodes, used or not.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of a handle of this graph.
    pub fn node(&self, handle: Handle) -> Node {
        self.nodes[handle.index()]
    }

    /// The value of `handle`, if it is a constant.
    pub fn constant_value(&self, handle: Handle) -> Option<f64> {
        match self.node(handle) {
            Node::Constant(literal) => Some(literal.value()),
            _ => None,
        }
    }

    /// Every node needed by `outputs`, including themselves, each once, operands before users.
    pub fn needed_by(&self, outputs: &[Handle]) -> Vec<Handle> {
        let mut needed = vec![false; self.len()];
        for output in outputs {
            needed[output.index()] = true;
        }
        for index in (0..self.len()).rev() {
            if needed[index] {
                for operand in self.nodes[index].operands() {
                    needed[operand.index()] = true;
                }
            }
        }
        (0..self.nodes.len() as u32)
            .map(Handle)
            .filter(|handle| needed[handle.index()])
            .collect()
    }

    /// Number of times each node is read: by nodes needed by `outputs`, and as an output.
    fn uses(&self, outputs: &[Handle]) -> Vec<u32> {
        let mut uses = vec![0; self.len()];
        let needed = self.needed_by(outputs).into_iter();
        for read in needed
            .flat_map(|handle| self.node(handle).operands())
            .chain(outputs.iter().copied())
        {
            uses[read.index()] += 1;
        }
        uses
    }

    /// The inputs that `outputs` depend on, sorted.
    pub fn inputs_of(&self, outputs: &[Handle]) -> Vec<Input> {
        let mut inputs: Vec<Input> = self
            .needed_by(outputs)
            .into_iter()
            .filter_map(|handle| match self.node(handle) {
                Node::Input(input) => Some(input),
                _ => None,
            })
            .collect();
        inputs.sort_unstable();
        inputs
    }

    /// The unique handle of `node`.
    fn insert(&mut self, node: Node) -> Handle {
        *self.known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            Handle(self.nodes.len() as u32 - 1)
        })
    }
}
