//! Terms of a problem on groups of boundary facets.

use super::integral::Term;
use super::{Discretization, Function, Given, Problem, ProblemError, ProblemForm};
use crate::operator::{AnyForm, Auxiliary, Backend, OperatorError};
use crate::vector::VectorOps;
use crate::{Number, Operator, OperatorParams};
use femto_fem::space::Trace;
use femto_kernel::expr::{Graph, Input};
use femto_kernel::form::{Inspection, TracedForm};
use femto_kernel::scalar::{Scalar, Traced};
use std::cell::RefCell;

/// The condition flux + α u = g on a boundary group, where the flux is, for the ready-made forms, f1 times the outward
/// normal. With g = α u∞ it says that what leaves is α (u - u∞).
#[derive(Clone)]
pub struct Robin<'a> {
    /// Name or number of a group of the boundary's dimension.
    pub tag: String,
    /// α of the components.
    pub alpha: Given<'a>,
    /// g of the components.
    pub value: Given<'a>,
}

/// The term ∫_Γ φ·f0 + ∇φ:f1 on a boundary group, added to the left-hand side.
#[derive(Clone, Debug)]
pub struct FacetForm {
    /// Name or number of a group of the boundary's dimension.
    pub tag: String,
    /// A form with the dimension and components of the problem's; gradients are those along the facets. It sees the
    /// problem's time and parameters, and no auxiliary field.
    pub form: ProblemForm,
}

/// A form on the trace of a group.
pub(super) struct OnFacets {
    trace: Trace,
    form: ProblemForm,
    params: OperatorParams,
}

impl OnFacets {
    pub(super) fn inspection(&self) -> Inspection {
        self.form.form().trace().inspect()
    }

    /// Adds the form to an operator.
    pub(super) fn add_to<T: Number, B: Backend + VectorOps<T>>(
        &self,
        operator: &mut Operator<T, B>,
    ) -> Result<(), OperatorError> {
        operator.add_facets(&self.trace, self.form.form(), self.params.clone())
    }

    /// Adds its derivative to a Jacobian.
    pub(super) fn add_jacobian_to<T: Number, B: Backend + VectorOps<T>>(
        &self,
        jacobian: &mut Operator<T, B>,
    ) -> Result<(), OperatorError> {
        let params = super::stages::jacobian_params(self.params.clone(), &self.trace.space);
        jacobian.add_facets(&self.trace, &*self.form.jacobian()?, params)
    }
}

impl Problem<'_> {
    /// The terms on facets, `on` the discretization of the loads.
    pub(super) fn on_facets(&self, on: &Discretization<'_>) -> Result<Vec<OnFacets>, ProblemError> {
        let mut terms = Vec::new();
        for part in &self.robin {
            let alpha = part.alpha.of_components(self.form.components())?;
            if let Some(trace) = on.space.trace(on.geometry, &part.tag)? {
                let what = format!("the coefficient on `{}`", part.tag);
                let on = on.on_trace(&trace);
                let (form, auxiliary) = proportional(&on, &what, &alpha)?;
                let params = self.facet_params(&on, auxiliary);
                terms.push(OnFacets {
                    form,
                    params,
                    trace,
                });
            }
        }
        for part in &self.facets {
            if let Some(trace) = on.space.trace(on.geometry, &part.tag)? {
                let params = self.facet_params(&on.on_trace(&trace), Vec::new());
                let form = part.form.clone();
                terms.push(OnFacets {
                    form,
                    params,
                    trace,
                });
            }
        }
        Ok(terms)
    }

    fn facet_params(&self, on: &Discretization<'_>, auxiliary: Vec<Auxiliary>) -> OperatorParams {
        OperatorParams {
            quadrature: on.quadrature,
            scatter: on.scatter,
            time: on.time,
            parameters: self.operator.parameters.clone(),
            auxiliary,
            ..OperatorParams::default()
        }
    }

    /// Whether a term on facets depends on this component itself, and not on its slope alone.
    pub(super) fn facets_hold(&self, component: usize) -> Result<bool, ProblemError> {
        for part in &self.robin {
            let alpha = part.alpha.of_components(self.form.components())?;
            if alpha[component].is_some_and(|alpha| alpha.as_constant() != Some(0.0)) {
                return Ok(true);
            }
        }
        let forms = self.facets.iter().map(|part| part.form.form());
        Ok(forms
            .map(AnyForm::trace)
            .any(|it| it.inspect().reads_values))
    }
}

/// The form α u, with α of each component that has one, which errors call `what`.
fn proportional(
    on: &Discretization<'_>,
    what: &str,
    alpha: &[Option<&dyn Function>],
) -> Result<(ProblemForm, Vec<Auxiliary>), ProblemError> {
    let mut auxiliary = Vec::new();
    let graph = RefCell::new(Graph::new());
    let mut f0 = Vec::new();
    for (component, alpha) in alpha.iter().enumerate() {
        let u = Traced::input(&graph, Input::Value(component as u8));
        f0.push(match alpha {
            None => u.constant(0.0).handle(),
            Some(alpha) => {
                // Whatever evaluates it later, the place of a bad value is found here.
                on.find_bad_value(on.space, &what, *alpha)?;
                let term = Term::new(on, on.space, (&what, *alpha), &mut auxiliary)?;
                (term.traced(&graph, on.geometry.dim()) * u).handle()
            }
        });
    }
    let mut graph = graph.into_inner();
    let zero = graph.constant(0.0);
    let dim = on.geometry.dim();
    let form = ProblemForm::traced(&TracedForm {
        graph,
        dim,
        f1: vec![zero; dim * f0.len()],
        f0,
    })?;
    Ok((form, auxiliary))
}
