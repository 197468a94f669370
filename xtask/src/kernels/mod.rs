//! `cargo xtask kernels`: every kernel text through the real compilers, without a GPU.
//!
//! NVRTC compiles each text for each architecture and tells registers and spills, which are compared
//! with recorded ones. PoCL runs each text, which is compared with a plain evaluation on the host.

mod compile;
mod golden;
mod host_twin;
mod ladder;
mod nodes;
mod pencils;
mod run;
mod vectors;

use anyhow::{Result, bail};
use femto_kernel::dialect::Language;
use femto_kernel::family::tensor_hex::schedule::Limits;
use femto_platform::device::accelerator::{Accelerator, Module};

use crate::step::step;

/// How a compiled text is checked on a device; the error says what is wrong.
pub(crate) type Check = Box<dyn Fn(&Accelerator, &Module) -> Result<()>>;

/// One text: something to compile and to check.
pub(crate) struct Case {
    /// The name in reports and in the recorded figures, without tabs.
    pub(crate) name: String,
    /// The translation unit.
    pub(crate) text: String,
    /// Its check.
    pub(crate) check: Check,
}

/// How many cases there shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Each kind of text a few times, for every day.
    Bounded,
    /// All.
    All,
}

/// Makes the cases of a family of texts that are legal within limits.
type Cases = fn(Selection, Language, &Limits) -> Vec<Case>;

/// The families of texts.
const FAMILIES: [Cases; 4] = [ladder::cases, pencils::cases, nodes::cases, vectors::cases];

fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let families = FAMILIES.iter();
    families
        .flat_map(|cases| cases(selection, language, limits))
        .collect()
}

/// The parts of the command, and the process that runs one part of it.
pub(crate) fn command(arguments: &[&str]) -> Result<()> {
    let mut selection = Selection::Bounded;
    let (mut compiles, mut runs, mut bless, mut child) = (true, true, false, false);
    for argument in arguments {
        match *argument {
            "--all" => selection = Selection::All,
            "--bless" => bless = true,
            "--compile" => runs = false,
            "--run" => compiles = false,
            // What `--run` starts, once for each of PoCL's methods.
            run::CHILD => child = true,
            other => bail!("kernels: {other} is none of --all, --bless, --compile, --run"),
        }
    }
    if child {
        return run::here(selection);
    }
    if compiles {
        step("kernel texts through NVRTC", || {
            compile::compile(selection, bless)
        })?;
    }
    if runs {
        for method in run::METHODS {
            step(&format!("kernel texts on PoCL, {method}"), || {
                run::with_method(method, selection)
            })?;
        }
    }
    Ok(())
}
