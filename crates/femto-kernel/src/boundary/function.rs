//! Functions of position and time, printed into kernels.

use crate::dialect::Language;
use crate::expr::{Graph, GraphError, Input, Program};
use crate::form::TracedForm;
use crate::roofline::{Precision, Work};
use crate::scalar::Traced;
use core::cell::RefCell;

/// A function of x, y, z and t as the f0 of a form without gradients, which is how kernel texts print it.
#[derive(Clone, Debug)]
pub struct PointFunction(TracedForm);

impl PointFunction {
    /// The function that a program is; of several outputs the last.
    ///
    /// # Errors
    /// [`GraphError::MissingInput`] where it needs more than x, y, z and t.
    pub fn new(program: &Program) -> Result<Self, GraphError> {
        let given = |input: &Input| matches!(input, Input::Position(0..3) | Input::Time);
        if let Some(&input) = program.inputs().iter().find(|input| !given(input)) {
            return Err(GraphError::MissingInput { input });
        }
        let graph = RefCell::new(Graph::new());
        let input = |input| Traced::input(&graph, input);
        let mut value = input(Input::Time);
        program.run_point(value, input, |_, found| value = found);
        let f0 = vec![value.handle()];
        Ok(Self(TracedForm {
            graph: graph.into_inner(),
            dim: 3,
            f0,
            f1: Vec::new(),
        }))
    }

    /// The function in a kernel text, [`TracedForm::point_function`].
    pub(super) fn print(
        &self,
        precision: Precision,
        language: Language,
    ) -> Result<String, GraphError> {
        self.0.point_function(precision, language)
    }

    /// The work of its values at so many points: positions are read whole, whatever of them the function
    /// needs, as they share cache lines.
    pub fn work(&self, points: usize) -> Work {
        let points = points as u64;
        Work {
            bytes_read: 24 * points,
            bytes_written: 8 * points,
            flops: points * self.0.ops().flops() as u64,
            shared_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Symbols, parse};

    #[test]
    fn a_program_is_printed_as_its_expression() {
        let mut graph = Graph::new();
        let symbols = Symbols::position().and_time();
        let value = parse(&mut graph, "x*t + sin(z)", &symbols).unwrap();
        let function = PointFunction::new(&Program::new(&graph, &[value])).unwrap();
        let text = function.print(Precision::Fp64, Language::Cuda).unwrap();
        assert!(text.contains("x[0]") && text.contains("time"), "{text}");
        assert!(text.contains("sin(x[2])"), "{text}");
        let work = function.work(10);
        assert_eq!((work.bytes(), work.flops), (320, 20));
    }

    #[test]
    fn a_constant_is_a_function_and_a_parameter_is_none() {
        let mut graph = Graph::new();
        let constant = graph.constant(2.5);
        let function = PointFunction::new(&Program::new(&graph, &[constant])).unwrap();
        let text = function.print(Precision::Fp64, Language::OpenCl).unwrap();
        assert!(text.contains("f0[0] = 2.5;"), "{text}");
        let input = Input::Parameter(0);
        let parameter = graph.input(input);
        let refused = PointFunction::new(&Program::new(&graph, &[parameter])).err();
        assert_eq!(refused, Some(GraphError::MissingInput { input }));
    }
}
