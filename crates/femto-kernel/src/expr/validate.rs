//! Checks of a graph before printing.

use super::{Graph, Handle, Input, Node};
use crate::scalar::Real;

/// Why a graph cannot be printed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GraphError {
    #[error("handle {handle} does not belong to this graph of {nodes} nodes")]
    ForeignHandle { handle: usize, nodes: usize },
    #[error("the constant {value} is not finite in {precision}")]
    Constant { value: f64, precision: &'static str },
    #[error("the function needs {input}, which is not among its arguments")]
    MissingInput { input: Input },
}

impl Graph {
    /// Checks that `outputs` can be printed in precision `T` with these inputs.
    ///
    /// # Errors
    /// A handle of another graph, a constant that overflows, or an input that is not an argument.
    pub fn validate<T: Real>(
        &self,
        outputs: &[Handle],
        inputs: &[(Input, &str)],
    ) -> Result<(), GraphError> {
        let nodes = self.len();
        if let Some(foreign) = outputs.iter().find(|output| output.index() >= nodes) {
            return Err(GraphError::ForeignHandle {
                handle: foreign.index(),
                nodes,
            });
        }
        for handle in self.needed_by(outputs) {
            match self.node(handle) {
                Node::Constant(literal) if !T::from_f64(literal.value()).to_f64().is_finite() => {
                    let (value, precision) = (literal.value(), T::NAME);
                    return Err(GraphError::Constant { value, precision });
                }
                Node::Input(input) if !inputs.iter().any(|&(known, _)| known == input) => {
                    return Err(GraphError::MissingInput { input });
                }
                _ => {}
            }
        }
        Ok(())
    }
}
