//! Lines of nodes, each coupled with the next more strongly than with others.

use crate::vector::Csr;
use femto_fem::parallel;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A node's other couplings are weak if they are below this part of those along its line. On thin bilinear or trilinear cells
/// they are a quarter of them, at boundaries half.
const BESIDE: f64 = 0.6;

/// Lines are worth while if at least this part of the nodes is on lines of several.
const MANY: f64 = 0.25;

/// All nodes in lines, of which many may have one node.
pub(in crate::multigrid) struct Chains {
    /// The nodes, line after line, the longest first.
    nodes: Vec<u32>,
    /// Start of each line in `nodes`, and the end of the last.
    firsts: Vec<u32>,
    /// The line of each node, and its place there.
    pub(super) places: Vec<[u32; 2]>,
    /// Whether rings were cut.
    pub(super) has_rings: bool,
}

impl Chains {
    /// Along couplings, given with their strengths, that both of their nodes have as one of at most two that are much stronger
    /// than the others, and the part of the nodes that are on lines of several. `None` unless it is a good one.
    pub(in crate::multigrid) fn of_couplings(strengths: &Csr) -> (Option<Self>, f64) {
        let dominant = |node: usize| {
            let mut strongest = [(0.0, NONE); 3];
            for (other, strength) in strengths.row(node) {
                if other as usize != node && strength > strongest[2].0 {
                    strongest[2] = (strength, other);
                    strongest.sort_by(|a, b| b.0.total_cmp(&a.0));
                }
            }
            let [first, second, third] = strongest;
            if third.0 < BESIDE * second.0 {
                [first.1, second.1]
            } else if second.0 < BESIDE * first.0 {
                [first.1, NONE]
            } else {
                [NONE; 2]
            }
        };
        let chosen = parallel::map(strengths.rows(), dominant);
        let is_linked = |node: usize| usize::from(next(&chosen, node as u32, NONE).is_some());
        let linked = parallel::reduce(chosen.len(), 0, is_linked, |a, b| a + b);
        let part = linked as f64 / chosen.len().max(1) as f64;
        ((part >= MANY).then(|| Self::new(&chosen)), part)
    }

    /// Through the neighbours that each node has chosen, at most two, and that have chosen it. Rings are cut.
    pub(super) fn new(chosen: &[[u32; 2]]) -> Self {
        let next = |node, before| next(chosen, node, before);
        let is_end = |node: u32| next(node, NONE).is_none_or(|other| next(node, other).is_none());
        let walk = |first: u32, nodes: &mut Vec<u32>| {
            let (mut before, mut at) = (NONE, Some(first));
            while let Some(node) = at {
                nodes.push(node);
                at = next(node, before).filter(|&it| it != first);
                before = node;
            }
        };
        // Each line is found from both ends, and kept from one.
        let count = chosen.len() as u32;
        let mut nodes = parallel::gather(chosen.len(), |first, nodes: &mut Vec<u32>| {
            let (first, before) = (first as u32, nodes.len());
            if is_end(first) {
                walk(first, nodes);
                match nodes.last() {
                    Some(&last) if last < first => nodes.truncate(before),
                    _ => nodes.push(NONE),
                }
            }
        });
        let lines = nodes.split(|&node| node == NONE);
        let mut lengths: Vec<u32> = lines.map(|line| line.len() as u32).collect();
        // Nothing is after the last.
        lengths.pop();
        nodes.retain(|&node| node != NONE);
        let has_rings = nodes.len() < chosen.len();
        if has_rings {
            let mut is_taken = vec![false; chosen.len()];
            nodes
                .iter()
                .for_each(|&node| is_taken[node as usize] = true);
            for first in 0..count {
                if !is_taken[first as usize] {
                    let before = nodes.len();
                    walk(first, &mut nodes);
                    let taken = nodes[before..].iter();
                    taken.for_each(|&node| is_taken[node as usize] = true);
                    lengths.push((nodes.len() - before) as u32);
                }
            }
        }
        Self {
            has_rings,
            ..Self::by_length(&nodes, &lengths)
        }
    }

