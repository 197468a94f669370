//! Given values where L-vectors are constrained.

use super::function::Role;
use super::{Discretization, Function, FunctionName, Problem, ProblemError};
use crate::Number;
use crate::vector::{Projector, VectorOps, upload_f64};
use femto_fem::space::{Block, BoundaryNode, Constraints, NodeNormal, SpaceError};

/// Values at a node of periodic sides that differ by more than this part of the largest are not rounding.
const DIFFERENT: f64 = 1e-6;

/// A place between the sides of a period where a function that is zero on both need not be zero.
const BETWEEN: f64 = 0.382;

/// Given values where L-vectors are constrained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundaryValues {
    /// Of the constrained entries, `[entry]`.
    pub entries: Vec<f64>,
    /// Of nodes with slanted directions: vectors without a part that is free, and zero at constrained entries,
    /// `[node][component]`.
    pub slanted: Vec<f64>,
}

impl BoundaryValues {
    /// Whether all are zero.
    pub fn are_zero(&self) -> bool {
        let mut all = self.entries.iter().chain(&self.slanted);
        all.all(|&value| value == 0.0)
    }

    /// For each component, the middle of the values given at its entries; 0 without any.
    pub(super) fn middles(&self, constraints: &Constraints, components: usize) -> Vec<f64> {
        let mut ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; components];
        for (&entry, &value) in constraints.entries().iter().zip(&self.entries) {
            let [low, high] = &mut ranges[entry as usize % components];
            (*low, *high) = (low.min(value), high.max(value));
        }
        let middle = |[low, high]: [f64; 2]| match low <= high {
            true => 0.5 * low + 0.5 * high,
            false => 0.0,
        };
        ranges.into_iter().map(middle).collect()
    }

    /// Those of the function less a constant for each component. Differences of a few ε are only rounding.
    pub(super) fn less(&self, constraints: &Constraints, constants: &[f64]) -> Self {
        let mut found = self.clone();
        let (entries, count) = (constraints.entries(), constants.len());
        let largest = constants.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let rounded = |rest: f64| match rest.abs() <= 4.0 * f64::EPSILON * largest {
            true => 0.0,
            false => rest,
        };
        for (&entry, value) in entries.iter().zip(&mut found.entries) {
            *value = rounded(*value - constants[entry as usize % count]);
        }
        let vectors = found.slanted.chunks_exact_mut(count);
        for ((node, projector), vector) in constraints.slanted().iter().zip(vectors) {
            for (c, value) in vector.iter_mut().enumerate() {
                if entries.binary_search(&((node * count + c) as u32)).is_err() {
                    let free = projector[c * count..].iter().zip(constants);
                    let held = constants[c] - free.map(|(p, own)| p * own).sum::<f64>();
                    *value = rounded(*value - held);
                }
            }
        }
        found
    }

    /// Gives an L-vector these values where it is constrained.
    pub(super) fn insert(&self, constraints: &Constraints, u: &mut [f64]) {
        constraints.project(u);
        for (&entry, &value) in constraints.entries().iter().zip(&self.entries) {
            u[entry as usize] = value;
        }
        let slanted = constraints.slanted();
        let vectors = self.slanted.chunks_exact(slanted.components.max(1));
        for (&node, vector) in slanted.nodes.iter().zip(vectors) {
            let own = &mut u[node as usize * slanted.components..];
            own.iter_mut().zip(vector).for_each(|(u, part)| *u += part);
        }
    }

    /// Adds them to an L-vector on the device.
    pub(super) fn add<T: Number, D: VectorOps<T>>(
        &self,
        device: &D,
        projector: &Projector<T, D>,
        u: &mut D::Buffer<T>,
    ) -> Result<(), ProblemError> {
        device.add_to_entries(&upload_f64(device, &self.entries)?, &projector.entries, u)?;
        let slanted = &projector.slanted.entries;
        Ok(device.add_to_entries(&upload_f64(device, &self.slanted)?, slanted, u)?)
    }
}

