//! The text of the loops for devices that compile kernels.

use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use crate::roofline::Precision;

const TEXT: KernelFile = KernelFile {
    name: "vector/vectors.c",
    text: include_str!("vectors.c"),
};

/// Bytes that a thread loads at once.
const PACK_BYTES: usize = 16;

/// Blocks at most, for any length: as many as a large GPU holds at the same time, and few enough
/// that one block adds their sums.
pub const MOST_BLOCKS: u32 = 1024;

/// How every kernel of the text is started.
pub const BLOCK: BlockShape = BlockShape {
    threads: [256, 1, 1],
    blocks_per_unit: 4,
    shared_reals: 256,
};

/// Sums and scalars are taken in this precision, whatever that of the vectors.
pub const SUMS: Precision = Precision::Fp64;

/// The text of all loops over vectors of one precision.
///
/// Kernels, with the arguments that `vectors.c` gives them: `fill`, `axpy`, `xpby`, `multiply`,
/// `divide`, `advance`; `dot_product`, `square`, `precondition_dot`, `reduce`, which leave one or two sums
/// per block, and `finish`, which adds these with a block per sum.
pub fn source(language: Language, precision: Precision) -> String {
    let mut source = SourceBuilder::new(language, SUMS, BLOCK);
    let number = match precision {
        Precision::Fp64 => "double",
        Precision::Fp32 => "float",
    };
    source.define("number", number);
    source.define("PACK", pack(precision));
    source.define("MOST_BLOCKS", MOST_BLOCKS);
    source.include(TEXT);
    source.finish()
}

/// Blocks for vectors of `len` entries; depends on nothing else, so that sums do not either.
pub fn blocks(precision: Precision, len: usize) -> u32 {
    let packs = len.div_ceil(pack(precision));
    let blocks = packs.div_ceil(BLOCK.threads() as usize);
    blocks.clamp(1, MOST_BLOCKS as usize) as u32
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
        for (precision, per_block) in [(Precision::Fp64, 512), (Precision::Fp32, 1024)] {
            assert_eq!(blocks(precision, 0), 1);
            assert_eq!(blocks(precision, per_block), 1);
            assert_eq!(blocks(precision, per_block + 1), 2);
            assert_eq!(blocks(precision, usize::MAX), MOST_BLOCKS);
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
