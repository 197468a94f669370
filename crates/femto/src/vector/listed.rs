//! Work on the entries or nodes of a list, in parallel on the host.

use crate::Number;
use femto_platform::device::host::Host;

/// Listed entries per task.
const ENTRIES: usize = 4096;

/// Changes the entries of an ascending list, each with its position in it; `y` begins with entry `first`.
pub(super) fn at_entries<T: Number>(
    host: &Host,
    ascending: &[[u32; 2]],
    (first, y): (usize, &mut [T]),
    change: &(impl Fn(&mut T, usize) + Sync),
) {
    if ascending.len() <= ENTRIES {
        for &[entry, place] in ascending {
            change(&mut y[entry as usize - first], place as usize);
        }
        return;
    }
    let (left, right) = ascending.split_at(ascending.len() / 2);
    let middle = right[0][0] as usize;
    let (before, after) = y.split_at_mut(middle - first);
    host.join(
        || at_entries(host, left, (first, before), change),
        || at_entries(host, right, (middle, after), change),
    );
}

/// Multiplies the components of nodes by a projector each. `y` is the part of a vector from node `first` on; threads
/// take parts of the list.
pub(super) fn project_nodes<T: Number>(
    host: &Host,
    count: usize,
    (nodes, projectors): (&[u32], &[T]),
    (first, y): (usize, &mut [T]),
) {
    if nodes.len() <= ENTRIES {
        let mut product = [T::default(); 3];
        for (&node, projector) in nodes.iter().zip(projectors.chunks_exact(count * count)) {
            let own = &mut y[(node as usize - first) * count..][..count];
            for (row, product) in projector.chunks_exact(count).zip(&mut product) {
                let terms = row.iter().zip(&*own).map(|(&p, &v)| p * v);
                *product = terms.fold(T::default(), |sum, term| sum + term);
            }
            own.copy_from_slice(&product[..count]);
        }
        return;
    }
    let half = nodes.len() / 2;
    let (left, right) = nodes.split_at(half);
    let (before, after) = projectors.split_at(half * count * count);
    let middle = right[0] as usize;
    let (y_before, y_after) = y.split_at_mut((middle - first) * count);
    host.join(
        || project_nodes(host, count, (left, before), (first, y_before)),
        || project_nodes(host, count, (right, after), (middle, y_after)),
    );
}
