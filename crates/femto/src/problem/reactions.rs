//! Reactions where the solution is given.

use super::integral::Integral;
use super::{Discretization, GridFunction, Problem, ProblemError};
use crate::operator::Backend;
use crate::vector::{VectorOps, download_f64};
use crate::{AnyDevice, DataLevel, OperatorParams};
use femto_fem::space::Block;
use femto_platform::device::Buffer;
use serde::Serialize;
use std::collections::HashMap;

/// The sum of the flux, f1 along the outward normal, over a boundary group where the solution is given, apart from a flux
/// and Robin terms given there too: the heat that flows in, or the force of a support on the body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reaction {
    /// Name or number of the group.
    pub tag: String,
    /// `[component]`
    pub sum: Vec<f64>,
}

impl Problem<'_> {
    /// The reactions of each group with a Dirichlet condition, in the order of `dirichlet`, then of `along_normal`.
    ///
    /// They are A(u) - b at the nodes of the group, with the loads b, in the components that it gives or along its
    /// normal. At a node of several groups that give a component, each has what its facets get of the
    /// [flux](Problem::flux), and what is missing of the whole is shared equally. So if the form is zero for constants,
    /// reactions and loads add up to what rounding and the solver's tolerance leave.
    ///
    /// # Errors
    /// As [`Problem::assemble`].
    pub fn reactions<B>(&self, device: &B, u: &GridFunction) -> Result<Vec<Reaction>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        device.enter(|| self.find_reactions(device, u))
    }

    /// As [`Problem::reactions`], on any device.
    ///
    /// # Errors
    /// As there; the null device, which only counts.
    pub fn reactions_on(
        &self,
        device: &AnyDevice,
        u: &GridFunction,
    ) -> Result<Vec<Reaction>, ProblemError> {
        match device {
            AnyDevice::Host(host) => self.reactions(host, u),
            AnyDevice::Accelerator(device) => self.reactions(device, u),
            AnyDevice::Null(_) => Err(ProblemError::of_null_device(
                "find reactions: it does nothing",
            )),
        }
    }

    fn find_reactions<B>(&self, device: &B, u: &GridFunction) -> Result<Vec<Reaction>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let params = OperatorParams {
            data_level: DataLevel::Automatic,
            is_applied_once: true,
            ..self.operator_params(&u.blocks)
        };
        let on = Discretization::of(&u.blocks, &params);
        let facets = self.on_facets(&self.loads_on(on))?;
        let constraints = self.constraints(&u.blocks)?;
        let (loads, _) = self.loads((on, &constraints), &facets, device)?;
        let operator = self.bound::<f64, B>(device, (&u.blocks, &facets), params)?;
        let mut forces = device.zeros(u.values.len())?;
        operator.apply(&device.upload(&u.values)?, &mut forces)?;
        device.axpy(-1.0, &loads, &mut forces)?;
        let mut rest = vec![0.0; forces.len()];
        device.read(&forces, &mut rest)?;
        let components = self.form.components();
        let dirichlet = self.dirichlet.iter().map(|part| &part.tag);
        let normal: Vec<&String> = self.along_normal.iter().map(|part| &part.tag).collect();
        let mut reactions: Vec<Reaction> = Vec::new();
        for tag in dirichlet.chain(normal.iter().copied()) {
            // A group may have conditions for each of its components.
            if reactions.iter().all(|known| known.tag != *tag) {
                let (tag, sum) = (tag.clone(), vec![0.0; components]);
                reactions.push(Reaction { tag, sum });
            }
        }
        let mut held = Vec::new();
        for part in &self.dirichlet {
            let functions = part.value.of_components(components)?;
            let given = || (0..components).filter(|component| functions[*component].is_some());
            let group = reactions.iter().position(|known| known.tag == part.tag);
            for Block { space, .. } in &u.blocks {
                for node in space.boundary_nodes(&part.tag)? {
                    let entries =
                        given().map(|component| space.entry(node.node as usize, component));
                    held.extend(entries.zip(group.into_iter().cycle()));
                }
            }
        }
        held.sort_unstable();
        held.dedup();
        let fluxes = self.fluxes_into(&reactions, &held, (device, on), u)?;
        for groups in held.chunk_by(|a, b| a.0 == b.0) {
            let entry = groups[0].0;
            let (_, component) = u.blocks[0].space.node_of(entry);
            let own = |held: &(usize, usize)| fluxes.get(held).copied().unwrap_or(0.0);
            let found: f64 = groups.iter().map(own).sum();
            let missing = (std::mem::take(&mut rest[entry]) - found) / groups.len() as f64;
            for held in groups {
                reactions[held.1].sum[component] += own(held) + missing;
            }
        }
        for planes in constraints.normals().chunk_by(|a, b| a.node == b.node) {
            for (i, plane) in planes.iter().enumerate() {
                let force = &mut rest[plane.node as usize * components..][..components];
                let along = force.iter().zip(plane.normal).map(|(force, n)| force * n);
                let along: f64 = along.sum();
                let tag = normal[plane.group as usize];
                let mut of_group = reactions.iter_mut().filter(|known| known.tag == *tag);
                let Some(reaction) = of_group.next() else {
                    continue;
                };
                // Groups of one plane take its force in turn, each its share of what is left.
                let same = planes[i..].iter().filter(|it| it.normal == plane.normal);
                let along = along * plane.share / same.map(|it| it.share).sum::<f64>();
                for (component, force) in force.iter_mut().enumerate() {
                    // The last plane takes the rest, all of which is along its normal if planes are at right angles.
                    let own = match i + 1 == planes.len() {
                        true => *force,
                        false => along * plane.normal[component],
                    };
                    *force -= own;
                    reaction.sum[component] += own;
                }
            }
        }
        Ok(reactions)
    }

    /// What the facets of each group get of the flux at nodes that several groups have in common, of the entries `held`,
    /// each with the number of a group in `reactions`.
    fn fluxes_into<B>(
        &self,
        reactions: &[Reaction],
        held: &[(usize, usize)],
        (device, on): (&B, Discretization<'_>),
        u: &GridFunction,
    ) -> Result<HashMap<(usize, usize), f64>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let runs = held.chunk_by(|a, b| a.0 == b.0);
        let shared = runs.filter(|groups| groups.len() > 1).flatten();
        let mut fluxes: HashMap<(usize, usize), f64> = shared.map(|&held| (held, 0.0)).collect();
        if fluxes.is_empty() {
            return Ok(fluxes);
        }
        let on = self.loads_on(on);
        let flux = self.project_flux(device, u)?;
        let components = self.form.components();
        for (group, reaction) in reactions.iter().enumerate() {
            if !fluxes.keys().any(|held| held.1 == group) {
                continue;
            }
            for trace in on.traces(&reaction.tag)? {
                let (space, scalar) = (&trace.block.space, [trace.block.scalar()]);
                let on_trace = on.on_trace(&trace);
                let normals = on_trace.normals_at_points()?;
                for component in 0..components {
                    let entry = |node| trace.entries[space.entry(node, component)] as usize;
                    let entries: Vec<usize> = (0..space.nodes()).map(entry).collect();
                    let at_nodes = |along: &GridFunction| {
                        let values = entries.iter().map(|&entry| along.values[entry]);
                        values.collect()
                    };
                    let own = (flux.iter().map(at_nodes).collect(), &normals[..]);
                    let integral = Integral::of_flux(&on_trace, &scalar, own);
                    let found = download_f64(device, &integral.vector(device)?)?;
                    for (entry, found) in entries.into_iter().zip(found) {
                        if let Some(flux) = fluxes.get_mut(&(entry, group)) {
                            *flux += found;
                        }
                    }
                }
            }
        }
        Ok(fluxes)
    }
}
