//! Kernel sources, from problem and schedule.

use super::Matrices;
use super::schedule::{Factors, Input, MatrixUnits, Rows, Schedule, Sizes, stride};
use crate::dialect::{KernelFile, Language, SourceBuilder, text};
use crate::family::fragments::TILE;
use crate::family::operand::define_arguments;
use crate::family::vectors::PLACES;
use crate::family::{KernelSource, MatrixLayout, Operand, Vectors};
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
        text!("family/affine_simplex/text/", $name)
    };
}

impl KernelSpec<'_> {
    /// The sizes on which schedules depend.
    pub fn sizes(&self) -> Sizes {
        self.matrices.sizes()
    }

    /// The text that applies the operator.
    pub fn source(&self, schedule: &Schedule) -> KernelSource {
        match schedule {
            Schedule::Rows(rows) => self.rows_source(rows, ("apply", file!("apply.c")), true),
            Schedule::MatrixUnits(it) => self.matrix_units_source(it),
        }
    }

    /// The text that sums the diagonals of the element matrices.
    pub fn diagonal_source(&self, limits: &crate::family::Limits) -> KernelSource {
        let most = limits
            .threads
            .min(DIAGONAL_THREADS)
            .min(limits.threads_xyz[1]);
        let rows = Rows {
            input: Input::Register,
            elements_aside: (most / self.matrices.nodes as u32).max(1),
            ..Rows::PLAIN
        };
        self.rows_source(&rows, ("diagonal", file!("diagonal.c")), false)
    }

    /// The text that writes the matrices of the elements.
    pub fn matrices_source(&self, layout: MatrixLayout) -> KernelSource {
        let schedule = Schedule::Rows(matrices_rows(layout));
        let operands = self
            .vectors
            .operands(&[Operand::Geometry, Operand::Tables], false);
        let text = ("matrices", file!("matrices.c"));
        self.translation_unit(&schedule, text, operands, |source| {
            source.define("ELEMENTS_PER_THREAD", MATRICES_PER_THREAD);
            layout.define(source);
        })
    }

    fn rows_source(
        &self,
        rows: &Rows,
        text: (&'static str, KernelFile),
        reads_u: bool,
    ) -> KernelSource {
        let unroll = match rows.unroll {
            0 => "UNROLL".to_owned(),
            count => format!("UNROLL_BY({count})"),
        };
        let factors_shared = matches!(rows.factors, Factors::Shared | Factors::SharedFlat);
        let numbers = [
            ("MATRICES", self.count(rows.symmetric)),
            ("ELEMENTS_PER_THREAD", rows.elements_per_thread as usize),
            ("ELEMENTS_ASIDE", rows.elements_aside as usize),
            ("CONST_INPUTS", usize::from(rows.const_inputs)),
            ("SYMMETRIC", usize::from(rows.symmetric)),
            ("INPUT_SHARED", usize::from(rows.input == Input::Shared)),
            ("INPUT_ONCE", usize::from(rows.input != Input::Global)),
            (
                "FACTORS_BEFORE",
                usize::from(rows.factors == Factors::Before),
            ),
            ("FACTORS_SHARED", usize::from(factors_shared)),
            (
                "FACTORS_FLAT",
                usize::from(rows.factors == Factors::SharedFlat),
            ),
        ];
        let define = |source: &mut SourceBuilder| {
            source.define("COLUMN_LOOP", unroll);
            for (name, number) in numbers {
                source.define(name, number);
            }
        };
        let schedule = Schedule::Rows(*rows);
        let operands = self
            .vectors
            .operands(&[Operand::Geometry, Operand::Tables], reads_u);
        self.translation_unit(&schedule, text, operands, define)
    }

    fn matrix_units_source(&self, it: &MatrixUnits) -> KernelSource {
        let symmetry = &self.matrices.symmetry;
        let last = symmetry.classes - 1;
        let [first_sums, other_sums] = [0, last].map(|class| symmetry.sums(class).len());
        let [first_rank, other_rank] = [0, last].map(|class| self.matrices.ranks[class]);
        let numbers = [
            ("CLASSES", symmetry.classes),
            ("QUADS", symmetry.quads()),
            ("SUMS_FIRST", first_sums),
            ("SUMS_OTHERS", other_sums),
            ("SUM_TILES_FIRST", first_sums.div_ceil(TILE)),
            ("SUM_TILES_OTHERS", other_sums.div_ceil(TILE)),
            ("RANK_TILES_FIRST", first_rank.div_ceil(TILE)),
            ("RANK_TILES_OTHERS", other_rank.div_ceil(TILE)),
            ("STRIDE", stride(self.matrices.nodes) as usize),
            ("WARPS", it.warps as usize),
            ("ELEMENT_TILES", it.element_tiles as usize),
            ("INPUT_SHARED", usize::from(it.input_shared)),
            ("LOCKSTEP", usize::from(it.lockstep)),
            ("TOGETHER", usize::from(it.together)),
        ];
        let define = |source: &mut SourceBuilder| {
            for (name, number) in numbers {
                source.define(name, number);
            }
        };
        let schedule = Schedule::MatrixUnits(*it);
        let text = ("apply", file!("matrix_units.c"));
        let operands = self.vectors.operands(
            &[Operand::Geometry, Operand::Fragments, Operand::Orbits],
            true,
        );
        self.translation_unit(&schedule, text, operands, define)
    }

    fn translation_unit(
        &self,
        schedule: &Schedule,
        (entry, file): (&'static str, KernelFile),
        operands: Vec<Operand>,
        define: impl FnOnce(&mut SourceBuilder),
    ) -> KernelSource {
        let (matrices, block) = (self.matrices, schedule.block(self.sizes()));
        let mut source = SourceBuilder::new(self.language, self.precision, block);
        define_arguments(&mut source, &operands, &[]);
        source.define("stored_real", "real");
        self.vectors
            .define(&mut source, matrices.nodes, self.components);
        for (name, number) in [
            ("DIM", matrices.dim),
            ("FACTORS", matrices.factors()),
            ("STIFFNESS", usize::from(matrices.has_stiffness())),
            ("MASS", usize::from(matrices.mass.is_some())),
        ] {
            source.define(name, number);
        }
        define(&mut source);
        source.include(PLACES);
        if matches!(schedule, Schedule::MatrixUnits(_)) {
            source.include(text!("family/text/", "classes.h"));
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

/// Elements of a thread that writes their matrices.
const MATRICES_PER_THREAD: u32 = 4;

/// The schedule by which matrices are written.
pub(super) fn matrices_rows(layout: MatrixLayout) -> Rows {
    Rows {
        input: Input::Register,
        elements_per_thread: MATRICES_PER_THREAD,
        elements_aside: layout.group as u32,
        ..Rows::PLAIN
    }
}

/// Threads of a block of the diagonal.
const DIAGONAL_THREADS: u32 = 256;
