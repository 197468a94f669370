//! `cargo xtask kernels`: every kernel text through the real compilers, without a GPU.
//!
//! NVRTC compiles each text for each architecture and tells registers and spills, which are compared
//! with recorded ones. PoCL runs each text, which is compared with a plain evaluation on the host.

mod boundary;
mod compile;
mod domain;
mod forms;
mod golden;
mod host_twin;
mod ladder;
mod nodes;
mod pencils;
mod run;
mod simplices;
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
const FAMILIES: [Cases; 8] = [
    domain::cases,
    ladder::cases,
    pencils::cases,
    forms::cases,
    nodes::cases,
    simplices::cases,
    boundary::cases,
    vectors::cases,
];

/// Which cases are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    selection: Selection,
    /// What the name of each case has in it.
    part: &'a str,
}

fn cases(wanted: Wanted<'_>, language: Language, limits: &Limits) -> Vec<Case> {
    let families = FAMILIES.iter();
    families
        .flat_map(|cases| cases(wanted.selection, language, limits))
        .filter(|case| case.name.contains(wanted.part))
        .collect()
}

/// Before a part of the names of the cases that are meant.
const ONLY: &str = "--only=";

/// The parts of the command, and the process that runs one part of it.
pub(crate) fn command(arguments: &[&str]) -> Result<()> {
    let mut wanted = Wanted {
        selection: Selection::Bounded,
        part: "",
    };
    let (mut compiles, mut runs, mut bless, mut child) = (true, true, false, false);
    for argument in arguments {
        match *argument {
            "--all" => wanted.selection = Selection::All,
            "--bless" => bless = true,
            "--compile" => runs = false,
            "--run" => compiles = false,
            // What `--run` starts, once for each of PoCL's methods.
            run::CHILD => child = true,
            other => match other.strip_prefix(ONLY) {
                Some(part) => wanted.part = part,
                None => bail!(
                    "kernels: {other} is none of --all, --only=PART, --bless, --compile, --run"
                ),
            },
        }
    }
    if child {
        return run::here(wanted);
    }
    if compiles {
        step("kernel texts through NVRTC", || {
            compile::compile(wanted, bless)
        })?;
    }
    if runs {
        step("kernel texts on PoCL", || run::with_all_methods(wanted))?;
    }
    Ok(())
}
