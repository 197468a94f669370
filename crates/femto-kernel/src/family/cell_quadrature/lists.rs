//! Node lists per block of fans, for kernels that sum within a block.

use super::blocks::BlockLists;
use super::fans::{Fans, NONE};
use super::schedule::Schedule;
use super::work::Counts;
use super::{FieldKind, Shape, choice};
use crate::family::{Array, Elements, Operand};
use crate::scalar::Precision;

/// The lists with their schedule.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) schedule: Schedule,
    /// Number of places for cells.
    pub(super) places: usize,
    /// For the work count.
    pub(super) counts: Counts,
    pub(super) arrays: Vec<(Operand, Array)>,
}

impl Lists {
    /// The lists for the first legal schedule; `None` if there is none.
    pub(super) fn new(
        shape: &Shape,
        precision: Precision,
        elements: &dyn Elements,
        is_legal: impl Fn(&Schedule) -> bool,
    ) -> Option<Self> {
        let fans = choice::fans(shape, precision);
        if fans.is_empty() {
            return None;
        }
        let elsewhere = elements.elsewhere();
        for sizes in fans {
            let (per_block, fan_cells) = (sizes.0 as usize, sizes.1 as usize);
            let fans = Fans::new(elements.nodes(), shape.nodes, fan_cells, per_block);
            let lists = BlockLists::new(&fans, per_block, |node| elsewhere[node as usize]);
            let schedule = choice::block_local(shape, precision, sizes, lists.most_nodes);
            if is_legal(&schedule) {
                let order = fans.order(per_block);
                return Some(Self::packed(shape, schedule, (lists, order), elements));
            }
        }
        None
    }

    fn packed(
        shape: &Shape,
        schedule: Schedule,
        (lists, mut order): (BlockLists, Vec<u32>),
        elements: &dyn Elements,
    ) -> Self {
        let counts = Counts {
            entries: lists.sums.list.len(),
            slots: lists.local.len(),
            filled: lists.filled,
            ..Counts::default()
        };
        let mut arrays = Vec::from(lists.sums.arrays());
        arrays.push((Operand::BlockLocal, Array::U16(lists.local)));
        let places = order.len();
        if shape.fields_of(FieldKind::Cell) > 0 {
            // A missing cell repeats another one's data, which are not used.
            for place in order.iter_mut().filter(|place| **place == NONE) {
                *place = 0;
            }
            let fields = elements.cell_fields(&order);
            arrays.push((Operand::BlockCellFields, Array::Reals(fields)));
        }
        Self {
            schedule,
            places,
            counts,
            arrays,
        }
    }
}
