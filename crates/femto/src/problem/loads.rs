//! Right-hand sides: loads, and what boundary values add to them.

use super::boundary_values::BoundaryValues;
use super::facets::OnFacets;
use super::function::Role;
use super::{Discretization, Function, Problem, ProblemError};
use crate::operator::Backend;
use crate::vector::{Projector, VectorOps};
use crate::{Number, Operator};
use femto_fem::space::Constraints;
use femto_platform::device::Buffer;

impl Problem<'_> {
    /// The discretization of the loads: unless cells are tensor products they have their own rule, since the form's may
    /// be too low.
    pub(super) fn loads_on<'s>(&self, on: Discretization<'s>) -> Discretization<'s> {
        Discretization {
            quadrature: self.operator.quadrature,
            ..on
        }
    }

    /// The loads in double precision, and the given values of constraints.
    pub(super) fn loads<B>(
        &self,
        (on, constraints): (Discretization<'_>, &Constraints),
        facets: &[OnFacets<'_>],
        device: &B,
    ) -> Result<(B::Buffer<f64>, BoundaryValues), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let on = self.loads_on(on);
        let mut b = on.source(device, &self.source)?;
        for part in &self.group_sources {
            on.add_group_source(device, self.mesh, part, &mut b)?;
        }
        self.add_fluxes(device, (on, None), facets, &mut b)?;
        let components = self.form.components();
        let mut dirichlet = Vec::new();
        for part in &self.dirichlet {
            dirichlet.push((&part.tag[..], part.value.of_components(components)?));
        }
        let dirichlet: Vec<(&str, &[Option<&dyn Function>])> = dirichlet
            .iter()
            .map(|(tag, functions)| (*tag, &functions[..]))
            .collect();
        let along_normal = self.along_normal.iter();
        let along_normal = along_normal.map(|part| (&part.tag[..], part.value));
        let along_normal: Vec<(&str, &dyn Function)> = along_normal.collect();
        let values = on.boundary_values(constraints, &dirichlet, &along_normal)?;
        Ok((b, values))
    }

    /// Adds the fluxes that are given to `b`, with those of `facets`; only on facets of a group, if one is given.
    pub(super) fn add_fluxes<B>(
        &self,
        device: &B,
        (on, group): (Discretization<'_>, Option<&str>),
        facets: &[OnFacets<'_>],
        b: &mut B::Buffer<f64>,
    ) -> Result<(), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let components = self.form.components();
        for part in &self.neumann {
            let traces = on.traces_within(&part.tag, group)?;
            let flux = part.value.or_zero(components)?;
            on.add_neumann(device, (&part.tag, &traces), &flux, b)?;
        }
        for part in &self.neumann_along_normal {
            on.space().check_normals(&part.tag, on.dim())?;
            let traces = on.traces_within(&part.tag, group)?;
            on.add_neumann_along_normal(device, (&part.tag, &traces), part.value, b)?;
        }
        for term in facets {
            if let Some(part) = term.robin {
                let flux = part.value.or_zero(components)?;
                let role = Role::Robin(part.tag.clone());
                on.add_flux(device, (&role, &term.trace), &flux, b)?;
            }
        }
        Ok(())
    }
}

/// Subtracts A applied to the boundary values from `b`, and projects it.
pub(super) fn lift<T: Number, B: Backend + VectorOps<T>>(
    operator: &Operator<T, B>,
    projector: &Projector<T, B>,
    boundary_values: &BoundaryValues,
    b: &mut B::Buffer<T>,
) -> Result<(), ProblemError> {
    let device = operator.device();
    if !boundary_values.are_zero() {
        let [mut u, mut product] = [device.zeros(b.len())?, device.zeros(b.len())?];
        boundary_values.add(device, projector, &mut u)?;
        operator.apply(&u, &mut product)?;
        device.axpy(-1.0, &product, b)?;
    }
    Ok(projector.project(device, b)?)
}

/// Fails if loads or boundary values that are not zero all round to zero.
pub(super) fn check_rounding<T: Number>(
    loads: &[f64],
    boundary_values: &BoundaryValues,
) -> Result<(), ProblemError> {
    let given = (boundary_values.entries.iter()).chain(&boundary_values.slanted);
    let all = || loads.iter().chain(given.clone());
    let largest = all().fold(0.0, |most: f64, value| most.max(value.abs()));
    match T::from_f64(largest).to_f64() == 0.0 && largest > 0.0 {
        true => Err(ProblemError::RoundedToZero { largest }),
        false => Ok(()),
    }
}
