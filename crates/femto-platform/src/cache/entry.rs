//! One file of the cache: a header, and the compiler's output.

use sha2::{Digest, Sha256};

/// A compiled text, with the compiler's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) log: String,
    pub(crate) binary: Vec<u8>,
}

/// Names an entry: a hash of everything that determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The hash of these parts, including their boundaries.
    pub(crate) fn new(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The name of the entry's file.
    pub(super) fn file_name(&self) -> String {
        let digits = self.0.iter().map(|byte| format!("{byte:02x}"));
        digits.chain([".kernel".to_owned()]).collect()
    }
}

/// Why the bytes of a file are not a valid entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Damage {
    #[error("it is cut off or too long")]
    Length,
    #[error("it is not a compiled kernel of this version of femto")]
    Magic,
    #[error("its checksum is wrong")]
    Checksum,
    #[error("it belongs to another kernel")]
    Key,
}

/// The first bytes of a file, ending with the version of the format.
const MAGIC: [u8; 16] = *b"femto kernel \0\0\x01";
const HASH: usize = 32;
/// Magic, checksum of the rest, key, length of the log in bytes.
const HEADER: usize = MAGIC.len() + HASH + HASH + 8;

pub(super) fn to_bytes(key: &Key, entry: &Entry) -> Vec<u8> {
    let mut rest = Vec::with_capacity(HEADER + entry.log.len() + entry.binary.len());
    rest.extend(key.0);
    rest.extend((entry.log.len() as u64).to_le_bytes());
    rest.extend(entry.log.as_bytes());
    rest.extend(&entry.binary);
    let checksum: [u8; HASH] = Sha256::digest(&rest).into();
    [&MAGIC[..], &checksum, &rest].concat()
}

pub(super) fn from_bytes(key: &Key, bytes: &[u8]) -> Result<Entry, Damage> {
    let (magic, rest) = bytes.split_at_checked(MAGIC.len()).ok_or(Damage::Length)?;
    if magic != MAGIC {
        return Err(Damage::Magic);
    }
    let (checksum, rest) = rest.split_at_checked(HASH).ok_or(Damage::Length)?;
    if checksum != &Sha256::digest(rest)[..] {
        return Err(Damage::Checksum);
    }
    let (found, rest) = rest.split_first_chunk().ok_or(Damage::Length)?;
    if *found != key.0 {
        return Err(Damage::Key);
    }
    let (len, rest) = rest.split_first_chunk().ok_or(Damage::Length)?;
    let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| Damage::Length)?;
    let (log, binary) = rest.split_at_checked(len).ok_or(Damage::Length)?;
    Ok(Entry {
        log: String::from_utf8_lossy(log).into_owned(),
        binary: binary.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Key, Entry) {
        let entry = Entry {
            log: "ptxas: 12 registers".to_owned(),
            binary: (0..=255).collect(),
        };
        (Key::new(&["a", "b"]), entry)
    }

    #[test]
    fn borders_of_parts_count() {
        let keys = [&["ab", "c"][..], &["a", "bc"], &["abc"], &["ab", "c", ""]].map(Key::new);
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[..i].iter().all(|b| a != b));
        }
    }

    #[test]
    fn an_entry_survives_the_file() {
        let (key, entry) = sample();
        assert_eq!(from_bytes(&key, &to_bytes(&key, &entry)), Ok(entry));
        let empty = Entry {
            log: String::new(),
            binary: Vec::new(),
        };
        assert_eq!(from_bytes(&key, &to_bytes(&key, &empty)), Ok(empty));
    }

    #[test]
    fn every_damage_is_seen() {
        let (key, entry) = sample();
        let good = to_bytes(&key, &entry);
        for position in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[position] ^= 1 << bit;
                assert!(
                    from_bytes(&key, &bad).is_err(),
                    "bit {bit} of byte {position}"
                );
            }
            assert!(
                from_bytes(&key, &good[..position]).is_err(),
                "{position} bytes"
            );
        }
        let mut long = good.clone();
        long.push(0);
        assert_eq!(from_bytes(&key, &long), Err(Damage::Checksum));
        assert_eq!(from_bytes(&Key::new(&["ab"]), &good), Err(Damage::Key));
    }
}
