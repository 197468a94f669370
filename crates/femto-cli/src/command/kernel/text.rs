//! A kernel's text, for given sizes and data.

use super::catalog::CatalogEntry;
use femto::DataLevel;
use femto::kernel::dialect::{BlockShape, Language};
use femto::kernel::family::shared_nodes::{NodeKernel, sum_source, zero_source};
use femto::kernel::family::{KernelSource, Knobs, Limits, Scatter, ScheduleError, Vectors};
use femto::kernel::roofline::probe_text;
use femto::kernel::scalar::Precision;
use femto::kernel::vector::element_inverse::InverseShape;
use femto::kernel::vector::interpolation::InterpolationShape;
use femto::kernel::vector::line_solve;
use femto::kernel::vector::{random, source as vector};
use femto::operator::KernelTarget;
use femto_bench::helmholtz;
use femto_bench::ladder::{self, LadderKernel, Step};
use femto_bench::{BenchError, MeshShape};

/// The vectors that a kernel reads and writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VectorKind {
    Element,
    Nodal,
    NodalDeterministic,
}

impl VectorKind {
    pub(super) const ALL: [Self; 3] = [Self::Element, Self::Nodal, Self::NodalDeterministic];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Element => "element",
            Self::Nodal => "nodal",
            Self::NodalDeterministic => "nodal_deterministic",
        }
    }

    pub(super) const fn vectors(self) -> Vectors {
        let (interleaved, scatter) = match self {
            Self::Element => return Vectors::Element { listed: false },
            Self::Nodal => (true, Scatter::Atomic),
            Self::NodalDeterministic => (true, Scatter::Deterministic),
        };
        Vectors::Nodal {
            interleaved,
            scatter,
        }
    }
}

/// The data levels with kernels of their own.
pub(super) const DATA_LEVELS: [DataLevel; 4] = [
    DataLevel::Automatic,
    DataLevel::OnTheFly,
    DataLevel::Partial,
    DataLevel::Element,
];

/// All parameters of a text except the language; some texts depend on only a few.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) kernel: CatalogEntry,
    pub(super) degree: usize,
    pub(super) precision: Precision,
    pub(super) mesh: MeshShape,
    pub(super) vectors: VectorKind,
    pub(super) data_level: DataLevel,
    pub(super) knobs: Knobs,
}

/// A translation unit, and its launch shape.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) entries: Vec<String>,
    pub(super) block: BlockShape,
    /// Shared memory of a block.
    pub(super) shared_bytes: u32,
    /// The knobs, if there are any.
    pub(super) schedule: Option<String>,
}

impl Request {
    /// The text for a device with these limits.
    ///
    /// # Errors
    /// A schedule that is illegal under these limits.
    pub(super) fn text(&self, language: Language, limits: &Limits) -> Result<Text, BenchError> {
        let precision = self.precision;
        let target = KernelTarget {
            language,
            limits: *limits,
            precision,
        };
        Ok(match self.kernel {
            CatalogEntry::Step(step) => {
                let sizes = step.benchmark.sizes(self.degree as u32);
                let kernel = ladder::source(&step, sizes, language, precision, limits)?;
                Text::of_step(&step, step.schedule.block(sizes), kernel, precision)
            }
            CatalogEntry::Helmholtz(step) => {
                if precision != Precision::Fp64 {
                    let (schedule, rule) = (step.schedule.to_string(), "double precision");
                    return Err(ScheduleError::Rule { schedule, rule }.into());
                }
                let layers = helmholtz::Columns::LAYERS;
                let kernels = helmholtz::source(&step, layers, language, limits)?;
                let text = Text::of_loops(kernels.text, kernels.block, Precision::Fp64);
                Text {
                    schedule: Some(step.schedule.to_string()),
                    ..text
                }
            }
            CatalogEntry::Simplices(listed) => {
                let (source, schedule) = listed.source(target)?;
                Text::of_kernel(source, precision, Some(schedule))
            }
            CatalogEntry::Operator(example) => example.text(self, target, false)?,
            CatalogEntry::Diagonal(example) => example.text(self, target, true)?,
            CatalogEntry::Zero => Text::of_nodes(zero_source(language, precision, 1, true)),
            CatalogEntry::Sum => Text::of_nodes(sum_source(language, precision, 1, true)),
            CatalogEntry::Vectors => {
                let text = vector::source(language, precision);
                Text::of_loops(text, vector::BLOCK, vector::SUMS)
            }
            CatalogEntry::Interpolation => {
                let (axes, from, to) = (3, 3, 5);
                let shape = InterpolationShape { axes, from, to };
                let text = shape.source(language, precision);
                Text::of_loops(text, shape.block(), precision)
            }
            CatalogEntry::ElementInverse => {
                let (axes, nodes_1d) = (3, 5);
                let shape = InverseShape { axes, nodes_1d };
                let text = shape.source(language, precision);
                Text::of_loops(text, shape.block(), precision)
            }
            CatalogEntry::LineSolve => {
                let text = line_solve::source(language, precision, 4);
                Text::of_loops(text, line_solve::BLOCK, precision)
            }
            CatalogEntry::Random => Text::of_loops(
                random::source(language, precision),
                random::BLOCK,
                precision,
            ),
            CatalogEntry::Probe => {
                let text = probe_text::source(language, precision);
                Text::of_loops(text, probe_text::BLOCK, precision)
            }
        })
    }
}

/// Whether a step is legal in fp64 on every CUDA device.
pub(super) fn legal_anywhere(step: &Step, degree: usize) -> bool {
    let sizes = step.benchmark.sizes(degree as u32);
    let limits = Limits::default();
    let valid = step.schedule.validate(sizes, Precision::Fp64, &limits);
    valid.is_ok()
}

impl Text {
    fn of_step(step: &Step, block: BlockShape, kernel: LadderKernel, precision: Precision) -> Self {
        let launches = kernel.launches.iter();
        Self {
            text: kernel.text,
            entries: launches.map(|launch| launch.entry.to_owned()).collect(),
            block,
            shared_bytes: block.shared_bytes(precision),
            schedule: Some(step.schedule.to_string()),
        }
    }

    pub(super) fn of_kernel(
        kernel: KernelSource,
        precision: Precision,
        schedule: Option<String>,
    ) -> Self {
        Self {
            entries: vec![kernel.entry.to_owned()],
            shared_bytes: kernel.block.shared_bytes(precision),
            block: kernel.block,
            schedule,
            text: kernel.text,
        }
    }

    fn of_nodes(kernel: NodeKernel) -> Self {
        Self {
            entries: entries(&kernel.text),
            text: kernel.text,
            block: kernel.block,
            shared_bytes: 0,
            schedule: None,
        }
    }

    /// A text with several kernels of one launch shape; `shared` is the precision of the numbers in shared
    /// memory.
    fn of_loops(text: String, block: BlockShape, shared: Precision) -> Self {
        Self {
            entries: entries(&text),
            text,
            block,
            shared_bytes: block.shared_bytes(shared),
            schedule: None,
        }
    }
}

/// The kernels in a text, each starting a line with `KERNEL(name)`.
fn entries(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("KERNEL(")?.split_once(')')?;
        Some(name.to_owned())
    });
    names.collect()
}
