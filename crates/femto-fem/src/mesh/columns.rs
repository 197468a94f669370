//! Columns: prisms that stand on each other, with vertical edges between their vertices.

use super::{CellBlock, CellNodes, Mesh};
use crate::parallel;
use femto_element::Layering;
use rayon::slice::ParallelSliceMut;
use std::borrow::Cow;
use std::collections::HashMap;

/// The prisms of a mesh as columns of equal height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Prisms of a column, at least one.
    pub layers: usize,
    /// Number of columns.
    pub count: usize,
    /// How their triangles lie.
    pub layering: Layering,
    /// The prisms, numbered as in the mesh's blocks of prisms one after the other, from bottom to top,
    /// `[column][layer]`; `None` if these are all prisms in this order.
    listed: Option<Vec<u32>>,
}

impl Columns {
    /// Whether the prisms are in this order, column by column.
    pub(crate) fn are_in_order(&self) -> bool {
        self.listed.is_none()
    }

    /// The prisms of a column from bottom to top.
    pub fn cells(&self, column: usize) -> impl Iterator<Item = u32> {
        let places = column * self.layers..(column + 1) * self.layers;
        places.map(|place| match &self.listed {
            Some(cells) => cells[place],
            None => place as u32,
        })
    }
}

impl Mesh {
    /// The columns that the prisms of the mesh form, which may be curved between their vertices. If columns differ in number, prisms
    /// lie on others turned round, or some have edges that are not vertical, every prism without such edges is a column of its own.
    /// `None` if there are no prisms, or more than half have such edges.
    pub fn columns(&self) -> Option<Columns> {
        let prisms = self
            .blocks
            .iter()
            .filter(|it| !it.cell_type.cell().lines().is_empty() && !it.is_empty());
        let prisms: Vec<&CellBlock> = prisms.collect();
        if prisms.is_empty() {
            return None;
        }
        let height = |node: u32| {
            self.coordinates
                .get(node as usize)
                .map_or(0.0, |x| x[2].abs())
        };
        // Heights were interpolated between those of the ends.
        let heights = prisms.iter().map(|block| match &block.nodes {
            CellNodes::Listed(nodes) => {
                let of_place = |place: usize| height(nodes[place]);
                parallel::reduce(nodes.len(), 0.0, of_place, f64::max)
            }
            CellNodes::Columns(columns) => {
                let of_ends = |place: usize| {
                    let node = columns.lowest[place];
                    height(node).max(height(node + columns.layers as u32))
                };
                parallel::reduce(columns.lowest.len(), 0.0, of_ends, f64::max)
            }
        });
        let rounding = 8.0 * f64::EPSILON * heights.fold(0.0, f64::max);
        let of_block = |block: &&CellBlock| {
            let of_cell = |cell: usize| self.layering(&block.cell(cell), rounding);
            let most = |a: Option<Layering>, b| Some(a?.max(b?));
            parallel::reduce(block.len(), Some(Layering::Level), of_cell, most)
        };
        let layerings = prisms.iter().map(of_block);
        let Some(layerings) = layerings.collect::<Option<Vec<Layering>>>() else {
            return self.alone(&prisms, rounding);
        };
        let layering = layerings.into_iter().max()?;
        if let Some((layers, count)) = stored_columns(&prisms) {
            return Some(Columns {
                layers,
                count,
                layering,
                listed: None,
            });
        }
        let nodes = listed(&prisms);
        let (layers, cells) = on_each_other(&nodes).unwrap_or((1, None));
        Some(Columns {
            layers,
            count: nodes.len() / 6 / layers,
            layering,
            listed: cells,
        })
    }

    /// The prisms with vertical edges as columns of one each, if they are half of all at least: few are not worth kernels of their own.
    fn alone(&self, prisms: &[&CellBlock], rounding: f64) -> Option<Columns> {
        let cells = prisms.iter().flat_map(|it| it.cells());
        let numbered = (0..).zip(cells);
        let vertical: (Vec<u32>, Vec<Layering>) = numbered
            .filter_map(|(number, cell)| Some((number, self.layering(&cell, rounding)?)))
            .unzip();
        let (cells, layerings) = vertical;
        let all: usize = prisms.iter().map(|it| it.len()).sum();
        (2 * cells.len() >= all).then_some(Columns {
            layers: 1,
            count: cells.len(),
            layering: layerings.into_iter().max()?,
            listed: Some(cells),
        })
    }

