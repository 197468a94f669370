//! One measurement from its parameters to its row.

use super::problem::Problem;
use super::roofline::Measure;
use super::row::Outcome;
use super::subject::Subject;
use super::timing::{random, since};
use super::{BenchError, Benchmark, MeshShape, Physics, Row, Sampling, Size, VectorKind, memory};
use crate::operator::{Backend, OperatorError};
use crate::vector::VectorOps;
use crate::{DataLevel, FactorPrecision, Host, Knobs, Number, Scatter};
use femto_fem::space::SpaceParams;
use femto_kernel::roofline::{Ceilings, Precision};
use femto_platform::device::DeviceKind;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// The largest vectors whose output is compared with the host's.
const MOST_COMPARED: usize = 200_000;
/// Cells along x, y and z of the mesh that kernels are compiled for before the clock runs.
const FEW_CELLS: [usize; 3] = [2; 3];

/// A device that can be measured: operators and vectors of either precision.
pub trait Testbed: Backend + Measure + VectorOps<f64> + VectorOps<f32> {}

impl<D: Backend + Measure + VectorOps<f64> + VectorOps<f32>> Testbed for D {}

/// What the clock runs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// One application of the operator.
    #[default]
    Application,
    /// One iteration of conjugate gradients with the Jacobi preconditioner, on T-vectors: all of
    /// the boundary is constrained where the form has no mass term.
    CgIteration,
}

/// What to measure; the number of threads is the host's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// An application or an iteration.
    pub measured: Measured,
    /// Degree. Default 4.
    pub degree: usize,
    /// How large. Default 1.5e6 entries.
    pub size: Size,
    /// The mesh. Default [`MeshShape::Sine`].
    pub mesh: MeshShape,
    /// How much of the geometry is stored.
    pub data_level: DataLevel,
    /// How accelerators store factors at points.
    pub factors: FactorPrecision,
    /// Knobs of an accelerator's kernel in place of the measured ones.
    pub knobs: Knobs,
    /// Fold coefficients into the geometry where the form allows it. Default `true`.
    pub fold_coefficients: bool,
    /// How accelerators sum shared nodes; the host's sums are always deterministic.
    pub scatter: Scatter,
    /// Precision of vectors and arithmetic. Default `Fp64`.
    pub precision: Precision,
    /// How often.
    pub sampling: Sampling,
}

impl Params {
    /// A benchmark with defaults for the rest.
    pub fn new(benchmark: Benchmark) -> Self {
        Self {
            benchmark,
            measured: Measured::default(),
            degree: 4,
            size: Size::Dofs(1_500_000),
            mesh: MeshShape::default(),
            data_level: DataLevel::default(),
            factors: FactorPrecision::default(),
            knobs: Knobs::default(),
            fold_coefficients: true,
            scatter: Scatter::default(),
            precision: Precision::Fp64,
            sampling: Sampling::default(),
        }
    }

    /// Fails where [`run`] would, before anything is made.
    ///
    /// # Errors
    /// A degree out of range, conjugate gradients on an element-local kernel, a problem that
    /// cannot fit the memory of the device or of the host.
    pub fn check<D: Backend>(&self, device: &D) -> Result<(), BenchError> {
        let benchmark = self.benchmark;
        let basis = benchmark.quadrature().basis(self.degree)?;
        if self.measured == Measured::CgIteration && benchmark.vector() == VectorKind::E {
            return Err(BenchError::NoIterations { benchmark });
        }
        let kind = device.info().kind;
        if kind == DeviceKind::Host && self.factors == FactorPrecision::Single {
            return Err(OperatorError::SingleFactorsOnHost.into());
        }
        if !self.knobs.is_empty() && (!kind.is_accelerator() || !self.fold_coefficients) {
            return Err(OperatorError::KnobsElsewhere.into());
        }
        memory::check(self, self.cells(), basis.points_1d, &device.info())
    }

    /// Whether the measurements have mesh and space in common.
    pub fn has_problem_of(&self, other: &Self) -> bool {
        let key = |it: &Self| {
            let components = it.benchmark.components();
            (it.mesh, it.cells(), it.degree, components, it.is_held())
        };
        key(self) == key(other)
    }

    /// Whether the boundary is constrained: without a mass term constants have no energy.
    fn is_held(&self) -> bool {
        let singular = self.benchmark.physics() == Physics::Poisson;
        self.measured == Measured::CgIteration && singular
    }

    /// A mesh with so many cells and a space on it.
    pub(super) fn problem(&self, cells: [usize; 3]) -> Result<Problem, BenchError> {
        let mut space = SpaceParams {
            degree: self.degree,
            components: self.benchmark.components(),
            ..SpaceParams::default()
        };
        if self.is_held() {
            let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
            space.dirichlet = sides.map(str::to_owned).to_vec();
        }
        Problem::new(self.mesh, cells, space)
    }

    /// Cells along x, y and z, for the size that was asked for.
    pub(super) fn cells(&self) -> [usize; 3] {
        let components = self.benchmark.components();
        self.size
            .cells(self.degree, components, self.benchmark.vector())
    }

    /// The vectors that are counted.
    pub fn vector(&self) -> VectorKind {
        match self.measured {
            Measured::Application => self.benchmark.vector(),
            Measured::CgIteration => VectorKind::T,
        }
    }
}

