//! Ordering the nodes of a block to avoid conflicts of shared memory banks.
//!
//! Shared memory serves 128 bytes at a time: eight threads that read pairs of doubles, unless different
//! pairs are in the same eighth of the banks. Pairs of floats are read by sixteen threads; their order
//! suits them less well.

/// A node of a block and its slots: place in the fan × fans of the block + fan within the block.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) node: u32,
    pub(super) slots: Vec<u16>,
}

/// Number of threads that read double-precision records at the same time, and of the banks that hold these.
/// Such threads read consecutive slots of a place, since the fans of a block are a multiple of this number.
const LANES: usize = 8;

/// Number of threads that read double-precision sums at the same time, and of the banks that hold these.
const SUM_LANES: usize = 16;

/// Entries are exchanged within windows of this size, which a warp loads at once, in any order.
const WINDOW: usize = 32;

/// Maximum number of passes over all pairs of a window.
const ROUNDS: usize = 4;

/// Reorders the first `privates` entries of a block among themselves, likewise the others, and each entry's
/// slots.
pub(super) fn spread(entries: &mut Vec<Entry>, privates: usize) {
    let mut reads = Reads::new(entries);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (p, q) in pairs(privates, order.len()) {
            if reads.exchange_if_better((order[p], p), (order[q], q)) {
                order.swap(p, q);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    *entries = order
        .iter()
        .map(|&n| std::mem::take(&mut entries[n]))
        .collect();
    for entries in entries.chunks_mut(SUM_LANES) {
        order_slots(entries);
    }
}

/// Pairs of positions whose entries may be exchanged.
fn pairs(privates: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    let first = move |q: usize| {
        let window = q - q % WINDOW;
        if q < privates {
            window
        } else {
            window.max(privates)
        }
    };
    (0..len).flat_map(move |q| (first(q)..q).map(move |p| (p, q)))
}

/// The entries read at the same time. Entries are named by their original position; their bank follows from
/// the current one.
struct Reads {
    /// `[entry]`: the groups of [`LANES`] threads that read the entry, ascending.
    groups: Vec<Vec<u16>>,
    /// `[group]`: the entries that the group reads.
    members: Vec<Vec<u16>>,
    /// `[entry][bank]`: number of entries that its groups read in that bank, summed over the groups and
    /// including itself.
    load: Vec<[i32; LANES]>,
}

impl Reads {
    fn new(entries: &[Entry]) -> Self {
        let groups = |entry: &Entry| {
            let mut groups: Vec<u16> = entry.slots.iter().map(|s| s / LANES as u16).collect();
            groups.sort_unstable();
            groups.dedup();
            groups
        };
        let groups: Vec<Vec<u16>> = entries.iter().map(groups).collect();
        let count = groups.iter().flatten().map(|&group| usize::from(group) + 1);
        let mut members = vec![Vec::new(); count.max().unwrap_or(0)];
        for (entry, groups) in (0..).zip(&groups) {
            for &group in groups {
                members[usize::from(group)].push(entry);
            }
        }
        let mut reads = Self {
            load: vec![[0; LANES]; entries.len()],
            groups,
            members,
        };
        for entry in 0..entries.len() {
            reads.count(entry, entry % LANES, 1);
        }
        reads
    }

    /// Adds `times` to the count of an entry in a bank.
    fn count(&mut self, entry: usize, bank: usize, times: i32) {
        for &group in &self.groups[entry] {
            for &member in &self.members[usize::from(group)] {
                self.load[usize::from(member)][bank] += times;
            }
        }
    }

    /// Exchanges two entries, each given with its position, if that leaves fewer pairs of entries of a
    /// group in the same bank. Returns whether it did.
    fn exchange_if_better(&mut self, (e, p): (usize, usize), (f, q): (usize, usize)) -> bool {
        let (a, b) = (p % LANES, q % LANES);
        let (of_e, of_f) = (&self.groups[e], &self.groups[f]);
        // Assuming no group reads both; such groups do not change.
        let only = self.load[e][a] - self.load[e][b] + self.load[f][b] - self.load[f][a];
        let only = only - (of_e.len() + of_f.len()) as i32;
        let most = of_e.len().min(of_f.len()) as i32;
        if a == b || only + 2 * most <= 0 {
            return false;
        }
        let both = of_e.iter().filter(|&group| of_f.contains(group)).count() as i32;
        if only + 2 * both <= 0 {
            return false;
        }
        for (entry, from, to) in [(e, a, b), (f, b, a)] {
            self.count(entry, from, -1);
            self.count(entry, to, 1);
        }
        true
    }
}

/// Orders the slots for the sums, in which the k-th slots of all entries are read at the same time: entries
/// with the fewest slots left choose first, each the slot whose bank is used least.
fn order_slots(entries: &mut [Entry]) {
    let mut left: Vec<Vec<u16>> = entries
        .iter_mut()
        .map(|entry| std::mem::take(&mut entry.slots))
        .collect();
    loop {
        let mut load = [0; SUM_LANES];
        let mut some: Vec<usize> = (0..left.len()).filter(|&n| !left[n].is_empty()).collect();
        if some.is_empty() {
            return;
        }
        some.sort_by_key(|&n| left[n].len());
        for n in some {
            let bank = |slot: u16| usize::from(slot) % SUM_LANES;
            let best = (0..left[n].len()).min_by_key(|&k| load[bank(left[n][k])]);
            let slot = left[n].remove(best.unwrap_or(0));
            load[bank(slot)] += 1;
            entries[n].slots.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Number of accesses that the groups of threads need to read everything: one per entry in the fullest
    /// bank.
    fn accesses(entries: &[Entry]) -> usize {
        let most = |members: &Vec<u16>| {
            let mut load = [0; LANES];
            for &entry in members {
                load[usize::from(entry) % LANES] += 1;
            }
            load.into_iter().max().unwrap_or(0)
        };
        Reads::new(entries).members.iter().map(most).sum()
    }

    #[test]
    fn fewer_accesses_and_nothing_lost() {
        let mut random = rand::rngs::StdRng::seed_from_u64(7);
        let mut entries: Vec<Entry> = (0..230)
            .map(|node| Entry {
                node,
                slots: vec![],
            })
            .collect();
        for slot in 0..1152 {
            let node = random.random_range(0..230);
            entries[node].slots.push(slot);
        }
        let before = accesses(&entries);
        let old = entries.clone();
        spread(&mut entries, 100);
        let after = accesses(&entries);
        assert!(5 * after < 4 * before, "{after} of {before}");
        for (place, entry) in entries.iter().enumerate() {
            assert_eq!(entry.node as usize / WINDOW, place / WINDOW);
            assert_eq!(entry.node < 100, place < 100);
            let mut slots = entry.slots.clone();
            slots.sort_unstable();
            assert_eq!(slots, old[entry.node as usize].slots);
        }
    }
}
