//! The benchmarks of the field, as data.

use femto::Quadrature;
use femto::operator::OperatorError;
use femto::problem::ProblemForm;
use femto_kernel::form::{Componentwise, Form, Mass, Poisson, ScreenedPoisson};
use serde::{Serialize, Serializer};
use std::fmt::{self, Display};

/// A benchmark: a form, a quadrature rule and a kind of vectors.
///
/// BP1 to BP6 are CEED's bake-off problems (Fischer et al., Scalability of high-performance PDE solvers,
/// 2020). The BKs are the element-local kernels of Świrydowicz et al. 2019, whose BP3.0 and BP3.5 have a
/// mass term; here they are BK3 and BK5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "described by `description`")]
pub enum Benchmark {
    Bp1,
    Bp2,
    Bp3,
    Bp4,
    Bp5,
    Bp6,
    Bk1,
    Bk3,
    Bk5,
}

/// The form of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Physics {
    /// ∫ φ·u
    Mass,
    /// ∫ ∇φ : ∇u
    Poisson,
    /// ∫ φ·u + ∇φ : ∇u
    ScreenedPoisson,
}

/// The vectors of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum VectorKind {
    /// All unknowns, shared nodes once; gather and scatter are part of the work.
    L,
    /// Element-local values, shared nodes duplicated.
    E,
}

/// The full definition of a benchmark.
struct Definition {
    name: &'static str,
    physics: Physics,
    quadrature: Quadrature,
    components: usize,
    vector: VectorKind,
}

impl Benchmark {
    /// All benchmarks.
    pub const ALL: [Self; 9] = [
        Self::Bp1,
        Self::Bp2,
        Self::Bp3,
        Self::Bp4,
        Self::Bp5,
        Self::Bp6,
        Self::Bk1,
        Self::Bk3,
        Self::Bk5,
    ];

    const fn definition(self) -> Definition {
        use Physics::{Mass, Poisson, ScreenedPoisson};
        use Quadrature::{Collocated, Gauss};
        use VectorKind::{E, L};
        let (name, physics, quadrature, components, vector) = match self {
            Self::Bp1 => ("bp1", Mass, Gauss, 1, L),
            Self::Bp2 => ("bp2", Mass, Gauss, 3, L),
            Self::Bp3 => ("bp3", Poisson, Gauss, 1, L),
            Self::Bp4 => ("bp4", Poisson, Gauss, 3, L),
            Self::Bp5 => ("bp5", Poisson, Collocated, 1, L),
            Self::Bp6 => ("bp6", Poisson, Collocated, 3, L),
            Self::Bk1 => ("bk1", Mass, Gauss, 1, E),
            Self::Bk3 => ("bk3", ScreenedPoisson, Gauss, 1, E),
            Self::Bk5 => ("bk5", ScreenedPoisson, Collocated, 1, E),
        };
        Definition {
            name,
            physics,
            quadrature,
            components,
            vector,
        }
    }

    /// The name in options and reports: `bp1`, `bk5`.
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// The form.
    pub const fn physics(self) -> Physics {
        self.definition().physics
    }

    /// The quadrature: Gauss with degree + 2 points, or collocated.
    pub const fn quadrature(self) -> Quadrature {
        self.definition().quadrature
    }

    /// Numbers per node.
    pub const fn components(self) -> usize {
        self.definition().components
    }

    /// The kind of its vectors.
    pub const fn vector(self) -> VectorKind {
        self.definition().vector
    }

    /// The form, as users write it in cases.
    ///
    /// # Errors
    /// As [`ProblemForm::interpreted`], which takes all of these.
    pub fn form(self) -> Result<ProblemForm, OperatorError> {
        fn vector(form: impl Form<3, 1>) -> Result<ProblemForm, OperatorError> {
            ProblemForm::interpreted(&Componentwise::<_, 3>(form))
        }
        let screened = ScreenedPoisson { lambda: Some(1.0) };
        match (self.physics(), self.components()) {
            (Physics::Mass, 3) => vector(Mass),
            (Physics::Mass, _) => ProblemForm::interpreted::<_, 3, 1>(&Mass),
            (Physics::Poisson, 3) => vector(Poisson),
            (Physics::Poisson, _) => ProblemForm::interpreted::<_, 3, 1>(&Poisson),
            (Physics::ScreenedPoisson, _) => ProblemForm::interpreted::<_, 3, 1>(&screened),
        }
    }

    /// Form, quadrature and components in words.
    pub fn description(self) -> String {
        let physics = match self.physics() {
            Physics::Mass => "mass",
            Physics::Poisson => "Poisson",
            Physics::ScreenedPoisson => "screened Poisson (λ = 1)",
        };
        let quadrature = match self.quadrature() {
            Quadrature::Collocated => "collocated GLL",
            _ => "Gauss",
        };
        let more = match (self.components(), self.vector()) {
            (1, VectorKind::E) => ", element-local",
            (1, _) => "",
            _ => ", 3 components",
        };
        format!("{physics}, {quadrature}{more}")
    }
}

impl VectorKind {
    /// The quantity that its rate counts per second.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::L => "DOF/s on L-vectors",
            Self::E => "nodes/s on E-vectors",
        }
    }
}

impl Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Benchmark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
