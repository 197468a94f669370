//! Files that appear complete or not at all.

use super::IoError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Fails unless a file can be written at `path`: a new one, or in the place of a regular file that may be written,
/// in a folder that may be written. Symbolic links are followed.
///
/// # Errors
/// [`IoError::NotAFile`] for what is there and no regular file, [`IoError::File`] for what the system refuses.
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
    // An empty file that stays is no reason not to write.
    let _ = fs::remove_file(&temporary);
    Ok(())
}

/// Writes `path` through a temporary file beside it, which is renamed once `write` succeeded, so
/// that a reader (or a crash) never sees half a file. A symbolic link stays, and the file that it leads to is written;
/// permissions of a file that was there stay too.
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
        // The error that matters is the first one.
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

/// Where a file at `path` is, or will be, once links are followed.
fn target(path: &Path) -> Result<PathBuf, IoError> {
    let refused = |source| IoError::File {
        path: path.into(),
        source,
    };
    let mut target = path.to_owned();
    // As many links as Linux follows.
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

/// A name in the same folder (renaming across file systems is not atomic) that no other process
/// and no other thread uses.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    path.with_file_name(name)
}
