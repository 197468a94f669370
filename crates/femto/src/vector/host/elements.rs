//! Loops over elements and lines, from L-vectors to vectors in their own order. Lengths have been checked.

use crate::Number;
use crate::pool::Pool;
use crate::vector::{ElementInterpolation, ElementInverse, LineSolve};
use femto_kernel::scalar::SimdLevel;
use femto_kernel::vector::element_inverse::{self, Items, Lines};
use femto_kernel::vector::interpolation;
use femto_kernel::vector::line_solve::{self, LineFactors};
use femto_platform::device::host::Host;
use std::ops::Range;

/// Interpolates.
pub(super) fn interpolate<T: Number>(
    host: &Host,
    with: &ElementInterpolation<T, Host>,
    x: &[T],
    e: &mut [T],
) {
    let part = &mut e[with.first..with.end()];
    let per_element = with.strides.components * with.shape.outputs();
    let inputs = with.shape.inputs();
    let scratch = (&with.scratch, with.shape.scratch());
    let to = (0..with.elements(), per_element, part);
    on_elements(host, scratch, to, &|elements, scratch, e| {
        let nodes = &with.nodes[elements.start * inputs..elements.end * inputs];
        interpolation::interpolate(
            SimdLevel::detect(),
            (with.shape, &with.matrix),
            (nodes, with.strides),
            x,
            (scratch, e),
        );
    });
}

/// Inverts on elements.
pub(super) fn invert_elements<T: Number>(
    host: &Host,
    with: &ElementInverse<T, Host>,
    x: &[T],
    e: &mut [T],
) {
    let lines = Lines {
        vectors: &with.vectors,
        values: &with.values,
    };
    let scratch = (&with.scratch, with.shape.scratch());
    let to = (0..with.items(), with.shape.nodes(), e);
    on_elements(host, scratch, to, &|items, scratch, e| {
        let items = Items {
            components: with.components,
            first: items.start,
            nodes: &with.nodes,
            ends: &with.ends,
            strengths: &with.strengths,
        };
        element_inverse::invert(
            SimdLevel::detect(),
            (with.shape, lines),
            items,
            (&with.weights, x),
            (scratch, e),
        );
    });
}

/// Solves along lines.
pub(super) fn solve_lines<T: Number>(host: &Host, with: &LineSolve<T, Host>, x: &[T], e: &mut [T]) {
    let lines = LineFactors {
        band: with.band,
        offsets: &with.offsets,
        entries: &with.entries,
        factors: &with.factors,
    };
    on_slices(host, (lines, x), (0..with.slices(), e));
}

/// Rows of a task of lines, about: enough to make its start worthwhile.
const ROWS_OF_A_TASK: usize = 8192;

/// Solves slices in parallel, with their part of e.
fn on_slices<T: Number>(
    host: &Host,
    (lines, x): (LineFactors<'_, T>, &[T]),
    (slices, e): (Range<usize>, &mut [T]),
) {
    if e.len() > ROWS_OF_A_TASK && slices.len() > 1 {
        let middle = slices.start + slices.len() / 2;
        let own = lines.offsets[middle] - lines.offsets[slices.start];
        let (left, right) = e.split_at_mut(own as usize);
        host.join(
            || on_slices(host, (lines, x), (slices.start..middle, left)),
            || on_slices(host, (lines, x), (middle..slices.end, right)),
        );
        return;
    }
    line_solve::solve(SimdLevel::detect(), lines, x, (slices.start, e));
}

/// Elements of a task, whole batches of interpolation and inversion.
const ELEMENTS: usize = 64;
const _: () = assert!(
    ELEMENTS.is_multiple_of(interpolation::LANES)
        && ELEMENTS.is_multiple_of(element_inverse::LANES)
);

/// Calls `run` for runs of elements, with scratch memory of this length and their part of an E-vector that has
/// `per_element` numbers for each.
fn on_elements<T: Number>(
    host: &Host,
    (pool, len): (&Pool<Vec<T>>, usize),
    (elements, per_element, e): (Range<usize>, usize, &mut [T]),
    run: &(impl Fn(Range<usize>, &mut [T], &mut [T]) + Sync),
) {
    let tasks = elements.len().div_ceil(ELEMENTS);
    if tasks > 1 {
        let middle = tasks / 2 * ELEMENTS;
        let (left, right) = e.split_at_mut(middle * per_element);
        let middle = elements.start + middle;
        let left = (elements.start..middle, per_element, left);
        let right = (middle..elements.end, per_element, right);
        host.join(
            || on_elements(host, (pool, len), left, run),
            || on_elements(host, (pool, len), right, run),
        );
        return;
    }
    let scratch = pool.take();
    let mut scratch = scratch.unwrap_or_else(|| vec![T::default(); len]);
    run(elements, &mut scratch, e);
    pool.put(scratch);
}