    /// How the triangles of a prism lie, apart from `rounding` of heights, if the edges between them are vertical to 1e-12
    /// of its extent.
    fn layering(&self, cell: &[u32], rounding: f64) -> Option<Layering> {
        let mut x = [[0.0; 3]; 6];
        for (x, &node) in x.iter_mut().zip(cell) {
            *x = self.coordinates.get(node as usize)?;
        }
        let along = x.iter().flat_map(|y| [y[0] - x[0][0], y[1] - x[0][1]]);
        let extent = along.fold(0.0, |most: f64, length| most.max(length.abs()));
        let apart = |n: usize, axis: usize| (x[n + 3][axis] - x[n][axis]).abs();
        let is_vertical = |n| apart(n, 0) <= 1e-12 * extent && apart(n, 1) <= 1e-12 * extent;
        // NaN is no height.
        let are_equal = |heights: [f64; 3]| {
            let is_equal = |height: &f64| (height - heights[0]).abs() <= rounding;
            heights.iter().all(is_equal)
        };
        let are_parallel = are_equal([0, 1, 2].map(|n| x[n + 3][2] - x[n][2]));
        let are_level = are_equal([0, 1, 2].map(|n| x[n][2]));
        (0..3).all(is_vertical).then_some(match are_parallel {
            true if are_level => Layering::Level,
            true => Layering::Parallel,
            false => Layering::Any,
        })
    }
}

/// The layers of equal columns of prisms with these nodes, `[cells][6]`, and the prisms column by column, if this is not their order;
/// `None` if columns differ in number, or prisms lie on others turned round.
fn on_each_other(nodes: &[u32]) -> Option<(usize, Option<Vec<u32>>)> {
    if are_alone(nodes) {
        return Some((1, None));
    }
    let cells: Vec<&[u32]> = nodes.chunks_exact(6).collect();
    // Most often the next prism is the one above; others are looked up.
    let is_next = |cell: usize| {
        cells
            .get(cell + 1)
            .is_some_and(|next| cells[cell][3..] == next[..3])
    };
    let others = (0..cells.len()).filter(|&cell| cell == 0 || !is_next(cell - 1));
    let bottoms: HashMap<&[u32], u32> = others
        .map(|cell| (&cells[cell][..3], cell as u32))
        .collect();
    let above = |cell: u32| match is_next(cell as usize) {
        true => Some(cell + 1),
        false => bottoms.get(&cells[cell as usize][3..]).copied(),
    };
    let mut is_above = vec![false; cells.len()];
    for cell in (0..cells.len() as u32).filter_map(above) {
        is_above[cell as usize] = true;
    }
    let (mut in_order, mut layers) = (Vec::with_capacity(cells.len()), None);
    for lowest in (0..cells.len() as u32).filter(|&cell| !is_above[cell as usize]) {
        let before = in_order.len();
        // A degenerate prism may lie on itself.
        let column = std::iter::successors(Some(lowest), |&cell| above(cell));
        in_order.extend(column.take(cells.len() - before + 1));
        let own = in_order.len() - before;
        if in_order.len() > cells.len() || *layers.get_or_insert(own) != own {
            return None;
        }
    }
    // None is left over, in a ring.
    let layers = layers.filter(|_| in_order.len() == cells.len())?;
    Some((layers, (!in_order.is_sorted()).then_some(in_order)))
}

/// Whether no prism, of those with these nodes, stands on another.
fn are_alone(nodes: &[u32]) -> bool {
    let most = parallel::reduce(nodes.len(), 0, |place| nodes[place], u32::max) as usize;
    let mut is_below = vec![false; most + 1];
    for cell in nodes.chunks_exact(6) {
        cell[..3]
            .iter()
            .for_each(|&node| is_below[node as usize] = true);
    }
    let is_below = |cell: &[u32]| cell[3..].iter().any(|&node| is_below[node as usize]);
    parallel::all(nodes.len() / 6, |cell| !is_below(&nodes[cell * 6..][..6]))
}

/// The layers and the number of columns as which all prisms are stored, if no column ends where another begins.
fn stored_columns(prisms: &[&CellBlock]) -> Option<(usize, usize)> {
    let (mut layers, mut lowest) = (None, Vec::new());
    for block in prisms {
        let CellNodes::Columns(columns) = &block.nodes else {
            return None;
        };
        if *layers.get_or_insert(columns.layers) != columns.layers {
            return None;
        }
        lowest.extend_from_slice(&columns.lowest);
    }
    let (layers, count) = (layers?, lowest.len() / 3);
    lowest.par_sort_unstable();
    lowest.dedup();
    let begins = |node: u32| lowest.binary_search(&(node + layers as u32)).is_ok();
    parallel::all(lowest.len(), |place| !begins(lowest[place])).then_some((layers, count))
}

