//! Every ladder's first and last step on OpenCL.

use super::*;
use crate::tests::{self, SAMPLING};
use femto_kernel::family::hex_published::ladder::{find, steps};
use femto_kernel::roofline::Ceilings;
use femto_platform::device::accelerator::Accelerator;
use femto_platform::device::conformance::with;

const CEILINGS: Ceilings = Ceilings {
    shared: Some(4e10),
    ..tests::CEILINGS
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
            compile_all(device, &[(step, 2, Precision::Fp64)]);
            let mut data = LadderData::<f64>::new(device, size(step.benchmark)).unwrap();
            let row = data.measure(&step, &SAMPLING, &CEILINGS).unwrap();
            assert!(row.error.unwrap() < 1e-13, "{name}: {:?}", row.error);
            assert_eq!(
                (row.text("nodes"), row.text("step")),
                ("189".to_owned(), name.to_owned())
            );
            let flops = row.work.flops as f64;
            let copy = flops / row.bound_seconds("copy").unwrap();
            assert_eq!(row.number("roofline_copy"), Some(copy));
            let shared = flops * 4e10 / row.work.shared_bytes as f64;
            assert_eq!(row.number("roofline_shared"), Some(shared));
            let mut data = LadderData::<f32>::new(device, size(step.benchmark)).unwrap();
            let row = data.measure(&step, &SAMPLING, &CEILINGS).unwrap();
            assert!(row.error.unwrap() < 1e-5, "{name}: {:?}", row.error);
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
