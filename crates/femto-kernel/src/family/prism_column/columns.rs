//! The columns of a block: nodes, bases and heights, once per column.

use super::pairs::Pairs;
use super::tables::Tables;
use crate::family::{Array, Elements, Operand};

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
    /// `None` if the elements are not columns of prisms whose nodes step upwards alike. `in_pairs`, at degree 1, orders columns
    /// in pairs.
    pub(super) fn new(
        tables: &Tables,
        elements: &dyn Elements,
        in_pairs: bool,
    ) -> Option<(Self, Vec<(Operand, Array)>)> {
        let (layers, nodes) = (elements.layers(), tables.nodes());
        if layers < 2 || !elements.count().is_multiple_of(layers) {
            return None;
        }
        let (all, coordinates, vertices) = (
            elements.nodes(),
            elements.coordinates(),
            elements.vertices(),
        );
        let own = |element: usize| &all[element * nodes..][..nodes];
        let ordered = |element: usize| tables.places.iter().map(move |&place| own(element)[place]);
        let steps: Vec<u32> = ordered(0)
            .zip(ordered(1))
            .map(|(low, high)| high.wrapping_sub(low))
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
        let count = elements.count() / layers;
        let in_pairs = in_pairs && steps.iter().all(|&step| step == steps[0]);
        let pairs = in_pairs.then(|| {
            let corners = |column| [0, 1, 2].map(|t| own(column * layers)[tables.places[t * nz]]);
            Pairs::new(&(0..count).map(corners).collect::<Vec<_>>())
        });
        let in_pairs = pairs.as_ref().map(|pairs| pairs.columns.len());
        let order: Vec<(u32, u32)> = match pairs {
            Some(pairs) => pairs.columns.into_iter().zip(pairs.exchanges).collect(),
            None => (0..count as u32).map(|column| (column, 0)).collect(),
        };
        let (mut starts, mut bases, mut heights) = (Vec::new(), Vec::new(), Vec::new());
        let mut share = true;
        // The edge that was listed first from each vertex.
        let mut edges = vec![u32::MAX; coordinates.len() / 3];
        for (column, exchange) in order {
            let lowest = column as usize * layers;
            let first = starts.len();
            starts.extend(ordered(lowest));
            share &= shares(&starts[first..]);
            for element in lowest..lowest + layers - 1 {
                let mut pairs = ordered(element).zip(ordered(element + 1)).zip(&steps);
                if !pairs.all(|((low, high), &step)| low.wrapping_add(step) == high) {
                    return None;
                }
            }
            for corner in 0..3 {
                let vertex =
                    |element: usize, corner: usize| vertices[element * 6 + corner] as usize;
                let bottom = vertex(lowest, corner);
                bases.extend(&coordinates[3 * bottom..][..2]);
                let z = |level: usize| {
                    let node = match level == layers {
                        true => vertex(lowest + layers - 1, corner + 3),
                        false => vertex(lowest + level, corner),
                    };
                    coordinates[3 * node + 2]
                };
                let own = (0..layers).flat_map(|layer| [z(layer), z(layer + 1) - z(layer)]);
                let next = (heights.len() / (2 * layers)) as u32;
                if edges[bottom] == u32::MAX {
                    edges[bottom] = next;
                }
                let mut edge = edges[bottom];
                // Edges from one node may lead to others, along a crack.
                let listed = heights.iter().skip(edge as usize * 2 * layers);
                if !own.clone().eq(listed.take(2 * layers).copied()) {
                    edge = next;
                    heights.extend(own);
                }
                starts.push(edge);
            }
            starts.extend([column, exchange]);
        }
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
