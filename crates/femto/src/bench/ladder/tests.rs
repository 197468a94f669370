//! Every ladder's first and last step on OpenCL.

use super::*;
use crate::bench::Sampling;
use femto_kernel::family::tensor_hex::ladder::{find, steps};
use femto_kernel::roofline::Ceilings;
use femto_platform::device::accelerator::Accelerator;
use femto_platform::device::conformance::with;

const CEILINGS: Ceilings = Ceilings {
    copy: 1e10,
    read: 2e10,
    write: 3e10,
    fma_fp64: 1e11,
    fma_fp32: 2e11,
    shared: Some(4e10),
};

const SAMPLING: Sampling = Sampling {
    samples: 1,
    seconds: 0.0,
};

fn size(benchmark: Benchmark) -> LadderSize {
    LadderSize {
        benchmark,
        degree: 2,
        elements: 7,
    }
}

#[test]
fn steps_are_right_and_rows_hold_both_rooflines() {
    with(Accelerator::opencl(0), |device| {
        for name in [
            "bk1/layers/1",
            "bk1/layers/8",
            "bk5/layers/10",
            "bk5/cubes/6",
        ] {
            let step = find(name).unwrap();
            compile_all(device, &[(step, 2, Precision::Fp64)], 2);
            let mut data = LadderData::<f64>::new(device, size(step.benchmark)).unwrap();
            let row = data.measure(&step, &SAMPLING, &CEILINGS).unwrap();
            assert!(row.error < 1e-13, "{name}: {}", row.error);
            assert_eq!((row.nodes, row.step.as_str()), (7 * 27, name));
            assert_eq!(row.roofline_copy, row.flops as f64 / row.copy_seconds);
            let shared = row.flops as f64 * 4e10 / row.shared_bytes as f64;
            assert_eq!(row.roofline_shared, Some(shared));
            let mut data = LadderData::<f32>::new(device, size(step.benchmark)).unwrap();
            let row = data.measure(&step, &SAMPLING, &CEILINGS).unwrap();
            assert!(row.error < 1e-5, "{name}: {}", row.error);
        }
    });
}

#[test]
fn illegal_steps_are_named_with_their_rule() {
    with(Accelerator::opencl(0), |device| {
        let cubes = steps()
            .into_iter()
            .find(|step| step.to_string() == "bk5/cubes/1");
        let features = Features {
            max_threads: 64,
            ..device.features().clone()
        };
        let error = kernel(&cubes.unwrap(), 7, Precision::Fp64, &features).unwrap_err();
        assert!(matches!(error, BenchError::Illegal(_)), "{error}");
        assert!(error.to_string().contains("64"), "{error}");
    });
}
