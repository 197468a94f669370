//! Node lists per block of fans, for kernels that sum inside of a block.

use super::choice;
use crate::Number;
use crate::operator::OperatorError;
use crate::operator::accelerator::pack::{Packer, bytes_of};
use femto_kernel::family::Operand;
use femto_kernel::family::cell_quadrature::Shape;
use femto_kernel::family::cell_quadrature::blocks::BlockLists;
use femto_kernel::family::cell_quadrature::fans::{Fans, NONE};
use femto_kernel::family::cell_quadrature::schedule::Schedule;
use femto_kernel::family::cell_quadrature::work::Counts;
use femto_kernel::family::fields::FieldKind;
use femto_platform::device::accelerator::{AcceleratorBuffer, Argument};
use femto_platform::device::{Buffer, Device};

/// The lists, and the schedule that they are for.
#[derive(Debug)]
pub(super) struct Lists<T: Number> {
    pub(super) schedule: Schedule,
    /// Places for cells.
    pub(super) places: usize,
    blocks: AcceleratorBuffer<u32>,
    list: AcceleratorBuffer<u32>,
    local: AcceleratorBuffer<u16>,
    ends: AcceleratorBuffer<u16>,
    slots: AcceleratorBuffer<u16>,
    filled: usize,
    /// Fields constant in cells, in the order of the fans.
    cell_fields: Option<AcceleratorBuffer<T>>,
}

impl<T: Number> Lists<T> {
    /// The lists for the first schedule that is legal; none where there is none.
    pub(super) fn new(
        packer: &Packer<'_>,
        shape: &Shape,
        is_legal: impl Fn(&Schedule) -> bool,
    ) -> Result<Option<Self>, OperatorError> {
        let fans = choice::fans(shape, T::PRECISION);
        if fans.is_empty() {
            return Ok(None);
        }
        let elsewhere = packer.elsewhere();
        for sizes in fans {
            let (per_block, fan_cells) = (sizes.0 as usize, sizes.1 as usize);
            let fans = Fans::new(&packer.nodes, shape.nodes, fan_cells, per_block);
            let lists = BlockLists::new(&fans, per_block, |node| elsewhere[node as usize]);
            let schedule = choice::block_local(shape, T::PRECISION, sizes, lists.most_nodes);
            if is_legal(&schedule) {
                let order = fans.order(per_block);
                return Self::upload(packer, schedule, (&lists, &order)).map(Some);
            }
        }
        Ok(None)
    }

    fn upload(
        packer: &Packer<'_>,
        schedule: Schedule,
        (lists, order): (&BlockLists, &[u32]),
    ) -> Result<Self, OperatorError> {
        let device = packer.device;
        // A cell that is not there has the numbers of another one, which no one reads.
        let known = |&place: &u32| packer.elements[if place == NONE { 0 } else { place as usize }];
        let elements: Vec<u32> = order.iter().map(known).collect();
        Ok(Self {
            schedule,
            places: order.len(),
            filled: lists.filled,
            blocks: device.upload(&lists.blocks)?,
            list: device.upload(&lists.list)?,
            local: device.upload(&lists.local)?,
            ends: device.upload(&lists.ends)?,
            slots: device.upload(&lists.slots)?,
            cell_fields: packer.fields(&elements, (FieldKind::Cell, 1))?,
        })
    }

    pub(super) fn argument(&self, operand: Operand) -> Option<Argument<'_>> {
        match operand {
            Operand::Blocks => Some(Argument::input(&self.blocks)),
            Operand::BlockLocal => Some(Argument::input(&self.local)),
            Operand::BlockEnds => Some(Argument::input(&self.ends)),
            Operand::BlockSlots => Some(Argument::input(&self.slots)),
            Operand::BlockList => Some(Argument::input(&self.list)),
            Operand::CellFields => self.cell_fields.as_ref().map(Argument::input),
            _ => None,
        }
    }

    /// Their counts, for work.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            entries: self.list.len(),
            slots: self.local.len(),
            filled: self.filled,
            ..Counts::default()
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let short = self.local.len() + self.ends.len() + self.slots.len();
        2 * short
            + (self.blocks.len() + self.list.len()) * size_of::<u32>()
            + bytes_of(&self.cell_fields)
    }
}
