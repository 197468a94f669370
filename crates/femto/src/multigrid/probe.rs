//! The sparse matrix of an operator, from its products with few vectors.
//!
//! Nodes of one colour have no neighbour in common, so that a product with the sum of their unit vectors has
//! the columns of all of them, one beside the other (Curtis, Powell and Reid, On the estimation of sparse
//! Jacobian matrices, IMA Journal of Applied Mathematics 13, 1974). That takes any form, with any terms on
//! facets, on any device.

use super::MultigridError;
use crate::Number;
use crate::elements::places;
use crate::solve::LinearOperator;
use crate::vector::csr::parts;
use crate::vector::{Csr, SlantedNodes, VectorOps};
use femto_fem::space::{Block, Constraints, Slanted};
use femto_platform::device::Device;
use rayon::prelude::*;

/// Colours whose products are kept at a time: nearly always all, but a node with many neighbours must not make
/// vectors without end.
const TOGETHER: u32 = 64;

/// An operator with constraints, on a space of interleaved components.
pub(crate) struct Probe<'a, T: Number, D: Device> {
    /// It maps free vectors to free ones.
    pub(crate) operator: &'a dyn LinearOperator<T, D>,
    pub(crate) graph: &'a Graph,
    pub(crate) components: usize,
    pub(crate) constraints: &'a Constraints,
    pub(crate) slanted: &'a SlantedNodes<T, D>,
}

impl<T: Number, D: VectorOps<T>> Probe<'_, T, D> {
    /// The operator's matrix. Constrained entries have the row and column of the identity; nodes with constrained
    /// directions have, with their projector P, a multiple of 1 - P beside P A P, so that it has an inverse.
    pub(crate) fn matrix(&self, device: &D) -> Result<Csr, MultigridError> {
        let Graph {
            neighbours,
            colour_of,
            colours,
        } = self.graph;
        let (components, colours) = (self.components, *colours);
        let size = self.operator.size();
        let is_held = self.constraints.is_held(size);
        let [mut unit, mut product] = [device.zeros(size)?, device.zeros(size)?];
        let beside = |node: usize| neighbours.row_columns(node);
        let lengths =
            (0..neighbours.rows()).map(|node| beside(node).len() * components * components);
        let lengths: Vec<usize> = lengths.collect();
        let mut values = vec![T::default(); lengths.iter().sum()];
        // `[node][component][neighbour][its component]`
        let mut rows = parts(&mut values, &lengths);
        for first in (0..colours).step_by(TOGETHER as usize) {
            let group = first..colours.min(first + TOGETHER);
            // `[colour of the group][component][entry]`
            let mut products = Vec::new();
            for (colour, d) in (group.clone()).flat_map(|it| (0..components).map(move |d| (it, d)))
            {
                let entry = |(entry, &is_held): (usize, &bool)| {
                    let is_one = (colour_of[entry / components], entry % components) == (colour, d);
                    T::from_f64(if is_one && !is_held { 1.0 } else { 0.0 })
                };
                let mut x: Vec<T> = is_held.par_iter().enumerate().map(entry).collect();
                device.write(&x, &mut unit)?;
                device.project(self.slanted, &mut unit)?;
                self.operator.apply(&unit, &mut product)?;
                device.read(&product, &mut x)?;
                products.push(x);
            }
            rows.par_iter_mut().enumerate().for_each(|(node, rows)| {
                let beside = beside(node);
                for (place, &other) in beside.iter().enumerate() {
                    let colour = colour_of[other as usize];
                    if !group.contains(&colour) {
                        continue;
                    }
                    let columns = &products[(colour - first) as usize * components..];
                    for (c, row) in rows.chunks_exact_mut(beside.len() * components).enumerate() {
                        let own = row[place * components..][..components].iter_mut();
                        let entry = node * components + c;
                        own.zip(columns)
                            .for_each(|(own, column)| *own = column[entry]);
                    }
                }
            });
        }
        hold_slanted(self.constraints.slanted(), neighbours, &mut rows);
        let row = |row: usize, entries: &mut Vec<(u32, f64)>| {
            if is_held[row] {
                return entries.push((row as u32, 1.0));
            }
            let (node, c) = (row / components, row % components);
            let columns = beside(node).iter();
            let columns = columns
                .flat_map(|&node| (0..components).map(move |d| node as usize * components + d));
            let len = beside(node).len() * components;
            let free = columns.zip(&rows[node][c * len..][..len]);
            let free = free.filter(|&(column, _)| !is_held[column]);
            entries.extend(free.map(|(column, &value)| (column as u32, value.to_f64())));
        };
        Ok(Csr::by_rows((size, size), row))
    }
}

/// Adds a multiple of 1 - P to the own blocks of nodes with projectors P in `rows`,
/// `[node][component][neighbour][its component]`: the mean of the other eigenvalues.
fn hold_slanted<T: Number>(slanted: &Slanted, neighbours: &Csr<()>, rows: &mut [&mut [T]]) {
    let count = slanted.components;
    for (node, projector) in slanted.iter() {
        let beside = neighbours.row_columns(node);
        let place = beside.partition_point(|&other| (other as usize) < node);
        let at = |i: usize, j: usize| (i * beside.len() + place) * count + j;
        let own = |i: usize| rows[node][at(i, i)].to_f64();
        let free = projector.iter().step_by(count + 1);
        let mean = (0..count).map(own).sum::<f64>() / free.sum::<f64>();
        for (entry, part) in projector.iter().enumerate() {
            let (i, j) = (entry / count, entry % count);
            let held = f64::from(i == j) - part;
            rows[node][at(i, j)] += T::from_f64(mean * held);
        }
    }
}

