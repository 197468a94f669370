//! Transfer between spaces of two degrees on the same mesh.
//!
//! Interpolation gives every node of one space the value of the other's function there, evaluated in the
//! first element that has the node, its *owner*. The transpose is exact: an element takes the values of the
//! nodes that it owns.

use super::MultigridError;
use crate::Number;
use crate::elements::{collect, places};
use crate::vector::{ElementInterpolation, SparseMatrix, VectorOps};
use femto_element::Interpolation;
use femto_element::basis::BasisError;
use femto_fem::parallel;
use femto_fem::space::Block;
use femto_kernel::vector::Strides;
use femto_kernel::vector::interpolation::NO_NODE;
use femto_kernel::vector::sparse::NO_COLUMN;
use femto_platform::device::{Device, DeviceError};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::OnceLock;

/// A linear map between L-vectors: an interpolation in each element, to an E-vector, and sums of its entries.
pub(super) struct Transfer<T: Number, D: Device> {
    device: D,
    blocks: Vec<ElementInterpolation<T, D>>,
    /// A matrix of ones.
    sums: SparseMatrix<T, D>,
}

impl<T: Number, D: VectorOps<T>> Transfer<T, D> {
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

    /// Length of the output.
    pub(super) fn rows(&self) -> usize {
        self.sums.rows()
    }

    /// Length of the E-vector.
    pub(super) fn scratch(&self) -> usize {
        self.sums.columns()
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(ElementInterpolation::bytes);
        blocks.sum::<usize>() + self.sums.bytes()
    }
}

/// Two spaces of interleaved components on the same elements, in the same order.
pub(super) struct Pairing<'a> {
    spaces: [&'a [Block]; 2],
    /// As [`Pairing::owners`] gives them.
    owners: [OnceLock<Vec<u32>>; 2],
}

impl<'a> Pairing<'a> {
    /// # Errors
    /// Spaces on other elements, or more entries of an E-vector than 32-bit indices can address.
    pub(super) fn new(first: &'a [Block], second: &'a [Block]) -> Result<Self, MultigridError> {
        let spaces = [first, second];
        let elements = |it: &'a Block| (it.space.components(), it.space.cells());
        let [own, others] = spaces.map(|blocks| blocks.iter().map(elements));
        if !own.eq(others) {
            return Err(MultigridError::OtherElements);
        }
        for blocks in spaces {
            let entries = blocks.iter().map(|block| block.space.element_dofs()).sum();
            if u32::try_from(entries).is_err() {
                return Err(MultigridError::TooLarge { entries });
            }
        }
        Ok(Self {
            spaces,
            owners: [OnceLock::new(), OnceLock::new()],
        })
    }

    /// The values of functions of one space, 0 or 1, at the nodes of the other.
    pub(super) fn interpolation<T: Number, D: VectorOps<T>>(
        &self,
        device: &D,
        from: usize,
    ) -> Result<Transfer<T, D>, MultigridError> {
        let to = 1 - from;
        let (blocks, end) = self.in_elements(device, from, |block, _| {
            let nodes = self.spaces[from][block].space.listed_nodes();
            Ok((self.matrix(block, from)?, nodes))
        })?;
        let (owners, components) = (self.owners(to), self.components());
        let firsts = self.firsts(to);
        let column = |row: usize| match owners[row / components] {
            NO_NODE => NO_COLUMN,
            owner => {
                let block = firsts.partition_point(|&first| first <= owner) - 1;
                let per_element = self.spaces[to][block].space.nodes_per_element();
                owner + (row % components * per_element) as u32
            }
        };
        let size = (owners.len() * components, end);
        Ok(Transfer {
            device: device.clone(),
            blocks,
            sums: SparseMatrix::selecting(device, size, column)?,
        })
    }

