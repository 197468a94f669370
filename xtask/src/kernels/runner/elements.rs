//! Random elements that share nodes, with unknowns and fields of every kind, in double precision.

use femto_element::tables::BasisAtPoints;
use femto_kernel::family::EvalContext;
use femto_kernel::family::fields::{CellFields, FieldKind, Fields};
use femto_kernel::family::oracle::{self, OracleGeometry};
use femto_kernel::form::Form;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Time and parameters, which single precision holds.
pub(super) const CONTEXT: EvalContext = EvalContext {
    time: 0.75,
    parameters: &[1.25, -0.5],
};

/// A map x = Σ c_m ξ^a η^b ζ^c, m = a + 2b + 4c, `[m][physical]`.
pub(in crate::kernels) type Map = [[f64; 3]; 8];

/// v = A u of one element, `[component][node]`.
pub(in crate::kernels) type Oracle = Box<dyn Fn(OracleGeometry, &CellFields, &[f64]) -> Vec<f64>>;

/// The oracle of a form.
pub(in crate::kernels) fn oracle<F, const D: usize, const C: usize>(
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

/// Random numbers that single precision holds.
pub(in crate::kernels) struct Random {
    seed: u64,
    numbers: StdRng,
}

impl Random {
    /// Fresh numbers.
    pub(in crate::kernels) fn new() -> Self {
        let seed = rand::random();
        let numbers = StdRng::seed_from_u64(seed);
        Self { seed, numbers }
    }

    /// A number at most `size` away from `middle`.
    pub(in crate::kernels) fn near(&mut self, middle: f64, size: f64) -> f64 {
        f64::from((middle + self.numbers.random_range(-size..size)) as f32)
    }

    fn vector(&mut self, len: usize, middle: f64, size: f64) -> Vec<f64> {
        (0..len).map(|_| self.near(middle, size)).collect()
    }
}

/// What elements are made from.
pub(in crate::kernels) struct Recipe {
    /// The map of each element.
    pub(in crate::kernels) maps: Vec<Map>,
    /// Whether Jacobians and positions differ from those of the maps, at each point otherwise.
    pub(in crate::kernels) curved: bool,
    /// `[element][node]`
    pub(in crate::kernels) nodes: Vec<u32>,
    /// Reference positions, `[point]`.
    pub(in crate::kernels) points: Vec<[f64; 3]>,
    pub(in crate::kernels) components: usize,
    pub(in crate::kernels) fields: Fields,
    /// The largest unknown and nodal value.
    pub(in crate::kernels) amplitude: f64,
}

/// Elements and everything that a kernel reads of them, whatever the kernel.
pub(in crate::kernels) struct Elements {
    pub(super) seed: u64,
    pub(in crate::kernels) count: usize,
    /// Number of nodes.
    pub(super) total: usize,
    /// Nodes of an element.
    pub(super) own: usize,
    pub(super) components: usize,
    /// `[element][node]`
    pub(super) nodes: Vec<u32>,
    /// `[element][point]`
    jacobian: Vec<[[f64; 3]; 3]>,
    /// `[element][point]`
    position: Vec<[f64; 3]>,
    fields: Fields,
    /// `[element][field]`
    pub(in crate::kernels) cell_fields: Vec<f64>,
    /// `[field][node]`
    pub(super) nodal_fields: Vec<f64>,
    /// `[element][field][point]`
    pub(super) point_fields: Vec<f64>,
    /// `[component][node]`
    pub(super) u: Vec<f64>,
}

impl Elements {
    pub(in crate::kernels) fn new(random: &mut Random, recipe: Recipe) -> Self {
        let (maps, points) = (&recipe.maps, &recipe.points);
        let at = maps
            .iter()
            .flat_map(|map| points.iter().map(|&xi| at(map, xi)));
        let (mut jacobian, mut position): (Vec<_>, Vec<_>) = at.unzip();
        if recipe.curved {
            let entries = jacobian.iter_mut().flatten().flatten();
            for entry in entries.chain(position.iter_mut().flatten()) {
                *entry = random.near(*entry, 0.05);
            }
        }
        let total = recipe
            .nodes
            .iter()
            .max()
            .map_or(0, |&most| most as usize + 1);
        let count = |kind| recipe.fields.count(kind);
        let cells = maps.len();
        Self {
            seed: random.seed,
            count: cells,
            total,
            own: recipe.nodes.len() / cells,
            components: recipe.components,
            jacobian,
            position,
            fields: recipe.fields,
            cell_fields: random.vector(cells * count(FieldKind::Cell), 1.5, 1.0),
            nodal_fields: random.vector(total * count(FieldKind::Nodal), 0.0, recipe.amplitude),
            point_fields: random.vector(cells * count(FieldKind::Points) * points.len(), 1.5, 1.0),
            u: random.vector(total * recipe.components, 0.0, recipe.amplitude),
            nodes: recipe.nodes,
        }
    }

    /// An element's part of an array over elements.
    pub(in crate::kernels) fn part<'a, N>(&self, all: &'a [N], element: usize) -> &'a [N] {
        let len = all.len() / self.count;
        &all[element * len..][..len]
    }

    /// An element's part of L-vectors `[vector][node]`.
    pub(super) fn gather(&self, element: usize, vectors: &[f64]) -> Vec<f64> {
        let nodes = self.part(&self.nodes, element);
        let vectors = vectors.chunks_exact(self.total);
        vectors
            .flat_map(|vector| nodes.iter().map(|&node| vector[node as usize]))
            .collect()
    }

    /// An element's unknowns, `[component][node]`.
    pub(in crate::kernels) fn unknowns(&self, element: usize) -> Vec<f64> {
        self.gather(element, &self.u)
    }

    /// An element's geometry at its points.
    pub(in crate::kernels) fn geometry(&self, element: usize) -> OracleGeometry<'_> {
        OracleGeometry {
            jacobian: self.part(&self.jacobian, element),
            position: self.part(&self.position, element),
        }
    }

    /// What the oracle makes of `u` on an element, `[component][node]`.
    pub(super) fn apply(&self, oracle: &Oracle, element: usize, u: &[f64]) -> Vec<f64> {
        let fields = CellFields {
            fields: self.fields,
            cell: self.part(&self.cell_fields, element),
            nodal: &self.gather(element, &self.nodal_fields),
            points: self.part(&self.point_fields, element),
        };
        oracle(self.geometry(element), &fields, u)
    }

    /// The sum of `[element][component][node]` at nodes, `[component][node]`.
    pub(super) fn sum(&self, of_elements: &[Vec<f64>]) -> Vec<f64> {
        let mut sum = vec![0.0; self.u.len()];
        for (element, values) in of_elements.iter().enumerate() {
            let nodes = self.part(&self.nodes, element);
            for (sum, values) in sum.chunks_mut(self.total).zip(values.chunks(self.own)) {
                for (&node, value) in nodes.iter().zip(values) {
                    sum[node as usize] += value;
                }
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
