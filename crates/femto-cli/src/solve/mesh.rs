//! The mesh of a case.

use super::needs;
use crate::case::{BoxSource, Case, CaseError, Located, MeshSource, MistakeKind};
use crate::failure::Failure;
use femto::fem::geometry::cells_of;
use femto::fem::mesh::{Mesh, MeshError, gmsh};
use femto::fem::space::Block;
use femto::platform::device::DeviceKind;
use std::ops::Range;

/// The mesh with the periodic sides of the case, and the number of its cells that were turned.
pub(super) fn read(case: &Case, kind: DeviceKind) -> Result<(Mesh, usize), Failure> {
    let at = |place: &Range<usize>, error| {
        case.document
            .mistake(place.clone(), MistakeKind::Mesh(error))
    };
    let of_case = |error| at(&case.places.mesh, error);
    let of_layers = |error| at(&case.places.extrude, error);
    let (mut mesh, turned) = match &case.mesh {
        MeshSource::File(path) => {
            let mut mesh = match Mesh::read(path) {
                Err(error @ MeshError::Io { .. }) => return Err(of_case(error).into()),
                // Other errors have a position in the file.
                read => read?,
            };
            let turned = match case.extrude {
                Some(_) => {
                    needs::check_plane(case, kind, &mesh)?;
                    mesh.turn_clockwise()
                }
                None => mesh.turn_left_handed(),
            };
            (mesh, turned)
        }
        MeshSource::Box(source) => {
            let mut mesh = source.build().map_err(of_case)?;
            let turned = mesh.turn_left_handed();
            (mesh, turned)
        }
    };
    if case.periodic.is_some() {
        mesh.periodic.clear();
    }
    if let Some(extrude) = &case.extrude {
        mesh = extrude.of(&mesh).map_err(of_layers)?;
    }
    let Some(periodic) = &case.periodic else {
        return Ok((mesh, turned));
    };
    match &case.mesh {
        // A deformed box is periodic where the undeformed box was.
        MeshSource::Box(source) if source.deformation.is_some() && !periodic.is_empty() => {
            let mut straight = source.mesh.build(|x| x)?;
            if let Some(extrude) = &case.extrude {
                straight = extrude.of(&straight).map_err(of_layers)?;
            }
            join_sides(case, &mut straight, periodic)?;
            mesh.periodic = straight.periodic;
            if let Some(number) = mesh.unlike_sides() {
                let [first, second] = periodic[number].value.clone();
                let problem = MistakeKind::Mesh(MeshError::NoSides {
                    first,
                    second,
                    why: "they are deformed differently",
                });
                let place = periodic[number].span.clone();
                return Err(case.document.mistake(place, problem).into());
            }
        }
        _ => join_sides(case, &mut mesh, periodic)?,
    }
    Ok((mesh, turned))
}

/// Joins periodic sides of the mesh.
fn join_sides(
    case: &Case,
    mesh: &mut Mesh,
    periodic: &[Located<[String; 2]>],
) -> Result<(), CaseError> {
    for pair in periodic {
        let [first, second] = &pair.value;
        let joined = mesh.join_sides(first, second);
        joined.map_err(|error| {
            let problem = MistakeKind::Mesh(error);
            case.document.mistake(pair.span.clone(), problem)
        })?;
    }
    Ok(())
}

/// The mesh file's own numbers for these mesh cells, as the rest of a sentence; empty for a box.
pub(crate) fn in_file(source: &MeshSource, cells: &[usize]) -> String {
    match numbers_in_file(source, cells).as_deref() {
        None | Some([]) => String::new(),
        Some([number]) => format!("; in `{source}` it is element {number}"),
        Some(numbers) => format!("; in `{source}` they are elements {numbers:?}"),
    }
}

/// The numbers of these mesh cells in the case's own file; `None` if the mesh is not that file's.
pub(super) fn numbers_in_case(case: &Case, cells: &[usize]) -> Option<Vec<u64>> {
    match case.extrude {
        None => numbers_in_file(&case.mesh, cells),
        Some(_) => None,
    }
}

/// As [`in_file`], for the mesh of a case.
pub(super) fn in_case(case: &Case, cells: &[usize]) -> String {
    match case.extrude {
        None => in_file(&case.mesh, cells),
        Some(_) => String::new(),
    }
}

/// The mesh file's own numbers for these mesh cells.
fn numbers_in_file(source: &MeshSource, cells: &[usize]) -> Option<Vec<u64>> {
    let MeshSource::File(path) = source else {
        return None;
    };
    // The file is read again: only errors need the numbers.
    let bytes = std::fs::read(path).ok().filter(|_| !cells.is_empty())?;
    let name = path.display().to_string();
    let (mesh, numbers) = gmsh::parse_numbered(&bytes, &name).ok()?;
    let places: Vec<(usize, usize)> = cells_of(&mesh).collect();
    let number = |&cell: &usize| {
        let &(block, place) = places.get(cell)?;
        numbers.get(block)?.get(place).copied()
    };
    cells.iter().map(number).collect()
}

/// A note about turned cells.
pub(crate) fn turned(cells: usize) -> Option<String> {
    match cells {
        0 => None,
        1 => Some("1 cell was clockwise or left-handed, and has been turned".to_owned()),
        cells => Some(format!(
            "{cells} cells were clockwise or left-handed, and have been turned"
        )),
    }
}

/// Notes about cells that touch without being joined.
pub(crate) fn unjoined(blocks: &[Block]) -> Vec<String> {
    let Some(Block { space, geometry }) = blocks.first() else {
        return Vec::new();
    };
    let at = |node: u32| geometry.coordinates().at(node as usize);
    let found = space.unjoined();
    let hanging = found.hanging.first().map(|&node| {
        format!(
            "{} of the mesh's nodes on the boundary, the first at {:?}, are in the middle of an edge or a face of another \
             cell: cells are only joined by common nodes (there are no hanging nodes), so the solution may jump there",
            found.hanging.len(),
            at(node)
        )
    });
    let coincident = found.coincident.first().map(|&[node, _]| {
        format!(
            "{} pairs of the mesh's nodes on the boundary, the first at {:?}, are at the same place: cells there are not \
             joined (a crack, or parts that were not merged)",
            found.coincident.len(),
            at(node)
        )
    });
    hanging.into_iter().chain(coincident).collect()
}

impl BoxSource {
    /// Generates the mesh.
    ///
    /// # Errors
    /// Corners that do not span a volume, or too many cells.
    pub fn build(&self) -> Result<Mesh, MeshError> {
        let map = self.deformation.as_ref();
        self.mesh.build(|x| map.map_or(x, |map| map.of(x)))
    }
}
