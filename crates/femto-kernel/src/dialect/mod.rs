//! The C dialect of kernel texts, with a page of differences for each of CUDA and OpenCL.
//!
//! A kernel text is written once, in C99 with the words of `dialect/cuda.h` and `dialect/opencl.h`
//! (`KERNEL`, `GLOBAL`, `SHARED`, `CONSTANT`, `BARRIER`, `THREAD_X`, ...). A [`SourceBuilder`] assembles a
//! translation unit: definitions, the words of the language, tables, and the texts, each under its own file
//! name for use in compiler messages.
//!
//! | word | meaning |
//! |------|---------|
//! | `real`, `REAL_BYTES` | the number type of the source and its size |
//! | `real2` | two of them side by side, `.x` and `.y` |
//! | `KERNEL(name)(arguments)` | a kernel of blocks of `BLOCK_X` × `BLOCK_Y` × `BLOCK_Z` threads |
//! | `BLOCKS_PER_UNIT` | target number of resident blocks per compute unit; CUDA limits registers by it; 0 for none |
//! | `SHARED_MEMORY(name)` | the block's shared memory, `SHARED_REALS` numbers |
//! | `SHARED_ARRAY(type, name, count)` | more of it, of any type |
//! | `THREAD_X/Y/Z`, `BLOCK`, `BLOCKS` | position in the block; number of the block, of all blocks |
//! | `BARRIER()`, `WARP_BARRIER()` | waits for all threads of a block, or of a group of 32 consecutive ones |
//! | `UNROLL`, `UNROLL_BY(count)` | before a loop: unroll it, completely or `count` times |
//! | `atomic_add(g_target, value)` | adds to global memory |
//! | `stream_load(g_source)` | reads data that are not read again |
//! | `stream_load_single(g_source)` | the same for single precision, whatever `real` is |
//! | `ASYNC_COPY(bytes, s_target, g_source)`, `ASYNC_COPIES_DONE()` | copies 4, 8 or 16 bytes to shared memory asynchronously; waits for the thread's own copies |
//! | `PREFETCH_L2(g_source)` | prefetches the 128 bytes around an address into the cache shared by all units, where an instruction exists |
//! | `reciprocal(x)` | 1/x of an ordinary number, to about one unit in the last place |
//!
//! No kernel returns before a barrier that other threads wait at.

pub mod counting;

use crate::scalar::Precision;
use core::fmt::{Display, Write};

/// The kernel file at a path below `src`, given in one or more parts.
macro_rules! text {
    ($($part:literal),+) => {
        $crate::dialect::KernelFile {
            name: concat!($($part),+),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/", $($part),+)),
        }
    };
}
pub(crate) use text;

/// A language that kernel texts are compiled in: a compiler and its page of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// CUDA C, for NVRTC.
    Cuda,
    /// OpenCL C 1.2.
    OpenCl,
}

impl Language {
    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "CUDA C",
            Self::OpenCl => "OpenCL C",
        }
    }

    /// Whether mathematical functions of single precision have names of their own (`sinf`).
    pub const fn suffixes_functions(self) -> bool {
        matches!(self, Self::Cuda)
    }

    /// Whether a name is a word of the language.
    fn has_word(self, name: &str) -> bool {
        let defined = self
            .words()
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("#define "));
        let mut words = defined.filter_map(|word| word.split(['(', ' ']).next());
        words.any(|word| word == name)
    }

    const fn words(self) -> KernelFile {
        match self {
            Self::Cuda => text!("dialect/cuda.h"),
            Self::OpenCl => text!("dialect/opencl.h"),
        }
    }
}

/// A kernel file and the name that compilers report for it.
#[derive(Clone, Copy, Debug)]
pub struct KernelFile {
    /// Path below `src`, such as `family/sum_factorization/text/pencils.c`.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

/// The launch shape of a kernel, fixed by its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Threads along x, y and z.
    pub threads: [u32; 3],
    /// Target number of resident blocks per compute unit, by which compilers limit registers: with 1 a thread may use
    /// all that help it alone; with 0 there is no target, and compilers weigh registers against residence themselves.
    pub blocks_per_unit: u32,
    /// Shared memory of a block, in numbers of the source's precision.
    pub shared_reals: u32,
}

