//! A schedule's knobs.

use super::{PointData, Schedule, ThreadPer};
use crate::family::{Knob, Knobs};

/// Sets a schedule's number.
type Turn = fn(&mut Schedule, u32);

const fn knob(name: &'static str, most: u32, turn: Turn) -> (Knob, Turn) {
    (Knob { name, most }, turn)
}

/// In the order in which they are turned.
const ALL: [(Knob, Turn); 12] = [
    // 0: a pencil, 1: an element, 2: a layer.
    knob("thread_per", 2, |it, n| {
        let thread_per = match n {
            0 => ThreadPer::Pencil,
            1 => ThreadPer::Element,
            _ => ThreadPer::Layer,
        };
        // Only whole elements are summed by block; they have no contractions; all unroll different loops.
        if it.thread_per != thread_per {
            it.block_sums &= n == 1;
            it.even_odd = n != 1;
            it.point_unroll = 0;
        }
        // Layers are by warp, which elements in pencils may be too large for.
        match (thread_per, it.thread_per) {
            (ThreadPer::Layer, _) => {
                (it.by_warp, it.points) = (true, PointData::Registers);
                (it.scratch_cube, it.reload_values, it.staged) = (false, false, false);
            }
            (_, ThreadPer::Layer) => {
                (it.by_warp, it.scratch_cube) = (false, thread_per == ThreadPer::Pencil);
            }
            _ => {}
        }
        it.nodes_staged &= thread_per == ThreadPer::Pencil;
        it.thread_per = thread_per;
    }),
    knob("elements", 1024, |it, n| it.elements_per_block = n),
    knob("blocks", 32, |it, n| it.blocks_per_unit = n),
    knob("even_odd", 1, |it, n| it.even_odd = n == 1),
    knob("scratch_cube", 1, |it, n| it.scratch_cube = n == 1),
    knob("reload_values", 1, |it, n| it.reload_values = n == 1),
    knob("point_unroll", 32, |it, n| it.point_unroll = n),
    knob("by_warp", 1, |it, n| it.by_warp = n == 1),
    knob("staged", 1, |it, n| it.staged = n == 1),
    knob("together", 1, |it, n| it.together = n == 1),
    knob("block_sums", 1, |it, n| it.block_sums = n == 1),
    knob("nodes_staged", 1, |it, n| it.nodes_staged = n == 1),
];

/// The knobs of all schedules.
pub const KNOBS: [Knob; ALL.len()] = {
    let mut knobs = [ALL[0].0; ALL.len()];
    let mut n = 0;
    while n < ALL.len() {
        knobs[n] = ALL[n].0;
        n += 1;
    }
    knobs
};

impl Schedule {
    /// The schedule with these knobs.
    pub fn turned(mut self, knobs: &Knobs) -> Self {
        for (knob, turn) in &ALL {
            if let Some(number) = knobs.get(knob.name) {
                turn(&mut self, number);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_set_by_name() {
        let plain = Schedule::PLAIN;
        let knobs: Knobs = "elements=3+staged=1+even_odd=1".parse().unwrap();
        let wanted = Schedule {
            elements_per_block: 3,
            even_odd: true,
            staged: true,
            ..plain
        };
        assert_eq!(plain.turned(&knobs), wanted);
        assert!("best".parse::<Knobs>().unwrap().is_empty());
    }

    #[test]
    fn layers_and_pencils_are_turned_into_each_other() {
        let layers: Knobs = "thread_per=2+elements=8".parse().unwrap();
        let staged = Schedule {
            points: PointData::Shared,
            staged: true,
            ..Schedule::PLAIN
        };
        let turned = staged.turned(&layers);
        let wanted = Schedule {
            thread_per: ThreadPer::Layer,
            elements_per_block: 8,
            by_warp: true,
            even_odd: true,
            points: PointData::Registers,
            ..Schedule::PLAIN
        };
        assert_eq!(turned, wanted);
        let pencils: Knobs = "thread_per=0".parse().unwrap();
        let back = wanted.turned(&pencils);
        assert_eq!(
            (back.thread_per, back.by_warp, back.scratch_cube),
            (ThreadPer::Pencil, false, true)
        );
    }
}
