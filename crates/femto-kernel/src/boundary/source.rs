//! The kernel sources for values at points and sums over facets.

use super::PointFunction;
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use crate::expr::GraphError;
use crate::roofline::Precision;

const VALUES: KernelFile = KernelFile {
    name: "boundary/values.c",
    text: include_str!("values.c"),
};

const FACETS: KernelFile = KernelFile {
    name: "boundary/facets.c",
    text: include_str!("facets.c"),
};

/// How both kernels are started: a thread takes a point or a node.
pub const BLOCK: BlockShape = BlockShape::row(256);

/// The text that evaluates a function at points; its kernel is `values`.
///
/// Arguments: positions `[point][3]`, the time, the values `[point]`, the number of points.
///
/// # Errors
/// A constant that is not finite in this precision.
pub fn values(
    function: &PointFunction,
    language: Language,
    precision: Precision,
) -> Result<String, GraphError> {
    let mut source = SourceBuilder::new(language, precision, BLOCK);
    source.code("function", &function.print(precision, language)?);
    source.include(VALUES);
    Ok(source.finish())
}

/// The text that integrates values over facets; its kernel is `facets`.
///
/// Arguments: offsets, contributions, basis and weights of a [`FacetSums`](super::FacetSums), the values
/// `[facet][point]`, the sums `[node]`, the number of points of a facet, the number of nodes.
pub fn facets(language: Language, precision: Precision) -> String {
    let mut source = SourceBuilder::new(language, precision, BLOCK);
    source.include(FACETS);
    source.finish()
}
