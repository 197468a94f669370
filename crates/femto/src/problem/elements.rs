//! Parallel traversal of the elements of a space, chunk by chunk, with deterministic sums.

use femto_fem::space::{Chunk, Space};
use rayon::prelude::*;
use std::ops::Range;

/// Approximate points per call: enough to hide its overhead, few enough for the caches.
const GROUP_POINTS: usize = 2048;

/// The chunk's elements in groups of about [`GROUP_POINTS`] points.
fn groups(chunk: &Chunk, points: usize) -> impl Iterator<Item = Range<usize>> {
    let group = (GROUP_POINTS / points).max(1);
    let end = chunk.elements.end;
    let starts = chunk.elements.clone().step_by(group);
    starts.map(move |start| start..(start + group).min(end))
}

/// Combines the elements' values at their nodes into an L-vector.
///
/// `give` takes a group of elements, cut to a good amount of work at `points` points each, and returns
/// `[node][element of the group]`. `add` combines values of several elements at one node, in an order that
/// depends on the space alone.
///
/// # Errors
/// The error of one of the groups.
pub(super) fn collect<V: Copy + Default + Send + Sync, E: Send>(
    space: &Space,
    points: usize,
    give: impl Fn(Range<usize>) -> Result<Vec<V>, E> + Sync,
    add: impl Fn(&mut V, V) + Sync,
    result: &mut [V],
) -> Result<(), E> {
    let restriction = space.restriction();
    let mut listed = vec![V::default(); restriction.interface.len()];
    let (private, shared) = result.split_at_mut(restriction.first_interface);
    let (_, mut private) = private.split_at_mut(restriction.private().start);
    let mut lists = &mut listed[..];
    let mut parts = Vec::with_capacity(restriction.chunks.len());
    for chunk in &restriction.chunks {
        let (own, rest) = private.split_at_mut(chunk.private.len());
        let (list, others) = lists.split_at_mut(chunk.interface.len());
        parts.push((chunk, own, list));
        (private, lists) = (rest, others);
    }
    parts.into_par_iter().try_for_each(|(chunk, own, list)| {
        let mut sums = vec![V::default(); chunk.nodes()];
        for elements in groups(chunk, points) {
            let given = give(elements.clone())?;
            for (index, element) in elements.clone().enumerate() {
                for (position, local) in restriction.element(element) {
                    add(
                        &mut sums[local as usize],
                        given[position * elements.len() + index],
                    );
                }
            }
        }
        let (first, second) = sums.split_at(own.len());
        own.copy_from_slice(first);
        list.copy_from_slice(second);
        Ok(())
    })?;
    for (index, value) in shared.iter_mut().enumerate() {
        for &source in restriction.sources(index) {
            add(value, listed[source as usize]);
        }
    }
    Ok(())
}

/// The values of the L-vector `u` at the nodes of some elements of a chunk, `[node][element]`.
fn gather(space: &Space, chunk: &Chunk, elements: Range<usize>, u: &[f64]) -> Vec<f64> {
    let restriction = space.restriction();
    let count = elements.len();
    let mut values = vec![0.0; count * space.nodes_per_element()];
    for (index, element) in elements.enumerate() {
        for (position, local) in restriction.element(element) {
            values[position * count + index] = u[restriction.node(chunk, local)];
        }
    }
    values
}

/// The values of the L-vector `u` at the nodes of a group of elements of one chunk.
pub(super) fn gather_group(space: &Space, elements: Range<usize>, u: &[f64]) -> Vec<f64> {
    let restriction = space.restriction();
    let chunk = &restriction.chunks[restriction.chunk_of(elements.start)];
    gather(space, chunk, elements, u)
}
