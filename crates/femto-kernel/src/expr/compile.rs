//! Compiling a graph to instructions: register allocation.

use super::program::{Instruction, Program};
use super::{Graph, Handle, Node};

/// Assigns registers: constants first, then inputs, both permanent; then intermediate values, whose
/// registers are freed after the last instruction that reads them.
pub(super) struct Compiler {
    needed: Vec<Handle>,
    /// Remaining readers of each node; outputs have an extra one that never comes.
    uses: Vec<u32>,
    /// The register of each node reached so far.
    register: Vec<u32>,
    free: Vec<u32>,
    program: Program,
}

impl Compiler {
    pub(super) fn new(graph: &Graph, outputs: &[Handle]) -> Self {
        let needed = graph.needed_by(outputs);
        let program = Program {
            instructions: Vec::new(),
            constants: Vec::new(),
            inputs: graph.inputs_of(outputs),
            outputs: Vec::new(),
            registers: 0,
        };
        Self {
            needed,
            uses: graph.uses(outputs),
            register: vec![0; graph.len()],
            free: Vec::new(),
            program,
        }
    }

    pub(super) fn compile(mut self, graph: &Graph, outputs: &[Handle]) -> Program {
        let needed = core::mem::take(&mut self.needed);
        for &handle in &needed {
            if let Some(value) = graph.constant_value(handle) {
                self.register[handle.index()] = self.program.constants.len() as u32;
                self.program.constants.push(value);
            }
        }
        let kept = self.program.constants.len() + self.program.inputs.len();
        self.program.registers = kept;
        for &handle in &needed {
            match graph.node(handle) {
                Node::Constant(_) => {}
                Node::Input(input) => {
                    // The inputs were collected from these nodes, so the search succeeds.
                    let place = self.program.inputs.iter().position(|&known| known == input);
                    self.register[handle.index()] =
                        (self.program.constants.len() + place.unwrap_or(0)) as u32;
                }
                node => self.operation(handle, node, kept as u32),
            }
        }
        self.program.outputs = outputs.iter().map(|o| self.register[o.index()]).collect();
        self.program
    }

    /// Appends the instruction of `node`. An operand read for the last time passes its register to the
    /// result.
    fn operation(&mut self, handle: Handle, node: Node, kept: u32) {
        let register = |handle: Handle| self.register[handle.index()];
        let mut instruction = match node {
            Node::Constant(_) | Node::Input(_) => return,
            Node::Unary(function, a) => Instruction::Unary {
                function,
                to: 0,
                a: register(a),
            },
            Node::Binary(function, a, b) => Instruction::Binary {
                function,
                to: 0,
                a: register(a),
                b: register(b),
            },
            Node::Select(mask, yes, no) => Instruction::Select {
                to: 0,
                lesser: register(mask.lesser),
                greater: register(mask.greater),
                yes: register(yes),
                no: register(no),
            },
        };
        for operand in node.operands() {
            self.uses[operand.index()] -= 1;
            let register = self.register[operand.index()];
            if self.uses[operand.index()] == 0 && register >= kept {
                self.free.push(register);
            }
        }
        let target = self.free.pop().unwrap_or_else(|| {
            self.program.registers += 1;
            self.program.registers as u32 - 1
        });
        match &mut instruction {
            Instruction::Unary { to, .. }
            | Instruction::Binary { to, .. }
            | Instruction::Select { to, .. } => *to = target,
        }
        self.register[handle.index()] = target;
        self.program.instructions.push(instruction);
    }
}
