//! Aggregates of nodes, and the functions that smoothed aggregation keeps on them.
//!
//! Aggregates are chosen greedily on the graph of strong couplings (Vaněk, Mandel and Brezina, Algebraic multigrid by
//! smoothed aggregation for second and fourth order elliptic problems, Computing 56, 1996, algorithm 2), so that they
//! are long where cells are short. A coupling is compared with the strongest one of its nodes and not, as there, with
//! the diagonal: on trilinear cubes that drops the couplings that it needs.

use crate::vector::Csr;
use crate::vector::csr::Value;
use femto_fem::parallel;
use femto_fem::space::{Block, Slanted};

/// No aggregate.
const NONE: u32 = u32::MAX;

/// Norms below this part of the original one are rounding.
const DEPENDENT: f64 = 1e-10;

/// Functions that the matrix nearly maps to zero, on the nodes of a level: `modes` numbers for each of
/// `block` unknowns of a node.
#[derive(Clone, Debug)]
pub(crate) struct NearKernel {
    /// Unknowns of a node; the unknowns of a node are adjacent.
    pub(crate) block: usize,
    /// Number of functions.
    pub(crate) modes: usize,
    /// `[unknown][mode]`; zero where unknowns are held.
    pub(crate) values: Vec<f64>,
    /// Whether the first functions are the constants of each unknown of a node.
    pub(super) has_constants: bool,
}

impl NearKernel {
    /// The constants of each component; given the positions of the nodes, `[nodes][3]`, the rigid motions in
    /// `components` dimensions.
    pub(crate) fn new(is_held: &[bool], components: usize, positions: Option<&[[f64; 3]]>) -> Self {
        let rotations = Self::rotations(components, positions.is_some());
        let modes = components + rotations.len();
        let mut values = vec![0.0; is_held.len() * modes];
        let rows = values.chunks_exact_mut(modes).enumerate();
        for (entry, row) in rows.filter(|&(entry, _)| !is_held[entry]) {
            let (node, component) = (entry / components, entry % components);
            row[component] = 1.0;
            let x = positions.map_or([0.0; 3], |positions| positions[node]);
            for (value, &axes) in row[components..].iter_mut().zip(rotations) {
                *value = Self::rotation(axes, component, x);
            }
        }
        Self {
            block: components,
            modes,
            values,
            has_constants: true,
        }
    }

    /// Makes the functions zero along directions that are held at nodes.
    pub(super) fn project(&mut self, slanted: &Slanted) {
        let (block, modes) = (self.block, self.modes);
        for (node, projector) in slanted.iter() {
            let own = &mut self.values[node * block * modes..][..block * modes];
            let before = own.to_vec();
            let rows = own
                .chunks_exact_mut(modes)
                .zip(projector.chunks_exact(block));
            for (row, parts) in rows {
                for (mode, value) in row.iter_mut().enumerate() {
                    let of_mode = before.iter().skip(mode).step_by(modes);
                    *value = parts.iter().zip(of_mode).map(|(p, v)| p * v).sum();
                }
            }
        }
    }

    /// Whether vectors on a space rotate: there are as many components as dimensions, and a node has one
    /// position, unlike nodes on periodic sides.
    pub(crate) fn rotates(blocks: &[Block]) -> bool {
        let space = &blocks[0].space;
        let components = space.components();
        components > 1 && components == blocks[0].geometry.dim() && !space.is_periodic()
    }

