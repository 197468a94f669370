//! Operators whose kernels are listed: those of the benchmarks, and of forms of all kinds.

use super::text::{Request, Text};
use femto::fem::space::Space;
use femto::kernel::family::BlockError;
use femto::kernel::form::{Coefficient, Diffusion, Jacobian, LinearElasticity, NeoHookean};
use femto::operator::{Auxiliary, KernelTarget, OperatorError};
use femto::problem::ProblemForm;
use femto::{OperatorParams, Quadrature};
use femto_bench::{BenchError, Benchmark};

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Example {
    /// A benchmark's.
    Benchmark(Benchmark),
    /// −∇·κ∇u, κ in the solution's space.
    Diffusion,
    /// Linear elasticity, μ per element.
    Elasticity,
    /// The residual of a neo-Hookean body.
    NeoHookean,
    /// Its derivative.
    Jacobian,
}

impl Example {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let forms = [
            Self::Diffusion,
            Self::Elasticity,
            Self::NeoHookean,
            Self::Jacobian,
        ];
        Benchmark::ALL.into_iter().map(Self::Benchmark).chain(forms)
    }

    /// Whether it has a diagonal.
    pub(super) const fn is_linear(self) -> bool {
        !matches!(self, Self::NeoHookean)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Benchmark(benchmark) => benchmark.name(),
            Self::Diffusion => "diffusion",
            Self::Elasticity => "elasticity",
            Self::NeoHookean => "neo-hookean",
            Self::Jacobian => "jacobian",
        }
    }

    pub(super) fn description(self) -> String {
        match self {
            Self::Benchmark(benchmark) => benchmark.description(),
            Self::Diffusion => "diffusion, a coefficient at nodes, Gauss".to_owned(),
            Self::Elasticity => "linear elasticity, a modulus per element, Gauss".to_owned(),
            Self::NeoHookean => "a neo-Hookean body, Gauss".to_owned(),
            Self::Jacobian => "the Jacobian of a neo-Hookean body, Gauss".to_owned(),
        }
    }

    fn form(self) -> Result<ProblemForm, OperatorError> {
        let body = NeoHookean::from_young(1.0, 0.3);
        let diffusion = Diffusion {
            kappa: Coefficient::Auxiliary(0),
        };
        let elasticity = LinearElasticity {
            lambda: Coefficient::Constant(1.0),
            mu: Coefficient::Auxiliary(0),
        };
        match self {
            Self::Benchmark(benchmark) => benchmark.form(),
            Self::Diffusion => ProblemForm::interpreted::<_, 3, 1>(&diffusion),
            Self::Elasticity => ProblemForm::interpreted::<_, 3, 3>(&elasticity),
            Self::NeoHookean => ProblemForm::interpreted::<_, 3, 3>(&body),
            Self::Jacobian => ProblemForm::interpreted::<_, 3, 3>(&Jacobian(body)),
        }
    }

    /// The form's auxiliary fields in a space.
    fn auxiliary(self, space: &Space) -> Vec<Auxiliary> {
        let nodal = |value| Auxiliary::Nodal(vec![value; space.nodes()]);
        match self {
            Self::Benchmark(_) | Self::NeoHookean => Vec::new(),
            Self::Diffusion => vec![nodal(1.0)],
            Self::Elasticity => vec![Auxiliary::PerCell(vec![1.0; space.elements()])],
            Self::Jacobian => vec![nodal(0.0); 3],
        }
    }

    /// The text of its best kernel for a target, or of its diagonal.
    ///
    /// # Errors
    /// As [`KernelTarget::kernels`]; knobs that are illegal.
    pub(super) fn text(
        self,
        request: &Request,
        target: KernelTarget,
        diagonal: bool,
    ) -> Result<Text, BenchError> {
        let vectors = request.vectors.vectors();
        let params = OperatorParams {
            quadrature: match self {
                Self::Benchmark(benchmark) => benchmark.quadrature(),
                _ => Quadrature::Gauss,
            },
            data_level: request.data_level,
            scatter: vectors.scatter().unwrap_or_default(),
            knobs: request.knobs,
            ..OperatorParams::default()
        };
        let (mesh, degree, form) = (request.mesh, request.degree, self.form()?);
        let auxiliary = |space: &Space| self.auxiliary(space);
        let kernels = mesh.kernels(target, degree, form.form(), auxiliary, params)?;
        let made = match diagonal {
            true => kernels.diagonal(vectors).map(|source| (source, None)),
            false => kernels.candidates(vectors).and_then(|all| {
                let best = all.into_iter().next().ok_or(BlockError::NoSchedule)?;
                Ok((best.source, Some(best.schedule)))
            }),
        };
        let (source, schedule) = made.map_err(OperatorError::from)?;
        Ok(Text::of_kernel(source, target.precision, schedule))
    }
}
