//! Small files: the user's cache folder, bounded reads, atomic writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use thiserror::Error;

/// Why a file could not be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// An error of the operating system.
    #[error("cannot {action} {path:?}: {source}")]
    Io {
        /// The attempted operation.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is larger than a valid one can be.
    #[error("{path:?} is larger than {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Maximum number of bytes read.
        limit: u64,
    },
    /// No environment variable gives the user's cache folder.
    #[error(
        "no cache folder: FEMTO_CACHE is not set, and XDG_CACHE_HOME and HOME are not set to absolute paths"
    )]
    NoCacheFolder,
}

impl FileError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

/// The folder for data kept between runs, which may not exist yet.
///
/// `$FEMTO_CACHE`, from the current folder if it is relative; or else the first of these that is an absolute path:
/// `$XDG_CACHE_HOME/femto`, `$HOME/.cache/femto`.
///
/// # Errors
/// [`FileError::NoCacheFolder`].
pub fn cache_dir() -> Result<PathBuf, FileError> {
    choose_cache_dir(|name| std::env::var_os(name).map(PathBuf::from))
}

fn choose_cache_dir(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, FileError> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    // An empty one counts as not set.
    let own = variable("FEMTO_CACHE").and_then(|path| std::path::absolute(path).ok());
    own.or_else(|| Some(absolute("XDG_CACHE_HOME")?.join("femto")))
        .or_else(|| Some(absolute("HOME")?.join(".cache").join("femto")))
        .ok_or(FileError::NoCacheFolder)
}

/// The contents of a file expected to be small.
///
/// # Errors
/// [`FileError::Io`]; [`FileError::TooLarge`] for more than `limit` bytes, of which at most `limit + 1` are
/// read.
pub fn read_small(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = File::open(path).map_err(FileError::io("open", path))?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(FileError::io("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
            limit,
        });
    }
    Ok(bytes)
}

/// Writes a file atomically, creating its folder if needed.
///
/// Safe with many processes: the bytes go to a new file with a unique name, which then replaces `path`.
///
/// # Errors
/// [`FileError::Io`]; any previous file at `path` is then unchanged.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(FileError::io("make the folder", folder))?;
    }
    let (mut file, temporary) = create_beside(path).map_err(FileError::io("write", path))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    let outcome = written.and_then(|()| fs::rename(&temporary, path));
    outcome.map_err(|source| {
        // The first error is the one to report; a leftover temporary file is harmless.
        let _ = fs::remove_file(&temporary);
        FileError::io("write", path)(source)
    })
}

/// A new file beside `path`, with a unique name.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            // Left by a killed process with the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return outcome.map(|file| (file, PathBuf::from(name))),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = format!("femto-files-{}-{name}", std::process::id());
        std::env::temp_dir().join(folder)
    }

    #[test]
    fn the_first_absolute_variable_chooses_the_folder() {
        let with = |pairs: &[(&str, &str)]| {
            choose_cache_dir(|name| {
                let pair = pairs.iter().find(|(key, _)| *key == name);
                pair.map(|(_, value)| PathBuf::from(value))
            })
        };
        let home = ("HOME", "/home/a");
        let xdg = ("XDG_CACHE_HOME", "/x");
        let own = ("FEMTO_CACHE", "/own");
        assert_eq!(with(&[home]).unwrap(), Path::new("/home/a/.cache/femto"));
        assert_eq!(with(&[home, xdg]).unwrap(), Path::new("/x/femto"));
        assert_eq!(with(&[home, xdg, own]).unwrap(), Path::new("/own"));
        let here = std::env::current_dir().unwrap().join("here");
        assert_eq!(with(&[xdg, ("FEMTO_CACHE", "here")]).unwrap(), here);
        let empty = ("FEMTO_CACHE", "");
        assert_eq!(with(&[empty, xdg]).unwrap(), Path::new("/x/femto"));
        let relative = ("XDG_CACHE_HOME", "x");
        assert!(matches!(
            with(&[empty, relative]),
            Err(FileError::NoCacheFolder)
        ));
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_remains() {
        let folder = scratch("round-trip");
        let path = folder.join("deep").join("file");
        write_atomic(&path, b"first").unwrap();
        write_atomic(&path, b"second").unwrap();
        assert_eq!(read_small(&path, 6).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 1);
        let error = read_small(&path, 5).unwrap_err();
        assert!(matches!(error, FileError::TooLarge { limit: 5, .. }));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn temporary_files_of_killed_processes_are_no_obstacle() {
        let folder = scratch("killed");
        let path = folder.join("file");
        fs::create_dir_all(&folder).unwrap();
        let left = |number| format!("file.{}-{number}.tmp", std::process::id());
        for number in 0..100 {
            fs::write(folder.join(left(number)), b"half").unwrap();
        }
        write_atomic(&path, b"whole").unwrap();
        assert_eq!(read_small(&path, 10).unwrap(), b"whole");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn errors_name_the_file() {
        let folder = scratch("errors");
        let missing = folder.join("missing");
        let message = read_small(&missing, 1).unwrap_err().to_string();
        assert!(message.contains("missing"), "{message}");
        // A folder cannot be replaced by a file, and the temporary file is removed.
        fs::create_dir_all(missing.join("inside")).unwrap();
        assert!(write_atomic(&missing, b"x").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