/// The nodes at the vertices of all prisms, `[cells][6]`, which are first in their lists.
fn listed<'a>(prisms: &[&'a CellBlock]) -> Cow<'a, [u32]> {
    match prisms {
        [
            CellBlock {
                nodes: CellNodes::Listed(nodes),
                cell_type,
                ..
            },
        ] if cell_type.order() == 1 => Cow::Borrowed(&nodes[..]),
        all => {
            let cells = all.iter().flat_map(|it| it.cells());
            Cow::Owned(cells.flat_map(|cell| cell.each().take(6)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Layers;
    use crate::mesh::boxes::{SimplexBox, SolidBox, Solids};

    fn prisms(irregular: Option<u64>) -> Mesh {
        let of = SolidBox {
            cells: [3, 2, 4],
            irregular,
            ..SolidBox::unit_cube(Solids::Prisms, 1)
        };
        of.build(|[x, y, z]| [x + 0.1 * y, y, z + 0.2 * x * y])
            .expect("legal")
    }

    #[test]
    fn prisms_on_each_other_are_columns() {
        let mesh = prisms(None);
        let columns = mesh.columns().expect("columns");
        assert_eq!((columns.layers, columns.count), (4, 12));
        assert_eq!(columns.layering, Layering::Parallel);
        let mut thicker = mesh.clone();
        thicker
            .coordinates
            .to_mut()
            .iter_mut()
            .for_each(|x| x[2] *= 1.0 + 0.1 * x[0]);
        assert_eq!(thicker.columns().expect("columns").layering, Layering::Any);
        let cells: Vec<u32> = (0..12).flat_map(|it| columns.cells(it)).collect();
        for column in cells.chunks_exact(4) {
            for pair in column.windows(2) {
                let [lower, upper] = [pair[0], pair[1]].map(|it| mesh.blocks[0].cell(it as usize));
                assert_eq!(lower[3..], upper[..3]);
            }
        }
        let mut sorted = cells.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..48));
    }

    /// Rounding does not make layers on a slope other than parallel, also where heights change their sign.
    #[test]
    fn layers_between_parallel_ends_are_parallel() {
        let plane = SimplexBox::unit_square(6).build(|x| x).expect("legal");
        for (low, high, layers) in [(-1.0, 1.0, 40), (-10.0, 10.0, 100), (-1.0, 2.0, 100)] {
            let slope = |[x, y]: [f64; 2]| 0.3 * x - 0.2 * y * y;
            let mesh = plane.extrude(
                &Layers::uniform(layers),
                |x| low + slope(x),
                |x| high + slope(x),
            );
            let columns = mesh.expect("legal").columns().expect("columns");
            assert_eq!(columns.layering, Layering::Parallel, "{low} to {high}");
            let columns = plane.extrude(&Layers::uniform(layers), |_| low, |_| high);
            let columns = columns.expect("legal").columns().expect("columns");
            assert_eq!(columns.layering, Layering::Level, "{low} to {high}");
        }
        let thicker = plane.extrude(&Layers::uniform(40), |_| -1.0, |[x, _]| 1.0 + 1e-9 * x);
        let columns = thicker.expect("legal").columns().expect("columns");
        assert_eq!(columns.layering, Layering::Any);
    }

    #[test]
    fn other_prisms_are_single_or_slanted() {
        let alone = |mesh: &Mesh| mesh.columns().map(|it| (it.layers, it.count));
        assert_eq!(alone(&prisms(Some(1))), Some((1, 48)), "turned round");
        let mut slanted = prisms(None);
        slanted.coordinates.to_mut()[0][0] += 1e-3;
        let beside = |cell: u32| slanted.blocks[0].cell(cell as usize).contains(&0);
        let (without, columns) = ((0..48).filter(|&cell| !beside(cell)), slanted.columns());
        let cells = columns.map(|it| {
            (0..it.count)
                .flat_map(|n| it.cells(n).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        });
        assert_eq!(cells, Some(without.collect()));
        let leaning = |x: &mut [f64; 3]| x[0] += 0.1 * x[2];
        slanted.coordinates.to_mut().iter_mut().for_each(leaning);
        assert_eq!(slanted.columns(), None);
        let mut taller = prisms(None);
        let block = &mut taller.blocks[0];
        block.nodes.to_mut().truncate(6 * 47);
        block.tags.pop();
        assert_eq!(alone(&taller), Some((1, 47)));
        let mut flat = prisms(None);
        let block = &mut flat.blocks[0];
        let lowest = block.cell(0).to_vec();
        block.nodes = [&lowest[3..], &lowest[3..], &lowest].concat().into();
        block.tags.truncate(2);
        assert_eq!(alone(&flat), Some((1, 2)), "a prism on itself");
        assert_eq!(Mesh::default().columns(), None);
    }
}
