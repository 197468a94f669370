//! Kernels that measure the ceilings of an accelerator. Pure: the caller holds the clock.
//!
//! | kernel | arguments | does |
//! |---|---|---|
//! | `probe_copy` | source, target | [`REALS_PER_BLOCK`] numbers a block |
//! | `probe_read` | source, target that is not written | likewise |
//! | `probe_write` | a number, target | likewise |
//! | `probe_fma` | factor, addend, target that is not written | [`fma_flops`] |
//! | `probe_shared` | [`FLIP`], target that is not written | [`shared_bytes`] |

use super::Precision;
use crate::dialect::{BlockShape, Language, SourceBuilder, text};

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Numbers moved by each block of a copying, reading or writing kernel.
pub const REALS_PER_BLOCK: u32 = 2 * PASSES * THREADS;
/// The integer argument of `probe_shared`.
pub const FLIP: i32 = 32;

const PASSES: u32 = 4;
const CHAINS: u32 = 8;
const LINES: u32 = 8;
const ROUNDS: u32 = 4096;

/// Threads and shared memory of a block; only `probe_shared` uses the memory.
pub const BLOCK: BlockShape = BlockShape {
    threads: [THREADS, 1, 1],
    blocks_per_unit: 1,
    shared_reals: LINES * THREADS,
};

/// The translation unit.
pub fn source(language: Language, precision: Precision) -> String {
    let mut source = SourceBuilder::new(language, precision, BLOCK);
    let definitions = [
        ("PASSES", PASSES),
        ("CHAINS", CHAINS),
        ("LINES", LINES),
        ("ROUNDS", ROUNDS),
    ];
    for (name, value) in definitions {
        source.define(name, value);
    }
    source.include(text!("roofline/probe.c"));
    source.finish()
}

/// Flops of this many blocks of `probe_fma`.
pub fn fma_flops(blocks: u32) -> u64 {
    2 * u64::from(CHAINS * ROUNDS) * u64::from(blocks * THREADS)
}

/// Bytes that this many blocks of `probe_shared` read from shared memory.
pub fn shared_bytes(blocks: u32, precision: Precision) -> u64 {
    u64::from(LINES * ROUNDS) * u64::from(blocks * THREADS) * precision.bytes() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_those_of_the_loops() {
        assert_eq!(fma_flops(3), 3 * 256 * 4096 * 8 * 2);
        assert_eq!(shared_bytes(2, Precision::Fp64), 2 * 256 * 4096 * 8 * 8);
        assert_eq!(BLOCK.shared_reals % (2 * THREADS), 0);
        assert!((FLIP as u32).is_power_of_two() && (FLIP as u32) < THREADS);
        let text = source(Language::OpenCl, Precision::Fp32);
        assert!(text.contains("#define ROUNDS 4096\n") && text.contains("\"roofline/probe.c\""));
    }
}
