//! Functions of position and time: sources, boundary values, exact solutions.

use femto_kernel::expr::{Graph, Handle, Input, Program, ProgramError, Values};

/// A scalar function of position and time.
///
/// Numbers are constant functions, closures `Fn([f64; 3]) -> f64` functions of position, and an
/// [`Expression`] is one of the `expr` graph.
pub trait Function: Send + Sync {
    /// Writes the values at `positions`, `[points][3]`, into `values`, `[points]`.
    fn evaluate(&self, positions: &[[f64; 3]], time: f64, values: &mut [f64]);

    /// The value, where it is known to be the same everywhere and always.
    fn as_constant(&self) -> Option<f64> {
        None
    }
}

impl Function for f64 {
    fn evaluate(&self, _: &[[f64; 3]], _: f64, values: &mut [f64]) {
        values.fill(*self);
    }

    fn as_constant(&self) -> Option<f64> {
        Some(*self)
    }
}

impl<F: Fn([f64; 3]) -> f64 + Send + Sync> Function for F {
    fn evaluate(&self, positions: &[[f64; 3]], _: f64, values: &mut [f64]) {
        for (value, &position) in values.iter_mut().zip(positions) {
            *value = self(position);
        }
    }
}

/// A function given by an expression of x, y, z and t, interpreted over many points at a time.
#[derive(Clone, Debug)]
pub struct Expression {
    program: Program,
    constant: Option<f64>,
}

impl Expression {
    /// The function that is `value` in `graph`.
    ///
    /// # Errors
    /// [`ProgramError::MissingInput`] where it needs more than x, y, z and t.
    pub fn new(graph: &Graph, value: Handle) -> Result<Self, ProgramError> {
        let program = Program::new(graph, &[value]);
        let given = |input: &Input| matches!(input, Input::Position(0..3) | Input::Time);
        match program.inputs().iter().find(|input| !given(input)) {
            Some(&input) => Err(ProgramError::MissingInput { input }),
            None => Ok(Self {
                program,
                constant: graph.constant_value(value),
            }),
        }
    }
}

impl Function for Expression {
    fn evaluate(&self, positions: &[[f64; 3]], time: f64, values: &mut [f64]) {
        let inputs = Values {
            time,
            parameters: &[],
        };
        // All inputs are given, so this only fails for slices of different lengths.
        if self.program.evaluate(positions, &inputs, values).is_err() {
            values.fill(f64::NAN);
        }
    }

    fn as_constant(&self) -> Option<f64> {
        self.constant
    }
}
