//! Verification before use: the operator is compared with the oracle at some nodes of the caller's own
//! mesh, with all elements around them.

use super::pack::Packer;
use crate::Number;
use crate::operator::{Binding, OperatorError};
use crate::vector::{RandomVectors, VectorOps};
use femto_element::tables::Tables;
use femto_fem::geometry::GeometryAtPoints;
use femto_fem::parallel;
use femto_fem::space::{Layout, Space};
use femto_kernel::family::FactorPrecision;
use femto_kernel::family::fields::{CellFields, FieldKind};
use femto_kernel::family::oracle::OracleGeometry;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use std::collections::BTreeSet;
use std::ops::Range;

/// Seed of the input.
const SEED: u32 = 0;

/// Number of random nodes compared.
const NODES: usize = 6;

/// Limit on the (node, point) pairs that the oracle sums over: a fraction of a second.
const PAIRS: usize = 40_000_000;

/// v = A u of one element by the oracle, `[component][node]`.
fn oracle(binding: &Binding<'_>, element: usize, u: &[f64]) -> Vec<f64> {
    let tables = &binding.plan.operator.tables;
    let mut at = GeometryAtPoints::default();
    let cell = binding.mesh_cell(element);
    binding.maps().at_points(cell, &mut at);
    let geometry = OracleGeometry {
        jacobian: &at.jacobian,
        position: &at.position,
    };
    let at_cell = |kind| -> Vec<f64> { binding.fields_at(kind, cell).flatten().copied().collect() };
    let nodes = binding.space.element_nodes(element);
    let nodal = binding.params.auxiliary_of(FieldKind::Nodal);
    let nodal = nodal.flat_map(|field| nodes.iter().map(|&node| field[node as usize]));
    let fields = CellFields {
        fields: binding.params.fields(),
        cell: &at_cell(FieldKind::Cell),
        nodal: &nodal.collect::<Vec<f64>>(),
        points: &at_cell(FieldKind::Points),
    };
    let context = binding.params.context();
    let form = binding.form;
    form.oracle(tables, geometry, (&fields, &context), u)
}

/// Some entries of the oracle's answer, and their scale.
#[derive(Debug)]
pub(super) struct Expected {
    /// The size of the input's numbers, a power of two, see [`Expected::input`].
    amplitude: f64,
    /// Length of the input.
    dofs: usize,
    components: usize,
    interleaved: bool,
    /// Ranges of L-vector entries whose sums other blocks initialise.
    added: Vec<Range<usize>>,
    /// Nodes of an L-vector, and their values `[node][component]`.
    nodes: Vec<u32>,
    values: Vec<f64>,
    /// The elements that have them, with all their nodes.
    around: Vec<(usize, Vec<u32>)>,
    /// The largest sum over the elements at a node, counting for each element the largest number that it
    /// adds to any of its nodes: its share at one node may be zero but for rounding.
    scale: f64,
    tolerance: f64,
}

impl Expected {
    /// Evaluates the oracle at nodes, ascending.
    pub(super) fn at<T: Number>(nodes: Vec<u32>, binding: &Binding<'_>) -> Self {
        let space = binding.space;
        let at_node = |&node: &u32| space.elements_with(node as usize);
        let around: BTreeSet<usize> = nodes.iter().flat_map(at_node).collect();
        let with_nodes = |element| (element, space.element_nodes(element));
        let mut expected = Self {
            amplitude: amplitude(binding),
            dofs: space.dofs(),
            components: space.components(),
            added: added(space),
            interleaved: space.layout() == Layout::Interleaved,
            values: Vec::new(),
            around: around.into_iter().map(with_nodes).collect(),
            nodes,
            scale: 0.0,
            tolerance: tolerance::<T>(binding),
        };
        let mut values = vec![0.0; expected.nodes.len() * space.components()];
        let mut sizes = values.clone();
        let answers = parallel::map(expected.around.len(), |place| {
            let (element, own) = &expected.around[place];
            oracle(binding, *element, &expected.of_element::<T>(own))
        });
        let larger = |a: f64, b: f64| if a > b || a.is_nan() { a } else { b };
        for ((_, own), v_e) in expected.around.iter().zip(&answers) {
            let size = v_e.iter().map(|value| value.abs()).fold(0.0, larger);
            for (entry, value) in expected.entries(own, v_e) {
                values[entry] += value;
                sizes[entry] += size;
            }
        }
        expected.values = values;
        expected.scale = sizes.into_iter().fold(0.0, larger);
        expected
    }

