//! Compiled kernels, kept on disk between runs.
//!
//! An entry is a file named by a hash of the text, the options, the compiler, the driver and the device, so
//! that nothing needs to be discarded when one of them changes. Many processes may use a folder at once: a
//! complete file appears under its name, or none. The checksum guards against accidents; the folder is as
//! trustworthy as everyone with write access to it.
//!
//! If several processes need the same new kernel, one compiles it, and the others wait for the entry.
//!
//! The cache only saves time: if it fails, kernels are compiled, and the module has a warning.

mod entry;

pub(crate) use entry::{Entry, Key};

use crate::files::{FileError, cache_dir, read_small, write_atomic};
use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

/// Larger files are not compiled kernels.
const LARGEST: u64 = 256 << 20;

/// The folder of compiled kernels kept between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCache {
    folder: Option<PathBuf>,
}

/// The exclusive right to make an entry, until it is dropped or the process ends.
pub(crate) struct Reservation {
    file: File,
    path: PathBuf,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // Waiting processes have the file open, and find the entry; later ones find it without a lock.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Number of pauses before giving up on another process, which may have been stopped: ten minutes.
const PAUSES: usize = 60_000;
/// The time between checks for an entry.
const PAUSE: Duration = Duration::from_millis(10);

impl KernelCache {
    /// The folder `kernels` of the user's [`cache_dir`].
    ///
    /// # Errors
    /// [`FileError::NoCacheFolder`].
    pub fn user() -> Result<Self, FileError> {
        Ok(Self::at(cache_dir()?.join("kernels")))
    }

