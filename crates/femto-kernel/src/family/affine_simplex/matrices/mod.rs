//! The matrices of the reference cell, and the factors of a cell.

use super::choice::separates_classes;
use super::schedule::Sizes;
use crate::family::CellMap;
use crate::family::fragments::TILE;
use crate::scalar::Precision;
use femto_element::tables::DenseTables;
use femto_element::{Cell, Symmetry};
use std::sync::Arc;

/// Largest part of a column outside the span of others that is rounding, relative to the longest column.
const ROUNDING: f64 = 1e-10;

/// The lowest degree at which symmetry was measured to save time on hosts, without stiffness and with it.
const LEAST_DEGREES_ON_HOSTS: [usize; 2] = [3, 2];
/// The lowest degree of tetrahedra at which kernels were measured to be faster with symmetry on an H200, in double precision.
const LEAST_DEGREE_ON_DEVICES: usize = 3;

/// The matrices of the reference cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// Dimension of the cell.
    pub dim: usize,
    /// Nodes of the cell.
    pub nodes: usize,
    /// The axes of derivatives, and the classes of nodes that the matrices keep apart.
    pub symmetry: Symmetry,
    /// S_ab along the axes, row-major, `[a][b][row][column]`; empty without stiffness.
    pub stiffness: Vec<Vec<f64>>,
    /// M, row-major; `None` without mass.
    pub mass: Option<Vec<f64>>,
    /// The blocks of derivatives D̂_a with S_ab = D̂_aᵀ D̂_b and as few rows as possible, between sums over orbits and functions of
    /// a class, `[class of functions][axis][rank][sum]`; without stiffness of no axis.
    pub derivatives: Vec<Vec<Vec<f64>>>,
    /// Rows of the blocks of a class, `[class of functions]`: together the dimension of the polynomials of one degree less, if the
    /// rule has as many points.
    pub ranks: Vec<usize>,
    /// The blocks of M between sums over orbits, `[class][row][column]`; empty without mass.
    pub masses: Vec<Vec<f64>>,
}

impl Matrices {
    /// Those for the host's loops, with mass, stiffness or both. Rules that do not integrate products of polynomials exactly may
    /// have no symmetry.
    pub fn on_host(tables: &DenseTables, parts: (bool, bool)) -> Arc<Self> {
        Self::new(tables, parts, Self::is_of_use_on_hosts(tables, parts))
    }

    /// Those for devices, likewise; kernels read [`Self::for_kernels`].
    pub fn on_devices(tables: &DenseTables, parts: (bool, bool)) -> Arc<Self> {
        Self::new(tables, parts, Self::is_of_use_on_devices(tables))
    }

    /// Those for the host's loops and for devices, which may be the same.
    pub(super) fn on_both(tables: &DenseTables, parts: (bool, bool)) -> [Arc<Self>; 2] {
        let on_host = Self::on_host(tables, parts);
        match Self::is_of_use_on_hosts(tables, parts) == Self::is_of_use_on_devices(tables) {
            true => [Arc::clone(&on_host), on_host],
            false => [on_host, Self::on_devices(tables, parts)],
        }
    }

    fn is_of_use_on_hosts(tables: &DenseTables, (_, stiffness): (bool, bool)) -> bool {
        tables.degree.most() >= LEAST_DEGREES_ON_HOSTS[usize::from(stiffness)]
    }

    fn is_of_use_on_devices(tables: &DenseTables) -> bool {
        tables.cell == Cell::Tetrahedron && tables.degree.most() >= LEAST_DEGREE_ON_DEVICES
    }

    fn new(tables: &DenseTables, parts: (bool, bool), is_of_use: bool) -> Arc<Self> {
        let none = || Symmetry::none(tables.dim, tables.nodes);
        if is_of_use {
            let symmetry = Symmetry::of(tables.cell, tables.degree);
            let (made, is_symmetric) = Self::in_classes(tables, parts, symmetry);
            if is_symmetric {
                return Arc::new(made);
            }
        }
        Arc::new(Self::in_classes(tables, parts, none()).0)
    }

