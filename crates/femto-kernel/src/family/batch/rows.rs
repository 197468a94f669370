//! Local vectors: the components of a node form a row, padded to a power of two, so that rows are read and
//! added to as vectors, and transposed between rows and lanes.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::{LOCAL_NODES, MAX_LANES, Nodes, elements};
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
}

impl<'a> Places<'a> {
    /// All nodes of the elements.
    #[inline(always)]
    fn list(&self, table: &'a [u16]) -> List<'a, Range<usize>> {
        List {
            table,
            positions: 0..self.nodes_per_element,
            nodes: self.nodes_per_element,
            components: self.components,
        }
    }
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
        Nodes::Local(table) => gather_listed(token, places.list(table), source, nodal),
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
        let values = to_lanes::<L, R>(
            token,
            #[inline(always)]
            |lane| rows[usize::from(indices[lane])],
        );
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
        Nodes::Local(table) => scatter_listed(places.elements, places.list(table), nodal, target),
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
        if elements == L::WIDTH {
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

/// Adds one lane's numbers from `[lane][number]`.
#[inline(always)]
fn add<L: Lanes, const R: usize>(values: &[L; R], lane: usize, row: &mut [L::Real; R]) {
    for c in 0..R {
        let n = lane * R + c;
        row[c] += values[n / L::WIDTH].lanes()[n % L::WIDTH];
    }
}

/// Transposes `[lane][number]` to `[number][lane]`.
#[inline(always)]
pub(crate) fn to_lanes<L: Lanes, const R: usize>(
    token: L::Token,
    row: impl Fn(usize) -> [L::Real; R],
) -> [L; R] {
    let zero = L::Real::from_f64(0.0);
    let mut halves = [L::splat(token, zero); R];
    for k in 0..R {
        // Whole rows, or a part of one: vectors are loaded, not single numbers.
        let mut numbers = [zero; MAX_LANES];
        if R <= L::WIDTH {
            for n in 0..L::WIDTH / R {
                numbers[n * R..][..R].copy_from_slice(&row(k * (L::WIDTH / R) + n));
            }
        } else {
            let first = k * L::WIDTH;
            numbers[..L::WIDTH].copy_from_slice(&row(first / R)[first % R..][..L::WIDTH]);
        }
        halves[k] = L::load(token, &numbers[..L::WIDTH]);
    }
    // Even numbers to the first half, odd ones to the second, then recursively within each half.
    let mut len = R;
    while len > 1 {
        let before = halves;
        for n in 0..R / 2 {
            let (first, n) = (n / (len / 2) * len, n % (len / 2));
            let (even, odd) = before[first + 2 * n].deinterleave(before[first + 2 * n + 1]);
            halves[first + n] = even;
            halves[first + len / 2 + n] = odd;
        }
        len /= 2;
    }
    reverse(&mut halves);
    halves
}

/// Transposes `[number][lane]` to `[lane][number]`, vector after vector.
#[inline(always)]
pub(super) fn to_rows<L: Lanes, const R: usize>(halves: &mut [L; R]) {
    reverse(halves);
    let mut len = 2;
    while len <= R {
        let before = *halves;
        for n in 0..R / 2 {
            let (first, n) = (n / (len / 2) * len, n % (len / 2));
            let (low, high) = before[first + n].interleave(before[first + len / 2 + n]);
            halves[first + 2 * n] = low;
            halves[first + 2 * n + 1] = high;
        }
        len *= 2;
    }
}

/// Permutes numbers, of which there are a power of two, by bit reversal.
#[inline(always)]
fn reverse<L: Copy, const R: usize>(numbers: &mut [L; R]) {
    for n in 0..R {
        let other = match R {
            1 => 0,
            _ => n.reverse_bits() >> (usize::BITS - R.trailing_zeros()),
        };
        if n < other {
            numbers.swap(n, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{SimdLevel, SimdTask, Vectorizable, dispatch};
    use core::marker::PhantomData;
    use fearless_simd::Simd;

    /// Distinct rows of R numbers, to lanes and back.
    struct Transposed<T, const R: usize>(PhantomData<T>);

    impl<T: Vectorizable, const R: usize> SimdTask for Transposed<T, R> {
        type Output = ();

        fn run<S: Simd>(self, token: S) {
            let row = |lane: usize| -> [T; R] {
                core::array::from_fn(|number| T::from_f64((lane * R + number + 1) as f64))
            };
            let mut lanes = to_lanes::<T::Lanes<S>, R>(token, row);
            for (number, lanes) in lanes.iter().enumerate() {
                for (lane, value) in lanes.lanes().iter().enumerate() {
                    assert_eq!(value.to_f64(), row(lane)[number].to_f64());
                }
            }
            to_rows(&mut lanes);
            for lane in 0..<T::Lanes<S> as Lanes>::WIDTH {
                let mut sums = [T::from_f64(0.0); R];
                add(&lanes, lane, &mut sums);
                assert_eq!(sums.map(T::to_f64), row(lane).map(T::to_f64));
            }
        }
    }

    fn transpose<const R: usize>() {
        for &level in SimdLevel::available() {
            dispatch(level, Transposed::<f64, R>(PhantomData));
            dispatch(level, Transposed::<f32, R>(PhantomData));
        }
    }

    #[test]
    fn rows_become_lanes_and_rows_again() {
        transpose::<1>();
        transpose::<2>();
        transpose::<4>();
        transpose::<8>();
    }

    #[test]
    fn rows_have_room_for_all_components() {
        let found: Vec<_> = (0..9).map(row_len).collect();
        assert_eq!(found, [0, 1, 2, 4, 4, 8, 8, 8, 8]);
    }
}
