//! Kernel sources, from problem and schedule, and their work.

use super::schedule::{Schedule, Sizes};
use crate::dialect::{KernelFile, Language, SourceBuilder, text};
use crate::family::operand::define_arguments;
use crate::family::vectors::PLACES;
use crate::family::{KernelSource, MatrixLayout, Operand, Vectors};
use crate::roofline::Work;
use crate::scalar::Precision;

/// The problem that a kernel evaluates.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec {
    /// Nodes of an element.
    pub nodes: usize,
    /// Components of the solution.
    pub components: usize,
    /// Components that are coupled: they are rows of one matrix, and groups of them its right-hand sides.
    pub coupled: usize,
    /// The kind of input and output vectors.
    pub vectors: Vectors,
    /// The precision of the numbers.
    pub precision: Precision,
    /// The language.
    pub language: Language,
}

macro_rules! file {
    ($name:literal) => {
        text!("family/element_matrix/text/", $name)
    };
}

impl KernelSpec {
    /// The sizes on which schedules depend.
    pub fn sizes(&self) -> Sizes {
        Sizes::new(self.nodes, self.components, self.coupled)
    }

    /// The layout of the matrices.
    pub fn layout(&self, schedule: &Schedule) -> MatrixLayout {
        MatrixLayout {
            storage: self.sizes().storage(schedule.triangle),
            group: schedule.group(),
        }
    }

    /// The text that applies the operator.
    pub fn source(&self, schedule: &Schedule) -> KernelSource {
        let operands = self.vectors.operands(&[Operand::Matrices], true);
        self.translation_unit(schedule, ("apply", file!("apply.c")), operands)
    }

    /// The text that sums the diagonals of the matrices.
    pub fn diagonal_source(&self, schedule: &Schedule) -> KernelSource {
        let operands = self.vectors.operands(&[Operand::Matrices], false);
        self.translation_unit(schedule, ("diagonal", file!("diagonal.c")), operands)
    }

    /// The text that writes unit inputs, an E-vector.
    pub fn unit_source(&self, schedule: &Schedule) -> KernelSource {
        let operands = self.vectors.operands(&[Operand::Column], false);
        self.translation_unit(schedule, ("unit", file!("unit.c")), operands)
    }

    /// The text that stores products with units, from an E-vector, as columns of the matrices.
    pub fn store_source(&self, schedule: &Schedule) -> KernelSource {
        let operands = self.vectors.operands(&[Operand::Column], true);
        self.translation_unit(schedule, ("store", file!("store.c")), operands)
    }

    fn translation_unit(
        &self,
        schedule: &Schedule,
        (entry, file): (&'static str, KernelFile),
        operands: Vec<Operand>,
    ) -> KernelSource {
        let (sizes, block) = (self.sizes(), schedule.block(self.sizes()));
        let mut source = SourceBuilder::new(self.language, self.precision, block);
        define_arguments(&mut source, &operands, &[]);
        self.vectors
            .define(&mut source, self.nodes, self.components);
        let unroll = match schedule.unroll {
            0 => "UNROLL".to_owned(),
            count => format!("UNROLL_BY({count})"),
        };
        source.define("COLUMN_LOOP", unroll);
        for (name, number) in [
            ("SIDES", sizes.sides),
            ("INPUT", schedule.input(sizes)),
            ("PREFETCH", usize::from(schedule.prefetch)),
            ("ELEMENTS_ASIDE", schedule.elements_aside as usize),
            ("ROWS_PER_THREAD", schedule.rows_per_thread as usize),
            ("ROW_THREADS", block.threads[0] as usize),
        ] {
            source.define(name, number);
        }
        source.include(PLACES);
        self.layout(schedule).define(&mut source);
        source.include(file);
        KernelSource {
            name: format!(
                "element_matrix {entry}, {} unknowns, {}",
                sizes.unknowns,
                self.precision.name()
            ),
            text: source.finish(),
            entry,
            block,
            elements_per_block: schedule.elements_aside,
            operands,
        }
    }

    /// The work on `elements` elements, apart from L-vectors: matrices, E-vectors or lists of nodes.
    pub fn work(&self, schedule: &Schedule, elements: usize) -> Work {
        let Sizes { unknowns, sides } = self.sizes();
        let numbers = self.precision.bytes();
        let vector = unknowns * sides * numbers;
        let (read, written) = match self.vectors {
            Vectors::Element { .. } => (vector, vector),
            Vectors::Nodal { .. } => (self.nodes * size_of::<u32>(), 0),
        };
        let entries = self.layout(schedule).storage.entries();
        // Inputs read for an entry of the matrix: one for all rows of a warp, or one a row.
        let shared = match schedule.triangle {
            true => (unknowns + 1) * vector,
            false => (unknowns / 32 + 1) * vector,
        };
        Work {
            bytes_read: (elements * (entries * numbers + read)) as u64,
            bytes_written: (elements * written) as u64,
            flops: (elements * 2 * unknowns * unknowns * sides) as u64,
            shared_bytes: (elements * shared) as u64,
            ..Work::default()
        }
    }
}
