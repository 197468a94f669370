//! Where the nodes of a triangle or tetrahedron of degree N sit.

use crate::reference::CellShape;
use crate::reference::cell::TETRAHEDRON_FACES;
use crate::reference::simplex::lattice;

/// The six orders of three things; entry c of one is the place of the c-th.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// The shell nodes of a simplex of one degree: vertices, edges, faces, as they come.
///
/// Nodes inside an edge are numbered from its lower vertex to its higher one. Those inside a face
/// are numbered as the reference face's are, once its vertices are put in ascending order.
pub(super) struct SimplexNodes {
    shape: CellShape,
    /// Nodes inside an edge: degree - 1.
    on_edge: usize,
    /// For each of [`ORDERS`], the canonical index of each node inside a face, `[6][on_face]`.
    face_orders: Vec<Vec<u32>>,
}

impl SimplexNodes {
    /// Also gives the positions of shell and interior nodes, ascending.
    pub(super) fn new(shape: CellShape, degree: usize) -> (Self, [Vec<u32>; 2]) {
        let all = lattice(shape.dim(), degree);
        let is_inside = |node: &[usize; 4]| node[..=shape.dim()].iter().all(|&steps| steps > 0);
        let shell = all.iter().filter(|node| !is_inside(node)).count() as u32;
        let positions = [(0..shell).collect(), (shell..all.len() as u32).collect()];
        let on_face: Vec<[usize; 4]> = lattice(2, degree)
            .into_iter()
            .filter(|node| node[..3].iter().all(|&steps| steps > 0))
            .collect();
        let has_faces = shape == CellShape::Tetrahedron && !on_face.is_empty();
        let orders = if has_faces { &ORDERS[..] } else { &[] };
        let canonical = |order: &[usize; 3]| {
            let index = |node: &[usize; 4]| {
                let sorted = order.map(|corner| node[corner]);
                let found = on_face.iter().position(|other| other[..3] == sorted);
                // The nodes of a face stay the same under any order of its vertices.
                found.unwrap_or(0) as u32
            };
            on_face.iter().map(index).collect()
        };
        let nodes = Self {
            shape,
            on_edge: degree - 1,
            face_orders: orders.iter().map(canonical).collect(),
        };
        (nodes, positions)
    }

    /// See [`super::ElementNodes::fill_shell`].
    pub(super) fn fill_shell(
        &self,
        vertices: &[u32],
        mut first: impl FnMut(usize) -> u32,
        shell: &mut [u32],
    ) {
        let (corners, edges) = (self.shape.vertices(), self.shape.edges());
        let (at_vertices, shell) = shell.split_at_mut(corners);
        for (vertex, number) in at_vertices.iter_mut().enumerate() {
            *number = first(vertex);
        }
        let n = self.on_edge;
        if n == 0 {
            return;
        }
        let (on_edges, on_faces) = shell.split_at_mut(edges.len() * n);
        for (edge, nodes) in on_edges.chunks_exact_mut(n).enumerate() {
            let first = first(corners + edge);
            let [start, end] = edges[edge].map(|m| vertices[m]);
            for (m, number) in (0..).zip(nodes) {
                *number = first + if start < end { m } else { n as u32 - 1 - m };
            }
        }
        let Some(per_face) = self.face_orders.first().map(Vec::len) else {
            return;
        };
        let faces = TETRAHEDRON_FACES
            .iter()
            .zip(on_faces.chunks_exact_mut(per_face));
        for (face, (corner_places, nodes)) in faces.enumerate() {
            let first = first(corners + edges.len() + face);
            let order = order_of(corner_places.map(|m| vertices[m]));
            for (&canonical, number) in self.face_orders[order].iter().zip(nodes) {
                *number = first + canonical;
            }
        }
    }
}

/// Which of [`ORDERS`] puts these in ascending order.
fn order_of([a, b, c]: [u32; 3]) -> usize {
    match (a < b, b < c, a < c) {
        (true, true, _) => 0,
        (true, false, true) => 1,
        (false, _, true) => 2,
        (true, false, false) => 4,
        (false, true, false) => 3,
        (false, false, false) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_sort() {
        for corners in ORDERS.map(|order| order.map(|place| 10 * place as u32)) {
            let sorted = ORDERS[order_of(corners)].map(|place| corners[place]);
            assert!(sorted.is_sorted(), "{corners:?}");
        }
    }
}
