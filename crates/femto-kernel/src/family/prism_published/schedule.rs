//! The schedule of a step: where data are, and the order of loops.

use super::Stage;
use crate::dialect::{BlockShape, SourceBuilder};
use crate::family::{Limits, ScheduleError};
use crate::scalar::Precision;
use core::fmt;

/// The loop of expression 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visit {
    /// Over cells, each of which writes its six nodes.
    Cells,
    /// Over nodes.
    Nodes,
}

/// The memory of basis and rule, 200 numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tables {
    /// An array of each thread, in its local memory.
    Local,
    /// Constant memory.
    Constant,
}

/// The sums of `lhs` during the loop over points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulators {
    /// A\[j\]\[k\].
    Entries,
    /// A\[j\].
    Rows,
    /// A\[k % 2\]\[j\].
    HalfRows,
}

/// The order of the loops of `lhs`, outermost first; j is the row, k the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loops {
    /// point, j, k
    PointJK,
    /// point, k, j
    PointKJ,
    /// k, j, point
    KJPoint,
}

/// The schedule of all stages of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The loop of expression 1.
    pub visit: Visit,
    /// Whether expression 2 copies the load; otherwise `rhs` reads one vector for both.
    pub copy: bool,
    /// The memory of the tables.
    pub tables: Tables,
    /// Whether `lhs` sums the rows of a cell's matrix before it adds them to the nodes: 6 atomic additions in place
    /// of 36.
    pub row_sums: bool,
    /// The sums of `lhs`.
    pub accumulators: Accumulators,
    /// The order of the loops of `lhs`.
    pub loops: Loops,
    /// Whether the loops over points are unrolled as well.
    pub unroll: bool,
}

impl Default for Schedule {
    /// The authors' first kernels, on the stages of the serial code.
    fn default() -> Self {
        Self {
            visit: Visit::Cells,
            copy: true,
            tables: Tables::Local,
            row_sums: false,
            accumulators: Accumulators::Entries,
            loops: Loops::PointJK,
            unroll: false,
        }
    }
}

impl Accumulators {
    const fn count(self) -> u32 {
        match self {
            Self::Entries => 36,
            Self::Rows => 6,
            Self::HalfRows => 12,
        }
    }
}

impl Schedule {
    /// A block: a thread per layer of nodes above a triangle or a vertex. Over cells, the top thread has no work.
    pub fn block(&self, layers: usize) -> BlockShape {
        BlockShape::row(u32::try_from(layers + 1).unwrap_or(u32::MAX))
    }

    /// Its stages, in order: expression 2 only if it copies.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        let copy = self.copy;
        let runs = move |stage: &Stage| copy || *stage != Stage::Expression2;
        Stage::ALL.into_iter().filter(runs)
    }

    /// Checks the schedule against its own rules and a device.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn validate(&self, layers: usize, limits: &Limits) -> Result<(), ScheduleError> {
        if self.accumulators != Accumulators::Entries && !self.row_sums {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule: "36 additions to nodes need 36 accumulators",
            });
        }
        limits.check(&self.block(layers), Precision::Fp64)
    }

    /// The schedule as definitions.
    pub(super) fn define(&self, source: &mut SourceBuilder) {
        let order = match self.loops {
            Loops::PointJK => 0,
            Loops::PointKJ => 1,
            Loops::KJPoint => 2,
        };
        for (name, value) in [
            ("VISIT_CELLS", u32::from(self.visit == Visit::Cells)),
            ("COPIED", u32::from(self.copy)),
            ("LOCAL_TABLES", u32::from(self.tables == Tables::Local)),
            ("ROW_SUMS", u32::from(self.row_sums)),
            ("ACCUMULATORS", self.accumulators.count()),
            ("LOOP_ORDER", order),
            ("UNROLLED", u32::from(self.unroll)),
        ] {
            source.define(name, value);
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let visit = match self.visit {
            Visit::Cells => "cells",
            Visit::Nodes => "nodes",
        };
        let tables = match self.tables {
            Tables::Local => "local",
            Tables::Constant => "constant",
        };
        let loops = match self.loops {
            Loops::PointJK => "point-j-k",
            Loops::PointKJ => "point-k-j",
            Loops::KJPoint => "k-j-point",
        };
        let accumulators = self.accumulators.count();
        write!(
            f,
            "visit={visit} tables={tables} accumulators={accumulators} loops={loops}"
        )?;
        let flags = [
            (self.copy, " copy"),
            (self.row_sums, " row_sums"),
            (self.unroll, " unroll"),
        ];
        flags
            .iter()
            .filter(|(set, _)| *set)
            .try_for_each(|(_, word)| f.write_str(word))
    }
}