impl Discretization<'_> {
    /// The given values of constraints, by nodal interpolation. An entry takes its value from the first group in the
    /// list `groups` that has a function for its component, or zero if there is none; components along normals
    /// from `along_normal`, which has the groups of [`Constraints::with_normals`].
    ///
    /// # Errors
    /// Blocks that are not all those of one space, a wrong number of functions, an unknown group, or a value that is not finite.
    pub fn boundary_values(
        &self,
        constraints: &Constraints,
        groups: &[(&str, &[Option<&dyn Function>])],
        along_normal: &[(&str, &dyn Function)],
    ) -> Result<BoundaryValues, ProblemError> {
        self.check()?;
        let entries = constraints.entries();
        let mut values = vec![0.0; entries.len()];
        let mut decided = vec![false; entries.len()];
        for (tag, functions) in groups {
            self.check_components(functions.len())?;
            let role = Role::Dirichlet(tag.to_string());
            for Block { space, geometry } in self.blocks {
                let nodes = space.boundary_nodes(tag)?;
                let positions = space.positions_of(&nodes, geometry);
                let on_facets = match space.is_periodic() {
                    true => space.facet_nodes(tag)?,
                    false => Vec::new(),
                };
                let at_facets = space.positions_of(&on_facets, geometry);
                let given = functions.iter().enumerate();
                for (component, f) in given.filter_map(|(c, f)| f.map(|f| (c, f))) {
                    if f.as_constant().is_none() {
                        self.check_period(&role.of(component), f, (&on_facets, &at_facets))?;
                    }
                    // Nodes are ascending, and so are their entries.
                    let (mut next, mut places, mut at) = (0, Vec::new(), Vec::new());
                    for (node, &position) in nodes.iter().zip(&positions) {
                        let entry = space.entry(node.node as usize, component) as u32;
                        while entries.get(next).is_some_and(|&other| other < entry) {
                            next += 1;
                        }
                        let is_held = entries.get(next) == Some(&entry);
                        if is_held && !std::mem::replace(&mut decided[next], true) {
                            places.push(next);
                            at.push(position);
                        }
                    }
                    let found = self.evaluate(&role.of(component), f, &at)?;
                    for (place, value) in places.into_iter().zip(found) {
                        values[place] = value;
                    }
                }
            }
        }
        let mut found = BoundaryValues {
            entries: values,
            slanted: vec![0.0; constraints.slanted().projectors.len() / self.dim()],
        };
        self.along_normals(constraints, along_normal, &mut found)?;
        Ok(found)
    }

    /// Fails if a function has different values at the positions of a node. The places, with their positions, ascend by node.
    fn check_period(
        &self,
        name: &FunctionName,
        f: &dyn Function,
        (places, positions): (&[BoundaryNode], &[[f64; 3]]),
    ) -> Result<(), ProblemError> {
        let values = self.evaluate(name, f, positions)?;
        let largest = values
            .iter()
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        let differ = |&at: &usize| {
            let [from, to] = [positions[at - 1], positions[at]];
            let is_apart =
                |a: usize| (to[a] - from[a]).abs() > DIFFERENT * to[a].abs().max(from[a].abs());
            let is_period = places[at - 1].node == places[at].node && (0..3).any(is_apart);
            let difference = (values[at] - values[at - 1]).abs();
            is_period && difference > DIFFERENT * largest && {
                // All values may be rounding, as where a wave is zero.
                let between = [0, 1, 2].map(|a| from[a] + BETWEEN * (to[a] - from[a]));
                let typical = super::function::values(f, &[between], self.time)[0].abs();
                typical.is_nan() || difference > DIFFERENT * typical
            }
        };
        match (1..places.len()).find(differ) {
            None => Ok(()),
            Some(at) => Err(ProblemError::NotPeriodic {
                function: name.clone(),
                positions: [positions[at - 1], positions[at]],
                values: [values[at - 1], values[at]],
            }),
        }
    }

    /// The values of [`Self::boundary_values`] that come from normals.
    fn along_normals(
        &self,
        constraints: &Constraints,
        groups: &[(&str, &dyn Function)],
        found: &mut BoundaryValues,
    ) -> Result<(), ProblemError> {
        let normals = constraints.normals();
        let mut values = vec![0.0; normals.len()];
        for (group, &(tag, f)) in (0..).zip(groups) {
            let own = normals.iter().enumerate();
            let own = own.filter(|(_, normal)| normal.group == group);
            let (places, at): (Vec<_>, Vec<_>) = own.map(|(i, it)| (i, it.position)).unzip();
            let name = Role::AlongNormal(tag.to_owned()).of(0);
            for (place, value) in places.into_iter().zip(self.evaluate(&name, f, &at)?) {
                values[place] = value;
            }
        }
        let count = self.space().components();
        let mut slanted = constraints.slanted().nodes.iter().enumerate().peekable();
        let mut left = &values[..];
        for of_node in normals.chunk_by(|a, b| a.node == b.node) {
            let (values, rest) = left.split_at(of_node.len());
            left = rest;
            let node = of_node[0].node as usize;
            let places = [0, 1, 2].map(|c| {
                let entry = (c < count).then_some((node * count + c) as u32)?;
                constraints.entries().binary_search(&entry).ok()
            });
            let is_given = constraints.given_components(node, count);
            let given = [0, 1, 2].map(|c| {
                let place = places[c].filter(|_| is_given[c])?;
                Some(found.entries[place])
            });
            let vector = NodeNormal::vector(of_node, values, given);
            let place = slanted.next_if(|(_, other)| **other as usize == node);
            for (c, &value) in vector.iter().enumerate().take(count) {
                match (places[c], place) {
                    (Some(place), _) => found.entries[place] = value,
                    (None, Some((place, _))) => found.slanted[place * count + c] = value,
                    (None, None) => (),
                }
            }
        }
        Ok(())
    }
}

impl Problem<'_> {
    /// The entries of L-vectors, and the directions at nodes, that are given.
    pub(super) fn constraints(&self, blocks: &[Block]) -> Result<Constraints, ProblemError> {
        let components = self.form.components();
        let mut groups = Vec::new();
        for part in &self.dirichlet {
            let functions = part.value.of_components(components)?;
            let given = |&component: &usize| functions[component].is_some();
            let held: Vec<usize> = (0..components).filter(given).collect();
            groups.push((&part.tag[..], held));
        }
        let normal = self.along_normal.iter().map(|part| &part.tag[..]);
        let normal: Vec<&str> = normal.collect();
        let is_given = |tag: &str, component: usize| {
            let mut groups = groups.iter();
            groups.any(|(other, held)| *other == tag && held.contains(&component))
        };
        let mut all = normal.iter();
        if let Some(&tag) = all.find(|&&tag| (0..components).all(|it| is_given(tag, it))) {
            let (tag, why) = (tag.to_owned(), "so are all components".to_owned());
            return Err(SpaceError::NoNormal { tag, why }.into());
        }
        let constraints = Constraints::of_blocks(blocks, &groups)?;
        Ok(constraints.with_normals(blocks, &normal)?)
    }
}
