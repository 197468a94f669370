//! Newton's method on accelerators, for equations of the third degree.

use super::*;
use crate::solve::newton::{NewtonParams, NonlinearProblem};
use crate::solve::tests::algebraic::run_newton;

/// d u + u³ + p (q, u) = b, entry by entry but for the product, on any device.
struct Cubic<T: Number, D: Device> {
    linear: RankOne<T, D>,
    b: D::Buffer<T>,
    /// With d + 3 u² on the diagonal.
    slope: RankOne<T, D>,
    jacobi: Option<Jacobi<T, D>>,
}

impl<T: Number, D: VectorOps<T>> NonlinearProblem<T, D> for Cubic<T, D> {
    fn size(&self) -> usize {
        self.b.len()
    }
    fn residual(&mut self, u: &D::Buffer<T>, r: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        let RankOne { device, d, p, q } = &self.linear;
        device.copy(u, r)?;
        device.multiply(u, r)?;
        device.axpy(1.0, d, r)?;
        device.multiply(u, r)?;
        device.axpy(device.dot(q, u)?, p, r)?;
        Ok(device.axpy(-1.0, &self.b, r)?)
    }
    fn linearize(&mut self, u: &D::Buffer<T>) -> Result<(), StopReason> {
        let RankOne { device, d, .. } = &mut self.slope;
        device.copy(u, d)?;
        device.multiply(u, d)?;
        device.xpby(&self.linear.d, 3.0, d)?;
        self.jacobi = Some(Jacobi::new(device, d)?);
        Ok(())
    }
    fn jacobian(&self, w: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.slope.apply(w, v)
    }
    fn preconditioning(&self) -> Result<Preconditioning<'_, T, D>, StopReason> {
        Ok(Preconditioning::from(self.jacobi.as_ref()))
    }
}

fn cubic<T: Number, D: VectorOps<T>>(device: &D, linear: LinearSolver) -> Outcome<T> {
    let p = |i: f64| (0.7 * i).sin() / 10.0;
    let q = match linear {
        LinearSolver::Cg => p,
        LinearSolver::Gmres { .. } => |i: f64| (1.3 * i).cos() / 10.0,
    };
    let operator = || RankOne::new(device, 900, [|i| 1.5 + i.sin(), p, q]);
    let mut problem = Cubic {
        linear: operator(),
        b: vector(device, 900, |i| 2.0 * (0.3 * i).sin()),
        slope: operator(),
        jacobi: None,
    };
    let params = NewtonParams {
        stop: StopCriteria {
            relative_tolerance: if T::BYTES == 8 { 1e-11 } else { 1e-5 },
            max_iterations: 50,
            ..StopCriteria::default()
        },
        linear,
        max_linear_iterations: 99,
        ..NewtonParams::default()
    };
    let start = vec![T::default(); 900];
    run_newton(device, &mut problem, &start, &params, &mut ())
}

/// Device and host agree to about the precision, and repeated runs are bitwise the same.
fn newton_agrees<T: Number>(device: &Accelerator) {
    let host = Host::with_threads(2).unwrap();
    for linear in [restart(30), CG] {
        let here = cubic::<T, _>(&host, linear);
        let [there, again] = [(); 2].map(|()| cubic::<T, _>(device, linear));
        assert_eq!(there.x, again.x);
        let tolerance = if T::BYTES == 8 { 1e-9 } else { 1e-3 };
        assert_close(&here.x, &there.x, tolerance);
        let [here, there] = [here, there].map(|outcome| outcome.iterations());
        assert!(
            here.abs_diff(there) <= 1 && here > 1,
            "{here} on the host, {there}"
        );
    }
}

pub(super) fn newton_does_the_same(device: &Accelerator) {
    newton_agrees::<f64>(device);
    newton_agrees::<f32>(device);
}
