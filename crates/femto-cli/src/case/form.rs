//! The left-hand side of a case.

use super::document::Located;
use femto::kernel::form::FormExpressions;
use femto::problem::{Expression, Function};

/// The left-hand side of the equation.
#[derive(Clone, Debug)]
pub enum Form {
    /// ∫ v u
    Mass,
    /// ∫ ∇v·∇u
    Poisson,
    /// ∫ λ v u + ∇v·∇u
    ScreenedPoisson(Coefficient),
    /// ∫ κ ∇v·∇u
    Diffusion(Coefficient),
    /// ∫ (κ₀ + κ₁ u + κ₂ u²) ∇v·∇u
    NonlinearDiffusion([f64; 3]),
    /// ∫ v b·∇u + κ ∇v·∇u
    ConvectionDiffusion {
        /// κ.
        kappa: Coefficient,
        /// b, `[axis]`.
        velocity: Located<Vec<Coefficient>>,
    },
    /// ∫ (ε² + |∇u|²)^((p-2)/2) ∇v·∇u
    PLaplacian {
        /// p.
        p: f64,
        /// ε.
        epsilon: f64,
    },
    /// Small deformations.
    Elasticity(Moduli),
    /// Large deformations.
    NeoHookean(Moduli),
    /// A form given by expressions.
    Text(Box<FormSource>),
}

impl Form {
    /// The name in cases and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mass => "mass",
            Self::Poisson => "poisson",
            Self::ScreenedPoisson(_) => "screened_poisson",
            Self::Diffusion(_) => "diffusion",
            Self::NonlinearDiffusion(_) => "nonlinear_diffusion",
            Self::ConvectionDiffusion { .. } => "convection_diffusion",
            Self::PLaplacian { .. } => "p_laplacian",
            Self::Elasticity(_) => "elasticity",
            Self::NeoHookean(_) => "neo_hookean",
            Self::Text(_) => "form of the case",
        }
    }

    /// Components of the solution on cells of this dimension.
    pub fn components(&self, dim: usize) -> usize {
        match self {
            Self::Elasticity(_) | Self::NeoHookean(_) => dim,
            Self::Text(source) => source.components.value,
            _ => 1,
        }
    }

    /// Whether it is linear by its kind; a text may be linear too.
    pub fn is_linear_kind(&self) -> bool {
        match self {
            Self::Mass | Self::Poisson | Self::ScreenedPoisson(_) | Self::Diffusion(_) => true,
            Self::ConvectionDiffusion { .. } | Self::Elasticity(_) => true,
            Self::NonlinearDiffusion(_) | Self::PLaplacian { .. } | Self::NeoHookean(_) => false,
            Self::Text(_) => false,
        }
    }

    /// All coefficients.
    pub fn coefficients(&self) -> Vec<&Coefficient> {
        match self {
            Self::Mass | Self::Poisson => vec![],
            Self::NonlinearDiffusion(_) | Self::PLaplacian { .. } => vec![],
            Self::ScreenedPoisson(coefficient) | Self::Diffusion(coefficient) => vec![coefficient],
            Self::ConvectionDiffusion { kappa, velocity } => {
                std::iter::once(kappa).chain(&velocity.value).collect()
            }
            Self::Elasticity(moduli) | Self::NeoHookean(moduli) => match moduli {
                Moduli::Lame { lambda, mu } => vec![lambda, mu],
                Moduli::Young { young, poisson } => vec![young, poisson],
            },
            Self::Text(source) => source.fields.iter().map(|(_, field)| field).collect(),
        }
    }
}

/// The moduli of an elastic body.
#[derive(Clone, Debug)]
pub enum Moduli {
    /// Lamé's parameters.
    Lame {
        /// λ.
        lambda: Coefficient,
        /// μ, the shear modulus.
        mu: Coefficient,
    },
    /// Engineering constants.
    Young {
        /// Young's modulus.
        young: Coefficient,
        /// Poisson's ratio.
        poisson: Coefficient,
    },
}

impl Moduli {
    /// What λ must be, in words.
    pub const STABLE: &str = "above -2/3 of mu";

