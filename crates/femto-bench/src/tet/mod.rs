//! Affine tetrahedra between E-vectors by both routes: from few factors of each element and the matrices of the
//! reference cell, or with a matrix of each element; which is faster? The published ladders, and femto's own schedules.
//!
//! A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix Action: monolithic kernel optimization on Titan V"
//! and "… to precompute or not to precompute" (2018). [`run_all`] measures many kernels:
//!
//! 1. A [`Sweep`] lists them.
//! 2. All texts are compiled at the same time, into the cache on disk.
//! 3. On random data, the output of each kernel is compared with the oracle's for some elements, and timed.
//!
//! The report tells which route was faster for each size; [`figure`] draws it.

mod factors;
pub mod figure;
mod matrices;
mod view;

use crate::compile::{in_parallel, prepare};
use crate::report::{Progress, RunOptions};
use crate::{BenchError, Record, Report, Sampling, roofline};
use factors::Factors;
use femto::Number;
use femto::accelerator::{language, limits};
use femto::operator::OperatorError;
use femto_element::{Cell, basis};
use femto_kernel::family::affine_simplex::ladder;
use femto_kernel::family::{KernelSource, affine_simplex, element_matrix};
use femto_kernel::roofline::{Ceilings, bound};
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::Accelerator;
use serde_json::json;
use view::TET;

/// What an element stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Its factors of the reference cell's matrices.
    Factors,
    /// Its matrix.
    Full,
    /// A triangle of its symmetric matrix.
    Triangle,
}

impl Stored {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Factors, Self::Full, Self::Triangle];

    /// Its name in options and columns.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Factors => "factors",
            Self::Full => "full",
            Self::Triangle => "triangle",
        }
    }
}

/// A kernel of either route.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kernel {
    Factors {
        schedule: affine_simplex::schedule::Schedule,
        /// Whether elements come from a list; otherwise they are consecutive.
        listed: bool,
    },
    Matrices(element_matrix::schedule::Schedule),
}

/// A kernel of a ladder, or one of femto's own.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Variant {
    /// Number and change of the published step; `None` for femto's own.
    step: Option<(usize, &'static str)>,
    /// Right-hand sides.
    sides: usize,
    kernel: Kernel,
}

/// The combinations to measure.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What is stored.
    pub stored: Vec<Stored>,
    /// Numbers of the published steps; these have one right-hand side.
    pub steps: Vec<usize>,
    /// Degrees.
    pub degrees: Vec<usize>,
    /// Numbers of elements.
    pub elements: Vec<usize>,
    /// Precisions of vectors and arithmetic.
    pub precisions: Vec<Precision>,
    /// Right-hand sides: components that are not coupled.
    pub sides: Vec<usize>,
    /// How kernels are tuned.
    pub tuning: Tuning,
    /// Number and length of samples.
    pub sampling: Sampling,
}

/// Numbers with which kernels are measured; where none are given, those published for steps and femto's defaults for its
/// own schedules.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// Elements of a thread, for factors.
    pub per_thread: Vec<u32>,
    /// Elements side by side in a block.
    pub aside: Vec<u32>,
    /// Columns that own schedules with a row per thread unroll; 0 unrolls all.
    pub unroll: Vec<u32>,
    /// Warps of a block of own schedules for matrix units, for factors.
    pub warps: Vec<u32>,
    /// Whether own schedules prefetch, for matrices.
    pub prefetch: Vec<bool>,
    /// Blocks for which a multiprocessor shall have registers, with a row per thread; 0 leaves them to the compiler.
    pub blocks_per_unit: Vec<u32>,
}

/// What was asked for, or else the default.
fn or<T: Copy>(given: &[T], default: T) -> Vec<T> {
    match given {
        [] => vec![default],
        given => given.to_vec(),
    }
}

/// Degree, precision and right-hand sides.
type Problem = (usize, Precision, usize);

