//! Transfer between spaces of two degrees on the same mesh.
//!
//! Interpolation gives every node of one space the value of the other's function there, evaluated in the
//! first element that has the node, its *owner*. The transpose is exact: an element takes the values of the
//! nodes that it owns.

use super::MultigridError;
use crate::Number;
use crate::vector::{Csr, ElementInterpolation, SparseMatrix, VectorOps};
use femto_element::basis::BasisError;
use femto_element::{Cell, Interpolation};
use femto_fem::space::Block;
use femto_kernel::vector::interpolation::{NO_NODE, Strides};
use femto_kernel::vector::sparse::NO_COLUMN;
use femto_platform::device::{Device, DeviceError};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// The nodes of the same elements in two spaces of interleaved components, in the order of the second.
pub(super) struct Pairing {
    components: usize,
    /// Of each space.
    nodes: [usize; 2],
    blocks: Vec<PairedBlock>,
    /// As [`Pairing::owners`] gives them.
    owners: [OnceLock<Vec<u32>>; 2],
}

/// One shape's elements.
struct PairedBlock {
    cell: Cell,
    /// Of each space.
    degrees: [usize; 2],
    /// Number of nodes of an element, in each space.
    per_element: [usize; 2],
    /// Nodes of each space, `[element][node]`.
    nodes: [Vec<u32>; 2],
    /// The number of nodes of elements in the blocks before, in each space.
    before: [usize; 2],
}

impl Pairing {
    /// # Errors
    /// More entries of an E-vector than 32-bit indices can address.
    pub(super) fn new(first: &[Block], second: &[Block]) -> Result<Self, MultigridError> {
        let mut before = [0; 2];
        let spaces = first.iter().zip(second);
        let pair = |(first, second): (&Block, &Block)| {
            let (first, second) = (&first.space, &second.space);
            let element_of = first.elements_of_cells();
            let same = |element: usize| element_of[second.cells()[element] as usize];
            let block = PairedBlock {
                cell: second.cell(),
                degrees: [first.degree(), second.degree()],
                per_element: [first.nodes_per_element(), second.nodes_per_element()],
                nodes: [
                    first.listed_nodes(same),
                    second.listed_nodes(|element| element),
                ],
                before,
            };
            before = [0, 1].map(|space| before[space] + block.nodes[space].len());
            block
        };
        let pairing = Self {
            components: second[0].space.components(),
            nodes: [first[0].space.nodes(), second[0].space.nodes()],
            blocks: spaces.map(pair).collect(),
            owners: [OnceLock::new(), OnceLock::new()],
        };
        let most = before[0].max(before[1]) * pairing.components;
        match u32::try_from(most) {
            Ok(_) => Ok(pairing),
            Err(_) => Err(MultigridError::TooLarge { entries: most }),
        }
    }

    /// The values of functions of one space, 0 or 1, at the nodes of the other.
    pub(super) fn interpolation<T: Number, D: VectorOps<T>>(
        &self,
        device: &D,
        from: usize,
    ) -> Result<Transfer<T, D>, MultigridError> {
        let to = 1 - from;
        let (blocks, end) = self.in_elements(device, |block| {
            (block.matrix(from), Cow::from(&block.nodes[from]))
        })?;
        let (owners, components) = (self.owners(to), self.components);
        let rows = (0..owners.len() * components).into_par_iter();
        let places = rows.map(|row| match owners[row / components] {
            NO_NODE => NO_COLUMN,
            owner => self.place(to, owner, row % components),
        });
        let places: Vec<u32> = places.collect();
        Ok(Transfer {
            device: device.clone(),
            blocks,
            sums: SparseMatrix::selecting(device, end, places)?,
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
        let (blocks, end) = self.in_elements(device, |block| {
            let owned = block.places(from);
            let owned = owned.map(|(place, node)| match owners[node as usize] == place {
                true => node,
                false => NO_NODE,
            });
            let matrix = block.matrix(to).map(|matrix| matrix.transposed());
            (matrix, Cow::from(owned.collect::<Vec<u32>>()))
        })?;
        let size = self.nodes[to] * self.components;
        let entries = Csr::by_rows((end, size), |place, entries| {
            entries.push((self.entry(to, place), ()));
        });
        Ok(Transfer {
            device: device.clone(),
            blocks,
            sums: SparseMatrix::of_ones(device, &entries.transposed())?,
        })
    }

    /// Interpolations to an E-vector, given for each block a matrix and the nodes that it reads, and the length of the
    /// E-vector.
    fn in_elements<'a, T: Number, D: VectorOps<T>>(
        &'a self,
        device: &D,
        part: impl Fn(&'a PairedBlock) -> (Result<Interpolation, BasisError>, Cow<'a, [u32]>),
    ) -> Result<(Vec<ElementInterpolation<T, D>>, usize), MultigridError> {
        let strides = Strides {
            components: self.components,
            node: self.components,
            component: 1,
        };
        let (mut blocks, mut end) = (Vec::new(), 0);
        for block in &self.blocks {
            let (matrix, nodes) = part(block);
            let block = ElementInterpolation::new(device, &matrix?, (&nodes, strides), end)?;
            end = block.end();
            blocks.push(block);
        }
        Ok((blocks, end))
    }

    /// The first place in the blocks' lists of nodes of a space where each of its nodes is, or [`NO_NODE`].
    fn owners(&self, space: usize) -> &[u32] {
        self.owners[space].get_or_init(|| {
            let owners = (0..self.nodes[space]).into_par_iter();
            let owners: Vec<AtomicU32> = owners.map(|_| AtomicU32::new(NO_NODE)).collect();
            for block in &self.blocks {
                block.places(space).for_each(|(place, node)| {
                    owners[node as usize].fetch_min(place, Ordering::Relaxed);
                });
            }
            owners.into_par_iter().map(AtomicU32::into_inner).collect()
        })
    }

    /// The entry of an E-vector `[element][component][node]` for a component at a place in the lists of nodes.
    fn place(&self, space: usize, place: u32, component: usize) -> u32 {
        let place = place as usize;
        let block = self.block(|block| block.before[space] <= place);
        let (per_element, before) = (block.per_element[space], block.before[space]);
        let (element, node) = (
            (place - before) / per_element,
            (place - before) % per_element,
        );
        let item = element * self.components + component;
        (before * self.components + item * per_element + node) as u32
    }

    /// The entry of an L-vector for an entry of an E-vector.
    fn entry(&self, space: usize, place: usize) -> u32 {
        let block = self.block(|block| block.before[space] * self.components <= place);
        let (per_element, before) = (block.per_element[space], block.before[space]);
        let place = place - before * self.components;
        let (item, node) = (place / per_element, place % per_element);
        let (element, component) = (item / self.components, item % self.components);
        block.nodes[space][element * per_element + node] * self.components as u32 + component as u32
    }

    /// The last block that begins before something.
    fn block(&self, begins: impl Fn(&PairedBlock) -> bool) -> &PairedBlock {
        let after = self.blocks.partition_point(begins);
        &self.blocks[after - 1]
    }
}

impl PairedBlock {
    /// From functions of one space to nodes of the other.
    fn matrix(&self, from: usize) -> Result<Interpolation, BasisError> {
        Interpolation::new(self.cell, self.degrees[from], self.degrees[1 - from])
    }

    /// Places in the lists of all blocks with their nodes.
    fn places(&self, space: usize) -> impl IndexedParallelIterator<Item = (u32, u32)> {
        let nodes = self.nodes[space].par_iter().enumerate();
        nodes.map(move |(at, &node)| ((self.before[space] + at) as u32, node))
    }
}
