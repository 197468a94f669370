//! The kernels of shared nodes: zeroing before atomic sums, sums of contributions.

use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder, text};
use crate::scalar::Precision;

/// A text that runs over nodes, and its block of threads.
#[derive(Clone, Debug)]
pub struct NodeKernel {
    /// The translation unit.
    pub text: String,
    /// The block of threads.
    pub block: BlockShape,
}

/// The text that prepares an output for atomic sums; its kernel is `zero`, and a block takes one piece.
///
/// Arguments: pieces `[piece][2]` (first node, end), the stride of components, v.
pub fn zero_source(
    language: Language,
    precision: Precision,
    components: usize,
    interleaved: bool,
) -> NodeKernel {
    node_kernel(
        language,
        precision,
        (components, interleaved),
        text!("family/text/zero.c"),
    )
}

/// The text that sums contributions; its kernel is `sum`, and a thread takes one node.
///
/// Arguments: the nodes, the start of each node's sources `[nodes + 1]`, the sources, the contributions,
/// the stride of their components, the stride of the components of v, the first node whose sum is added to
/// v's present value, v, the number of nodes in the list.
pub fn sum_source(
    language: Language,
    precision: Precision,
    components: usize,
    interleaved: bool,
) -> NodeKernel {
    node_kernel(
        language,
        precision,
        (components, interleaved),
        text!("family/text/sum.c"),
    )
}

fn node_kernel(
    language: Language,
    precision: Precision,
    (components, interleaved): (usize, bool),
    file: KernelFile,
) -> NodeKernel {
    let block = BlockShape::row(256);
    let mut source = SourceBuilder::new(language, precision, block);
    source.define("COMPONENTS", components);
    source.define("NODE_STRIDE", if interleaved { components } else { 1 });
    source.include(file);
    NodeKernel {
        text: source.finish(),
        block,
    }
}
