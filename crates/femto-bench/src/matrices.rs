//! Products with random matrices of elements, on E-vectors: the published ladder, and femto's own schedules.
//!
//! A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix Action: to precompute or not to precompute" (2018),
//! measure them beside products by matrices of the reference cell, as [`tetrahedra`](crate::tetrahedra) does.

use crate::compile::{compile, in_parallel};
use crate::element_vectors::{ElementVectors, Subject};
use crate::memory::fits;
use crate::report::{Progress, RunOptions, View};
use crate::table::{self, Column};
use crate::view::{bound, error};
use crate::{BenchError, Record, Report, Sampling, roofline};
use femto::Number;
use femto::accelerator::{language, limits};
use femto::vector::RandomVectors;
use femto_kernel::family::element_matrix::ladder::{self, Step};
use femto_kernel::family::element_matrix::schedule::{Schedule, default};
use femto_kernel::family::element_matrix::source::KernelSpec;
use femto_kernel::family::{Operand, Vectors};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument};
use serde_json::json;

/// Seed of the matrices; the input's is another.
const MATRICES: u32 = 1;

/// A kernel of the ladder, or one of femto's own.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Variant {
    /// The published step; `None` for femto's own schedule.
    step: Option<Step>,
    schedule: Schedule,
    /// Right-hand sides.
    sides: usize,
}

/// The combinations to measure.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Numbers of the steps.
    pub steps: Vec<usize>,
    /// Degrees of tetrahedra, whose nodes are the unknowns.
    pub degrees: Vec<usize>,
    /// Numbers of elements.
    pub elements: Vec<usize>,
    /// Precisions of vectors and arithmetic.
    pub precisions: Vec<Precision>,
    /// Elements side by side in a block; those published, or femto's own, if empty.
    pub aside: Vec<u32>,
    /// Columns or diagonals that femto's own schedules unroll; femto's own if empty.
    pub unroll: Vec<u32>,
    /// Whether femto's own schedules prefetch; femto's own if empty.
    pub prefetch: Vec<bool>,
    /// Right-hand sides of femto's own schedules; none of these is measured if empty.
    pub sides: Vec<usize>,
    /// Number and length of samples.
    pub sampling: Sampling,
}

/// What was asked for, or else femto's own.
fn or<T: Copy>(given: &[T], own: T) -> Vec<T> {
    match given {
        [] => vec![own],
        given => given.to_vec(),
    }
}

/// The problem of a degree.
fn spec(degree: usize, sides: usize, precision: Precision, device: &Accelerator) -> KernelSpec {
    KernelSpec {
        nodes: (degree + 1) * (degree + 2) * (degree + 3) / 6,
        components: sides,
        mixed: false,
        vectors: Vectors::ELEMENT,
        precision,
        language: language(device.features()),
    }
}

impl Sweep {
    fn variants(&self, degree: usize, precision: Precision, device: &Accelerator) -> Vec<Variant> {
        let mut all: Vec<Variant> = Vec::new();
        let mut add = |variant| {
            if !all.contains(&variant) {
                all.push(variant);
            }
        };
        let steps = ladder::steps().into_iter();
        for step in steps.filter(|step| self.steps.contains(&step.number)) {
            for aside in or(&self.aside, ladder::published(degree)) {
                add(Variant {
                    step: Some(step),
                    schedule: step.with(aside),
                    sides: 1,
                });
            }
        }
        for &sides in &self.sides {
            for triangle in [false, true] {
                let sizes = spec(degree, sides, precision, device).sizes();
                let own = default(sizes, triangle, &limits(device.features()));
                for elements_aside in or(&self.aside, own.elements_aside) {
                    for unroll in or(&self.unroll, own.unroll) {
                        for prefetch in or(&self.prefetch, own.prefetch) {
                            let schedule = Schedule {
                                elements_aside,
                                unroll,
                                prefetch,
                                ..own
                            };
                            add(Variant {
                                step: None,
                                schedule,
                                sides,
                            });
                        }
                    }
                }
            }
        }
        all
    }
}

/// Measures all combinations, even if some fail.
///
/// # Errors
/// No ceilings, or a CSV file that cannot be written.
pub fn run_all(
    device: &Accelerator,
    sweep: &Sweep,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    let mut all = Vec::new();
    for &precision in &sweep.precisions {
        for &degree in &sweep.degrees {
            let variants = sweep.variants(degree, precision, device).into_iter();
            all.extend(variants.map(|variant| (precision, degree, variant)));
        }
    }
    progress.stage(format!("compiling {} texts", all.len()));
    in_parallel(&all, |(precision, degree, variant)| {
        let spec = spec(*degree, variant.sides, *precision, device);
        let limits = limits(device.features());
        if variant
            .schedule
            .validate(spec.sizes(), *precision, &limits)
            .is_ok()
        {
            let source = spec.source(&variant.schedule);
            // Failures are reported again below.
            _ = compile(device, &source.name, &source.text);
        }
    });
    progress.stage("ceilings".to_owned());
    let ceilings = roofline::of(&device.clone().into(), options.kept_ceilings)?;
    let mut report = Report::new(MATRICES_VIEW, options);
    report.begin(device.info(), ceilings);
    for &elements in &sweep.elements {
        for (precision, degree, variant) in &all {
            progress.stage(format!("degree {degree}, {elements} elements, {precision}"));
            let on = (device, *degree, elements);
            let how = (&sweep.sampling, &ceilings);
            let result = match precision {
                Precision::Fp64 => measure::<f64>(on, variant, how),
                Precision::Fp32 => measure::<f32>(on, variant, how),
            };
            report.add(format!("degree {degree}, {}", variant.schedule), result);
            report.save()?;
        }
    }
    Ok(report)
}

