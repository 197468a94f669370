//! A schedule's knobs by name, for sweeps.

use super::{PointData, Schedule, ThreadPer};
use core::str::FromStr;

/// Replacements for knobs of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Knobs([Option<u32>; ALL.len()]);

struct Knob {
    name: &'static str,
    /// The largest number allowed.
    most: u32,
    turn: fn(&mut Schedule, u32),
}

const fn knob(name: &'static str, most: u32, turn: fn(&mut Schedule, u32)) -> Knob {
    Knob { name, most, turn }
}

/// In the order in which they are turned.
const ALL: [Knob; 12] = [
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

/// A list of knobs that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KnobsError {
    /// Not `name=number`, or an unknown name or number.
    #[error("`{part}` is not a knob; expected `best`, or NAME=NUMBER joined by `+`, of {names}", names = names())]
    Unknown {
        /// The part of the list.
        part: String,
    },
    /// A knob that is there twice.
    #[error("`{name}` is given twice")]
    Twice {
        /// Its name.
        name: &'static str,
    },
}

fn names() -> String {
    let names = ALL.map(|Knob { name, most, .. }| format!("{name}=0..{most}"));
    names.join(", ")
}

impl Knobs {
    /// Whether no knob is replaced.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The schedule with these knobs.
    pub fn turn(&self, mut schedule: Schedule) -> Schedule {
        for (knob, number) in ALL.iter().zip(self.0) {
            if let Some(number) = number {
                (knob.turn)(&mut schedule, number);
            }
        }
        schedule
    }
}

/// `name=number`, joined by `+`; `best` for none.
impl FromStr for Knobs {
    type Err = KnobsError;

    fn from_str(text: &str) -> Result<Self, KnobsError> {
        let mut knobs = Self::default();
        if text == "best" {
            return Ok(knobs);
        }
        for part in text.split('+') {
            let wrong = || KnobsError::Unknown {
                part: part.to_owned(),
            };
            let (name, number) = part.split_once('=').ok_or_else(wrong)?;
            let number: u32 = number.parse().map_err(|_| wrong())?;
            let is_it = |knob: &Knob| knob.name == name && number <= knob.most;
            let place = ALL.iter().position(is_it).ok_or_else(wrong)?;
            if knobs.0[place].replace(number).is_some() {
                let name = ALL[place].name;
                return Err(KnobsError::Twice { name });
            }
        }
        Ok(knobs)
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
        assert_eq!(knobs.turn(plain), wanted);
        assert!("best".parse::<Knobs>().unwrap().is_empty());
    }

    #[test]
    fn layers_and_pencils_are_turned_into_each_other() {
        let layers: Knobs = "thread_per=2+elements=8".parse().unwrap();
        let turned = layers.turn(Schedule {
            points: PointData::Shared,
            staged: true,
            ..Schedule::PLAIN
        });
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
        let back = pencils.turn(wanted);
        assert_eq!(
            (back.thread_per, back.by_warp, back.scratch_cube),
            (ThreadPer::Pencil, false, true)
        );
    }

    #[test]
    fn what_is_no_knob_is_named() {
        for (text, part) in [
            ("blocks=2+stage=1", "`stage=1`"),
            ("staged=2", "`staged=2`"),
            ("staged", "`staged`"),
            ("blocks=-1", "`blocks=-1`"),
            ("", "``"),
        ] {
            let message = text.parse::<Knobs>().unwrap_err().to_string();
            assert!(
                message.contains(part) && message.contains("staged=0..1"),
                "{message}"
            );
        }
        let twice = "blocks=3+blocks=4".parse::<Knobs>();
        assert_eq!(twice.unwrap_err(), KnobsError::Twice { name: "blocks" });
    }
}
