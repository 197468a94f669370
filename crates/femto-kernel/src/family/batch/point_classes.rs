//! The matrix from nodes to points in blocks, where nodes and points of a cell are symmetric: from sums over orbits of nodes to
//! sums over orbits of points of the same class, a quarter of the products on tetrahedra and half of them on triangles.

use super::orbits::Orbits;
use super::point_matrix::{add_by, chunks, multiply_by};
use crate::form::{AtPoints, MOST_POINTS};
use crate::scalar::{Lanes, Real};
use core::ops::Range;
use femto_element::Symmetry;
use femto_element::tables::DenseTables;

/// The symmetry of nodes and of points, and the axes along which derivatives are taken.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    pub(crate) nodes: Symmetry,
    pub(crate) points: Symmetry,
    /// Of the points of each chunk.
    chunks: Vec<Symmetry>,
    axes: Axes,
}

/// Axes, and how to come to them.
#[derive(Clone, Debug)]
struct Axes {
    /// `[axis][reference axis]`
    along: [[f64; 3]; 3],
    /// Row a of J⁻¹ along these axes is a row of J⁻¹ and a multiple of another.
    parts: [(usize, usize, f64); 3],
}

impl Classes {
    /// Those of a basis at the points of a rule; `None` if there are none.
    pub(crate) fn of(tables: &DenseTables) -> Option<Self> {
        if tables.dim != tables.cell.dim() {
            return None;
        }
        let nodes = Symmetry::of(tables.cell, tables.degree);
        let all = Symmetry::of_points(tables.cell, &tables.positions_3d())?;
        let chunks = chunks(tables.points).map(|chunk| all.within(&chunk));
        let axes = Axes::new(&nodes.axes)?;
        if !are_symmetric(tables, &nodes, &all) {
            return None;
        }
        Some(Self {
            chunks: chunks.collect::<Option<_>>()?,
            points: all,
            nodes,
            axes,
        })
    }

    /// The class of a row's products with sums of a class: of values, or of derivatives along an axis.
    fn of_row(&self, row: Option<usize>, class: usize) -> usize {
        row.map_or(class, |axis| self.nodes.before(axis, class))
    }

    /// Flops of values of a function, or of its derivatives along an axis, at all points of a cell.
    pub(crate) fn row_flops(&self, row: Option<usize>) -> usize {
        let of_chunk = |points: &Symmetry| {
            let products = (0..self.nodes.classes).map(|class| {
                2 * self.nodes.sums(class).len() * points.sums(self.of_row(row, class)).len()
            });
            products.sum::<usize>() + points.additions()
        };
        self.chunks.iter().map(of_chunk).sum()
    }

    /// Flops of a function's sums over orbits of nodes.
    pub(crate) fn node_flops(&self) -> usize {
        self.nodes.additions()
    }

    /// Derivatives along the axes from those along the reference axes.
    pub(crate) fn derivatives(&self, reference: [f64; 3]) -> [f64; 3] {
        self.axes.along.map(|axis| {
            let parts = axis.iter().zip(reference);
            parts.map(|(part, derivative)| part * derivative).sum()
        })
    }

    /// For each axis the row of J⁻¹, and another with its factor, that make up its row along these axes.
    pub(crate) fn axis_parts(&self) -> [(usize, usize, f64); 3] {
        self.axes.parts
    }

    /// J⁻¹ with a row for each axis, from that with rows for the reference axes.
    #[inline(always)]
    pub(crate) fn inverse<L: Lanes, const D: usize>(&self, inverse: &[[L; D]; D]) -> [[L; D]; D] {
        let mut own = *inverse;
        for (own, &(row, other, factor)) in own.iter_mut().zip(&self.axes.parts) {
            for d in 0..D {
                let factor = inverse[row][d].constant(factor);
                own[d] = factor.mul_add(inverse[other][d], inverse[row][d]);
            }
        }
        own
    }
}

