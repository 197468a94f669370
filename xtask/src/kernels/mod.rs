//! `cargo xtask kernels`: compiles and runs every kernel text, without a GPU.
//!
//! NVRTC compiles each text for each architecture and reports registers and spills, which are compared with
//! recorded ones. PoCL runs each text, and the results are compared with a plain evaluation on the host.

mod affine_simplices;
mod compile;
mod domain;
mod element_inverse;
mod element_matrices;
mod elements;
mod forms;
mod golden;
mod interpolation;
mod ladder;
mod line_solve;
mod nodes;
mod pencils;
mod pocl;
mod prism_columns;
mod prism_ladder;
mod random;
mod runner;
mod simplices;
mod tensor;
mod vectors;

use std::fmt;

use anyhow::{Result, bail, ensure};
use femto_kernel::dialect::{BlockShape, Language};
use femto_kernel::family::Limits;
use femto_kernel::scalar::{Precision, Real};
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Launch, Module,
};
use femto_platform::device::{Device, DeviceError, Element};

use crate::step::step;

pub(crate) use pocl::{OPTIONS as POCL_OPTIONS, prepare, short_declarations};

/// The check of a compiled text on a device; the error describes the fault.
pub(crate) type Check = Box<dyn Fn(&Accelerator, &Module) -> Result<()>>;

/// Numbers of a precision, on the host and in kernels.
pub(crate) trait Number: Real + Element {
    const PRECISION: Precision;
    /// As an argument of a kernel.
    const ARGUMENT: fn(Self) -> Argument<'static>;

    /// One of two tolerances.
    fn tolerance(double: f64, single: f64) -> f64 {
        match Self::PRECISION {
            Precision::Fp64 => double,
            Precision::Fp32 => single,
        }
    }

    fn rounded(values: &[f64]) -> Vec<Self> {
        values.iter().map(|&value| Self::from_f64(value)).collect()
    }

    fn upload(
        device: &Accelerator,
        values: &[f64],
    ) -> Result<AcceleratorBuffer<Self>, DeviceError> {
        device.upload(&Self::rounded(values))
    }
}

impl Number for f64 {
    const PRECISION: Precision = Precision::Fp64;
    const ARGUMENT: fn(Self) -> Argument<'static> = Argument::F64;
}

impl Number for f32 {
    const PRECISION: Precision = Precision::Fp32;
    const ARGUMENT: fn(Self) -> Argument<'static> = Argument::F32;
}

/// A check of a text that was made of `M`.
type CheckOf<M> = fn(&Accelerator, &Module, &M) -> Result<()>;

/// The check for a precision, of those in double and single precision.
fn check_in<M: 'static>(
    precision: Precision,
    [double, single]: [CheckOf<M>; 2],
    made_of: M,
) -> Check {
    let check = match precision {
        Precision::Fp64 => double,
        Precision::Fp32 => single,
    };
    Box::new(move |device, module| check(device, module, &made_of))
}

/// Compares positive numbers, each relative to itself, with what a kernel wrote, and that it wrote nothing beyond them. `seed`
/// is that of the inputs.
fn check_positive<T: Number>(
    found: &[T],
    wanted: &[f64],
    (tolerance, seed): (f64, u64),
) -> Result<()> {
    let (inside, beyond) = found.split_at(wanted.len());
    for (place, (&found, wanted)) in inside.iter().zip(wanted).enumerate() {
        let found = found.to_f64();
        // Not for NaN.
        let close = (found - wanted).abs() <= tolerance * wanted;
        ensure!(close, "entry {place} is {found}, not {wanted}; seed {seed}");
    }
    let untouched = beyond.iter().all(|&value| value.to_f64().is_nan());
    ensure!(untouched, "entries beyond the last");
    Ok(())
}

/// A launch of blocks whose shared numbers are of a precision.
fn launch_of(block: BlockShape, precision: Precision, blocks: u32) -> Launch {
    Launch {
        blocks,
        threads: block.threads,
        shared_bytes: block.shared_bytes(precision),
    }
}

/// One text to compile and check.
pub(crate) struct Case {
    /// The name in reports and in the recorded figures, without tabs.
    pub(crate) name: String,
    /// The translation unit.
    pub(crate) text: String,
    /// Its check.
    pub(crate) check: Check,
}

/// The extent of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// A few of each kind of text, for everyday use.
    Bounded,
    /// All cases.
    All,
}

/// Makes the cases of a family of texts that are legal within the limits.
type Cases = fn(Selection, Language, &Limits) -> Vec<Case>;

