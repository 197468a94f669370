//! Forms that read every input.

use femto::kernel::form::{Form, Point};
use femto::kernel::scalar::Scalar;

/// Deliberately unnatural: values, gradients, all kinds of fields and their gradients, position, time and
/// parameters, coupled and nonlinear.
#[derive(Clone, Copy)]
pub struct Busy;

impl<const D: usize, const C: usize> Form<D, C> for Busy {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, D, C>) -> [S; C] {
        core::array::from_fn(|c| {
            let next = p.u[(c + 1) % C];
            p.u[c] * next * p.a[0] + p.grad_u[c][D - 1] * p.grad_a[1][0] + p.x[1] * p.time
        })
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, D, C>) -> [[S; D]; C] {
        core::array::from_fn(|c| {
            core::array::from_fn(|d| {
                let other = p.grad_u[(c + 1) % C][(d + 1) % D];
                p.grad_u[c][d] * (p.a[1] * p.a[1] + 1.0) + other * p.a[2] + p.parameters[0]
            })
        })
    }
}

/// Conduction with a coefficient in the solution's space: gradients only.
#[derive(Clone, Copy)]
pub struct Conduction;

impl<const D: usize> Form<D> for Conduction {
    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, D>) -> [[S; D]; 1] {
        [p.grad_u[0].map(
            #[inline(always)]
            |g| g * p.a[1],
        )]
    }
}
