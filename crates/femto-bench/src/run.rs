//! Running the bake-off problems and kernels: one measurement, or many.

use crate::compare::difference;
use crate::compile::in_parallel;
use crate::meshed_space::MeshedSpace;
use crate::record::Outcome;
use crate::report::{Progress, RunOptions, label};
use crate::roofline::{self, on_timed};
use crate::subject::Subject;
use crate::timing::{random, since};
use crate::view::BAKEOFF;
use crate::wavefronts::uncounted;
use crate::{BenchError, Measured, Params, Record, Report};
use femto::operator::Backend;
use femto::vector::VectorOps;
use femto::{AnyDevice, FactorPrecision, Host, Knobs, Number, Scatter};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::DeviceKind;
use serde_json::json;
use std::time::Instant;

/// Maximum length of vectors whose output is compared with the host's.
const MOST_COMPARED: usize = 200_000;
/// Cells along x, y and z of a small mesh for compiling kernels before timing.
const FEW_CELLS: [usize; 3] = [2; 3];

/// Measures: 1. mesh, geometry and space, 2. kernels, 3. operator, 4. comparison, 5. time, 6. record.
///
/// `ceilings` are those of `device`, see [`roofline::ceilings`].
///
/// # Errors
/// Parameters out of range, not enough memory, or an output that is not finite.
pub fn run(device: &AnyDevice, params: &Params, ceilings: &Ceilings) -> Result<Record, BenchError> {
    Bench::default().run(device, params, ceilings)
}

/// Runs measurements one after the other. Mesh and space are kept for the next one that needs them; its
/// record has the time it took to make them.
#[derive(Default)]
struct Bench {
    last: Option<(Params, MeshedSpace)>,
}

impl Bench {
    fn run(
        &mut self,
        device: &AnyDevice,
        params: &Params,
        ceilings: &Ceilings,
    ) -> Result<Record, BenchError> {
        params.check(&device.info())?;
        let problem = self.problem(params)?;
        on_timed!(device, |device| match params.precision {
            Precision::Fp64 => run_in::<f64, _>(device, params, problem, ceilings),
            Precision::Fp32 => run_in::<f32, _>(device, params, problem, ceilings),
        })
    }

    fn problem(&mut self, params: &Params) -> Result<&MeshedSpace, BenchError> {
        let last = self.last.take();
        let problem = match last.filter(|(last, _)| last.has_problem_of(params)) {
            Some((_, problem)) => problem,
            None => params.problem(params.cells())?,
        };
        Ok(&self.last.insert((*params, problem)).1)
    }
}

/// Measures all parameters on all devices, even if some measurements fail.
///
/// With `compile_first` an accelerator compiles all kernels first, on all threads, into the cache on disk;
/// the records' `compile_seconds` are then the time to fetch them from there.
///
/// # Errors
/// Parameters that cannot be measured, before any measurement; no ceilings; a CSV file that cannot be
/// written.
pub fn run_all(
    devices: &[AnyDevice],
    all: &[Params],
    compile_first: bool,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    for device in devices {
        let info = device.info();
        all.iter().try_for_each(|params| params.check(&info))?;
    }
    let mut report = Report::new(BAKEOFF, options);
    for device in devices {
        let label = label(&device.info());
        if compile_first {
            progress.stage("compiling".to_owned());
            // Failures are reported again below.
            in_parallel(all, |params| {
                _ = compile_on(device, params);
            });
        }
        progress.stage(format!("ceilings, {label}"));
        let ceilings = roofline::of(device, options.ceilings)?;
        report.begin(device.info(), ceilings);
        let (mut bench, before) = (Bench::default(), report.records.len());
        // Positions of this device's records.
        let mut places: Vec<usize> = Vec::new();
        for index in by_problem(all) {
            if report.stops() {
                return Ok(report);
            }
            let what = format!("{}, {label}", all[index].describe());
            progress.stage(what.clone());
            let known = report.records.len();
            report.add(what, bench.run(device, &all[index], &ceilings));
            if report.records.len() > known {
                let at = places.partition_point(|&other| other < index);
                places.insert(at, index);
                report.records[before + at..].rotate_right(1);
            }
            report.save();
        }
    }
    Ok(report)
}

/// Indices of all measurements, grouped by mesh and space.
fn by_problem(all: &[Params]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(all.len());
    for (index, params) in all.iter().enumerate() {
        let alike = |&other: &usize| all[other].has_problem_of(params);
        let at = order
            .iter()
            .rposition(alike)
            .map_or(order.len(), |at| at + 1);
        order.insert(at, index);
    }
    order
}

