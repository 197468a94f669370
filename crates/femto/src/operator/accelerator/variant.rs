//! Kernels, and the check that each passes before it is used.

use super::pack::{self, Group, Stored, cast};
use crate::Number;
use crate::accelerator::limits;
use crate::operator::{Binding, OperatorError};
use femto_fem::geometry::GeometryAtPoints;
use femto_kernel::dialect::BlockShape;
use femto_kernel::family::tensor_hex::oracle::{self, CellFields, OracleGeometry};
use femto_kernel::family::tensor_hex::pencils::{
    FactorPrecision, Knobs, PencilKernel, Pencils, Problem, Scatter, Vectors, source,
};
use femto_kernel::family::tensor_hex::work::Shape;
use femto_kernel::family::tensor_hex::{Basis, EvalContext};
use femto_kernel::form::Form;
use femto_kernel::roofline::Precision;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Device, DeviceError};

/// Elements of a sample at most.
const MOST: usize = 3;

/// Pairs of a node and a point that the oracle may sum over for a sample: a fraction of a second.
const PAIRS: usize = 20_000_000;

/// A compiled kernel and its schedule.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) schedule: Pencils,
    kernel: Kernel,
    block: BlockShape,
    precision: Precision,
}

impl Variant {
    pub(super) fn compile<T: Number>(
        device: &Accelerator,
        cache: &KernelCache,
        source: &PencilKernel,
        entry: &str,
    ) -> Result<Self, DeviceError> {
        let text = KernelText::new(&source.name, &source.text);
        Ok(Self {
            schedule: source.schedule,
            kernel: device.compile(&text, cache)?.kernel(entry)?,
            block: source.block,
            precision: T::PRECISION,
        })
    }

    pub(super) fn launch(
        &self,
        device: &Accelerator,
        elements: usize,
        arguments: &[Argument<'_>],
    ) -> Result<(), DeviceError> {
        let launch = Launch {
            blocks: self.schedule.blocks(elements),
            threads: self.block.threads,
            shared_bytes: self.block.shared_bytes(self.precision),
        };
        device.launch(&self.kernel, &launch, arguments)
    }
}

/// Which schedules are tried, best first, and what is done to a text before it is compiled: nothing,
/// but for the test that plants a wrong one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variants {
    pub(super) schedules: fn(&Shape, Vectors, FactorPrecision) -> Vec<Pencils>,
    /// With any only the first schedule is tried, with these knobs.
    pub(super) knobs: Knobs,
    pub(super) edit: fn(&Pencils, String) -> String,
}

impl Default for Variants {
    fn default() -> Self {
        Self {
            schedules: candidates,
            knobs: Knobs::default(),
            edit: |_, text| text,
        }
    }
}

/// The measured best, then plainer ones that need less of the device.
pub(super) fn candidates(
    shape: &Shape,
    vectors: Vectors,
    factors: FactorPrecision,
) -> Vec<Pencils> {
    let plain = Pencils::plain();
    let even_odd = Pencils {
        even_odd: true,
        ..plain
    };
    vec![Pencils::best(shape, vectors, factors), even_odd, plain]
}

/// Some of the caller's elements, with an input and what the oracle makes of it.
#[derive(Debug)]
pub(super) struct Sample {
    /// `[element][geometry_len]`.
    geometry: Vec<f64>,
    /// `[element][component][node]`; exact in single precision.
    u: Vec<f64>,
    /// The same of `A u`.
    expected: Vec<f64>,
    elements: usize,
}

impl Sample {
    pub(super) fn new<T: Number, F, const C: usize>(
        binding: &Binding<'_, F>,
        basis: &Basis,
        group: &Group<T>,
    ) -> Self
    where
        F: Form<3, C>,
    {
        let affordable = PAIRS / (basis.nodes() * basis.points());
        let elements = group.elements.len().min(affordable.clamp(1, MOST));
        let mut random = Random::new(group.elements.len() as u64);
        let chosen: Vec<u32> = (0..elements)
            .map(|_| group.elements[random.below(group.elements.len())])
            .collect();
        let len = C * basis.nodes();
        let value = |random: &mut Random| random.below(2048) as f64 / 1024.0 - 1.0;
        let u: Vec<f64> = (0..elements * len).map(|_| value(&mut random)).collect();
        let mut at_points = GeometryAtPoints::default();
        let mut expected = Vec::with_capacity(u.len());
        for (&element, u) in chosen.iter().zip(u.chunks_exact(len)) {
            let cell = binding.mesh_cell(element as usize);
            binding
                .geometry
                .at_points(cell, &basis.points, &mut at_points);
            let geometry = OracleGeometry {
                jacobian: &at_points.jacobian,
                position: &at_points.position,
            };
            let a = binding.params.at_cell(cell);
            let environment = (&CellFields::constant(&a), &EvalContext::default());
            expected.extend(oracle::apply(binding.form, basis, geometry, environment, u));
        }
        let geometry = pack::geometry(binding, (basis, &group.shape), &chosen);
        Self {
            geometry,
            u,
            expected,
            elements,
        }
    }
}

