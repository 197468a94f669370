//! Orders of cells that keep neighbours close in memory.

use crate::parallel;
use rayon::slice::ParallelSliceMut;

/// Bits per axis of the grid on which the curve is drawn: 65536 steps along the longest side of the
/// bounding box. Cells closer than that keep the order of their numbers.
const BITS: u32 = 16;

/// The numbers of the points in the order of a 3-D Hilbert curve: entry `n` is the `n`-th point on it.
///
/// Deterministic for any number of threads; points at the same place of the curve (all of them, if all are
/// equal) keep their order.
pub fn hilbert_order(centroids: &[[f64; 3]]) -> Vec<u32> {
    let (lower, upper) = bounding_box(centroids);
    let extent = (0..3).fold(0.0, |extent: f64, a| extent.max(upper[a] - lower[a]));
    let scale = f64::from((1u32 << BITS) - 1) / extent.max(f64::MIN_POSITIVE);
    let mut keys: Vec<(u64, u32)> = vec![(0, 0); centroids.len()];
    parallel::chunks(&mut keys, LANES, |part, keys| {
        let centroids = &centroids[part * LANES..][..keys.len()];
        let mut cells = [[0; LANES]; 3];
        for (lane, x) in centroids.iter().enumerate() {
            for a in 0..3 {
                // The conversion to integers saturates, and maps NaN to 0.
                cells[a][lane] = (((x[a] - lower[a]) * scale) as u32).min((1 << BITS) - 1);
            }
        }
        let numbers = (part * LANES) as u32..;
        let numbered = hilbert_keys(cells).into_iter().zip(numbers);
        keys.iter_mut()
            .zip(numbered)
            .for_each(|(key, new)| *key = new);
    });
    keys.par_sort_unstable();
    parallel::map(keys.len(), |place| keys[place].1)
}

/// Smallest and largest coordinates of the points.
pub(crate) fn bounding_box(points: &[[f64; 3]]) -> ([f64; 3], [f64; 3]) {
    box_around(points.len(), |point| points[point])
}

/// As [`bounding_box`], of points that all threads visit.
pub(super) fn box_around(
    count: usize,
    point: impl Fn(usize) -> [f64; 3] + Sync,
) -> ([f64; 3], [f64; 3]) {
    let empty = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let both = |a: ([f64; 3], [f64; 3]), b: ([f64; 3], [f64; 3])| {
        (
            [0, 1, 2].map(|axis| a.0[axis].min(b.0[axis])),
            [0, 1, 2].map(|axis| a.1[axis].max(b.1[axis])),
        )
    };
    let of_point = |number| {
        let x = point(number);
        (x, x)
    };
    parallel::reduce(count, empty, of_point, both)
}

/// Distances in this box that are only rounding: a part of its largest extent, or a few roundings of the largest coordinate.
pub(crate) fn rounding((lower, upper): ([f64; 3], [f64; 3]), part: f64) -> f64 {
    let largest = |of: fn(f64, f64) -> f64| {
        let all = lower.iter().zip(upper).map(|(&low, high)| of(low, high));
        all.fold(0.0, f64::max)
    };
    let extent = largest(|low, high| high - low);
    let farthest = largest(|low, high| low.abs().max(high.abs()));
    (part * extent).max(8.0 * f64::EPSILON * farthest)
}

/// Keys computed at once, so that they are vectorised.
const LANES: usize = 16;

/// Indices along the Hilbert curve of cells of the grid with 2^[`BITS`] cells along each axis.
///
/// J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004) 381: the coordinates
/// are transformed in place into the "transpose" of the key, whose bits are then interleaved, first axis
/// most significant.
fn hilbert_keys(mut x: [[u32; LANES]; 3]) -> [u64; LANES] {
    // Inverse undo of the excess work: from the coarsest bit, exchange or invert the lower bits.
    let [first, others @ ..] = &mut x;
    for bit in (1..BITS).rev() {
        let lower = (1 << bit) - 1;
        let is_set = |x: u32| (x >> bit & 1).wrapping_neg();
        for first in &mut *first {
            *first ^= lower & is_set(*first);
        }
        for own in &mut *others {
            for (first, own) in first.iter_mut().zip(own) {
                let invert = lower & is_set(*own);
                let exchange = (*first ^ *own) & lower & !invert;
                *first ^= invert ^ exchange;
                *own ^= exchange;
            }
        }
    }
    // Gray encode.
    std::array::from_fn(|lane| {
        let [x0, x1, x2] = [0, 1, 2].map(|axis| x[axis][lane]);
        let x1 = x1 ^ x0;
        let x2 = x2 ^ x1;
        // Of the bits above each one.
        let mut parity = x2 >> 1;
        for shift in [1, 2, 4, 8] {
            parity ^= parity >> shift;
        }
        let [x0, x1, x2] = [x0, x1, x2].map(|x| spread(x ^ parity));
        x0 << 2 | x1 << 1 | x2
    })
}

/// Inserts two zero bits between the bits of a number below 2^16.
fn spread(x: u32) -> u64 {
    let mut x = u64::from(x);
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: usize) -> Vec<[f64; 3]> {
        let points = (0..n * n * n).map(|m| [m % n, m / n % n, m / (n * n)]);
        points.map(|place| place.map(|p| p as f64)).collect()
    }

    #[test]
    fn neighbours_on_the_curve_are_neighbours_in_space() {
        for n in [2, 4, 16] {
            let points = grid(n);
            let order = hilbert_order(&points);
            for pair in order.windows(2) {
                let (x, y) = (points[pair[0] as usize], points[pair[1] as usize]);
                let distance: f64 = (0..3).map(|a| (x[a] - y[a]).abs()).sum();
                assert_eq!(distance, 1.0, "{n}: {x:?} then {y:?}");
            }
        }
    }

    #[test]
    fn the_order_is_a_permutation() {
        let mut order = hilbert_order(&grid(5));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..125));
    }

    #[test]
    fn degenerate_sets_keep_their_order() {
        assert!(hilbert_order(&[]).is_empty());
        assert_eq!(hilbert_order(&[[3.0; 3]; 4]), [0, 1, 2, 3]);
        let line = [0.5, 0.0, 1.0].map(|x| [7.0, x, 7.0]);
        let order = hilbert_order(&line);
        assert!(order == [1, 0, 2] || order == [2, 0, 1], "{order:?}");
        // Not meaningful, but defined.
        assert_eq!(hilbert_order(&[[f64::NAN; 3], [f64::INFINITY; 3]]).len(), 2);
    }
}
