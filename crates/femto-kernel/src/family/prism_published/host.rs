//! The stages on the host: serial as published, and by threads, with atomic additions where theirs raced.

use super::element::{Element, NODES, POINTS};
use super::{Columns, Stage, Vector};
use core::f64::consts::PI;
use core::sync::atomic::{AtomicU64, Ordering};
use rayon::prelude::*;

/// How the loops are distributed over threads. All visit cells in expression 1, and copy in expression 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// One thread, columns one after another.
    Serial,
    /// Threads over columns.
    Columns,
    /// Threads over the cells of a column, columns one after another.
    Cells,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Serial, Self::Columns, Self::Cells];

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Columns => "columns",
            Self::Cells => "cells",
        }
    }
}

/// A nodal vector that threads add to, `[node]`; the bits of doubles.
#[derive(Debug)]
struct Nodal(Vec<AtomicU64>);

impl Nodal {
    #[inline]
    fn get(&self, node: usize) -> f64 {
        f64::from_bits(self.0[node].load(Ordering::Relaxed))
    }

    #[inline]
    fn set(&self, node: usize, value: f64) {
        self.0[node].store(value.to_bits(), Ordering::Relaxed);
    }

    /// Adds with a plain load and store.
    #[inline]
    fn add_alone(&self, node: usize, value: f64) {
        self.set(node, self.get(node) + value);
    }

    /// Adds while other threads may.
    #[inline]
    fn add_atomic(&self, node: usize, value: f64) {
        let bits = &self.0[node];
        let mut found = bits.load(Ordering::Relaxed);
        loop {
            let sum = (f64::from_bits(found) + value).to_bits();
            match bits.compare_exchange_weak(found, sum, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => found = other,
            }
        }
    }
}

/// The nodal vectors of the stages.
#[derive(Debug)]
pub struct Stages<'a> {
    columns: &'a Columns,
    element: Element,
    vectors: [Nodal; Vector::ALL.len()],
}

impl<'a> Stages<'a> {
    /// Vectors of NaN.
    pub fn new(columns: &'a Columns) -> Self {
        let poison = || AtomicU64::new(f64::NAN.to_bits());
        let nodal = |_| Nodal((0..columns.nodes()).map(|_| poison()).collect());
        Self {
            columns,
            element: Element::new(),
            vectors: Vector::ALL.map(nodal),
        }
    }

    /// A vector, `[node]`.
    pub fn vector(&self, vector: Vector) -> Vec<f64> {
        let nodal = self.nodal(vector);
        (0..nodal.0.len()).map(|node| nodal.get(node)).collect()
    }

    /// Sets a vector to zero.
    pub fn zero(&mut self, vector: Vector, variant: Variant) {
        let target = self.nodal(vector);
        self.each_node(variant, |node| target.set(node, 0.0));
    }

    /// Overwrites a vector, `[node]`.
    #[cfg(test)]
    pub(super) fn set(&mut self, vector: Vector, values: &[f64]) {
        assert_eq!(values.len(), self.columns.nodes());
        let nodal = self.nodal(vector);
        (0..values.len()).for_each(|node| nodal.set(node, values[node]));
    }

    fn nodal(&self, vector: Vector) -> &Nodal {
        &self.vectors[vector as usize]
    }

    /// Runs a stage on rayon's current threads.
    pub fn run(&mut self, stage: Stage, variant: Variant) {
        match stage {
            Stage::Zero => {
                for vector in Vector::SUMS {
                    self.zero(vector, variant);
                }
            }
            Stage::Expression1 => {
                let f = self.nodal(Vector::F);
                self.each_cell(variant, |nodes| {
                    for node in nodes {
                        f.set(node, right_hand_side(self.columns.position(node)));
                    }
                });
            }
            Stage::Expression2 => {
                let (load, copy) = (self.nodal(Vector::Load), self.nodal(Vector::Copy));
                self.each_node(variant, |node| copy.set(node, load.get(node)));
            }
            Stage::Rhs1 => self.sum(Vector::Load, variant, |cell| cell.load(Vector::F)),
            Stage::Rhs => self.sum(Vector::Rhs, variant, |cell| cell.rhs()),
            Stage::Lhs => self.sum(Vector::Lhs, variant, |cell| {
                cell.matrix().map(|row| row.iter().sum())
            }),
            Stage::Action => self.sum(Vector::Lhs, variant, |cell| {
                let u = cell.values(Vector::Load);
                cell.matrix()
                    .map(|row| row.iter().zip(u).map(|(a, u)| a * u).sum())
            }),
        }
    }

    /// Adds a cell's result to its nodes, for all cells.
    #[inline]
    fn sum(
        &self,
        target: Vector,
        variant: Variant,
        of: impl Fn(&CellOfStages) -> [f64; NODES] + Sync,
    ) {
        let target = self.nodal(target);
        let add = match variant {
            Variant::Serial => Nodal::add_alone,
            Variant::Columns | Variant::Cells => Nodal::add_atomic,
        };
        self.each_cell(variant, |nodes| {
            let values = of(&CellOfStages::new(self, nodes));
            for (node, value) in nodes.into_iter().zip(values) {
                add(target, node, value);
            }
        });
    }

