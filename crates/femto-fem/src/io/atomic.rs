//! Atomic writing: files appear complete or not at all.

use super::IoError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Fails unless a file can be written at `path`: a new one, or a replacement of a writable regular file, in
/// a writable folder. Symbolic links are followed.
///
/// # Errors
/// [`IoError::NotAFile`] if something exists that is not a regular file, [`IoError::File`] if the system
/// refuses.
pub fn check_writable(path: &Path) -> Result<(), IoError> {
    let target = target(path)?;
    let temporary = temporary_beside(&target);
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary);
    made.map_err(|source| IoError::File {
        path: path.into(),
        source,
    })?;
    // If an empty file remains, writing is still possible.
    let _ = fs::remove_file(&temporary);
    Ok(())
}

/// Writes a file, complete or not at all, and its folder if that is missing.
///
/// # Errors
/// As [`check_writable`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| IoError::File {
            path: path.into(),
            source,
        })?;
    }
    write_atomically(path, |out| Ok(out.write_all(bytes)?))
}

/// Writes `path` through a temporary file beside it, which is renamed once `write` has succeeded, so that
/// no reader (or crash) ever leaves half a file. A symbolic link is kept and its target written;
/// permissions of an existing file are kept too.
pub(super) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), IoError>,
) -> Result<(), IoError> {
    let target = target(path)?;
    let temporary = temporary_beside(&target);
    let written = write_whole(&temporary, write).and_then(|()| {
        if let Ok(old) = fs::metadata(&target) {
            fs::set_permissions(&temporary, old.permissions())?;
        }
        Ok(fs::rename(&temporary, &target)?)
    });
    if written.is_err() {
        // The first error is the relevant one.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error| match error {
        IoError::Stream(source) => IoError::File {
            path: path.into(),
            source,
        },
        other => other,
    })
}

/// The location of `path` after following links, whether it exists yet or not.
fn target(path: &Path) -> Result<PathBuf, IoError> {
    let refused = |source| IoError::File {
        path: path.into(),
        source,
    };
    let mut target = path.to_owned();
    // Linux follows as many links.
    for _ in 0..40 {
        match fs::symlink_metadata(&target) {
            Ok(found) if found.is_symlink() => {
                let next = fs::read_link(&target).map_err(refused)?;
                target = target.parent().unwrap_or(Path::new("")).join(next);
            }
            Ok(found) if found.is_file() && !found.permissions().readonly() => return Ok(target),
            Ok(found) if found.is_file() => {
                return Err(refused(ErrorKind::PermissionDenied.into()));
            }
            Ok(found) => {
                return Err(IoError::NotAFile {
                    path: path.into(),
                    what: match found.is_dir() {
                        true => "a folder",
                        false => "a device, a pipe or a socket",
                    },
                });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(refused(error)),
        }
    }
    Err(refused(io::Error::other("too many symbolic links")))
}

fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), IoError>,
) -> Result<(), IoError> {
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    write(&mut writer)?;
    writer.flush()?;
    Ok(())
}

/// A name in the same folder (renaming across file systems is not atomic) that no other process or thread
/// uses.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    path.with_file_name(name)
}
