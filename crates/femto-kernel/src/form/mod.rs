//! Weak forms: the point-wise physics.
//!
//! A form is the pair f0, f1 in ∫ φ·f0(u, ∇u, a, x, t) + ∇φ : f1(u, ∇u, a, x, t) (Knepley, Rupp, Terrel
//! 2016, eq. 1), written once as a generic function. The number type decides the kind of evaluation: see
//! [`crate::scalar`].

#![allow(
    clippy::needless_range_loop,
    reason = "formulas are written with indices"
)]

mod coefficient;
mod componentwise;
mod convection_diffusion;
mod diffusion;
mod elasticity;
mod graph_form;
mod inspect;
mod jacobian;
mod mass;
mod neo_hookean;
mod p_laplacian;
mod parsed;
mod points;
mod poisson;
mod screened_poisson;
mod trace;

pub use coefficient::Coefficient;
pub use componentwise::Componentwise;
pub use convection_diffusion::ConvectionDiffusion;
pub use diffusion::{Diffusion, NonlinearDiffusion};
pub use elasticity::{LinearElasticity, SymmetricGradient};
pub use graph_form::GraphForm;
pub use inspect::{CoefficientKind, Coefficients, Inspection, MAX_FIELDS, inspect};
pub use jacobian::Jacobian;
pub use mass::Mass;
pub use neo_hookean::NeoHookean;
pub use p_laplacian::PLaplacian;
pub use parsed::{Expressions, FormExpressions, FormParseError, Role};
pub use points::{AtPoints, MOST_POINTS, PointForm, PointSizes, Points};
pub(crate) use points::{AtPointsOf, physical, reference};
pub use poisson::Poisson;
pub use screened_poisson::ScreenedPoisson;
pub use trace::{TracedForm, trace};

use crate::scalar::{Lanes, Scalar};

/// The inputs of a form at one point of a `D`-dimensional cell, for `C` components.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a, S, const D: usize, const C: usize = 1> {
    /// Values of the solution, `[component]`.
    pub u: [S; C],
    /// Gradients with respect to the position, `[component][axis]`, per length unit of the mesh.
    pub grad_u: [[S; D]; C],
    /// Auxiliary fields at the point, `[field]`.
    pub a: &'a [S],
    /// Gradients of the auxiliary fields, `[field][axis]`; zero for fields that are constant in each
    /// element or given only at the points.
    pub grad_a: &'a [[S; D]],
    /// The position.
    pub x: [S; D],
    /// The time.
    pub time: S,
    /// Run-time parameters, `[parameter]`.
    pub parameters: &'a [S],
}

impl<S: Scalar, const D: usize, const C: usize> Point<'_, S, D, C> {
    /// The constant `value` as a number of this point.
    #[inline(always)]
    pub fn constant(&self, value: f64) -> S {
        self.time.constant(value)
    }
}

/// The physics of one equation, or of a system of `C` equations, in `D` dimensions.
///
/// Implementors should mark both functions `#[inline(always)]`: the host loops run them over SIMD lanes,
/// which only pays off if they are inlined into code compiled for the instruction set.
pub trait Form<const D: usize, const C: usize = 1>: Send + Sync {
    /// Whether the host evaluates it by an interpreter, for which many points together are faster.
    #[doc(hidden)]
    const INTERPRETED: bool = false;

    /// Whether it reads no gradients and f1 is zero, so that loops are compiled for it that compute none.
    #[doc(hidden)]
    const VALUES_ONLY: bool = false;

    /// The form at points of a batch of cells.
    #[doc(hidden)]
    fn at_points<L: Lanes>(&self) -> Box<dyn PointForm<L, D>>
    where
        Self: Clone + 'static,
    {
        Box::new(points::Compiled::<Self, C>(self.clone()))
    }

    /// The coefficient of the test function, `[component]`. Zero by default.
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        [point.constant(0.0); C]
    }

    /// The coefficient of the test function's gradient, `[component][axis]`. Zero by default.
    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        [[point.constant(0.0); D]; C]
    }
}
