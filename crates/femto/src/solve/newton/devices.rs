//! Newton's method on accelerators does what it does on the host.

use super::systems::{Outcome, run};
use super::*;
use crate::solve::OperatorError;
use femto_platform::device::accelerator::Accelerator;
use femto_platform::device::conformance;
use femto_platform::device::host::Host;

/// d u + u³ + p (q, u) = b, entry by entry but for the product, on any device.
struct Cubic<T: Number, D: Device> {
    device: D,
    d: D::Buffer<T>,
    p: D::Buffer<T>,
    q: D::Buffer<T>,
    b: D::Buffer<T>,
    /// d + 3 u².
    slope: D::Buffer<T>,
}

impl<T: Number, D: VectorOps<T> + Clone> Cubic<T, D> {
    fn new(device: &D, size: u32, symmetric: bool) -> Self {
        let upload = |entry: &dyn Fn(f64) -> f64| {
            let entries = (0..size).map(|i| T::from_f64(entry(f64::from(i))));
            device.upload(&entries.collect::<Vec<_>>()).unwrap()
        };
        let p = |i: f64| (0.7 * i).sin() / 10.0;
        Self {
            device: device.clone(),
            d: upload(&|i| 1.5 + i.sin()),
            p: upload(&p),
            q: match symmetric {
                true => upload(&p),
                false => upload(&|i| (1.3 * i).cos() / 10.0),
            },
            b: upload(&|i| 2.0 * (0.3 * i).sin()),
            slope: device.zeros(size as usize).unwrap(),
        }
    }

    /// v = p (q, u).
    fn far(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        let product = self.device.dot(&self.q, u)?;
        Ok(self.device.axpy(product, &self.p, v)?)
    }
}

impl<T: Number, D: VectorOps<T> + Clone> NonlinearProblem<T, D> for Cubic<T, D> {
    fn size(&self) -> usize {
        self.d.len()
    }
    fn residual(&mut self, u: &D::Buffer<T>, r: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        let device = &self.device;
        device.copy(u, r)?;
        device.multiply(u, r)?;
        device.axpy(1.0, &self.d, r)?;
        device.multiply(u, r)?;
        self.far(u, r)?;
        Ok(self.device.axpy(-1.0, &self.b, r)?)
    }
    fn linearize(&mut self, u: &D::Buffer<T>) -> Result<(), OperatorError> {
        self.device.copy(u, &mut self.slope)?;
        self.device.multiply(u, &mut self.slope)?;
        Ok(self.device.xpby(&self.d, 3.0, &mut self.slope)?)
    }
    fn jacobian(&self, w: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.device.copy(w, v)?;
        self.device.multiply(&self.slope, v)?;
        self.far(w, v)
    }
    fn diagonal(&self, diagonal: &mut D::Buffer<T>) -> Result<bool, OperatorError> {
        self.device.copy(&self.slope, diagonal)?;
        Ok(true)
    }
}

fn cubic<T: Number, D: VectorOps<T> + Clone>(device: &D, linear: LinearSolver) -> Outcome<T> {
    let symmetric = matches!(linear, LinearSolver::Cg { .. });
    let mut problem = Cubic::<T, D>::new(device, 900, symmetric);
    let params = NewtonParams {
        relative_tolerance: if T::BYTES == 8 { 1e-11 } else { 1e-5 },
        linear,
        ..NewtonParams::default()
    };
    let start = vec![T::default(); 900];
    let go_on = &mut |_| ControlFlow::Continue(());
    run(device, &mut problem, &start, &params, go_on)
}

/// The same happens on a device as on the host, to about the precision, and always with the same bits.
fn devices_agree<T: Number>(device: &Accelerator) {
    let host = Host::with_threads(2).unwrap();
    let cg = LinearSolver::Cg { max_iterations: 99 };
    for linear in [LinearSolver::default(), cg] {
        let here = cubic::<T, _>(&host, linear);
        let [there, again] = [(); 2].map(|()| cubic::<T, _>(device, linear));
        assert_eq!(there.u, again.u);
        let tolerance = if T::BYTES == 8 { 1e-9 } else { 1e-3 };
        for (here, there) in here.u.iter().zip(&there.u) {
            let (here, there) = (here.to_f64(), there.to_f64());
            assert!(
                (here - there).abs() <= tolerance,
                "{here} on the host, {there}"
            );
        }
        let [here, there] = [here, there].map(|outcome| outcome.result.unwrap().iterations());
        assert!(
            here.abs_diff(there) <= 1 && here > 1,
            "{here} on the host, {there}"
        );
    }
}

#[test]
fn accelerators_do_what_the_host_does() {
    for open in [Accelerator::opencl, Accelerator::cuda] {
        conformance::with(open(0), |device| {
            devices_agree::<f64>(device);
            devices_agree::<f32>(device);
        });
    }
}
