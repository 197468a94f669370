//! The minimum memory of a case or of a mesh, checked before anything large is allocated.

use crate::case::{Case, Extrusion, Form, MeshSource, MistakeKind};
use crate::failure::Failure;
use femto::Host;
use femto::element::{Cell, Degree};
use femto::fem::geometry::shapes;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::AnyBox;
use femto::kernel::scalar::Precision;
use femto::platform::device::{Device, DeviceKind};

/// Sizes of a problem, as floating-point numbers because they may exceed all integers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sizes {
    /// Nodes of the mesh.
    nodes: f64,
    /// Its cells of the highest dimension.
    cells: f64,
    /// The mesh in bytes.
    mesh: f64,
    /// Nodes over all elements, with each element's interior nodes counted as one; in columns of prisms over the lowest of
    /// each, and the places of all.
    element_nodes: f64,
    /// Nodes of the space.
    space_nodes: f64,
}

impl Sizes {
    /// Those of layers over a plane mesh, whose columns are not listed: of nodes only heights, of cells only tags and places
    /// in the order of elements. `degree` is that upwards.
    fn extruded(self, layers: f64, degree: usize) -> Self {
        Self {
            nodes: layers * self.nodes,
            cells: layers * self.cells,
            mesh: layers * (8.0 * self.nodes + 4.0 * self.cells),
            element_nodes: self.element_nodes + layers * self.cells,
            space_nodes: layers * degree as f64 * self.space_nodes,
        }
    }
}

/// Fails if a box needs more memory than the process may use.
pub(super) fn check_box(case: &Case, kind: DeviceKind) -> Result<(), Failure> {
    match &case.mesh {
        MeshSource::File(_) => Ok(()),
        MeshSource::Box(source) => {
            let mesh = &source.mesh;
            let order = mesh.geometry_degree;
            let sizes = of_box(mesh.cell, (&mesh.cells, order), plane_degree(case));
            check(case, kind, in_layers(case, sizes))
        }
    }
}

/// The sizes of what the case makes of a mesh that is read or generated.
fn in_layers(case: &Case, sizes: Sizes) -> Sizes {
    let layers = case.extrude.as_ref().map(Extrusion::layers);
    layers.map_or(sizes, |layers| {
        sizes.extruded(layers as f64, case.degree.vertical)
    })
}

/// The degree on the mesh that a case reads or generates, which it may extrude.
fn plane_degree(case: &Case) -> Degree {
    match case.extrude {
        Some(_) => case.degree.horizontal.into(),
        None => case.degree,
    }
}

/// As [`check_box`], for a mesh that was read, before the case extrudes it.
pub(super) fn check_plane(case: &Case, kind: DeviceKind, mesh: &Mesh) -> Result<(), Failure> {
    check(
        case,
        kind,
        in_layers(case, of_mesh(mesh, plane_degree(case))),
    )
}

/// As [`check_box`], for the space on the whole mesh.
pub(super) fn check_mesh(case: &Case, kind: DeviceKind, mesh: &Mesh) -> Result<(), Failure> {
    check(case, kind, of_mesh(mesh, case.degree))
}

fn of_mesh(mesh: &Mesh, degree: Degree) -> Sizes {
    let mut sizes = Sizes {
        nodes: mesh.coordinates.len() as f64,
        cells: 0.0,
        mesh: mesh.coordinates.bytes() as f64,
        element_nodes: 0.0,
        space_nodes: 0.0,
    };
    for (cell, blocks) in shapes(mesh) {
        for block in blocks {
            let (cells, block) = (mesh.blocks[block].len() as f64, &mesh.blocks[block]);
            sizes.cells += cells;
            sizes.mesh += block.nodes.bytes() as f64 + 4.0 * cells;
            let shell = shell_nodes(cell, degree);
            let columns = Some(&block.nodes).filter(|_| !cell.lines().is_empty());
            sizes.element_nodes += match columns.and_then(|nodes| nodes.layers()) {
                None => cells * shell,
                Some(layers) => cells * (1.0 + shell / layers as f64),
            };
            // Without the boundary; a square makes two triangles, a cube six tetrahedra.
            let steps = cell.steps(degree).into_iter().take(cell.dim());
            let of_cell: f64 = steps.map(|steps| steps as f64).product();
            sizes.space_nodes += cells * of_cell / cell.per_box() as f64;
        }
    }
    sizes
}

