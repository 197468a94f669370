//! The columns of a block: nodes, bases and heights, once per column.

use super::pairs::Pairs;
use super::tables::Tables;
use crate::family::{Array, Elements, Operand};
use rayon::prelude::*;

/// Columns, apart from the arrays that kernels read of them.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Prisms of a column.
    pub(super) layers: usize,
    /// Number of columns.
    pub(super) count: usize,
    /// Number of places in pairs, if columns are in pairs.
    pub(super) in_pairs: Option<usize>,
    /// The step of each node from layer to layer, `[t][k]`.
    pub(super) steps: Vec<u32>,
    /// Whether the nodes on top of a prism are those below the next one.
    pub(super) share: bool,
    /// Lengths of the arrays: of integers, of reals.
    pub(super) lengths: [usize; 2],
}

impl Columns {
    /// The columns of elements with their arrays, in order of places: L-vector nodes of the lowest prism, `[t][k]`, then the
    /// numbers of the edges at its vertices, the column's own and what it exchanges with the other of its pair,
    /// `[place][nodes + 5]`; positions x, y of the base's vertices, `[place][3][2]`; z below each layer along each edge
    /// and the layer's height there, which in single precision is not the difference of rounded numbers, `[edge][layer][2]`.
    /// `None` if the elements are not in columns. `in_pairs`, at degree 1, orders columns in pairs.
    pub(super) fn new(
        tables: &Tables,
        elements: &dyn Elements,
        in_pairs: bool,
    ) -> Option<(Self, Vec<(Operand, Array)>)> {
        let (layers, nodes) = (elements.layers(), tables.nodes());
        if layers == 0 || !elements.count().is_multiple_of(layers) {
            return None;
        }
        let count = elements.count() / layers;
        let ordered = |element: usize| {
            let own = elements.nodes_of(element);
            tables.places.iter().map(move |&place| own[place])
        };
        let steps: Vec<u32> = match layers {
            1 => vec![0; nodes],
            _ => ordered(0)
                .zip(ordered(1))
                .map(|(low, high)| high.wrapping_sub(low))
                .collect(),
        };
        let all = (0..count).into_par_iter();
        let lowest: Vec<u32> = all
            .flat_map_iter(|column| ordered(column * layers))
            .collect();
        let [nt, nz] = [tables.triangle[0], tables.line[0]];
        // Whether a prism with these nodes has its upper ones where the next prism has its lower ones.
        let shares = |nodes: &[u32]| {
            (0..nt)
                .map(|t| [t * nz, t * nz + nz - 1])
                .all(|[bottom, top]| {
                    steps[top] == steps[bottom]
                        && nodes[top] == nodes[bottom].wrapping_add(steps[bottom])
                })
        };
        debug_assert!(all_step(&ordered, (count, layers), &steps));
        let share = layers > 1 && lowest.par_chunks_exact(nodes).all(shares);
        let in_pairs = in_pairs && share && steps.iter().all(|&step| step == steps[0]);
        let pairs = in_pairs.then(|| {
            let corners = lowest.chunks_exact(nodes);
            let corners = corners.map(|own| [0, 1, 2].map(|t| own[t * nz]));
            Pairs::new(&corners.collect::<Vec<_>>())
        });
        let in_pairs = pairs.as_ref().map(|pairs| pairs.columns.len());
        let order: Vec<(u32, u32)> = match pairs {
            Some(pairs) => pairs.columns.into_iter().zip(pairs.exchanges).collect(),
            None => (0..count as u32).map(|column| (column, 0)).collect(),
        };
        let edges = Edges::new(elements, &order);
        let mut starts = vec![0; order.len() * (nodes + 5)];
        let places = order.par_iter().zip(edges.numbers.par_chunks_exact(3));
        let rows = starts.par_chunks_exact_mut(nodes + 5).zip(places);
        rows.for_each(|(row, (&(column, exchange), edges))| {
            row[..nodes].copy_from_slice(&lowest[column as usize * nodes..][..nodes]);
            row[nodes..nodes + 3].copy_from_slice(edges);
            row[nodes + 3..].copy_from_slice(&[column, exchange]);
        });
        let (bases, heights) = (edges.bases, edges.heights);
        let columns = Self {
            layers,
            count,
            in_pairs,
            steps,
            share,
            lengths: [starts.len(), bases.len() + heights.len()],
        };
        let arrays = vec![
            (Operand::ColumnStarts, Array::U32(starts)),
            (Operand::ColumnBases, Array::Reals(bases)),
            (Operand::ColumnHeights, Array::Reals(heights)),
        ];
        Some((columns, arrays))
    }
}

