//! Forms of the checks.

use femto_kernel::family::cell_quadrature::FieldKind;
use femto_kernel::form::{Form, Point};
use femto_kernel::scalar::Scalar;

/// All kinds of fields, deliberately not sorted by kind.
pub(in crate::kernels) const KINDS: [FieldKind; 4] = [
    FieldKind::Points,
    FieldKind::Nodal,
    FieldKind::Cell,
    FieldKind::Nodal,
];

/// Reads and couples all inputs; nonlinear.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Everything;

impl<const D: usize, const C: usize> Form<D, C> for Everything {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, D, C>) -> [S; C] {
        let mut f0 = p.u;
        for (c, f0) in f0.iter_mut().enumerate() {
            let other = (c + 1) % C;
            *f0 = p.u[c] * p.a[0] + p.u[other] * p.grad_a[1][D - 1] * p.time
                - p.grad_u[other][0] * p.parameters[0];
        }
        f0
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, D, C>) -> [[S; D]; C] {
        let mut f1 = p.grad_u;
        for (c, f1) in f1.iter_mut().enumerate() {
            let other = (c + 1) % C;
            for (d, f1) in f1.iter_mut().enumerate() {
                *f1 = p.grad_u[other][d] * (p.x[d] + p.a[2] + 3.0)
                    + p.grad_u[c][(d + 1) % D] * p.a[3] * p.parameters[1]
                    + p.u[other] * p.u[c] * p.grad_a[3][d];
            }
        }
        f1
    }
}