    /// The transpose of [`Self::interpolation`] to one space, 0 or 1, from the other.
    pub(super) fn transposed<T: Number, D: VectorOps<T>>(
        &self,
        device: &D,
        from: usize,
    ) -> Result<Transfer<T, D>, MultigridError> {
        let to = 1 - from;
        let owners = self.owners(from);
        let (blocks, _) = self.in_elements(device, from, |block, first| {
            let space = &self.spaces[from][block].space;
            let per_element = space.nodes_per_element();
            let mut nodes = space.listed_nodes();
            parallel::chunks(&mut nodes, per_element, |element, nodes| {
                let entries = first + (element * self.components() * per_element) as u32..;
                for (node, entry) in nodes.iter_mut().zip(entries) {
                    if owners[*node as usize] != entry {
                        *node = NO_NODE;
                    }
                }
            });
            Ok((self.matrix(block, to)?.transposed(), nodes))
        })?;
        let sums = places(self.spaces[to].iter().map(|block| &block.space));
        Ok(Transfer {
            device: device.clone(),
            blocks,
            sums: SparseMatrix::of_ones(device, &sums)?,
        })
    }

    /// Interpolations to an E-vector, and its length, given for each block a matrix and the nodes of the space `from` that
    /// it reads; `part` takes a block and its first entry in E-vectors of that space.
    fn in_elements<T: Number, D: VectorOps<T>>(
        &self,
        device: &D,
        from: usize,
        part: impl Fn(usize, u32) -> Result<(Interpolation, Vec<u32>), BasisError>,
    ) -> Result<(Vec<ElementInterpolation<T, D>>, usize), MultigridError> {
        let strides = Strides {
            components: self.components(),
            node: self.components(),
            component: 1,
        };
        let (mut blocks, mut end) = (Vec::new(), 0);
        for (block, first) in self.firsts(from).into_iter().enumerate() {
            let (matrix, nodes) = part(block, first)?;
            let block = ElementInterpolation::new(device, &matrix, (&nodes, strides), end)?;
            end = block.end();
            blocks.push(block);
        }
        Ok((blocks, end))
    }

    /// The entry of an E-vector of the first component at each node of a space, in the first element that has the node;
    /// or [`NO_NODE`].
    fn owners(&self, space: usize) -> &[u32] {
        self.owners[space].get_or_init(|| {
            let blocks = self.spaces[space];
            let nodes = blocks.first().map_or(0, |block| block.space.nodes());
            // Complements: the first entry is the greatest, and none is 0.
            let mut last = vec![!NO_NODE; nodes];
            for (block, first) in blocks.iter().zip(self.firsts(space)) {
                let space = &block.space;
                let (nodes, stride) = (space.nodes_per_element(), space.components());
                let entries = |elements: Range<usize>| {
                    let firsts = elements.map(|it| first + (it * stride * nodes) as u32);
                    let own = firsts.flat_map(|first| (first..).take(nodes));
                    Ok(own.map(|entry| !entry).collect())
                };
                let most = |a: &mut u32, b: u32| *a = b.max(*a);
                let Ok(()) = collect::<_, Infallible>(space, nodes, entries, most, &mut last);
            }
            parallel::each(&mut last, |_, entry| *entry = !*entry);
            last
        })
    }

    /// The first entry of each block in E-vectors.
    fn firsts(&self, space: usize) -> Vec<u32> {
        let mut first = 0;
        let of_block = |block: &Block| {
            let own = first;
            first += block.space.element_dofs() as u32;
            own
        };
        self.spaces[space].iter().map(of_block).collect()
    }

    fn components(&self) -> usize {
        self.spaces[0]
            .first()
            .map_or(1, |block| block.space.components())
    }

    /// In a block's elements, from functions of one space to nodes of the other.
    fn matrix(&self, block: usize, from: usize) -> Result<Interpolation, BasisError> {
        let [first, second] = self.spaces.map(|blocks| &blocks[block].space);
        let mut degrees = [first.degree(), second.degree()];
        if from == 1 {
            degrees.reverse();
        }
        Interpolation::new(first.cell(), degrees[0], degrees[1])
    }
}
