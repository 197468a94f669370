//! Forms in three dimensions with compiled host loops, in one place, since these take long to compile and are large.

use femto::operator::{AnyForm, Typed};
use femto_kernel::form::{Componentwise, Mass, Poisson, ScreenedPoisson};

/// ∫ φ u.
pub fn mass() -> Box<dyn AnyForm> {
    Box::new(Typed::<_, 3, 1>(Mass))
}

/// ∫ ∇φ·∇u.
pub fn poisson() -> Box<dyn AnyForm> {
    Box::new(Typed::<_, 3, 1>(Poisson))
}

/// ∫ λ φ u + ∇φ·∇u.
pub fn screened_poisson(lambda: f64) -> Box<dyn AnyForm> {
    let lambda = Some(lambda);
    Box::new(Typed::<_, 3, 1>(ScreenedPoisson { lambda }))
}

/// [`mass`] of each of three components.
pub(crate) fn mass_of_vectors() -> Box<dyn AnyForm> {
    Box::new(Typed::<_, 3, 3>(Componentwise::<_, 3>(Mass)))
}

/// [`poisson`] of each of three components.
pub(crate) fn poisson_of_vectors() -> Box<dyn AnyForm> {
    Box::new(Typed::<_, 3, 3>(Componentwise::<_, 3>(Poisson)))
}
