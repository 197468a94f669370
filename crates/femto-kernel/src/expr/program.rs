//! The interpreter: a graph compiled to instructions on registers.

mod point;

use super::compile::Compiler;
use super::{Binary, Graph, Handle, Input, Unary};
use crate::scalar::Scalar;

/// Points evaluated by one pass over the instructions: enough to hide the cost of decoding an instruction,
/// few enough for the registers to stay in the first-level cache.
const BLOCK: usize = 64;

/// A graph compiled for evaluation: instructions in order, with registers reused once their value is no
/// longer needed.
///
/// It evaluates over any [`Scalar`], many points at a time ([`Program::evaluate`]) or one block of
/// lanes ([`Program::run`]).
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// Values of the first registers.
    pub(super) constants: Vec<f64>,
    /// The inputs held by the registers after the constants.
    pub(super) inputs: Vec<Input>,
    /// The register of each output.
    pub(super) outputs: Vec<u32>,
    pub(super) registers: usize,
}

/// An operation. Numbers are registers; `to` may be one of the operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    Unary {
        function: Unary,
        to: u32,
        a: u32,
    },
    Binary {
        function: Binary,
        to: u32,
        a: u32,
        b: u32,
    },
    Select {
        to: u32,
        lesser: u32,
        greater: u32,
        yes: u32,
        no: u32,
    },
}

/// Why an evaluation over points fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProgramError {
    #[error(
        "{points} points and {outputs} outputs need room for {} values, found {found}",
        points * outputs
    )]
    Shape {
        points: usize,
        outputs: usize,
        found: usize,
    },
    #[error("the expression needs {input}, which is not given here")]
    MissingInput { input: Input },
}

/// The inputs of an evaluation that are the same at all points.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values<'a> {
    /// The time.
    pub time: f64,
    /// The numbers referred to by [`Input::Parameter`].
    pub parameters: &'a [f64],
}

/// The working memory of [`Program::run`]: `[register][lane]`.
#[derive(Clone, Debug)]
pub struct Registers<S, const LANES: usize>(Vec<[S; LANES]>);

impl<S, const LANES: usize> Default for Registers<S, LANES> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl Program {
    /// Compiles the evaluation of all `outputs` together.
    pub fn new(graph: &Graph, outputs: &[Handle]) -> Self {
        Compiler::new(graph, outputs).compile(graph, outputs)
    }

    /// The inputs of a run, in order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Working memory for [`Program::run`], with constants of the same kind of number as `like`.
    pub fn registers<S: Scalar, const LANES: usize>(&self, like: S) -> Registers<S, LANES> {
        let mut registers = vec![[like.constant(0.0); LANES]; self.registers];
        for (register, &constant) in registers.iter_mut().zip(&self.constants) {
            *register = [like.constant(constant); LANES];
        }
        Registers(registers)
    }

    /// Evaluates `LANES` points: `input(i, lanes)` writes the i-th of [`Program::inputs`],
    /// `output(i, lanes)` receives the i-th output. Allocates nothing.
    #[inline]
    pub fn run<S: Scalar, const LANES: usize>(
        &self,
        registers: &mut Registers<S, LANES>,
        input: impl FnMut(usize, &mut [S; LANES]),
        mut output: impl FnMut(usize, &[S; LANES]),
    ) {
        self.execute(registers, input);
        for (i, lanes) in self.results(registers).enumerate() {
            output(i, lanes);
        }
    }

    /// As [`Program::run`], leaving the outputs in registers. Always inlined, so that lanes are compiled for their
    /// instruction set.
    #[inline(always)]
    pub(crate) fn execute<S: Scalar, const LANES: usize>(
        &self,
        Registers(registers): &mut Registers<S, LANES>,
        mut input: impl FnMut(usize, &mut [S; LANES]),
    ) {
        let inputs = &mut registers[self.constants.len()..];
        for (i, register) in inputs.iter_mut().enumerate().take(self.inputs.len()) {
            input(i, register);
        }
        for &instruction in &self.instructions {
            step(instruction, registers);
        }
    }

