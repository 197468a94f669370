//! Pairs of columns beside each other: each of the two adds for both along one of the lines of nodes that they share.

use rayon::prelude::*;

/// Neither gives nor takes.
const NONE: u32 = 3;
/// A place without a column.
const ABSENT: u32 = 1 << 6;

/// Columns in pairs.
pub(super) struct Pairs {
    /// The column at each place, two and two; places without one repeat the last.
    pub(super) columns: Vec<u32>,
    /// What each exchanges with the other of its pair: the corner of its triangle whose contributions it gives, the one whose
    /// contributions it takes, and that corner of the other, by two bits each; then [`ABSENT`].
    pub(super) exchanges: Vec<u32>,
}

impl Pairs {
    /// Pairs of columns with these nodes at the corners of their lowest triangles. A column takes a free
    /// neighbour if it has one; those with one left go first.
    pub(super) fn new(corners: &[[u32; 3]]) -> Self {
        let neighbours = neighbours(corners);
        let of = |column: u32| {
            let all = neighbours[column as usize].iter();
            all.copied().filter(|&other| other != u32::MAX)
        };
        let mut free: Vec<u8> = (0..corners.len() as u32)
            .map(|column| of(column).count() as u8)
            .collect();
        let mut is_placed = vec![false; corners.len()];
        let (mut pairs, mut single) = (Vec::new(), None);
        let (mut urgent, mut rest) = (Vec::new(), 0..corners.len() as u32);
        while let Some(column) = urgent.pop().or_else(|| rest.next()) {
            if is_placed[column as usize] {
                continue;
            }
            is_placed[column as usize] = true;
            let others = of(column).filter(|&other| !is_placed[other as usize]);
            let other = others.min_by_key(|&other| free[other as usize]);
            match (other, single.take()) {
                (Some(other), waiting) => {
                    is_placed[other as usize] = true;
                    pairs.push([column, other]);
                    single = waiting;
                }
                (None, Some(waiting)) => pairs.push([waiting, column]),
                (None, None) => single = Some(column),
            }
            let placed = [Some(column), other].into_iter().flatten();
            for neighbour in placed.flat_map(&of) {
                let free = &mut free[neighbour as usize];
                *free = free.saturating_sub(1);
                if *free == 1 {
                    urgent.push(neighbour);
                }
            }
        }
        let exchanges = pairs
            .iter()
            .flat_map(|&[a, b]| exchanges(corners[a as usize], corners[b as usize]));
        let mut exchanges: Vec<u32> = exchanges.collect();
        let mut columns = pairs.concat();
        if let Some(single) = single {
            columns.extend([single, single]);
            exchanges.extend([NONE | NONE << 2, NONE | NONE << 2 | ABSENT]);
        }
        Self { columns, exchanges }
    }
}

/// The columns beside each one, across its edges; `u32::MAX` where there is none, or several.
fn neighbours(corners: &[[u32; 3]]) -> Vec<[u32; 3]> {
    // The columns at each node, one list after the other.
    let all = corners.as_flattened();
    let mut starts = vec![0_u32; all.iter().max().map_or(0, |&most| most as usize + 1)];
    for &node in all {
        starts[node as usize] += 1;
    }
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    let mut columns = vec![0; all.len()];
    for (place, &node) in all.iter().enumerate().rev() {
        starts[node as usize] -= 1;
        columns[starts[node as usize] as usize] = (place / 3) as u32;
    }
    starts.push(all.len() as u32);
    let at = |node: u32| {
        let [start, end] = [0, 1].map(|n| starts[node as usize + n] as usize);
        &columns[start..end]
    };
    let beside = |column: usize, [from, to]: [u32; 2]| {
        let others = at(from).iter().copied();
        let mut others = others
            .filter(|&other| other as usize != column && corners[other as usize].contains(&to));
        let first = others.next();
        first
            .filter(|_| others.next().is_none())
            .unwrap_or(u32::MAX)
    };
    let of = |(column, &[a, b, c]): (usize, &[u32; 3])| {
        [[a, b], [b, c], [c, a]].map(|edge| beside(column, edge))
    };
    corners.par_iter().enumerate().map(of).collect()
}

/// What two columns exchange along two lines that they share; nothing if they do not.
fn exchanges(a: [u32; 3], b: [u32; 3]) -> [u32; 2] {
    let at = |of: [u32; 3], node: u32| of.iter().position(|&other| other == node);
    let mut shared = a.iter().copied().filter(|&node| at(b, node).is_some());
    let first = shared.next();
    let (Some(first), Some(second)) = (first, shared.find(|&node| Some(node) != first)) else {
        return [NONE | NONE << 2; 2];
    };
    // `a` adds along the first, `b` along the second.
    let places = [a, b].map(|of| [first, second].map(|node| at(of, node).unwrap_or(0) as u32));
    let [[a_first, a_second], [b_first, b_second]] = places;
    [
        a_second | a_first << 2 | b_first << 4,
        b_first | b_second << 2 | a_second << 4,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles of a grid, each cut into two.
    fn grid(n: u32) -> Vec<[u32; 3]> {
        let at = |i: u32, j: u32| j * (n + 1) + i;
        (0..n * n)
            .flat_map(|cell| {
                let (i, j) = (cell % n, cell / n);
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
                [[a, b, d], [d, c, a]]
            })
            .collect()
    }

    #[test]
    fn all_columns_of_a_grid_have_partners() {
        let corners = grid(7);
        let Pairs { columns, exchanges } = Pairs::new(&corners);
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..98).collect::<Vec<u32>>());
        for (pair, both) in columns.chunks(2).zip(exchanges.chunks(2)) {
            let of = [0, 1].map(|n| corners[pair[n] as usize]);
            for n in 0..2 {
                let [given, taken, other] = [0, 2, 4].map(|bits| (both[n] >> bits & 3) as usize);
                let of_other = (both[1 - n] & 3) as usize;
                assert_eq!((of[n][taken], other), (of[1 - n][other], of_other));
                assert_ne!(given, taken);
            }
        }
    }

    #[test]
    fn few_columns_in_any_order_have_no_partner() {
        let mut corners = grid(40);
        // Prime to their number, which is 3200.
        let step = 1237;
        corners = (0..corners.len())
            .map(|n| corners[n * step % 3200])
            .collect();
        let Pairs { exchanges, .. } = Pairs::new(&corners);
        let alone = exchanges.iter().filter(|&&it| it & 3 == NONE).count();
        assert!(alone <= 32, "{alone}");
    }

    #[test]
    fn columns_without_partners_exchange_nothing() {
        let none = NONE | NONE << 2;
        // The last one across a period of one triangle.
        let corners = [[0, 1, 2], [3, 4, 5], [2, 6, 7], [6, 6, 7], [8, 8, 6]];
        let Pairs { columns, exchanges } = Pairs::new(&corners);
        assert_eq!(columns, [0, 1, 2, 3, 4, 4]);
        assert_eq!(exchanges[..2], [none; 2]);
        assert_eq!(exchanges[4..], [none, none | ABSENT]);
        assert_eq!(self::exchanges(corners[3], corners[4]), [none; 2]);
    }
}
