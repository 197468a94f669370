//! One measurement from its parameters to its row.

use super::problem::Problem;
use super::row::Outcome;
use super::subject::Subject;
use super::timing::since;
use super::{BenchError, Benchmark, MeshShape, Physics, Row, Sampling, Size, VectorKind};
use crate::{DataLevel, Host, Number};
use femto_fem::space::SpaceParams;
use femto_kernel::roofline::{Ceilings, Precision};
use femto_platform::device::Device;
use serde::Serialize;
use std::time::Instant;

/// Least bytes of mesh and geometry per element: a vertex, its vertices' numbers, its map.
const BYTES_PER_ELEMENT: f64 = 100.0;

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
            precision: Precision::Fp64,
            sampling: Sampling::default(),
        }
    }

    /// Fails where [`run`] would, before anything is made.
    ///
    /// # Errors
    /// A degree out of range, conjugate gradients on an element-local kernel, a problem that
    /// cannot fit the memory of the host.
    pub fn check(&self, host: &Host) -> Result<(), BenchError> {
        let benchmark = self.benchmark;
        benchmark.quadrature().basis(self.degree)?;
        if self.measured == Measured::CgIteration && benchmark.vector() == VectorKind::E {
            return Err(BenchError::NoIterations { benchmark });
        }
        let cells = self.cells().map(|cells| cells as f64);
        let nodes: f64 = cells.iter().map(|n| n * self.degree as f64 + 1.0).product();
        let numbers = 2.0 * nodes * benchmark.components() as f64;
        let bytes = numbers * self.precision.bytes() as f64
            + BYTES_PER_ELEMENT * cells.iter().product::<f64>();
        match host.info().memory_bytes {
            Some(memory) if bytes > memory as f64 => Err(BenchError::TooLarge {
                benchmark,
                degree: self.degree,
                gigabytes: bytes * 1e-9,
                memory: memory as f64 * 1e-9,
            }),
            _ => Ok(()),
        }
    }

    /// A mesh and a space of the size that was asked for.
    pub(super) fn problem(&self) -> Result<Problem, BenchError> {
        let mut space = SpaceParams {
            degree: self.degree,
            components: self.benchmark.components(),
            ..SpaceParams::default()
        };
        // Without a mass term constants have no energy: the boundary holds them.
        let singular = self.benchmark.physics() == Physics::Poisson;
        if self.measured == Measured::CgIteration && singular {
            let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
            space.dirichlet = sides.map(str::to_owned).to_vec();
        }
        Problem::new(self.mesh, self.cells(), space)
    }

    /// Cells along x, y and z.
    fn cells(&self) -> [usize; 3] {
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

/// Measures: 1. mesh, geometry and space, 2. operator, 3. time, 4. row.
///
/// `ceilings` are those of `host`, see [`roofline::ceilings`](super::roofline::ceilings).
///
/// # Errors
/// Parameters out of range; no memory; an output that is not finite.
pub fn run(host: &Host, params: &Params, ceilings: &Ceilings) -> Result<Row, BenchError> {
    match params.precision {
        Precision::Fp64 => run_in::<f64>(host, params, ceilings),
        Precision::Fp32 => run_in::<f32>(host, params, ceilings),
    }
}

fn run_in<T: Number>(host: &Host, params: &Params, ceilings: &Ceilings) -> Result<Row, BenchError> {
    params.check(host)?;
    let points_1d = params
        .benchmark
        .quadrature()
        .basis(params.degree)?
        .points_1d;
    let problem = params.problem()?;

    let start = Instant::now();
    let subject = Subject::<T>::new(host, params, &problem)?;
    let operator_seconds = since(start);

    let (timing, work) = match params.measured {
        Measured::Application => (subject.time_apply(params)?, subject.work()),
        Measured::CgIteration => (subject.time_iteration(params)?, subject.iteration_work()),
    };
    let operator = &subject.operator;
    let outcome = Outcome {
        problem: &problem,
        threads: host.threads(),
        points_1d,
        dofs: subject.len(params.vector()),
        work,
        nominal_flops: operator.nominal_flops(),
        timing,
        operator_seconds,
        operator_bytes_per_dof: operator.bytes() as f64 / operator.dofs() as f64,
    };
    Ok(Row::new(params, &outcome, ceilings))
}
