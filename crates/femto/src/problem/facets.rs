//! Boundary-facet terms of a problem.

use super::function::Role;
use super::integral::Term;
use super::{Discretization, Function, Given, Problem, ProblemError, ProblemForm};
use crate::operator::{Auxiliary, Backend, FacetTerm, OperatorError};
use crate::vector::VectorOps;
use crate::{Number, Operator, OperatorParams};
use femto_fem::space::{Block, Trace};
use femto_kernel::expr::{Graph, Input};
use femto_kernel::family::FamilyId;
use femto_kernel::scalar::{Scalar, Traced};
use std::cell::RefCell;

/// The condition flux + α u = g on a boundary group; the flux of ready-made forms is f1 times the outward
/// normal. With g = α u∞ the flux out of the domain is α (u - u∞).
#[derive(Clone)]
pub struct Robin<'a> {
    /// Name or number of a group of the boundary's dimension.
    pub tag: String,
    /// α for the components.
    pub alpha: Given<'a>,
    /// g for the components.
    pub value: Given<'a>,
}

/// The term ∫_Γ φ·f0 + ∇φ:f1 on a boundary group, added to the left-hand side.
#[derive(Clone, Debug)]
pub struct FacetForm {
    /// Name or number of a group of the boundary's dimension.
    pub tag: String,
    /// A form with the problem's dimension and components; gradients are tangential. It reads the problem's
    /// time and parameters, and no auxiliary fields.
    pub form: ProblemForm,
}

/// A form on the trace of a group.
pub(super) struct OnFacets<'a> {
    /// The trace for loads.
    pub(super) trace: Trace,
    /// The flattened trace, for a form of the facets' own dimension.
    flat: Option<Trace>,
    form: ProblemForm,
    params: OperatorParams,
    /// The Robin condition that it belongs to, which has a load too.
    pub(super) robin: Option<&'a Robin<'a>>,
}

impl OnFacets<'_> {
    /// Adds the form to an operator.
    pub(super) fn add_to<T: Number, B: Backend + VectorOps<T>>(
        &self,
        operator: &mut Operator<T, B>,
    ) -> Result<(), OperatorError> {
        operator.add_facets(self.of_form(), self.form.form(), self.params.clone())
    }

    /// Adds the product with `u` to `v`.
    pub(super) fn add_product<B: Backend + VectorOps<f64>>(
        &self,
        device: &B,
        u: &B::Buffer<f64>,
        v: &mut B::Buffer<f64>,
    ) -> Result<(), OperatorError> {
        let params = self.params.clone();
        FacetTerm::new(device, self.of_form(), self.form.form(), params)?.add_product(u, v)
    }

    /// Adds its derivative to a Jacobian.
    pub(super) fn add_jacobian_to<T: Number, B: Backend + VectorOps<T>>(
        &self,
        jacobian: &mut Operator<T, B>,
    ) -> Result<(), OperatorError> {
        let params =
            super::operator_params::jacobian_params(self.params.clone(), &self.trace.block.space);
        jacobian.add_facets(self.of_form(), &*self.form.jacobian()?, params)
    }

    /// The trace for the form.
    fn of_form(&self) -> &Trace {
        self.flat.as_ref().unwrap_or(&self.trace)
    }
}

