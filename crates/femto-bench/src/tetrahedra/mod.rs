//! The published ladder on affine tetrahedra: screened Poisson's equation on E-vectors, on random factors and
//! vectors; and femto's own schedules beside it.
//!
//! A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix Action: monolithic kernel optimization on Titan
//! V" (2018). [`run_all`] measures many steps:
//!
//! 1. [`Sweep::variants`] lists steps, with numbers of elements per thread and side by side.
//! 2. All texts are compiled at the same time, into the cache on disk.
//! 3. [`TetrahedraData::new`] makes the matrices of a degree, random factors and vectors, and the oracle's results
//!    for some elements; [`TetrahedraData::measure`] compares the output of a kernel with those and times it.

mod data;
mod view;

pub use data::TetrahedraData;

use crate::compile::{compile, in_parallel};
use crate::report::{Progress, RunOptions};
use crate::{BenchError, Report, Sampling, roofline};
use femto::Number;
use femto::accelerator::{language, limits};
use femto_kernel::family::affine_simplex::ladder::{self, Step};
use femto_kernel::family::affine_simplex::schedule::{MatrixUnits, Rows, Schedule, Sizes};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::Accelerator;
use view::TETRAHEDRA;

/// A kernel of the ladder, or one of femto's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variant {
    /// The published step; `None` for femto's own schedule.
    pub step: Option<Step>,
    /// Its schedule.
    pub schedule: Schedule,
}

/// The combinations to measure.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Numbers of the steps.
    pub steps: Vec<usize>,
    /// Degrees.
    pub degrees: Vec<usize>,
    /// Numbers of elements.
    pub elements: Vec<usize>,
    /// Precisions of vectors and arithmetic.
    pub precisions: Vec<Precision>,
    /// Elements per thread that tuned steps are measured with; those published if empty.
    pub per_thread: Vec<u32>,
    /// Elements side by side, likewise.
    pub aside: Vec<u32>,
    /// Columns that femto's own schedules unroll; none of these is measured if empty.
    pub unroll: Vec<u32>,
    /// Warps of a block of femto's own schedules for matrix units; none of these is measured if empty.
    pub warps: Vec<u32>,
    /// Number and length of samples.
    pub sampling: Sampling,
}

impl Sweep {
    /// The kernels of a degree in a precision.
    pub fn variants(&self, degree: usize, precision: Precision) -> Vec<Variant> {
        let nodes = nodes(degree);
        let published = ladder::published(nodes, precision);
        let or = |given: &[u32], own: u32| match given {
            [] => vec![own],
            given => given.to_vec(),
        };
        let mut tuned = Vec::new();
        for per_thread in or(&self.per_thread, published.0) {
            for aside in or(&self.aside, published.1) {
                tuned.push((per_thread, aside));
            }
        }
        let mut all: Vec<Variant> = Vec::new();
        let mut add = |step: Option<Step>, schedule: Schedule| {
            let variant = Variant { step, schedule };
            if !all.contains(&variant) {
                all.push(variant);
            }
        };
        let steps = ladder::steps().into_iter();
        for step in steps.filter(|step| self.steps.contains(&step.number)) {
            for &(per_thread, aside) in &tuned {
                add(Some(step), step.with(per_thread, aside));
            }
        }
        for &unroll in &self.unroll {
            for &(elements_per_thread, elements_aside) in &tuned {
                add(
                    None,
                    Schedule::Rows(Rows {
                        unroll,
                        elements_per_thread,
                        elements_aside,
                        ..Rows::PLAIN
                    }),
                );
            }
        }
        for &warps in &self.warps {
            for lockstep in [false, true] {
                let units = |element_tiles, input_shared, together| {
                    Schedule::MatrixUnits(MatrixUnits {
                        warps,
                        element_tiles,
                        input_shared,
                        lockstep,
                        together,
                    })
                };
                for element_tiles in [1, 2] {
                    add(None, units(element_tiles, false, false));
                    add(None, units(element_tiles, true, false));
                    if !lockstep {
                        add(None, units(element_tiles, true, true));
                    }
                }
            }
        }
        all
    }
}

/// Nodes of a tetrahedron.
fn nodes(degree: usize) -> usize {
    (degree + 1) * (degree + 2) * (degree + 3) / 6
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
            let variants = sweep.variants(degree, precision).into_iter();
            all.extend(variants.map(|variant| (precision, degree, variant)));
        }
    }
    progress.stage(format!("compiling {} texts", all.len()));
    in_parallel(&all, |(precision, degree, variant)| {
        // Failures are reported again below.
        _ = compile_on(device, *precision, *degree, variant);
    });
    progress.stage("ceilings".to_owned());
    let ceilings = roofline::of(&device.clone().into(), options.kept_ceilings)?;
    let mut report = Report::new(TETRAHEDRA, options);
    report.begin(device.info(), ceilings);
    for &precision in &sweep.precisions {
        for &elements in &sweep.elements {
            for &degree in &sweep.degrees {
                progress.stage(format!("degree {degree}, {elements} elements, {precision}"));
                let on = (sweep, degree, elements);
                match precision {
                    Precision::Fp64 => measure::<f64>(device, on, &ceilings, &mut report),
                    Precision::Fp32 => measure::<f32>(device, on, &ceilings, &mut report),
                }
                report.save()?;
            }
        }
    }
    Ok(report)
}

/// Measures the kernels of one degree, size and precision on the same data.
fn measure<T: Number>(
    device: &Accelerator,
    (sweep, degree, elements): (&Sweep, usize, usize),
    ceilings: &Ceilings,
    report: &mut Report,
) {
    let mut data = match TetrahedraData::<T>::new(device, degree, elements) {
        Ok(data) => data,
        Err(error) => return report.add(format!("degree {degree}"), Err(error)),
    };
    for variant in sweep.variants(degree, T::PRECISION) {
        let result = data.measure(&variant, &sweep.sampling, ceilings);
        report.add(format!("degree {degree}, {}", variant.schedule), result);
    }
}

/// Compiles a kernel's text into the cache on disk, if the device can run it.
fn compile_on(
    device: &Accelerator,
    precision: Precision,
    degree: usize,
    variant: &Variant,
) -> Result<(), BenchError> {
    let sizes = Sizes {
        nodes: nodes(degree),
        factors: data::FACTORS,
        dim: 3,
    };
    let limits = limits(device.features());
    variant.schedule.validate(sizes, precision, &limits)?;
    let matrices = data::matrices(degree)?;
    let source = data::source((&matrices, precision), variant, language(device.features()));
    compile(device, &source.name, &source.text)?;
    Ok(())
}
