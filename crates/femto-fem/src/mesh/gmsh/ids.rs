//! Node and element numbers: sparse, unordered, possibly hostile.
//!
//! Small numbers are kept in arrays whose size is bounded by that of the file, all others in hash tables
//! with one entry per number read. Memory is thus bounded by the file's size.

use std::collections::{HashMap, HashSet};

/// Position of each node of the file, by its number.
#[derive(Debug)]
pub(super) struct NodeIndex {
    /// Position of number `n` at `n`, or [`NONE`].
    dense: Vec<u32>,
    sparse: HashMap<u64, u32>,
    /// Numbers from here on are in `sparse`.
    limit: u64,
}

const NONE: u32 = u32::MAX;

impl NodeIndex {
    pub(super) fn new(file_size: usize) -> Self {
        Self {
            dense: Vec::new(),
            sparse: HashMap::new(),
            limit: file_size as u64 / 4,
        }
    }

    /// Records the position of a node; false if its number was already present.
    #[inline]
    pub(super) fn insert(&mut self, number: u64, position: u32) -> bool {
        if number >= self.limit {
            return self.sparse.insert(number, position).is_none();
        }
        let number = number as usize;
        if number >= self.dense.len() {
            self.dense.resize(number + 1, NONE);
        }
        std::mem::replace(&mut self.dense[number], position) == NONE
    }

    /// The position of the node with this number.
    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<u32> {
        if number >= self.limit {
            return self.sparse.get(&number).copied();
        }
        let position = self.dense.get(number as usize).copied();
        position.filter(|&position| position != NONE)
    }
}

/// The numbers seen so far.
#[derive(Debug)]
pub(super) struct IdSet {
    /// One bit per number.
    dense: Vec<u64>,
    sparse: HashSet<u64>,
    /// Numbers from here on are in `sparse`.
    limit: u64,
}

impl IdSet {
    pub(super) fn new(file_size: usize) -> Self {
        Self {
            dense: Vec::new(),
            sparse: HashSet::new(),
            limit: file_size as u64 * 8,
        }
    }

    /// Adds a number; false if it was already present.
    #[inline]
    pub(super) fn insert(&mut self, number: u64) -> bool {
        if number >= self.limit {
            return self.sparse.insert(number);
        }
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if word >= self.dense.len() {
            self.dense.resize(word + 1, 0);
        }
        let new = self.dense[word] & bit == 0;
        self.dense[word] |= bit;
        new
    }
}
