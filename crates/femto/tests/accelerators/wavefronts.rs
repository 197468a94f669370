//! Counting wavefronts: a kernel whose accesses are known, and operators.

use crate::common::bound::accelerator;
use crate::common::forms::Interpreted;
use crate::common::hexahedra;
use crate::common::meshes::blocks;
use femto::accelerator::Counting;
use femto::element::MapKind;
use femto::fem::space::SpaceParams;
use femto::kernel::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use femto::kernel::form::Poisson;
use femto::kernel::roofline::Wavefronts;
use femto::kernel::scalar::Precision;
use femto::platform::device::Device;
use femto::platform::device::accelerator::{Argument, LanguageKind, Launch};
use femto::{Operator, OperatorParams};

/// Each line takes what its comment says, with 32 threads and numbers of 8 bytes.
const TEXT: &str = "
KERNEL(access)(const GLOBAL real *g_from, GLOBAL real *g_to, GLOBAL real *g_sum)
{
    SHARED_MEMORY(s_memory);
    const int n = THREAD_X;
    s_memory[2 * n] = g_from[n];               /* 2 of global memory; 4 of shared memory: every second bank, in halves */
    BARRIER();
    g_to[n] = s_memory[n / 16] + s_memory[17]; /* 2 and 2, one word each; 2 of global memory */
    if (n < 8)
        g_to[32 + 16 * n] = s_memory[0];       /* 1; 8, in as many lines, all in one bank */
    atomic_add(g_sum, 1);                      /* 32 reductions */
}
";

#[test]
fn a_kernel_counts_what_it_accesses() {
    let Some(device) = accelerator() else { return };
    let block = BlockShape {
        shared_reals: 64,
        ..BlockShape::row(32)
    };
    let mut source = SourceBuilder::new(Language::Cuda, Precision::Fp64, block);
    source.include(KernelFile {
        name: "access.c",
        text: TEXT,
    });
    let text = source.finish();
    let counting = Counting::new(&device, "access", &text).unwrap();
    let Some(counting) = counting else {
        assert_ne!(device.features().language, LanguageKind::Cuda);
        return;
    };
    let from = device.zeros::<f64>(32).unwrap();
    let (mut to, mut sum) = (device.zeros::<f64>(160).unwrap(), device.zeros(1).unwrap());
    let launch = Launch {
        blocks: 3,
        threads: block.threads,
        shared_bytes: block.shared_bytes(Precision::Fp64),
    };
    let mut run = || {
        let arguments = [
            Argument::input(&from),
            Argument::output(&mut to),
            Argument::output(&mut sum),
        ];
        let kernel = counting.kernel("access").unwrap();
        device.launch(&kernel, &launch, &arguments).unwrap();
        counting.take(&device).unwrap()
    };
    let expected = Wavefronts {
        shared: 3 * (4 + 2 + 2 + 1),
        global: 3 * (2 + 2 + 8),
        reductions: 3 * 32,
    };
    assert_eq!(run(), expected);
    // Counts are taken, not added up, and results are as without counting.
    assert_eq!(run(), expected);
    let mut found = [0.0];
    device.read(&sum, &mut found).unwrap();
    assert_eq!(found, [6.0 * 32.0]);
}

#[test]
fn operators_count_at_least_the_shared_memory_that_their_schedules_state() {
    let Some(device) = accelerator() else { return };
    let mesh = hexahedra(MapKind::Multilinear, [5, 4, 3]);
    for degree in [2, 5] {
        let params = SpaceParams {
            degree: degree.into(),
            ..SpaceParams::default()
        };
        let block = &blocks(&mesh, params)[0];
        let form = Interpreted::<_, 3, 1>::new(Poisson);
        let params = OperatorParams::default();
        let (space, geometry) = (&block.space, &block.geometry);
        let operator =
            Operator::<f64, _>::of_form(&device, space, geometry, &form, params).unwrap();
        operator.count_wavefronts().unwrap();
        operator.count_element_wavefronts().unwrap();
        for work in [operator.work(), operator.element_work()] {
            let counted = work.wavefronts;
            if device.features().language != LanguageKind::Cuda {
                assert_eq!(counted, Wavefronts::default());
                continue;
            }
            // Registers may save a few of the accesses stated.
            assert!(counted.shared * Wavefronts::BYTES > work.shared_bytes / 10 * 9);
            assert!(counted.global * Wavefronts::BYTES > work.bytes() / 2);
        }
        let of_vectors =
            [operator.work(), operator.element_work()].map(|it| it.wavefronts.reductions);
        assert_eq!(of_vectors[1], 0);
        assert_eq!(
            of_vectors[0] > 0,
            device.features().language == LanguageKind::Cuda
        );
    }
}
