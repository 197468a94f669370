//! Ordering the nodes of a block to avoid conflicts of shared memory banks.
//!
//! Shared memory serves 128 bytes at a time: eight threads that read pairs of doubles, unless different
//! pairs are in the same eighth of the banks. Pairs of floats are read by sixteen threads; their order
//! suits them less well.

use crate::family::block_sums::Entry;

/// Number of threads that read double-precision records at the same time, and of the banks that hold these.
/// Such threads read consecutive slots of a place, since the fans of a block are a multiple of this number.
const LANES: usize = 8;

/// Number of threads that read double-precision sums at the same time, and of the banks that hold these.
const SUM_LANES: usize = 16;

/// Entries are exchanged within windows of this size, which a warp loads at once, in any order.
const WINDOW: usize = 32;

/// Passes over all pairs of a window. On an H200 kernels gain 1 to 2 % by the first, up to 1 % by the second, and nothing
/// by more.
const ROUNDS: usize = 2;

/// Reorders the first `privates` entries of a block among themselves, likewise the others, and each entry's
/// slots.
pub(super) fn spread(entries: &mut Vec<Entry>, slots: &mut [u16], privates: usize) {
    let mut reads = Reads::new(entries, slots);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    for _ in 0..ROUNDS {
        for q in 0..order.len() {
            for p in first_partner(privates, q)..q {
                if reads.exchange_if_better((order[p], p), (order[q], q)) {
                    order.swap(p, q);
                }
            }
        }
    }
    *entries = order
        .iter()
        .map(|&n| std::mem::take(&mut entries[n]))
        .collect();
    for entries in entries.chunks(SUM_LANES) {
        order_slots(entries, slots);
    }
}

/// The first position whose entry may be exchanged with that at `q`.
fn first_partner(privates: usize, q: usize) -> usize {
    let window = q - q % WINDOW;
    if q < privates {
        window
    } else {
        window.max(privates)
    }
}

/// The entries read at the same time. Entries are named by their original position; their bank follows from
/// the current one.
struct Reads {
    /// The groups of [`LANES`] threads that read each entry, ascending.
    groups: Rows,
    /// The same as bits, `[entry][words]`.
    bits: Vec<u64>,
    words: usize,
    /// The entries that each group reads.
    members: Rows,
    /// `[entry][bank]`: number of entries that its groups read in that bank, summed over the groups and
    /// including itself.
    load: Vec<[i32; LANES]>,
}

/// Rows one after the other.
struct Rows {
    /// `[row + 1]`
    starts: Vec<usize>,
    all: Vec<u16>,
}

impl Rows {
    fn of(&self, row: usize) -> &[u16] {
        &self.all[self.starts[row]..self.starts[row + 1]]
    }

    /// The rows that have each number.
    fn transposed(&self) -> Self {
        let count = self
            .all
            .iter()
            .map(|&n| usize::from(n) + 1)
            .max()
            .unwrap_or(0);
        let mut starts = vec![0; count + 1];
        self.all
            .iter()
            .for_each(|&n| starts[usize::from(n) + 1] += 1);
        for n in 0..count {
            starts[n + 1] += starts[n];
        }
        let (mut next, mut all) = (starts.clone(), vec![0; self.all.len()]);
        for row in 0..self.starts.len() - 1 {
            for &n in self.of(row) {
                all[next[usize::from(n)]] = row as u16;
                next[usize::from(n)] += 1;
            }
        }
        Self { starts, all }
    }
}

impl Reads {
    fn new(entries: &[Entry], slots: &[u16]) -> Self {
        let mut groups = Rows {
            starts: vec![0],
            all: Vec::with_capacity(slots.len()),
        };
        for entry in entries {
            let first = groups.all.len();
            for slot in &slots[entry.slots.clone()] {
                let group = slot / LANES as u16;
                if groups.all[first..].last() != Some(&group) {
                    groups.all.push(group);
                }
            }
            groups.starts.push(groups.all.len());
        }
        let members = groups.transposed();
        let words = members.starts.len().div_ceil(64);
        let mut bits = vec![0; entries.len() * words];
        for entry in 0..entries.len() {
            for &group in groups.of(entry) {
                bits[entry * words + usize::from(group) / 64] |= 1 << (group % 64);
            }
        }
        let mut reads = Self {
            bits,
            words,
            load: vec![[0; LANES]; entries.len()],
            members,
            groups,
        };
        for entry in 0..entries.len() {
            for &group in reads.groups.of(entry) {
                for &member in reads.members.of(usize::from(group)) {
                    reads.load[usize::from(member)][entry % LANES] += 1;
                }
            }
        }
        reads
    }

