//! Where the nodes of a hexahedron of degree N sit.
//!
//! Vertices, edges, faces and their axes are numbered as in [`crate::reference::cell`].

use crate::reference::cell::{HEX_EDGES, HEX_FACE_AXES, HEX_FACES};

/// How a cell sees one of its faces: which corner has the lowest vertex number, and whether the
/// lower of that corner's two neighbours lies along the face's second axis.
///
/// Both cells of a face agree on the walk that starts at the lowest vertex and goes first towards
/// its lower neighbour; nodes on the face are numbered along it.
#[derive(Clone, Copy)]
pub(super) struct FaceView {
    /// Corner with the lowest vertex, 0 to 3.
    origin: usize,
    /// Whether the walk goes first along the second axis of the face.
    swapped: bool,
}

impl FaceView {
    /// The view of a face with these vertex numbers at its lexicographic corners.
    pub(super) fn new(corners: [u32; 4]) -> Self {
        let mut origin = 0;
        for corner in 1..4 {
            if corners[corner] < corners[origin] {
                origin = corner;
            }
        }
        Self {
            origin,
            swapped: corners[origin ^ 2] < corners[origin ^ 1],
        }
    }

    /// A number below 8 that tells the views apart.
    fn code(self) -> usize {
        2 * self.origin + usize::from(self.swapped)
    }

    fn from_code(code: usize) -> Self {
        Self {
            origin: code / 2,
            swapped: code % 2 == 1,
        }
    }

    /// Canonical index of the node at (p, q) of the `n` × `n` nodes inside a face.
    fn canonical_index(self, n: usize, [p, q]: [usize; 2]) -> usize {
        let from_origin = |i: usize, far: bool| if far { n - 1 - i } else { i };
        let s = from_origin(p, self.origin & 1 != 0);
        let t = from_origin(q, self.origin & 2 != 0);
        if self.swapped { t + n * s } else { s + n * t }
    }
}

/// The shell nodes of a hexahedron of one degree, by the entity that they lie on.
///
/// Shell node `s` is the `s`-th in lexicographic order.
pub(super) struct HexahedronNodes {
    /// Nodes inside an edge: degree - 1.
    inner_1d: usize,
    /// Shell node at each vertex.
    vertices: [usize; 8],
    /// Shell nodes inside each edge, along it, `[12][inner_1d]`.
    edges: Vec<usize>,
    /// Shell nodes inside each face, lexicographic, `[6][inner_1d²]`.
    faces: Vec<usize>,
    /// For each [`FaceView`], the canonical index of each node inside a face, `[8][inner_1d²]`.
    face_orders: Vec<usize>,
}

impl HexahedronNodes {
    /// Also gives the lexicographic positions of shell and interior nodes, ascending.
    pub(super) fn new(degree: usize) -> (Self, [Vec<u32>; 2]) {
        let (nodes_1d, n) = (degree + 1, degree - 1);
        let inside = |i: usize| i > 0 && i < degree;
        let (interior_positions, shell_positions): (Vec<u32>, Vec<u32>) =
            (0..nodes_1d.pow(3) as u32).partition(|&position| {
                let [i, j, k] = split(position as usize, nodes_1d);
                inside(i) && inside(j) && inside(k)
            });
        let shell = |[i, j, k]: [usize; 3]| {
            let position = (i + nodes_1d * (j + nodes_1d * k)) as u32;
            shell_positions.partition_point(|&p| p < position)
        };
        let vertices = [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|m| shell([m & 1, m >> 1 & 1, m >> 2 & 1].map(|side| side * degree)));
        let mut edges = Vec::with_capacity(12 * n);
        for edge in 0..12 {
            let [u, v] = HEX_FACE_AXES[edge / 4 * 2];
            let mut place = [0; 3];
            place[u] = edge % 2 * degree;
            place[v] = edge / 2 % 2 * degree;
            for m in 1..degree {
                place[edge / 4] = m;
                edges.push(shell(place));
            }
        }
        let mut faces = Vec::with_capacity(6 * n * n);
        for face in 0..6 {
            let [u, v] = HEX_FACE_AXES[face];
            let mut place = [0; 3];
            place[face / 2] = face % 2 * degree;
            for m in 0..n * n {
                (place[u], place[v]) = (1 + m % n, 1 + m / n);
                faces.push(shell(place));
            }
        }
        let face_orders = (0..8)
            .flat_map(|code| (0..n * n).map(move |m| (FaceView::from_code(code), m)))
            .map(|(view, m)| view.canonical_index(n, [m % n, m / n]))
            .collect();
        let nodes = Self {
            inner_1d: n,
            vertices,
            edges,
            faces,
            face_orders,
        };
        (nodes, [shell_positions, interior_positions])
    }

    /// See [`super::ElementNodes::fill_shell`]: entities 0 to 25 are 8 vertices, 12 edges, 6 faces.
    pub(super) fn fill_shell(
        &self,
        vertices: &[u32],
        mut first: impl FnMut(usize) -> u32,
        shell: &mut [u32],
    ) {
        let n = self.inner_1d;
        for (vertex, &s) in self.vertices.iter().enumerate() {
            shell[s] = first(vertex);
        }
        if n == 0 {
            return;
        }
        for (edge, nodes) in self.edges.chunks_exact(n).enumerate() {
            let first = first(8 + edge);
            let [start, end] = HEX_EDGES[edge].map(|m| vertices[m]);
            for (m, &s) in nodes.iter().enumerate() {
                let along = if start < end { m } else { n - 1 - m };
                shell[s] = first + along as u32;
            }
        }
        for (face, nodes) in self.faces.chunks_exact(n * n).enumerate() {
            let first = first(20 + face);
            let view = FaceView::new(HEX_FACES[face].map(|m| vertices[m]));
            let order = &self.face_orders[view.code() * n * n..][..n * n];
            for (&canonical, &s) in order.iter().zip(nodes) {
                shell[s] = first + canonical as u32;
            }
        }
    }
}

/// The coordinates [i, j, k] of a lexicographic position.
fn split(position: usize, nodes_1d: usize) -> [usize; 3] {
    let (i, jk) = (position % nodes_1d, position / nodes_1d);
    [i, jk % nodes_1d, jk / nodes_1d]
}