/// The families of texts.
const FAMILIES: &[Cases] = &[
    domain::cases,
    ladder::cases,
    prism_ladder::cases,
    pencils::cases,
    forms::cases,
    nodes::cases,
    simplices::cases,
    affine_simplices::cases,
    element_matrices::cases,
    prism_columns::cases,
    vectors::cases,
    random::cases,
    interpolation::cases,
    element_inverse::cases,
    line_solve::cases,
];

/// The requested cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    selection: Selection,
    /// Required part of the name of each case.
    part: &'a str,
    /// One of several equal shares of them.
    share: Share,
}

/// The share with an index, from 0, of a number of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    index: usize,
    of: usize,
}

impl Share {
    /// All cases.
    const WHOLE: Self = Self { index: 0, of: 1 };

    /// Parses `K/M`, counted from 1.
    fn parse(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').and_then(|(index, of)| {
            let (index, of) = (index.parse::<usize>().ok()?, of.parse().ok()?);
            (1..=of).contains(&index).then(|| (index - 1, of))
        });
        match numbers {
            Some((index, of)) => Ok(Self { index, of }),
            None => bail!("kernels: {text} is no share: K/M has K of 1..M"),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.of)
    }
}

/// The cases with the required part in their names, of all shares.
fn named(wanted: Wanted<'_>, language: Language, limits: &Limits) -> impl Iterator<Item = Case> {
    let families = FAMILIES.iter();
    families
        .flat_map(move |cases| cases(wanted.selection, language, limits))
        .filter(move |case| case.name.contains(wanted.part))
}

fn cases(wanted: Wanted<'_>, language: Language, limits: &Limits) -> Vec<Case> {
    named(wanted, language, limits)
        .skip(wanted.share.index)
        .step_by(wanted.share.of)
        .collect()
}

/// Fails if no text in any language has the required part in its name.
fn check_part(wanted: Wanted<'_>) -> Result<()> {
    let limits = Limits {
        matrix_units: true,
        ..Limits::default()
    };
    let is_some = |language| named(wanted, language, &limits).next().is_some();
    match [Language::Cuda, Language::OpenCl].into_iter().any(is_some) {
        true => Ok(()),
        false => bail!("kernels: no text has `{}` in its name", wanted.part),
    }
}

/// Prefix of the required part of names.
const ONLY: &str = "--only=";

/// Prefix of a share of the cases, `K/M`: all of them take hours, but shares can run on several processors.
const SHARE: &str = "--share=";

/// Runs the parts of the command, or, as a child process, one of them.
pub(crate) fn command(arguments: &[&str]) -> Result<()> {
    let mut wanted = Wanted {
        selection: Selection::Bounded,
        part: "",
        share: Share::WHOLE,
    };
    let (mut compiles, mut runs, mut bless, mut child) = (true, true, false, false);
    for argument in arguments {
        match *argument {
            "--all" => wanted.selection = Selection::All,
            "--bless" => bless = true,
            "--compile" => runs = false,
            "--run" => compiles = false,
            // Started by `--run`, once for each of PoCL's methods.
            pocl::CHILD => child = true,
            pocl::VERSION => return pocl::print_version(),
            other => match (other.strip_prefix(ONLY), other.strip_prefix(SHARE)) {
                (Some(part), _) => wanted.part = part,
                (None, Some(share)) => wanted.share = Share::parse(share)?,
                (None, None) => bail!(
                    "kernels: {other} is none of --all, --only=PART, --share=K/M, --bless, --compile, --run"
                ),
            },
        }
    }
    if child {
        return pocl::here(wanted);
    }
    if bless && wanted.share != Share::WHOLE {
        bail!("kernels: shares would record figures at the same time: --bless is for all of them");
    }
    check_part(wanted)?;
    if compiles {
        step("kernel texts through NVRTC", || {
            compile::compile(wanted, bless)
        })?;
    }
    if runs {
        step("kernel texts on PoCL", || pocl::with_all_methods(wanted))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_no_name_is_refused() {
        let wanted = |part| Wanted {
            selection: Selection::Bounded,
            part,
            share: Share::WHOLE,
        };
        let refused = check_part(wanted("bk5/layrs")).unwrap_err().to_string();
        assert!(refused.contains("no text has `bk5/layrs`"), "{refused}");
        for part in ["", "bk5/layers", domain::NAME] {
            check_part(wanted(part)).unwrap();
        }
    }
}