    /// The matrices, and whether the blocks are all of them.
    fn in_classes(
        tables: &DenseTables,
        (mass, stiffness): (bool, bool),
        symmetry: Symmetry,
    ) -> (Self, bool) {
        let DenseTables {
            dim, nodes, points, ..
        } = *tables;
        let root = |point: usize| tables.weights[point].sqrt();
        // Columns of W^½ D, `[a][node][point]`, and of W^½ B, `[node][point]`.
        let slope = |a: usize, node: usize| -> Vec<f64> {
            let along = |point: usize| {
                let slopes = &tables.grad[(point * nodes + node) * dim..][..dim];
                root(point) * inner(slopes, &symmetry.axes[a][..dim])
            };
            (0..points).map(along).collect()
        };
        let value = |node: usize| -> Vec<f64> {
            let at = |point: usize| root(point) * tables.interp[point * nodes + node];
            (0..points).map(at).collect()
        };
        let values: Vec<Vec<f64>> = (0..if mass { nodes } else { 0 }).map(value).collect();
        let axes = if stiffness { dim } else { 0 };
        let slopes: Vec<Vec<Vec<f64>>> = (0..axes)
            .map(|a| (0..nodes).map(|node| slope(a, node)).collect())
            .collect();
        let classes = 0..symmetry.classes;
        let sums: Vec<_> = classes.clone().map(|class| symmetry.sums(class)).collect();
        // Columns of W^½ D, of functions of each class, `[class of functions][axis][sum][point]`, and of W^½ B likewise.
        let slopes_of = |class: usize| -> Vec<Vec<Vec<f64>>> {
            let of_axis = |a: usize| of_sums(&sums[symmetry.before(a, class)], &slopes[a]);
            (0..axes).map(of_axis).collect()
        };
        let slopes_of: Vec<_> = classes.clone().map(slopes_of).collect();
        let values_of: Vec<_> = match mass {
            true => sums.iter().map(|sums| of_sums(sums, &values)).collect(),
            false => Vec::new(),
        };
        let bases: Vec<_> = slopes_of
            .iter()
            .map(|columns| orthonormal(columns.iter().flatten()))
            .collect();
        let derivatives = bases.iter().zip(&slopes_of);
        let derivatives = derivatives.map(|(basis, axes)| {
            let of_axis = |columns: &Vec<Vec<f64>>| product(basis, columns);
            axes.iter().map(of_axis).collect()
        });
        let pairs = (0..axes).flat_map(|a| (0..axes).map(move |b| (a, b)));
        let made = Self {
            dim,
            nodes,
            stiffness: pairs
                .map(|(a, b)| product(&slopes[a], &slopes[b]))
                .collect(),
            mass: mass.then(|| product(&values, &values)),
            derivatives: derivatives.collect(),
            ranks: bases.iter().map(Vec::len).collect(),
            masses: values_of.iter().map(|it| product(it, it)).collect(),
            symmetry,
        };
        // Kernels loop over the rows of the first class for all.
        let ranks = &made.ranks;
        let are_alike = ranks
            .iter()
            .skip(1)
            .all(|&rank| rank == ranks[1] && rank <= ranks[0]);
        let are_all = are_orthogonal(&bases) && are_orthogonal(&values_of);
        (made, are_alike && are_all)
    }

    /// Those that kernels of a precision read, with the same axes.
    pub fn for_kernels(self: &Arc<Self>, precision: Precision) -> Arc<Self> {
        match separates_classes(self.nodes, precision) {
            true => Arc::clone(self),
            false => Arc::new(self.in_one_class()),
        }
    }

    /// The same with one class: matrices between nodes and all derivatives.
    fn in_one_class(&self) -> Self {
        let mut symmetry = Symmetry::none(self.dim, self.nodes);
        symmetry.axes.clone_from(&self.symmetry.axes);
        let mut derivatives = vec![Vec::new(); self.axes()];
        for (class, blocks) in self.derivatives.iter().enumerate() {
            for (axis, (block, rows)) in blocks.iter().zip(&mut derivatives).enumerate() {
                let sums = self.symmetry.sums(self.symmetry.before(axis, class));
                for entries in block.chunks_exact(sums.len()) {
                    let mut row = vec![0.0; self.nodes];
                    for (sum, entry) in sums.iter().zip(entries) {
                        for &(node, factor) in sum {
                            row[node] += factor * entry;
                        }
                    }
                    rows.extend(row);
                }
            }
        }
        Self {
            symmetry,
            derivatives: vec![derivatives],
            ranks: vec![self.rank()],
            masses: self.mass.iter().cloned().collect(),
            ..self.clone()
        }
    }

    /// The sizes on which schedules depend.
    pub fn sizes(&self) -> Sizes {
        let tiles = |class: usize| self.symmetry.sums(class).len().div_ceil(TILE);
        Sizes {
            nodes: self.nodes,
            factors: self.factors(),
            dim: self.dim,
            classes: self.symmetry.classes,
            sum_tiles: (0..self.symmetry.classes).map(tiles).sum(),
        }
    }

    /// Axes along which derivatives are taken.
    pub fn axes(&self) -> usize {
        if self.has_stiffness() { self.dim } else { 0 }
    }

    /// Rows of all blocks of an axis.
    pub fn rank(&self) -> usize {
        self.ranks.iter().sum()
    }

    /// Whether the form has gradients.
    pub fn has_stiffness(&self) -> bool {
        !self.stiffness.is_empty()
    }

    /// The number of factors of a cell, and of matrices with S_ab and S_ba added up.
    pub fn factors(&self) -> usize {
        pairs(self.dim) * usize::from(self.has_stiffness()) + usize::from(self.mass.is_some())
    }

