//! The form of a problem, and its derivative.

use super::GraphForm;
use crate::operator::{AnyForm, OperatorError, Typed};
use femto_kernel::expr::{Graph, Handle};
use femto_kernel::form::{Form, Jacobian, MAX_FIELDS, TracedForm, trace};
use std::fmt::{self, Debug};
use std::sync::Arc;

type MakeForm = dyn Fn() -> Result<Box<dyn AnyForm>, OperatorError> + Send + Sync;

/// A form of any dimension and number of components, with its exact derivative.
#[derive(Clone)]
pub struct ProblemForm {
    dim: usize,
    components: usize,
    form: Arc<dyn AnyForm>,
    jacobian: Arc<MakeForm>,
}

impl ProblemForm {
    /// A form whose host loops, and those of its derivative, are compiled.
    pub fn new<F, const D: usize, const C: usize>(form: F) -> Self
    where
        F: Form<D, C> + Clone + 'static,
    {
        let derived = form.clone();
        Self {
            dim: D,
            components: C,
            jacobian: Arc::new(move || {
                Ok(Box::new(Typed::<_, D, C>(Jacobian(derived.clone()))) as Box<dyn AnyForm>)
            }),
            form: Arc::new(Typed::<F, D, C>(form)),
        }
    }

    /// As [`ProblemForm::new`], but the host interprets the form's graph and that of its derivative.
    ///
    /// # Errors
    /// As [`ProblemForm::traced`].
    pub fn interpreted<F, const D: usize, const C: usize>(form: &F) -> Result<Self, OperatorError>
    where
        F: Form<D, C>,
    {
        Self::traced(&trace::<_, D, C>(form))
    }

    /// A form given as a graph, which the host interprets, as it does the derivative: a [`GraphForm`].
    ///
    /// # Errors
    /// A number of components that is neither one nor the dimension.
    pub fn traced(traced: &TracedForm) -> Result<Self, OperatorError> {
        match (traced.dim, traced.components()) {
            (2, 1) => Self::of_graph::<2, 1>(traced),
            (2, 2) => Self::of_graph::<2, 2>(traced),
            (3, 1) => Self::of_graph::<3, 1>(traced),
            (3, 3) => Self::of_graph::<3, 3>(traced),
            _ => Err(unusual(traced)),
        }
    }

    /// The form with `f0`, one node of the graph per component, and no gradient term f1.
    ///
    /// # Errors
    /// As [`ProblemForm::traced`].
    pub(super) fn of_values(
        mut graph: Graph,
        f0: Vec<Handle>,
        dim: usize,
    ) -> Result<Self, OperatorError> {
        let zero = graph.constant(0.0);
        let f1 = vec![zero; dim * f0.len()];
        Self::traced(&TracedForm { graph, dim, f0, f1 })
    }

    fn of_graph<const D: usize, const C: usize>(
        traced: &TracedForm,
    ) -> Result<Self, OperatorError> {
        let graph_form =
            |traced: &TracedForm| GraphForm::<D, C>::new(traced).ok_or_else(|| unusual(traced));
        let form = graph_form(traced)?;
        let derived = form.clone();
        Ok(Self {
            dim: D,
            components: C,
            jacobian: Arc::new(move || {
                let form = graph_form(&trace::<_, D, C>(&Jacobian(derived.clone())))?;
                Ok(Box::new(Typed::<_, D, C>(form)) as Box<dyn AnyForm>)
            }),
            form: Arc::new(Typed::<_, D, C>(form)),
        })
    }

    /// Dimension of the cells.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.components
    }

    /// The form.
    pub fn form(&self) -> &dyn AnyForm {
        &*self.form
    }

    /// Its derivative; the state is the first auxiliary fields.
    ///
    /// # Errors
    /// As [`ProblemForm::traced`]; more components than a form may read fields.
    pub fn jacobian(&self) -> Result<Box<dyn AnyForm>, OperatorError> {
        match self.components {
            found if found > MAX_FIELDS => {
                let most = MAX_FIELDS;
                Err(OperatorError::TooManyComponents { found, most })
            }
            _ => (self.jacobian)(),
        }
    }
}

impl Debug for ProblemForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProblemForm")
            .field("dim", &self.dim)
            .field("components", &self.components)
            .finish_non_exhaustive()
    }
}

fn unusual(traced: &TracedForm) -> OperatorError {
    OperatorError::ComponentsOfGraph {
        dim: traced.dim,
        found: traced.components(),
    }
}
