//! Functions of position.

use femto::kernel::expr::{
    Graph, Handle, Input, ParseError, Program, Registers, Symbols, Values, parse,
};
use femto::problem::Function;
use std::cell::RefCell;

/// A scalar function of x, y, z.
#[derive(Clone, Debug)]
pub struct Expression {
    graph: Graph,
    value: Handle,
    program: Program,
}

impl Expression {
    /// Reads a function of x, y, z.
    ///
    /// # Errors
    /// The first mistake in the text.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut graph = Graph::new();
        let value = parse(&mut graph, text, &Symbols::position())?;
        Ok(Self::new(graph, value))
    }

    /// The function that is `value` everywhere.
    pub fn constant(value: f64) -> Self {
        let mut graph = Graph::new();
        let handle = graph.constant(value);
        Self::new(graph, handle)
    }

    fn new(graph: Graph, value: Handle) -> Self {
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
            let derivative = graph.differentiate(self.value, Input::Position(axis));
            Self::new(graph, derivative)
        })
    }
}

impl Function for Expression {
    fn evaluate(&self, positions: &[[f64; 3]], _: f64, values: &mut [f64]) {
        let outcome = self.program.evaluate(positions, &Values::default(), values);
        // x, y and z are all that a text can name, so this only fails for slices of other lengths.
        if outcome.is_err() {
            values.fill(f64::NAN);
        }
    }

    fn as_constant(&self) -> Option<f64> {
        self.graph.constant_value(self.value)
    }
}

/// A map from positions to positions, given by three expressions.
#[derive(Clone, Debug)]
pub struct Deformation {
    coordinates: [Expression; 3],
}

impl Deformation {
    /// The map to (x, y, z), each a function of the old position.
    pub fn new(coordinates: [Expression; 3]) -> Self {
        Self { coordinates }
    }

    /// The map as a function, not to be shared between threads.
    pub fn as_function(&self) -> impl Fn([f64; 3]) -> [f64; 3] {
        let programs = self.coordinates.each_ref().map(|along| {
            let registers: Registers<f64, 1> = along.program.registers(0.0);
            (&along.program, RefCell::new(registers))
        });
        move |x| {
            programs.each_ref().map(|(program, registers)| {
                let mut moved = 0.0;
                let input = |i: usize, lane: &mut [f64; 1]| {
                    if let Input::Position(axis @ 0..3) = program.inputs()[i] {
                        lane[0] = x[usize::from(axis)];
                    }
                };
                program.run(&mut registers.borrow_mut(), input, |_, lane| {
                    moved = lane[0];
                });
                moved
            })
        }
    }
}