fn check(case: &Case, kind: DeviceKind, sizes: Sizes) -> Result<(), Failure> {
    let needed = bytes(sizes, components(case), (kind, case.run.precision));
    match less_than(needed)? {
        Some(allowed) => {
            let problem = MistakeKind::Memory {
                needed: needed * 1e-9,
                allowed: allowed * 1e-9,
            };
            let place = case.places.mesh.clone();
            Err(case.document.mistake(place, problem).into())
        }
        None => Ok(()),
    }
}

/// Fails if a mesh of boxes alone needs more memory than the process may use.
pub(crate) fn check_mesh_of_boxes(mesh: &AnyBox) -> Result<(), Failure> {
    let order = mesh.geometry_degree;
    check_alone(of_box(mesh.cell, (&mesh.cells, order), 1.into()))
}

/// The same for layers over the cells of a mesh.
pub(crate) fn check_mesh_of_layers(plane: &Mesh, layers: u32) -> Result<(), Failure> {
    check_alone(of_mesh(plane, 1.into()).extruded(f64::from(layers), 1))
}

fn check_alone(sizes: Sizes) -> Result<(), Failure> {
    let needed = sizes.mesh;
    match less_than(needed)? {
        Some(allowed) => Err(Failure::Memory {
            needed: needed * 1e-9,
            allowed: allowed * 1e-9,
        }),
        None => Ok(()),
    }
}

/// The bytes that the process may use, if they are fewer than these.
fn less_than(needed: f64) -> Result<Option<f64>, Failure> {
    let allowed = Host::with_threads(1)?.info().memory_bytes;
    Ok(allowed.map(|it| it as f64).filter(|&it| needed > it))
}

/// Sizes for boxes or rectangles, whose spaces have a grid of nodes.
fn of_box(cell: Cell, (along, order): (&[usize], usize), degree: Degree) -> Sizes {
    let along = || along.iter().map(|&n| n as f64);
    let grid = |order: Degree| -> f64 {
        let steps = along().zip(cell.steps(order));
        steps.map(|(n, steps)| n * steps as f64 + 1.0).product()
    };
    let cells = along().product::<f64>() * cell.per_box() as f64;
    let nodes = grid(order.into());
    Sizes {
        nodes,
        cells,
        mesh: 24.0 * nodes + 4.0 * cells * (cell.lattice(order).len() + 1) as f64,
        element_nodes: cells * shell_nodes(cell, degree),
        space_nodes: grid(degree),
    }
}

/// Nodes on the boundary of an element, which are listed, and one number for those inside.
fn shell_nodes(cell: Cell, degree: Degree) -> f64 {
    (cell.lattice(degree).len() - cell.interior(degree).len() + 1) as f64
}

/// Bytes on the host: the mesh, the space, vectors.
fn bytes(sizes: Sizes, components: usize, (kind, precision): (DeviceKind, Precision)) -> f64 {
    let real = precision.bytes() as f64;
    // The reported solution, and the right-hand side; on the host also the solver's vectors.
    let numbers = match kind {
        DeviceKind::Host => 8.0 + 6.0 * real,
        _ => 2.0 * 8.0,
    };
    let unknowns = sizes.space_nodes * components as f64;
    sizes.mesh + 4.0 * sizes.element_nodes + numbers * unknowns
}

/// Minimum number of components of the solution.
fn components(case: &Case) -> usize {
    match &case.form {
        Form::Elasticity(_) | Form::NeoHookean(_) => 2,
        Form::Text(source) => source.components.value,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_as_large_as_they_are() {
        let sizes = of_box(Cell::Hexahedron, (&[2, 3, 4], 2), 3.into());
        assert_eq!(
            sizes,
            Sizes {
                nodes: 5.0 * 7.0 * 9.0,
                cells: 24.0,
                mesh: 24.0 * (5.0 * 7.0 * 9.0) + 4.0 * 24.0 * 28.0,
                element_nodes: 24.0 * 57.0,
                space_nodes: 7.0 * 10.0 * 13.0,
            }
        );
        let sizes = of_box(Cell::Triangle, (&[5, 2], 1), 2.into());
        assert_eq!((sizes.nodes, sizes.mesh), (18.0, 24.0 * 18.0 + 4.0 * 80.0));
        assert_eq!(
            sizes.extruded(10.0, 1).mesh,
            10.0 * (8.0 * 18.0 + 4.0 * 20.0)
        );
        assert_eq!((sizes.element_nodes, sizes.space_nodes), (20.0 * 7.0, 55.0));
    }

    #[test]
    fn a_large_box_needs_much() {
        let sizes = of_box(Cell::Hexahedron, (&[1, 1, 100_000_000], 1), 1.into());
        let needed = bytes(sizes, 1, (DeviceKind::Host, Precision::Fp64));
        assert!(needed > 39e9, "{needed}");
    }
}