    /// Entry number `entry` of the input.
    fn input<T: Number>(&self, entry: usize) -> f64 {
        self.amplitude * RandomVectors::<T>::entry(SEED, entry)
    }

    /// The index of a component of a node in an L-vector.
    fn place(&self, node: u32, component: usize) -> usize {
        match self.interleaved {
            true => node as usize * self.components + component,
            false => component * (self.dofs / self.components) + node as usize,
        }
    }

    /// The input of an element with these nodes, `[component][node]`.
    fn of_element<T: Number>(&self, nodes: &[u32]) -> Vec<f64> {
        let all = (0..self.components).flat_map(|c| nodes.iter().map(move |&node| (node, c)));
        all.map(|(node, c)| self.input::<T>(self.place(node, c)))
            .collect()
    }

    /// The L-vector entries that an element's values `[component][node]` add to, with the values.
    fn entries(&self, nodes: &[u32], v_e: &[f64]) -> Vec<(usize, f64)> {
        let mut entries = Vec::new();
        for (n, &wanted) in self.nodes.iter().enumerate() {
            let own = nodes.iter().enumerate();
            for (position, _) in own.filter(|&(_, &node)| node == wanted) {
                entries.extend(
                    (0..self.components)
                        .map(|c| (n * self.components + c, v_e[c * nodes.len() + position])),
                );
            }
        }
        entries
    }

    #[cfg(test)]
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Whether all expected values are finite.
    pub(super) fn is_finite(&self) -> bool {
        self.scale.is_finite()
    }

    /// The largest error of `apply` on the input, relative to the scale; infinite if a value is not finite.
    pub(super) fn error<T: Number>(
        &self,
        device: &Accelerator,
        apply: impl FnOnce(
            &AcceleratorBuffer<T>,
            &mut AcceleratorBuffer<T>,
        ) -> Result<(), OperatorError>,
    ) -> Result<f64, OperatorError> {
        let random = RandomVectors::<T>::new(device)?;
        let (mut u, mut v) = (random.make(SEED, self.dofs)?, device.zeros(self.dofs)?);
        if self.amplitude != 1.0 {
            device.fill(self.amplitude, &mut v)?;
            device.multiply(&v, &mut u)?;
        }
        device.fill(f64::NAN, &mut v)?;
        for range in &self.added {
            device.fill_zero(&mut v, range.clone())?;
        }
        apply(&u, &mut v)?;
        let mut found = Vec::with_capacity(self.values.len());
        for &node in &self.nodes {
            for component in 0..self.components {
                found.extend(random.part(&v, self.place(node, component), 1)?);
            }
        }
        Ok(self.worst(found.iter().map(|number| number.to_f64())))
    }

    /// As [`Self::error`], on E-vectors `[element][component][node]` of this many elements.
    pub(super) fn element_error<T: Number>(
        &self,
        (device, elements): (&Accelerator, usize),
        apply: impl FnOnce(
            &AcceleratorBuffer<T>,
            &mut AcceleratorBuffer<T>,
        ) -> Result<(), OperatorError>,
    ) -> Result<f64, OperatorError> {
        let own = self.around.first();
        let len = own.map_or(0, |(_, own)| own.len() * self.components);
        let input = |at| T::from_f64(self.input::<T>(at));
        let mut u: Vec<T> = parallel::map(elements * len, input);
        for (element, own) in &self.around {
            let values = self.of_element::<T>(own);
            let out = u[element * len..][..len].iter_mut();
            out.zip(values)
                .for_each(|(out, value)| *out = T::from_f64(value));
        }
        let (u, mut result) = (device.upload(&u)?, device.zeros(u.len())?);
        device.fill(f64::NAN, &mut result)?;
        apply(&u, &mut result)?;
        let random = RandomVectors::<T>::new(device)?;
        let mut found = vec![0.0; self.values.len()];
        for (element, own) in &self.around {
            let v_e = random.part(&result, element * len, len)?;
            let v_e: Vec<f64> = v_e.iter().map(|number| number.to_f64()).collect();
            for (entry, value) in self.entries(own, &v_e) {
                found[entry] += value;
            }
        }
        Ok(self.worst(found.into_iter()))
    }

