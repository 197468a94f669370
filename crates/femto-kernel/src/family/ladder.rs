//! Steps of published ladders: schedules, each one change of the one before.

/// A step of a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<S> {
    /// Its number, as published.
    pub number: usize,
    /// Its change relative to the previous step.
    pub change: &'static str,
    /// Its schedule.
    pub schedule: S,
}

/// A change of a schedule, with its description.
pub(super) type Change<S> = (&'static str, fn(&mut S));

/// The steps that changes make of a schedule, the first of which has number `first`.
pub(super) fn climb<S: Copy>(first: usize, mut schedule: S, changes: &[Change<S>]) -> Vec<Step<S>> {
    let step = |(number, &(change, apply)): (usize, &Change<S>)| {
        apply(&mut schedule);
        Step {
            number,
            change,
            schedule,
        }
    };
    (first..).zip(changes).map(step).collect()
}