    /// The axes between which vectors rotate, if they do.
    pub(crate) fn rotations(components: usize, rotates: bool) -> &'static [[usize; 2]] {
        match (rotates, components) {
            (true, 2) => &[[0, 1]],
            (true, 3) => &[[0, 1], [1, 2], [2, 0]],
            _ => &[],
        }
    }

    /// A component of the rotation from the first axis to the second, at a position.
    pub(crate) fn rotation([a, b]: [usize; 2], component: usize, x: [f64; 3]) -> f64 {
        match component {
            c if c == a => -x[b],
            c if c == b => x[a],
            _ => 0.0,
        }
    }

    /// A combination of the functions: `[unknown]`.
    pub(crate) fn combined(&self, combination: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks_exact(self.modes);
        rows.map(|row| row.iter().zip(combination).map(|(a, b)| a * b).sum())
            .collect()
    }

    /// Number of nodes.
    fn nodes(&self) -> usize {
        self.values.len() / (self.modes * self.block)
    }

    /// The matrix T that takes the functions on aggregates of the nodes to those on nodes, with orthonormal
    /// columns, and the functions on the aggregates: on each one they are Q R, of which Q is the part of T
    /// (Vaněk, Mandel and Brezina, algorithm 1).
    pub(super) fn tentative(&self, aggregates: &Aggregates) -> (Csr, Self) {
        let (block, modes) = (self.block, self.modes);
        let members = aggregates.members();
        // The factors Q, `[unknown of the aggregate][mode]`, and R of each aggregate.
        let factors = parallel::map(aggregates.count, |aggregate| {
            let nodes = members.row_columns(aggregate).iter();
            let rows = nodes.flat_map(|&node| {
                let first = node as usize * block * modes;
                &self.values[first..first + block * modes]
            });
            let (mut q, mut r) = (
                rows.copied().collect::<Vec<f64>>(),
                vec![0.0; modes * modes],
            );
            orthonormalise(&mut q, modes, &mut r);
            (q, r)
        });
        let (q, r): (Vec<Vec<f64>>, Vec<Vec<f64>>) = factors.into_iter().unzip();
        let row = |unknown: usize, entries: &mut Vec<(u32, f64)>| {
            let node = unknown / block;
            let aggregate = aggregates.of[node];
            if aggregate == NONE {
                return;
            }
            let among = members.row_columns(aggregate as usize);
            let place = among.partition_point(|&other| (other as usize) < node);
            let first = (place * block + unknown % block) * modes;
            let values = q[aggregate as usize][first..first + modes].iter();
            entries.extend((aggregate * modes as u32..).zip(values.copied()));
        };
        let size = (self.nodes() * block, aggregates.count * modes);
        let coarse = Self {
            block: modes,
            modes,
            values: r.concat(),
            has_constants: false,
        };
        (Csr::by_rows(size, row), coarse)
    }
}

/// Replaces the columns of `rows`, `[row][mode]`, by orthonormal ones, and writes their factors R,
/// `[mode][mode]`; columns that depend on earlier ones become zero. Modified Gram-Schmidt, twice.
fn orthonormalise(rows: &mut [f64], modes: usize, r: &mut [f64]) {
    let dot = |rows: &[f64], a: usize, b: usize| -> f64 {
        let rows = rows.chunks_exact(modes);
        rows.map(|row| row[a] * row[b]).sum()
    };
    for mode in 0..modes {
        let original = dot(rows, mode, mode).sqrt();
        for before in (0..mode).chain(0..mode) {
            let product = dot(rows, before, mode);
            r[before * modes + mode] += product;
            for row in rows.chunks_exact_mut(modes) {
                row[mode] -= product * row[before];
            }
        }
        let norm = dot(rows, mode, mode).sqrt();
        let is_new = norm > DEPENDENT * original;
        r[mode * modes + mode] = if is_new { norm } else { 0.0 };
        for row in rows.chunks_exact_mut(modes) {
            row[mode] = if is_new { row[mode] / norm } else { 0.0 };
        }
    }
}

/// Couplings below this part of the strongest one of both of their nodes are weak.
const WEAK: f64 = 0.3;

/// The part of a level's unknowns that the next may have if aggregates are a node and its neighbours.
const LARGE: f64 = 0.4;