    /// A folder, not necessarily existing yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
        }
    }

    /// A cache that keeps nothing.
    pub const fn none() -> Self {
        Self { folder: None }
    }

    /// Whether it keeps anything.
    pub(crate) fn keeps(&self) -> bool {
        self.folder.is_some()
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(key.file_name()))
    }

    /// The entry of a key, if there is one. A damaged entry is dropped, with a warning.
    pub(crate) fn find(&self, key: &Key, warnings: &mut Vec<String>) -> Option<Entry> {
        let bytes = match read_small(&self.path(key)?, LARGEST) {
            Ok(bytes) => bytes,
            Err(FileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return None;
            }
            Err(error) => {
                self.drop_entry(key, &error, warnings);
                return None;
            }
        };
        match entry::from_bytes(key, &bytes) {
            Ok(entry) => Some(entry),
            Err(damage) => {
                self.drop_entry(key, &damage, warnings);
                None
            }
        }
    }

    /// Drops a useless entry, with a warning.
    pub(crate) fn drop_entry(&self, key: &Key, reason: &impl Display, warnings: &mut Vec<String>) {
        if let Some(path) = self.path(key) {
            warnings.push(format!(
                "the compiled kernel {path:?} was dropped: {reason}"
            ));
            // If it cannot be removed, it is replaced, or dropped again next time.
            let _ = std::fs::remove_file(path);
        }
    }

    /// The right to make the entry of a key, which one process has at a time; others wait until it has been
    /// made, the process has ended, or ten minutes have passed. `None` if locking fails, which is harmless:
    /// several processes then make the same entry.
    pub(crate) fn reserve(&self, key: &Key) -> Option<Reservation> {
        let path = self.path(key)?.with_extension("lock");
        let _ = std::fs::create_dir_all(path.parent()?);
        let options = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let reservation = Reservation {
            file: options.ok()?,
            path,
        };
        for _ in 0..PAUSES {
            match reservation.file.try_lock() {
                Ok(()) => return Some(reservation),
                Err(TryLockError::WouldBlock) => sleep(PAUSE),
                Err(TryLockError::Error(_)) => break,
            }
        }
        None
    }

    /// Stores an entry, or warns that it could not.
    pub(crate) fn store(&self, key: &Key, entry: &Entry, warnings: &mut Vec<String>) {
        let Some(path) = self.path(key).filter(|_| !entry.binary.is_empty()) else {
            return;
        };
        if let Err(error) = write_atomic(&path, &entry::to_bytes(key, entry)) {
            warnings.push(format!("a compiled kernel was not kept: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    fn sample(n: u8) -> (Key, Entry) {
        let entry = Entry {
            log: format!("log {n}"),
            binary: vec![n; 10_000],
        };
        (Key::new(&[&n.to_string()]), entry)
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = format!("femto-cache-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn found(cache: &KernelCache, key: &Key) -> (Option<Entry>, Vec<String>) {
        let mut warnings = Vec::new();
        let entry = cache.find(key, &mut warnings);
        (entry, warnings)
    }

    #[test]
    fn what_is_kept_is_found() {
        let folder = scratch("kept");
        let cache = KernelCache::at(folder.join("deep"));
        let mut warnings = Vec::new();
        for n in 0..3 {
            let (key, entry) = sample(n);
            assert_eq!(found(&cache, &key), (None, vec![]));
            cache.store(&key, &entry, &mut warnings);
            assert_eq!(found(&cache, &key), (Some(entry), vec![]));
        }
        assert!(warnings.is_empty());
        let (key, entry) = sample(1);
        let none = KernelCache::none();
        none.store(&key, &entry, &mut warnings);
        assert_eq!(found(&none, &key), (None, vec![]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damage_is_dropped_with_one_warning() {
        let folder = scratch("damage");
        let cache = KernelCache::at(&folder);
        let ((key, entry), (other, _)) = (sample(1), sample(2));
        let (path, other_path) = (cache.path(&key).unwrap(), cache.path(&other).unwrap());
        cache.store(&key, &entry, &mut Vec::new());
        let good = fs::read(&path).unwrap();
        let mut flipped = good.clone();
        flipped[5000] ^= 1;
        for (path, bytes) in [
            (&path, &flipped[..]),
            (&path, &good[..good.len() - 1]),
            (&path, b""),
            (&other_path, &good),
        ] {
            let key = if *path == other_path { &other } else { &key };
            fs::write(path, bytes).unwrap();
            let (entry, warnings) = found(&cache, key);
            assert_eq!((entry, warnings.len()), (None, 1));
            assert!(warnings[0].contains("dropped"), "{warnings:?}");
            assert!(!path.exists());
            assert_eq!(found(&cache, key), (None, vec![]));
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_a_warning() {
        // Root may write anywhere, so a file takes the folder's place.
        let folder = scratch("blocked");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("file"), b"").unwrap();
        let cache = KernelCache::at(folder.join("file"));
        let (key, entry) = sample(1);
        let mut warnings = Vec::new();
        cache.store(&key, &entry, &mut warnings);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("was not kept"), "{warnings:?}");
        assert_eq!(found(&cache, &key).0, None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn many_may_use_a_folder_at_once() {
        let folder = scratch("many");
        let cache = KernelCache::at(&folder);
        std::thread::scope(|scope| {
            for thread in 0..8_u8 {
                let cache = &cache;
                scope.spawn(move || {
                    for round in 0..40 {
                        let (key, entry) = sample((thread + round) % 4);
                        match found(cache, &key) {
                            (Some(kept), warnings) => {
                                assert_eq!((kept, warnings), (entry, vec![]));
                            }
                            (None, warnings) => {
                                assert!(warnings.is_empty(), "{warnings:?}");
                                let mut warnings = Vec::new();
                                cache.store(&key, &entry, &mut warnings);
                                assert!(warnings.is_empty(), "{warnings:?}");
                            }
                        }
                    }
                });
            }
        });
        let names = fs::read_dir(&folder).unwrap();
        assert_eq!(names.count(), 4, "temporary files are left");
        fs::remove_dir_all(folder).unwrap();
    }

    /// Across processes: while one makes the entry, the others wait for it.
    #[test]
    fn one_process_makes_the_entry() {
        let folder = scratch("reserved");
        let cache = KernelCache::at(&folder);
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for n in 0..5 {
                        let (key, entry) = sample(n);
                        let reserved = cache.reserve(&key);
                        assert!(reserved.is_some());
                        if found(&cache, &key).0.is_none() {
                            made.fetch_add(1, Relaxed);
                            sleep(Duration::from_millis(20));
                            cache.store(&key, &entry, &mut Vec::new());
                        }
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 5);
        let names = fs::read_dir(&folder).unwrap();
        assert_eq!(names.count(), 5, "locks are left");
        // A killed process leaves an unlocked file.
        let (key, _) = sample(9);
        fs::write(cache.path(&key).unwrap().with_extension("lock"), b"").unwrap();
        assert!(cache.reserve(&key).is_some());
        assert!(KernelCache::none().reserve(&key).is_none());
        fs::remove_dir_all(folder).unwrap();
    }
}