/// Whether the nodes of each prism are those of the one below it plus the steps.
fn all_step<I: Iterator<Item = u32>>(
    nodes: &(impl Fn(usize) -> I + Sync),
    (count, layers): (usize, usize),
    steps: &[u32],
) -> bool {
    let prisms = (0..count * layers).into_par_iter();
    let upper = prisms.filter(|element| !element.is_multiple_of(layers));
    upper.all(|element| {
        let mut pairs = nodes(element - 1).zip(nodes(element)).zip(steps);
        pairs.all(|((low, high), &step)| low.wrapping_add(step) == high)
    })
}

/// The vertical edges of columns.
struct Edges {
    /// The edges over the corners of each column's base, `[place][3]`.
    numbers: Vec<u32>,
    /// Positions x, y of these corners, `[place][3][2]`.
    bases: Vec<f64>,
    /// z below each layer along each edge and the layer's height, `[edge][layer][2]`.
    heights: Vec<f64>,
}

impl Edges {
    /// Those of the columns at places. Edges over one mesh node are one, unless they part further up, along a crack.
    fn new(elements: &dyn Elements, order: &[(u32, u32)]) -> Self {
        let layers = elements.layers();
        let corners = (0..3 * order.len() as u32).into_par_iter();
        let node = |corner: u32, level: usize| {
            let lowest = order[corner as usize / 3].0 as usize * layers;
            let corner = corner as usize % 3;
            match level == layers {
                true => elements.vertex(lowest + layers - 1, corner + 3),
                false => elements.vertex(lowest + level, corner),
            }
        };
        let z = |corner: u32, level: usize| elements.position(node(corner, level))[2];
        let bottoms: Vec<u32> = corners.clone().map(|corner| node(corner, 0)).collect();
        let bases = bottoms.par_iter().flat_map_iter(|&node| {
            let [x, y, _] = elements.position(node);
            [x, y]
        });
        // The corner that was listed first over each mesh node.
        let mut firsts = vec![u32::MAX; bottoms.iter().max().map_or(0, |&most| most as usize + 1)];
        let first = |(corner, &node): (u32, &u32)| {
            let first = &mut firsts[node as usize];
            *first = (*first).min(corner);
            *first
        };
        let firsts: Vec<u32> = (0..).zip(&bottoms).map(first).collect();
        let parts = |corner: u32| {
            let first = firsts[corner as usize];
            first != corner && (1..=layers).any(|level| z(corner, level) != z(first, level))
        };
        let part: Vec<bool> = corners.clone().map(parts).collect();
        let (mut numbers, mut edges) = (Vec::with_capacity(firsts.len()), Vec::new());
        for ((corner, &first), &parts) in (0..).zip(&firsts).zip(&part) {
            numbers.push(match first == corner || parts {
                true => edges.len() as u32,
                false => numbers[first as usize],
            });
            if first == corner || parts {
                edges.push(corner);
            }
        }
        let heights = edges.par_iter().flat_map_iter(|&corner| {
            let layers = 0..layers;
            layers.flat_map(move |layer| {
                let (low, high) = (z(corner, layer), z(corner, layer + 1));
                [low, high - low]
            })
        });
        Self {
            bases: bases.collect(),
            heights: heights.collect(),
            numbers,
        }
    }
}