impl Problem<'_> {
    /// The terms on facets; `on` is the discretization of the loads.
    pub(super) fn on_facets(
        &self,
        on: &Discretization<'_>,
    ) -> Result<Vec<OnFacets<'_>>, ProblemError> {
        self.on_facets_of(on, None)
    }

    /// The same on facets of a group, if one is given.
    pub(super) fn on_facets_of(
        &self,
        on: &Discretization<'_>,
        group: Option<&str>,
    ) -> Result<Vec<OnFacets<'_>>, ProblemError> {
        let mut terms = Vec::new();
        for part in &self.robin {
            let alpha = part.alpha.of_components(self.form.components())?;
            for trace in on.traces_within(&part.tag, group)? {
                let role = Role::RobinCoefficient(part.tag.clone());
                let of_trace = on.on_trace(&trace);
                let is_flat = alpha.len() == 1 && is_better_flat(&trace);
                let dim = match is_flat {
                    true => trace.block.space.dim(),
                    false => of_trace.dim(),
                };
                let form = proportional((&of_trace, dim), &role, &alpha)?;
                terms.push(OnFacets {
                    robin: Some(part),
                    flat: is_flat.then(|| trace.flattened()),
                    ..self.term(on, trace, form)?
                });
            }
        }
        for part in &self.facets {
            for trace in on.traces_within(&part.tag, group)? {
                terms.push(self.term(on, trace, (part.form.clone(), Vec::new()))?);
            }
        }
        Ok(terms)
    }

    /// A form with its auxiliary fields on a trace of the space of `on`. Fails if the rule of the facets is too low for
    /// terms of values.
    fn term(
        &self,
        on: &Discretization<'_>,
        trace: Trace,
        (form, auxiliary): (ProblemForm, Vec<Auxiliary>),
    ) -> Result<OnFacets<'_>, ProblemError> {
        let quadrature = on.on_trace(&trace).quadrature;
        let (space, inputs) = (&trace.block.space, form.form().trace().inputs());
        let mut inputs = inputs.iter();
        if !space.cell().is_tensor_product() && inputs.any(|it| matches!(it, Input::Value(_))) {
            quadrature.require(space.degree(), |degree| 2 * degree)?;
        }
        Ok(OnFacets {
            params: OperatorParams {
                quadrature,
                scatter: on.scatter,
                time: on.time,
                parameters: self.operator.parameters.clone(),
                auxiliary,
                ..OperatorParams::default()
            },
            trace,
            flat: None,
            form,
            robin: None,
        })
    }

    /// Fails if two conditions give the same component of a facet's flux: both would be added.
    pub(super) fn check_fluxes(&self, blocks: &[Block]) -> Result<(), ProblemError> {
        let components = self.form.components();
        let neumann = self
            .neumann
            .iter()
            .map(|part| (&part.tag, Some(&part.value)));
        let normal = self
            .neumann_along_normal
            .iter()
            .map(|part| (&part.tag, None));
        let robin = self.robin.iter().map(|part| (&part.tag, Some(&part.value)));
        let mut given = Vec::new();
        for (condition, (tag, value)) in neumann.chain(normal).chain(robin).enumerate() {
            let functions = value
                .map(|value| value.of_components(components))
                .transpose()?;
            let is_given = |component: &usize| match &functions {
                Some(functions) => functions[*component].is_some(),
                None => true,
            };
            let own: Vec<usize> = (0..components).filter(is_given).collect();
            for Block { space, geometry } in blocks {
                for facet in space.boundary().tagged(tag)? {
                    let cell = geometry.first_cell() + facet.cell as usize;
                    let facet = (cell, usize::from(facet.number));
                    given.extend(
                        own.iter()
                            .map(|&component| (facet, component, condition, tag)),
                    );
                }
            }
        }
        given.sort_unstable();
        let meeting = given
            .windows(2)
            .find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1));
        match meeting {
            Some(&[((cell, facet), component, _, first), (.., second)]) => {
                Err(ProblemError::RepeatedFlux {
                    first: first.clone(),
                    second: second.clone(),
                    cell,
                    facet,
                    component: (components > 1).then_some(component),
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether a term on facets depends on this component's value, not only on its gradient.
    pub(super) fn facets_hold(&self, component: usize) -> Result<bool, ProblemError> {
        for part in &self.robin {
            let alpha = part.alpha.of_components(self.form.components())?;
            if alpha[component].is_some_and(|alpha| alpha.as_constant() != Some(0.0)) {
                return Ok(true);
            }
        }
        let value = Input::Value(component as u8);
        let mut forms = self.facets.iter().map(|part| part.form.form());
        Ok(forms.any(|form| form.trace().inputs().contains(&value)))
    }
}

/// Whether a family evaluates facets of this shape as cells of their own dimension, but not as parts of the
/// cells' boundaries.
fn is_better_flat(trace: &Trace) -> bool {
    let Block { space, geometry } = &trace.block;
    let cell = space.cell();
    let [flat, usual] = [cell.dim(), geometry.dim()].map(|dim| FamilyId::of(cell, dim).ok());
    // Such families take one degree along every axis.
    flat.is_some() && flat != usual && space.degree().is_uniform()
}

/// The form α u in a dimension, with α of each component that has one.
fn proportional(
    (on, dim): (&Discretization<'_>, usize),
    role: &Role,
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
                let name = role.of(component);
                let term = match dim == on.dim() {
                    true => Term::new(on, (&name, *alpha), &mut auxiliary)?,
                    false => Term::without_position(on, (&name, *alpha), &mut auxiliary)?,
                };
                if let Term::Program(_) = term {
                    // Whatever evaluates it later, the place of a bad value is found here.
                    on.find_bad_value(&name, *alpha)?;
                }
                (term.traced(&graph, dim) * u).handle()
            }
        });
    }
    let form = ProblemForm::of_values(graph.into_inner(), f0, dim)?;
    Ok((form, auxiliary))
}
