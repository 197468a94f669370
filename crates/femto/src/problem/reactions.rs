//! Reactions where the solution is given.

use super::{Discretization, GridFunction, Problem, ProblemError};
use crate::operator::Backend;
use crate::vector::VectorOps;
use crate::{DataLevel, OperatorParams};
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
    /// They are A(u) - b at the nodes of the group, with the loads b; nodes of several groups count for the first. So if the
    /// form holds constants, reactions and loads add up to what rounding and the solver's tolerance leave.
    ///
    /// # Errors
    /// As [`Problem::assemble`].
    pub fn reactions<B>(&self, device: &B, u: &GridFunction) -> Result<Vec<Reaction>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        device.enter(|| self.find_reactions(device, u))
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
        let dirichlet = self.dirichlet.iter().map(|part| &part.tag);
        let groups = dirichlet.chain(self.along_normal.iter().map(|part| &part.tag));
        let mut reactions: Vec<Reaction> = Vec::new();
        for tag in groups {
            // A group may have conditions for each of its components.
            if reactions.iter().any(|known| known.tag == *tag) {
                continue;
            }
            let mut sum = vec![0.0; self.form.components()];
            for Block { space, .. } in &u.blocks {
                for node in space.boundary_nodes(tag)? {
                    for (component, sum) in sum.iter_mut().enumerate() {
                        let force = &mut rest[space.entry(node.node as usize, component)];
                        *sum += std::mem::take(force);
                    }
                }
            }
            let tag = tag.clone();
            reactions.push(Reaction { tag, sum });
        }
        Ok(reactions)
    }
}
