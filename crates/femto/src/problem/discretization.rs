//! The parts of a right-hand side: integrals over elements and boundary facets.

use super::function::{Role, values};
use super::integral::{Integral, Integrand};
use super::{Function, FunctionName, ProblemError};
use crate::operator::{Auxiliary, Backend, Scatter, check_blocks};
use crate::vector::{Entries, VectorOps};
use crate::{OperatorParams, Quadrature};
use femto_fem::space::{Block, Layout, Space, Trace};
use femto_platform::device::{Buffer, check_len};
use std::collections::HashSet;

/// The blocks of a space with their geometry, a quadrature rule, and the time at which functions are
/// evaluated. Vectors store the components of a node together.
///
/// Results are in double precision. They are bitwise reproducible for any number of threads on the host,
/// and with [`Scatter::Deterministic`] on accelerators.
#[derive(Clone, Copy, Debug)]
pub struct Discretization<'a> {
    /// All blocks of the space.
    pub blocks: &'a [Block],
    /// The quadrature rule. [`Quadrature::Gauss`] is exact to degree 2 N + 2, on
    /// tensor products along each axis.
    pub quadrature: Quadrature,
    /// The time at which functions are evaluated.
    pub time: f64,
    /// How accelerators sum shared nodes.
    pub scatter: Scatter,
}

impl<'a> Discretization<'a> {
    /// With the rule, the time and the sums of an operator.
    pub(super) fn of(blocks: &'a [Block], params: &OperatorParams) -> Self {
        Self {
            blocks,
            quadrature: params.quadrature,
            time: params.time,
            scatter: params.scatter,
        }
    }

    /// Fails unless the blocks are all those of one space.
    pub(super) fn check(&self) -> Result<(), ProblemError> {
        check_blocks(self.blocks)?;
        Ok(())
    }