/// What a kernel is checked with.
pub(super) struct Check<'a, T> {
    pub(super) device: &'a Accelerator,
    pub(super) cache: &'a KernelCache,
    pub(super) rule: &'a AcceleratorBuffer<T>,
    pub(super) sample: &'a Sample,
}

impl Variants {
    /// The first schedule that the device can run and whose kernel agrees with the oracle.
    ///
    /// What is dropped because it is wrong is warned of; what the device cannot run is passed over.
    pub(super) fn first_that_is_right<T: Number>(
        &self,
        problem: &Problem,
        check: &Check<'_, T>,
        warnings: &mut Vec<String>,
    ) -> Result<Variant, OperatorError> {
        let limits = limits(check.device.features());
        let mut last: Option<OperatorError> = None;
        let mut schedules = (self.schedules)(&problem.shape, problem.vectors, problem.factors);
        if !self.knobs.is_empty() {
            schedules.truncate(1);
        }
        for schedule in schedules {
            let schedule = self.knobs.turn(schedule);
            if let Err(error) = schedule.validate(&problem.shape, problem.numbers(), &limits) {
                last = Some(error.into());
                continue;
            }
            let mut source = source(problem, &schedule);
            source.text = (self.edit)(&schedule, source.text);
            let (variant, error) = match check.compile(problem, &source) {
                Ok(found) => found,
                // This device does not take this kernel; it may take a plainer one.
                Err(error @ OperatorError::Device(DeviceError::Kernel(_))) => {
                    last = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if error <= tolerance(problem) {
                return Ok(variant);
            }
            let wrong = OperatorError::WrongVariant {
                kernel: source.name,
                schedule: schedule.to_string(),
                error,
            };
            warnings.push(format!("{wrong}; it is not used"));
            last = Some(wrong);
        }
        Err(last.unwrap_or(OperatorError::FormOnAccelerator))
    }
}

impl<T: Number> Check<'_, T> {
    /// The kernel of a source, and how far it is from the oracle.
    fn compile(
        &self,
        problem: &Problem,
        source: &PencilKernel,
    ) -> Result<(Variant, f64), OperatorError> {
        let variant = Variant::compile::<T>(self.device, self.cache, source, "apply")?;
        let error = self.error(problem, &variant)?;
        Ok((variant, error))
    }

    /// The largest difference from the oracle, relative to its largest value; infinite where
    /// something is not finite.
    fn error(&self, problem: &Problem, variant: &Variant) -> Result<f64, OperatorError> {
        let (device, sample) = (self.device, self.sample);
        let places = Places::of(problem, sample.elements);
        let (mut u, mut v) = (vec![0.0; sample.u.len()], vec![0.0; sample.u.len()]);
        for (entry, &value) in sample.u.iter().enumerate() {
            u[places.entry(entry)] = value;
            // Only what is added to may be zero before; the rest must be written.
            let added = places.nodal && !places.is_inside(entry);
            v[places.entry(entry)] = if added { 0.0 } else { f64::NAN };
        }
        let kept = (&problem.shape, problem.factors);
        let geometry = Stored::<T>::upload(device, kept, &sample.geometry)?;
        let u = device.upload(&cast::<f64, T>(&u))?;
        let mut v = device.upload(&cast::<f64, T>(&v))?;
        let mut contributions = device.upload(&vec![T::from_f64(f64::NAN); sample.u.len()])?;
        let table = super::table(device, places.table())?;
        let elements = Argument::U32(sample.elements as u32);
        let mut arguments = vec![geometry.argument(), Argument::input(self.rule)];
        match problem.vectors {
            Vectors::Element { listed: false } => {}
            Vectors::Element { listed: true } => arguments.push(Argument::input(&table)),
            Vectors::Nodal { scatter, .. } => {
                let nodes = places.all_nodes() as u32;
                arguments.extend([
                    Argument::input(&table),
                    Argument::U32(nodes),
                    Argument::U32(if places.interleaved { 1 } else { nodes }),
                ]);
                if scatter == Scatter::Deterministic {
                    arguments.extend([
                        Argument::output(&mut contributions),
                        Argument::U32(nodes),
                        Argument::U32(0),
                    ]);
                }
            }
        }
        arguments.extend([Argument::input(&u), Argument::output(&mut v), elements]);
        variant.launch(device, sample.elements, &arguments)?;
        let (mut found, mut shared) = (vec![T::default(); sample.u.len()], Vec::new());
        device.read(&v, &mut found)?;
        if places.shared {
            shared = vec![T::default(); sample.u.len()];
            device.read(&contributions, &mut shared)?;
        }
        let value = |entry| {
            if places.shared && !places.is_inside(entry) {
                shared[places.contribution(entry)]
            } else {
                found[places.entry(entry)]
            }
        };
        let largest = |m: f64, v: &f64| m.max(v.abs());
        let scale = sample.expected.iter().fold(f64::MIN_POSITIVE, largest);
        let errors = sample.expected.iter().enumerate();
        Ok(errors.fold(0.0, |worst: f64, (entry, &expected)| {
            let error = (value(entry).to_f64() - expected).abs() / scale;
            if error.is_nan() {
                f64::INFINITY
            } else {
                worst.max(error)
            }
        }))
    }
}

/// Where the entries of a sample are in the vectors that a kernel is checked with: nodal vectors in
/// which no two elements share a node.
struct Places<'a> {
    basis: &'a Basis,
    components: usize,
    elements: usize,
    nodal: bool,
    interleaved: bool,
    /// Shell nodes are not in the output but among the contributions.
    shared: bool,
}

