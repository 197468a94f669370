//! Forms parsed from expressions.

mod error;
mod expressions;
mod symbols;

pub use error::{FormParseError, Role};
pub use expressions::{Expressions, FormExpressions};

use super::TracedForm;
use crate::expr::{Graph, Handle, parse};
use error::Output;

/// Maximum number of operations of f0 and f1 together.
const MAX_OPERATIONS: usize = 4096;

impl TracedForm {
    /// Parses the expressions of a form into one graph. They may be untrusted: their length, their nesting and the
    /// work of evaluating them are limited. The language of expressions: `docs/forms.md`.
    ///
    /// # Errors
    /// The wrong expression with position and reason; names that cannot be used; wrong numbers of
    /// expressions.
    ///
    /// ```
    /// use femto_kernel::form::{FormExpressions, TracedForm};
    ///
    /// let expressions = FormExpressions {
    ///     f0: Some("u^3 - source*sin(pi*x)".into()),
    ///     f1: Some("kappa*grad(u)".into()),
    ///     fields: vec!["kappa".to_owned()],
    ///     parameters: vec!["source".to_owned()],
    /// };
    /// assert!(!TracedForm::parse(&expressions, 3, 1)?.inspect().linear);
    /// # Ok::<(), femto_kernel::form::FormParseError>(())
    /// ```
    pub fn parse(
        expressions: &FormExpressions,
        dim: usize,
        components: usize,
    ) -> Result<Self, FormParseError> {
        let output = |component, axis| Output {
            dim,
            components,
            component,
            axis,
        };
        symbols::check(expressions, output(0, None))?;
        let mut graph = Graph::new();
        let mut read = |part: &Option<Expressions>, output| {
            let Some(part) = part else {
                return Ok(graph.constant(0.0));
            };
            let (text, serves_all) = part.of(output)?;
            let symbols = symbols::of(expressions, output, serves_all);
            parse(&mut graph, text, &symbols).map_err(|source| FormParseError::Expression {
                place: part.place(output),
                source: Box::new(source),
            })
        };
        let f0 = (0..components)
            .map(|component| read(&expressions.f0, output(component, None)))
            .collect::<Result<_, _>>()?;
        let f1 = (0..components * dim)
            .map(|i| read(&expressions.f1, output(i / dim, Some(i % dim))))
            .collect::<Result<Vec<_>, _>>()?;
        let serves_axes = match &expressions.f1 {
            Some(Expressions::One(_)) => true,
            Some(Expressions::Each(list)) => list.len() == components,
            _ => false,
        };
        let is_same = |flux: &[Handle]| {
            let is_zero = graph.constant_value(flux[0]) == Some(0.0);
            flux.iter().all(|along| *along == flux[0]) && !is_zero
        };
        if serves_axes && dim > 1 && f1.chunks_exact(dim).any(is_same) {
            return Err(FormParseError::SameFlux);
        }
        let traced = Self { graph, dim, f0, f1 };
        let (found, limit) = (traced.ops().total(), MAX_OPERATIONS);
        match found > limit {
            true => Err(FormParseError::TooLarge { found, limit }),
            false => Ok(traced),
        }
    }
}
