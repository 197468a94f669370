//! Devices, and operators on any of them in any precision.

use femto::fem::space::Block;
use femto::kernel::form::Inspection;
use femto::kernel::scalar::Precision;
use femto::operator::{AnyForm, Backend, OperatorError};
use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::{Device, DeviceKind, parse};
use femto::{AnyDevice, Host, Number, Operator, OperatorParams, on_device};

/// The accelerator of the tests: `opencl:0` unless FEMTO_ACCELERATOR names another. Without a driver there is
/// none, and a note, unless FEMTO_REQUIRE lists its kind.
pub fn accelerator() -> Option<Accelerator> {
    let name = std::env::var("FEMTO_ACCELERATOR");
    open(name.as_deref().unwrap_or("opencl:0"))
}

/// Every device that operators execute on: the host with one thread and with two, and FEMTO_ACCELERATOR or else
/// the first accelerator of each kind.
pub fn devices() -> Vec<AnyDevice> {
    let hosts = [1, 2].map(|threads| Host::with_threads(threads).expect("threads").into());
    let names = match std::env::var("FEMTO_ACCELERATOR") {
        Ok(name) => vec![name],
        Err(_) => ["opencl:0", "cuda:0"].map(str::to_owned).into(),
    };
    let accelerators = names.iter().filter_map(|name| open(name));
    hosts
        .into_iter()
        .chain(accelerators.map(AnyDevice::from))
        .collect()
}

fn open(name: &str) -> Option<Accelerator> {
    let id = parse(name).expect("a device's name");
    let device = match id.kind {
        DeviceKind::Cuda => Accelerator::cuda(id.index),
        _ => Accelerator::opencl(id.index),
    };
    match device {
        Ok(device) => Some(device),
        Err(error) => {
            let required = std::env::var("FEMTO_REQUIRE").unwrap_or_default();
            let is_required = required.split(',').any(|kind| kind == id.kind.name());
            assert!(!is_required, "{error}");
            println!("skipped: {error}");
            None
        }
    }
}

/// A device's name in messages.
pub fn name(device: &AnyDevice) -> String {
    match device {
        AnyDevice::Host(host) => format!("host with {} threads", host.threads()),
        other => other.info().id().to_string(),
    }
}

/// An operator between vectors of the host. Outputs are NaN before each application.
pub trait Bound {
    /// A u.
    fn apply(&self, u: &[f64]) -> Vec<f64>;

    /// The exact diagonal.
    fn diagonal(&self) -> Vec<f64>;

    /// Bᵀ D B u on E-vectors.
    fn apply_elements(&self, u: &[f64]) -> Vec<f64>;

    /// Copies the components of `u` into the auxiliary fields of the solution's space.
    fn set_nodal(&mut self, first: usize, u: &[f64]) -> Result<(), OperatorError>;

    fn inspection(&self) -> &Inspection;

    /// Warnings so far, such as a wrong kernel that was dropped.
    fn warnings(&self) -> Vec<String>;

    /// The family that evaluates the cells.
    fn family(&self) -> String;
}

/// Binds a form on a device.
pub fn bind(
    device: &AnyDevice,
    precision: Precision,
    blocks: &[Block],
    form: &dyn AnyForm,
    params: OperatorParams,
) -> Result<Box<dyn Bound>, OperatorError> {
    Ok(match precision {
        Precision::Fp64 => on_device!(device, |device| {
            Box::new(Operator::<f64, _>::of_blocks(device, blocks, form, params)?)
        }),
        Precision::Fp32 => on_device!(device, |device| {
            Box::new(Operator::<f32, _>::of_blocks(device, blocks, form, params)?)
        }),
    })
}

impl<T: Number, D: Backend + femto::vector::VectorOps<T>> Bound for Operator<T, D> {
    fn apply(&self, u: &[f64]) -> Vec<f64> {
        let u = upload(self.device(), u);
        outcome(self.device(), self.dofs(), |v| self.apply(&u, v))
    }

    fn diagonal(&self) -> Vec<f64> {
        outcome(self.device(), self.dofs(), |d| self.diagonal(d))
    }

    fn apply_elements(&self, u: &[f64]) -> Vec<f64> {
        let u = upload(self.device(), u);
        outcome(self.device(), self.element_dofs(), |v| {
            self.apply_elements(&u, v)
        })
    }

    fn set_nodal(&mut self, first: usize, u: &[f64]) -> Result<(), OperatorError> {
        let u = upload(self.device(), u);
        self.set_nodal(first, &u)
    }

    fn inspection(&self) -> &Inspection {
        self.inspection()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings()
    }

    fn family(&self) -> String {
        self.explain(None, None).family.to_string()
    }
}

/// A vector of a device, rounded to the precision.
pub fn upload<T: Number, D: Device>(device: &D, values: &[f64]) -> D::Buffer<T> {
    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
    device.upload(&values).expect("memory")
}

/// The result of `run` on a vector of NaN.
pub fn outcome<T: Number, D: Device>(
    device: &D,
    len: usize,
    run: impl FnOnce(&mut D::Buffer<T>) -> Result<(), OperatorError>,
) -> Vec<f64> {
    let mut out = upload::<T, D>(device, &vec![f64::NAN; len]);
    run(&mut out).expect("lengths fit");
    let mut values = vec![T::default(); len];
    device.read(&out, &mut values).expect("lengths fit");
    values.iter().map(|value| value.to_f64()).collect()
}
