//! The published ladders: sequences of schedules, each one change on the one before.
//!
//! Source: Świrydowicz et al. 2019 (K. Świrydowicz, N. Chalmers, A. Karakus, T. Warburton, *Acceleration of
//! tensor-product operations for high-order finite element methods*), §6 for BK1 (there BP1.0), and the authors'
//! kernels for the steps of BK5 (BP3.5) and BK3 (BP3.0), at github.com/kswirydo/CEED-Ax. Data live where those kernels
//! put them, contractions have their order, and factors are loaded and barriers stand where theirs do. What is not
//! reproduced:
//!
//! - races, where elements overwrite each other (BK1 1, BK3 cubes 1 and 7): every element has its own global arrays;
//! - outputs computed twice, where the symmetry of the interpolation matrix is used (BK1 8, BK3 layers 9 to 12);
//! - barriers that order nothing: one in the back contraction of BK3 layers 6, and that after BK3 layers 7 sets a cube
//!   to zero, which it does for nothing.
//!
//! In CUDA, step 4 of BK5 in layers differs from step 3 by its unrolled loops alone.
//!
//! ```
//! use femto_kernel::family::hex_published::ladder;
//!
//! let step = ladder::find("bk5/layers/10").unwrap();
//! assert_eq!(step.change, "u in a slice in place of the cube, factors before the layer's first barrier");
//! assert_eq!(ladder::steps().len(), 8 + 10 + 6 + 13 + 9);
//! ```

pub mod oracle;
mod source;
mod steps;
mod work;

pub use source::{LadderKernel, LaunchPlan, source};

use super::schedule::{Schedule, Sizes};
use core::fmt;
use femto_element::Cell;
use femto_element::basis::BasisError;
use femto_element::tables::TensorTables;

/// An element-local operator of the field's benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Benchmark {
    /// The mass operator, Gauss points: 1 factor per point.
    Bk1,
    /// The screened Poisson operator collocated at the GLL nodes: 7 factors per point.
    Bk5,
    /// The screened Poisson operator, Gauss points: 7 factors per point.
    Bk3,
}

impl Benchmark {
    /// The name in reports and of ladders: `bk1`, `bk5`, `bk3`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bk1 => "bk1",
            Self::Bk5 => "bk5",
            Self::Bk3 => "bk3",
        }
    }

    /// Sizes of an element of the given degree.
    pub fn sizes(self, degree: u32) -> Sizes {
        let nodes_1d = degree + 1;
        Sizes {
            nodes_1d,
            points_1d: match self {
                Self::Bk5 => nodes_1d,
                Self::Bk1 | Self::Bk3 => nodes_1d + 1,
            },
        }
    }

    /// Tables of an element of a degree: at its nodes for BK5, else at degree + 2 Gauss points.
    ///
    /// # Errors
    /// A degree that is not supported.
    pub fn tables(self, degree: usize) -> Result<TensorTables, BasisError> {
        match self {
            Self::Bk5 => TensorTables::collocated(Cell::Hexahedron, degree),
            Self::Bk1 | Self::Bk3 => TensorTables::gauss(Cell::Hexahedron, degree, degree + 2),
        }
    }

    /// Factors of a point. BK5 and BK3: G00 G01 G02 G11 G12 G22, then weight · |J|, which BK1 has
    /// alone.
    pub const fn factors(self) -> u32 {
        match self {
            Self::Bk1 => 1,
            Self::Bk5 | Self::Bk3 => 7,
        }
    }
}

/// The distribution of an element over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Threads {
    /// One per column.
    Layers,
    /// One per point.
    Cubes,
}

impl Threads {
    /// The name within a step's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Layers => "layers",
            Self::Cubes => "cubes",
        }
    }
}

/// A step of a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operator.
    pub benchmark: Benchmark,
    /// The kind of ladder.
    pub threads: Threads,
    /// Its number, from 1.
    pub number: usize,
    /// Its change relative to the previous step.
    pub change: &'static str,
    /// Its schedule.
    pub schedule: Schedule,
}

impl fmt::Display for Step {
    /// The name used by [`find`]: `bk5/layers/7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (benchmark, threads) = (self.benchmark.name(), self.threads.name());
        write!(f, "{benchmark}/{threads}/{}", self.number)
    }
}

/// All steps of all ladders.
pub fn steps() -> Vec<Step> {
    steps::all()
}

/// The step with a name such as `bk5/layers/7`.
pub fn find(name: &str) -> Option<Step> {
    steps().into_iter().find(|step| step.to_string() == name)
}

/// The steps of one ladder, in order; empty if none was published (BK1 in cubes).
pub fn ladder(benchmark: Benchmark, threads: Threads) -> Vec<Step> {
    let mut steps = steps();
    steps.retain(|step| step.benchmark == benchmark && step.threads == threads);
    steps
}
