//! Running texts on PoCL.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{Accelerator, Features, KernelText};

use super::{Case, ONLY, SHARE, Selection, Share, Wanted};
use crate::opencl::{apart, newer_root};
use crate::step::{Step, joined};

/// The argument with which this program starts itself.
pub(super) const CHILD: &str = "--run-in-this-process";

/// The argument with which it asks itself for PoCL's version: a process that has looked for OpenCL before PoCL was
/// installed does not find it.
pub(super) const VERSION: &str = "--print-version";

/// PoCL's methods to merge all threads of a block into one function: loops between barriers, or
/// continuations.
const METHODS: [&str; 2] = [USUAL, CONTINUATIONS];

/// PoCL's default method.
const USUAL: &str = "loopvec";

/// A method of PoCL since version 4, without known faults since version 7.
const CONTINUATIONS: &str = "cbs";

/// The variable that selects PoCL's method.
const METHOD: &str = "POCL_WORK_GROUP_METHOD";

/// The variable with options that PoCL adds to those of every text.
pub(crate) const OPTIONS: &str = "POCL_EXTRA_BUILD_FLAGS";

/// Options by which PoCL reads a page of declarations, `opencl/declarations.h`, in place of its own, which take it longer
/// than most texts; none, with a note, if this PoCL does not know them.
pub(crate) fn short_declarations() -> Result<String> {
    let folder = crate::root().join("xtask/src/opencl");
    let options = format!(
        "-D_OPENCL_H_ -DDECLARATIONS=<declarations.h> -I{}",
        folder.display()
    );
    let program = this_program()?;
    let trial = format!("{ONLY}{}", super::domain::NAME);
    let trial = Step::new(program, ["kernels", CHILD, &trial]).env(OPTIONS, &options);
    if trial.works() {
        return Ok(options);
    }
    println!(
        "   PoCL's own declarations, which take longer: it does not take those of {}",
        folder.display()
    );
    Ok(String::new())
}

/// Runs the cases by each method (in the bounded set some by each) concurrently: PoCL compiles on one
/// processor.
pub(super) fn with_all_methods(wanted: Wanted<'_>) -> Result<()> {
    crate::opencl::ensure()?;
    thread::scope(|scope| {
        let runs = METHODS.map(|method| scope.spawn(move || with_method(method, wanted)));
        runs.map(joined).into_iter().collect()
    })
}

/// Installs what runs by all methods need; what cannot be had is said by them.
pub(crate) fn prepare() -> Result<()> {
    crate::opencl::ensure()?;
    let program = this_program()?;
    if !has_sound_continuations(&program)? {
        _ = newer_root();
    }
    Ok(())
}

fn this_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find this program")
}

/// Runs the cases in a fresh process, as PoCL reads its method only once; with a newer PoCL if the method
/// is unsound in the system's, and not at all if there is none.
fn with_method(method: &str, wanted: Wanted<'_>) -> Result<()> {
    let program = this_program()?;
    let part = format!("{ONLY}{}", wanted.part);
    let share = format!("{SHARE}{}", wanted.share);
    let mut arguments = vec!["kernels", CHILD, &*part, &*share];
    if wanted.selection == Selection::All {
        arguments.push("--all");
    }
    if method == CONTINUATIONS && !has_sound_continuations(&program)? {
        return match newer_root() {
            Ok(root) => in_root(&root, &program, &arguments),
            Err(error) => {
                println!(
                    "   {method} skipped, and the texts that it is for, three of five without --all: that of the \
                     system's PoCL is not sound, and {error:#}"
                );
                Ok(())
            }
        };
    }
    // PoCL's own cache does not distinguish methods.
    let cache = crate::root().join(".cache/pocl").join(method);
    fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
    Step::new(program, arguments)
        .env(METHOD, method)
        .env(OPTIONS, short_declarations()?)
        .env("POCL_CACHE_DIR", cache)
        .run()
}

fn has_sound_continuations(program: &Path) -> Result<bool> {
    let version = Step::new(program, ["kernels", VERSION]).output()?;
    let major = version.split('.').next();
    Ok(major.and_then(|major| major.parse().ok()) >= Some(7_u32))
}

/// Prints the version of the first OpenCL device's driver.
pub(super) fn print_version() -> Result<()> {
    println!("{}", Accelerator::opencl(0)?.features().driver);
    Ok(())
}

/// Runs this program in the root folder of a newer Debian.
fn in_root(root: &Path, program: &Path, arguments: &[&str]) -> Result<()> {
    // A separate copy, since others may run theirs there.
    let name = format!("/xtask-{}", std::process::id());
    let there = root.join(&name[1..]);
    fs::copy(program, &there).with_context(|| format!("cannot make {}", there.display()))?;
    let (script, root) = (include_str!("in_root.sh"), root.to_string_lossy());
    let start = ["bash", "-c", script, "in_root.sh", &root, &name];
    let ended = apart(start.into_iter().chain(arguments.iter().copied()))
        .env(METHOD, CONTINUATIONS)
        .env("POCL_CACHE_DIR", "/var/cache/pocl")
        .run();
    fs::remove_file(&there).with_context(|| format!("cannot remove {}", there.display()))?;
    ended
}

/// Runs the cases on the first OpenCL device.
pub(super) fn here(wanted: Wanted<'_>) -> Result<()> {
    let device = Accelerator::opencl(0)?;
    let limits = limits(device.features());
    let method = std::env::var(METHOD).unwrap_or_default();
    // In the bounded set each text is run by one method. The operators of femto's tests use the default one
    // anyway, and the newer PoCL compiles faster, so that one gets two of five.
    let bounded = wanted.selection == Selection::Bounded && wanted.part.is_empty();
    let is_mine = |index: usize| !bounded || (index % 5 < 2) == (method == USUAL);
    let cases = super::cases(wanted, Language::OpenCl, &limits).into_iter();
    let cases = cases.enumerate().filter(|(index, _)| is_mine(*index));
    let cases: Vec<Case> = cases.map(|(_, case)| case).collect();
    let mut faults = Vec::new();
    for case in &cases {
        if wanted.selection == Selection::All {
            // These take hours: report the progress.
            println!("   {} by {method}", case.name);
        }
        if let Err(error) = check(&device, case) {
            eprintln!("   {}: {error:#}", case.name);
            faults.push(case.name.clone());
        }
    }
    if cases.is_empty() && wanted.share == Share::WHOLE {
        bail!("no text is legal on this device");
    }
    let version = device.features().driver.split_whitespace().next();
    println!(
        "   {} texts by {method} on PoCL {}, {}",
        cases.len(),
        version.unwrap_or_default(),
        device.features().architecture
    );
    crate::all_well("wrong on PoCL", &faults)
}

fn check(device: &Accelerator, case: &Case) -> Result<()> {
    let text = KernelText::new(&case.name, &case.text);
    let module = device.compile(&text, &KernelCache::none())?;
    (case.check)(device, &module)
}

/// The device's limits, capped by a GPU's, so that the same texts are checked everywhere.
fn limits(features: &Features) -> Limits {
    let usual = Limits::default();
    Limits {
        threads: features.max_threads.min(usual.threads),
        threads_xyz: [0, 1, 2]
            .map(|axis| features.max_threads_xyz[axis].min(usual.threads_xyz[axis])),
        shared_bytes: features.shared_bytes.min(usual.shared_bytes),
        fp64: features.fp64,
        matrix_units: false,
    }
}
