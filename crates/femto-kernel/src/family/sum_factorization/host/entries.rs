//! Products with the numbers of the matrices of hexahedra of degree 1, in registers.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::metric::load;
use super::whole::{from_coefficients, to_coefficients};
use crate::family::batch::{Batch, ElementKernel, Identity, NodeTable, Source, Target, Workspace};
use crate::family::sum_factorization::entries::{
    NODES, PARTS, count, first_coefficient, nodes_of_part,
};
use crate::family::sum_factorization::work::Shape;
use crate::scalar::{Lanes, Real};
use fearless_simd::Simd;

/// The kernel for one kind of lanes; its packed geometry is `[number][lane]`.
pub(super) struct Kernel<L: Lanes> {
    token: L::Token,
    identity: Identity,
    nodes: NodeTable,
    values: bool,
    gradients: bool,
    components: usize,
}

impl<L: Lanes> Kernel<L> {
    pub(super) fn new(token: L::Token, shape: &Shape) -> Self {
        Self {
            token,
            identity: Identity::default(),
            nodes: NodeTable::tensor(3, 2),
            values: shape.values,
            gradients: shape.gradients,
            components: shape.components,
        }
    }

    /// `[component][node]`.
    fn scratch(&self) -> Vec<L> {
        let zero = L::splat(self.token, L::Real::from_f64(0.0));
        vec![zero; self.components * NODES]
    }

    /// Multiplies values at the nodes by the matrices, in place.
    #[inline(always)]
    fn multiply(&self, numbers: &[L::Real], u: &mut [L; NODES]) {
        match (self.values, self.gradients) {
            (_, false) => *u = by_parts(self.token, numbers, u),
            (false, true) => *u = by_coefficients::<L, false>(self.token, numbers, u),
            (true, true) => *u = by_coefficients::<L, true>(self.token, numbers, u),
        }
    }

    /// The diagonals of the matrices.
    fn diagonals(&self, numbers: &[L::Real]) -> [L; NODES] {
        let number = |n| load::<L>(self.token, numbers, n);
        let mut out = [L::splat(self.token, L::Real::from_f64(0.0)); NODES];
        if !self.gradients {
            for part in 0..PARTS {
                nodes_of_part(part).for_each(|node| out[node] += number(part));
            }
            return out;
        }
        // Of a unit at a node coefficients are ±1.
        let mut n = 0;
        for row in first_coefficient(self.values)..NODES {
            for column in row..NODES {
                let entry = number(n) * if row < column { 2.0 } else { 1.0 };
                for (node, out) in out.iter_mut().enumerate() {
                    let signs = (row & !node).count_ones() + (column & !node).count_ones();
                    *out += if signs % 2 == 1 { -entry } else { entry };
                }
                n += 1;
            }
        }
        out
    }
}

/// Products with coefficients; without VALUES the constant has no entries.
#[inline(always)]
fn by_coefficients<L: Lanes, const VALUES: bool>(
    token: L::Token,
    numbers: &[L::Real],
    u: &[L; NODES],
) -> [L; NODES] {
    let numbers = &numbers[..count(VALUES, true) * L::WIDTH];
    let c = to_coefficients(*u);
    let mut v = [L::splat(token, L::Real::from_f64(0.0)); NODES];
    let mut n = 0;
    for row in first_coefficient(VALUES)..NODES {
        v[row] = load::<L>(token, numbers, n).mul_add(c[row], v[row]);
        n += 1;
        for column in row + 1..NODES {
            let number = load::<L>(token, numbers, n);
            v[row] = number.mul_add(c[column], v[row]);
            v[column] = number.mul_add(c[row], v[column]);
            n += 1;
        }
    }
    from_coefficients(v)
}

/// Sums at the vertices of each part, times its number, at these vertices.
#[inline(always)]
fn by_parts<L: Lanes>(token: L::Token, numbers: &[L::Real], u: &[L; NODES]) -> [L; NODES] {
    let numbers = &numbers[..PARTS * L::WIDTH];
    let mut v = *u;
    for layer in 0..3 {
        // The lower layer of nodes, the upper, or both.
        let mut s = [[u[0]; 2]; 2];
        for n in 0..4 {
            s[n / 2][n % 2] = match layer {
                0 => u[n],
                1 => u[n + 4],
                _ => u[n] + u[n + 4],
            };
        }
        let numbers = &numbers[9 * layer * L::WIDTH..][..9 * L::WIDTH];
        let first = row_of_parts(token, numbers, 0, s[0]);
        let second = row_of_parts(token, numbers, 1, s[1]);
        let columns = [s[0][0] + s[1][0], s[0][1] + s[1][1]];
        let both = row_of_parts(token, numbers, 2, columns);
        for n in 0..4 {
            let sum = [first, second][n / 2][n % 2] + both[n % 2];
            match layer {
                0 => v[n] = sum,
                1 => v[n + 4] = sum,
                _ => {
                    v[n] += sum;
                    v[n + 4] += sum;
                }
            }
        }
    }
    v
}

/// The products of row j of a layer of parts with the numbers of two nodes, and their sum at each of these.
#[inline(always)]
fn row_of_parts<L: Lanes>(
    token: L::Token,
    numbers: &[L::Real],
    j: usize,
    [a, b]: [L; 2],
) -> [L; 2] {
    let both = load::<L>(token, numbers, 3 * j + 2) * (a + b);
    [
        load::<L>(token, numbers, 3 * j).mul_add(a, both),
        load::<L>(token, numbers, 3 * j + 1).mul_add(b, both),
    ]
}

impl<L: Lanes> ElementKernel<L::Real> for Kernel<L> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        count(self.values, self.gradients) * L::WIDTH
    }

    fn workspace(&self) -> Workspace {
        self.identity.workspace(self.scratch())
    }

    fn apply(
        &self,
        batch: &Batch<L::Real>,
        source: Source<L::Real>,
        target: Target<L::Real>,
        workspace: &mut Workspace,
    ) {
        let nodal = self.identity.scratch_of(workspace, || self.scratch());
        self.token.vectorize(
            #[inline(always)]
            || {
                let (elements, nodes) = (batch.elements, &batch.nodes);
                self.nodes
                    .gather(self.token, elements, nodes, source, nodal);
                for u in nodal.as_chunks_mut::<NODES>().0 {
                    self.multiply(batch.geometry, u);
                }
                self.nodes.scatter(elements, nodes, nodal, target);
            },
        );
    }

    fn diagonal(&self, batch: &Batch<L::Real>, target: Target<L::Real>, workspace: &mut Workspace) {
        let nodal = self.identity.scratch_of(workspace, || self.scratch());
        self.token.vectorize(
            #[inline(always)]
            || {
                let diagonals = self.diagonals(batch.geometry);
                for out in nodal.as_chunks_mut::<NODES>().0 {
                    *out = diagonals;
                }
                let (elements, nodes) = (batch.elements, &batch.nodes);
                self.nodes.scatter(elements, nodes, nodal, target);
            },
        );
    }
}
