//! `femto solve`: what signals do to it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, json, scratch, text, write};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A case that never converges, in a folder, where its output goes to `box.vtu`.
fn endless(folder: &Path) -> String {
    let case = std::fs::read_to_string(case_path("box-sine")).unwrap();
    let endless = [
        ("[4, 4, 4]", "[16, 16, 16]"),
        ("1e-10", "1e-300\npreconditioner = \"jacobi\""),
        ("1000", "1_000_000_000\n[output]\nvtu = \"box.vtu\""),
    ];
    let case = endless
        .iter()
        .fold(case, |case, (from, to)| case.replace(from, to));
    write(folder, "case.toml", &case)
}

/// A program started to ignore a signal, as by `nohup`, keeps ignoring it.
#[test]
fn ignored_signals_stay_ignored() {
    let path = endless(&scratch("nohup"));
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_femto"), "solve", &path, "--json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    for _ in 0..2 {
        std::thread::sleep(Duration::from_secs(2));
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        let sent = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(sent.unwrap().success());
    }
    std::thread::sleep(Duration::from_secs(1));
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// On Ctrl-C or a batch system's signal, the last iterate is written and reported.
#[test]
fn signals_stop_after_the_iteration() {
    stops_after_the_iteration("INT");
    stops_after_the_iteration("TERM");
    // Under `nohup` this program and its children ignore it.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if mask.is_none_or(|mask| mask & 1 == 0) {
        stops_after_the_iteration("HUP");
    }
}

fn stops_after_the_iteration(signal: &str) {
    let folder = scratch(signal);
    let path = endless(&folder);
    // A slow machine may still be setting up after the first waits.
    for seconds in [1, 4, 16, 60] {
        let child = Command::new(env!("CARGO_BIN_EXE_femto"))
            .args(["solve", &path, "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs(seconds));
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &pid])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        // Killed before it could listen, or stopped before it iterated.
        let is_killed = output.status.signal().is_some();
        if is_killed || text(&output.stderr).contains("interrupted before the stage") {
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        let report = json(&output);
        assert_eq!(report["status"], "interrupted", "{}", text(&output.stderr));
        if report["solver"]["iterations"].as_u64().unwrap() == 0 {
            continue;
        }
        assert_eq!(
            report["ceilings"],
            Value::Null,
            "nothing is measured any more"
        );
        assert!(text(&output.stderr).starts_with("error: interrupted"));
        assert!(folder.join("box.vtu").is_file());
        return;
    }
    panic!("never came to the first iteration");
}
