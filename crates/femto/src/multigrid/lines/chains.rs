//! Lines of nodes, each coupled with the next more strongly than with others.

use crate::vector::Csr;
use rayon::prelude::*;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A node's other couplings are weak if they are below this part of those along its line. On thin bilinear or trilinear cells
/// they are a quarter of them, at boundaries half.
const BESIDE: f64 = 0.6;

/// Lines are worth while if at least this part of the nodes is on lines of several.
const MANY: f64 = 0.25;

/// All nodes in lines, of which many may have one node.
pub(in crate::multigrid) struct Chains {
    /// The nodes, line after line.
    nodes: Vec<u32>,
    /// Start of each line in `nodes`, and the end of the last.
    firsts: Vec<u32>,
    /// Whether rings were cut.
    pub(super) has_rings: bool,
}

impl Chains {
    /// Along couplings, given with their strengths, that both of their nodes have as one of at most two that are much stronger
    /// than the others.
    pub(in crate::multigrid) fn of_couplings(strengths: &Csr) -> Self {
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
        let nodes = (0..strengths.rows()).into_par_iter();
        Self::new(&nodes.map(dominant).collect::<Vec<_>>())
    }

    /// Through the neighbours that each node has chosen, at most two, and that have chosen it. Rings are cut.
    pub(super) fn new(chosen: &[[u32; 2]]) -> Self {
        let next = |node: u32, before: u32| {
            let others = chosen[node as usize].into_iter();
            let mut others = others.filter(|&other| other != NONE && other != node);
            others.find(|&other| other != before && chosen[other as usize].contains(&node))
        };
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
        let parts = (0..count).into_par_iter().filter(|&node| is_end(node));
        let parts = parts.fold(Self::none, |mut part, first| {
            let before = part.nodes.len();
            walk(first, &mut part.nodes);
            match part.nodes.last() {
                Some(&last) if last < first => part.nodes.truncate(before),
                _ => part.firsts.push(part.nodes.len() as u32),
            }
            part
        });
        let mut all = parts
            .collect::<Vec<_>>()
            .into_iter()
            .fold(Self::none(), |mut all, part| {
                let before = all.nodes.len() as u32;
                all.firsts
                    .extend(part.firsts[1..].iter().map(|&end| before + end));
                all.nodes.extend(part.nodes);
                all
            });
        all.has_rings = all.nodes.len() < chosen.len();
        if all.has_rings {
            let mut is_taken = vec![false; chosen.len()];
            let taken = all.nodes.iter();
            taken.for_each(|&node| is_taken[node as usize] = true);
            for first in 0..count {
                if !is_taken[first as usize] {
                    let before = all.nodes.len();
                    walk(first, &mut all.nodes);
                    let taken = all.nodes[before..].iter();
                    taken.for_each(|&node| is_taken[node as usize] = true);
                    all.firsts.push(all.nodes.len() as u32);
                }
            }
        }
        all
    }

    /// No lines of no nodes.
    fn none() -> Self {
        Self {
            nodes: Vec::new(),
            firsts: vec![0],
            has_rings: false,
        }
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// These couplings without those of nodes on lines of several with nodes that are not the next on the same line.
    pub(in crate::multigrid) fn alone(&self, strong: &Csr) -> Csr {
        let mut lines = vec![[NONE, 0]; self.nodes()];
        for (number, ends) in self
            .firsts
            .windows(2)
            .enumerate()
            .filter(|(_, e)| e[1] - e[0] > 1)
        {
            for at in ends[0]..ends[1] {
                lines[self.nodes[at as usize] as usize] = [number as u32, at];
            }
        }
        let size = (strong.rows(), strong.columns());
        Csr::by_rows(size, |node, entries| {
            let own = lines[node];
            entries.extend(strong.row(node).filter(|&(other, _)| {
                let there = lines[other as usize];
                match own[0] == NONE && there[0] == NONE {
                    true => true,
                    false => own[0] == there[0] && own[1].abs_diff(there[1]) <= 1,
                }
            }));
        })
    }

    /// Whether a good part of the nodes is on lines of several.
    pub(in crate::multigrid) fn are_many(&self) -> bool {
        self.linked() as f64 >= MANY * self.nodes() as f64
    }

    /// Number of nodes on lines of several.
    fn linked(&self) -> usize {
        let lines = self
            .firsts
            .windows(2)
            .map(|ends| (ends[1] - ends[0]) as usize);
        lines.filter(|&length| length > 1).sum()
    }

    /// The lines, the longest first.
    pub(in crate::multigrid) fn by_length(&self) -> Vec<&[u32]> {
        let line = |ends: &[u32]| &self.nodes[ends[0] as usize..ends[1] as usize];
        let mut lines: Vec<&[u32]> = self.firsts.windows(2).map(line).collect();
        // Lines of one length stay in their order, which is about that of the L-vector.
        lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(chains: &Chains) -> Vec<Vec<u32>> {
        let lines = chains.by_length().into_iter().map(|line| line.to_vec());
        lines.collect()
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
        let chains = Chains::of_couplings(&couplings);
        assert_eq!(
            sorted(&chains),
            [vec![0, 1, 2, 3], vec![4], vec![5], vec![6]]
        );
        assert_eq!((chains.nodes(), chains.linked()), (7, 4));
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
        assert_eq!((chains.linked(), chains.has_rings), (6, true));
    }
}