fn run_in<T: Number, D: Backend + VectorOps<T>>(
    device: &D,
    params: &Params,
    problem: &MeshedSpace,
    ceilings: &Ceilings,
) -> Result<Record, BenchError> {
    let compile_seconds = compile::<T, D>(device, params)?;

    let start = Instant::now();
    let subject = Subject::<T, D>::new(device, params, problem)?;
    device.synchronize()?;
    let operator_seconds = since(start);

    let error = compare(&subject, params, problem)?;
    let probe = match params.probe {
        true => subject.probe(problem)?,
        false => None,
    };
    let timing = match params.measured {
        Measured::Application => subject.time_apply(params)?,
        Measured::CgIteration => subject.time_iteration(params)?,
    };
    let mut warnings = subject.operator.warnings();
    let counting = subject.count_wavefronts();
    warnings.extend(counting.err().map(|error| uncounted(&error)));
    let work = match params.measured {
        Measured::Application => subject.work(),
        Measured::CgIteration => subject.iteration_work(),
    };
    let operator = &subject.operator;
    let benchmark = params.benchmark;
    let outcome = Outcome {
        precision: params.precision,
        device: device.info(),
        timing,
        error,
        work,
        ceilings: *ceilings,
    };
    let mut record = Record::new(benchmark.name(), outcome);
    let [cells_x, cells_y, cells_z] = problem.cells;
    let dofs = subject.unknowns();
    let scatter = match record.device.kind {
        DeviceKind::Host => Scatter::Deterministic,
        _ => params.scatter,
    };
    let explanation = operator.explain(None, None);
    record.setting = vec![
        ("measured", json!(params.measured)),
        ("vector", json!(params.benchmark.vector())),
        ("degree", json!(params.degree.horizontal)),
        ("points_1d", json!(params.points_1d()?)),
        ("components", json!(benchmark.components())),
        ("data_level", json!(operator.data_level().name())),
        ("factors", json!(params.factors.name())),
        // By how much of itself `single` changes a factor, and so the operator, at most.
        ("perturbation", json!(explanation.perturbation)),
        ("fold_coefficients", json!(params.fold_coefficients)),
        ("scatter", json!(scatter.name())),
        ("warnings", json!(warnings.join("; "))),
        ("mesh", json!(params.mesh)),
        ("cells_x", json!(cells_x)),
        ("cells_y", json!(cells_y)),
        ("cells_z", json!(cells_z)),
        ("elements", json!(problem.space.elements())),
        ("dofs", json!(dofs)),
        ("threads", json!(record.device.threads)),
    ];
    record.schedule = explanation.schedule.join("; ");
    record.counts = vec![("rate", Some(dofs))];
    let bytes_per_dof = operator.bytes() as f64 / operator.dofs() as f64;
    record.extras = vec![
        ("rate_unit", json!(params.unit())),
        // As counted in the literature.
        ("nominal_flops", json!(operator.nominal_flops())),
        ("mesh_seconds", json!(problem.mesh_seconds)),
        ("geometry_seconds", json!(problem.geometry_seconds)),
        ("space_seconds", json!(problem.space_seconds)),
        // Including a check on a few elements.
        ("compile_seconds", json!(compile_seconds)),
        // The factors, with packing and transfer.
        ("operator_seconds", json!(operator_seconds)),
        ("operator_bytes_per_dof", json!(bytes_per_dof)),
        ("energy", json!(probe.map(|probe| probe.energy))),
        ("norm", json!(probe.map(|probe| probe.norm))),
        ("vertical_degree", json!(params.degree.vertical)),
    ];
    Ok(record)
}

fn compile_on(device: &AnyDevice, params: &Params) -> Result<f64, BenchError> {
    on_timed!(device, |device| match params.precision {
        Precision::Fp64 => compile::<f64, _>(device, params),
        Precision::Fp32 => compile::<f32, _>(device, params),
    })
}

/// Has the device compile and check the kernels on a few elements; returns the seconds.
fn compile<T: Number, D: Backend + VectorOps<T>>(
    device: &D,
    params: &Params,
) -> Result<f64, BenchError> {
    if device.info().kind == DeviceKind::Host {
        return Ok(0.0);
    }
    let problem = params.problem(FEW_CELLS)?;
    let start = Instant::now();
    let subject = Subject::<T, D>::new(device, params, &problem)?;
    subject.output(&random(subject.len()))?;
    Ok(since(start))
}

/// The largest difference between the first output and the host's, relative to the largest entry;
/// `None` on the host itself and for large problems.
fn compare<T: Number, D: Backend + VectorOps<T>>(
    subject: &Subject<T, D>,
    params: &Params,
    problem: &MeshedSpace,
) -> Result<Option<f64>, BenchError> {
    let len = subject.len();
    let kind = subject.operator.device().info().kind;
    if kind == DeviceKind::Host || len > MOST_COMPARED {
        return Ok(None);
    }
    let u = random::<T>(len);
    let found = subject.output(&u)?;
    let on_host = Params {
        factors: FactorPrecision::Same,
        knobs: Knobs::default(),
        ..*params
    };
    let wanted = Subject::<T, Host>::new(&Host::new()?, &on_host, problem)?.output(&u)?;
    let pairs = found.iter().zip(&wanted);
    let pairs = pairs.map(|(found, wanted)| (found.to_f64(), wanted.to_f64()));
    Ok(Some(difference(pairs)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Benchmark;
    use femto::DataLevel;

    #[test]
    fn measurements_on_one_mesh_follow_each_other() {
        let params = |degree: usize, data_level| Params {
            degree: degree.into(),
            data_level,
            ..Params::new(Benchmark::Bp5)
        };
        let (fly, stored) = (DataLevel::OnTheFly, DataLevel::Partial);
        let all = [
            params(1, fly),
            params(2, fly),
            params(1, stored),
            params(2, stored),
            params(1, DataLevel::Automatic),
        ];
        assert_eq!(by_problem(&all), [0, 2, 4, 1, 3]);
        assert_eq!(by_problem(&[]), [] as [usize; 0]);
    }
}
