//! What devices that compile kernels must do besides.

use crate::cache::{Entry, KernelCache};
use crate::device::accelerator::{
    Accelerator, Argument, Kernel, KernelText, LanguageKind, Launch, Module,
};
use crate::device::{Buffer, Device, DeviceError, KernelError};

const BLOCK: u32 = 32;

/// The words in which the two languages differ, and the kernels of the tests.
fn text(language: LanguageKind) -> String {
    let words = match language {
        LanguageKind::Cuda => {
            "#define KERNEL extern \"C\" __global__ void __launch_bounds__(32)\n\
             #define GLOBAL\n#define INDEX (blockIdx.x * 32 + threadIdx.x)\n\
             typedef unsigned int uint;\n"
        }
        LanguageKind::OpenCl => {
            "#define KERNEL __kernel __attribute__((reqd_work_group_size(32, 1, 1))) void\n\
             #define GLOBAL __global\n#define INDEX get_global_id(0)\n"
        }
    };
    format!("{words}#line 1 \"suite.c\"\n{KERNELS}")
}

const KERNELS: &str = "
KERNEL axpy(uint len, double a, GLOBAL const double *g_x, GLOBAL double *g_y)
{
    uint i = INDEX;
    if (i < len)
        g_y[i] += a * g_x[i];
}

KERNEL numbers(uint u, int i, float f, double d, GLOBAL double *g_y)
{
    if (INDEX == 0) {
        g_y[0] = u;
        g_y[1] = i;
        g_y[2] = f;
        g_y[3] = d;
    }
}
";

fn compile(device: &Accelerator) -> Module {
    let text = KernelText {
        name: "suite",
        text: &text(device.features().language),
        options: &[],
    };
    device.compile(&text, &KernelCache::none()).unwrap()
}

fn blocks(len: usize) -> Launch {
    Launch {
        blocks: (len as u32).div_ceil(BLOCK),
        threads: [BLOCK, 1, 1],
        shared_bytes: 0,
    }
}

fn read(device: &Accelerator, buffer: &<Accelerator as Device>::Buffer<f64>) -> Vec<f64> {
    let mut values = vec![f64::NAN; buffer.len()];
    device.read(buffer, &mut values).unwrap();
    values
}

/// y += a x, with a length that is no multiple of the block.
pub fn a_launch_computes(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    assert_eq!(axpy.entry(), "axpy");
    for len in [1, 31, 32, 33, 100_003] {
        let x: Vec<f64> = (0..len).map(|i| i as f64).collect();
        let g_x = device.upload(&x).unwrap();
        // One more than the kernel may touch.
        let mut g_y = device.upload(&vec![0.25; len + 1]).unwrap();
        for _ in 0..3 {
            launch_axpy(device, &axpy, 2.0, &g_x, &mut g_y);
        }
        let mut wanted: Vec<f64> = x.iter().map(|x| 0.25 + 6.0 * x).collect();
        wanted.push(0.25);
        assert!(read(device, &g_y) == wanted, "{len} values");
    }
}

type Memory = <Accelerator as Device>::Buffer<f64>;

fn launch_axpy(device: &Accelerator, axpy: &Kernel, a: f64, g_x: &Memory, g_y: &mut Memory) {
    let len = g_x.len();
    let arguments = [
        Argument::U32(len as u32),
        Argument::F64(a),
        Argument::input(g_x),
        Argument::output(g_y),
    ];
    device.launch(axpy, &blocks(len), &arguments).unwrap();
}

