//! Reactions where the solution is given.

use super::integral::Integral;
use super::{Discretization, GridFunction, Problem, ProblemError};
use crate::operator::Backend;
use crate::vector::{VectorOps, download_f64};
use crate::{AnyDevice, DataLevel, OperatorParams};
use femto_fem::space::{Block, Constraints, SAME_DIRECTION};
use femto_platform::device::{Buffer, check_len};
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

/// A direction in which a group holds a node of the space.
#[derive(Clone, Copy)]
struct Held {
    node: usize,
    /// Its number among the reactions.
    group: usize,
    direction: Direction,
}

/// A unit vector.
#[derive(Clone, Copy)]
enum Direction {
    Component(usize),
    Normal([f64; 3]),
}

impl Direction {
    fn dot(&self, vector: &[f64]) -> f64 {
        match self {
            Self::Component(component) => vector[*component],
            Self::Normal(normal) => normal.iter().zip(vector).map(|(n, x)| n * x).sum(),
        }
    }

    fn add(&self, part: f64, vector: &mut [f64]) {
        match self {
            Self::Component(component) => vector[*component] += part,
            Self::Normal(normal) => {
                vector
                    .iter_mut()
                    .zip(normal)
                    .for_each(|(x, n)| *x += part * n);
            }
        }
    }
}

/// What groups hold at a node, with one direction for those that hold the same: a component, or the first normal.
fn distinct(of_node: &[Held]) -> Vec<Held> {
    let is_component = |held: &&Held| matches!(held.direction, Direction::Component(_));
    let mut found: Vec<Held> = Vec::new();
    for held in of_node {
        let direction = match held.direction {
            Direction::Normal(normal) => {
                let components = of_node.iter().filter(is_component);
                let mut others = components.chain(&found).map(|other| other.direction);
                let same = others.find(|other| other.dot(&normal).abs() > SAME_DIRECTION);
                same.unwrap_or(held.direction)
            }
            component => component,
        };
        found.push(Held { direction, ..*held });
    }
    found
}

/// The smallest parts along these directions whose sum is closest to a vector, by conjugate gradients (CGLS; Björck,
/// Numerical Methods for Least Squares Problems, 1996, algorithm 7.4.1).
fn parts_along(held: &[Held], mut vector: Vec<f64>) -> Vec<f64> {
    let dots = |vector: &[f64]| -> Vec<f64> {
        held.iter().map(|held| held.direction.dot(vector)).collect()
    };
    let square = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>();
    let mut parts = vec![0.0; held.len()];
    let mut step = dots(&vector);
    let first = square(&step);
    let mut slope = first;
    for _ in held {
        if slope <= f64::EPSILON.powi(2) * first {
            break;
        }
        let mut sum = vec![0.0; vector.len()];
        held.iter()
            .zip(&step)
            .for_each(|(held, part)| held.direction.add(*part, &mut sum));
        let length = slope / square(&sum);
        parts
            .iter_mut()
            .zip(&step)
            .for_each(|(part, own)| *part += length * own);
        vector
            .iter_mut()
            .zip(&sum)
            .for_each(|(x, own)| *x -= length * own);
        let left = dots(&vector);
        let before = std::mem::replace(&mut slope, square(&left));
        step.iter_mut()
            .zip(left)
            .for_each(|(own, left)| *own = left + slope / before * *own);
    }
    parts
}

