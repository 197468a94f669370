//! Texts on PoCL.

use anyhow::{Context, Result, bail};
use femto_kernel::dialect::Language;
use femto_kernel::family::tensor_hex::schedule::Limits;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, Features, KernelText};

use super::{Case, ONLY, Selection, Wanted};
use crate::step::Step;

/// The argument by which this program starts itself.
pub(super) const CHILD: &str = "--run-in-this-process";

/// How PoCL makes one function of all threads of a block: loops between barriers, or continuations.
pub(super) const METHODS: [&str; 2] = ["loopvec", CONTINUATIONS];

/// The method that PoCL has since version 4.
const CONTINUATIONS: &str = "cbs";

/// The variable by which PoCL is told its method.
const METHOD: &str = "POCL_WORK_GROUP_METHOD";

/// Runs the cases in a fresh process, as PoCL reads its method once.
pub(super) fn with_method(method: &str, wanted: Wanted<'_>) -> Result<()> {
    crate::opencl::ensure()?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let part = format!("{ONLY}{}", wanted.part);
    let mut arguments = vec!["kernels", CHILD, &*part];
    if wanted.selection == Selection::All {
        arguments.push("--all");
    }
    // PoCL's own cache does not tell methods apart.
    let cache = crate::root().join(".cache/pocl").join(method);
    std::fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
    Step::new(program, arguments)
        .env(METHOD, method)
        .env("POCL_CACHE_DIR", cache)
        .run()
}

/// Runs the cases on the first OpenCL device.
pub(super) fn here(wanted: Wanted<'_>) -> Result<()> {
    let device = Accelerator::opencl(0)?;
    let version = &device.features().driver;
    let old = version
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        < Some(4_u32);
    if old && std::env::var(METHOD).is_ok_and(|method| method == CONTINUATIONS) {
        println!("   skipped: PoCL {version} has no such method");
        return Ok(());
    }
    let limits = limits(device.features());
    let cases = super::cases(wanted, Language::OpenCl, &limits);
    let mut faults = Vec::new();
    for case in &cases {
        if let Err(error) = check(&device, case) {
            eprintln!("   {}: {error:#}", case.name);
            faults.push(case.name.clone());
        }
    }
    if cases.is_empty() {
        bail!("no text is legal on this device");
    }
    println!(
        "   {} texts on {}",
        cases.len(),
        device.features().architecture
    );
    crate::all_well("wrong on PoCL", &faults)
}

fn check(device: &Accelerator, case: &Case) -> Result<()> {
    let text = KernelText {
        name: &case.name,
        text: &case.text,
        options: &[],
    };
    let module = device.compile(&text, &KernelCache::none())?;
    (case.check)(device, &module)
}

/// What the device allows, but no more than a GPU does, so that the same texts are checked anywhere.
fn limits(features: &Features) -> Limits {
    let usual = Limits::default();
    Limits {
        threads: features.max_threads.min(usual.threads),
        threads_xyz: [0, 1, 2]
            .map(|axis| features.max_threads_xyz[axis].min(usual.threads_xyz[axis])),
        shared_bytes: features.shared_bytes.min(usual.shared_bytes),
        fp64: features.fp64,
    }
}
