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
    let (_, temporary) = create_beside(&target(path)?).map_err(|source| IoError::File {
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

/// Writes `path` through a temporary file beside it, which is renamed once `write` has succeeded and the disk has all of it,
/// so that no reader (or crash) ever finds half a file. A symbolic link is kept and its target written;
/// permissions of an existing file are kept too.
pub(super) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), IoError>,
) -> Result<(), IoError> {
    let target = target(path)?;
    let written = create_beside(&target).map_err(IoError::Stream);
    let written = written.and_then(|(file, temporary)| {
        let replaced = write_whole(file, write).and_then(|()| {
            if let Ok(old) = fs::metadata(&target) {
                fs::set_permissions(&temporary, old.permissions())?;
            }
            Ok(fs::rename(&temporary, &target)?)
        });
        if replaced.is_err() {
            // The first error is the relevant one.
            let _ = fs::remove_file(&temporary);
        }
        replaced
    });
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
    file: File,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), IoError>,
) -> Result<(), IoError> {
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    write(&mut writer)?;
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    // Some systems tell only now that there was no room.
    Ok(file.sync_all()?)
}

/// A new file in the same folder, because renaming across file systems is not atomic.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".femto-{}-{count}.tmp", std::process::id());
        let temporary = path.with_file_name(name);
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        match made {
            // Left by a process that was killed, or of one with the same number elsewhere.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (file, temporary)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_has_left_is_in_nobodys_way() {
        let folder = std::env::temp_dir().join(format!("femto-atomic-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // As by an earlier process with this number.
        let left = |count| folder.join(format!(".femto-{}-{count}.tmp", std::process::id()));
        (0..20).for_each(|count| fs::write(left(count), b"half").unwrap());
        let long = folder.join("x".repeat(255));
        for path in [folder.join("result.vtu"), long] {
            check_writable(&path).unwrap();
            write_file(&path, b"whole").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"whole");
        }
        let halves = (0..20).filter(|&count| fs::read(left(count)).unwrap() == b"half");
        assert_eq!(halves.count(), 20);
        fs::remove_dir_all(&folder).unwrap();
    }
}
