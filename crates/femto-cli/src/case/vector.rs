//! Values of several components.

use femto::problem::{Expression, Function};
use std::ops::Range;

/// A value on the right-hand side: one function per component, or one for all.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The functions, at least one.
    pub functions: Vec<Expression>,
    /// Its position in the document.
    pub span: Range<usize>,
}

impl Vector {
    /// Zero.
    pub fn zero() -> Self {
        Self {
            functions: vec![Expression::constant(0.0)],
            span: 0..0,
        }
    }

    /// Whether it can be used for this many components.
    pub fn serves(&self, components: usize) -> bool {
        [1, components].contains(&self.functions.len())
    }

    /// The functions for this many components, or as many as there are.
    pub fn of(&self, components: usize) -> Vec<&dyn Function> {
        let function = |component| self.function(component) as &dyn Function;
        (0..components).map(function).collect()
    }

    /// The function at an index, or the last one.
    pub fn function(&self, place: usize) -> &Expression {
        &self.functions[place.min(self.functions.len() - 1)]
    }

    /// Whether it is zero everywhere.
    pub fn is_zero(&self) -> bool {
        let mut constants = self.functions.iter().map(Function::as_constant);
        constants.all(|constant| constant == Some(0.0))
    }
}