    /// Calls `work` with the nodes of every cell.
    #[inline]
    fn each_cell(&self, variant: Variant, work: impl Fn([usize; NODES]) + Sync) {
        let columns = self.columns;
        let cell = |triangle, layer| work(columns.cell(triangle, layer));
        let column = |triangle| (0..columns.layers()).for_each(|layer| cell(triangle, layer));
        let triangles = 0..columns.triangles();
        match variant {
            Variant::Serial => triangles.into_iter().for_each(column),
            Variant::Columns => triangles.into_par_iter().for_each(column),
            Variant::Cells => triangles.into_iter().for_each(|triangle| {
                let layers = (0..columns.layers()).into_par_iter();
                layers.for_each(|layer| cell(triangle, layer));
            }),
        }
    }

    fn each_node(&self, variant: Variant, work: impl Fn(usize) + Sync + Send) {
        let nodes = 0..self.columns.nodes();
        match variant {
            Variant::Serial => nodes.into_iter().for_each(work),
            Variant::Columns | Variant::Cells => nodes.into_par_iter().for_each(work),
        }
    }
}

/// f of [`Stage::Expression1`].
pub(super) fn right_hand_side(x: [f64; 3]) -> f64 {
    let cosines = x.map(|x| (x * PI * 2.0).cos());
    (1.0 + 12.0 * PI * PI) * cosines[0] * cosines[1] * cosines[2]
}

/// A cell and its map.
struct CellOfStages<'a> {
    stages: &'a Stages<'a>,
    nodes: [usize; NODES],
    /// The inverse of the Jacobian, `[reference][physical]`.
    inverse: [[f64; 3]; 3],
    /// |det J|
    det: f64,
}

impl<'a> CellOfStages<'a> {
    #[inline]
    fn new(stages: &'a Stages<'a>, nodes: [usize; NODES]) -> Self {
        let position = |n: usize| stages.columns.position(nodes[n]);
        let (origin, ends) = (position(0), [2, 4, 1].map(position));
        // [physical][reference]
        let j: [[f64; 3]; 3] =
            core::array::from_fn(|i| core::array::from_fn(|a| ends[a][i] - origin[i]));
        let cofactor = |i: usize, a: usize| {
            let ([i1, i2], [a1, a2]) = (next(i), next(a));
            j[i1][a1] * j[i2][a2] - j[i1][a2] * j[i2][a1]
        };
        let det: f64 = (0..3).map(|i| j[i][0] * cofactor(i, 0)).sum();
        Self {
            stages,
            nodes,
            inverse: core::array::from_fn(|a| core::array::from_fn(|i| cofactor(i, a) / det)),
            det: det.abs(),
        }
    }

    #[inline]
    fn values(&self, vector: Vector) -> [f64; NODES] {
        self.nodes.map(|node| self.stages.nodal(vector).get(node))
    }

    /// ∇φ at a point, `[node][physical]`.
    #[inline]
    fn gradients(&self, point: usize) -> [[f64; 3]; NODES] {
        let derivatives = &self.stages.element.derivatives;
        core::array::from_fn(|n| {
            core::array::from_fn(|i| {
                (0..3)
                    .map(|a| self.inverse[a][i] * derivatives[a][point][n])
                    .sum()
            })
        })
    }

    /// ∫ φ u.
    #[inline]
    fn load(&self, vector: Vector) -> [f64; NODES] {
        let (element, u) = (&self.stages.element, self.values(vector));
        let mut sums = [0.0; NODES];
        for point in 0..POINTS {
            let phi = &element.values[point];
            let f = dot(&u, phi);
            for (sum, phi) in sums.iter_mut().zip(phi) {
                *sum += self.det * element.weights[point] * phi * f;
            }
        }
        sums
    }

    /// ∫ φ (w₁ − w₀) + ∇φ·∇w₁.
    #[inline]
    fn rhs(&self) -> [f64; NODES] {
        let element = &self.stages.element;
        let (w1, w0) = (self.values(Vector::Load), self.values(Vector::Copy));
        let mut sums = [0.0; NODES];
        for point in 0..POINTS {
            let (phi, gradients) = (&element.values[point], self.gradients(point));
            let value = dot(&w1, phi) - dot(&w0, phi);
            let mut slope = [0.0; 3];
            for (w1, gradient) in w1.iter().zip(&gradients) {
                (0..3).for_each(|i| slope[i] += w1 * gradient[i]);
            }
            let weight = self.det * element.weights[point];
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum += (phi[j] * value + dot(&gradients[j], &slope)) * weight;
            }
        }
        sums
    }

    /// A = M + K, `[j][k]`, in 36 sums over the points.
    #[inline]
    fn matrix(&self) -> [[f64; NODES]; NODES] {
        let element = &self.stages.element;
        let mut a = [[0.0; NODES]; NODES];
        for point in 0..POINTS {
            let (phi, gradients) = (&element.values[point], self.gradients(point));
            let weight = self.det * element.weights[point];
            for j in 0..NODES {
                for k in 0..NODES {
                    a[j][k] += (phi[k] * phi[j] + dot(&gradients[k], &gradients[j])) * weight;
                }
            }
        }
        a
    }
}

/// The other two axes, in cyclic order.
#[inline]
const fn next(axis: usize) -> [usize; 2] {
    [(axis + 1) % 3, (axis + 2) % 3]
}

#[inline]
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
