//! Reactions where the solution is given.

use super::{Discretization, GridFunction, Problem, ProblemError};
use crate::operator::Backend;
use crate::vector::VectorOps;
use crate::{AnyDevice, DataLevel, OperatorParams};
use femto_fem::space::Block;
use femto_platform::device::Buffer;
use serde::Serialize;

/// The sum of the flux, f1 along the outward normal, over a boundary group where the solution is given: the heat that flows
/// in there, or the force of a support on the body.
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
    /// They are A(u) - b at the nodes of the group, with the loads b, in the components that it gives or along its normal; at a
    /// node of several groups a component counts for the first that gives it. So if the form is zero for constants, reactions and
    /// loads add up to what rounding and the solver's tolerance leave.
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
        let mut add = |tag: &String, component: usize, force: f64| {
            let mut all = reactions.iter_mut();
            if let Some(reaction) = all.find(|reaction| reaction.tag == *tag) {
                reaction.sum[component] += force;
            }
        };
        for part in &self.dirichlet {
            let functions = part.value.of_components(components)?;
            for Block { space, .. } in &u.blocks {
                for node in space.boundary_nodes(&part.tag)? {
                    for component in (0..components).filter(|it| functions[*it].is_some()) {
                        let force = &mut rest[space.entry(node.node as usize, component)];
                        add(&part.tag, component, std::mem::take(force));
                    }
                }
            }
        }
        for planes in constraints.normals().chunk_by(|a, b| a.node == b.node) {
            for (i, plane) in planes.iter().enumerate() {
                let force = &mut rest[plane.node as usize * components..][..components];
                let along = force.iter().zip(plane.normal).map(|(force, n)| force * n);
                let along: f64 = along.sum();
                for (component, force) in force.iter_mut().enumerate() {
                    // The last plane takes the rest, all of which is along its normal if planes are at right angles.
                    let own = match i + 1 == planes.len() {
                        true => *force,
                        false => along * plane.normal[component],
                    };
                    *force -= own;
                    add(normal[plane.group as usize], component, own);
                }
            }
        }
        Ok(reactions)
    }
}