/// Measures: 1. mesh, geometry and space, 2. kernels, 3. operator, 4. comparison, 5. time, 6. row.
///
/// `ceilings` are those of `device`, see [`roofline::ceilings`](super::roofline::ceilings).
///
/// # Errors
/// Parameters out of range; no memory; an output that is not finite.
pub fn run<D: Testbed>(
    device: &D,
    params: &Params,
    ceilings: &Ceilings,
) -> Result<Row, BenchError> {
    Bench::default().run(device, params, ceilings)
}

/// Measurements one after the other. Mesh and space are kept for the next one that needs the same, and
/// its row has the time that they took to make.
#[derive(Default)]
pub struct Bench {
    last: Option<(Params, Problem)>,
}

impl Bench {
    /// As [`run`].
    ///
    /// # Errors
    /// As [`run`].
    pub fn run<D: Testbed>(
        &mut self,
        device: &D,
        params: &Params,
        ceilings: &Ceilings,
    ) -> Result<Row, BenchError> {
        params.check(device)?;
        let problem = self.problem(params)?;
        match params.precision {
            Precision::Fp64 => run_in::<f64, D>(device, params, problem, ceilings),
            Precision::Fp32 => run_in::<f32, D>(device, params, problem, ceilings),
        }
    }

    fn problem(&mut self, params: &Params) -> Result<&Problem, BenchError> {
        let last = self.last.take();
        let problem = match last.filter(|(last, _)| last.has_problem_of(params)) {
            Some((_, problem)) => problem,
            None => params.problem(params.cells())?,
        };
        Ok(&self.last.insert((*params, problem)).1)
    }
}

fn run_in<T: Number, D: Backend + VectorOps<T>>(
    device: &D,
    params: &Params,
    problem: &Problem,
    ceilings: &Ceilings,
) -> Result<Row, BenchError> {
    let points_1d = params
        .benchmark
        .quadrature()
        .basis(params.degree)?
        .points_1d;
    let compile_seconds = compile::<T, D>(device, params)?;

    let start = Instant::now();
    let subject = Subject::<T, D>::new(device, params, problem)?;
    device.synchronize()?;
    let operator_seconds = since(start);

    let error = compare(&subject, params, problem)?;
    let (timing, work) = match params.measured {
        Measured::Application => (subject.time_apply(params)?, subject.work()),
        Measured::CgIteration => (subject.time_iteration(params)?, subject.iteration_work()),
    };
    let operator = &subject.operator;
    let outcome = Outcome {
        problem,
        device: device.info(),
        points_1d,
        data_level: operator.data_level(),
        schedule: operator.explain(None, None).schedule.join("; "),
        warnings: operator.warnings().join("; "),
        dofs: subject.len(params.vector()),
        work,
        nominal_flops: operator.nominal_flops(),
        timing,
        error,
        compile_seconds,
        operator_seconds,
        operator_bytes_per_dof: operator.bytes() as f64 / operator.dofs() as f64,
    };
    Ok(Row::new(params, &outcome, ceilings))
}

/// Has an accelerator compile what [`run`] will need for all these parameters, on so many threads at the
/// same time, and keep it in the cache on disk; [`Row::compile_seconds`] then tells how long it takes to
/// fetch it from there.
///
/// Says nothing of failures: [`run`] meets them again.
pub fn compile_all<D: Testbed>(device: &D, all: &[Params], threads: usize) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(params) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = match params.precision {
                Precision::Fp64 => compile::<f64, D>(device, params),
                Precision::Fp32 => compile::<f32, D>(device, params),
            };
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(all.len()) {
            scope.spawn(work);
        }
    });
}

/// Has the device compile and check the kernels, on a few elements; seconds that took.
fn compile<T: Number, D: Backend>(device: &D, params: &Params) -> Result<f64, BenchError> {
    if device.info().kind == DeviceKind::Host {
        return Ok(0.0);
    }
    let problem = params.problem(FEW_CELLS)?;
    let start = Instant::now();
    let subject = Subject::<T, D>::new(device, params, &problem)?;
    subject.output(&random(subject.len(params.benchmark.vector())))?;
    Ok(since(start))
}

/// The largest difference between the first output and the host's, relative to the largest entry;
/// `None` on the host itself and for large problems.
fn compare<T: Number, D: Backend>(
    subject: &Subject<T, D>,
    params: &Params,
    problem: &Problem,
) -> Result<Option<f64>, BenchError> {
    let len = subject.len(params.benchmark.vector());
    let kind = subject.operator.device().info().kind;
    if kind == DeviceKind::Host || len > MOST_COMPARED {
        return Ok(None);
    }
    let u = random::<T>(len);
    let found = subject.output(&u)?;
    let on_host = Params {
        factors: FactorPrecision::Same,
        knobs: Knobs::default(),
        ..*params
    };
    let wanted = Subject::<T, Host>::new(&Host::new()?, &on_host, problem)?.output(&u)?;
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let pairs = found.iter().zip(&wanted);
    let difference = largest(&mut pairs.map(|(a, b)| (a.to_f64() - b.to_f64()).abs()));
    let scale = largest(&mut wanted.iter().map(|value| value.to_f64().abs()));
    Ok(Some(difference / scale.max(f64::MIN_POSITIVE)))
}