impl BlockShape {
    /// A row of threads without shared memory.
    pub const fn row(threads: u32) -> Self {
        Self {
            threads: [threads, 1, 1],
            blocks_per_unit: 1,
            shared_reals: 0,
        }
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.threads.iter().product()
    }

    /// Shared memory of a block in bytes.
    pub fn shared_bytes(&self, precision: Precision) -> u32 {
        self.shared_reals * precision.bytes() as u32
    }
}

/// Assembles a translation unit.
#[derive(Clone, Debug)]
pub struct SourceBuilder {
    language: Language,
    precision: Precision,
    definitions: String,
    body: String,
}

impl SourceBuilder {
    /// A source in which `real` has the given precision.
    pub fn new(language: Language, precision: Precision, block: BlockShape) -> Self {
        let mut source = Self {
            language,
            precision,
            definitions: String::new(),
            body: String::new(),
        };
        let real = match precision {
            Precision::Fp64 => "double",
            Precision::Fp32 => "float",
        };
        source.define("real", real);
        source.define("REAL_BYTES", precision.bytes());
        for (name, threads) in ["BLOCK_X", "BLOCK_Y", "BLOCK_Z"].iter().zip(block.threads) {
            source.define(name, threads);
        }
        source.define("BLOCKS_PER_UNIT", block.blocks_per_unit);
        // Arrays cannot be empty.
        source.define("SHARED_REALS", block.shared_reals.max(1));
        source
    }

    /// `#define name value`; `name` must not be one of the language's words, which it would replace.
    pub fn define(&mut self, name: &str, value: impl Display) {
        debug_assert!(!self.language.has_word(name), "{name} is a word");
        _ = writeln!(self.definitions, "#define {name} {value}");
    }

    /// A table in constant memory, so that unrolled loops use its entries as operands.
    pub fn table(&mut self, name: &str, values: &[f64]) {
        let suffix = match self.precision {
            Precision::Fp64 => "",
            Precision::Fp32 => "f",
        };
        let entries: Vec<String> = match self.precision {
            Precision::Fp64 => values.iter().map(|value| format!("{value:?}")).collect(),
            Precision::Fp32 => values
                .iter()
                .map(|&value| format!("{:?}{suffix}", value as f32))
                .collect(),
        };
        let len = values.len().max(1);
        let entries = if entries.is_empty() {
            "0".to_owned()
        } else {
            entries.join(", ")
        };
        _ = writeln!(self.body, "CONSTANT real {name}[{len}] = {{{entries}}};");
    }

    /// Printed code, such as the point-wise function of a form; `name` is its file name for compilers.
    pub fn code(&mut self, name: &str, text: &str) {
        _ = write!(self.body, "#line 1 \"{name}\"\n{text}\n");
    }

    /// A kernel file of this crate.
    pub fn include(&mut self, file: KernelFile) {
        self.code(file.name, file.text);
    }

    /// The translation unit.
    pub fn finish(self) -> String {
        let words = self.language.words();
        format!(
            "{}#line 1 \"{}\"\n{}\n#line 1 \"tables\"\n{}",
            self.definitions, words.name, words.text, self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_definitions_words_tables_and_texts() {
        let block = BlockShape {
            threads: [4, 5, 1],
            blocks_per_unit: 2,
            shared_reals: 0,
        };
        assert_eq!(block.threads(), 20);
        let is_word = |name| Language::Cuda.has_word(name) && Language::OpenCl.has_word(name);
        assert!(is_word("BARRIER") && is_word("BLOCKS") && !is_word("NODES_1D"));
        let mut source = SourceBuilder::new(Language::Cuda, Precision::Fp32, block);
        source.define("NODES_1D", 4);
        source.table("c_weights", &[0.5, 1e-20, 2.0]);
        source.code("form", "int form;");
        let text = source.finish();
        for part in [
            "#define real float\n#define REAL_BYTES 4\n#define BLOCK_X 4\n",
            "#define NODES_1D 4\n#line 1 \"dialect/cuda.h\"",
            "CONSTANT real c_weights[3] = {0.5f, 1e-20f, 2.0f};\n#line 1 \"form\"\nint form;",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
