//! The knobs of a schedule, by name: for sweeps.

use super::{PointData, Schedule};
use crate::family::ScheduleError;
use core::str::FromStr;

/// Knobs that replace those of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Knobs([Option<u32>; ALL.len()]);

struct Knob {
    name: &'static str,
    /// The largest number that it takes.
    most: u32,
    turn: fn(&mut Schedule, u32) -> Option<()>,
}

const fn knob(name: &'static str, most: u32, turn: fn(&mut Schedule, u32) -> Option<()>) -> Knob {
    Knob { name, most, turn }
}

const ALL: [Knob; 8] = [
    knob("elements", 1024, |it, n| set(&mut it.elements_per_block, n)),
    knob("blocks", 32, |it, n| set(&mut it.blocks_per_unit, n)),
    knob("even_odd", 1, |it, n| set(&mut it.even_odd, n == 1)),
    knob("third_cube", 1, |it, n| {
        set(factors(it)?.third_cube, n == 1)
    }),
    knob("keep_values", 1, |it, n| {
        set(factors(it)?.keep_values, n == 1)
    }),
    knob("metric_unroll", 32, |it, n| {
        set(factors(it)?.metric_unroll, n)
    }),
    knob("by_warp", 1, |it, n| set(&mut it.by_warp, n == 1)),
    knob("staged", 1, |it, n| set(factors(it)?.staged, n == 1)),
];

fn set<T>(knob: &mut T, value: T) -> Option<()> {
    *knob = value;
    Some(())
}

/// The knobs that schedules for factors have alone.
struct FactorKnobs<'a> {
    third_cube: &'a mut bool,
    keep_values: &'a mut bool,
    metric_unroll: &'a mut u32,
    staged: &'a mut bool,
}

fn factors(schedule: &mut Schedule) -> Option<FactorKnobs<'_>> {
    match &mut schedule.points {
        PointData::Factors {
            third_cube,
            keep_values,
            metric_unroll,
            staged,
        } => Some(FactorKnobs {
            third_cube,
            keep_values,
            metric_unroll,
            staged,
        }),
        PointData::Registers | PointData::Shared | PointData::Private => None,
    }
}

/// A list of knobs that cannot be read: not `name=number`, or an unknown name or number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no knob; expected `best`, or NAME=NUMBER joined by `+`, of {names}", names = names())]
pub struct KnobsError(String);

fn names() -> String {
    let names = ALL.map(|Knob { name, most, .. }| format!("{name}=0..{most}"));
    names.join(", ")
}

impl Knobs {
    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The schedule with these knobs.
    ///
    /// # Errors
    /// A knob that the schedule does not have.
    pub fn turn(&self, mut schedule: Schedule) -> Result<Schedule, ScheduleError> {
        for (knob, number) in ALL.iter().zip(self.0) {
            let Some(number) = number else { continue };
            (knob.turn)(&mut schedule, number).ok_or_else(|| ScheduleError::Rule {
                schedule: schedule.to_string(),
                rule: "only kernels of factors have knobs of their metric step",
            })?;
        }
        Ok(schedule)
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
            let wrong = || KnobsError(part.to_owned());
            let (name, number) = part.split_once('=').ok_or_else(wrong)?;
            let number: u32 = number.parse().map_err(|_| wrong())?;
            let is_it = |knob: &Knob| knob.name == name && number <= knob.most;
            let place = ALL.iter().position(is_it).ok_or_else(wrong)?;
            knobs.0[place] = Some(number);
        }
        Ok(knobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Schedule = Schedule {
        elements_per_block: 1,
        blocks_per_unit: 1,
        even_odd: true,
        by_warp: false,
        points: PointData::FACTORS,
    };

    #[test]
    fn knobs_are_set_by_name() {
        let knobs: Knobs = "elements=3+staged=1+even_odd=0".parse().unwrap();
        let wanted = Schedule {
            elements_per_block: 3,
            even_odd: false,
            points: PointData::Factors {
                third_cube: false,
                keep_values: true,
                metric_unroll: 0,
                staged: true,
            },
            ..PLAIN
        };
        assert_eq!(knobs.turn(PLAIN), Ok(wanted));
        assert!("best".parse::<Knobs>().unwrap().is_empty());
        let form = Schedule {
            points: PointData::Shared,
            ..PLAIN
        };
        let message = knobs.turn(form).unwrap_err().to_string();
        assert!(message.contains("only kernels of factors"), "{message}");
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
    }
}
