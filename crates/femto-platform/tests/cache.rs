//! Many processes share a cache of compiled kernels.

#![allow(clippy::unwrap_used)] // also outside of the test functions

use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::KernelText;
use femto_platform::device::{Accelerator, conformance};
use std::process::{Command, Stdio};

const FOLDER: &str = "FEMTO_TEST_CACHE_FOLDER";

fn compile(device: &Accelerator, folder: &str, name: &str) -> Vec<String> {
    let language = device.features().language;
    let text = conformance::accelerator::text(language) + "\n/* " + name + " */\n";
    let text = KernelText {
        name,
        text: &text,
        options: &["-DSHARED_DOUBLES=8".to_owned()],
    };
    let module = device.compile(&text, &KernelCache::at(folder)).unwrap();
    module.kernel("axpy").unwrap();
    module.warnings().to_vec()
}

/// The work of each process below; does nothing on its own.
#[test]
fn one_process() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let device = Accelerator::opencl(0).unwrap();
    for round in 0..4 {
        let warnings = compile(&device, &folder, &format!("text {round}"));
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

#[test]
fn processes_may_start_at_once_and_be_killed() {
    conformance::with(Accelerator::opencl(0), |device| {
        let folder = std::env::temp_dir().join(format!("femto-cache-test-{}", std::process::id()));
        let name = folder.to_str().unwrap();
        let start = || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "one_process"]).env(FOLDER, name);
            command.stdout(Stdio::null()).spawn().unwrap()
        };
        let mut processes: Vec<_> = (0..8).map(|_| start()).collect();
        for process in &mut processes[..3] {
            process.kill().unwrap();
        }
        for (index, process) in processes.iter_mut().enumerate() {
            let status = process.wait().unwrap();
            assert!(status.success() || index < 3, "{status}");
        }
        for round in 0..4 {
            let warnings = compile(device, name, &format!("text {round}"));
            assert!(warnings.is_empty(), "{warnings:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    });
}
