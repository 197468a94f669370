//! The kernel source of the vector loops.

use super::sparse::{MOST_COMPONENTS, NO_COLUMN, SLICE};
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder, text};
use crate::scalar::Precision;

const TEXT: KernelFile = text!("vector/vectors.c");
const FIELD: KernelFile = text!("vector/field.c");

/// Block of the kernel of [`field_source`], in which a thread takes a node.
pub const FIELD_BLOCK: BlockShape = BlockShape::row(256);

/// The text that extracts a component of an L-vector; its kernel is `field`.
///
/// Arguments: u, its stride of nodes, its offset of the component; the fields, the number of the target
/// field, the number of nodes.
pub fn field_source(language: Language, precision: Precision) -> String {
    let mut source = SourceBuilder::new(language, precision, FIELD_BLOCK);
    source.include(FIELD);
    source.finish()
}

/// Bytes that a thread loads at once.
const PACK_BYTES: usize = 16;

/// Packs per thread in loops without a sum: several, to make its start worthwhile, but few, so that there
/// are enough blocks for any number of multiprocessors.
const PACKS_OF_A_THREAD: usize = 4;

/// Maximum number of blocks of a sum, for any length: as many as 132 multiprocessors hold at the same time,
/// and few enough for one block to add their results.
pub const MOST_BLOCKS: u32 = 8 * 132;

/// Block of every kernel of the text.
pub const BLOCK: BlockShape = BlockShape {
    threads: [256, 1, 1],
    blocks_per_unit: 4,
    shared_reals: 256,
};

/// Sums and scalars are taken in this precision, whatever that of the vectors.
pub const SUMS: Precision = Precision::Fp64;

/// The text of all loops over vectors of one precision.
///
/// Kernels, with arguments given in `vectors.c`: `fill`, `set_entries`, `project`, `gather`, `add_to_entries`,
/// `axpy`, `xpby`, `multiply`, `convert`, `convert_single`, `multiply_sparse`, `multiply_sparse_blocks`,
/// `multiply_sparse_components`, `chebyshev_step`, `update_direction`; `invert`, `dot_product`, `square`, `precondition_dot`,
/// `update_residual`, which leave one or two sums per block, and `finish`, which adds these with one block per sum.
pub fn source(language: Language, precision: Precision) -> String {
    let mut source = SourceBuilder::new(language, SUMS, BLOCK);
    source.define("number", number(precision));
    source.define("PACK", pack(precision));
    source.define("MOST_BLOCKS", MOST_BLOCKS);
    source.define("SLICE", SLICE);
    source.define("MOST_COMPONENTS", MOST_COMPONENTS);
    source.define("NO_COLUMN", format!("{NO_COLUMN}u"));
    source.include(TEXT);
    source.finish()
}

/// The type of the vectors' entries.
pub(super) const fn number(precision: Precision) -> &'static str {
    match precision {
        Precision::Fp64 => "double",
        Precision::Fp32 => "float",
    }
}

/// Blocks of a loop without a sum over vectors of `len` entries.
pub fn blocks(precision: Precision, len: usize) -> u32 {
    blocks_of(len.div_ceil(PACKS_OF_A_THREAD * pack(precision)))
}

/// Blocks of a loop over a list of `len` entries, one thread per entry.
pub fn entry_blocks(len: usize) -> u32 {
    blocks_of(len)
}

/// Blocks of a loop with a sum over vectors of `len` entries; depends on nothing else, so neither
/// does the sum.
pub fn sum_blocks(precision: Precision, len: usize) -> u32 {
    blocks_of(len.div_ceil(pack(precision))).min(MOST_BLOCKS)
}

/// Blocks for a number of threads; at least one.
fn blocks_of(threads: usize) -> u32 {
    let blocks = threads.div_ceil(BLOCK.threads() as usize).max(1);
    blocks.try_into().unwrap_or(u32::MAX)
}

/// Entries that a thread loads at once.
const fn pack(precision: Precision) -> usize {
    PACK_BYTES / precision.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_work_and_there_is_always_one() {
        for (precision, packs) in [(Precision::Fp64, 512), (Precision::Fp32, 1024)] {
            for (blocks, per_block) in [
                (sum_blocks as fn(Precision, usize) -> u32, packs),
                (blocks, PACKS_OF_A_THREAD * packs),
            ] {
                assert_eq!(blocks(precision, 0), 1);
                assert_eq!(blocks(precision, per_block), 1);
                assert_eq!(blocks(precision, per_block + 1), 2);
                assert_eq!(blocks(precision, 100 * per_block), 100);
            }
            assert_eq!(sum_blocks(precision, usize::MAX), MOST_BLOCKS);
        }
    }

    #[test]
    fn a_source_names_its_numbers() {
        for language in [Language::Cuda, Language::OpenCl] {
            let text = source(language, Precision::Fp32);
            assert!(text.contains("#define real double\n"), "{text}");
            assert!(text.contains("#define number float\n"), "{text}");
            assert!(text.contains("#define PACK 4\n"), "{text}");
        }
    }
}
