//! Functions of position and time: sources, boundary values, exact solutions.

use core::fmt;
use femto_fem::parallel;
use femto_kernel::expr::{
    Graph, Handle, Input, ParseError, Program, ProgramError, Symbols, Values, parse,
};

/// A scalar function of position and time.
///
/// Numbers are constant functions, closures `Fn([f64; 3]) -> f64` are functions of position, and
/// [`Expression`] evaluates an `expr` graph.
pub trait Function: Send + Sync {
    /// Writes the values at `positions`, `[points][3]`, into `values`, `[points]`.
    fn evaluate(&self, positions: &[[f64; 3]], time: f64, values: &mut [f64]);

    /// The value, if it is known to be constant in space and time.
    fn as_constant(&self) -> Option<f64> {
        None
    }

    /// The program of x, y, z and t that computes the function, if there is one: devices then evaluate it
    /// themselves; other functions are evaluated on the host.
    fn as_program(&self) -> Option<Program> {
        self.as_constant()
            .map(|value| Expression::constant(value).program)
    }
}

/// Points, about, at which one task evaluates a function.
pub(super) const POINTS: usize = 4096;

/// The values of a function at `positions`, by all threads.
pub(super) fn values(f: &dyn Function, positions: &[[f64; 3]], time: f64) -> Vec<f64> {
    let mut values = vec![0.0; positions.len()];
    parallel::chunks(&mut values, POINTS, |part, values| {
        f.evaluate(&positions[part * POINTS..][..values.len()], time, values);
    });
    values
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
    graph: Graph,
    value: Handle,
    program: Program,
}

impl Expression {
    /// The function given by the node `value` of `graph`.
    ///
    /// # Errors
    /// [`ProgramError::MissingInput`] if it needs inputs other than x, y, z and t.
    pub fn new(graph: &Graph, value: Handle) -> Result<Self, ProgramError> {
        let expression = Self::compile(graph.clone(), value);
        let given = |input: &Input| matches!(input, Input::Position(0..3) | Input::Time);
        let inputs = expression.program.inputs().iter();
        match inputs.copied().find(|input| !given(input)) {
            Some(input) => Err(ProgramError::MissingInput { input }),
            None => Ok(expression),
        }
    }

    /// Parses a function of x, y and z; [`Expression::new`] makes one that depends on time, of a graph parsed with
    /// [`Symbols::and_time`].
    ///
    /// # Errors
    /// The first mistake in the text.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut graph = Graph::new();
        let value = parse(&mut graph, text, &Symbols::position())?;
        Ok(Self::compile(graph, value))
    }

    /// The constant function `value`.
    pub fn constant(value: f64) -> Self {
        let mut graph = Graph::new();
        let handle = graph.constant(value);
        Self::compile(graph, handle)
    }

    fn compile(graph: Graph, value: Handle) -> Self {
        let program = Program::new(&graph, &[value]);
        Self {
            graph,
            value,
            program,
        }
    }

    /// The partial derivatives along x, y, z.
    pub fn gradient(&self) -> [Self; 3] {
        [0, 1, 2].map(|axis| {
            let mut graph = self.graph.clone();
            let derivative = graph.differentiate(&[self.value], Input::Position(axis))[0];
            Self::compile(graph, derivative)
        })
    }

    /// Its program, with one output.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The value at a position, at time 0.
    pub fn at(&self, position: [f64; 3]) -> f64 {
        let input = |input| match input {
            Input::Position(axis) => position[usize::from(axis)],
            _ => 0.0,
        };
        let mut found = f64::NAN;
        self.program.run_point(0.0, input, |_, value| found = value);
        found
    }

    /// Whether it is a function of z.
    pub fn reads_z(&self) -> bool {
        self.program.inputs().contains(&Input::Position(2))
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
        self.graph.constant_value(self.value)
    }

    fn as_program(&self) -> Option<Program> {
        Some(self.program.clone())
    }
}

/// A function of a problem, as errors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// What the problem has it for.
    pub role: Role,
    /// The component that it gives.
    pub component: usize,
}

/// What a problem has a function for; conditions have the group that they are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The source.
    Source,
    /// The source in a group of cells.
    GroupSource(String),
    /// The start.
    Start,
    /// The exact solution.
    Exact,
    /// The gradient of the exact solution.
    ExactGradient,
    /// The value of a Dirichlet condition.
    Dirichlet(String),
    /// The component along the normal of a Dirichlet condition.
    AlongNormal(String),
    /// The flux of a Neumann condition.
    Neumann(String),
    /// The flux of a Robin condition.
    Robin(String),
    /// The coefficient of a Robin condition.
    RobinCoefficient(String),
}

impl Role {
    /// The name of the function of a component.
    pub(super) fn of(&self, component: usize) -> FunctionName {
        FunctionName {
            role: self.clone(),
            component,
        }
    }
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.role {
            Role::Source => write!(f, "the source"),
            Role::GroupSource(tag) => write!(f, "the source in `{tag}`"),
            Role::Start => write!(f, "the start"),
            Role::Exact => write!(f, "the exact solution"),
            Role::ExactGradient => write!(f, "the gradient of the exact solution"),
            Role::Dirichlet(tag) | Role::AlongNormal(tag) => {
                write!(f, "the boundary value on `{tag}`")
            }
            Role::Neumann(tag) | Role::Robin(tag) => write!(f, "the flux on `{tag}`"),
            Role::RobinCoefficient(tag) => write!(f, "the coefficient on `{tag}`"),
        }
    }
}
