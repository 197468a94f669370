//! The texts of general forms on hexahedra.

use super::text::{Request, Stored, Text};
use femto::Quadrature;
use femto::element::Cell;
use femto::kernel::dialect::Language;
use femto::kernel::family::Limits;
use femto::kernel::family::fields::{FieldKind, Fields};
use femto::kernel::family::sum_factorization::Storage;
use femto::kernel::family::sum_factorization::kernel::{KernelSpec, PointStep, Schedule};
use femto::kernel::family::sum_factorization::work::Shape;
use femto::kernel::form::{
    Coefficient, Diffusion, Jacobian, LinearElasticity, NeoHookean, TracedForm, trace,
};
use femto::operator::OperatorError;

/// An example form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Example {
    /// −∇·κ∇u, κ in the solution's space.
    Diffusion,
    /// Linear elasticity, μ per element.
    Elasticity,
    /// The residual of a neo-Hookean body.
    NeoHookean,
    /// Its derivative.
    Jacobian,
    /// The diagonal of the derivative.
    Diagonal,
}

impl Example {
    pub(super) const ALL: [Self; 5] = [
        Self::Diffusion,
        Self::Elasticity,
        Self::NeoHookean,
        Self::Jacobian,
        Self::Diagonal,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Diffusion => "diffusion",
            Self::Elasticity => "elasticity",
            Self::NeoHookean => "neo-hookean",
            Self::Jacobian => "jacobian",
            Self::Diagonal => "diagonal",
        }
    }

    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Diffusion => "any form: diffusion, a coefficient at nodes, Gauss",
            Self::Elasticity => "any form: linear elasticity, a modulus per element, Gauss",
            Self::NeoHookean => "any form: a neo-Hookean body, Gauss",
            Self::Jacobian => "any form: the Jacobian of a neo-Hookean body, Gauss",
            Self::Diagonal => "the diagonal of any form: that Jacobian",
        }
    }

    /// Its graph, and the kinds of its fields.
    fn form(self) -> (TracedForm, &'static [FieldKind]) {
        let body = NeoHookean::from_young(1.0, 0.3);
        let elasticity = LinearElasticity {
            lambda: Coefficient::Constant(1.0),
            mu: Coefficient::Auxiliary(0),
        };
        let diffusion = Diffusion {
            kappa: Coefficient::Auxiliary(0),
        };
        match self {
            Self::Diffusion => (trace::<_, 3, 1>(&diffusion), &[FieldKind::Nodal]),
            Self::Elasticity => (trace::<_, 3, 3>(&elasticity), &[FieldKind::Cell]),
            Self::NeoHookean => (trace::<_, 3, 3>(&body), &[]),
            Self::Jacobian | Self::Diagonal => {
                (trace::<_, 3, 3>(&Jacobian(body)), &[FieldKind::Nodal; 3])
            }
        }
    }
}

/// The text for a device with these limits.
///
/// # Errors
/// A schedule that is illegal under these limits.
pub(super) fn text(
    example: Example,
    request: &Request,
    language: Language,
    limits: &Limits,
) -> Result<Text, OperatorError> {
    let (form, fields) = example.form();
    let (inspection, precision) = (form.inspect(), request.precision);
    let basis = Quadrature::Gauss.tables(Cell::Hexahedron, request.degree)?;
    let storage = match request.stored {
        Stored::Points | Stored::Entries => Storage::Jacobians,
        Stored::Element => Storage::Affine,
        Stored::Multilinear => Storage::Multilinear,
    };
    let shape = Shape::new(&basis, &inspection, storage);
    let problem = KernelSpec {
        basis: &basis,
        shape: shape.with_fields(&inspection, Fields::new(fields)),
        step: PointStep::Form(&form),
        vectors: request.vectors.vectors(),
        precision,
        language,
    };
    let (kernel, schedule) = match example {
        Example::Diagonal => (problem.diagonal_source()?, Schedule::PLAIN),
        _ => {
            let schedule = problem.best(limits);
            (problem.source(&schedule)?, schedule)
        }
    };
    schedule.validate(&problem, limits)?;
    Ok(Text::of_kernel(kernel, precision, schedule.to_string()))
}
