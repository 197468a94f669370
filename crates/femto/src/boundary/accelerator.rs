//! Boundary data on accelerators.
//!
//! A function's kernel is compiled for it, or found in the cache of compiled kernels; that of the sums is
//! compiled once and kept with the device.

use super::{BoundaryOps, FacetTables, Points};
use crate::accelerator::language;
use crate::operator::OperatorError;
use femto_kernel::boundary::{PointFunction, source};
use femto_kernel::expr::Program;
use femto_kernel::roofline::Precision;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};

impl BoundaryOps for Accelerator {
    fn values(
        &self,
        function: &Program,
        at: &Points<'_, AcceleratorBuffer<f64>>,
        values: &mut AcceleratorBuffer<f64>,
    ) -> Result<(), OperatorError> {
        at.check(values)?;
        let function = PointFunction::new(function)?;
        let text = source::values(&function, language(self.features()), Precision::Fp64)?;
        let kernel = compile(self, "values", &text)?;
        let points = count(self, values.len())?;
        let arguments = [
            Argument::input(at.positions),
            Argument::F64(at.time),
            Argument::output(values),
            Argument::U32(points),
        ];
        Ok(start(self, &kernel, points, &arguments)?)
    }

    fn facet_sums(
        &self,
        tables: &FacetTables<Self>,
        values: &AcceleratorBuffer<f64>,
        sums: &mut AcceleratorBuffer<f64>,
    ) -> Result<(), DeviceError> {
        tables.check(values, sums)?;
        let text = || source::facets(language(self.features()), Precision::Fp64);
        let kernel = self.kept(|| compile(self, "facets", &text()).map(FacetKernel))?;
        let nodes = count(self, sums.len())?;
        let arguments = [
            Argument::input(&tables.offsets),
            Argument::input(&tables.contributions),
            Argument::input(&tables.basis),
            Argument::input(&tables.weights),
            Argument::input(values),
            Argument::output(sums),
            Argument::U32(count(self, tables.sizes.points)?),
            Argument::U32(nodes),
        ];
        start(self, &kernel.0, nodes, &arguments)
    }
}

/// The kernel of the sums, as a device keeps it.
struct FacetKernel(Kernel);

/// The kernel `entry` of a text.
fn compile(device: &Accelerator, entry: &str, text: &str) -> Result<Kernel, DeviceError> {
    let name = format!("boundary {entry}");
    let cache = KernelCache::user().unwrap_or_default();
    let module = device.compile(&KernelText::new(&name, text), &cache)?;
    module.kernel(entry)
}

/// A number of points or nodes as kernels take it.
fn count(device: &Accelerator, len: usize) -> Result<u32, DeviceError> {
    len.try_into().map_err(|_| DeviceError::Unsupported {
        device: device.info().kind.name(),
        what: "work on more than 4294967295 points",
    })
}

/// Starts a thread for each of `count`; nothing for none.
fn start(
    device: &Accelerator,
    kernel: &Kernel,
    count: u32,
    arguments: &[Argument<'_>],
) -> Result<(), DeviceError> {
    if count == 0 {
        return Ok(());
    }
    let launch = Launch {
        blocks: count.div_ceil(source::BLOCK.threads()),
        threads: source::BLOCK.threads,
        shared_bytes: 0,
    };
    device.launch(kernel, &launch, arguments)
}