/// A kernel from the cache does what a compiled one does; an entry that the driver refuses is
/// compiled again, with one warning.
pub fn a_kept_kernel_computes(device: &Accelerator) {
    let kind = device.info().kind;
    let folder = format!("femto-conformance-{}-{kind}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    let cache = KernelCache::at(&folder);
    let text = KernelText {
        name: "suite",
        text: &text(device.features().language),
        options: &[],
    };
    let check = |warnings: usize| {
        let module = device.compile(&text, &cache).unwrap();
        assert_eq!(module.warnings().len(), warnings, "{:?}", module.warnings());
        let g_x = device.upload(&[3.0; 40]).unwrap();
        let mut g_y = device.upload(&[1.0; 40]).unwrap();
        let axpy = module.kernel("axpy").unwrap();
        launch_axpy(device, &axpy, 2.0, &g_x, &mut g_y);
        assert_eq!(read(device, &g_y), [7.0; 40]);
        (module.log().to_owned(), axpy.usage())
    };
    let compiled = check(0);
    let kept = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(kept, 1, "nothing was kept");
    assert_eq!(check(0), compiled);
    let entry = Entry {
        log: String::new(),
        binary: b"no kernel".to_vec(),
    };
    cache.store(&device.key(&text), &entry, &mut Vec::new());
    assert_eq!(check(1), compiled);
    assert_eq!(check(0), compiled);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Every type of number arrives as it was given.
pub fn numbers_of_every_type_arrive(device: &Accelerator) {
    let numbers = compile(device).kernel("numbers").unwrap();
    let mut g_y = device.upload(&[f64::NAN; 4]).unwrap();
    let arguments = [
        Argument::U32(u32::MAX),
        Argument::I32(i32::MIN),
        Argument::F32(0.1),
        Argument::F64(-0.1),
        Argument::output(&mut g_y),
    ];
    device.launch(&numbers, &blocks(1), &arguments).unwrap();
    let wanted = [u32::MAX.into(), i32::MIN.into(), 0.1_f32.into(), -0.1];
    assert_eq!(read(device, &g_y), wanted);
}

/// Launches that the device or the kernel does not allow are refused before they start.
pub fn wrong_launches_are_errors(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    let g_x = device.upload(&[1.0; 64]).unwrap();
    let mut g_y = device.upload(&[2.0; 64]).unwrap();
    let good = blocks(64);
    let mut error = |launch: Launch, count: usize| {
        let arguments = [
            Argument::U32(64),
            Argument::F64(1.0),
            Argument::input(&g_x),
            Argument::output(&mut g_y),
        ];
        device
            .launch(&axpy, &launch, &arguments[..count])
            .unwrap_err()
    };
    for blocks in [0, u32::MAX] {
        let found = error(Launch { blocks, ..good }, 4);
        let DeviceError::Kernel(KernelError::Blocks { asked, .. }) = found else {
            panic!("{found} for {blocks} blocks");
        };
        assert_eq!(asked, blocks);
    }
    for threads in [[0, 1, 1], [BLOCK, 2, 1], [1 << 20, 1, 1], [u32::MAX; 3]] {
        let found = error(Launch { threads, ..good }, 4);
        let DeviceError::Kernel(KernelError::Threads { asked, .. }) = found else {
            panic!("{found} for {threads:?} threads");
        };
        assert_eq!(asked, threads);
    }
    let shared_bytes = device.features().shared_bytes + 1;
    let found = error(
        Launch {
            shared_bytes,
            ..good
        },
        4,
    );
    let DeviceError::Kernel(KernelError::SharedMemory { asked, most, .. }) = found else {
        panic!("{found} for {shared_bytes} bytes");
    };
    assert_eq!(
        (asked, most),
        (shared_bytes.into(), u64::from(shared_bytes) - 1)
    );
    if axpy.usage().arguments.is_some() {
        let found = error(good, 3);
        let DeviceError::Kernel(KernelError::Arguments {
            found, expected, ..
        }) = found
        else {
            panic!("{found} for a missing argument");
        };
        assert_eq!((found, expected), (3, 4));
    }
    assert_eq!(read(device, &g_y), [2.0; 64]);
    let error = compile(device).kernel("axpi").unwrap_err();
    assert!(
        matches!(error, DeviceError::Kernel(KernelError::NoEntry { entry, .. }) if entry == "axpi")
    );
}

/// The log names the text as `#line` named it, and the line.
pub fn a_compile_error_names_file_and_line(device: &Accelerator) {
    let text = text(device.features().language) + "#line 7 \"wrong.c\"\nint x = undeclared;\n";
    let log = refusal(device, &text);
    assert!(log.contains("wrong.c"), "{log}");
    assert!(log.contains(":7") || log.contains("(7)"), "{log}");
    assert!(log.contains("undeclared"), "{log}");
}

fn refusal(device: &Accelerator, text: &str) -> String {
    let text = KernelText {
        name: "broken",
        text,
        options: &[],
    };
    let error = device.compile(&text, &KernelCache::none()).unwrap_err();
    match error {
        DeviceError::Kernel(KernelError::Compile { kernel, log, .. }) if kernel == "broken" => log,
        error => panic!("{error} instead of a compile error"),
    }
}

/// A text that does not compile changes nothing.
pub fn a_failed_compile_leaves_buffers_alone(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    let g_x = device.upload(&[1.0; 10]).unwrap();
    let mut g_y = device.upload(&[3.0; 10]).unwrap();
    refusal(device, "this is no kernel");
    launch_axpy(device, &axpy, 4.0, &g_x, &mut g_y);
    assert_eq!(read(device, &g_y), [7.0; 10]);
    assert_eq!(read(device, &g_x), [1.0; 10]);
}

/// Zeros where they were asked for and only there; a copy is the original.
pub fn ranges_are_filled_and_copied(device: &Accelerator) {
    let values: Vec<f64> = (0..1000).map(|i| i as f64 + 1.0).collect();
    for range in [0..0, 0..1, 3..17, 999..1000, 0..1000, 1000..1000] {
        let mut filled = device.upload(&values).unwrap();
        device.fill_zero(&mut filled, range.clone()).unwrap();
        let mut wanted = values.clone();
        wanted[range].fill(0.0);
        let mut copy = device.upload(&vec![f64::NAN; 1000]).unwrap();
        device.copy(&filled, &mut copy).unwrap();
        assert!(read(device, &filled) == wanted && read(device, &copy) == wanted);
    }
    let mut short = device.upload(&values[..10]).unwrap();
    let whole = device.upload(&values).unwrap();
    let mismatch = |error| matches!(error, DeviceError::LengthMismatch { .. });
    assert!(mismatch(device.copy(&whole, &mut short).unwrap_err()));
    assert!(mismatch(device.fill_zero(&mut short, 5..11).unwrap_err()));
    let mut f32s = device.upload(&[1.0_f32; 7]).unwrap();
    device.fill_zero(&mut f32s, 2..5).unwrap();
    let mut found = [f32::NAN; 7];
    device.read(&f32s, &mut found).unwrap();
    assert_eq!(found, [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
}

/// Times do not go backwards, and work takes time.
pub fn events_are_in_order(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    let g_x = device.upload(&vec![1.0; 300_000]).unwrap();
    let mut g_y = device.zeros(300_000).unwrap();
    let events: Vec<_> = (0..4).map(|_| device.event().unwrap()).collect();
    let error = device.seconds_between(&events[0], &events[1]);
    assert_eq!(error, Err(DeviceError::NotRecorded));
    // Twice: an event may be recorded again.
    for _ in 0..2 {
        for event in &events {
            device.record(event).unwrap();
            launch_axpy(device, &axpy, 1.0, &g_x, &mut g_y);
        }
        for pair in events.windows(2) {
            let seconds = device.seconds_between(&pair[0], &pair[1]).unwrap();
            assert!(seconds > 0.0 && seconds < 60.0, "{seconds} s");
            let back = device.seconds_between(&pair[1], &pair[0]).unwrap();
            assert!((seconds + back).abs() <= 1e-6, "{seconds} s, back {back} s");
        }
    }
    assert_eq!(read(device, &g_y)[299_999], 8.0);
}

/// Replayed work does what the work does, also after its kernel and buffers have no other owner.
pub fn a_replay_equals_the_work(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    let g_x = device.upload(&[1.0; 100]).unwrap();
    let mut g_y = device.upload(&[0.5; 100]).unwrap();
    let mut g_copy = device.upload(&[f64::NAN; 100]).unwrap();
    let captured = device.capture(&mut || {
        launch_axpy(device, &axpy, 1.0, &g_x, &mut g_y);
        launch_axpy(device, &axpy, 2.0, &g_x, &mut g_y);
        device.copy(&g_y, &mut g_copy)
    });
    if !device.features().graphs {
        let error = captured.unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
        return;
    }
    let graph = captured.unwrap();
    assert_eq!(read(device, &g_y), [0.5; 100]);
    drop((axpy, g_x));
    for replays in 1..4 {
        device.replay(&graph).unwrap();
        assert_eq!(read(device, &g_copy), [0.5 + 3.0 * f64::from(replays); 100]);
    }
    // A capture that fails leaves the device usable.
    let mut refused = || device.read(&g_y, &mut [0.0; 100]);
    assert!(device.capture(&mut refused).is_err());
    assert_eq!(read(device, &g_y), [9.5; 100]);
}

/// Memory of a device that was opened apart is refused.
pub fn a_second_device_refuses_foreign_memory(device: &Accelerator) {
    let other = match device.features().language {
        LanguageKind::Cuda => Accelerator::cuda(0).unwrap(),
        LanguageKind::OpenCl => Accelerator::opencl(0).unwrap(),
    };
    let mut here = device.upload(&[1.0; 3]).unwrap();
    let there = other.upload(&[2.0; 3]).unwrap();
    let error = device.copy(&there, &mut here).unwrap_err();
    assert!(matches!(error, DeviceError::OtherDevice { .. }), "{error}");
    let error = device.read(&there, &mut [0.0; 3]).unwrap_err();
    assert!(matches!(error, DeviceError::OtherDevice { .. }), "{error}");
    assert_eq!(read(device, &here), [1.0; 3]);
}