impl<'a> Places<'a> {
    fn of(problem: &Problem<'a>, elements: usize) -> Self {
        let (nodal, interleaved, shared) = match problem.vectors {
            Vectors::Element { .. } => (false, false, false),
            Vectors::Nodal {
                interleaved,
                scatter,
            } => (true, interleaved, scatter == Scatter::Deterministic),
        };
        Self {
            basis: problem.basis,
            components: problem.shape.components,
            elements,
            nodal,
            interleaved,
            shared,
        }
    }

    /// The place of an entry among the contributions.
    fn contribution(&self, entry: usize) -> usize {
        let (np, c) = (self.basis.nodes(), self.components);
        let (element, component, position) = (entry / (c * np), entry / np % c, entry % np);
        component * self.all_nodes() + element * np + position
    }

    fn all_nodes(&self) -> usize {
        self.elements * self.basis.nodes()
    }

    /// Whether an entry `[element][component][node]` is of a node inside its element.
    fn is_inside(&self, entry: usize) -> bool {
        let n = self.basis.nodes_1d;
        let node = entry % self.basis.nodes();
        [node % n, node / n % n, node / (n * n)]
            .iter()
            .all(|&i| i > 0 && i < n - 1)
    }

    /// The place of an entry `[element][component][node]`.
    fn entry(&self, entry: usize) -> usize {
        if !self.nodal {
            return entry;
        }
        let (np, c) = (self.basis.nodes(), self.components);
        let (element, component, position) = (entry / (c * np), entry / np % c, entry % np);
        let node = element * np + position;
        if self.interleaved {
            node * c + component
        } else {
            component * self.all_nodes() + node
        }
    }

    /// The nodes of each element, or the list of elements.
    fn table(&self) -> Vec<u32> {
        let entries = if self.nodal {
            self.all_nodes()
        } else {
            self.elements
        };
        (0..entries as u32).collect()
    }
}

/// What a kernel may differ by from the oracle in double precision. Rounded factors are some half
/// units in the last place away, as many as their products weigh more than the largest sum.
fn tolerance(problem: &Problem) -> f64 {
    let perturbed = problem
        .factors
        .perturbs(problem.shape.storage, problem.precision);
    match problem.precision {
        Precision::Fp64 if perturbed => 32.0 * FactorPrecision::SINGLE_CHANGE,
        Precision::Fp64 => 1e-12,
        Precision::Fp32 => 2e-5,
    }
}

/// Numbers without a pattern (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    /// No seed may leave the state zero.
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(0x9e37_79b9_7f4a_7c15).max(1))
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
    }
}