    fn worst(&self, found: impl Iterator<Item = f64>) -> f64 {
        let scale = self.scale.max(f64::MIN_POSITIVE);
        let errors = found.zip(&self.values);
        let errors = errors.map(|(found, value)| (found - value).abs() / scale);
        errors.fold(0.0, |worst, error| match error.is_nan() {
            true => f64::INFINITY,
            false => worst.max(error),
        })
    }

    /// The error that rounding allows a correct kernel.
    pub(super) fn tolerance(&self) -> f64 {
        self.tolerance
    }
}

/// Nodes to compare: for each kind of map a vertex of the middle element, then of the first and the last,
/// then random nodes, as many as the oracle can afford.
pub(super) fn chosen_nodes(space: &Space, blocks: &[Packer<'_>]) -> Vec<u32> {
    let mut nodes = Vec::new();
    for place in [|n: usize| n / 2, |_| 0, |n: usize| n - 1] {
        let first = |block: &Packer<'_>| {
            let element = block.elements[place(block.elements.len())];
            space.element_nodes(element as usize)[0]
        };
        nodes.extend(blocks.iter().map(first));
    }
    let count = space.nodes();
    let random = (0..NODES).map(|n| RandomVectors::<f64>::entry(SEED, count + n).abs());
    let random = random.map(|part| (part * count as f64) as u32);
    nodes.extend(random.filter(|&node| space.restriction().touches(node as usize)));
    // At high degree the oracle is slow.
    let affordable = PAIRS / (8 * space.nodes_per_element().pow(2));
    nodes.truncate(affordable.max(blocks.len()));
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The L-vector entries that elements add to after other blocks have initialised them.
fn added(space: &Space) -> Vec<Range<usize>> {
    let restriction = space.restriction();
    if restriction.block == 0 {
        return Vec::new();
    }
    let (first, nodes) = (restriction.first_interface, restriction.nodes);
    let (fields, width) = match space.layout() {
        Layout::Interleaved => (1, space.components()),
        Layout::Blocked => (space.components(), 1),
    };
    (0..fields)
        .map(|field| (field * nodes + first) * width..(field + 1) * nodes * width)
        .collect()
}

/// The scale of the input: material laws need small gradients.
fn amplitude(binding: &Binding<'_>) -> f64 {
    if binding.plan.operator.inspection.affine {
        return 1.0;
    }
    let (geometry, dim) = (binding.geometry, binding.space.dim());
    let cells = (0..geometry.len()).step_by((geometry.len() / 64).max(1));
    let edges = |cell: usize| -> [[f64; 3]; 3] {
        match &binding.plan.operator.tables {
            Tables::Tensor(_) => {
                let c = geometry.trilinear_coefficients(cell);
                [1, 2, 4].map(|m: usize| c[m].map(|x| 2.0 * x))
            }
            Tables::Dense(_) => {
                let vertices = geometry.simplex_vertices(cell);
                [1, 2, 3].map(|n: usize| [0, 1, 2].map(|d| vertices[n][d] - vertices[0][d]))
            }
        }
    };
    let length = |edge: &[f64; 3]| edge.iter().map(|x| x * x).sum::<f64>().sqrt();
    let lengths =
        cells.flat_map(|cell| edges(cell).map(|edge| length(&edge)).into_iter().take(dim));
    let least = lengths.filter(|&it| it > 0.0).reduce(f64::min);
    let least = least.unwrap_or(1.0);
    let degree = binding.space.degree().most() as f64;
    // A power of two, so that scaling is exact in any precision.
    (0.01 * least / degree.powi(2)).log2().floor().exp2()
}

/// The error that rounding allows a correct kernel: rounded factors are off by about half a unit in the
/// last place, weighted by the ratio of their products to the largest sum.
fn tolerance<T: Number>(binding: &Binding<'_>) -> f64 {
    let plan = binding.plan;
    match T::PRECISION {
        Precision::Fp64
            if plan.operator.coefficients.is_some() && plan.is_perturbed(T::PRECISION) =>
        {
            32.0 * FactorPrecision::SINGLE_CHANGE
        }
        Precision::Fp64 => 1e-11,
        Precision::Fp32 => 1e-4,
    }
}
