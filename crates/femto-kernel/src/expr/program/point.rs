//! Running a program at one point, with registers on the stack.

use super::{Program, step};
use crate::expr::Input;
use crate::scalar::Scalar;

/// Registers that suffice for most programs, few enough to be initialised at every point.
const SMALL: usize = 32;

impl Program {
    /// Maximum number of registers that [`Program::run_point`] keeps on the stack.
    pub const MAX_ON_STACK: usize = 256;

    /// Evaluates one point with any kind of number: `input(i)` returns the i-th input, `output(i, value)`
    /// receives the i-th output. `like` is any number of the kind.
    ///
    /// Registers are on the stack; only programs with more than [`Program::MAX_ON_STACK`] values alive at
    /// the same time allocate. Always inlined, so that lanes are compiled for their instruction set.
    #[inline(always)]
    pub fn run_point<S: Scalar>(
        &self,
        like: S,
        input: impl Fn(Input) -> S,
        mut output: impl FnMut(usize, S),
    ) {
        let zero = [like.constant(0.0)];
        let (mut small, mut large, mut many);
        let registers: &mut [[S; 1]] = if self.registers <= SMALL {
            small = [zero; SMALL];
            &mut small
        } else if self.registers <= Self::MAX_ON_STACK {
            large = [zero; Self::MAX_ON_STACK];
            &mut large
        } else {
            many = vec![zero; self.registers];
            &mut many
        };
        for (register, &constant) in registers.iter_mut().zip(&self.constants) {
            *register = [like.constant(constant)];
        }
        let inputs = &mut registers[self.constants.len()..];
        for (register, &wanted) in inputs.iter_mut().zip(&self.inputs) {
            *register = [input(wanted)];
        }
        for &instruction in &self.instructions {
            step(instruction, registers);
        }
        for (i, &register) in self.outputs.iter().enumerate() {
            output(i, registers[register as usize][0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Graph, Symbols, parse};
    use core::fmt::Write;

    /// A program whose sums of products of x are all alive at the same time.
    fn value(alive: usize) -> (usize, f64) {
        let mut text = String::from("0");
        for i in 0..alive {
            _ = write!(text, " + sin(x + {i})*(cos(x + {i})");
        }
        text.push_str(&")".repeat(alive));
        let mut graph = Graph::new();
        let output = parse(&mut graph, &text, &Symbols::position()).unwrap();
        let program = Program::new(&graph, &[output]);
        let mut found = f64::NAN;
        program.run_point(0.0, |_| 0.3, |_, value| found = value);
        (program.registers, found)
    }

    #[test]
    fn any_number_of_registers_gives_the_value() {
        let expected = |alive: usize| {
            let sum = |rest, i| {
                let x = 0.3 + i as f64;
                x.sin() * (x.cos() + rest)
            };
            (0..alive).rev().fold(0.0, sum)
        };
        for (alive, least, most) in [(1, 1, 32), (40, 33, 256), (190, 257, usize::MAX)] {
            let (registers, found) = value(alive);
            assert!((least..=most).contains(&registers), "{registers}");
            let expected = expected(alive);
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
