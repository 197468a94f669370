//! Random numbers generated where they are needed, on a device or one by one on the host.

use super::source::{SUMS, blocks, number};
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder, text};
use crate::scalar::Precision;

const TEXT: KernelFile = text!("vector/random.c");

/// Block of every kernel of the text, launched with [`blocks_of`] blocks.
pub const BLOCK: BlockShape = BlockShape::row(256);

/// The text for vectors of one precision: `random`, which fills a vector, and `pick`, which copies a part
/// of one. Arguments are given in `random.c`.
pub fn source(language: Language, precision: Precision) -> String {
    let mut source = SourceBuilder::new(language, SUMS, BLOCK);
    source.define("number", number(precision));
    source.include(TEXT);
    source.finish()
}

/// Blocks for vectors of `len` entries.
pub fn blocks_of(precision: Precision, len: usize) -> u32 {
    blocks(precision, len)
}

/// Entry `index` of the vector that `random` generates from a seed, in [−1, 1): splitmix64 (Steele et
/// al. 2014) of both.
pub fn entry(seed: u32, index: u32) -> f64 {
    let z = (u64::from(seed) << 32).wrapping_add(u64::from(index) + 1);
    let z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let z = z ^ (z >> 31);
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_fill_the_interval_and_differ_by_seed() {
        let sum = |seed| (0..10_000).map(|i| entry(seed, i)).sum::<f64>();
        for seed in [0, 1, u32::MAX] {
            assert!(sum(seed).abs() < 300.0, "{seed}: {}", sum(seed));
            assert!((0..10_000).all(|i| (-1.0..1.0).contains(&entry(seed, i))));
        }
        assert_ne!(entry(0, 0), entry(1, 0));
        assert_ne!(entry(0, 0), entry(0, 1));
        assert!(entry(u32::MAX, u32::MAX) < 1.0);
    }
}
