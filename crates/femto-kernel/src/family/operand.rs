//! Operands of kernels, the C parameters printed from them, and `KernelSource`.

use crate::dialect::{BlockShape, SourceBuilder};

/// An argument of a kernel. Integers are 32-bit and unsigned. Fields are grouped by kind, in the order of
/// the form. Only the lengths of arrays depend on the argument values, so other data need no other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Node lists of blocks of cells: the start of each block.
    Blocks,
    /// Node lists: the nodes of cells, as 16-bit indices into the block's list.
    BlockLocal,
    /// Node lists: the end of each node's slots.
    BlockEnds,
    /// Node lists: the slots to be summed.
    BlockSlots,
    /// Node lists: the nodes.
    BlockList,
    /// The packed geometry of each element.
    Geometry,
    /// Coordinates `[vertex][dim]`.
    Coordinates,
    /// The vertices of each element.
    Vertices,
    /// Points and weights along an axis, `[points_1d][2]`.
    Rule,
    /// Basis and rule at all points, if they do not fit constant memory.
    Tables,
    /// Matrices in the order and the places in which matrix units use them.
    Fragments,
    /// The nodes of an element that symmetry maps to each other.
    Orbits,
    /// The matrices of the elements.
    Matrices,
    /// A column of the matrices.
    Column,
    /// Of columns of elements: nodes of the lowest element, numbers of the edges, the column's own and what it exchanges with the
    /// other of its pair, `[place][number]`.
    ColumnStarts,
    /// Of columns: their bases in the plane, `[place][vertex][2]`.
    ColumnBases,
    /// Along the edges of columns z below each layer and the layer's height, `[edge][layer][2]`.
    ColumnHeights,
    /// The nodes of each element.
    Nodes,
    /// The stride of components in u and v.
    ComponentStride,
    /// Contributions `[component][contribution_first + element][node]`, or for blocks
    /// `[component][contribution_first + entry]`.
    Contributions,
    /// The stride of components of contributions.
    ContributionStride,
    /// The first contribution of this launch: an element number, or an entry of the blocks' lists.
    ContributionFirst,
    /// The index of each element in E-vectors.
    Elements,
    /// Fields constant in elements, `[element][field]`.
    CellFields,
    /// `CellFields` in the order of blocks of cells, `[place][field]`.
    BlockCellFields,
    /// Fields in the solution's space: `[element][field][node]` with E-vectors, otherwise L-vectors of all
    /// nodes.
    NodalFields,
    /// The stride between those L-vectors.
    FieldStride,
    /// Fields at the points, `[element][field][point]`.
    PointFields,
    /// The time, then the parameters, in the precision of the arithmetic.
    EvalContext,
    /// The input.
    U,
    /// The output: written, except for additions to shared nodes under atomic summation.
    V,
    /// The number of elements, or of places for them in blocks.
    Count,
}

