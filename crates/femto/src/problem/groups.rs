//! Groups of cells: their tags, and values and sources given by group.

use super::function::Role;
use super::integral::Integral;
use super::{Discretization, GroupSource, ProblemError};
use crate::operator::{Auxiliary, Backend};
use crate::vector::{Entries, VectorOps};
use femto_fem::geometry::cells_of;
use femto_fem::mesh::{Mesh, PhysicalGroup};
use femto_fem::space::Block;
use femto_platform::device::Buffer;

/// The physical group of every cell that carries unknowns, `[mesh cell]`: the first of several; 0 for none.
pub fn cell_tags(mesh: &Mesh) -> Vec<i32> {
    let cells = cells_of(mesh);
    cells.map(|(block, cell)| mesh.tag(block, cell)).collect()
}

impl Discretization<'_> {
    /// Adds ∫ φ f over the cells of a group of the mesh to the L-vector `b`.
    pub(super) fn add_group_source<B>(
        &self,
        device: &B,
        mesh: &Mesh,
        part: &GroupSource<'_>,
        b: &mut B::Buffer<f64>,
    ) -> Result<(), ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        self.check_components(part.value.len())?;
        let group = mesh.group(mesh.dimension(), &part.tag)?;
        let is_own = |(block, cell)| mesh.groups_of(block, cell).any(|own| own == group);
        let within: Vec<bool> = cells_of(mesh).map(is_own).collect();
        let scalar: Vec<Block> = self.blocks.iter().map(Block::scalar).collect();
        let on = self.with_rule();
        let (components, dofs) = (part.value.len(), b.len());
        let role = Role::GroupSource(part.tag.clone());
        for (component, &f) in part.value.iter().enumerate() {
            let values = match f.as_constant() {
                Some(0.0) => continue,
                Some(value) => {
                    let of_cell = |&is_own: &bool| if is_own { value } else { 0.0 };
                    Auxiliary::PerCell(within.iter().map(of_cell).collect())
                }
                None => Auxiliary::AtPoints(on.at_points_within(
                    &role.of(component),
                    f,
                    Some(&within),
                )?),
            };
            let load = Integral::of_values(&on, &scalar, values).vector(device)?;
            let entries: Vec<u32> = (component as u32..dofs as u32)
                .step_by(components)
                .collect();
            device.add_to_entries(&load, &Entries::new(device, &entries)?, b)?;
        }
        Ok(())
    }
}

/// The values of a coefficient given by groups of cells (name or number), `[mesh cell]`.
///
/// # Errors
/// An unknown group, or a cell in none or two of the groups.
pub fn by_group(mesh: &Mesh, values: &[(&str, f64)]) -> Result<Vec<f64>, ProblemError> {
    let dimension = mesh.dimension();
    let numbered = values
        .iter()
        .map(|&(name, value)| Ok((mesh.group(dimension, name)?, name, value)))
        .collect::<Result<Vec<_>, ProblemError>>()?;
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for (number, (block, cell)) in cells_of(mesh).enumerate() {
        let with_value = |group| numbered.iter().filter(move |(other, ..)| *other == group);
        let mut own = mesh.groups_of(block, cell).flat_map(with_value);
        match (own.next(), own.next()) {
            (None, _) => without.push((number, mesh.tag(block, cell))),
            (Some(&(_, _, value)), None) => found.push(value),
            (Some((_, first, _)), Some((_, second, _))) => {
                return Err(ProblemError::TwoValues {
                    groups: [first.to_string(), second.to_string()],
                    cell: number,
                    tag: mesh.tag(block, cell),
                });
            }
        }
    }
    match without.first() {
        None => Ok(found),
        Some(&(first, tag)) => Err(ProblemError::NoValue {
            count: without.len(),
            cells: found.len() + without.len(),
            groups: values.iter().map(|(name, _)| name.to_string()).collect(),
            first,
            group: {
                let mut groups = mesh.groups.iter();
                let is_own = |it: &&PhysicalGroup| (it.dimension, it.number) == (dimension, tag);
                let found = groups.find(is_own).map(ToString::to_string);
                found.unwrap_or_else(|| format!("number {tag}"))
            },
        }),
    }
}
