//! A GPU that has become unusable says so. Tested in a separate process, since nothing else works there
//! either.

#![allow(clippy::unwrap_used)] // also outside of the test functions

use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Argument, KernelText, Launch};
use femto_platform::device::{Accelerator, Device, DeviceError, conformance};

const TEXT: &str = "extern \"C\" __global__ void stray(double *g_x)
{
    g_x[1ll << 40] = 1;
}
";

#[test]
fn a_stray_kernel_loses_the_device() {
    conformance::with(Accelerator::cuda(0), |device| {
        let text = KernelText::new("stray", TEXT);
        let module = device.compile(&text, &KernelCache::none()).unwrap();
        let stray = module.kernel("stray").unwrap();
        let mut g_x = device.upload(&[1.0; 10]).unwrap();
        let launch = Launch {
            blocks: 1,
            threads: [1, 1, 1],
            shared_bytes: 0,
        };
        let arguments = [Argument::output(&mut g_x)];
        device.launch(&stray, &launch, &arguments).unwrap();
        let lost = |error| matches!(error, DeviceError::Lost { device: "cuda", .. });
        assert!(lost(device.synchronize().unwrap_err()));
        assert!(lost(device.read(&g_x, &mut [0.0; 10]).unwrap_err()));
        assert!(lost(device.upload(&[1.0; 10]).unwrap_err()));
    });
}
