//! Fans of cells: neighbours around a common vertex (triangles) or edge (tetrahedra).

use crate::family::concatenated::concatenated;
use rayon::prelude::*;

/// Marks a missing node or cell.
pub const NONE: u32 = u32::MAX;

/// Number of cells searched for neighbours together; their facets can be named by 64 bits.
const RANGE: usize = 1 << 13;

/// Every cell of a mesh, in exactly one fan.
///
/// The cells of a fan share a hinge, a vertex or an edge; with the nodes r_0, r_1, ... of a ring around it,
/// cell k has the nodes (hinge, r_k, r_k+1). Evaluating a fan takes n + dim nodes instead of n (dim + 1).
/// An edge has about five tetrahedra around it, a vertex six triangles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fans {
    /// Maximum number of cells of a fan.
    pub most: usize,
    /// Places for the nodes of a fan: those of one cell, and one for each further cell.
    pub places: usize,
    /// `[fan][place]`: the hinge, then the ring; [`NONE`] at the end of shorter fans.
    pub nodes: Vec<u32>,
    /// `[fan][place]`, with `most` places: its cells; [`NONE`] at the end of shorter fans.
    pub cells: Vec<u32>,
}

impl Fans {
    /// Each cell on its own, with its nodes in their order.
    pub fn single(table: &[u32], nodes: usize) -> Self {
        Self {
            most: 1,
            places: nodes,
            nodes: table.to_vec(),
            cells: (0..(table.len() / nodes) as u32).collect(),
        }
    }

    /// Fans of up to `most` cells of a mesh of simplices, `table` `[cell][vertex]`; consecutive cells
    /// should be close to each other. The order of a cell's nodes is an even permutation of that in the
    /// table. Within each `fans_per_block` fans, longer ones come first, so that neighbouring threads have
    /// similar work.
    pub fn new(table: &[u32], nodes: usize, most: usize, fans_per_block: usize) -> Self {
        if most <= 1 {
            return Self::single(table, nodes);
        }
        let places = nodes + most - 1;
        let ranges = table.par_chunks(nodes * RANGE).enumerate();
        let of_range = |(range, table): (usize, &[u32])| {
            let first = (range * RANGE) as u32;
            Range::new(table, nodes).fans(first, [places, most])
        };
        let rows: Vec<[Vec<u32>; 2]> = ranges.map(of_range).collect();
        let mut nodes = concatenated(&rows, |rows| &rows[0]);
        let mut cells = concatenated(&rows, |rows| &rows[1]);
        let per_block = fans_per_block.max(1);
        let blocks = nodes.par_chunks_mut(per_block * places);
        blocks
            .zip(cells.par_chunks_mut(per_block * most))
            .for_each(|(nodes, cells)| {
                let len = |row: &[u32]| row.iter().filter(|&&cell| cell != NONE).count();
                let lens: Vec<usize> = cells.chunks_exact(most).map(len).collect();
                let mut order: Vec<usize> = (0..lens.len()).collect();
                order.sort_by_key(|&fan| usize::MAX - lens[fan]);
                for (rows, len) in [(nodes, places), (cells, most)] {
                    let before = rows.to_vec();
                    for (row, &fan) in rows.chunks_exact_mut(len).zip(&order) {
                        row.copy_from_slice(&before[fan * len..][..len]);
                    }
                }
            });
        Self {
            most,
            places,
            nodes,
            cells,
        }
    }

    /// Number of fans.
    pub fn len(&self) -> usize {
        self.nodes.len() / self.places.max(1)
    }

    /// Whether there are no fans.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The cells in the order in which blocks of `fans_per_block` fans read their data,
    /// `[block][cell of the fan][fan of the block]`; [`NONE`] for missing ones.
    pub fn order(&self, fans_per_block: usize) -> Vec<u32> {
        let blocks = self.len().div_ceil(fans_per_block);
        let of_block = (fans_per_block * self.most).max(1);
        let mut order = vec![0; blocks * of_block];
        let own = order.par_chunks_mut(of_block);
        own.zip(self.cells.par_chunks(of_block))
            .for_each(|(order, cells)| {
                order.fill(NONE);
                for (n, &cell) in cells.iter().enumerate() {
                    let (fan, k) = (n / self.most, n % self.most);
                    order[k * fans_per_block + fan] = cell;
                }
            });
        order
    }
}

/// The hinge and the ring, and the cells.
#[derive(Clone, Debug, Default)]
struct Fan {
    nodes: Vec<u32>,
    cells: Vec<u32>,
}

impl Fan {
    /// Begins anew with nodes of the ring and cells.
    fn begin(&mut self, nodes: &[u32], cells: impl IntoIterator<Item = u32>) {
        self.nodes.clear();
        self.nodes.extend(nodes);
        self.cells.clear();
        self.cells.extend(cells);
    }
}

