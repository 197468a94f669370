//! Fuzzing for a bounded time, on the stable toolchain and without cargo-fuzz.
//!
//! `cargo fuzz` uses the same targets and corpus with a nightly toolchain and sanitizers.

use std::fs;
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};

use crate::step::{Step, cpp, step};

/// libFuzzer's coverage instrumentation; the flags of cargo-fuzz without its sanitizers, and in several units, on all
/// processors.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cdebug-assertions";

/// Maximum memory for one input, in MiB.
const MEMORY: u32 = 1024;

/// Runs every target of `fuzz/` on its committed corpus and then on new inputs, all at the same time, for so many seconds.
/// Inputs found on the way stay in `.cache/fuzz`, failing ones in `fuzz/artifacts`.
pub(crate) fn fuzz(seconds: u32) -> Result<()> {
    let targets = targets()?;
    let host = host()?;
    cpp()?; // libFuzzer is compiled from source.
    let build = crate::root().join(".cache/fuzz-target");
    step("building the fuzz targets", || {
        // An explicit target keeps the coverage flags away from build scripts.
        let manifest = [
            "build",
            "--quiet",
            "--release",
            "--manifest-path",
            "fuzz/Cargo.toml",
        ];
        Step::cargo(manifest.iter().chain(&["--target", host.as_str()]))
            .env("RUSTFLAGS", COVERAGE)
            // Optimising takes longer than it saves in a short run.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_TARGET_DIR", &build)
            .run()
    })?;
    let folder = build.join(&host).join("release");
    let target = |target: &String| {
        step(&format!("fuzzing {target}"), || {
            run(&folder.join(target), target, seconds)
        })
    };
    let faults = thread::scope(|scope| {
        let running = targets
            .iter()
            .map(|it| (it, scope.spawn(move || target(it))));
        let running: Vec<_> = running.collect();
        let ended = running.into_iter().filter_map(|(name, it)| {
            let error = it.join().map_or(Some(anyhow!("a panic")), Result::err)?;
            println!("   {name}: {error:#}");
            Some(name.clone())
        });
        ended.collect::<Vec<_>>()
    });
    crate::all_well("fuzzing failed", &faults)
}

/// Tries random forms (`crates/femto/tests/differential`) for this many seconds, or until one fails.
pub(crate) fn forms(seconds: Option<u64>) -> Result<()> {
    let test = ["test", "--package", "femto", "--test", "differential"];
    let options = ["--", "--nocapture", "--test-threads", "1"];
    step("fuzzing forms", || {
        Step::cargo(test.iter().chain(&options))
            .env("FEMTO_FUZZ_SECONDS", seconds.unwrap_or(FOREVER).to_string())
            .run()
    })
}

/// A practically infinite number of seconds.
const FOREVER: u64 = u64::MAX;

fn run(program: &Path, target: &str, seconds: u32) -> Result<()> {
    let found = crate::root().join(".cache/fuzz").join(target);
    let artifacts = crate::root().join("fuzz/artifacts").join(target);
    for folder in [&found, &artifacts] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let options = [
        format!("-max_total_time={seconds}"),
        format!("-rss_limit_mb={MEMORY}"),
        "-timeout=10".to_owned(),
        "-print_final_stats=1".to_owned(),
        "-verbosity=0".to_owned(),
        format!("-artifact_prefix={}/", artifacts.display()),
        found.display().to_string(),
    ];
    let corpus = format!("fuzz/corpus/{target}");
    ensure!(
        crate::root().join(&corpus).is_dir(),
        "{corpus}, the committed corpus, is missing"
    );
    Step::new(program, options.into_iter().chain([corpus])).run()
}

/// The names of the fuzz targets, from their manifest.
fn targets() -> Result<Vec<String>> {
    let manifest: toml::Table = crate::read("fuzz/Cargo.toml")?.parse()?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array);
    let names: Vec<String> = bins
        .into_iter()
        .flatten()
        .filter_map(|bin| bin.get("name")?.as_str().map(str::to_owned))
        .collect();
    ensure!(!names.is_empty(), "fuzz/Cargo.toml names no [[bin]]");
    Ok(names)
}

/// The triple of this machine.
fn host() -> Result<String> {
    let version = Step::new("rustc", ["-vV"]).output()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
