//! Kernels of sum_factorization on a pile of random hexahedra or quadrilaterals.

use femto_element::Cell;
use femto_element::tables::TensorTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::CellMap;
use femto_kernel::family::cell_quadrature::source::Interleave;
use femto_kernel::family::oracle::OracleGeometry;
use femto_kernel::family::sum_factorization::Storage;
use femto_kernel::family::sum_factorization::kernel::{
    KernelSpec, PointStep, Schedule, ThreadPer, pack,
};
use femto_kernel::family::sum_factorization::work::Shape;
use femto_kernel::family::{FactorPrecision, KernelSource, Operand, Vectors};
use femto_kernel::form::TracedForm;
use femto_kernel::scalar::Precision;

use super::Case;
use super::elements::{Elements, Map, Oracle, Random, Recipe};
use super::runner::{Run, Value};

/// Elements of a check: several blocks, the last one not full. They are stacked: the top of one is the
/// bottom of the next.
const ELEMENTS: usize = 5;

/// The same if a thread has an element, or a layer of one; no multiple of 5, 6 or 8.
const WHOLE_ELEMENTS: usize = 71;

/// λ if coefficients are folded; κ is 1.
pub(super) const LAMBDA: f64 = 1.3;

/// Tables of a degree, at its own nodes or at Gauss points.
pub(super) fn basis(cell: Cell, degree: usize, collocated: bool) -> TensorTables {
    let tables = match collocated {
        true => TensorTables::collocated(cell, degree),
        false => TensorTables::gauss(cell, degree, degree + 2),
    };
    tables.expect("degrees up to 15")
}

/// The operator that a kernel evaluates.
#[derive(Clone)]
pub(super) struct Operator {
    pub(super) basis: TensorTables,
    pub(super) shape: Shape,
    /// The form, unless its coefficients are folded.
    pub(super) form: Option<TracedForm>,
    pub(super) factors: FactorPrecision,
    pub(super) vectors: Vectors,
    pub(super) precision: Precision,
}

impl Operator {
    pub(super) fn problem(&self, language: Language) -> KernelSpec<'_> {
        KernelSpec {
            basis: &self.basis,
            shape: self.shape,
            step: match &self.form {
                Some(form) => PointStep::Form(form),
                None => PointStep::Factors(self.factors),
            },
            vectors: self.vectors,
            precision: self.precision,
            language,
        }
    }

    /// The case of a kernel of this operator.
    pub(super) fn case(
        self,
        name: String,
        (kernel, schedule): (KernelSource, Schedule),
        oracle: Oracle,
        tolerance: f64,
    ) -> Case {
        let count = match schedule.thread_per {
            ThreadPer::Pencil => ELEMENTS,
            ThreadPer::Layer | ThreadPer::Element => WHOLE_ELEMENTS,
        };
        Case {
            name,
            text: kernel.text.clone(),
            check: Box::new(move |device, module| {
                let mut random = Random::new();
                let recipe = self.recipe(&mut random, count);
                let elements = Elements::new(random, recipe);
                let mut arrays = self.arrays(&elements);
                let mut written = self.written(count);
                if kernel.operands.contains(&Operand::Blocks) {
                    let problem = self.problem(Language::Cuda);
                    let nodes = &elements.recipe.nodes;
                    // Some nodes are in other launches too.
                    let elsewhere: Vec<bool> = (0..elements.total).map(|n| n % 5 == 3).collect();
                    let lists = problem.block_sums(&schedule, nodes, &elsewhere);
                    written.fill(false);
                    lists
                        .private_nodes()
                        .for_each(|node| written[node as usize] = true);
                    arrays.extend(lists.arrays().map(|(of, array)| (of, array.into())));
                }
                let run = Run {
                    elements: &elements,
                    kernel: &kernel,
                    vectors: self.vectors,
                    interleave: Interleave::NONE,
                    precision: self.precision,
                    arrays,
                    written,
                    places: count,
                };
                run.check((device, module), &oracle, tolerance)
            }),
        }
    }

    fn recipe(&self, random: &mut Random, count: usize) -> Recipe {
        let (basis, shape) = (&self.basis, &self.shape);
        let own = basis.nodes();
        let node = |n: usize| n / own * (own - own / basis.nodes_1d) + n % own;
        Recipe {
            maps: (0..count).map(|_| self.map(random)).collect(),
            curved: shape.storage.is_at_points(),
            nodes: (0..count * own).map(|n| node(n) as u32).collect(),
            points: basis.rule().points,
            components: shape.components,
            fields: shape.fields,
            // Small, like displacements: no element is turned inside out, even where a polynomial has steep
            // slopes.
            amplitude: 0.1 / ((basis.nodes_1d - 1).pow(2).max(2) as f64),
        }
    }

    /// A map near the identity; for a quadrilateral that of the layer above it.
    fn map(&self, random: &mut Random) -> Map {
        let (dim, storage) = (self.shape.dim, self.shape.storage);
        let is_affine = matches!(storage, Storage::Affine | Storage::ElementFactors);
        core::array::from_fn(|m| {
            core::array::from_fn(|d| {
                let is_flat = dim == 2 && (d == 2 || m >= 4);
                let is_bent = m > 2 && m != 4;
                let size = if is_flat || is_affine && is_bent {
                    0.0
                } else {
                    0.1
                };
                let middle = f64::from(u8::from(m == 1 << d));
                if size > 0.0 {
                    random.near(middle, size)
                } else {
                    middle
                }
            })
        })
    }

    /// The interior nodes of elements.
    fn written(&self, count: usize) -> Vec<bool> {
        let n = self.basis.nodes_1d;
        let (own, plane) = (self.basis.nodes(), self.basis.nodes() / n);
        let total = count * (own - plane) + plane;
        let is_inside = |node: usize| {
            let place = node % (own - plane);
            let along = [place % n, place / n % n, place / (n * n)];
            along[..self.shape.dim].iter().all(|&i| 0 < i && i < n - 1)
        };
        (0..total).map(is_inside).collect()
    }

    fn arrays(&self, elements: &Elements) -> Vec<(Operand, Value)> {
        let problem = self.problem(Language::Cuda);
        let len = problem.geometry_len();
        let mut geometry = vec![0.0; elements.count() * len];
        for (element, out) in geometry.chunks_exact_mut(len).enumerate() {
            let OracleGeometry { jacobian, position } = elements.geometry(element);
            let given = match self.shape.storage.is_at_points() {
                true => CellMap::Points { jacobian, position },
                false => CellMap::Map(&elements.recipe.maps[element]),
            };
            pack((&self.shape, &self.basis), given, (LAMBDA, 1.0), out);
        }
        let geometry = match problem.stored_precision() {
            Precision::Fp32 => Value::Singles(geometry),
            Precision::Fp64 => Value::Reals(geometry),
        };
        let rule = self.basis.points.iter().zip(&self.basis.weights);
        let rule = rule.flat_map(|(&x, &w)| [x, w]).collect();
        vec![
            (Operand::Geometry, geometry),
            (Operand::Rule, Value::Reals(rule)),
        ]
    }
}
