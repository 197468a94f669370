//! Orders of cells that keep neighbours close in memory.

use rayon::prelude::*;

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
    let mut keys: Vec<(u64, u32)> = centroids
        .par_iter()
        .enumerate()
        .map(|(number, x)| {
            // The conversion to integers saturates, and maps NaN to 0.
            let cell = [0, 1, 2].map(|a| ((x[a] - lower[a]) * scale) as u32);
            (
                hilbert_key(cell.map(|c| c.min((1 << BITS) - 1))),
                number as u32,
            )
        })
        .collect();
    keys.par_sort_unstable();
    keys.into_par_iter().map(|(_, number)| number).collect()
}

/// Smallest and largest coordinates of the points.
pub(crate) fn bounding_box(points: &[[f64; 3]]) -> ([f64; 3], [f64; 3]) {
    let empty = || ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let around = |a: ([f64; 3], [f64; 3]), b: ([f64; 3], [f64; 3])| {
        (
            [0, 1, 2].map(|axis| a.0[axis].min(b.0[axis])),
            [0, 1, 2].map(|axis| a.1[axis].max(b.1[axis])),
        )
    };
    let points = points.par_iter().with_min_len(4096).copied();
    points.map(|x| (x, x)).reduce(empty, around)
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

/// Index along the Hilbert curve of a cell of the grid with 2^[`BITS`] cells along each axis.
///
/// J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004) 381: the coordinates
/// are transformed in place into the "transpose" of the key, whose bits are then interleaved, first axis
/// most significant.
fn hilbert_key(mut x: [u32; 3]) -> u64 {
    // Inverse undo of the excess work: from the coarsest bit, exchange or invert the lower bits.
    for bit in (1..BITS).rev() {
        let (mask, lower) = (1 << bit, (1 << bit) - 1);
        for axis in 0..3 {
            if x[axis] & mask != 0 {
                x[0] ^= lower;
            } else {
                let swap = (x[0] ^ x[axis]) & lower;
                x[0] ^= swap;
                x[axis] ^= swap;
            }
        }
    }
    // Gray encode.
    x[1] ^= x[0];
    x[2] ^= x[1];
    let parity = (1..BITS)
        .filter(|bit| x[2] & (1 << bit) != 0)
        .fold(0, |flips, bit| flips ^ ((1 << bit) - 1));
    let [x0, x1, x2] = x.map(|x| spread(x ^ parity));
    x0 << 2 | x1 << 1 | x2
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
