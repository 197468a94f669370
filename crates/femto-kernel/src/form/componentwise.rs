//! One form applied to every component, or group of components.

use super::{Form, Point};
use crate::scalar::Scalar;
use core::array::from_fn;

/// The form `F` of `B` components for each group of so many of `C`, uncoupled. `Componentwise::<_, 3>(Mass)` is the
/// operator of BP2, and with `Poisson` that of BP4 and BP6; `Componentwise::<_, 6, 3>(elasticity)` that of two displacements,
/// for two load cases at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Componentwise<F, const C: usize, const B: usize = 1>(pub F);

/// The point, as seen by a group of components.
#[inline(always)]
fn group<'a, S: Scalar, const D: usize, const C: usize, const B: usize>(
    point: &Point<'a, S, D, C>,
    number: usize,
) -> Point<'a, S, D, B> {
    Point {
        u: from_fn(|b| point.u[number * B + b]),
        grad_u: from_fn(|b| point.grad_u[number * B + b]),
        a: point.a,
        grad_a: point.grad_a,
        x: point.x,
        time: point.time,
        parameters: point.parameters,
    }
}

impl<F, const C: usize, const B: usize> Componentwise<F, C, B> {
    /// Number of groups.
    const GROUPS: usize = {
        assert!(B > 0 && C.is_multiple_of(B), "groups fill all components");
        C / B
    };
}

impl<F: Form<D, B>, const D: usize, const C: usize, const B: usize> Form<D, C>
    for Componentwise<F, C, B>
{
    const VALUES_ONLY: bool = F::VALUES_ONLY;

    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        let mut f0 = point.u;
        for number in 0..Self::GROUPS {
            f0[number * B..][..B].copy_from_slice(&self.0.f0(&group(point, number)));
        }
        f0
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        let mut f1 = point.grad_u;
        for number in 0..Self::GROUPS {
            f1[number * B..][..B].copy_from_slice(&self.0.f1(&group(point, number)));
        }
        f1
    }
}