    /// The first block's space; its L-vectors are those of all blocks.
    pub(super) fn space(&self) -> &'a Space {
        &self.blocks[0].space
    }

    /// Dimension of the space that the cells lie in.
    pub(super) fn dim(&self) -> usize {
        self.blocks[0].geometry.dim()
    }

    /// The traces on a group of facets, one for each shape of cells and of facets.
    pub(super) fn traces(&self, tag: &str) -> Result<Vec<Trace>, ProblemError> {
        self.traces_within(tag, None)
    }

    /// The same on the facets that belong to another group too, if one is given.
    pub(super) fn traces_within(
        &self,
        tag: &str,
        group: Option<&str>,
    ) -> Result<Vec<Trace>, ProblemError> {
        let mut traces = Vec::new();
        for Block { space, geometry } in self.blocks {
            let Some(group) = group else {
                traces.extend(space.traces(geometry, tag)?);
                continue;
            };
            let group = space.boundary().tagged(group)?.iter();
            let group: HashSet<_> = group.map(|it| (it.element, it.number)).collect();
            let facets = space.boundary().tagged(tag)?.iter();
            let common = facets.filter(|it| group.contains(&(it.element, it.number)));
            let common: Vec<_> = common.copied().collect();
            traces.extend(space.traces_of(geometry, &common)?);
        }
        Ok(traces)
    }

    /// ∫ φ f for every basis function φ: an L-vector on the device. `f` has one function per component.
    ///
    /// # Errors
    /// Blocks that are not all those of one space, a wrong number of functions, components apart in memory, a quadrature rule
    /// that does not exist for the degree, a value that is not finite, or a device error.
    pub fn source<B>(&self, device: &B, f: &[&dyn Function]) -> Result<B::Buffer<f64>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        self.loads(device, &Role::Source, f)
    }

    /// Adds ∫ φ g over the boundary facets of the group `tag` to the L-vector `b` on the device. `g` has
    /// one function per component.
    ///
    /// # Errors
    /// Blocks that are not all those of one space, a wrong number of functions, components apart in memory, an unknown group, a
    /// quadrature rule that does not exist for the degree, a value that is not finite, a `b` that is not an L-vector, or a device
    /// error.
    pub fn neumann<B>(
        &self,
        device: &B,
        tag: &str,
        g: &[&dyn Function],
        b: &mut B::Buffer<f64>,
    ) -> Result<(), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        self.check_components(g.len())?;
        check_len("the right-hand side", b.len(), self.space().dofs())?;
        self.add_neumann(device, (tag, &self.traces(tag)?), g, b)
    }

    /// As [`Self::neumann`], on some traces.
    pub(super) fn add_neumann<B>(
        &self,
        device: &B,
        (tag, traces): (&str, &[Trace]),
        g: &[&dyn Function],
        b: &mut B::Buffer<f64>,
    ) -> Result<(), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let role = Role::Neumann(tag.to_owned());
        let mut traces = traces.iter();
        traces.try_for_each(|trace| self.add_flux(device, (&role, trace), g, b))
    }

    /// Adds ∫ φ g n over the boundary facets of the group `tag` to the L-vector `b` on the device, with the outward normal
    /// n: for g = -p the load of a pressure p. The space has a component for each dimension.
    ///
    /// # Errors
    /// As [`Self::neumann`] and [`Space::check_normals`].
    pub fn neumann_along_normal<B>(
        &self,
        device: &B,
        tag: &str,
        g: &dyn Function,
        b: &mut B::Buffer<f64>,
    ) -> Result<(), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        self.check()?;
        self.space().check_normals(tag, self.dim())?;
        check_len("the right-hand side", b.len(), self.space().dofs())?;
        self.add_neumann_along_normal(device, (tag, &self.traces(tag)?), g, b)
    }

    /// As [`Self::neumann_along_normal`], on some traces.
    pub(super) fn add_neumann_along_normal<B>(
        &self,
        device: &B,
        (tag, traces): (&str, &[Trace]),
        g: &dyn Function,
        b: &mut B::Buffer<f64>,
    ) -> Result<(), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let name = Role::Neumann(tag.to_owned()).of(0);
        for trace in traces {
            let on = self.on_trace(trace);
            let (values, scalar) = (on.at_points(&name, g)?, [trace.block.scalar()]);
            let mut loads = Vec::new();
            for normals in on.normals_at_points()? {
                let along = normals.iter().zip(&values).map(|(normal, g)| normal * g);
                loads.push(
                    Integral::of_values(&on, &scalar, Auxiliary::AtPoints(along.collect()))
                        .vector(device)?,
                );
            }
            let dim = loads.len();
            for (component, load) in loads.iter().enumerate() {
                let entries: Vec<u32> = trace
                    .entries
                    .iter()
                    .skip(component)
                    .step_by(dim)
                    .copied()
                    .collect();
                device.add_to_entries(load, &Entries::new(device, &entries)?, b)?;
            }
        }
        Ok(())
    }

    /// Adds the flux on one trace of the group.
    pub(super) fn add_flux<B>(
        &self,
        device: &B,
        (role, trace): (&Role, &Trace),
        g: &[&dyn Function],
        b: &mut B::Buffer<f64>,
    ) -> Result<(), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let loads = self.on_trace(trace).loads(device, role, g)?;
        let entries = Entries::new(device, &trace.entries)?;
        Ok(device.add_to_entries(&loads, &entries, b)?)
    }

    /// The discretization on the trace of a group of facets, with the cells' quadrature rule.
    pub(super) fn on_trace<'t>(&self, trace: &'t Trace) -> Discretization<'t> {
        Discretization {
            blocks: std::slice::from_ref(&trace.block),
            quadrature: self.with_rule().quadrature,
            time: self.time,
            scatter: self.scatter,
        }
    }

    /// ∫ φ f for every basis function φ.
    fn loads<B>(
        &self,
        device: &B,
        role: &Role,
        f: &[&dyn Function],
    ) -> Result<B::Buffer<f64>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        self.check_components(f.len())?;
        let scalar: Vec<Block> = self.blocks.iter().map(Block::scalar).collect();
        let on = self.with_rule();
        let (dofs, components) = (self.space().dofs(), self.space().components());
        let mut b = device.zeros(dofs)?;
        for (component, &f) in f.iter().enumerate() {
            if f.as_constant() == Some(0.0) {
                continue;
            }
            let name = role.of(component);
            let integral = Integral::new(&on, &scalar, Integrand::Value, (&name, &[f]))?;
            let values = integral.vector(device)?;
            if !device.norm(&values)?.is_finite() {
                on.find_bad_value(&name, f)?;
            }
            if components == 1 {
                return Ok(values);
            }
            let entries = (component..dofs).step_by(components);
            let entries: Vec<u32> = entries.map(|entry| entry as u32).collect();
            device.add_to_entries(&values, &Entries::new(device, &entries)?, &mut b)?;
        }
        Ok(b)
    }

    /// The functions at the nodes, an L-vector.
    pub(super) fn interpolate(
        &self,
        role: &Role,
        functions: &[&dyn Function],
    ) -> Result<Vec<f64>, ProblemError> {
        self.check_components(functions.len())?;
        let positions = Block::node_positions(self.blocks);
        let mut values = vec![0.0; self.space().dofs()];
        for (component, &f) in functions.iter().enumerate() {
            let targets = values[component..].iter_mut().step_by(functions.len());
            for (target, value) in targets.zip(self.evaluate(&role.of(component), f, &positions)?) {
                *target = value;
            }
        }
        Ok(values)
    }

    /// The same with a rule that does not depend on a form; on tensor-product cells that is Gauss's anyway.
    pub(super) fn with_rule(&self) -> Self {
        let quadrature = match self.quadrature {
            Quadrature::Gauss => {
                Quadrature::exact_to(self.space().degree().map(|degree| 2 * degree + 2))
            }
            quadrature => quadrature,
        };
        Self {
            quadrature,
            ..*self
        }
    }

    /// Fails unless the blocks are all those of a space with one function per component.
    pub(super) fn check_components(&self, functions: usize) -> Result<(), ProblemError> {
        self.check()?;
        match (self.space().components(), self.space().layout()) {
            (2.., Layout::Blocked) => Err(ProblemError::Layout),
            (components, _) if components == functions => Ok(()),
            (components, _) => Err(ProblemError::Components {
                components,
                functions,
            }),
        }
    }

    /// The error that names a position at which `f` is not finite, if any.
    pub(super) fn find_bad_value(
        &self,
        name: &FunctionName,
        f: &dyn Function,
    ) -> Result<(), ProblemError> {
        self.at_points(name, f).map(drop)
    }

    /// The values of `f` at `positions`, by the host.
    pub(super) fn evaluate(
        &self,
        name: &FunctionName,
        f: &dyn Function,
        positions: &[[f64; 3]],
    ) -> Result<Vec<f64>, ProblemError> {
        let values = values(f, positions, self.time);
        check_finite(name, &values, positions)?;
        Ok(values)
    }
}

/// Fails at the first value that is not finite.
pub(super) fn check_finite(
    name: &FunctionName,
    values: &[f64],
    positions: &[[f64; 3]],
) -> Result<(), ProblemError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(point) => Err(ProblemError::NotFinite {
            function: name.clone(),
            value: values[point],
            position: positions[point],
        }),
    }
}
