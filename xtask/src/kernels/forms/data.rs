//! Random elements, values and fields, and what the oracle makes of them.

use femto_element::tables::TensorTables;
use femto_kernel::family::EvalContext;
use femto_kernel::family::fields::{CellFields, FieldKind, Fields};
use femto_kernel::family::oracle::{self, OracleGeometry};
use femto_kernel::family::sum_factorization::kernel::Problem;
use femto_kernel::family::sum_factorization::{ElementGeometry, Storage};
use femto_kernel::form::Form;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::super::pencils::at_points;

/// Elements of a check: several blocks, the last one not full. They are a pile: the top of one is the
/// bottom of the next.
pub(super) const ELEMENTS: usize = 5;

/// Time and parameters, which single precision holds.
pub(super) const CONTEXT: EvalContext = EvalContext {
    time: 0.75,
    parameters: &[1.25, -0.5],
};

/// What is asked of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Apply,
    Diagonal,
}

/// Elements with Jacobians at the points.
struct Geometry {
    jacobian: Vec<[[f64; 3]; 3]>,
    position: Vec<[f64; 3]>,
}

/// The input of a check; numbers that single precision holds.
pub(super) struct Data {
    pub(super) seed: u64,
    /// Nodes along an axis, and axes of an element.
    nodes_1d: usize,
    dim: usize,
    fields: Fields,
    each: Vec<Geometry>,
    /// As the kernel reads it.
    pub(super) geometry: Vec<f64>,
    pub(super) rule: Vec<f64>,
    /// Number of nodes.
    pub(super) total: usize,
    /// `[component][node]`
    pub(super) u: Vec<f64>,
    /// `[element][field]`, `[field][node]`, `[element][field][point]`.
    pub(super) cell: Vec<f64>,
    pub(super) nodal: Vec<f64>,
    pub(super) points: Vec<f64>,
}

impl Data {
    pub(super) fn new(problem: &Problem) -> Self {
        let (basis, shape) = (problem.basis, &problem.shape);
        let seed = rand::rng().random();
        let mut random = StdRng::seed_from_u64(seed);
        let mut numbers = |count: usize, middle: f64, size: f64| -> Vec<f64> {
            let mut number = || f64::from((middle + random.random_range(-size..size)) as f32);
            (0..count).map(|_| number()).collect()
        };
        let len = problem.geometry_len();
        let mut geometry = vec![0.0; ELEMENTS * len];
        let element = |out: &mut [f64]| {
            let map = map((shape.dim, shape.storage), &numbers(24, 0.0, 0.1));
            let (jacobian, position) = at_points(&map, basis);
            let given = if shape.storage == Storage::Jacobians {
                ElementGeometry::Points {
                    jacobian: &jacobian,
                    position: &position,
                }
            } else {
                ElementGeometry::Map(&map)
            };
            problem.pack(given, (0.0, 0.0), out);
            Geometry { jacobian, position }
        };
        let each = geometry.chunks_exact_mut(len).map(element).collect();
        let plane = basis.nodes() / basis.nodes_1d;
        let total = (ELEMENTS * (basis.nodes_1d - 1) + 1) * plane;
        // As displacements: no element is turned inside out, also where a polynomial has steep slopes.
        let small = 0.1 / ((basis.nodes_1d - 1).pow(2).max(2) as f64);
        let u = numbers(shape.components * total, 0.0, small);
        let count = |kind| shape.fields.count(kind);
        let rule = basis.points.iter().zip(&basis.weights);
        Self {
            seed,
            nodes_1d: basis.nodes_1d,
            dim: shape.dim,
            fields: shape.fields,
            each,
            geometry,
            rule: rule.flat_map(|(&x, &w)| [x, w]).collect(),
            total,
            u,
            cell: numbers(ELEMENTS * count(FieldKind::Cell), 1.5, 1.0),
            nodal: numbers(count(FieldKind::Nodal) * total, 0.0, small),
            points: numbers(
                ELEMENTS * count(FieldKind::Points) * basis.points(),
                1.5,
                1.0,
            ),
        }
    }

    /// Nodes of an element.
    pub(super) fn nodes(&self) -> usize {
        self.nodes_1d.pow(self.dim as u32)
    }

    /// The node at a place of an element.
    pub(super) fn node(&self, element: usize, place: usize) -> usize {
        element * (self.nodes() - self.nodes() / self.nodes_1d) + place
    }

    /// Whether a place of an element is inside of it.
    pub(super) fn is_inside(&self, place: usize) -> bool {
        let n = self.nodes_1d;
        let along = [place % n, place / n % n, place / (n * n)];
        along[..self.dim].iter().all(|&i| 0 < i && i < n - 1)
    }

    /// An element's part of L-vectors `[vector][node]`: `[vector][place]`.
    pub(super) fn of_element(&self, element: usize, vectors: &[f64]) -> Vec<f64> {
        let places = |vector: &[f64]| -> Vec<f64> {
            let place = |place| vector[self.node(element, place)];
            (0..self.nodes()).map(place).collect()
        };
        vectors.chunks_exact(self.total).flat_map(places).collect()
    }

    /// What the oracle makes of each element, `[element][component][place]`.
    pub(super) fn expected<F: Form<D, C>, const D: usize, const C: usize>(
        &self,
        form: &F,
        basis: &TensorTables,
        action: Action,
    ) -> Vec<Vec<f64>> {
        let element = |element: usize| {
            let nodal = self.of_element(element, &self.nodal);
            let fields = CellFields {
                fields: self.fields,
                cell: part(&self.cell, element),
                nodal: &nodal,
                points: part(&self.points, element),
            };
            let geometry = OracleGeometry {
                jacobian: &self.each[element].jacobian,
                position: &self.each[element].position,
            };
            let environment = (&fields, &CONTEXT);
            let u = self.of_element(element, &self.u);
            match action {
                Action::Apply => oracle::apply(form, basis, geometry, environment, &u),
                Action::Diagonal => oracle::diagonal(form, basis, geometry, environment),
            }
        };
        (0..ELEMENTS).map(element).collect()
    }

    /// Sums `[element][component][place]` at nodes, `[component][node]`.
    pub(super) fn sum(&self, of_elements: &[Vec<f64>]) -> Vec<f64> {
        let nodes = self.nodes();
        let components = self.u.len() / self.total;
        let mut sum = vec![0.0; self.u.len()];
        for (element, values) in of_elements.iter().enumerate() {
            for n in 0..components * nodes {
                sum[n / nodes * self.total + self.node(element, n % nodes)] += values[n];
            }
        }
        sum
    }
}

/// An element's part of an array.
fn part(all: &[f64], element: usize) -> &[f64] {
    let len = all.len() / ELEMENTS;
    &all[element * len..][..len]
}

/// A map near the identity; of a quadrilateral that of the layer over it.
fn map((dim, storage): (usize, Storage), numbers: &[f64]) -> [[f64; 3]; 8] {
    core::array::from_fn(|m| {
        [0, 1, 2].map(|d| {
            let is_flat = dim == 2 && (d == 2 || m >= 4);
            let number = if is_flat { 0.0 } else { numbers[3 * m + d] };
            match m {
                1 | 2 | 4 => f64::from((number + f64::from(u8::from(m == 1 << d))) as f32),
                3.. if storage == Storage::Affine => 0.0,
                _ => number,
            }
        })
    })
}
