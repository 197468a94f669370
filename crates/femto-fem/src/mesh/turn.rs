//! Turning cells whose nodes are numbered in the opposite orientation.

use super::ordering::bounding_box;
use super::{CellBlock, Coordinates, Mesh};
use crate::geometry::OFF_PLANE;
use crate::parallel;
use femto_element::Cell;

impl Mesh {
    /// Turns clockwise triangles and quadrilaterals of a mesh in the plane, and left-handed solids: their nodes are
    /// renumbered as in a mirror, so that the map has a positive Jacobian. Returns the number of cells turned.
    ///
    /// Only cells whose Jacobian is negative at all vertices are turned. Cells whose Jacobian changes sign,
    /// and surfaces in space, are left alone.
    pub fn turn_left_handed(&mut self) -> usize {
        let is_flat = || {
            let plane = self
                .blocks
                .iter()
                .filter(|it| it.cell_type.dimension() == 2);
            let nodes = plane.flat_map(|block| block.nodes.all());
            let at = nodes.filter_map(|node| self.coordinates.get(node as usize));
            let (lower, upper) = bounding_box(&at.collect::<Vec<_>>());
            let [x, y, z] = [0, 1, 2].map(|axis| upper[axis] - lower[axis]);
            z <= OFF_PLANE * x.max(y)
        };
        match self.dimension() {
            2 if !is_flat() => 0,
            dim @ 2..=3 => self.turn_cells(dim),
            _ => 0,
        }
    }

    /// Turns triangles and quadrilaterals that are clockwise as seen from above, as [`Self::turn_left_handed`] does, also
    /// those of surfaces. Returns the number of cells turned.
    pub fn turn_clockwise(&mut self) -> usize {
        match self.dimension() {
            2 => self.turn_cells(2),
            _ => 0,
        }
    }

    fn turn_cells(&mut self, dim: usize) -> usize {
        let own = self.blocks.iter_mut();
        let own = own.filter(|block| block.cell_type.dimension() == dim);
        own.map(|block| turn(block, &self.coordinates)).sum()
    }
}

fn turn(block: &mut CellBlock, coordinates: &Coordinates) -> usize {
    let cell = block.cell_type.cell();
    let frames = frames(cell);
    let lattice = block.cell_type.node_lattice();
    let mirrored = |&[i, j, k]: &[usize; 3]| lattice.iter().position(|&other| other == [j, i, k]);
    let Some(mirror) = lattice.iter().map(mirrored).collect::<Option<Vec<usize>>>() else {
        return 0;
    };
    let count = block.cell_type.nodes();
    let is_left_handed = |nodes: &[u32]| {
        let at = |vertex: usize| coordinates.get(nodes[vertex] as usize);
        let mut determinants = frames
            .iter()
            .map(|frame| determinant(cell.dim(), frame, &at));
        !frames.is_empty() && determinants.all(|found| found.is_some_and(|found| found < 0.0))
    };
    // Columns are listed only if there are such cells.
    let is_turned = |cell: usize| usize::from(is_left_handed(&block.cell(cell)));
    let turned = parallel::reduce(block.len(), 0, is_turned, |a, b| a + b);
    if turned > 0 {
        parallel::blocks(block.nodes.to_mut(), count, |_, cells| {
            let mut before = vec![0; count];
            for nodes in cells.chunks_exact_mut(count) {
                if is_left_handed(nodes) {
                    before.copy_from_slice(nodes);
                    for (node, &from) in nodes.iter_mut().zip(&mirror) {
                        *node = before[from];
                    }
                }
            }
        });
    }
    turned
}

/// A vertex, with its neighbour along each axis and the sign of that direction; vertices are in Gmsh's
/// order.
type Frame = (usize, Vec<(usize, f64)>);