    /// The outputs, in order.
    #[inline(always)]
    pub(crate) fn results<'a, S, const LANES: usize>(
        &'a self,
        Registers(registers): &'a Registers<S, LANES>,
    ) -> impl Iterator<Item = &'a [S; LANES]> {
        let places = self.outputs.iter();
        places.map(|&register| &registers[register as usize])
    }

    /// Evaluates every output at every position; `results` is `[output][point]`.
    ///
    /// # Errors
    /// If `results` has the wrong length, or an input is neither a coordinate nor in `values`.
    pub fn evaluate(
        &self,
        positions: &[[f64; 3]],
        values: &Values<'_>,
        results: &mut [f64],
    ) -> Result<(), ProgramError> {
        let (points, outputs, found) = (positions.len(), self.outputs(), results.len());
        if points.checked_mul(outputs) != Some(found) {
            return Err(ProgramError::Shape {
                points,
                outputs,
                found,
            });
        }
        let sources = self.sources(values)?;
        let mut registers = self.registers::<f64, BLOCK>(0.0);
        for (block, positions) in positions.chunks(BLOCK).enumerate() {
            let input = |i: usize, lanes: &mut [f64; BLOCK]| match sources[i] {
                Source::Axis(axis) => {
                    for (lane, position) in lanes.iter_mut().zip(positions) {
                        *lane = position[axis];
                    }
                }
                Source::Uniform(value) => lanes.fill(value),
            };
            let output = |i: usize, lanes: &[f64; BLOCK]| {
                let start = i * points + block * BLOCK;
                results[start..start + positions.len()].copy_from_slice(&lanes[..positions.len()]);
            };
            self.run(&mut registers, input, output);
        }
        Ok(())
    }

    /// The source of each input.
    fn sources(&self, values: &Values<'_>) -> Result<Vec<Source>, ProgramError> {
        let source = |&input: &Input| match input {
            Input::Position(axis @ 0..3) => Ok(Source::Axis(usize::from(axis))),
            Input::Time => Ok(Source::Uniform(values.time)),
            Input::Parameter(index) if usize::from(index) < values.parameters.len() => {
                Ok(Source::Uniform(values.parameters[usize::from(index)]))
            }
            _ => Err(ProgramError::MissingInput { input }),
        };
        self.inputs.iter().map(source).collect()
    }
}

/// The source of an input in an evaluation over points.
#[derive(Clone, Copy)]
enum Source {
    Axis(usize),
    Uniform(f64),
}

/// Executes one instruction on all lanes. The loop over lanes is innermost and the function is chosen
/// outside it, so that the compiler vectorises it.
#[inline(always)]
fn step<S: Scalar, const LANES: usize>(instruction: Instruction, registers: &mut [[S; LANES]]) {
    match instruction {
        Instruction::Unary { function, to, a } => {
            let mut lanes = registers[a as usize];
            unary(function, &mut lanes);
            registers[to as usize] = lanes;
        }
        Instruction::Binary { function, to, a, b } => {
            let mut lanes = registers[a as usize];
            binary(function, &mut lanes, &registers[b as usize]);
            registers[to as usize] = lanes;
        }
        Instruction::Select {
            to,
            lesser,
            greater,
            yes,
            no,
        } => {
            let [lesser, greater, yes, no] =
                [lesser, greater, yes, no].map(|register| &registers[register as usize]);
            let mut lanes = *yes;
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = S::select(lesser[lane].less(greater[lane]), *value, no[lane]);
            }
            registers[to as usize] = lanes;
        }
    }
}

#[inline(always)]
fn unary<S: Scalar, const LANES: usize>(function: Unary, lanes: &mut [S; LANES]) {
    match function {
        Unary::Neg => lanes.iter_mut().for_each(|a| *a = -*a),
        Unary::Sqrt => lanes.iter_mut().for_each(|a| *a = a.sqrt()),
        Unary::Abs => lanes.iter_mut().for_each(|a| *a = a.abs()),
        _ => special(function, lanes),
    }
}

