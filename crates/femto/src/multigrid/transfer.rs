//! Transfer between spaces of two degrees on the same mesh.
//!
//! Interpolation gives every node of one space the value of the other's function there, evaluated in the
//! first element that has the node, its *owner*. The transpose is exact: an element takes the values of the
//! nodes that it owns.

use super::MultigridError;
use crate::Number;
use crate::vector::{Csr, ElementInterpolation, SparseMatrix, VectorOps};
use femto_element::Interpolation;
use femto_element::basis::BasisError;
use femto_fem::space::{Block, Space};
use femto_kernel::vector::interpolation::{NO_NODE, Strides};
use femto_platform::device::{Device, DeviceError};
use rayon::prelude::*;

/// A linear map between L-vectors: an interpolation in each element, to an E-vector, and a sparse matrix from
/// there.
pub(super) struct Transfer<T: Number, D: Device> {
    device: D,
    blocks: Vec<ElementInterpolation<T, D>>,
    sums: SparseMatrix<T, D>,
}

impl<T: Number, D: VectorOps<T>> Transfer<T, D> {
    /// The values of functions of the space `from` at the nodes of the space `to`, of higher or lower degree.
    pub(super) fn interpolation(
        device: &D,
        from: &[Block],
        to: &[Block],
    ) -> Result<Self, MultigridError> {
        let pairs = pairs(from, to)?.into_iter();
        let maps = pairs.map(|pair| (pair.matrix, pair.from, pair.owned));
        Self::new(device, [&from[0].space, &to[0].space], maps.collect())
    }

    /// The transpose of [`Self::interpolation`], from the space `to` to the space `from`.
    pub(super) fn transposed(
        device: &D,
        from: &[Block],
        to: &[Block],
    ) -> Result<Self, MultigridError> {
        let pairs = pairs(from, to)?.into_iter();
        let maps = pairs.map(|pair| (pair.matrix.transposed(), pair.owned, pair.from));
        Self::new(device, [&to[0].space, &from[0].space], maps.collect())
    }

    /// For each block a matrix, the nodes of elements that it reads and those that its values belong to.
    fn new(
        device: &D,
        [source, target]: [&Space; 2],
        maps: Vec<(Interpolation, Vec<u32>, Vec<u32>)>,
    ) -> Result<Self, MultigridError> {
        let strides = Strides {
            components: source.components(),
            node: source.entry(1, 0) - source.entry(0, 0),
            component: source.entry(0, 1) - source.entry(0, 0),
        };
        let (mut blocks, mut entries) = (Vec::new(), Csr::new(target.dofs()));
        for (matrix, read, written) in &maps {
            let first = entries.rows();
            blocks.push(ElementInterpolation::new(
                device,
                matrix,
                (read, strides),
                first,
            )?);
            for nodes in written.chunks_exact(matrix.to_nodes()) {
                for component in 0..strides.components {
                    for &node in nodes {
                        let is_node = (node != NO_NODE).then_some(node as usize);
                        let entry = is_node.map(|node| target.entry(node, component));
                        entries.push(entry.map(|entry| (entry as u32, 1.0)));
                    }
                }
            }
        }
        Ok(Self {
            device: device.clone(),
            blocks,
            sums: SparseMatrix::new(device, &entries.transposed())?,
        })
    }

    /// Length of the output.
    pub(super) fn rows(&self) -> usize {
        self.sums.rows()
    }

    /// Length of the E-vector.
    pub(super) fn scratch(&self) -> usize {
        self.sums.columns()
    }

    /// y = P x, or y = y + P x if `add`.
    pub(super) fn apply(
        &self,
        x: &D::Buffer<T>,
        scratch: &mut D::Buffer<T>,
        add: bool,
        y: &mut D::Buffer<T>,
    ) -> Result<(), DeviceError> {
        for block in &self.blocks {
            self.device.interpolate(block, x, scratch)?;
        }
        self.device.multiply_sparse(&self.sums, scratch, add, y)
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(ElementInterpolation::bytes);
        blocks.sum::<usize>() + self.sums.bytes()
    }
}

/// The nodes of one shape's elements in two spaces, the elements in the order of the second.
struct Pair {
    /// From functions of the first space to nodes of the second.
    matrix: Interpolation,
    /// Nodes of the first, `[element][node]`.
    from: Vec<u32>,
    /// Nodes of the second, `[element][node]`, that the element owns; [`NO_NODE`] for the others.
    owned: Vec<u32>,
}

fn pairs(from: &[Block], to: &[Block]) -> Result<Vec<Pair>, BasisError> {
    let mut is_owned = vec![false; to[0].space.nodes()];
    let spaces = from.iter().zip(to);
    let spaces = spaces.map(|(from, to)| (&from.space, &to.space));
    let pair = |(from, to): (&Space, &Space)| {
        let matrix = Interpolation::new(to.cell(), from.degree(), to.degree())?;
        let mut element_of = vec![0; from.elements()];
        for (element, &cell) in from.cells().iter().enumerate() {
            element_of[cell as usize] = element;
        }
        let mut owned = listed(to, (0..to.elements()).collect());
        for node in &mut owned {
            if std::mem::replace(&mut is_owned[*node as usize], true) {
                *node = NO_NODE;
            }
        }
        let elements = to.cells().iter().map(|&cell| element_of[cell as usize]);
        Ok(Pair {
            matrix,
            from: listed(from, elements.collect()),
            owned,
        })
    };
    spaces.map(pair).collect()
}

/// The nodes of these elements, `[element][node]`.
fn listed(space: &Space, elements: Vec<usize>) -> Vec<u32> {
    let per_element = space.nodes_per_element();
    let mut nodes = vec![0; elements.len() * per_element];
    let rows = nodes.par_chunks_exact_mut(per_element).zip(elements);
    rows.for_each(|(row, element)| space.write_element_nodes(element, row));
    nodes
}
