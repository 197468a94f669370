//! The exact derivative of a form, by dual numbers.

use super::{Form, MAX_FIELDS, Point};
use crate::scalar::{Dual, Scalar};

/// The derivative of `F` at a state, as a form in w, passed as u:
/// ∫ φ·(∂f0/∂u w + ∂f0/∂∇u : ∇w) + ∇φ : (∂f1/∂u w + ∂f1/∂∇u : ∇w).
///
/// The state is given as the first `C` auxiliary fields, in the solution's space; those of `F` follow. It
/// is evaluated by running `F` on dual numbers, so it is exact on every device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jacobian<F>(pub F);

impl<F> Jacobian<F> {
    #[inline(always)]
    fn evaluate<S: Scalar, R, const D: usize, const C: usize>(
        point: &Point<S, D, C>,
        run: impl FnOnce(&Point<Dual<S>, D, C>) -> R,
    ) -> R
    where
        F: Form<D, C>,
    {
        let zero = point.constant(0.0);
        let fixed = Dual::fixed(zero);
        let (mut u, mut grad_u) = ([fixed; C], [[fixed; D]; C]);
        for c in 0..C {
            let dual = |value, slope| Dual { value, slope };
            u[c] = dual(point.a[c], point.u[c]);
            for d in 0..D {
                grad_u[c][d] = dual(point.grad_a[c][d], point.grad_u[c][d]);
            }
        }
        // Missing inputs read as NaN, so that a form that needs them fails visibly.
        let missing = Dual::fixed(point.constant(f64::NAN));
        let mut a = [missing; MAX_FIELDS];
        let mut grad_a = [[missing; D]; MAX_FIELDS];
        let mut parameters = [missing; MAX_FIELDS];
        let fields = point.a.len().saturating_sub(C).min(MAX_FIELDS);
        for i in 0..fields {
            a[i] = Dual::fixed(point.a[C + i]);
            for d in 0..D {
                let gradient = point.grad_a.get(C + i);
                grad_a[i][d] = gradient.map_or(fixed, |gradient| Dual::fixed(gradient[d]));
            }
        }
        let count = point.parameters.len().min(MAX_FIELDS);
        for i in 0..count {
            parameters[i] = Dual::fixed(point.parameters[i]);
        }
        run(&Point {
            u,
            grad_u,
            a: &a,
            grad_a: &grad_a,
            x: point.x.map(
                #[inline(always)]
                |x| Dual::fixed(x),
            ),
            time: Dual::fixed(point.time),
            parameters: &parameters,
        })
    }
}

impl<F: Form<D, C>, const D: usize, const C: usize> Form<D, C> for Jacobian<F> {
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        let f0 = Self::evaluate(
            point,
            #[inline(always)]
            |point| self.0.f0(point),
        );
        f0.map(
            #[inline(always)]
            |f| f.slope,
        )
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        let f1 = Self::evaluate(
            point,
            #[inline(always)]
            |point| self.0.f1(point),
        );
        f1.map(
            #[inline(always)]
            |row| {
                row.map(
                    #[inline(always)]
                    |f| f.slope,
                )
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{inspect, trace};

    /// ∫ φ·u³ + ∇φ·(1 + u²)∇u a.
    struct Cubic;
    impl Form<3> for Cubic {
        fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
            [p.u[0].powi(3)]
        }
        fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
            [p.grad_u[0].map(|g| g * (p.u[0] * p.u[0] + 1.0) * p.a[0])]
        }
    }

    #[test]
    fn it_is_the_difference_quotient() {
        let (u0, g0, a) = (0.7, [0.3, -0.4, 1.1], 2.5);
        let (w, gw) = (0.9, [-0.2, 0.8, 0.5]);
        let at = |h: f64| {
            let a = [a];
            let point = Point {
                u: [u0 + h * w],
                grad_u: [core::array::from_fn(|d| g0[d] + h * gw[d])],
                a: &a,
                grad_a: &[],
                x: [0.0; 3],
                time: 0.0,
                parameters: &[],
            };
            (Cubic.f0(&point)[0], Cubic.f1(&point)[0])
        };
        let (fields, gradients) = ([u0, a], [g0]);
        let point = Point {
            u: [w],
            grad_u: [gw],
            a: &fields,
            grad_a: &gradients,
            x: [0.0; 3],
            time: 0.0,
            parameters: &[],
        };
        let h = 1e-6;
        let (plus, minus) = (at(h), at(-h));
        let jacobian = Jacobian(Cubic);
        assert!((jacobian.f0(&point)[0] - (plus.0 - minus.0) / (2.0 * h)).abs() < 1e-8);
        for d in 0..3 {
            let difference = (plus.1[d] - minus.1[d]) / (2.0 * h);
            assert!((jacobian.f1(&point)[0][d] - difference).abs() < 1e-8);
        }
    }

    #[test]
    fn it_is_linear_and_reads_the_state() {
        let inspection = inspect::<_, 3, 1>(&Jacobian(Cubic));
        assert!(inspection.linear && !inspection.symmetric);
        assert_eq!(inspection.auxiliary, 2);
        assert!(inspection.reads_field_gradient(0) && !inspection.reads_field_gradient(1));
        assert!(trace(&Jacobian(Cubic)).ops().flops() < 40);
    }
}