fn measure<T: Number>(
    (device, degree, elements): (&Accelerator, usize, usize),
    variant: &Variant,
    (sampling, ceilings): (&Sampling, &Ceilings),
) -> Result<Record, BenchError> {
    let spec = spec(degree, variant.sides, T::PRECISION, device);
    let schedule = &variant.schedule;
    schedule.validate(spec.sizes(), T::PRECISION, &limits(device.features()))?;
    let (unknowns, len) = (spec.nodes, spec.matrices_len(schedule, elements));
    let numbers = len + 2 * elements * unknowns * variant.sides;
    let what = format!("{elements} matrices of tetrahedra of degree {degree}");
    fits(&what, &device.info(), (numbers * T::BYTES) as f64)?;
    let mut vectors = ElementVectors::<T>::new(device, elements, unknowns * variant.sides)?;
    let matrices = vectors.random.make(MATRICES, len)?;
    vectors.expect(|element, u| {
        let entry = |row, column| {
            let index = spec.index(schedule, element, row, column);
            RandomVectors::<T>::entry(MATRICES, index)
        };
        let product = |u: &[f64], row| -> f64 {
            let terms = u.iter().enumerate();
            terms.map(|(column, u)| entry(row, column) * u).sum()
        };
        let of_side = |u| (0..unknowns).map(move |row| product(u, row));
        u.chunks_exact(unknowns).flat_map(of_side).collect()
    });
    let subject = Subject {
        name: "matrices",
        schedule: schedule.to_string(),
        source: spec.source(schedule),
        work: spec.work(schedule, elements),
        sampling,
        ceilings,
    };
    let mut record = vectors.measure(subject, |operand| match operand {
        Operand::Matrices => Some(Argument::input(&matrices)),
        Operand::ComponentStride => Some(Argument::U32(0)),
        _ => None,
    })?;
    record.setting = vec![
        ("step", json!(variant.step.map(|step| step.number))),
        ("change", json!(variant.step.map(|step| step.change))),
        ("degree", json!(degree)),
        ("elements", json!(elements)),
        ("nodes", json!(elements * unknowns)),
        ("sides", json!(variant.sides)),
        (
            "stored",
            json!(if schedule.triangle {
                "triangle"
            } else {
                "full"
            }),
        ),
        ("aside", json!(schedule.elements_aside)),
        ("unroll", json!(schedule.unroll)),
        ("prefetch", json!(schedule.prefetch)),
        ("gigabytes", json!((len * T::BYTES) as f64 * 1e-9)),
    ];
    Ok(record)
}

const MATRICES_VIEW: View = View {
    tables: |records, f| table::write(f, COLUMNS, records),
    legend: "step: of the published ladder, - for femto's own; sides: right-hand sides of a matrix; aside: elements of a \
             block; rate: unknowns of all right-hand sides; time: median of device times; bound: the shortest time that \
             the ceilings allow; error: largest difference from the oracle on some elements, relative",
};

const COLUMNS: &[Column<Record>] = &[
    Column::words("step", |it| it.text("step")),
    Column::numbers("degree", "", |it| it.text("degree")),
    Column::numbers("", "", |it| it.text("precision")),
    Column::numbers("elements", "", |it| it.text("elements")),
    Column::words("stored", |it| it.text("stored")),
    Column::numbers("", "GB", |it| it.fixed("gigabytes", 1.0, 2)),
    Column::numbers("sides", "", |it| it.text("sides")),
    Column::numbers("aside", "", |it| it.text("aside")),
    Column::numbers("unroll", "", |it| it.text("unroll")),
    Column::numbers("time", "us", |it| it.fixed("seconds", 1e6, 2)),
    Column::numbers("rate", "Gnodes/s", |it| it.fixed("rate", 1e-9, 3)),
    Column::numbers("work", "GFLOP/s", |it| it.fixed("flop_rate", 1e-9, 1)),
    Column::numbers("", "GB/s", |it| it.fixed("byte_rate", 1e-9, 1)),
    Column::numbers("bound", "ms", bound),
    Column::numbers("of bound", "%", |it| it.fixed("fraction", 100.0, 0)),
    Column::numbers("regs", "", |it| it.fixed("registers", 1.0, 0)),
    Column::numbers("spilled", "B", |it| it.fixed("local_bytes", 1.0, 0)),
    Column::numbers("error", "", error),
];
