//! NVRTC compiles without a GPU. `FEMTO_NVRTC_TEST` lists libraries, separated as in `PATH`; without any,
//! the test says that it did nothing.

#![allow(clippy::unwrap_used)] // also outside of the test functions

use femto_platform::device::accelerator::{KernelText, LanguageKind};
use femto_platform::device::conformance::accelerator as suite;
use femto_platform::device::cuda::nvrtc::Compiler;
use femto_platform::device::{DeviceError, KernelError};

const TEXT: &str = "#line 1 \"sum.c\"
extern \"C\" __global__ void __launch_bounds__(128) sum(int len, const double *g_x, double *g_y)
{
    __shared__ double s_x[128];
    s_x[threadIdx.x] = threadIdx.x < len ? g_x[threadIdx.x] : 0.0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < 128; ++i)
            *g_y += s_x[i];
}
";

#[test]
fn every_compiler_makes_machine_code() {
    let libraries = std::env::var_os("FEMTO_NVRTC_TEST").unwrap_or_default();
    let libraries: Vec<_> = std::env::split_paths(&libraries)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if libraries.is_empty() {
        eprintln!("skipped: FEMTO_NVRTC_TEST names no libnvrtc");
    }
    for library in libraries {
        let compiler = Compiler::open(&library).unwrap();
        assert!(compiler.version().starts_with("NVRTC 1"), "{compiler:?}");
        for architecture in ["sm_80", "sm_90", "sm_90a", "sm_100"] {
            machine_code(&compiler, architecture);
        }
        errors(&compiler);
        // The texts that the shared suite runs on GPUs.
        let text = suite::text(LanguageKind::Cuda);
        let text = KernelText::new("suite", &text);
        let suite = compiler.compile(&text, "sm_90").unwrap();
        assert_eq!(suite.entries.len(), 3, "{}", suite.log);
    }
}

fn machine_code(compiler: &Compiler, architecture: &str) {
    let text = KernelText {
        name: "sum",
        text: TEXT,
        options: &["-lineinfo".to_owned()],
    };
    let compiled = compiler.compile(&text, architecture).unwrap();
    assert!(compiled.cubin.starts_with(b"\x7fELF"));
    let [sum] = &compiled.entries[..] else {
        panic!("{:?} in\n{}", compiled.entries, compiled.log);
    };
    assert_eq!((sum.entry.as_str(), sum.shared_bytes), ("sum", 1024));
    assert!((8..=64).contains(&sum.registers), "{sum:?}");
    assert_eq!(
        (sum.spill_stores, sum.spill_loads, sum.stack_bytes),
        (0, 0, 0)
    );
}

fn errors(compiler: &Compiler) {
    let broken = format!("{TEXT}#line 7 \"wrong.c\"\nint x = undeclared;\n");
    let mut text = KernelText::new("broken", &broken);
    let error = compiler.compile(&text, "sm_90").unwrap_err();
    let DeviceError::Kernel(KernelError::Compile { log, kernel, .. }) = &error else {
        panic!("{error}");
    };
    assert_eq!(kernel, "broken");
    assert!(
        log.contains("wrong.c(7)") && log.contains("undeclared"),
        "{log}"
    );
    text.text = TEXT;
    let error = compiler.compile(&text, "sm_20").unwrap_err();
    assert!(error.to_string().contains("sm_90"), "{error}");
    assert!(matches!(error, DeviceError::DriverTooOld { .. }));
    text.text = "a zero byte: \0";
    let error = compiler.compile(&text, "sm_90").unwrap_err();
    assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
}
