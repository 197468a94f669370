//! The stages on the host.

use super::record::{Measured, Subject, TOGETHER, compare};
use super::{Challenge, How};
use crate::timing::since;
use crate::{BenchError, Record, Timing};
use femto::Host;
use femto_kernel::family::ScheduleError;
use femto_kernel::family::prism_published::host::{Stages, Variant};
use femto_kernel::family::prism_published::{Oracle, Schedule, Stage, StageWork, Vector};
use femto_platform::device::Device;
use femto_platform::device::accelerator::Usage;
use std::time::Instant;

/// Measures stages of a variant. The first sample runs all, in order, from poisoned vectors, and their outputs are compared. If only
/// some are timed, it is one more, and the others run these alone. The time of all together is the sum of those of the
/// Challenge's stages.
///
/// # Errors
/// [`BenchError::Illegal`] for threads on a host with one, [`BenchError::Wrong`] for a wrong output.
pub fn measure_on_host(
    host: &Host,
    Challenge { columns, oracle }: &Challenge,
    variant: Variant,
    how: How<'_>,
) -> Result<Vec<Record>, BenchError> {
    if variant != Variant::Serial && host.threads() == 1 {
        return Err(BenchError::Illegal(ScheduleError::Rule {
            schedule: variant.name().to_owned(),
            rule: "several threads",
        }));
    }
    let mut stages = Stages::new(columns);
    let (mut errors, mut samples) = (Vec::new(), Vec::new());
    let extra = usize::from(!how.are_all());
    for sample in 0..how.sampling.samples.max(1) + extra {
        let mut seconds = Vec::new();
        for stage in Stage::ALL {
            if sample > 0 && !how.stages.contains(&stage) {
                seconds.push(f64::NAN);
                continue;
            }
            seconds.push(host.enter(|| {
                if stage == Stage::Action {
                    stages.zero(Vector::Lhs, variant);
                }
                let start = Instant::now();
                stages.run(stage, variant);
                since(start)
            }));
            if sample == 0 {
                errors.push(error(oracle, stage, &stages)?);
            }
        }
        samples.push(seconds);
    }
    samples.drain(..extra);
    let subject = Subject {
        name: variant.name().to_owned(),
        change: "",
        schedule: variant.name().to_owned(),
        columns,
        device: host.info(),
        ceilings: *how.ceilings,
    };
    // As published: expression 1 by cells, the load copied.
    let schedule = Schedule {
        row_sums: true,
        ..Schedule::default()
    };
    let work = |stage| StageWork::new(stage, &schedule, columns);
    let mut records: Vec<Record> = Vec::new();
    let all = Stage::ALL.into_iter().enumerate();
    for (place, stage) in all.filter(|(_, stage)| how.stages.contains(stage)) {
        let of = samples.iter().map(|seconds| seconds[place]);
        records.push(subject.record(Measured {
            stage: stage.name(),
            timing: Timing::of(of.collect(), 1),
            work: work(stage),
            error: errors[place],
            usage: Usage::default(),
        }));
    }
    if !how.are_together() {
        return Ok(records);
    }
    let of = |seconds: &Vec<f64>| -> f64 {
        let named = Stage::ALL.iter().zip(seconds);
        let challenge = named.filter(|(stage, _)| Stage::CHALLENGE.contains(stage));
        challenge.map(|(_, seconds)| seconds).sum()
    };
    records.push(subject.record(Measured {
        stage: TOGETHER,
        timing: Timing::of(samples.iter().map(of).collect(), 1),
        work: Stage::CHALLENGE.map(work).into_iter().sum(),
        error: errors.iter().fold(0.0, |most: f64, &error| most.max(error)),
        usage: Usage::default(),
    }));
    Ok(records)
}

/// The error of a stage's outputs.
fn error(oracle: &Oracle, stage: Stage, stages: &Stages) -> Result<f64, BenchError> {
    let compare = |vector| compare(oracle, stage, &stages.vector(vector));
    match stage.output() {
        Some(vector) => compare(vector),
        None => Vector::SUMS
            .into_iter()
            .try_fold(0.0, |most: f64, vector| Ok(most.max(compare(vector)?))),
    }
}