/// The nodes of a space, coloured.
pub(crate) struct Graph {
    /// The nodes that share an element with each node, itself included.
    neighbours: Csr<()>,
    colour_of: Vec<u32>,
    colours: u32,
}

impl Graph {
    pub(crate) fn new(blocks: &[Block]) -> Self {
        Self::new_beside(blocks, || ()).0
    }

    /// Also runs something at the same time: colours are found one by one.
    pub(crate) fn new_beside<R>(blocks: &[Block], other: impl FnOnce() -> R) -> (Self, R) {
        let neighbours = neighbours(blocks);
        let (found, other) = std::thread::scope(|scope| {
            let found = scope.spawn(|| colours(&neighbours));
            let other = other();
            (found.join(), other)
        });
        let (colour_of, colours) = found.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let graph = Self {
            neighbours,
            colour_of,
            colours,
        };
        (graph, other)
    }
}

fn neighbours(blocks: &[Block]) -> Csr<()> {
    let scalars: Vec<Block> = blocks.iter().map(Block::scalar).collect();
    // The first place of each block, and the number of nodes of its elements.
    let (mut nodes_at, mut starts) = (Vec::new(), Vec::new());
    for block in &scalars {
        starts.push((nodes_at.len(), block.space.nodes_per_element()));
        nodes_at.extend(block.space.listed_nodes());
    }
    let places = places(&scalars);
    Csr::by_rows((places.rows(), places.rows()), |node, entries| {
        for &place in places.row_columns(node) {
            let block = starts.partition_point(|start| start.0 <= place as usize) - 1;
            let (start, per_element) = starts[block];
            let element = (place as usize - start) / per_element;
            let nodes = &nodes_at[start + element * per_element..][..per_element];
            entries.extend(nodes.iter().map(|&node| (node, ())));
        }
        entries.sort_unstable();
        entries.dedup();
    })
}

/// The colour of each node, chosen greedily, and the number of colours. The order is breadth first: on a box of
/// hexahedra that takes 41 or 42 colours, the order of the nodes 58 or 59.
fn colours(neighbours: &Csr<()>) -> (Vec<u32>, u32) {
    let (mut colour_of, mut colours) = (vec![0; neighbours.rows()], 0);
    let mut left = breadth_first(neighbours);
    // In rounds of as many colours as a mask has bits; one round is nearly always enough.
    while !left.is_empty() {
        let first = colours;
        // The colours of this round among the neighbours of each node.
        let mut near = vec![0_u128; neighbours.rows()];
        left.retain(|&node| {
            let beside = neighbours.row_columns(node as usize);
            let taken = beside
                .iter()
                .fold(0, |taken, &other| taken | near[other as usize]);
            let colour = (!taken).trailing_zeros();
            if colour == u128::BITS {
                return true;
            }
            beside
                .iter()
                .for_each(|&other| near[other as usize] |= 1 << colour);
            colour_of[node as usize] = first + colour;
            colours = colours.max(first + colour + 1);
            false
        });
    }
    (colour_of, colours)
}

/// All nodes, each before its neighbours' neighbours.
fn breadth_first(neighbours: &Csr<()>) -> Vec<u32> {
    let nodes = neighbours.rows();
    let (mut order, mut is_met) = (Vec::with_capacity(nodes), vec![false; nodes]);
    let mut done = 0;
    for start in 0..nodes as u32 {
        if !std::mem::replace(&mut is_met[start as usize], true) {
            order.push(start);
        }
        while done < order.len() {
            for &node in neighbours.row_columns(order[done] as usize) {
                if !std::mem::replace(&mut is_met[node as usize], true) {
                    order.push(node);
                }
            }
            done += 1;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A star of 300 nodes needs as many colours, in three rounds; a chain needs three.
    #[test]
    fn nodes_of_a_colour_have_no_neighbour_in_common() {
        let star = |row: u32| match row {
            0 => (0..300).collect::<Vec<u32>>(),
            _ => vec![0, row],
        };
        let chain = |row: u32| (row.saturating_sub(1)..(row + 2).min(50)).collect::<Vec<u32>>();
        let graph = |nodes: u32, row: &(dyn Fn(u32) -> Vec<u32> + Sync)| {
            Csr::by_rows((nodes as usize, nodes as usize), |node, entries| {
                entries.extend(row(node as u32).into_iter().map(|other| (other, ())));
            })
        };
        for (graph, count) in [(graph(300, &star), 300), (graph(50, &chain), 3)] {
            let (colour_of, colours) = colours(&graph);
            assert_eq!(colours, count);
            for node in 0..graph.rows() {
                let near = graph.row_columns(node).iter();
                let mut near: Vec<u32> = near.map(|&other| colour_of[other as usize]).collect();
                let all = near.len();
                near.sort_unstable();
                near.dedup();
                assert_eq!(near.len(), all);
            }
        }
    }
}