/// The strengths of the couplings of free nodes, without the weak ones: minus the sum of the entries between the
/// same unknowns of both nodes. A node is infinitely coupled to itself; those on which all functions are zero are not
/// free, and have no couplings.
pub(super) fn strong(matrix: &Csr, kernel: &NearKernel) -> Csr {
    let (block, nodes) = (kernel.block, kernel.nodes());
    let of_node = block * kernel.modes;
    let is_free = parallel::map(nodes, |node| {
        let mut values = kernel.values[node * of_node..][..of_node].iter();
        values.any(|&value| value != 0.0)
    });
    let couplings = |node: usize, found: &mut Vec<(u32, f64)>| {
        found.clear();
        for component in (0..block).filter(|_| is_free[node]) {
            let others = matrix.row_blocks(node * block + component, block);
            match component {
                0 => found.extend(others.map(|(other, values)| (other, -values[0]))),
                _ => {
                    let found = found.iter_mut().zip(others);
                    found.for_each(|(sum, (_, values))| sum.1 -= values[component]);
                }
            }
        }
        found.retain(|entry| is_free[entry.0 as usize]);
    };
    let mut strongest = vec![0.0; nodes];
    parallel::blocks(&mut strongest, 1, |first, strongest| {
        let mut found = Vec::new();
        for (node, strongest) in (first..).zip(strongest) {
            couplings(node, &mut found);
            let others = found.iter().filter(|entry| entry.0 as usize != node);
            *strongest = others.map(|entry| entry.1).fold(0.0, f64::max);
        }
    });
    Csr::by_rows((nodes, nodes), |node, entries| {
        couplings(node, entries);
        entries.retain_mut(|(other, value)| {
            if *other as usize == node {
                *value = f64::INFINITY;
            }
            *value >= WEAK * strongest[node].min(strongest[*other as usize])
        });
    })
}

/// The aggregate of each node.
pub(super) struct Aggregates {
    /// `[node]`, or [`NONE`] for nodes that are not free.
    of: Vec<u32>,
    /// Number of aggregates.
    pub(super) count: usize,
}

impl Aggregates {
    /// Aggregates the free nodes with these strong couplings. Where a node and its strong neighbours are too few for the
    /// number of functions, the neighbours of these belong to the aggregate as well.
    pub(super) fn new(strong: &Csr, kernel: &NearKernel) -> Self {
        let made = Self::within(strong, (strong, 1));
        let unknowns = strong.rows() * kernel.block;
        if (made.count * kernel.modes) as f64 <= LARGE * unknowns as f64 {
            return made;
        }
        let near = strong.positions();
        Self::within(strong, (&near.times(&near), 2))
    }

    /// Groups each free node with those within a `reach`, a number of strong couplings.
    fn within<V: Value>(strong: &Csr, (within, reach): (&Csr<V>, usize)) -> Self {
        let beside = |node: usize| within.row_columns(node).iter().map(|&node| node as usize);
        let mut made = Self {
            of: vec![NONE; strong.rows()],
            count: 0,
        };
        let is_free = |node: usize| !strong.row_columns(node).is_empty();
        // A node with all that are near, if none of them has an aggregate yet.
        for node in (0..strong.rows()).filter(|&node| is_free(node)) {
            // The node first: it mostly has one.
            if made.of[node] == NONE && beside(node).all(|other| made.of[other] == NONE) {
                made.add(node, beside(node));
            }
        }
        // The others join the aggregate of a neighbour, of the one with the strongest coupling.
        for _ in 0..reach {
            let before = made.of;
            let of_neighbour = |node: usize| {
                if before[node] != NONE {
                    return before[node];
                }
                let near = strong.row(node);
                let near = near.filter(|&(other, _)| before[other as usize] != NONE);
                let nearest = near.max_by(|a, b| a.1.total_cmp(&b.1));
                nearest.map_or(NONE, |(other, _)| before[other as usize])
            };
            made.of = parallel::map(strong.rows(), of_neighbour);
        }
        // What is left has only neighbours that are left.
        for node in 0..strong.rows() {
            if made.of[node] == NONE && is_free(node) {
                let left = beside(node).filter(|&other| made.of[other] == NONE);
                let left: Vec<usize> = left.collect();
                made.add(node, left.into_iter());
            }
        }
        made
    }

    /// A new aggregate of these nodes.
    fn add(&mut self, node: usize, others: impl Iterator<Item = usize>) {
        let own = self.count as u32;
        self.of[node] = own;
        others.for_each(|other| self.of[other] = own);
        self.count += 1;
    }

    /// The nodes of each aggregate.
    fn members(&self) -> Csr<()> {
        let of_nodes = Csr::by_rows((self.of.len(), self.count), |node, entries| {
            let aggregate = self.of[node];
            entries.extend((aggregate != NONE).then_some((aggregate, ())));
        });
        of_nodes.transposed()
    }
}
