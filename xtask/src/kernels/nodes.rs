//! The kernels of shared nodes: zeroing and sums.

use anyhow::Result;
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::family::shared_nodes::{NodeKernel, sum_source, zero_source};
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};

use super::runner::close;
use super::{Case, Selection, launch_of};

/// The same cases in every selection.
pub(super) fn cases(_: Selection, language: Language, _: &Limits) -> Vec<Case> {
    let zero = zero_source(language, Precision::Fp64, 1, true);
    let sum = sum_source(language, Precision::Fp64, 1, true);
    vec![
        node_case("zero", &zero, check_zero),
        node_case("sum", &sum, check_sum),
    ]
}

/// A check of a kernel on nodes.
type NodeCheck = fn(&Accelerator, &Module, &NodeKernel) -> Result<()>;

fn node_case(entry: &str, kernel: &NodeKernel, check: NodeCheck) -> Case {
    let kernel = kernel.clone();
    Case {
        name: format!("{entry} fp64"),
        text: kernel.text.clone(),
        check: Box::new(move |device, module| check(device, module, &kernel)),
    }
}

/// Zeros in the pieces 1..3 and 5..9.
fn check_zero(device: &Accelerator, module: &Module, kernel: &NodeKernel) -> Result<()> {
    let pieces = device.upload(&[1_u32, 3, 5, 9])?;
    let mut v = device.upload(&[1.0; 10])?;
    let arguments = [
        Argument::input(&pieces),
        Argument::U32(1),
        Argument::output(&mut v),
    ];
    let launch = launch_of(kernel.block, Precision::Fp64, 2);
    device.launch(&module.kernel("zero")?, &launch, &arguments)?;
    let mut found = [f64::NAN; 10];
    device.read(&v, &mut found)?;
    let expected = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    close(&found, &expected, 0.0)
}

/// Node 2 from the contributions 0 and 3, node 0 from 1, node 4, which is added to, from 2.
fn check_sum(device: &Accelerator, module: &Module, kernel: &NodeKernel) -> Result<()> {
    let nodes = device.upload(&[0_u32, 2, 4])?;
    let (offsets, sources) = (
        device.upload(&[0_u32, 1, 3, 4])?,
        device.upload(&[1_u32, 0, 3, 2])?,
    );
    let contributions = device.upload(&[1.0, 2.0, 4.0, 8.0])?;
    let mut v = device.upload(&[-1.0; 5])?;
    let arguments = [
        Argument::input(&nodes),
        Argument::input(&offsets),
        Argument::input(&sources),
        Argument::input(&contributions),
        Argument::U32(4),
        Argument::U32(1),
        Argument::U32(3),
        Argument::output(&mut v),
        Argument::U32(3),
    ];
    let launch = launch_of(kernel.block, Precision::Fp64, 1);
    device.launch(&module.kernel("sum")?, &launch, &arguments)?;
    let mut found = [f64::NAN; 5];
    device.read(&v, &mut found)?;
    close(&found, &[2.0, -1.0, 9.0, -1.0, 3.0], 0.0)
}
