//! Random forms on random spaces: operators of forms as text against plain trees on the oracle, exact
//! Jacobians against the same and against differences of the residual.
//! A case is a function of its seed. A failing one is shrunk and kept in `corpus`, which is run first.
//! `FEMTO_FUZZ_SECONDS` sets how long cases are tried and `FEMTO_FUZZ_SEED` the first seed;
//! `FEMTO_ACCELERATOR` names a device to run them on beside the host. `cargo xtask fuzz forms` runs it
//! forever.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a failure shows its seed")]
#![allow(clippy::disallowed_methods, reason = "cases are tried for a time")]

mod case;
#[path = "../common/mod.rs"]
mod common;
mod random;
mod run;
mod setup;
mod shrink;
mod tree;

use case::Case;
use femto::Host;
use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::{DeviceKind, parse};
use run::{Counts, Devices, run};
use std::env;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Default duration in seconds.
const SECONDS: u64 = 20;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/corpus")
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
    )
}

fn devices() -> Devices {
    let accelerator = env::var("FEMTO_ACCELERATOR").ok().map(|name| {
        let id = parse(&name).unwrap();
        match id.kind {
            DeviceKind::Cuda => Accelerator::cuda(id.index).unwrap(),
            _ => Accelerator::opencl(id.index).unwrap(),
        }
    });
    Devices {
        host: Host::with_threads(2).unwrap(),
        accelerator,
    }
}

#[test]
fn past_failures_stay_fixed() {
    let devices = devices();
    let mut files: Vec<PathBuf> = fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    for file in files {
        let case: Case = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        if let Err(fault) = run(&case, &devices) {
            panic!("{}: {fault}", file.display());
        }
    }
}

#[test]
fn random_forms_agree_with_the_oracle() {
    let devices = devices();
    let fresh = || RandomState::new().build_hasher().finish() >> 16;
    let first = number("FEMTO_FUZZ_SEED").unwrap_or_else(fresh);
    println!("the first seed is {first}");
    let seconds = Duration::from_secs(number("FEMTO_FUZZ_SECONDS").unwrap_or(SECONDS));
    let start = Instant::now();
    let (mut counts, mut cases) = (Counts::default(), 0);
    for seed in first.. {
        if cases > 0 && start.elapsed() > seconds {
            break;
        }
        let case = random::case(seed);
        match run(&case, &devices) {
            Ok(more) => counts += more,
            Err(fault) => fail(&case, &fault, &devices),
        }
        cases += 1;
        if cases % 1000 == 0 {
            println!("{cases} cases: {counts:?}");
        }
    }
    println!("{cases} cases: {counts:?}");
    let compared = counts.operators + counts.derivatives + counts.differences;
    assert!(counts.unsure <= compared, "most cases cannot be compared");
}

/// Shrinks a failing case, saves it, and fails.
fn fail(case: &Case, fault: &str, devices: &Devices) -> ! {
    println!("seed {}: {fault}\nmaking it small ...", case.seed);
    std::panic::set_hook(Box::new(|_| {}));
    // A different fault would be a different case.
    let kind = |fault: &str| fault.split([' ', ':']).next().map(str::to_owned);
    let same = |other: String| kind(&other) == kind(fault);
    let small = shrink::shrink(case, |case| run(case, devices).is_err_and(same));
    let now = run(&small, devices).err().unwrap_or_default();
    _ = std::panic::take_hook();
    let text = serde_json::to_string_pretty(&small).unwrap();
    let file = corpus().join(format!("seed_{}.json", case.seed));
    fs::write(&file, format!("{text}\n")).unwrap();
    panic!(
        "seed {}: {fault}\nmade small: {now}\n{text}\nkept in {}",
        case.seed,
        file.display()
    );
}

/// A tree's text is read back unchanged, by the tests and by femto.
#[test]
fn texts_are_those_of_their_trees() {
    for seed in 0..200 {
        let case = random::case(seed);
        let trees = case
            .trees()
            .unwrap_or_else(|| panic!("seed {seed}: {case:?}"));
        assert_eq!(case.with_trees(&trees), case);
        assert!(
            femto::kernel::form::TracedForm::parse(&case.expressions(), 3, 3).is_ok()
                || case.f0.len() != 3
        );
    }
}