/// The vertices at which the Jacobian is checked, those with an edge along every axis: all of tensor products, two of
/// prisms, one of simplices and pyramids.
fn frames(cell: Cell) -> Vec<Frame> {
    let vertices = cell.gmsh_order().vertices;
    let place = |vertex: usize| vertices.iter().position(|&other| other == vertex);
    let position = |vertex: usize| cell.vertex(vertex);
    let frame = |vertex: usize| -> Option<Frame> {
        let own = position(vertex);
        let along = |axis: usize| {
            let differs = |other: &usize| {
                let there = position(*other);
                (0..3).all(|a| (there[a] != own[a]) == (a == axis))
            };
            let neighbour = (0..cell.vertices()).find(differs)?;
            let sign = (position(neighbour)[axis] - own[axis]).signum();
            Some((place(neighbour)?, sign))
        };
        let axes: Option<Vec<_>> = (0..cell.dim()).map(along).collect();
        Some((place(vertex)?, axes?))
    };
    (0..cell.vertices()).filter_map(frame).collect()
}

/// The sign of the Jacobian's determinant at a vertex, times some scale; `None` if a node is missing.
fn determinant(
    dim: usize,
    (vertex, neighbours): &Frame,
    at: &impl Fn(usize) -> Option<[f64; 3]>,
) -> Option<f64> {
    let origin = at(*vertex)?;
    let mut axes = [[0.0; 3], [0.0; 3], [0.0, 0.0, 1.0]];
    for (axis, &(neighbour, sign)) in axes.iter_mut().zip(neighbours).take(dim) {
        let there = at(neighbour)?;
        *axis = [0, 1, 2].map(|a| sign * (there[a] - origin[a]));
    }
    let [[a, b, c], [d, e, f], [g, h, i]] = axes;
    Some(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))
}

#[cfg(test)]
mod tests {
    use crate::geometry::Geometry;
    use crate::mesh::Mesh;
    use crate::mesh::boxes::{BoxMesh, SimplexBox, SolidBox, Solids};

    fn meshes() -> Vec<Mesh> {
        let bent = |[x, y, z]: [f64; 3]| [x + 0.1 * y * z, y, z + 0.05 * x];
        let curved = |[x, y]: [f64; 2]| [x + 0.1 * y * y, y];
        vec![
            BoxMesh::unit_cube(2).build(bent).unwrap(),
            SimplexBox::unit_cube(2).build(bent).unwrap(),
            SolidBox::unit_cube(Solids::All, 4).build(bent).unwrap(),
            SimplexBox {
                geometry_degree: 2,
                ..SimplexBox::unit_square(3)
            }
            .build(curved)
            .unwrap(),
        ]
    }

    #[test]
    fn what_is_mirrored_is_turned_back() {
        for mesh in meshes() {
            let mut mirrored = mesh.clone();
            for x in mirrored.coordinates.to_mut() {
                x.swap(0, 1);
            }
            assert!(Geometry::new(&mirrored).unwrap().check(&[0.0]).is_err());
            let last = mesh.dimension();
            let own = |mesh: &Mesh| -> usize {
                let own = mesh.blocks.iter();
                own.filter(|block| block.cell_type.dimension() == last)
                    .map(|block| block.len())
                    .sum()
            };
            assert_eq!(mirrored.turn_left_handed(), own(&mesh));
            Geometry::new(&mirrored)
                .unwrap()
                .check(&[-0.5, 0.5])
                .unwrap();
            assert_eq!(mirrored.turn_left_handed(), 0);
        }
    }

    #[test]
    fn right_handed_cells_and_those_that_are_neither_stay() {
        for mut mesh in meshes() {
            let before = mesh.clone();
            assert_eq!(mesh.turn_left_handed(), 0);
            assert!(mesh == before);
        }
        let mut mesh = BoxMesh::unit_cube(1).build(|x| x).unwrap();
        mesh.coordinates.to_mut().swap(0, 1);
        let before = mesh.clone();
        assert_eq!(mesh.turn_left_handed(), 0);
        assert!(mesh == before);
    }

    #[test]
    fn surfaces_in_space_have_no_side() {
        let mut mesh = SimplexBox::unit_square(2).build(|[x, y]| [y, x]).unwrap();
        let count = mesh.clone().turn_left_handed();
        assert!(count > 0);
        mesh.coordinates.to_mut()[0][2] = 0.5;
        assert_eq!(mesh.turn_left_handed(), 0);
    }
}
