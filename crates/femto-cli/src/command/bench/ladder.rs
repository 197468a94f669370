//! `femto bench --ladder`

use super::Bench;
use super::figure::{self, Point};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use femto::Number;
use femto::bench::ladder::{LadderData, LadderRow, LadderSize, compile_all};
use femto::bench::{BenchError, Sampling, Size};
use femto::kernel::family::tensor_hex::ladder::{self, Benchmark, Step};
use femto::kernel::roofline::{Ceilings, Precision};
use femto::platform::device::{Accelerator, Device};
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};

/// Seconds of a sample at least.
const SAMPLE_SECONDS: f64 = 0.005;

/// What `--ladder` gave.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) device: String,
    pub(super) rows: Vec<LadderRow>,
    /// What is illegal, and the rule that it breaks.
    pub(super) illegal: Vec<(String, String)>,
    /// What could not be measured, and why.
    pub(super) failures: Vec<(String, BenchError)>,
}

impl Bench {
    /// First all texts are compiled, then, per size, all steps are measured on the same data. A step
    /// that fails does not keep the others from being measured.
    pub(super) fn run_ladder(&self, names: &[String], console: Console) -> Result<(), Failure> {
        let steps = self.steps(names)?;
        let device = Accelerator::open(self.device)?;
        let mut progress = Progress::new(!console.is_json());
        progress.stage("compiling");
        compile_all(&device, &self.texts(&steps), super::threads());
        progress.stage("ceilings");
        let ceilings = self.ceilings(&device)?;

        let mut outcome = Outcome {
            device: device.info().name,
            ..Outcome::default()
        };
        for &precision in &self.precision {
            for size in self.ladder_sizes(&steps) {
                let run = Run {
                    bench: self,
                    device: &device,
                    ceilings: &ceilings,
                    steps: &steps,
                };
                match precision {
                    Precision::Fp64 => run.size::<f64>(size, &mut progress, &mut outcome)?,
                    Precision::Fp32 => run.size::<f32>(size, &mut progress, &mut outcome)?,
                }
            }
        }
        progress.finish();
        let points: Vec<Point> = outcome.rows.iter().map(Point::from).collect();
        self.draw(&points)?;
        console.report(&outcome, || outcome.to_json())?;
        match outcome.failures.into_iter().next() {
            None => Ok(()),
            Some((_, error)) => Err(error.into()),
        }
    }

    /// Draws the rows of files that are of steps that were asked for.
    pub(super) fn draw_stored(&self, names: &[String], console: Console) -> Result<(), Failure> {
        let steps = self.steps(names)?;
        let mut points = Vec::new();
        for path in &self.from {
            points.extend(figure::read(path)?);
        }
        let is_asked = |point: &Point| steps.iter().any(|step| step.to_string() == point.step);
        points.retain(is_asked);
        self.draw(&points)?;
        let drawn = Drawn {
            rows: points.len(),
            files: self.from.len(),
        };
        console.report(&drawn, || json!({ "rows": drawn.rows }))
    }

    fn draw(&self, points: &[Point]) -> Result<(), Failure> {
        match &self.figure {
            Some(path) => figure::draw(points, path),
            None => Ok(()),
        }
    }

    /// The steps of the benchmarks that were asked for.
    fn steps(&self, names: &[String]) -> Result<Vec<Step>, Failure> {
        let benchmark = |step: &Step| {
            let name = step.benchmark.name();
            self.benchmarks.iter().any(|it| it.name() == name)
        };
        let steps = ladder::steps().into_iter();
        let steps = steps.filter(|step| benchmark(step) && names.iter().any(|name| is(step, name)));
        let steps: Vec<Step> = steps.collect();
        match steps.is_empty() {
            true => Err(Failure::NoStep {
                names: names.join(","),
            }),
            false => Ok(steps),
        }
    }

    fn texts(&self, steps: &[Step]) -> Vec<(Step, usize, Precision)> {
        let mut all = Vec::new();
        for &step in steps {
            for &degree in &self.degree.0 {
                all.extend(self.precision.iter().map(|&it| (step, degree, it)));
            }
        }
        all
    }

    /// Every combination, degrees before numbers of elements.
    fn ladder_sizes(&self, steps: &[Step]) -> Vec<LadderSize> {
        let mut benchmarks: Vec<Benchmark> = steps.iter().map(|step| step.benchmark).collect();
        benchmarks.dedup();
        let mut all = Vec::new();
        for benchmark in benchmarks {
            for size in self.sizes(Size::LARGE) {
                for &degree in &self.degree.0 {
                    let nodes = (degree + 1).pow(3);
                    let elements = match size {
                        Size::Elements(elements) => elements,
                        Size::Dofs(dofs) => (dofs / nodes).max(1),
                    };
                    all.push(LadderSize {
                        benchmark,
                        degree,
                        elements,
                    });
                }
            }
        }
        all
    }
}

/// What was drawn.
struct Drawn {
    rows: usize,
    files: usize,
}

impl Display for Drawn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "drawn: {} rows of {} files", self.rows, self.files)
    }
}

/// Whether a step is meant: `all`, `layers`, `cubes/3`, `bk5/layers/7`.
fn is(step: &Step, name: &str) -> bool {
    let full = format!("/{step}/");
    name == "all" || full.contains(&format!("/{name}/"))
}

/// What all measurements of a run share.
struct Run<'a> {
    bench: &'a Bench,
    device: &'a Accelerator,
    ceilings: &'a Ceilings,
    steps: &'a [Step],
}

impl Run<'_> {
    /// All steps on the data of one size.
    fn size<T: Number>(
        &self,
        size: LadderSize,
        progress: &mut Progress,
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        let LadderSize {
            benchmark,
            degree,
            elements,
        } = size;
        let place = format!("degree {degree}, {elements} elements, {}", T::PRECISION);
        progress.stage(format!("{} {place}", benchmark.name()));
        let mut data = match LadderData::<T>::new(self.device, size) {
            Ok(data) => data,
            Err(error) => {
                let what = format!("{} {place}", benchmark.name());
                outcome.failures.push((what, error));
                return Ok(());
            }
        };
        let sampling = Sampling {
            samples: self.bench.nreps as usize,
            seconds: SAMPLE_SECONDS,
        };
        for step in self.steps.iter().filter(|it| it.benchmark == benchmark) {
            progress.detail(|| step.to_string());
            let what = format!("{step} {place}");
            match data.measure(step, &sampling, self.ceilings) {
                Ok(row) => outcome.rows.push(row),
                Err(BenchError::Illegal(rule)) => outcome.illegal.push((what, rule.to_string())),
                Err(error) => outcome.failures.push((what, error)),
            }
        }
        self.bench.write_csv(&outcome.rows)
    }
}

impl Outcome {
    fn to_json(&self) -> Value {
        let illegal = |(what, rule): &(String, String)| json!({ "what": what, "rule": rule });
        let failure = |(what, error): &(String, BenchError)| json!({ "what": what, "message": error.to_string() });
        json!({
            "femto": env!("CARGO_PKG_VERSION"),
            "device": self.device,
            "rows": self.rows,
            "illegal": self.illegal.iter().map(illegal).collect::<Value>(),
            "failures": self.failures.iter().map(failure).collect::<Value>(),
        })
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
