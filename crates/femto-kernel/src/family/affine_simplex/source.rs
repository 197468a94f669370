//! Kernel sources, from problem and schedule.

use super::Matrices;
use super::schedule::{Factors, Input, Schedule, Sizes};
use crate::dialect::{KernelFile, Language, SourceBuilder};
use crate::family::operand::define_arguments;
use crate::family::{KernelSource, Operand, Scatter, Vectors};
use crate::scalar::Precision;

/// The problem that a kernel evaluates.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec<'a> {
    /// The matrices of the reference cell.
    pub matrices: &'a Matrices,
    /// Components of the solution, each on its own.
    pub components: usize,
    /// The kind of input and output vectors.
    pub vectors: Vectors,
    /// The precision of the numbers.
    pub precision: Precision,
    /// The language.
    pub language: Language,
}

/// The matrices as kernels read them, `[matrix][column][row]`.
pub fn tables(matrices: &Matrices, symmetric: bool) -> Vec<f64> {
    let nodes = matrices.nodes;
    let all = matrices.all(symmetric).into_iter();
    all.flat_map(|matrix| {
        let transposed = (0..nodes * nodes).map(|n| matrix[n % nodes * nodes + n / nodes]);
        transposed.collect::<Vec<f64>>()
    })
    .collect()
}

macro_rules! file {
    ($name:literal) => {
        KernelFile {
            name: concat!("family/affine_simplex/text/", $name),
            text: include_str!(concat!("text/", $name)),
        }
    };
}

impl KernelSpec<'_> {
    /// The sizes on which schedules depend.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            nodes: self.matrices.nodes,
            factors: self.matrices.factors(),
        }
    }

    /// The text that applies the operator.
    pub fn source(&self, schedule: &Schedule) -> KernelSource {
        self.translation_unit(schedule, ("apply", file!("apply.c")), true)
    }

    /// The text that sums the diagonals of the element matrices.
    pub fn diagonal_source(&self, limits: &crate::family::Limits) -> KernelSource {
        let most = limits
            .threads
            .min(DIAGONAL_THREADS)
            .min(limits.threads_xyz[1]);
        let schedule = Schedule {
            input: Input::Register,
            elements_aside: (most / self.matrices.nodes as u32).max(1),
            ..Schedule::PLAIN
        };
        self.translation_unit(&schedule, ("diagonal", file!("diagonal.c")), false)
    }

    fn translation_unit(
        &self,
        schedule: &Schedule,
        (entry, file): (&'static str, KernelFile),
        reads_u: bool,
    ) -> KernelSource {
        let (matrices, block) = (self.matrices, schedule.block(self.sizes()));
        let mut source = SourceBuilder::new(self.language, self.precision, block);
        let operands = self.operands(reads_u);
        define_arguments(&mut source, &operands, &[]);
        source.define("stored_real", "real");
        let unroll = match schedule.unroll {
            0 => "UNROLL".to_owned(),
            count => format!("UNROLL_BY({count})"),
        };
        source.define("COLUMN_LOOP", unroll);
        let interleaved = matches!(
            self.vectors,
            Vectors::Nodal {
                interleaved: true,
                ..
            }
        );
        for (name, number) in [
            ("DIM", matrices.dim),
            ("NODES", matrices.nodes),
            ("COMPONENTS", self.components),
            ("FACTORS", matrices.factors()),
            ("MATRICES", self.count(schedule.symmetric)),
            ("NODE_STRIDE", if interleaved { self.components } else { 1 }),
            ("ELEMENTS_PER_THREAD", schedule.elements_per_thread as usize),
            ("ELEMENTS_ASIDE", schedule.elements_aside as usize),
        ] {
            source.define(name, number);
        }
        let scatter = self.vectors.scatter();
        for (name, is) in [
            ("CONST_INPUTS", schedule.const_inputs),
            ("STIFFNESS", matrices.has_stiffness()),
            ("SYMMETRIC", schedule.symmetric),
            ("INPUT_SHARED", schedule.input == Input::Shared),
            ("INPUT_ONCE", schedule.input != Input::Global),
            ("FACTORS_BEFORE", schedule.factors == Factors::Before),
            (
                "FACTORS_SHARED",
                matches!(schedule.factors, Factors::Shared | Factors::SharedFlat),
            ),
            ("FACTORS_FLAT", schedule.factors == Factors::SharedFlat),
            ("VECTORS_NODAL", scatter.is_some()),
            (
                "VECTORS_LISTED",
                self.vectors == Vectors::Element { listed: true },
            ),
            ("CONTRIBUTIONS", scatter == Some(Scatter::Deterministic)),
        ] {
            source.define(name, u8::from(is));
        }
        source.include(file);
        KernelSource {
            name: format!(
                "affine_simplex {entry}, {} nodes, {}",
                matrices.nodes,
                self.precision.name()
            ),
            text: source.finish(),
            entry,
            block,
            elements_per_block: schedule.elements_per_block(),
            operands,
        }
    }

    fn operands(&self, reads_u: bool) -> Vec<Operand> {
        let mut all = vec![Operand::Geometry, Operand::Tables];
        match self.vectors {
            Vectors::Element { listed } => all.extend(listed.then_some(Operand::Elements)),
            Vectors::Nodal { scatter, .. } => {
                all.extend([Operand::Nodes, Operand::ComponentStride]);
                if scatter == Scatter::Deterministic {
                    all.extend([
                        Operand::Contributions,
                        Operand::ContributionStride,
                        Operand::ContributionFirst,
                    ]);
                }
            }
        }
        all.extend(reads_u.then_some(Operand::U));
        all.extend([Operand::V, Operand::Count]);
        all
    }

    /// Number of matrices.
    pub(super) fn count(&self, symmetric: bool) -> usize {
        let Matrices {
            stiffness, mass, ..
        } = self.matrices;
        match symmetric {
            true => self.matrices.factors(),
            false => stiffness.len() + usize::from(mass.is_some()),
        }
    }
}

/// Threads of a block of the diagonal.
const DIAGONAL_THREADS: u32 = 256;