    /// Number of groups that read both entries.
    fn common(&self, e: usize, f: usize) -> u32 {
        let of = |entry: usize| &self.bits[entry * self.words..][..self.words];
        let pairs = of(e).iter().zip(of(f));
        pairs.map(|(e, f)| (e & f).count_ones()).sum()
    }

    /// Counts an entry in another bank.
    fn shift(&mut self, entry: usize, [from, to]: [usize; 2]) {
        for &group in self.groups.of(entry) {
            for &member in self.members.of(usize::from(group)) {
                let load = &mut self.load[usize::from(member)];
                load[from] -= 1;
                load[to] += 1;
            }
        }
    }

    /// Exchanges two entries, each given with its position, if that leaves fewer pairs of entries of a
    /// group in the same bank. Returns whether it did.
    fn exchange_if_better(&mut self, (e, p): (usize, usize), (f, q): (usize, usize)) -> bool {
        let (a, b) = (p % LANES, q % LANES);
        let (of_e, of_f) = (self.groups.of(e), self.groups.of(f));
        // Assuming no group reads both; such groups do not change.
        let only = self.load[e][a] - self.load[e][b] + self.load[f][b] - self.load[f][a];
        let only = only - (of_e.len() + of_f.len()) as i32;
        let most = of_e.len().min(of_f.len()) as i32;
        if a == b || only + 2 * most <= 0 {
            return false;
        }
        let both = self.common(e, f) as i32;
        if only + 2 * both <= 0 {
            return false;
        }
        self.shift(e, [a, b]);
        self.shift(f, [b, a]);
        true
    }
}

/// Orders the slots for the sums, in which the k-th slots of all entries are read at the same time: entries
/// with the fewest slots left choose first, each the slot whose bank is used least.
fn order_slots(entries: &[Entry], slots: &mut [u16]) {
    let most = entries.iter().map(|entry| entry.slots.len()).max();
    for k in 0..most.unwrap_or(0) {
        let mut load = [0; SUM_LANES];
        let left = |entry: &Entry| entry.slots.end.min(entry.slots.start + k)..entry.slots.end;
        let mut order = [0; SUM_LANES];
        let order = &mut order[..entries.len()];
        order
            .iter_mut()
            .enumerate()
            .for_each(|(n, place)| *place = n);
        order.sort_by_key(|&n| left(&entries[n]).len());
        for &n in &*order {
            let left = &mut slots[left(&entries[n])];
            let bank = |slot: u16| usize::from(slot) % SUM_LANES;
            let best = (0..left.len()).min_by_key(|&k| load[bank(left[k])]);
            if let Some(best) = best {
                left[..=best].rotate_right(1);
                load[bank(left[0])] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Number of accesses that the groups of threads need to read everything: one per entry in the fullest
    /// bank.
    fn accesses(entries: &[Entry], slots: &[u16]) -> usize {
        let most = |members: &[u16]| {
            let mut load = [0; LANES];
            for &entry in members {
                load[usize::from(entry) % LANES] += 1;
            }
            load.into_iter().max().unwrap_or(0)
        };
        let members = Reads::new(entries, slots).members;
        let groups = 0..members.starts.len() - 1;
        groups.map(|group| most(members.of(group))).sum()
    }

    #[test]
    fn fewer_accesses_and_nothing_lost() {
        let mut random = rand::rngs::StdRng::seed_from_u64(7);
        let mut of_nodes = vec![Vec::new(); 230];
        for slot in 0..1152 {
            of_nodes[random.random_range(0..230)].push(slot);
        }
        let mut slots = of_nodes.concat();
        let entry = |at: &mut usize, node: usize| {
            *at += of_nodes[node].len();
            Some(Entry {
                node: node as u32,
                slots: *at - of_nodes[node].len()..*at,
            })
        };
        let mut entries: Vec<Entry> = (0..230).scan(0, entry).collect();
        let before = accesses(&entries, &slots);
        spread(&mut entries, &mut slots, 100);
        let after = accesses(&entries, &slots);
        assert!(5 * after < 4 * before, "{after} of {before}");
        for (place, entry) in entries.iter().enumerate() {
            assert_eq!(entry.node as usize / WINDOW, place / WINDOW);
            assert_eq!(entry.node < 100, place < 100);
            let mut own = slots[entry.slots.clone()].to_vec();
            own.sort_unstable();
            assert_eq!(own, of_nodes[entry.node as usize]);
        }
    }
}
