//! The check that an operator passes before it is used: against the oracle, at some nodes of the
//! caller's own mesh, with all elements around them.

use crate::Number;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_fem::space::{Layout, Space};
use femto_kernel::family::batch::EvalContext;
use femto_kernel::family::fields::{CellFields, FieldKind};
use femto_kernel::family::simplex_quadrature::{self, Element};
use femto_kernel::family::tensor_hex::{self, Basis};
use femto_kernel::form::Form;
use femto_kernel::roofline::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer};
use rayon::prelude::*;

/// v = A u of one element by the oracle: the element's number and `[component][node]`.
pub(super) type Oracle<'a> = dyn Fn(usize, &[f64]) -> Vec<f64> + 'a;

/// Nodes that are compared.
const NODES: usize = 6;

/// Pairs of a node and a point that the oracle may sum over: a fraction of a second.
const PAIRS: usize = 40_000_000;

/// The fields of one cell as the oracles take them.
struct FieldsOf {
    cell: Vec<f64>,
    nodal: Vec<f64>,
    points: Vec<f64>,
}

impl FieldsOf {
    fn new<F>(binding: &Binding<'_, F>, element: usize, points: usize) -> Self {
        let (space, params) = (binding.space, binding.params);
        let cell = space.cells()[element] as usize;
        let nodes = space.element_nodes(element);
        let nodal = params.auxiliary_of(FieldKind::Nodal);
        let at_points = params.auxiliary_of(FieldKind::Points);
        Self {
            cell: params
                .auxiliary_of(FieldKind::Cell)
                .map(|field| field[cell])
                .collect(),
            nodal: nodal
                .flat_map(|field| nodes.iter().map(|&node| field[node as usize]))
                .collect(),
            points: at_points
                .flat_map(|field| field[cell * points..][..points].iter().copied())
                .collect(),
        }
    }
}

/// The oracle of simplices.
pub(super) fn simplex<'a, F: Form<D, C>, const D: usize, const C: usize>(
    binding: &'a Binding<'_, F>,
    element: &'a Element,
    points: &'a [[f64; 3]],
) -> impl Fn(usize, &[f64]) -> Vec<f64> + 'a {
    use simplex_quadrature::oracle::{OracleGeometry, apply};
    move |number, u| {
        let cell = binding.mesh_cell(number);
        let mut at = GeometryAtPoints::default();
        binding.geometry.at_simplex_points(cell, points, &mut at);
        let geometry = OracleGeometry {
            jacobian: &at.jacobian,
            position: &at.position,
        };
        let own = FieldsOf::new(binding, number, points.len());
        let fields = CellFields {
            fields: binding.params.fields(),
            cell: &own.cell,
            nodal: &own.nodal,
            points: &own.points,
        };
        let conditions = EvalContext {
            time: binding.params.time,
            parameters: &binding.params.parameters,
        };
        apply(binding.form, element, geometry, (&fields, &conditions), u)
    }
}

/// The oracle of hexahedra.
pub(super) fn hexahedron<'a, F: Form<3, C>, const C: usize>(
    binding: &'a Binding<'_, F>,
    basis: &'a Basis,
) -> impl Fn(usize, &[f64]) -> Vec<f64> + 'a {
    use tensor_hex::oracle::{OracleGeometry, apply};
    move |number, u| {
        let cell = binding.mesh_cell(number);
        let mut at = GeometryAtPoints::default();
        binding.geometry.at_points(cell, &basis.points, &mut at);
        let geometry = OracleGeometry {
            jacobian: &at.jacobian,
            position: &at.position,
        };
        let own = FieldsOf::new(binding, number, basis.points());
        let fields = CellFields {
            fields: binding.params.fields(),
            cell: &own.cell,
            nodal: &own.nodal,
            points: &own.points,
        };
        let conditions = EvalContext {
            time: binding.params.time,
            parameters: &binding.params.parameters,
        };
        apply(binding.form, basis, geometry, (&fields, &conditions), u)
    }
}

