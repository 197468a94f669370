//! The sparse matrix of an operator, from its products with few vectors.
//!
//! Nodes of one colour have no neighbour in common, so that a product with the sum of their unit vectors has
//! the columns of all of them, one beside the other (Curtis, Powell and Reid, On the estimation of sparse
//! Jacobian matrices, IMA Journal of Applied Mathematics 13, 1974). That takes any form, with any terms on
//! facets, on any device.

use super::MultigridError;
use crate::Number;
use crate::solve::LinearOperator;
use crate::vector::{Csr, VectorOps};
use femto_fem::space::{Block, Space};

/// The matrix of `operator` on a space of interleaved components; entries where `is_held` have the row and
/// column of the identity.
pub(super) fn matrix<T: Number, D: VectorOps<T>>(
    device: &D,
    operator: &dyn LinearOperator<T, D>,
    blocks: &[Block],
    is_held: &[bool],
) -> Result<Csr, MultigridError> {
    let neighbours = neighbours(blocks);
    let colours = colours(&neighbours);
    let components = blocks[0].space.components();
    let size = is_held.len();
    // Entry (i, c), (j, d) at start(i, c) + place of j among the neighbours of i · components + d.
    let row_len = |node: usize| neighbours.row_columns(node).len() * components;
    let mut starts = vec![0];
    for entry in 0..size {
        starts.push(starts[entry] + row_len(entry / components));
    }
    let mut values = vec![0.0; starts[size]];
    let [mut unit, mut product] = [device.zeros(size)?, device.zeros(size)?];
    let (mut x, mut y) = (vec![T::default(); size], vec![T::default(); size]);
    for nodes in &colours {
        for d in 0..components {
            x.fill(T::default());
            for &node in nodes {
                let entry = node as usize * components + d;
                if !is_held[entry] {
                    x[entry] = T::from_f64(1.0);
                }
            }
            device.write(&x, &mut unit)?;
            operator.apply(&unit, &mut product)?;
            device.read(&product, &mut y)?;
            for &node in nodes {
                for &other in neighbours.row_columns(node as usize) {
                    let among = neighbours.row_columns(other as usize);
                    let place = among.partition_point(|&column| column < node);
                    for c in 0..components {
                        let row = other as usize * components + c;
                        values[starts[row] + place * components + d] = y[row].to_f64();
                    }
                }
            }
        }
    }
    let row = |row: usize| {
        let among = neighbours.row_columns(row / components).iter();
        let columns =
            among.flat_map(|&node| (0..components).map(move |d| node as usize * components + d));
        let entries = columns.zip(&values[starts[row]..starts[row + 1]]);
        entries.filter_map(move |(column, &value)| {
            match (is_held[row] || is_held[column], row == column) {
                (false, _) => Some((column as u32, value)),
                (true, true) => Some((column as u32, 1.0)),
                (true, false) => None,
            }
        })
    };
    Ok(Csr::of_rows(size, (0..size).map(row)))
}

/// The nodes that share an element with each node, itself included.
fn neighbours(blocks: &[Block]) -> Csr {
    let mut nodes_of = Csr::new(blocks[0].space.nodes());
    for space in blocks.iter().map(|block| &block.space) {
        let nodes = |space: &Space, element| {
            let mut nodes = space.element_nodes(element);
            nodes.sort_unstable();
            // Elements that touch both of two periodic sides have a node twice.
            nodes.dedup();
            nodes
        };
        for element in 0..space.elements() {
            nodes_of.push(nodes(space, element).into_iter().map(|node| (node, 1.0)));
        }
    }
    nodes_of.transposed().times(&nodes_of)
}

/// The nodes of each colour, chosen greedily in the order of the nodes.
fn colours(neighbours: &Csr) -> Vec<Vec<u32>> {
    let mut colours: Vec<Vec<u32>> = Vec::new();
    let mut left: Vec<u32> = (0..neighbours.rows() as u32).collect();
    // In rounds of as many colours as a mask has bits; one round is nearly always enough.
    while !left.is_empty() {
        let first = colours.len();
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
            let place = first + colour as usize;
            if place == colours.len() {
                colours.push(Vec::new());
            }
            colours[place].push(node);
            false
        });
    }
    colours
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
        let graph = |nodes: u32, row: &dyn Fn(u32) -> Vec<u32>| {
            let rows = (0..nodes).map(|node| row(node).into_iter().map(|other| (other, 1.0)));
            Csr::of_rows(nodes as usize, rows)
        };
        for (graph, count) in [(graph(300, &star), 300), (graph(50, &chain), 3)] {
            let colours = colours(&graph);
            assert_eq!(colours.len(), count);
            let mut seen = vec![0; graph.rows()];
            for nodes in &colours {
                let mut near: Vec<u32> = (nodes.iter())
                    .flat_map(|&node| graph.row_columns(node as usize).to_vec())
                    .collect();
                let all = near.len();
                near.sort_unstable();
                near.dedup();
                assert_eq!(near.len(), all);
                nodes.iter().for_each(|&node| seen[node as usize] += 1);
            }
            assert!(seen.iter().all(|&times| times == 1));
        }
    }
}
