//! The suite for devices that compile kernels.

mod compile;
mod time;

pub use compile::*;
pub use time::*;

use crate::cache::KernelCache;
use crate::device::accelerator::{
    Accelerator, Argument, Kernel, KernelText, LanguageKind, Launch, Module,
};
use crate::device::{Buffer, Device, DeviceError, Element, KernelError};

const BLOCK: u32 = 32;

/// Number of doubles that fit the shared memory of a block.
fn shared_doubles(device: &Accelerator) -> u32 {
    device.features().shared_bytes / 8
}

/// The words that differ between the two languages, and the kernels of the tests. Declarations in place of a compiler's own as in
/// femto-kernel's `dialect/opencl.h`.
pub fn text(language: LanguageKind) -> String {
    let words = match language {
        LanguageKind::Cuda => {
            "#define KERNEL extern \"C\" __global__ void __launch_bounds__(32)\n\
             #define GLOBAL\n#define INDEX (blockIdx.x * 32 + threadIdx.x)\n\
             #define SHARED_MEMORY(name) extern __shared__ double name[]\n\
             #define BARRIER __syncthreads()\ntypedef unsigned int uint;\n"
        }
        LanguageKind::OpenCl => {
            "#ifdef DECLARATIONS\n#include DECLARATIONS\n#endif\n\
             #define KERNEL __kernel __attribute__((reqd_work_group_size(32, 1, 1))) void\n\
             #define GLOBAL __global\n#define INDEX get_global_id(0)\n\
             #define SHARED_MEMORY(name) __local double name[SHARED_DOUBLES]\n\
             #define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"
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

KERNEL reverse(int len, GLOBAL const double *g_x, GLOBAL double *g_y)
{
    SHARED_MEMORY(s_x);
    for (int i = INDEX; i < len; i += 32)
        s_x[i] = g_x[i];
    BARRIER;
    for (int i = INDEX; i < len; i += 32)
        g_y[i] = s_x[len - 1 - i];
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
        options: &[format!("-DSHARED_DOUBLES={}", shared_doubles(device))],
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

/// y += a x, with a length that is not a multiple of the block.
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

/// A block may use all the shared memory that the device reports, also of a kernel that prefers L1.
pub fn all_shared_memory_can_be_used(device: &Accelerator) {
    let reverse = compile(device).kernel("reverse").unwrap();
    let len = shared_doubles(device) as usize;
    let mut values: Vec<f64> = (0..len).map(|i| i as f64).collect();
    let g_x = device.upload(&values).unwrap();
    let mut g_y = device.upload(&vec![f64::NAN; len]).unwrap();
    let launch = Launch {
        shared_bytes: shared_doubles(device) * 8,
        ..blocks(1)
    };
    let arguments = [
        Argument::I32(len as i32),
        Argument::input(&g_x),
        Argument::output(&mut g_y),
    ];
    reverse.prefer_l1(&launch).unwrap();
    device.launch(&reverse, &launch, &arguments).unwrap();
    values.reverse();
    assert!(read(device, &g_y) == values, "{len} numbers");
}

/// The driver refuses more memory than the device has, after which less is still available.
pub fn more_memory_than_there_is_is_an_error(device: &Accelerator) {
    let len = device.features().memory_bytes as usize / 4;
    let error = device.zeros::<f64>(len).unwrap_err();
    let wanted = DeviceError::OutOfMemory {
        device: device.info().kind.name(),
        len,
        bytes_each: 8,
    };
    assert_eq!(error, wanted);
    assert_eq!(read(device, &device.zeros(1000).unwrap()), [0.0; 1000]);
}

/// Dropped memory can be allocated again, even if kernels used it.
pub fn memory_is_given_back(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    // A GPU holds eight of these. Processors are spared: zeroing all their memory takes long.
    let len = device.features().memory_bytes as usize / 8 / size_of::<f64>();
    let len = if device.features().warp == 1 {
        1 << 20
    } else {
        len
    };
    let g_x = device.upload(&[1.0; 100]).unwrap();
    for _ in 0..20 {
        let mut g_y = device.zeros(len).unwrap();
        launch_axpy(device, &axpy, 1.0, &g_x, &mut g_y);
    }
    device.synchronize().unwrap();
}

/// Every type of number arrives unchanged.
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

/// Launches not allowed by the device or the kernel are refused before they start.
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

/// Zeros exactly in the requested range; a copy equals the original.
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
    parts_are_filled(device, 1.0_f32);
    parts_are_filled(device, 1_u16);
}

/// Also parts whose bytes are no multiple of four, if numbers have two.
fn parts_are_filled<T: Element>(device: &Accelerator, one: T) {
    for range in [0..1, 2..5, 6..7, 0..7] {
        let mut filled = device.upload(&[one; 7]).unwrap();
        device.fill_zero(&mut filled, range.clone()).unwrap();
        let mut found = [T::default(); 7];
        device.read(&filled, &mut found).unwrap();
        let mut wanted = [one; 7];
        wanted[range].fill(T::default());
        assert_eq!(found, wanted);
    }
}

/// Memory of a separately opened device is rejected.
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