    /// The matrices, `[matrix][row][column]`: with `symmetric`, S_ab + S_ba for a < b in place of both.
    pub fn all(&self, symmetric: bool) -> Vec<Vec<f64>> {
        let dim = self.dim;
        let mut all = Vec::new();
        if self.has_stiffness() {
            for a in 0..dim {
                for b in 0..dim {
                    let own = &self.stiffness[a * dim + b];
                    let other = &self.stiffness[b * dim + a];
                    match (symmetric, a.cmp(&b)) {
                        (true, std::cmp::Ordering::Less) => {
                            all.push(own.iter().zip(other).map(|(x, y)| x + y).collect());
                        }
                        (true, std::cmp::Ordering::Greater) => {}
                        _ => all.push(own.clone()),
                    }
                }
            }
        }
        all.extend(self.mass.clone());
        all
    }

    /// Writes the factors of a cell with λ and κ: G_ab for a ≤ b, then λ |J|, `[factors]`.
    pub fn pack(&self, map: CellMap, (lambda, kappa): (f64, f64), out: &mut [f64]) {
        let CellMap::Vertices(vertices) = map else {
            unreachable!("the map of a cell that is not an affine simplex");
        };
        let dim = self.dim;
        // Rows of J are the images of the axes: J[axis][d] = ∂x_d/∂ξ_axis.
        let edge = |axis: usize| {
            [0, 1, 2].map(|d| {
                let parts = self.symmetry.axes[axis].iter().zip(&vertices[1..]);
                parts
                    .map(|(part, vertex)| part * (vertex[d] - vertices[0][d]))
                    .sum()
            })
        };
        let [r, s] = [edge(0), edge(1)];
        let t = if dim == 3 { edge(2) } else { [0.0, 0.0, 1.0] };
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [0, 1, 2].map(|d| a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3])
        };
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        // Cofactors: ∇ξ_axis = cofactors[axis] / det J.
        let cofactors = [cross(s, t), cross(t, r), cross(r, s)];
        // The volume of the axes' images, that of the axes times the cell's determinant.
        let (volume, axes_volume) = (dot(r, cofactors[0]).abs(), self.symmetry.volume());
        let mut out = out.iter_mut();
        if self.has_stiffness() {
            for a in 0..dim {
                for b in a..dim {
                    if let Some(out) = out.next() {
                        *out = kappa * dot(cofactors[a], cofactors[b]) / (volume * axes_volume);
                    }
                }
            }
        }
        if let Some(out) = out.next() {
            *out = lambda * volume / axes_volume;
        }
    }
}

/// Pairs a ≤ b of axes.
const fn pairs(dim: usize) -> usize {
    dim * (dim + 1) / 2
}

/// Inner products of columns, `[left][right]`.
fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<f64> {
    let rows = left.iter();
    rows.flat_map(|left| right.iter().map(move |right| inner(left, right)))
        .collect()
}

fn inner(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(x, y)| x * y).sum()
}

/// The columns of the functions that are 1 for one of the sums over orbits and 0 for the others, from those of the nodes.
fn of_sums(sums: &[Vec<(usize, f64)>], columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of_sum = |sum: &Vec<(usize, f64)>| {
        let mut column = vec![0.0; columns[0].len()];
        for &(node, factor) in sum {
            for (out, x) in column.iter_mut().zip(&columns[node]) {
                *out += factor / sum.len() as f64 * x;
            }
        }
        column
    };
    sums.iter().map(of_sum).collect()
}

/// Whether columns of different classes are orthogonal, but for rounding.
fn are_orthogonal(classes: &[Vec<Vec<f64>>]) -> bool {
    let length = |column: &Vec<f64>| inner(column, column).sqrt();
    classes.iter().enumerate().all(|(class, columns)| {
        let others = || classes[class + 1..].iter().flatten();
        columns.iter().all(|column| {
            let most = ROUNDING * length(column);
            others().all(|other| inner(column, other).abs() <= most * length(other))
        })
    })
}

/// An orthonormal basis of the span of columns: Gram–Schmidt, twice for each column.
fn orthonormal<'a>(columns: impl Iterator<Item = &'a Vec<f64>> + Clone) -> Vec<Vec<f64>> {
    let length = |column: &Vec<f64>| inner(column, column).sqrt();
    let longest = columns.clone().map(length).fold(0.0, f64::max);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let mut rest = column.clone();
        for _ in 0..2 {
            for own in &basis {
                let part = inner(own, &rest);
                for (rest, own) in rest.iter_mut().zip(own) {
                    *rest -= part * own;
                }
            }
        }
        let length = length(&rest);
        if length > ROUNDING * longest {
            basis.push(rest.iter().map(|x| x / length).collect());
        }
    }
    basis
}

#[cfg(test)]
mod tests;