    /// Lines given one after the other. Those of one length stay in their order, which is about that of the L-vector.
    fn by_length(mut nodes: &[u32], lengths: &[u32]) -> Self {
        let own = lengths.iter().map(|&length| {
            let (line, rest) = nodes.split_at(length as usize);
            nodes = rest;
            line
        });
        let mut lines: Vec<&[u32]> = own.collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
        let nodes = lines.concat();
        let (mut firsts, mut places) = (vec![0], vec![[0; 2]; nodes.len()]);
        for (number, line) in (0..).zip(lines) {
            for (place, &node) in (0..).zip(line) {
                places[node as usize] = [number, place];
            }
            firsts.push(firsts[number as usize] + line.len() as u32);
        }
        Self {
            nodes,
            firsts,
            places,
            has_rings: false,
        }
    }

    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The nodes of a line.
    pub(super) fn line(&self, line: usize) -> &[u32] {
        &self.nodes[self.firsts[line] as usize..self.firsts[line + 1] as usize]
    }

    /// These couplings without those of nodes on lines of several with nodes that are not the next on the same line.
    pub(in crate::multigrid) fn alone(&self, strong: &Csr) -> Csr {
        let is_alone = |line: u32| self.line(line as usize).len() == 1;
        let size = (strong.rows(), strong.columns());
        Csr::by_rows(size, |node, entries| {
            let own = self.places[node];
            entries.extend(strong.row(node).filter(|&(other, _)| {
                let there = self.places[other as usize];
                match own[0] == there[0] {
                    true => own[1].abs_diff(there[1]) <= 1,
                    false => is_alone(own[0]) && is_alone(there[0]),
                }
            }));
        })
    }
}

/// The node after `node` on its line, coming from `before`: each has chosen the other.
fn next(chosen: &[[u32; 2]], node: u32, before: u32) -> Option<u32> {
    let others = chosen[node as usize].into_iter();
    let mut others = others.filter(|&other| other != NONE && other != node);
    others.find(|&other| other != before && chosen[other as usize].contains(&node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(chains: &Chains) -> Vec<Vec<u32>> {
        (0..chains.len())
            .map(|line| chains.line(line).to_vec())
            .collect()
    }

    #[test]
    fn lines_follow_dominant_couplings() {
        // A chain 0-1-2-3 with couplings of 1 and 2, weak ones to 4 and 5, and 4-5-6 all alike.
        let pairs = [
            (0, 1, 1.0),
            (1, 2, 2.0),
            (2, 3, 1.0),
            (1, 4, 0.2),
            (2, 5, 0.2),
            (4, 5, 0.3),
            (5, 6, 0.3),
            (4, 6, 0.3),
        ];
        let couplings = Csr::by_rows((7, 7), |row, entries| {
            entries.push((row as u32, f64::INFINITY));
            for &(a, b, value) in &pairs {
                entries.extend((a == row).then_some((b as u32, value)));
                entries.extend((b == row).then_some((a as u32, value)));
            }
            entries.sort_by_key(|entry| entry.0);
        });
        let chains = Chains::of_couplings(&couplings).0.unwrap();
        assert_eq!(
            sorted(&chains),
            [vec![0, 1, 2, 3], vec![4], vec![5], vec![6]]
        );
        // 0-1 alone.
        let few = Csr::by_rows((9, 9), |row, entries| {
            entries.extend((row < 2).then(|| (1 - row as u32, 1.0)));
        });
        let (chains, part) = Chains::of_couplings(&few);
        assert!(chains.is_none() && (part - 2.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn lines_have_both_ends_and_rings_are_cut() {
        const N: u32 = NONE;
        // 4-0-3, where 5 chooses 0 in vain, a ring of 1, 2, 6, and 7 alone, which chooses itself.
        let chosen = [
            [3, 4],
            [2, 6],
            [6, 1],
            [0, N],
            [N, 0],
            [0, N],
            [1, 2],
            [7, N],
        ];
        let chains = Chains::new(&chosen);
        assert_eq!(
            sorted(&chains),
            [vec![3, 0, 4], vec![1, 2, 6], vec![5], vec![7]]
        );
        assert!(chains.has_rings);
    }
}