/// A fan to both sides of the cell that started it, without the hinge.
#[derive(Debug, Default)]
struct Sides {
    after: Fan,
    before: Fan,
}

/// Some cells, with their neighbours among themselves.
struct Range<'a> {
    table: &'a [u32],
    nodes: usize,
    /// `[cell][vertex]`: the cell beyond the facet opposite a vertex.
    neighbours: Vec<u32>,
    taken: Vec<bool>,
}

impl<'a> Range<'a> {
    fn new(table: &'a [u32], nodes: usize) -> Self {
        // The places of nodes, in the nodes' order: equal nodes get the same number.
        let mut places: Vec<u64> = table
            .iter()
            .zip(0..)
            .map(|(&node, at)| u64::from(node) << 32 | at)
            .collect();
        places.sort_unstable();
        let (mut numbers, mut next) = (vec![0; table.len()], 0);
        for equal in places.chunk_by(|a, b| a >> 32 == b >> 32) {
            equal
                .iter()
                .for_each(|&place| numbers[place as u32 as usize] = next);
            next += 1;
        }
        // Facets by these numbers, then the cell and the opposite vertex: 3 · 15 + 13 + 2 bits.
        let mut facets = Vec::with_capacity(table.len());
        for (cell, own) in numbers.chunks_exact(nodes).enumerate() {
            for opposite in 0..nodes {
                let mut facet = [0; 3];
                let others = (0..nodes).filter(|&vertex| vertex != opposite);
                for (corner, vertex) in facet.iter_mut().zip(others) {
                    *corner = own[vertex];
                }
                facet.sort_unstable();
                let name = facet.iter().fold(0, |name, corner| name << 15 | corner);
                facets.push(name << 15 | (cell as u64) << 2 | opposite as u64);
            }
        }
        facets.sort_unstable();
        let mut neighbours = vec![NONE; table.len()];
        for pair in facets.windows(2) {
            if pair[0] >> 15 == pair[1] >> 15 {
                let place = |facet: u64| {
                    let (cell, opposite) = ((facet >> 2) & 0x1fff, facet & 3);
                    (cell as u32, cell as usize * nodes + opposite as usize)
                };
                let ((a, at_a), (b, at_b)) = (place(pair[0]), place(pair[1]));
                (neighbours[at_a], neighbours[at_b]) = (b, a);
            }
        }
        Self {
            table,
            nodes,
            neighbours,
            taken: vec![false; table.len() / nodes],
        }
    }

    fn cell(&self, cell: u32) -> &[u32] {
        &self.table[cell as usize * self.nodes..][..self.nodes]
    }

    /// The nodes and the cells of the fans, `[fan][places]` and `[fan][most]`, with [`NONE`] at the end of shorter fans:
    /// each cell in turn that is not in a fan yet starts the longest fan around one of its hinges. Cells are counted from
    /// `first` on.
    fn fans(mut self, first: u32, [places, most]: [usize; 2]) -> [Vec<u32>; 2] {
        let mut rows = [Vec::new(), Vec::new()];
        let (mut fan, mut best, mut sides) = (Fan::default(), Fan::default(), Sides::default());
        for cell in 0..self.taken.len() as u32 {
            if self.taken[cell as usize] {
                continue;
            }
            best.cells.clear();
            for a in 0..self.nodes {
                for b in a + 1..self.nodes {
                    self.fan((cell, [a, b], most), &mut sides, &mut fan);
                    if fan.cells.len() > best.cells.len() {
                        std::mem::swap(&mut fan, &mut best);
                    }
                }
            }
            for &cell in &best.cells {
                self.taken[cell as usize] = true;
            }
            let fans = rows[1].len() / most + 1;
            rows[0].extend(&best.nodes);
            rows[0].resize(fans * places, NONE);
            rows[1].extend(best.cells.iter().map(|cell| cell + first));
            rows[1].resize(fans * most, NONE);
        }
        rows
    }

    /// The fan of a cell whose vertices `ring` are on the ring and the others on the hinge.
    fn fan(
        &self,
        (cell, ring, most): (u32, [usize; 2], usize),
        Sides { after, before }: &mut Sides,
        fan: &mut Fan,
    ) {
        let own = self.cell(cell);
        let (mut turned, mut hinge) = ([0; 4], [NONE; 2]);
        let others = (0..self.nodes).filter(|vertex| !ring.contains(vertex));
        for (n, vertex) in others.chain(ring).enumerate() {
            turned[n] = vertex;
        }
        let hinge = &mut hinge[..self.nodes - 2];
        for (node, &vertex) in hinge.iter_mut().zip(&turned) {
            *node = own[vertex];
        }
        let mut ends = ring.map(|vertex| own[vertex]);
        if !is_even(&turned[..self.nodes]) {
            ends.reverse();
        }
        after.begin(&ends, [cell]);
        self.extend(hinge, (true, most), after);
        ends.reverse();
        before.begin(&ends, after.cells.iter().rev().copied());
        self.extend(hinge, (false, most), before);
        let nodes_before = before.nodes[2..].iter().rev();
        fan.nodes.clear();
        fan.nodes
            .extend(hinge.iter().chain(nodes_before).chain(&after.nodes));
        let cells_before = before.cells[after.cells.len()..].iter().rev();
        fan.cells.clear();
        fan.cells.extend(cells_before.chain(&after.cells));
    }

