//! GMRES on accelerators does what it does on the host.

use super::systems::{Outcome, run};
use super::*;
use crate::solve::{Identity, Jacobi, LinearOperator, OperatorError, Preconditioner};
use femto_platform::device::accelerator::Accelerator;
use femto_platform::device::conformance;
use femto_platform::device::host::Host;

/// A = diag(d) + p qᵀ, on any device.
struct RankOne<T: Number, D: Device> {
    device: D,
    d: D::Buffer<T>,
    p: D::Buffer<T>,
    q: D::Buffer<T>,
}

impl<T: Number, D: VectorOps<T>> LinearOperator<T, D> for RankOne<T, D> {
    fn size(&self) -> usize {
        self.d.len()
    }
    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.device.copy(u, v)?;
        self.device.multiply(&self.d, v)?;
        let product = self.device.dot(&self.q, u)?;
        Ok(self.device.axpy(product, &self.p, v)?)
    }
}

fn rank_one<T: Number, D: VectorOps<T> + Clone>(device: &D, jacobi: bool) -> Outcome<T> {
    let size = 700;
    let upload = |entry: &dyn Fn(f64) -> f64| {
        let values: Vec<T> = (0..size)
            .map(|i| T::from_f64(entry(f64::from(i))))
            .collect();
        device.upload(&values).unwrap()
    };
    let operator = RankOne {
        device: device.clone(),
        d: upload(&|i| 2.0 + i.sin()),
        p: upload(&|i| (0.7 * i).sin() / 10.0),
        q: upload(&|i| (1.3 * i).cos() / 10.0),
    };
    let preconditioner: &dyn Preconditioner<T, D> = match jacobi {
        true => &Jacobi::new(device, &operator.d).unwrap(),
        false => &Identity,
    };
    let system = System {
        device,
        operator: &operator,
        preconditioner,
    };
    let b: Vec<T> = (0..size)
        .map(|i| T::from_f64((0.3 * f64::from(i)).sin()))
        .collect();
    let params = GmresParams {
        relative_tolerance: if T::BYTES == 8 { 1e-9 } else { 1e-5 },
        restart: 6,
        ..GmresParams::default()
    };
    run(&system, &b, &params, &mut |_| ControlFlow::Continue(()))
}

/// The same happens on a device as on the host, to about the precision, and always with the same bits.
fn devices_agree<T: Number>(device: &Accelerator) {
    let host = Host::with_threads(2).unwrap();
    for jacobi in [false, true] {
        let here = rank_one::<T, _>(&host, jacobi);
        let [there, again] = [(); 2].map(|()| rank_one::<T, _>(device, jacobi));
        assert_eq!(there.x, again.x);
        let tolerance = if T::BYTES == 8 { 1e-7 } else { 1e-3 };
        for (here, there) in here.x.iter().zip(&there.x) {
            let (here, there) = (here.to_f64(), there.to_f64());
            assert!(
                (here - there).abs() <= tolerance,
                "{here} on the host, {there}"
            );
        }
        let [here, there] = [here, there].map(|outcome| outcome.result.unwrap().iterations);
        assert!(here.abs_diff(there) <= 1, "{here} on the host, {there}");
        // With the diagonal divided out, A is 1 but for one direction.
        assert_eq!(there <= 3, jacobi, "{there}");
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

#[test]
fn results_have_the_same_bits_for_any_number_of_threads() {
    let outcomes = [1, 2, 3].map(|threads| {
        let host = Host::with_threads(threads).unwrap();
        rank_one::<f64, _>(&host, true).x
    });
    assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2]);
}
