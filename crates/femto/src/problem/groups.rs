//! Groups of cells: their tags, and values given by group.

use super::ProblemError;
use femto_fem::geometry::cells_of;
use femto_fem::mesh::{Mesh, PhysicalGroup};

/// The physical group of every cell that carries unknowns, `[mesh cell]`: the first of several; 0 for none.
pub fn cell_tags(mesh: &Mesh) -> Vec<i32> {
    let cells = cells_of(mesh);
    cells.map(|(block, cell)| mesh.tag(block, cell)).collect()
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
