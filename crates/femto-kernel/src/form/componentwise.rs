//! One scalar form applied to every component.

use super::{Form, Point};
use crate::scalar::Scalar;

/// The scalar form `F` for each of `C` components, uncoupled: `Componentwise::<_, 3>(Mass)` is the operator
/// of BP2, and with `Poisson` that of BP4 and BP6.
#[derive(Clone, Copy, Debug, Default)]
pub struct Componentwise<F, const C: usize>(pub F);

/// The point, as seen by one component.
#[inline(always)]
fn component<'a, S: Scalar, const D: usize, const C: usize>(
    point: &Point<'a, S, D, C>,
    c: usize,
) -> Point<'a, S, D> {
    Point {
        u: [point.u[c]],
        grad_u: [point.grad_u[c]],
        a: point.a,
        grad_a: point.grad_a,
        x: point.x,
        time: point.time,
        parameters: point.parameters,
    }
}

impl<F: Form<D>, const D: usize, const C: usize> Form<D, C> for Componentwise<F, C> {
    const VALUES_ONLY: bool = F::VALUES_ONLY;

    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        let mut f0 = point.u;
        for (c, f0) in f0.iter_mut().enumerate() {
            [*f0] = self.0.f0(&component(point, c));
        }
        f0
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        let mut f1 = point.grad_u;
        for (c, f1) in f1.iter_mut().enumerate() {
            [*f1] = self.0.f1(&component(point, c));
        }
        f1
    }
}