impl Problem<'_> {
    /// The reactions of each group with a Dirichlet condition, in the order of `dirichlet`, then of `along_normal`.
    ///
    /// They are A(u) - b at the nodes of the group, with the loads b, in the components that it gives or along its
    /// normal. At a node of several groups each has what its facets get of the [flux](Problem::flux) in these directions,
    /// and of what is missing of the whole the smallest parts. So if the form is zero for constants, reactions and loads
    /// add up to what rounding and the solver's tolerance leave.
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
        on.check()?;
        check_len("the solution", u.values.len(), on.space().dofs())?;
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
        let tags = self.dirichlet.iter().map(|part| &part.tag);
        let tags = tags.chain(self.along_normal.iter().map(|part| &part.tag));
        let mut reactions: Vec<Reaction> = Vec::new();
        for tag in tags {
            // A group may have conditions for each of its components.
            if reactions.iter().all(|known| known.tag != *tag) {
                let (tag, sum) = (tag.clone(), vec![0.0; components]);
                reactions.push(Reaction { tag, sum });
            }
        }
        let held = self.held(&reactions, &u.blocks, &constraints)?;
        let fluxes = self.fluxes_into(&reactions, &held, (device, on), u)?;
        let space = &u.blocks[0].space;
        for of_node in held.chunk_by(|a, b| a.node == b.node) {
            let of_node = &distinct(of_node)[..];
            let entries = (0..components).map(|c| space.entry(of_node[0].node, c));
            let entries: Vec<usize> = entries.collect();
            let mut left: Vec<f64> = entries.iter().map(|&entry| rest[entry]).collect();
            let mut add = |held: &Held, part: f64, left: &mut [f64]| {
                held.direction.add(-part, left);
                held.direction.add(part, &mut reactions[held.group].sum);
            };
            for of_group in of_node.chunk_by(|a, b| a.group == b.group) {
                let flux = |entry: &usize| fluxes.get(&(*entry, of_group[0].group)).copied();
                let flux = entries.iter().map(|entry| flux(entry).unwrap_or(0.0));
                let parts = parts_along(of_group, flux.collect());
                for (held, part) in of_group.iter().zip(parts) {
                    add(held, part, &mut left);
                }
            }
            let parts = parts_along(of_node, left.clone());
            for (held, part) in of_node.iter().zip(parts) {
                add(held, part, &mut left);
            }
        }
        Ok(reactions)
    }

    /// What groups hold, ascending by node and group.
    fn held(
        &self,
        reactions: &[Reaction],
        blocks: &[Block],
        constraints: &Constraints,
    ) -> Result<Vec<Held>, ProblemError> {
        let components = self.form.components();
        let group_of = |tag: &String| reactions.iter().position(|known| known.tag == *tag);
        let mut entries = Vec::new();
        for part in &self.dirichlet {
            let functions = part.value.of_components(components)?;
            let given = || (0..components).filter(|component| functions[*component].is_some());
            if let Some(group) = group_of(&part.tag) {
                for Block { space, .. } in blocks {
                    for node in space.boundary_nodes(&part.tag)? {
                        entries.extend(given().map(|c| (node.node as usize, group, c)));
                    }
                }
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let components = entries.into_iter().map(|(node, group, component)| Held {
            node,
            group,
            direction: Direction::Component(component),
        });
        let normals = constraints.normals().iter().filter_map(|plane| {
            Some(Held {
                node: plane.node as usize,
                group: group_of(&self.along_normal[plane.group as usize].tag)?,
                direction: Direction::Normal(plane.normal),
            })
        });
        let mut held: Vec<Held> = components.chain(normals).collect();
        held.sort_by_key(|held| (held.node, held.group));
        Ok(held)
    }

    /// What the facets of a group get of the flux, apart from what is given there, by entry and number of the group in
    /// `reactions`, at nodes where several groups hold something.
    fn fluxes_into<B>(
        &self,
        reactions: &[Reaction],
        held: &[Held],
        (device, on): (&B, Discretization<'_>),
        u: &GridFunction,
    ) -> Result<HashMap<(usize, usize), f64>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let components = self.form.components();
        let nodes = held.chunk_by(|a, b| a.node == b.node);
        let is_shared = |of_node: &&[Held]| of_node.iter().any(|it| it.group != of_node[0].group);
        let of_space = &u.blocks[0].space;
        let shared = nodes.filter(is_shared).flatten().flat_map(|held| {
            (0..components).map(|c| ((of_space.entry(held.node, c), held.group), 0.0))
        });
        let mut fluxes: HashMap<(usize, usize), f64> = shared.collect();
        if fluxes.is_empty() {
            return Ok(fluxes);
        }
        let on = self.loads_on(on);
        let flux = self.project_flux(device, u)?;
        let solution = device.upload(&u.values)?;
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
            // Apart from what is given there.
            let within = Some(&reaction.tag[..]);
            let facets = self.on_facets_of(&on, within)?;
            let mut given = device.zeros(u.values.len())?;
            self.add_fluxes(device, (on, within), &facets, &mut given)?;
            let mut terms = device.zeros(u.values.len())?;
            for term in &facets {
                term.add_product(device, &solution, &mut terms)?;
            }
            device.axpy(-1.0, &given, &mut terms)?;
            let terms = download_f64(device, &terms)?;
            for (&(entry, _), flux) in fluxes.iter_mut().filter(|it| it.0.1 == group) {
                *flux += terms[entry];
            }
        }
        Ok(fluxes)
    }
}