impl Operand {
    /// Its C type and name. `stored_real` is the number type of packed geometry.
    const fn parameter(self) -> (&'static str, &'static str) {
        const NUMBERS: &str = "const GLOBAL real *RESTRICT";
        const OUTPUT: &str = "GLOBAL real *RESTRICT";
        const TABLE: &str = "const GLOBAL uint *RESTRICT";
        const SHORT_TABLE: &str = "const GLOBAL ushort *RESTRICT";
        const COUNT: &str = "const uint";
        match self {
            Self::Blocks => (TABLE, "g_blocks"),
            Self::BlockLocal => (SHORT_TABLE, "g_local"),
            Self::BlockEnds => (SHORT_TABLE, "g_ends"),
            Self::BlockSlots => (SHORT_TABLE, "g_slots"),
            Self::BlockList => (TABLE, "g_list"),
            Self::Nodes => (TABLE, "g_nodes"),
            Self::Geometry => ("const GLOBAL stored_real *RESTRICT", "g_geometry"),
            Self::Coordinates => (NUMBERS, "g_coordinates"),
            Self::Vertices => (TABLE, "g_vertices"),
            Self::Rule => (NUMBERS, "g_rule"),
            Self::Tables => (NUMBERS, "g_tables"),
            Self::Fragments => (NUMBERS, "g_fragments"),
            Self::Orbits => (SHORT_TABLE, "g_orbits"),
            Self::Matrices => (NUMBERS, "g_matrices"),
            Self::Column => (COUNT, "column"),
            Self::ColumnStarts => (TABLE, "g_columns"),
            Self::ColumnBases => (NUMBERS, "g_bases"),
            Self::ColumnHeights => (NUMBERS, "g_heights"),
            Self::ComponentStride => (COUNT, "component_stride"),
            Self::Contributions => (OUTPUT, "g_contributions"),
            Self::ContributionStride => (COUNT, "contribution_stride"),
            Self::ContributionFirst => (COUNT, "contribution_first"),
            Self::Elements => (TABLE, "g_elements"),
            Self::CellFields | Self::BlockCellFields => (NUMBERS, "g_cell_fields"),
            Self::NodalFields => (NUMBERS, "g_nodal_fields"),
            Self::FieldStride => (COUNT, "field_stride"),
            Self::PointFields => (NUMBERS, "g_point_fields"),
            Self::EvalContext => (NUMBERS, "g_context"),
            Self::U => (NUMBERS, "g_u"),
            Self::V => (OUTPUT, "g_v"),
            Self::Count => (COUNT, "elements"),
        }
    }
}

/// Defines `KERNEL_ARGUMENTS`, the parameter list of a kernel with these operands, and `ABSENT_OPERANDS`,
/// which declares the missing ones of `optional` as zero, for texts that pass all of them on.
pub(super) fn define_arguments(
    source: &mut SourceBuilder,
    operands: &[Operand],
    optional: &[Operand],
) {
    let print = |operand: &Operand| {
        let (of, name) = operand.parameter();
        format!("{of} {name}")
    };
    let parameters: Vec<String> = operands.iter().map(print).collect();
    source.define("KERNEL_ARGUMENTS", parameters.join(", "));
    let name = |operand: &Operand| operand.parameter().1;
    let is_absent = |operand: &&Operand| !operands.iter().any(|other| name(other) == name(operand));
    let absent = optional.iter().filter(is_absent);
    let absent: String = absent.map(|it| format!("{} = 0; ", print(it))).collect();
    source.define("ABSENT_OPERANDS", absent);
}

/// A text to compile, and its launch shape.
#[derive(Clone, Debug)]
pub struct KernelSource {
    /// A name for reports, with family, sizes and precision.
    pub name: String,
    /// The translation unit.
    pub text: String,
    /// The kernel in it.
    pub entry: &'static str,
    /// Threads and shared memory of a block.
    pub block: BlockShape,
    /// Elements of a block; the last one may have fewer.
    pub elements_per_block: u32,
    /// The operands, in the order of the parameters.
    pub operands: Vec<Operand>,
}

impl KernelSource {
    /// Blocks for a number of elements.
    pub fn blocks(&self, elements: usize) -> u32 {
        elements.div_ceil(self.elements_per_block as usize) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Language;
    use crate::scalar::Precision;

    #[test]
    fn parameters_are_printed_in_the_order_of_operands() {
        let block = BlockShape::row(32);
        let mut source = SourceBuilder::new(Language::Cuda, Precision::Fp64, block);
        let operands = [Operand::Geometry, Operand::V, Operand::Count];
        define_arguments(&mut source, &operands, &[Operand::U, Operand::V]);
        let text = source.finish();
        for part in [
            "#define KERNEL_ARGUMENTS const GLOBAL stored_real *RESTRICT g_geometry, \
             GLOBAL real *RESTRICT g_v, const uint elements\n",
            "#define ABSENT_OPERANDS const GLOBAL real *RESTRICT g_u = 0; \n",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
