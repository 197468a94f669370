//! Local vectors: the components of a node form a row, padded to a power of two, so that rows are read and
//! added to as vectors; where lanes have consecutive nodes, as prisms on each other have, all their rows at once.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::transpose::{add, deinterleave, to_lanes, to_rows};
use super::{LOCAL_NODES, Nodes, elements};
use crate::scalar::{Lanes, Real};
use core::ops::Range;
use fearless_simd::Simd;

/// Length of a node's row in a local vector.
#[inline]
pub const fn row_len(components: usize) -> usize {
    match components {
        0 => 0,
        _ => components.next_power_of_two(),
    }
}

/// The indices of a batch's nodes in a local vector, for reads and writes.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) nodes: Nodes<'a>,
    /// Elements of the batch, nodes of an element, components of a node.
    pub(crate) elements: usize,
    pub(crate) nodes_per_element: usize,
    pub(crate) components: usize,
    /// Whether lanes often have consecutive nodes, as prisms on each other have.
    pub(crate) are_columns: bool,
}

/// A batch's nodes that have an index of their own.
pub(super) struct List<'a, P> {
    /// `[listed node][lane]`
    pub(super) table: &'a [u16],
    /// The positions of the listed nodes in the element.
    pub(super) positions: P,
    /// Nodes of an element, and components of a node.
    pub(super) nodes: usize,
    pub(super) components: usize,
    /// As [`Places::are_columns`].
    pub(super) are_columns: bool,
}

impl<'a> Places<'a> {
    /// Those of prisms on each other.
    #[inline(always)]
    pub(crate) fn of_columns(self) -> Self {
        Self {
            are_columns: true,
            ..self
        }
    }