/// An input, some entries of what the oracle makes of it, and how large they are.
pub(super) struct Expected {
    /// An L-vector, exact in single precision.
    u: Vec<f64>,
    /// `(entry of an L-vector, value)`.
    entries: Vec<(usize, f64)>,
    /// The largest sum of what elements add to an entry, each without its sign.
    scale: f64,
    precision: Precision,
}

impl Expected {
    /// Asks the oracle; an input of numbers up to `amplitude`.
    pub(super) fn new(
        space: &Space,
        oracle: &Oracle<'_>,
        amplitude: f64,
        precision: Precision,
    ) -> Self {
        let u: Vec<f64> = (0..space.dofs() as u64)
            .into_par_iter()
            .map(|entry| f64::from((amplitude * unit(entry)) as f32))
            .collect();
        let count = space.nodes() as u64;
        // At high degree the oracle is slow, and most nodes are inside of one element anyway.
        let affordable = PAIRS / (8 * space.nodes_per_element().pow(2));
        let nodes: Vec<u32> = (0..NODES.min(affordable.max(1)) as u64)
            .map(|n| (unit(count + n).abs() * count as f64) as u32)
            .collect();
        let around: Vec<usize> = (0..space.elements())
            .into_par_iter()
            .filter(|&element| {
                let own = space.element_nodes(element);
                own.iter().any(|node| nodes.contains(node))
            })
            .collect();
        let (components, np) = (space.components(), space.nodes_per_element());
        let place = |node: u32, c: usize| match space.layout() {
            Layout::Interleaved => node as usize * components + c,
            Layout::Blocked => c * space.nodes() + node as usize,
        };
        let mut sums = vec![(0.0, 0.0); nodes.len() * components];
        for element in around {
            let own = space.element_nodes(element);
            let all = (0..components).flat_map(|c| own.iter().map(move |&node| (node, c)));
            let u_e: Vec<f64> = all.map(|(node, c)| u[place(node, c)]).collect();
            let v_e = oracle(element, &u_e);
            for (position, node) in own.iter().enumerate() {
                for (n, _) in nodes.iter().enumerate().filter(|&(_, other)| other == node) {
                    for c in 0..components {
                        let value = v_e[c * np + position];
                        let sum = &mut sums[n * components + c];
                        *sum = (sum.0 + value, sum.1 + value.abs());
                    }
                }
            }
        }
        let entry = |n: usize| place(nodes[n / components], n % components);
        Self {
            entries: (0..sums.len()).map(|n| (entry(n), sums[n].0)).collect(),
            scale: sums.iter().fold(0.0, |scale, sum| sum.1.max(scale)),
            u,
            precision,
        }
    }

    /// Whether there are numbers to compare with.
    pub(super) fn is_finite(&self) -> bool {
        self.scale.is_finite()
    }

    /// The largest difference of what `apply` makes of the input, relative to the scale.
    pub(super) fn error<T: Number>(
        &self,
        device: &Accelerator,
        apply: impl FnOnce(
            &AcceleratorBuffer<T>,
            &mut AcceleratorBuffer<T>,
        ) -> Result<(), OperatorError>,
    ) -> Result<f64, OperatorError> {
        let u: Vec<T> = self.u.par_iter().map(|&u| T::from_f64(u)).collect();
        let mut v = vec![T::from_f64(f64::NAN); u.len()];
        let (u, mut result) = (device.upload(&u)?, device.upload(&v)?);
        apply(&u, &mut result)?;
        device.read(&result, &mut v)?;
        let scale = self.scale.max(f64::MIN_POSITIVE);
        let difference = |&(entry, value): &(usize, f64)| (v[entry].to_f64() - value).abs() / scale;
        let worst = |worst: f64, error: f64| match error.is_nan() {
            true => f64::INFINITY,
            false => worst.max(error),
        };
        Ok(self.entries.iter().map(difference).fold(0.0, worst))
    }

    /// What a right kernel may differ by.
    pub(super) fn tolerance(&self) -> f64 {
        match self.precision {
            Precision::Fp64 => 1e-11,
            Precision::Fp32 => 1e-4,
        }
    }
}

/// A number in [-1, 1) for a counter (the finaliser of splitmix64, Steele, Lea and Flood 2014).
fn unit(counter: u64) -> f64 {
    let mut z = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
