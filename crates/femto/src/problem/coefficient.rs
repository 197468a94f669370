//! Coefficients that are constant in each cell.

use super::ProblemError;
use femto_fem::mesh::{CellBlock, CellFamily, Mesh};

/// The hexahedra's blocks, whose cells make the mesh cell numbers.
fn hexahedra(mesh: &Mesh) -> impl Iterator<Item = &CellBlock> {
    let is_hexahedron = |b: &&CellBlock| b.cell_type.family() == CellFamily::Hexahedron;
    mesh.blocks.iter().filter(is_hexahedron)
}

/// The physical group number of every hexahedron, `[mesh cell]`; 0 for none.
pub fn cell_tags(mesh: &Mesh) -> Vec<i32> {
    hexahedra(mesh)
        .flat_map(|block| block.tags.iter().copied())
        .collect()
}

/// The values of a coefficient that is given by volume group (name or number), `[mesh cell]`.
///
/// # Errors
/// A group that is not there, a cell in none of the groups.
pub fn by_group(mesh: &Mesh, values: &[(&str, f64)]) -> Result<Vec<f64>, ProblemError> {
    let numbered = values
        .iter()
        .map(|&(tag, value)| Ok((mesh.group(3, tag)?, value)))
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
