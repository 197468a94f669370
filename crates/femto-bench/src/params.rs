//! Parameters of a measurement.

use crate::meshed_space::MeshedSpace;
use crate::{BenchError, Benchmark, MeshShape, Physics, Sampling, Size, VectorKind, memory};
use femto::operator::OperatorError;
use femto::{DataLevel, FactorPrecision, Knobs, Quadrature, Scatter};
use femto_element::{Degree, basis};
use femto_fem::space::SpaceParams;
use femto_kernel::scalar::Precision;
use femto_platform::device::{DeviceInfo, DeviceKind};
use serde::Serialize;

/// The timed unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// One application of the operator.
    #[default]
    Application,
    /// One iteration of conjugate gradients with the Jacobi preconditioner; the whole boundary is
    /// constrained if the form has no mass term.
    CgIteration,
}

/// Parameters of a measurement; the number of threads is the host's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// An application or an iteration.
    pub measured: Measured,
    /// Degree; on meshes of columns it may differ vertically. Default 4.
    pub degree: Degree,
    /// Problem size. Default 1.5e6 entries.
    pub size: Size,
    /// The mesh. Default [`MeshShape::Sine`].
    pub mesh: MeshShape,
    /// Layers of [`MeshShape::Columns`] and [`MeshShape::Layers`]. Default 50.
    pub layers: usize,
    /// Amount of geometry stored.
    pub data_level: DataLevel,
    /// How accelerators store factors at points.
    pub factors: FactorPrecision,
    /// Knobs of an accelerator's kernel that replace the measured defaults.
    pub knobs: Knobs,
    /// Whether to fold coefficients into the geometry if the form allows it. Default `true`.
    pub fold_coefficients: bool,
    /// Whether to also apply the operator to a known function and record two numbers that other codes must
    /// reproduce. Default `false`.
    pub probe: bool,
    /// How accelerators sum shared nodes; the host's sums are always deterministic.
    pub scatter: Scatter,
    /// Precision of vectors and arithmetic. Default `Fp64`.
    pub precision: Precision,
    /// Number and length of samples.
    pub sampling: Sampling,
}

impl Params {
    /// A benchmark with defaults for the rest.
    pub fn new(benchmark: Benchmark) -> Self {
        Self {
            benchmark,
            measured: Measured::default(),
            degree: 4.into(),
            size: Size::Dofs(1_500_000),
            mesh: MeshShape::default(),
            layers: 50,
            data_level: DataLevel::default(),
            factors: FactorPrecision::default(),
            knobs: Knobs::default(),
            fold_coefficients: true,
            probe: false,
            scatter: Scatter::default(),
            precision: Precision::Fp64,
            sampling: Sampling::default(),
        }
    }

    /// Fails if [`run`](crate::run()) would, before anything is allocated.
    ///
    /// # Errors
    /// A degree out of range, conjugate gradients or a sparse matrix for an element-local kernel, or a problem that
    /// does not fit the memory of the device or the host.
    pub fn check(&self, device: &DeviceInfo) -> Result<(), BenchError> {
        let benchmark = self.benchmark;
        let points_1d = self.points_1d()?;
        if self.measured == Measured::CgIteration && benchmark.vector() == VectorKind::E {
            return Err(BenchError::NoIterations { benchmark });
        }
        if self.data_level == DataLevel::Sparse && benchmark.vector() == VectorKind::E {
            return Err(BenchError::NoSparseMatrix { benchmark });
        }
        let kind = device.kind;
        if kind == DeviceKind::Host && self.factors == FactorPrecision::Single {
            return Err(OperatorError::SingleFactorsOnHost.into());
        }
        if let Some(knob) = self.knobs.names().next().filter(|_| !kind.is_accelerator()) {
            return Err(OperatorError::KnobElsewhere { knob }.into());
        }
        memory::check(self, self.cells(), points_1d.unwrap_or(0), device)
    }

    /// Whether the measurements share mesh and space.
    pub(crate) fn has_problem_of(&self, other: &Self) -> bool {
        let key = |it: &Self| {
            let components = it.benchmark.components();
            (it.mesh, it.cells(), it.degree, components, it.is_held())
        };
        key(self) == key(other)
    }

    /// Whether the boundary is constrained: without a mass term constants have zero energy.
    fn is_held(&self) -> bool {
        let singular = self.benchmark.physics() == Physics::Poisson;
        self.measured == Measured::CgIteration && singular
    }

    /// A mesh with `cells` cells and a space on it.
    pub(crate) fn problem(&self, cells: [usize; 3]) -> Result<MeshedSpace, BenchError> {
        let space = SpaceParams {
            degree: self.degree,
            components: self.benchmark.components(),
            ..SpaceParams::default()
        };
        let ends = match self.mesh.has_columns() {
            true => ["bottom", "top"],
            false => ["zmin", "zmax"],
        };
        let sides = [["xmin", "xmax"], ["ymin", "ymax"], ends].concat();
        let constrained: &[&str] = if self.is_held() { &sides } else { &[] };
        MeshedSpace::new(self.mesh, cells, space, constrained)
    }

    /// Boxes along x, y and z, for the requested size; of columns the last are layers.
    pub(crate) fn cells(&self) -> [usize; 3] {
        let vectors = (self.benchmark.components(), self.benchmark.vector());
        match self.mesh.has_columns() {
            true => self.size.columns(self.degree, self.layers, vectors),
            false => (self.size).cells(self.mesh.cell(), self.degree.horizontal, vectors),
        }
    }

    /// Quadrature points along an axis; `None` on cells that are no tensor products, where the form decides.
    ///
    /// # Errors
    /// A degree out of range, or nodes as points on cells without such a rule.
    pub(crate) fn points_1d(&self) -> Result<Option<usize>, OperatorError> {
        let (cell, quadrature) = (self.mesh.cell(), self.benchmark.quadrature());
        if cell.is_tensor_product() {
            return Ok(Some(
                quadrature.tables(cell, self.degree.horizontal)?.points_1d,
            ));
        }
        basis::check(cell, self.degree)?;
        match quadrature {
            Quadrature::Collocated => Err(OperatorError::QuadratureByAxis),
            _ => Ok(None),
        }
    }

    /// The benchmark and its most important parameters, in a few words.
    pub(crate) fn describe(&self) -> String {
        let (mesh, data_level) = (self.mesh.name(), self.data_level.name());
        let (benchmark, degree, precision) = (self.benchmark, self.degree, self.precision);
        format!("{benchmark} degree {degree}, {mesh}, {data_level}, {precision}")
    }

    /// The quantity that the rate counts per second.
    pub fn unit(&self) -> &'static str {
        match self.measured {
            Measured::Application => self.benchmark.vector().unit(),
            Measured::CgIteration => "DOF/s that are not constrained",
        }
    }
}