/// Whether the functions of images of nodes have the same values at images of points.
fn are_symmetric(tables: &DenseTables, nodes: &Symmetry, points: &Symmetry) -> bool {
    let permutations = 0..nodes.classes;
    points.orbits.iter().all(|points| {
        nodes.orbits.iter().all(|nodes| {
            permutations.clone().all(|g| {
                permutations.clone().all(|h| {
                    let image = tables.value(points[g], nodes[h ^ g]);
                    (image - tables.value(points[0], nodes[h])).abs() < 1e-10
                })
            })
        })
    })
}

impl Axes {
    /// The axes scaled so that each row of J⁻¹ along them is one along a reference axis and a multiple of another; `None` if
    /// more are needed.
    fn new(axes: &[[f64; 3]]) -> Option<Self> {
        let mut all = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        all[..axes.len()].copy_from_slice(axes);
        // Cofactors over the determinant: ∂/∂ξ_r = Σ_a inverse[a][r] ∂/∂(axis a).
        let cofactor = |a: usize, r: usize| {
            let ((a1, a2), (r1, r2)) = (((a + 1) % 3, (a + 2) % 3), ((r + 1) % 3, (r + 2) % 3));
            all[a1][r1] * all[a2][r2] - all[a1][r2] * all[a2][r1]
        };
        let determinant: f64 = (0..3).map(|r| all[0][r] * cofactor(0, r)).sum();
        let (mut along, mut parts) = (all, [(0, 0, 0.0); 3]);
        for a in 0..3 {
            let row = [0, 1, 2].map(|r| cofactor(a, r) / determinant);
            let own: Vec<usize> = (0..3).filter(|&r| row[r] != 0.0).collect();
            let (first, other, factor) = match own[..] {
                [first] => (first, first, 0.0),
                [first, other] => (first, other, row[other] / row[first]),
                _ => return None,
            };
            parts[a] = (first, other, factor);
            along[a] = all[a].map(|part| part * row[first]);
        }
        Some(Self { along, parts })
    }
}

/// The blocks of a matrix.
#[derive(Debug)]
pub(super) struct PointClasses<T> {
    nodes: Orbits,
    chunks: Vec<Chunk<T>>,
}

/// Blocks for a chunk of points. Their products are sums over orbits of points, of values and of derivatives along each axis.
#[derive(Debug)]
struct Chunk<T> {
    blocks: Vec<Block<T>>,
    /// The places of the sums of each row.
    rows: Vec<Orbits>,
}

/// Rows that are multiplied at the same time.
#[derive(Debug)]
struct Block<T> {
    /// Sums over nodes, those of a class.
    sums: Range<usize>,
    /// Products.
    products: Range<usize>,
    /// `[sum][product]`
    entries: Vec<T>,
}

impl<T: Real> PointClasses<T> {
    /// Of a basis; `wanted` tells whether its values and its derivatives are.
    pub(super) fn new(tables: &DenseTables, classes: &Classes, wanted: [bool; 2]) -> Self {
        let rows: Vec<Option<usize>> = wanted[0]
            .then_some(None)
            .into_iter()
            .chain((0..tables.dim).filter(|_| wanted[1]).map(Some))
            .collect();
        let entry = |q: usize, row: Option<usize>, node: usize| {
            let mut reference = [0.0; 3];
            reference[..tables.dim].copy_from_slice(tables.gradient(q, node));
            match row {
                None => tables.value(q, node),
                Some(axis) => classes.derivatives(reference)[axis],
            }
        };
        let chunks = chunks(tables.points).zip(&classes.chunks);
        Self {
            nodes: Orbits::new(&classes.nodes, &classes.nodes.starts()),
            chunks: chunks
                .map(|(chunk, points)| {
                    let at = |point: usize, row, node| entry(chunk.start + point, row, node);
                    Chunk::new(classes, points, &rows, at)
                })
                .collect(),
        }
    }

