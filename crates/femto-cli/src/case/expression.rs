//! Functions of position.

use femto::kernel::expr::{
    Graph, Handle, Input, ParseError, Program, ProgramError, Registers, Symbols, Values, parse,
};
use std::cell::RefCell;

/// A scalar function of x, y, z.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
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
        Ok(Self::new(text.to_owned(), graph, value))
    }

    /// The function that is `value` everywhere.
    pub fn constant(value: f64) -> Self {
        let mut graph = Graph::new();
        let handle = graph.constant(value);
        Self::new(value.to_string(), graph, handle)
    }

    fn new(text: String, graph: Graph, value: Handle) -> Self {
        let program = Program::new(&graph, &[value]);
        Self {
            text,
            graph,
            value,
            program,
        }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value, if it is the same everywhere.
    pub fn as_constant(&self) -> Option<f64> {
        self.graph.constant_value(self.value)
    }

    /// The function at many positions; `values` is as long as `positions`.
    ///
    /// # Errors
    /// The lengths differ.
    pub fn evaluate(&self, positions: &[[f64; 3]], values: &mut [f64]) -> Result<(), ProgramError> {
        self.program.evaluate(positions, &Values::default(), values)
    }

    /// The program that computes the three partial derivatives: outputs `[axis]`.
    pub fn gradient(&self) -> Program {
        let mut graph = self.graph.clone();
        let gradient = [0, 1, 2].map(|axis| graph.differentiate(self.value, Input::Position(axis)));
        Program::new(&graph, &gradient)
    }
}

/// A map from positions to positions, given by three expressions.
#[derive(Clone, Debug)]
pub struct Deformation {
    program: Program,
}

impl Deformation {
    /// The map to (`x`, `y`, `z`), each a function of the old position.
    pub fn new(coordinates: &[Expression; 3]) -> Self {
        let mut graph = Graph::new();
        let symbols = Symbols::position();
        let zero = graph.constant(0.0);
        // The texts were parsed before, so nothing can fail here.
        let handles = coordinates
            .each_ref()
            .map(|coordinate| parse(&mut graph, &coordinate.text, &symbols).unwrap_or(zero));
        Self {
            program: Program::new(&graph, &handles),
        }
    }

    /// The map as a function, not to be shared between threads.
    pub fn as_function(&self) -> impl Fn([f64; 3]) -> [f64; 3] {
        let registers: Registers<f64, 1> = self.program.registers(0.0);
        let registers = RefCell::new(registers);
        move |x| {
            let mut moved = [0.0; 3];
            let input = |i: usize, lane: &mut [f64; 1]| {
                if let Input::Position(axis @ 0..3) = self.program.inputs()[i] {
                    lane[0] = x[usize::from(axis)];
                }
            };
            let output = |axis: usize, lane: &[f64; 1]| moved[axis] = lane[0];
            self.program.run(&mut registers.borrow_mut(), input, output);
            moved
        }
    }
}
