//! Kernels on E-vectors to be read and compiled alone: one of each kind.

use super::candidate::{INTERLEAVED, cells, element, plain, together, transposition};
use super::{Candidate, SimplexCase, SimplexForm};
use crate::BenchError;
use femto::operator::KernelTarget;
use femto_kernel::family::KernelSource;
use femto_kernel::family::cell_quadrature::schedule::{PointAtATime, Schedule, Transposition};
use femto_kernel::family::cell_quadrature::source::Interleave;

/// A kernel of the benchmark for Poisson's equation on tetrahedra of degree 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed {
    /// Its name, such as `simplices/transposition`.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    candidate: Candidate,
}

impl Listed {
    /// All of them.
    pub const fn all() -> [Self; 3] {
        let points = PointAtATime {
            cells_per_block: 32,
            blocks_per_unit: 1,
        };
        [
            Self {
                name: "simplices/transposition",
                description: "P1 tetrahedra, a thread is a point, then a basis coefficient (Knepley, Rupp, Terrel 2016)",
                candidate: transposition(Transposition {
                    padded: true,
                    prefetch: true,
                    ..plain((64, 8))
                }),
            },
            Self {
                name: "simplices/cell",
                description: "P1 tetrahedra, a cell per thread",
                candidate: element(cells(128, false, false), together(INTERLEAVED, INTERLEAVED)),
            },
            Self {
                name: "simplices/point",
                description: "P1 tetrahedra, a thread per basis function, a point at a time",
                candidate: element(Schedule::PointAtATime(points), Interleave::NONE),
            },
        ]
    }

    /// Its text for a device, and its schedule in words.
    ///
    /// # Errors
    /// [`BenchError::Illegal`], with the rule that it breaks there.
    pub fn source(self, target: KernelTarget) -> Result<(KernelSource, String), BenchError> {
        let case = SimplexCase {
            form: SimplexForm::Poisson,
            dim: 3,
            precision: target.precision,
        };
        let source = case.source(&self.candidate, (target.language, &target.limits))?;
        Ok((source, self.candidate.schedule.to_string()))
    }
}