/// The functions applied to each number separately, for which call overhead is small: compiled once per
/// kind of number, not once per use of a program.
#[inline(never)]
fn special<S: Scalar, const LANES: usize>(function: Unary, lanes: &mut [S; LANES]) {
    macro_rules! each {
        ($($name:ident)*) => {
            match function {
                $(Unary::$name => lanes.iter_mut().for_each(|a| *a = Unary::$name.apply(*a)),)*
            }
        };
    }
    each!(Neg Sqrt Abs Exp Ln Sin Cos Tan Sinh Cosh Tanh);
}

#[inline(never)]
fn power<S: Scalar, const LANES: usize>(lanes: &mut [S; LANES], right: &[S; LANES]) {
    for (a, b) in lanes.iter_mut().zip(right) {
        *a = a.powf(*b);
    }
}

#[inline(always)]
fn binary<S: Scalar, const LANES: usize>(
    function: Binary,
    lanes: &mut [S; LANES],
    right: &[S; LANES],
) {
    macro_rules! each {
        ($($name:ident)*) => {
            match function {
                Binary::Pow => power(lanes, right),
                $(Binary::$name => {
                    for (a, b) in lanes.iter_mut().zip(right) {
                        *a = Binary::$name.apply(*a, *b);
                    }
                })*
            }
        };
    }
    each!(Add Sub Mul Div Min Max);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Symbols, parse};

    fn program(text: &str) -> Program {
        let mut graph = Graph::new();
        let symbols = Symbols::position().and_time();
        let value = parse(&mut graph, text, &symbols).unwrap();
        Program::new(&graph, &[value])
    }

    #[test]
    fn registers_are_reused() {
        let long = program(&format!("x{}", "*sin(x)+y".repeat(1000)));
        assert_eq!(long.registers, 4, "x, y, sin(x) and the running value");
    }

    #[test]
    fn partial_blocks_and_several_outputs() {
        let mut graph = Graph::new();
        let symbols = Symbols::position();
        let sum = parse(&mut graph, "x + y", &symbols).unwrap();
        let (x, two) = (graph.input(Input::Position(0)), graph.constant(2.0));
        let program = Program::new(&graph, &[sum, x, two]);
        let points = BLOCK + 3;
        let positions: Vec<_> = (0..points).map(|i| [i as f64, 0.5, 0.0]).collect();
        let mut results = vec![0.0; 3 * points];
        program
            .evaluate(&positions, &Values::default(), &mut results)
            .unwrap();
        for i in 0..points {
            assert_eq!(results[i], i as f64 + 0.5);
            assert_eq!(results[points + i], i as f64);
            assert_eq!(results[2 * points + i], 2.0);
        }
    }

    #[test]
    fn wrong_shapes_and_missing_inputs_are_errors() {
        let values = Values {
            time: 3.0,
            parameters: &[],
        };
        let mut result = [0.0; 2];
        let shape = program("x")
            .evaluate(&[[0.0; 3]], &values, &mut result)
            .unwrap_err();
        assert_eq!(
            shape.to_string(),
            "1 points and 1 outputs need room for 1 values, found 2"
        );
        program("2*t")
            .evaluate(&[[0.0; 3]], &values, &mut result[..1])
            .unwrap();
        assert_eq!(result[0], 6.0);
        let mut graph = Graph::new();
        let parameter = graph.input(Input::Parameter(0));
        let program = Program::new(&graph, &[parameter]);
        let missing = program
            .evaluate(&[[0.0; 3]], &values, &mut result[..1])
            .unwrap_err();
        assert_eq!(
            missing,
            ProgramError::MissingInput {
                input: Input::Parameter(0)
            }
        );
    }

    #[test]
    fn single_lanes_of_any_scalar() {
        let program = program("x*y + 1");
        let mut registers = program.registers::<f64, 1>(0.0);
        let mut result = 0.0;
        program.run(
            &mut registers,
            |i, lane| lane[0] = [3.0, 4.0][i],
            |_, lane| result = lane[0],
        );
        assert_eq!(result, 13.0);
    }
}
