//! Random elements with shared nodes, with unknowns and all kinds of fields, in double precision.

use femto_element::tables::BasisAtPoints;
use femto_kernel::family::EvalContext;
use femto_kernel::family::fields::{CellFields, FieldKind, Fields};
use femto_kernel::family::oracle::{self, OracleGeometry};
use femto_kernel::form::Form;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Time and parameters that are exact in single precision.
pub(super) const CONTEXT: EvalContext = EvalContext {
    time: 0.75,
    parameters: &[1.25, -0.5],
};

/// A map x = Σ c_m ξ^a η^b ζ^c, m = a + 2b + 4c, `[m][physical]`.
pub(super) type Map = [[f64; 3]; 8];

/// v = A u of one element, `[component][node]`.
pub(super) type Oracle = Box<dyn Fn(OracleGeometry, &CellFields, &[f64]) -> Vec<f64>>;

/// The oracle of a form.
pub(super) fn oracle<F, const D: usize, const C: usize>(
    form: F,
    basis: impl BasisAtPoints + 'static,
) -> Oracle
where
    F: Form<D, C> + 'static,
{
    Box::new(move |geometry, fields, u| {
        oracle::apply::<F, D, C>(&form, &basis, geometry, (fields, &CONTEXT), u)
    })
}

/// Random numbers that are exact in single precision.
pub(super) struct Random {
    pub(super) seed: u64,
    numbers: StdRng,
}

impl Random {
    pub(super) fn new() -> Self {
        let seed = rand::random();
        let numbers = StdRng::seed_from_u64(seed);
        Self { seed, numbers }
    }

    /// A number at most `size` away from `middle`.
    pub(super) fn near(&mut self, middle: f64, size: f64) -> f64 {
        f64::from((middle + self.numbers.random_range(-size..size)) as f32)
    }

    /// Numbers at most `size` away from `middle`.
    pub(super) fn vector(&mut self, len: usize, middle: f64, size: f64) -> Vec<f64> {
        (0..len).map(|_| self.near(middle, size)).collect()
    }
}

/// The ingredients of elements.
pub(super) struct Recipe {
    /// The map of each element.
    pub(super) maps: Vec<Map>,
    /// Whether Jacobians and positions are perturbed at each point from those of the maps.
    pub(super) curved: bool,
    /// `[element][node]`
    pub(super) nodes: Vec<u32>,
    /// Reference positions, `[point]`.
    pub(super) points: Vec<[f64; 3]>,
    pub(super) components: usize,
    pub(super) fields: Fields,
    /// The largest unknown and nodal value.
    pub(super) amplitude: f64,
}

/// Elements with all inputs of any kernel.
pub(super) struct Elements {
    pub(super) seed: u64,
    pub(super) recipe: Recipe,
    /// Number of nodes.
    pub(super) total: usize,
    /// `[element][point]`
    jacobian: Vec<[[f64; 3]; 3]>,
    /// `[element][point]`
    position: Vec<[f64; 3]>,
    /// `[element][field]`
    pub(super) cell_fields: Vec<f64>,
    /// `[field][node]`
    pub(super) nodal_fields: Vec<f64>,
    /// `[element][field][point]`
    pub(super) point_fields: Vec<f64>,
    /// `[component][node]`
    pub(super) u: Vec<f64>,
}

impl Elements {
    pub(super) fn new(mut random: Random, recipe: Recipe) -> Self {
        let points = &recipe.points;
        let of_map = |map| points.iter().map(move |&xi| at(map, xi));
        let (mut jacobian, mut position): (Vec<_>, Vec<_>) =
            recipe.maps.iter().flat_map(of_map).unzip();
        if recipe.curved {
            let entries = jacobian.iter_mut().flatten().flatten();
            for entry in entries.chain(position.iter_mut().flatten()) {
                *entry = random.near(*entry, 0.05);
            }
        }
        let total = recipe.nodes.iter().max().map_or(0, |&n| n as usize + 1);
        let count = |kind| recipe.fields.count(kind);
        let (cells, size) = (recipe.maps.len(), recipe.amplitude);
        let at_points = cells * count(FieldKind::Points) * points.len();
        Self {
            seed: random.seed,
            total,
            jacobian,
            position,
            cell_fields: random.vector(cells * count(FieldKind::Cell), 1.5, 1.0),
            nodal_fields: random.vector(total * count(FieldKind::Nodal), 0.0, size),
            point_fields: random.vector(at_points, 1.5, 1.0),
            u: random.vector(total * recipe.components, 0.0, size),
            recipe,
        }
    }

    /// Number of elements.
    pub(super) fn count(&self) -> usize {
        self.recipe.maps.len()
    }

    /// An element's part of an array over elements.
    pub(super) fn part<'a, N>(&self, all: &'a [N], element: usize) -> &'a [N] {
        let len = all.len() / self.count();
        &all[element * len..][..len]
    }

    /// An element's part of L-vectors `[vector][node]`.
    pub(super) fn gather(&self, element: usize, vectors: &[f64]) -> Vec<f64> {
        let nodes = self.part(&self.recipe.nodes, element).iter();
        let of = |vector: &'_ [f64]| nodes.clone().map(|&n| vector[n as usize]).collect();
        let parts: Vec<Vec<f64>> = vectors.chunks_exact(self.total).map(of).collect();
        parts.concat()
    }

    /// An element's geometry at its points.
    pub(super) fn geometry(&self, element: usize) -> OracleGeometry<'_> {
        OracleGeometry {
            jacobian: self.part(&self.jacobian, element),
            position: self.part(&self.position, element),
        }
    }

    /// The oracle's result for `u` on an element, `[component][node]`.
    pub(super) fn apply(&self, oracle: &Oracle, element: usize, u: &[f64]) -> Vec<f64> {
        let fields = CellFields {
            fields: self.recipe.fields,
            cell: self.part(&self.cell_fields, element),
            nodal: &self.gather(element, &self.nodal_fields),
            points: self.part(&self.point_fields, element),
        };
        let v = oracle(self.geometry(element), &fields, u);
        assert!(v.iter().all(|v| v.is_finite()), "seed {}", self.seed);
        v
    }

    /// Sums `[element][component][node]` at nodes, to `[component][node]`.
    pub(super) fn sum(&self, of_elements: &[Vec<f64>]) -> Vec<f64> {
        let mut sum = vec![0.0; self.u.len()];
        for (element, values) in of_elements.iter().enumerate() {
            let nodes = self.part(&self.recipe.nodes, element);
            for (n, value) in values.iter().enumerate() {
                let node = nodes[n % nodes.len()] as usize;
                sum[n / nodes.len() * self.total + node] += value;
            }
        }
        sum
    }
}

/// Jacobian and position of a map at a reference point, from its definition.
fn at(map: &Map, xi: [f64; 3]) -> ([[f64; 3]; 3], [f64; 3]) {
    let (mut jacobian, mut position) = ([[0.0; 3]; 3], [0.0; 3]);
    for (m, c) in map.iter().enumerate() {
        let has = |axis: usize| m >> axis & 1 == 1;
        let power = |axis: usize| if has(axis) { xi[axis] } else { 1.0 };
        for (row, c) in c.iter().enumerate() {
            position[row] += c * power(0) * power(1) * power(2);
            for axis in (0..3).filter(|&axis| has(axis)) {
                jacobian[row][axis] += c * power((axis + 1) % 3) * power((axis + 2) % 3);
            }
        }
    }
    (jacobian, position)
}