    /// Whether a body with these Lamé parameters does not resist pressure.
    pub fn is_unstable(lambda: f64, mu: f64) -> bool {
        3.0 * lambda + 2.0 * mu <= 0.0
    }

    /// The largest Poisson's ratio, if numbers give it.
    pub fn largest_ratio(&self) -> Option<f64> {
        match self {
            Self::Lame { lambda, mu } => {
                let mut groups: Vec<Option<&str>> =
                    lambda.groups().chain(mu.groups()).map(Some).collect();
                if groups.is_empty() {
                    groups.push(None);
                }
                let ratio = |group| {
                    let (lambda, mu) = (lambda.least(group)?, mu.least(group)?);
                    Some(0.5 * lambda / (lambda + mu))
                };
                groups.into_iter().filter_map(ratio).reduce(f64::max)
            }
            Self::Young { poisson, .. } => match poisson {
                Coefficient::ByGroup(ratios) => {
                    ratios.iter().map(|(_, ratio)| *ratio).reduce(f64::max)
                }
                _ => poisson.least(None),
            },
        }
    }
}

/// A coefficient of a form.
#[derive(Clone, Debug)]
pub enum Coefficient {
    /// The same everywhere.
    Uniform(f64),
    /// By name or number of the group of cells.
    ByGroup(Vec<(Located<String>, f64)>),
    /// A function of position.
    Function(Box<CoefficientFunction>),
}

impl Coefficient {
    /// The names or numbers of its groups; none if it is given as a whole.
    fn groups(&self) -> impl Iterator<Item = &str> {
        let numbers = match self {
            Self::ByGroup(numbers) => &numbers[..],
            _ => &[],
        };
        numbers.iter().map(|(tag, _)| &tag.value[..])
    }

    /// Its least number, in a group of cells if one is given; `None` where it is no number.
    pub fn least(&self, group: Option<&str>) -> Option<f64> {
        match self {
            Self::Uniform(number) => Some(*number),
            Self::ByGroup(numbers) => numbers
                .iter()
                .filter(|(tag, _)| group.is_none_or(|group| tag.value == group))
                .map(|(_, number)| *number)
                .reduce(f64::min),
            Self::Function(it) => it.function.value.as_constant(),
        }
    }
}

/// A function of position as a coefficient.
#[derive(Clone, Debug)]
pub struct CoefficientFunction {
    /// The function.
    pub function: Located<Expression>,
    /// Its name in errors.
    pub key: String,
    /// Its permitted values.
    pub allowed: Allowed,
}

/// The permitted values of a coefficient, in words and as exclusive limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    above: f64,
    below: f64,
    /// In words.
    pub words: &'static str,
}

impl Allowed {
    /// Any finite number.
    pub const ANY: Self = Self {
        above: f64::NEG_INFINITY,
        below: f64::INFINITY,
        words: "a finite number",
    };
    /// Finite and above zero.
    pub const POSITIVE: Self = Self {
        above: 0.0,
        words: "above zero",
        ..Self::ANY
    };
    /// Poisson's ratio; at 1/2 a body is incompressible, which displacements alone cannot describe.
    pub const RATIO: Self = Self {
        above: -1.0,
        below: 0.5,
        words: "above -1 and below 0.5",
    };

    /// Whether a number is permitted.
    pub fn has(&self, number: f64) -> bool {
        number > self.above && number < self.below
    }
}

/// A form given by expressions.
#[derive(Clone, Debug)]
pub struct FormSource {
    /// The expressions, with the names of fields and parameters.
    pub expressions: FormExpressions,
    /// The positions of f0 and f1.
    pub parts: Vec<Located<&'static str>>,
    /// The position of each expression, with its name in errors.
    pub places: Vec<(String, Located<String>)>,
    /// Components of the solution.
    pub components: Located<usize>,
    /// The fields, in the order of their names in `expressions`.
    pub fields: Vec<(Located<String>, Coefficient)>,
    /// The parameters, likewise.
    pub parameters: Vec<(Located<String>, f64)>,
}
