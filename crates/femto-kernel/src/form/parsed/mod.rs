//! Forms parsed from expressions.

mod error;
mod expressions;
mod symbols;

pub use error::{FormParseError, Role};
pub use expressions::{Expressions, FormExpressions};

use super::{Form, GraphForm, Point, PointForm, TracedForm};
use crate::expr::{Graph, Handle, parse};
use crate::scalar::{Lanes, Scalar};
use error::Output;
use symbols::Names;

/// A form whose f0 and f1 are expressions, parsed into one graph.
///
/// On the host an interpreter runs the graph over many points of a batch. For devices, inspection and
/// derivatives ([`Jacobian`](super::Jacobian)) it is traced like any other form, which reproduces the same
/// graph. The language of expressions: `docs/forms.md`.
///
/// ```
/// use femto_kernel::form::{FormExpressions, ParsedForm, inspect};
///
/// let form = ParsedForm::<3>::parse(&FormExpressions {
///     f0: Some("u^3 - source*sin(pi*x)".into()),
///     f1: Some("kappa*grad(u)".into()),
///     fields: vec!["kappa".to_owned()],
///     parameters: vec!["source".to_owned()],
/// })?;
/// assert!(!inspect::<_, 3, 1>(&form).linear);
/// # Ok::<(), femto_kernel::form::FormParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParsedForm<const D: usize, const C: usize = 1> {
    traced: TracedForm,
    form: GraphForm<D, C>,
    names: Names,
}

impl<const D: usize, const C: usize> ParsedForm<D, C> {
    /// Maximum number of operations of f0 and f1 together.
    pub const MAX_OPERATIONS: usize = 4096;

    /// Parses the expressions of a form. They may be untrusted: their length, their nesting and the work of
    /// evaluating them are limited.
    ///
    /// # Errors
    /// The wrong expression with position and reason; names that cannot be used; wrong numbers of
    /// expressions.
    pub fn parse(expressions: &FormExpressions) -> Result<Self, FormParseError> {
        let names = Names::new::<D, C>(&expressions.fields, &expressions.parameters)?;
        let mut graph = Graph::new();
        let values = (0..C).map(|component| (component, None));
        let gradients = (0..C * D).map(|i| (i / D, Some(i % D)));
        let mut read = |expressions: &Option<Expressions>, (component, axis)| {
            let output = Output { component, axis };
            match expressions {
                None => Ok(graph.constant(0.0)),
                Some(expressions) => read::<D, C>(&mut graph, expressions, output, &names),
            }
        };
        let f0 = values
            .map(|output| read(&expressions.f0, output))
            .collect::<Result<_, _>>()?;
        let f1 = gradients
            .map(|output| read(&expressions.f1, output))
            .collect::<Result<_, _>>()?;
        let dim = D;
        let traced = TracedForm { graph, dim, f0, f1 };
        let found = traced.ops().total();
        if found > Self::MAX_OPERATIONS {
            let limit = Self::MAX_OPERATIONS;
            return Err(FormParseError::TooLarge { found, limit });
        }
        Ok(Self {
            form: GraphForm::of(&traced),
            traced,
            names,
        })
    }

    /// The graph of the expressions.
    pub fn traced(&self) -> &TracedForm {
        &self.traced
    }

    /// The names of the auxiliary fields, in the operator's order.
    pub fn fields(&self) -> &[String] {
        &self.names.fields
    }

    /// The names of the parameters, in the operator's order.
    pub fn parameters(&self) -> &[String] {
        &self.names.parameters
    }
}

impl<const D: usize, const C: usize> Form<D, C> for ParsedForm<D, C> {
    const INTERPRETED: bool = true;

    fn at_points<L: Lanes>(&self) -> Box<dyn PointForm<L, D>> {
        self.form.at_points()
    }

    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        self.form.f0(point)
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        self.form.f1(point)
    }
}

/// Parses the text of one output.
fn read<const D: usize, const C: usize>(
    graph: &mut Graph,
    expressions: &Expressions,
    output: Output,
    names: &Names,
) -> Result<Handle, FormParseError> {
    let (text, serves_all) = expressions.of::<D, C>(output)?;
    let symbols = names.symbols::<D, C>(output, serves_all);
    parse(graph, text, &symbols).map_err(|source| FormParseError::Expression {
        place: expressions.place::<D, C>(output),
        source: Box::new(source),
    })
}
