//! K and M of the lines of elements, and for Schwarz their modes with all kinds of ends.

use super::MultigridError;
use crate::eigen::eigenvectors;
use femto_element::Cell;
use femto_element::tables::TensorTables;
use femto_kernel::vector::element_inverse::{ENDS_BITS, InverseShape};

/// The part of a neighbour's stiffness that counts at a shared end. The less, the better errors are reduced that are smooth
/// across the element, but the larger is the largest eigenvalue. From 0.7 to 0.25 iterations are about the same
/// (`docs/multigrid.md`).
const NEIGHBOUR: f64 = 0.5;

/// The kinds of an end of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Shared,
    Free,
    Held,
}

impl End {
    const ALL: [Self; 3] = [Self::Shared, Self::Free, Self::Held];
}

/// The ends of an item's lines along each axis, given for its nodes whether they are held, and by how many elements
/// they are shared.
pub(super) fn ends(shape: InverseShape, node: impl Fn(usize) -> (bool, usize)) -> u32 {
    let n = shape.nodes_1d;
    let of_axis = |axis: usize| {
        let stride = n.pow(axis as u32);
        let [low, high] = [0, n - 1].map(|at| {
            let facet = (0..shape.nodes()).filter(|node| node / stride % n == at);
            let is_held = facet.clone().all(|at| node(at).0);
            // In the facet's interior.
            let least = facet.map(|at| node(at).1).min();
            match (is_held, least) {
                (true, _) => End::Held,
                (false, Some(1)) => End::Free,
                (false, _) => End::Shared,
            }
        });
        pair([low, high])
    };
    (0..shape.axes).fold(0, |ends, axis| ends | (of_axis(axis) << (ENDS_BITS * axis)))
}

/// The number of a pair of ends, in the order of [`Line::tables`].
fn pair([low, high]: [End; 2]) -> u32 {
    low as u32 * 3 + high as u32
}

/// Free ends along each axis.
pub(super) fn all_free(axes: usize) -> u32 {
    let free = pair([End::Free; 2]);
    (0..axes).fold(0, |ends, axis| ends | (free << (ENDS_BITS * axis)))
}

/// K and M of an element on `[-1, 1]`, `[node][node]`.
pub(super) struct Line {
    nodes: usize,
    stiffness: Vec<f64>,
    mass: Vec<f64>,
}

impl Line {
    pub(super) fn new(degree: usize) -> Result<Self, MultigridError> {
        let tables = TensorTables::gauss(Cell::Line, degree, degree + 1)?;
        let n = tables.nodes_1d;
        let product = |at: &[f64]| -> Vec<f64> {
            let entry = |place: usize| {
                let points = at.chunks_exact(n).zip(&tables.weights);
                points
                    .map(|(at, w)| w * at[place / n] * at[place % n])
                    .sum()
            };
            (0..n * n).map(entry).collect()
        };
        Ok(Self {
            nodes: n,
            stiffness: product(&tables.grad_1d),
            mass: product(&tables.interp_1d),
        })
    }

    /// An entry of K.
    pub(super) fn stiffness(&self, row: usize, column: usize) -> f64 {
        self.stiffness[row * self.nodes + column]
    }

    /// An entry of M.
    pub(super) fn mass(&self, row: usize, column: usize) -> f64 {
        self.mass[row * self.nodes + column]
    }

    /// An entry of the diagonal of K or M.
    pub(super) fn diagonal(&self, is_stiffness: bool, node: usize) -> f64 {
        let matrix = match is_stiffness {
            true => &self.stiffness,
            false => &self.mass,
        };
        matrix[node * self.nodes + node]
    }

    /// V and θ of K v = θ M v for all pairs of ends: `[ends][node][mode]`, `[ends][mode]`.
    pub(super) fn tables(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut vectors, mut values) = (Vec::new(), Vec::new());
        for ends in End::ALL
            .iter()
            .flat_map(|&low| End::ALL.map(|high| [low, high]))
        {
            let (v, theta) = self.modes(ends);
            vectors.extend(v);
            values.extend(theta);
        }
        (vectors, values)
    }

    /// V, `[node][mode]`, and θ. A held end has a mode that is zero everywhere.
    fn modes(&self, ends: [End; 2]) -> (Vec<f64>, Vec<f64>) {
        let n = self.nodes;
        let both = [(&self.stiffness, NEIGHBOUR), (&self.mass, 1.0)];
        let [k, m] = both.map(|(matrix, part)| {
            let mut with_ends = matrix.clone();
            for (end, [own, other]) in ends.into_iter().zip([[0, n * n - 1], [n * n - 1, 0]]) {
                if end == End::Shared {
                    with_ends[own] += part * matrix[other];
                }
            }
            with_ends
        });
        let first = usize::from(ends[0] == End::Held);
        let free = first..n - usize::from(ends[1] == End::Held);
        let size = free.len();
        let part = |matrix: &[f64]| -> Vec<f64> {
            let rows = free.clone().flat_map(|i| free.clone().map(move |j| (i, j)));
            rows.map(|(i, j)| matrix[i * n + j]).collect()
        };
        // M = U μ Uᵀ, B = U μ^(-1/2), and Bᵀ K B = Q θ Qᵀ gives V = B Q.
        let roots = eigenvectors(part(&m), size);
        let b = |i: usize, a: usize| roots[a].1[i] / roots[a].0.sqrt();
        let k = part(&k);
        let entry = |at: usize| -> f64 {
            let (a, c) = (at / size, at % size);
            let row = |i: usize| -> f64 { (0..size).map(|j| k[i * size + j] * b(j, c)).sum() };
            (0..size).map(|i| b(i, a) * row(i)).sum()
        };
        let found = eigenvectors((0..size * size).map(entry).collect(), size);
        let (mut vectors, mut values) = (vec![0.0; n * n], vec![1.0; n]);
        for (mode, (theta, q)) in found.iter().enumerate() {
            values[mode] = theta.max(0.0);
            for i in 0..size {
                let value = (0..size).map(|a| b(i, a) * q[a]).sum();
                vectors[(first + i) * n + mode] = value;
            }
        }
        (vectors, values)
    }
}
