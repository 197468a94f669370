//! Where `femto solve` writes its output, and where it does not.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{case_path, femto, json, scratch, text};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

fn solve(output: &Path) -> Output {
    let output = output.to_str().unwrap();
    femto(&["solve", &case_path("quarter-annulus"), "--output", output])
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

fn is_vtu(path: &Path) -> bool {
    fs::read(path).unwrap().starts_with(b"<?xml")
}

/// Rejected before anything is solved, with nothing changed.
#[test]
fn paths_that_are_not_files_are_left_alone() {
    let folder = scratch("no_file");
    let pipe = folder.join("pipe");
    make_pipe(&pipe);
    let below = folder.join("file").join("below.vtu");
    fs::write(folder.join("file"), "").unwrap();
    let link = folder.join("to-null.vtu");
    symlink("/dev/null", &link).unwrap();
    let round = folder.join("round.vtu");
    symlink("round.vtu", &round).unwrap();
    for (path, why) in [
        (Path::new("/dev/null"), "a device, a pipe or a socket"),
        (&link, "a device, a pipe or a socket"),
        (&pipe, "a device, a pipe or a socket"),
        (&folder, "a folder"),
        (&below, "cannot make the folder"),
        (&round, "too many symbolic links"),
    ] {
        let output = solve(path);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(why) && !error.contains("solver"), "{error}");
        assert_eq!(text(&output.stdout), "");
    }
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

/// Links stay links; their files, which may not exist yet, receive the solution. Permissions are kept.
#[test]
fn links_are_followed() {
    let folder = scratch("links");
    fs::create_dir_all(folder.join("other")).unwrap();
    let old = folder.join("other/old.vtu");
    fs::write(&old, "old").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
    for name in ["old.vtu", "new.vtu"] {
        let link = folder.join(name);
        symlink(Path::new("other").join(name), &link).unwrap();
        let output = solve(&link);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(is_vtu(&folder.join("other").join(name)));
    }
    let mode = fs::metadata(&old).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let left = fs::read_dir(folder.join("other")).unwrap().count();
    assert_eq!(left, 2, "no temporary file stays");
}

/// Files are limited to 1024 bytes here, which shows only when the solution is written.
#[test]
fn a_solution_that_is_not_written_is_reported_all_the_same() {
    let folder = scratch("too_large");
    let path = folder.join("large.vtu");
    let run = |json: &str| {
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
        let binary = env!("CARGO_BIN_EXE_femto");
        let case = case_path("quarter-annulus");
        let output = Command::new("bash")
            .args([
                "-c", script, "bash", binary, "solve", &case, json, "--output",
            ])
            .arg(&path)
            .output();
        output.unwrap()
    };
    let output = run("--json");
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    assert_eq!(report["status"], "converged");
    assert!(report["errors"]["l2"].as_f64().unwrap() < 1e-5);
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.contains("large.vtu"), "{message}");
    assert!(text(&output.stderr).contains("cannot write"));
    assert!(!path.exists());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    let output = run("-v");
    assert!(text(&output.stdout).contains("errors      L2"));
}

/// An exact solution that is not a number somewhere costs the errors, not the solution.
#[test]
fn a_solution_without_its_errors_is_written_all_the_same() {
    let folder = scratch("no_errors");
    let case = "[mesh.box]\ncells = [4, 4, 2]\n[space]\ndegree = 1\n[form]\nkind = \"poisson\"\n\
                [[dirichlet]]\ntags = [\"xmin\"]\nvalue = 0\n[exact]\nvalue = \"sqrt(x-0.5)\"\n";
    let file = folder.join("case.toml");
    fs::write(&file, case).unwrap();
    let path = folder.join("u.vtu");
    let file = file.to_str().unwrap();
    let output = femto(&["solve", file, "--json", "--output", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    assert_eq!(report["status"], "converged");
    assert!(report["errors"].is_null());
    let message = report["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("case.toml:11") && message.contains("sqrt(x-0.5)"),
        "{message}"
    );
    assert!(is_vtu(&path));
}

/// Meshes and tables too: links are followed, and a pipe is no file.
#[test]
fn meshes_and_tables_follow_links_and_spare_pipes() {
    let folder = scratch("mesh-output");
    let [pipe, file, link] = ["pipe.msh", "file.msh", "link.msh"].map(|name| folder.join(name));
    make_pipe(&pipe);
    symlink("file.msh", &link).unwrap();
    let write = |path: &Path| {
        femto(&[
            "mesh",
            "box",
            path.to_str().unwrap(),
            "--cells",
            "1",
            "1",
            "1",
        ])
    };
    let refused = write(&pipe);
    let error = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(
        error.contains("only new and regular files are written"),
        "{error}"
    );
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(write(&link).status.success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read(&file).unwrap().starts_with(b"$MeshFormat"));
}
