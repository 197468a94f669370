//! Groups of cells: their tags, and values given by group.

use super::ProblemError;
use femto_fem::geometry::shapes;
use femto_fem::mesh::Mesh;

/// The dimension of a mesh: the highest of its cells, which carry the unknowns.
pub fn dimension(mesh: &Mesh) -> usize {
    let dimensions = mesh.blocks.iter().filter(|block| !block.is_empty());
    let dimensions = dimensions.map(|block| block.cell_type.dimension());
    dimensions.max().unwrap_or(0)
}

/// The physical group number of every cell that carries unknowns, `[mesh cell]`; 0 for none.
pub fn cell_tags(mesh: &Mesh) -> Vec<i32> {
    let shapes = shapes(mesh).into_iter();
    let blocks = shapes.flat_map(|(_, blocks)| blocks);
    blocks.flat_map(|block| &block.tags).copied().collect()
}

/// The values of a coefficient that is given by group of cells (name or number), `[mesh cell]`.
///
/// # Errors
/// A group that is not there, a cell in none of the groups.
pub fn by_group(mesh: &Mesh, values: &[(&str, f64)]) -> Result<Vec<f64>, ProblemError> {
    let dimension = dimension(mesh);
    let numbered = values
        .iter()
        .map(|&(tag, value)| Ok((mesh.group(dimension, tag)?, value)))
        .collect::<Result<Vec<_>, ProblemError>>()?;
    let value_of = |tag: &i32| numbered.iter().find(|(number, _)| number == tag);
    let tags = cell_tags(mesh);
    let mut without = tags
        .iter()
        .enumerate()
        .filter(|(_, tag)| value_of(tag).is_none());
    if let Some((first, &tag)) = without.next() {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        return Err(ProblemError::NoValue {
            count: 1 + without.count(),
            cells: tags.len(),
            groups: names.join(", "),
            first,
            tag,
        });
    }
    Ok(tags
        .iter()
        .filter_map(value_of)
        .map(|&(_, value)| value)
        .collect())
}