    /// Sums over orbits in place of values at nodes.
    #[inline(always)]
    pub(super) fn prepare<L: Lanes<Real = T>>(&self, nodal: &mut [L], spare: &mut [L]) {
        let spare = &mut spare[..nodal.len()];
        self.nodes.gather(nodal, spare);
        nodal.copy_from_slice(spare);
    }

    /// The transpose of [`Self::prepare`].
    #[inline(always)]
    pub(super) fn finish<L: Lanes<Real = T>>(&self, out: &mut [L], spare: &mut [L]) {
        let spare = &mut spare[..out.len()];
        self.nodes.scatter(out, spare);
        out.copy_from_slice(spare);
    }

    /// Values and derivatives at a chunk's points.
    #[inline(always)]
    pub(super) fn to_points<'a, L: Lanes<Real = T>>(
        &self,
        token: L::Token,
        chunk: &Range<usize>,
        sums: &[L],
        out: impl Iterator<Item = &'a mut AtPoints<L>>,
        products: &mut [L],
    ) {
        let own = &self.chunks[chunk.start / MOST_POINTS];
        for block in &own.blocks {
            let (sums, products) = (
                &sums[block.sums.clone()],
                &mut products[block.products.clone()],
            );
            multiply_by(token, &block.entries, products.len(), sums, products);
        }
        for (orbits, out) in own.rows.iter().zip(out) {
            orbits.scatter(products, out);
        }
    }

    /// Adds what a chunk's points contribute to sums.
    #[inline(always)]
    pub(super) fn add_to_nodes<'a, L: Lanes<Real = T>>(
        &self,
        token: L::Token,
        chunk: &Range<usize>,
        coefficients: impl Iterator<Item = &'a AtPoints<L>>,
        sums: &mut [L],
        products: &mut [L],
    ) {
        let own = &self.chunks[chunk.start / MOST_POINTS];
        for (orbits, coefficients) in own.rows.iter().zip(coefficients) {
            orbits.gather(coefficients, products);
        }
        for block in &own.blocks {
            let (products, sums) = (
                &products[block.products.clone()],
                &mut sums[block.sums.clone()],
            );
            add_by(token, &block.entries, products.len(), products, sums);
        }
    }
}

impl<T: Real> Chunk<T> {
    fn new(
        classes: &Classes,
        points: &Symmetry,
        rows: &[Option<usize>],
        entry: impl Fn(usize, Option<usize>, usize) -> f64,
    ) -> Self {
        let nodes = &classes.nodes;
        let mut starts = vec![vec![0; nodes.classes]; rows.len()];
        let (mut blocks, mut first) = (Vec::new(), 0);
        for (class, &start) in nodes.starts().iter().enumerate() {
            let sums = nodes.sums(class);
            let mut products = Vec::new();
            for (&row, starts) in rows.iter().zip(&mut starts) {
                starts[classes.of_row(row, class)] = first + products.len();
                let own = points.sums(classes.of_row(row, class)).into_iter();
                products.extend(own.map(|sum| (row, sum[0].0)));
            }
            // A sum stands for as many nodes with their share of it.
            let product = |(row, point): (Option<usize>, usize), sum: &[(usize, f64)]| {
                let parts = sum
                    .iter()
                    .map(|&(node, factor)| factor * entry(point, row, node));
                T::from_f64(parts.sum::<f64>() / sum.len() as f64)
            };
            for own in products.chunks(MOST_POINTS) {
                let columns = sums.iter();
                let entries = columns.flat_map(|sum| own.iter().map(|&it| product(it, sum)));
                blocks.push(Block {
                    sums: start..start + sums.len(),
                    products: first..first + own.len(),
                    entries: entries.collect(),
                });
                first += own.len();
            }
        }
        Self {
            blocks,
            rows: starts
                .iter()
                .map(|starts| Orbits::new(points, starts))
                .collect(),
        }
    }
}