impl Sweep {
    /// Fails if factors have no basis of a degree.
    fn check(&self) -> Result<(), BenchError> {
        if self.stored.contains(&Stored::Factors) {
            for &degree in &self.degrees {
                basis::check(Cell::Tetrahedron, degree).map_err(OperatorError::from)?;
            }
        }
        Ok(())
    }

    /// The kernels of a degree in a precision.
    fn variants(&self, problem: Problem, device: &Accelerator) -> Vec<Variant> {
        let mut all: Vec<Variant> = Vec::new();
        let mut add = |step, kernel| {
            let variant = Variant {
                step,
                sides: problem.2,
                kernel,
            };
            if !all.contains(&variant) {
                all.push(variant);
            }
        };
        for stored in &self.stored {
            match stored {
                Stored::Factors => factors::variants(self, problem, &mut add),
                Stored::Full => matrices::variants(self, problem, (false, device), &mut add),
                Stored::Triangle => matrices::variants(self, problem, (true, device), &mut add),
            }
        }
        all
    }

    fn problems(&self) -> Vec<Problem> {
        let mut all = Vec::new();
        for &precision in &self.precisions {
            for &degree in &self.degrees {
                all.extend(self.sides.iter().map(|&sides| (degree, precision, sides)));
            }
        }
        all
    }
}

/// Nodes of a tetrahedron.
fn nodes(degree: usize) -> usize {
    Cell::Tetrahedron.lattice(degree).len()
}

/// Measures all combinations, even if some fail.
///
/// # Errors
/// A degree that cannot be measured, before any measurement; no ceilings.
pub fn run_all(
    device: &Accelerator,
    sweep: &Sweep,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    sweep.check()?;
    let mut all = Vec::new();
    for problem in sweep.problems() {
        let variants = sweep.variants(problem, device).into_iter();
        all.extend(variants.map(|variant| (problem, variant)));
    }
    progress.stage(format!("compiling {} texts", all.len()));
    in_parallel(&all, |((degree, precision, _), variant)| {
        // Failures are reported again below.
        if let Ok(source) = source(device, (*degree, *precision), variant) {
            prepare(device, &source.name, &source.text);
        }
    });
    progress.stage("ceilings".to_owned());
    let ceilings = roofline::of(&device.clone().into(), options.ceilings)?;
    let mut report = Report::new(TET, options);
    report.begin(device.info(), ceilings);
    for &elements in &sweep.elements {
        for problem in sweep.problems() {
            if report.stops() {
                return Ok(report);
            }
            let (degree, precision, sides) = problem;
            progress.stage(format!(
                "degree {degree}, {elements} elements, {sides} right-hand sides, {precision}"
            ));
            let on = (device, problem, elements);
            match precision {
                Precision::Fp64 => measure::<f64>(sweep, on, &ceilings, &mut report),
                Precision::Fp32 => measure::<f32>(sweep, on, &ceilings, &mut report),
            }
            report.save();
        }
    }
    Ok(report)
}

/// The text of a kernel that the device can run.
fn source(
    device: &Accelerator,
    (degree, precision): (usize, Precision),
    variant: &Variant,
) -> Result<KernelSource, BenchError> {
    let (limits, language) = (limits(device.features()), language(device.features()));
    match &variant.kernel {
        Kernel::Factors { schedule, listed } => {
            let matrices = factors::matrices(degree, precision)?;
            let spec = factors::spec((&matrices, variant.sides), *listed, precision, language);
            schedule.validate(spec.sizes(), precision, &limits)?;
            Ok(spec.source(schedule))
        }
        Kernel::Matrices(schedule) => {
            let spec = matrices::spec((degree, precision, variant.sides), language);
            schedule.validate(spec.sizes(), precision, &limits)?;
            Ok(spec.source(schedule))
        }
    }
}

