//! Measuring many steps on data of many sizes.

use super::view::LADDER;
use super::{LadderData, LadderSize, kernel};
use crate::compile::{in_parallel, prepare};
use crate::report::{Progress, RunOptions};
use crate::{BenchError, Benchmark, Report, Sampling, Size, roofline};
use femto::Number;
use femto_kernel::family::hex_published::ladder::{self, Step};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::Accelerator;

/// The steps of these benchmarks whose name contains one of `names`: `all`, `layers`, `cubes/3`,
/// `bk5/layers/7`; `None` if there is none.
pub fn select(benchmarks: &[Benchmark], names: &[String]) -> Option<Vec<Step>> {
    let benchmark = |step: &Step| {
        let name = step.benchmark.name();
        benchmarks.iter().any(|it| it.name() == name)
    };
    let steps = ladder::steps().into_iter();
    let steps = steps.filter(|step| benchmark(step) && names.iter().any(|name| is(step, name)));
    let steps: Vec<Step> = steps.collect();
    (!steps.is_empty()).then_some(steps)
}

fn is(step: &Step, name: &str) -> bool {
    let full = format!("/{step}/");
    name == "all" || full.contains(&format!("/{name}/"))
}

/// The combinations to measure.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The steps, grouped by benchmark.
    pub steps: Vec<Step>,
    /// Degrees.
    pub degrees: Vec<usize>,
    /// Sizes; [`Size::Dofs`] counts nodes of E-vectors.
    pub sizes: Vec<Size>,
    /// Precisions of vectors and arithmetic.
    pub precisions: Vec<Precision>,
    /// Number and length of samples.
    pub sampling: Sampling,
}

impl Sweep {
    /// The steps of a benchmark.
    fn steps_of(&self, benchmark: ladder::Benchmark) -> impl Iterator<Item = &Step> {
        let steps = self.steps.iter();
        steps.filter(move |step| step.benchmark == benchmark)
    }

    /// Sizes, by degree and then by number of elements.
    fn ladder_sizes(&self) -> Vec<LadderSize> {
        let mut benchmarks: Vec<_> = self.steps.iter().map(|step| step.benchmark).collect();
        benchmarks.dedup();
        let mut all = Vec::new();
        for benchmark in benchmarks {
            for &size in &self.sizes {
                all.extend(self.degrees.iter().map(|&degree| LadderSize {
                    benchmark,
                    degree,
                    elements: match size {
                        Size::Elements(elements) => elements,
                        Size::Dofs(nodes) => (nodes / (degree + 1).pow(3)).max(1),
                    },
                }));
            }
        }
        all
    }
}

/// Compiles the text of every legal step, degree and precision, on all threads, into the cache on disk for
/// [`LadderData::measure`].
///
/// Ignores failures: measuring the step reports them again.
pub fn compile_all(device: &Accelerator, all: &[(Step, usize, Precision)]) {
    in_parallel(all, |(step, degree, precision)| {
        if let Ok(kernel) = kernel(step, *degree, *precision, device.features()) {
            prepare(device, &step.to_string(), &kernel.text);
        }
    });
}

/// Per size measures all steps on the same data, even if some steps fail; before the first size of a degree their texts are
/// compiled.
///
/// # Errors
/// No ceilings.
pub fn run_all(
    device: &Accelerator,
    sweep: &Sweep,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    progress.stage("ceilings".to_owned());
    let ceilings = roofline::of(&device.clone().into(), options.ceilings)?;
    let mut report = Report::new(LADDER, options);
    report.begin(device.info(), ceilings);
    let run = Run {
        device,
        sweep,
        ceilings,
    };
    for precision in &sweep.precisions {
        let mut compiled = Vec::new();
        for size in sweep.ladder_sizes() {
            if report.stops() {
                return Ok(report);
            }
            let texts = (size.benchmark, size.degree);
            if !compiled.contains(&texts) {
                let name = size.benchmark.name();
                progress.stage(format!("compiling {name}, degree {}", size.degree));
                let steps = sweep.steps_of(size.benchmark);
                let steps = steps.map(|&step| (step, size.degree, *precision));
                compile_all(device, &steps.collect::<Vec<_>>());
                compiled.push(texts);
            }
            match precision {
                Precision::Fp64 => run.size::<f64>(size, progress, &mut report),
                Precision::Fp32 => run.size::<f32>(size, progress, &mut report),
            }
            report.save();
        }
    }
    Ok(report)
}

/// Data common to all measurements of a run.
struct Run<'a> {
    device: &'a Accelerator,
    sweep: &'a Sweep,
    ceilings: Ceilings,
}

impl Run<'_> {
    /// Measures all steps on the data of one size.
    fn size<T: Number>(&self, size: LadderSize, progress: &mut dyn Progress, report: &mut Report) {
        let (benchmark, degree, elements) = (size.benchmark, size.degree, size.elements);
        let sizes = format!("degree {degree}, {elements} elements, {}", T::PRECISION);
        let what = format!("{} {sizes}", benchmark.name());
        progress.stage(what.clone());
        let mut data = match LadderData::<T>::new(self.device, size) {
            Ok(data) => data,
            Err(error) => return report.add(what, Err(error)),
        };
        for step in self.sweep.steps_of(benchmark) {
            if report.stops() {
                return;
            }
            progress.detail(step);
            let result = data.measure(step, &self.sweep.sampling, &self.ceilings);
            report.add(format!("{step} {sizes}"), result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_by_any_part() {
        let step = ladder::find("bk5/layers/7").unwrap();
        for name in [
            "all",
            "bk5",
            "layers",
            "7",
            "layers/7",
            "bk5/layers",
            "bk5/layers/7",
        ] {
            assert!(is(&step, name), "{name}");
        }
        for name in ["", "layer", "1", "cubes/7", "bk5/7", "bk5/layers/70"] {
            assert!(!is(&step, name), "{name}");
        }
    }
}
