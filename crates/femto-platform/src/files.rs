//! Small files: the user's cache folder, bounded reads, atomic writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use thiserror::Error;

/// Why a file could not be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// The operating system refused.
    #[error("cannot {action} {path:?}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is larger than what is looked for can be.
    #[error("{path:?} is larger than {limit} bytes")]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// The most that is read.
        limit: u64,
    },
    /// No environment variable tells where the user's cache is.
    #[error(
        "no cache folder: none of FEMTO_CACHE, XDG_CACHE_HOME and HOME is set to an absolute path"
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

/// The folder of what femto keeps between runs, not necessarily existing yet.
///
/// The first that is set to an absolute path: `$FEMTO_CACHE`, `$XDG_CACHE_HOME/femto`,
/// `$HOME/.cache/femto`.
///
/// # Errors
/// [`FileError::NoCacheFolder`].
pub fn cache_dir() -> Result<PathBuf, FileError> {
    choose_cache_dir(|name| std::env::var_os(name).map(PathBuf::from))
}

fn choose_cache_dir(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, FileError> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    absolute("FEMTO_CACHE")
        .or_else(|| Some(absolute("XDG_CACHE_HOME")?.join("femto")))
        .or_else(|| Some(absolute("HOME")?.join(".cache").join("femto")))
        .ok_or(FileError::NoCacheFolder)
}

/// All of a file that is expected to be small.
///
/// # Errors
/// [`FileError::Io`]; [`FileError::TooLarge`] for more than `limit` bytes, of which at most
/// `limit + 1` were read.
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

/// Writes a file so that others see all of it or nothing, making its folder where needed.
///
/// Safe with many processes: the bytes go to a new file of a name of its own, which then takes the
/// place of `path`.
///
/// # Errors
/// [`FileError::Io`]; what was at `path` is then still there.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(FileError::io("make the folder", folder))?;
    }
    let (mut file, temporary) = create_beside(path).map_err(FileError::io("write", path))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    let outcome = written.and_then(|()| fs::rename(&temporary, path));
    outcome.map_err(|source| {
        // The first error is the one to tell; a temporary file left behind harms nobody.
        let _ = fs::remove_file(&temporary);
        FileError::io("write", path)(source)
    })
}

/// A new file beside `path`, of a name that nobody else uses.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            // Left by a process of the same number that was killed.
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
        let relative = ("FEMTO_CACHE", "here");
        assert_eq!(with(&[relative, xdg]).unwrap(), Path::new("/x/femto"));
        assert!(matches!(with(&[relative]), Err(FileError::NoCacheFolder)));
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
        // A folder cannot be replaced by a file, and the temporary file is cleared away.
        fs::create_dir_all(missing.join("inside")).unwrap();
        assert!(write_atomic(&missing, b"x").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