/// Measures the kernels of one problem and size.
fn measure<T: Number>(
    sweep: &Sweep,
    (device, problem, elements): (&Accelerator, Problem, usize),
    ceilings: &Ceilings,
    report: &mut Report,
) {
    let (degree, _, sides) = problem;
    let mut factors = None;
    for variant in sweep.variants(problem, device) {
        if report.stops() {
            return;
        }
        let how = (&sweep.sampling, ceilings);
        let (schedule, result) = match &variant.kernel {
            Kernel::Factors { schedule, listed } => {
                let data = match &mut factors {
                    Some(data) => Ok(data),
                    none => {
                        let new = Factors::<T>::new(device, (degree, sides), elements);
                        new.map(|data| none.insert(data))
                    }
                };
                let result = data.and_then(|data| data.measure(schedule, *listed, how));
                (schedule.to_string(), result)
            }
            Kernel::Matrices(schedule) => {
                let result = matrices::measure::<T>(device, (problem, elements), schedule, how);
                (schedule.to_string(), result)
            }
        };
        let what = format!("degree {degree}, {schedule}");
        report.add(
            what,
            result.map(|it| it.record((problem, elements), &variant)),
        );
    }
}

/// A measurement, and what an element stores of the operator.
struct Found {
    record: Record,
    /// Bytes of the operator.
    bytes: usize,
}

impl Found {
    /// The record with its setting.
    fn record(self, ((degree, _, sides), elements): (Problem, usize), variant: &Variant) -> Record {
        let mut record = self.record;
        // Elements of a thread and side by side, columns unrolled, blocks with registers.
        let (stored, numbers) = match variant.kernel {
            Kernel::Factors { schedule, .. } => {
                let numbers = schedule.rows().map(|it| {
                    [
                        it.elements_per_thread,
                        it.elements_aside,
                        it.unroll,
                        it.blocks_per_unit,
                    ]
                });
                (Stored::Factors, numbers)
            }
            Kernel::Matrices(it) => {
                let stored = match it.triangle {
                    true => Stored::Triangle,
                    false => Stored::Full,
                };
                let numbers = [1, it.elements_aside, it.unroll, it.blocks_per_unit];
                (stored, Some(numbers))
            }
        };
        let [per_thread, aside, unroll, blocks_per_unit] =
            [0, 1, 2, 3].map(|place| numbers.map(|it| it[place]));
        record.setting = vec![
            ("stored", json!(stored.name())),
            ("step", json!(variant.step.map(|step| step.0))),
            ("change", json!(variant.step.map(|step| step.1))),
            ("degree", json!(degree)),
            ("elements", json!(elements)),
            ("sides", json!(sides)),
            ("nodes", json!(elements * nodes(degree) * sides)),
            ("per_thread", json!(per_thread)),
            ("aside", json!(aside)),
            ("unroll", json!(unroll)),
            ("blocks_per_unit", json!(blocks_per_unit)),
            ("gigabytes", json!(self.bytes as f64 * 1e-9)),
        ];
        let bound = bound(&record.work, &record.ceilings, record.precision);
        record.set_bound("shared", Some(bound.shared_seconds));
        // Of the published steps: flops per second that their accesses to caches allow, as the authors count them.
        let number = variant
            .step
            .filter(|_| stored == Stored::Factors)
            .map(|step| step.0);
        let step = number.and_then(|number| ladder::steps().into_iter().nth(number));
        let allowed = step.zip(per_thread).zip(record.ceilings.shared);
        let allowed = allowed.map(|((step, per_thread), rate)| {
            step.flops_per_access(per_thread) * rate / record.precision.bytes() as f64
        });
        record.extras.push(("roofline_cache", json!(allowed)));
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_without_a_basis_are_refused_for_factors() {
        let check = |stored, degree| {
            let sweep = Sweep {
                stored: vec![Stored::Triangle, stored],
                steps: Vec::new(),
                degrees: vec![1, degree],
                elements: Vec::new(),
                precisions: Vec::new(),
                sides: Vec::new(),
                tuning: Tuning::default(),
                sampling: Sampling::default(),
            };
            sweep.check().map_err(|error| error.to_string())
        };
        assert_eq!(check(Stored::Factors, 8), Ok(()));
        assert_eq!(check(Stored::Full, 9), Ok(()));
        let refused = check(Stored::Factors, 9).unwrap_err();
        assert!(refused.contains("1 to 8"), "{refused}");
    }
}