    /// Continues around the hinge from the last cell of `side`, whose nodes are the ring so far, in one direction.
    fn extend(&self, hinge: &[u32], (forward, most): (bool, usize), side: &mut Fan) {
        while side.cells.len() < most {
            let (&[.., left, kept], Some(&cell)) = (side.nodes.as_slice(), side.cells.last())
            else {
                return;
            };
            let own = self.cell(cell);
            let Some(vertex) = own.iter().position(|&node| node == left) else {
                return;
            };
            let next = self.neighbours[cell as usize * self.nodes + vertex];
            if next == NONE || self.taken[next as usize] || side.cells.contains(&next) {
                return;
            }
            let own = self.cell(next);
            let is_new = |node: &&u32| !hinge.contains(node) && **node != kept;
            let Some(&new) = own.iter().find(is_new) else {
                return;
            };
            let ends = if forward { [kept, new] } else { [new, kept] };
            let mut turned = [0; 4];
            for (place, node) in turned.iter_mut().zip(hinge.iter().chain(&ends)) {
                match own.iter().position(|other| other == node) {
                    Some(vertex) => *place = vertex,
                    None => return,
                }
            }
            if !is_even(&turned[..self.nodes]) {
                return;
            }
            side.cells.push(next);
            side.nodes.push(new);
        }
    }
}

/// Whether a permutation is even.
fn is_even(permutation: &[usize]) -> bool {
    let inversions = (0..permutation.len())
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .filter(|&(a, b)| permutation[a] > permutation[b]);
    inversions.count() % 2 == 0
}

#[cfg(test)]
mod tests {
    use super::super::samples::cut_squares;
    use super::*;

    /// Six tetrahedra around the diagonal of a cube, and one beyond a face of it.
    #[test]
    fn a_cube_is_one_fan() {
        let mut table = vec![];
        for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
            table.extend([0_u32, 7, a, b]);
        }
        table.extend([1, 3, 7, 8]);
        let fans = Fans::new(&table, 4, 6, 2);
        assert_eq!((fans.len(), fans.places), (2, 9));
        assert_eq!(fans.nodes[..9], [0, 7, 1, 3, 2, 6, 4, 5, 1]);
        assert_eq!(fans.cells[..6], [0, 1, 2, 3, 4, 5]);
        assert_eq!(fans.cells[6..], [6, NONE, NONE, NONE, NONE, NONE]);
        assert_eq!(fans.order(3)[..4], [0, 6, NONE, 1]);
        let short = Fans::new(&table, 4, 4, 8);
        assert_eq!((short.len(), short.places), (3, 7));
        assert_eq!(short.cells[..4], [0, 1, 2, 3]);
    }

    /// Each cell is in one fan, with its nodes in place and evenly permuted: on a grid of squares cut in
    /// two, with cells and their nodes in any order, some reflected.
    #[test]
    fn fans_have_every_cell_once() {
        let mut cells = cut_squares(40);
        for (n, cell) in cells.iter_mut().enumerate() {
            cell.rotate_left(n % 3);
            if n % 97 == 5 {
                cell.swap(0, 1);
            }
        }
        for most in [1, 2, 5, 8] {
            let fans = Fans::new(&cells.concat(), 3, most, 32);
            let mut found = vec![0; cells.len()];
            for (nodes, own) in fans.nodes.chunks(fans.places).zip(fans.cells.chunks(most)) {
                let len = own.iter().filter(|&&cell| cell != NONE).count();
                assert_eq!(nodes.iter().filter(|&&n| n != NONE).count(), len + 2);
                for (k, &cell) in own[..len].iter().enumerate() {
                    found[cell as usize] += 1;
                    let wanted = cells[cell as usize];
                    let turned = [nodes[0], nodes[1 + k], nodes[2 + k]];
                    let permutation = turned.map(|n| wanted.iter().position(|&w| w == n).unwrap());
                    assert!(is_even(&permutation), "{turned:?} is not {wanted:?}");
                }
            }
            assert!(found.iter().all(|&times| times == 1));
            let mean = cells.len() as f64 / fans.len() as f64;
            assert!(
                mean > 0.6 * most.min(6) as f64,
                "{mean} cells a fan of {most}"
            );
        }
    }
}