    /// All nodes of the elements.
    #[inline(always)]
    fn list(&self, table: &'a [u16]) -> List<'a, Range<usize>> {
        List {
            table,
            positions: 0..self.nodes_per_element,
            nodes: self.nodes_per_element,
            components: self.components,
            are_columns: self.are_columns,
        }
    }
}

/// The first of a node's indices, if those of the lanes are consecutive.
#[inline(always)]
fn consecutive<L: Lanes>(indices: &[u16]) -> Option<usize> {
    let first = usize::from(indices[0]);
    if first > LOCAL_NODES - L::WIDTH {
        return None;
    }
    // Four of 16 bits as one number, first + 3 to first, which does not overflow.
    let (fours, rest) = indices.as_chunks::<4>();
    let mut expected = 0x3_0002_0001_0000_u64.wrapping_add(first as u64 * 0x1_0001_0001_0001);
    let mut differ = 0;
    for four in fours {
        let [a, b, c, d] = four.map(u64::from);
        differ |= (a | b << 16 | c << 32 | d << 48) ^ expected;
        expected = expected.wrapping_add(0x4_0004_0004_0004);
    }
    for (n, &index) in rest.iter().enumerate() {
        differ |= (usize::from(index) ^ (first + 4 * fours.len() + n)) as u64;
    }
    (differ == 0).then_some(first)
}

/// Reads the elements into `nodal` `[component][node]`; lanes without an element repeat the last one of an
/// E-vector, or follow their table in a local vector.
#[inline(always)]
pub(crate) fn gather<L: Lanes>(
    token: L::Token,
    places: Places,
    source: &[L::Real],
    nodal: &mut [L],
) {
    match places.nodes {
        Nodes::Element => elements::gather(token, places.elements, source, nodal),
        Nodes::Local(table) => {
            // Of a known length where the number of nodes is, so that loops over it are unrolled.
            let table = &table[..places.nodes_per_element * L::WIDTH];
            gather_listed(token, places.list(table), source, nodal);
        }
    }
}

/// Reads the listed nodes from a local vector.
#[inline(always)]
pub(super) fn gather_listed<L: Lanes>(
    token: L::Token,
    list: List<impl Iterator<Item = usize>>,
    source: &[L::Real],
    nodal: &mut [L],
) {
    match row_len(list.components) {
        0 => {}
        1 => gather_rows::<L, 1>(token, list, source, nodal),
        2 => gather_rows::<L, 2>(token, list, source, nodal),
        4 => gather_rows::<L, 4>(token, list, source, nodal),
        _ => gather_rows::<L, 8>(token, list, source, nodal),
    }
}

/// As [`gather`], compiled once for all kernels, for numbers of nodes and components unknown at compile
/// time.
#[inline(never)]
pub(crate) fn gather_any<L: Lanes>(
    token: L::Token,
    places: Places,
    source: &[L::Real],
    nodal: &mut [L],
) {
    token.vectorize(
        #[inline(always)]
        || gather(token, places, source, nodal),
    );
}

#[inline(always)]
fn gather_rows<L: Lanes, const R: usize>(
    token: L::Token,
    list: List<impl Iterator<Item = usize>>,
    source: &[L::Real],
    nodal: &mut [L],
) {
    let Some(rows) = source.as_chunks::<R>().0.first_chunk::<LOCAL_NODES>() else {
        return;
    };
    for (n, position) in list.positions.enumerate() {
        let indices = &list.table[n * L::WIDTH..][..L::WIDTH];
        let run = list.are_columns.then(|| consecutive::<L>(indices));
        let values = match run.flatten() {
            Some(first) => {
                let numbers = &rows.as_flattened()[first * R..][..L::WIDTH * R];
                let mut in_rows = [L::splat(token, L::Real::from_f64(0.0)); R];
                for k in 0..R {
                    in_rows[k] = L::load(token, &numbers[k * L::WIDTH..][..L::WIDTH]);
                }
                deinterleave(in_rows)
            }
            None => to_lanes::<L, R>(
                token,
                #[inline(always)]
                |lane| rows[usize::from(indices[lane])],
            ),
        };
        // Of a fixed length, so that the values stay in registers.
        for c in 0..R {
            if c < list.components {
                nodal[c * list.nodes + position] = values[c];
            }
        }
    }
}

/// Writes (`Element`) or adds (`Local`) `nodal` `[component][node]` to `target`, node after node.
#[inline(always)]
pub(crate) fn scatter<L: Lanes>(places: Places, nodal: &[L], target: &mut [L::Real]) {
    match places.nodes {
        Nodes::Element => elements::scatter(places.elements, nodal, target),
        Nodes::Local(table) => {
            let table = &table[..places.nodes_per_element * L::WIDTH];
            scatter_listed(places.elements, places.list(table), nodal, target);
        }
    }
}

/// Adds the listed nodes of this many elements to a local vector.
#[inline(always)]
pub(super) fn scatter_listed<L: Lanes>(
    elements: usize,
    list: List<impl Iterator<Item = usize>>,
    nodal: &[L],
    target: &mut [L::Real],
) {
    match row_len(list.components) {
        0 => {}
        1 => scatter_rows::<L, 1>(elements, list, nodal, target),
        2 => scatter_rows::<L, 2>(elements, list, nodal, target),
        4 => scatter_rows::<L, 4>(elements, list, nodal, target),
        _ => scatter_rows::<L, 8>(elements, list, nodal, target),
    }
}

/// As [`scatter`], compiled once for all kernels.
#[inline(never)]
pub(crate) fn scatter_any<L: Lanes>(
    token: L::Token,
    places: Places,
    nodal: &[L],
    target: &mut [L::Real],
) {
    token.vectorize(
        #[inline(always)]
        || scatter(places, nodal, target),
    );
}

#[inline(always)]
fn scatter_rows<L: Lanes, const R: usize>(
    elements: usize,
    list: List<impl Iterator<Item = usize>>,
    nodal: &[L],
    target: &mut [L::Real],
) {
    let rows = target.as_chunks_mut::<R>().0;
    let (Some(rows), Some(&first)) = (rows.first_chunk_mut::<LOCAL_NODES>(), nodal.first()) else {
        return;
    };
    for (n, position) in list.positions.enumerate() {
        let indices = &list.table[n * L::WIDTH..][..L::WIDTH];
        let mut values = [first.constant(0.0); R];
        for c in 0..R {
            if c < list.components {
                values[c] = nodal[c * list.nodes + position];
            }
        }
        to_rows(&mut values);
        let is_whole = elements == L::WIDTH;
        let run = (list.are_columns && is_whole).then(|| consecutive::<L>(indices));
        if let Some(first) = run.flatten() {
            let numbers = &mut rows.as_flattened_mut()[first * R..][..L::WIDTH * R];
            for k in 0..R {
                let numbers = &mut numbers[k * L::WIDTH..][..L::WIDTH];
                let sums = L::load(values[k].token(), numbers) + values[k];
                numbers.copy_from_slice(sums.lanes());
            }
        } else if is_whole {
            for lane in 0..L::WIDTH {
                add(&values, lane, &mut rows[usize::from(indices[lane])]);
            }
        } else {
            for lane in 0..elements {
                add(&values, lane, &mut rows[usize::from(indices[lane])]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{SimdLevel, SimdTask, Vectorizable, dispatch};
    use core::marker::PhantomData;
    use fearless_simd::Simd;

    /// Runs of lanes, read and added to as columns and one by one.
    struct Runs<T>(PhantomData<T>);

    impl<T: Vectorizable> SimdTask for Runs<T> {
        type Output = ();

        fn run<S: Simd>(self, token: S) {
            let width = <T::Lanes<S> as Lanes>::WIDTH;
            let last = LOCAL_NODES - width;
            let run = |first: usize| (0..width).map(move |lane| (first + lane) as u16);
            let mut broken: Vec<u16> = run(40).collect();
            broken[width - 1] = 7;
            let wraps = (0..width).map(|lane| ((last + 1 + lane) % LOCAL_NODES) as u16);
            // Of nodes over each other, as in columns; runs at both ends, and lanes that are not runs.
            let rows: [Vec<u16>; 6] = [
                run(40).collect(),
                run(41).collect(),
                run(0).collect(),
                run(last).collect(),
                broken,
                wraps.collect(),
            ];
            let firsts = rows.each_ref().map(|row| consecutive::<T::Lanes<S>>(row));
            let wanted = [Some(40), Some(41), Some(0), Some(last), None, None];
            assert_eq!(firsts, wanted, "{width} lanes");
            for lane in 0..width {
                let mut other: Vec<u16> = run(40).collect();
                other[lane] ^= 0x100;
                let is_one = lane == 0 && width == 1;
                assert!(is_one || consecutive::<T::Lanes<S>>(&other).is_none());
            }
            let table = rows.concat();
            for (components, elements) in [
                (1, width),
                (1, width - 1),
                (2, width),
                (3, width),
                (5, width),
            ] {
                let row = row_len(components);
                let number = |n: usize| T::from_f64((n % 977) as f64 + 0.5);
                let source: Vec<T> = (0..LOCAL_NODES * row).map(number).collect();
                let places = Places {
                    nodes: Nodes::Local(&table),
                    elements,
                    nodes_per_element: rows.len(),
                    components,
                    are_columns: false,
                };
                let through = |places: Places| {
                    let zero = T::Lanes::splat(token, T::from_f64(0.0));
                    let mut nodal = vec![zero; rows.len() * components];
                    gather_any(token, places, &source, &mut nodal);
                    let mut sums = source.clone();
                    scatter_any(token, places, &nodal, &mut sums);
                    let lanes = nodal.iter().flat_map(|lanes| lanes.lanes().to_vec());
                    lanes.chain(sums).map(T::to_f64).collect::<Vec<f64>>()
                };
                let (one_by_one, as_columns) = (through(places), through(places.of_columns()));
                assert!(one_by_one == as_columns, "{components} {elements}");
            }
        }
    }

    #[test]
    fn consecutive_lanes_are_read_and_added_to_at_once() {
        for &level in SimdLevel::available() {
            dispatch(level, Runs::<f64>(PhantomData));
            dispatch(level, Runs::<f32>(PhantomData));
        }
    }

    #[test]
    fn rows_have_room_for_all_components() {
        let found: Vec<_> = (0..9).map(row_len).collect();
        assert_eq!(found, [0, 1, 2, 4, 4, 8, 8, 8, 8]);
    }
}
