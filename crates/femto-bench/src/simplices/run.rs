//! Measuring all candidates of all cases.

use super::view::{HOST, SIMPLICES, TABLE2};
use super::{
    Candidate, Selection, SimplexCase, SimplexData, SimplexForm, SimplexMesh, candidates,
    mark_best, measure_on_host,
};
use crate::compile::{in_parallel, prepare};
use crate::report::{Progress, RunOptions, label};
use crate::{BenchError, Report, Sampling, roofline};
use femto::{AnyDevice, Number};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::Accelerator;

/// The combinations to measure.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Minimum number of cells of a mesh.
    pub cells: usize,
    /// Precisions of vectors and arithmetic.
    pub precisions: Vec<Precision>,
    /// Selected schedules of accelerators.
    pub selection: Selection,
    /// Number and length of samples.
    pub sampling: Sampling,
}

impl Sweep {
    /// Triangles and tetrahedra.
    fn meshes(&self, progress: &mut dyn Progress) -> Result<[SimplexMesh; 2], BenchError> {
        progress.stage("meshes".to_owned());
        Ok([
            SimplexMesh::new(2, self.cells)?,
            SimplexMesh::new(3, self.cells)?,
        ])
    }
}

/// The mesh of a case.
fn mesh<'a>(meshes: &'a [SimplexMesh; 2], case: &SimplexCase) -> &'a SimplexMesh {
    &meshes[usize::from(case.dim == 3)]
}

/// Compiles the text of every legal candidate, on all threads, into the cache on disk for
/// [`SimplexData::measure`].
///
/// Ignores failures: measuring the candidate reports them again.
pub fn compile_all(device: &Accelerator, all: &[(SimplexCase, Candidate)]) {
    in_parallel(all, |(case, candidate)| {
        if let Ok(kernel) = case.kernel(candidate, device.features()) {
            prepare(device, &kernel.name, &kernel.text);
        }
    });
}

/// On an accelerator meshes are made and all texts compiled first; then, per case, all candidates are
/// measured on the same data, even if some fail. On hosts there is a record for each case and number of
/// threads.
///
/// # Errors
/// No mesh, or no ceilings.
pub fn run_all(
    devices: &[AnyDevice],
    sweep: &Sweep,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    match devices {
        [AnyDevice::Accelerator(device)] => run_on(device, sweep, options, progress),
        devices => run_on_hosts(devices, sweep, options, progress),
    }
}

fn run_on(
    device: &Accelerator,
    sweep: &Sweep,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    let meshes = sweep.meshes(progress)?;
    let cases = SimplexCase::all(SimplexForm::PUBLISHED, &sweep.precisions);
    let candidates = |case: &SimplexCase| candidates(case, sweep.selection, mesh(&meshes, case));
    let with_case = |case: &SimplexCase| {
        let case = *case;
        candidates(&case).into_iter().map(move |it| (case, it))
    };
    let variants: Vec<(SimplexCase, Candidate)> = cases.iter().flat_map(with_case).collect();
    progress.stage(format!("compiling {} texts", variants.len()));
    compile_all(device, &variants);

    progress.stage("ceilings".to_owned());
    let ceilings = roofline::of(&device.clone().into(), options.ceilings)?;
    let view = match sweep.selection {
        Selection::Table2 => TABLE2,
        _ => SIMPLICES,
    };
    let mut report = Report::new(view, options);
    report.begin(device.info(), ceilings);
    let run = Run {
        device,
        sampling: sweep.sampling,
        ceilings,
    };
    for case in &cases {
        if report.stops() {
            return Ok(report);
        }
        progress.stage(case.to_string());
        let inputs = (*case, mesh(&meshes, case), &candidates(case)[..]);
        match case.precision {
            Precision::Fp64 => run.case::<f64>(inputs, progress, &mut report),
            Precision::Fp32 => run.case::<f32>(inputs, progress, &mut report),
        }
        // The best of some is not the best.
        if report.stopped().is_none() {
            mark_best(&mut report.records);
        }
        report.save();
    }
    Ok(report)
}

fn run_on_hosts(
    devices: &[AnyDevice],
    sweep: &Sweep,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    let meshes = sweep.meshes(progress)?;
    let mut report = Report::new(HOST, options);
    for device in devices {
        let label = label(&device.info());
        progress.stage(format!("ceilings, {label}"));
        let ceilings = roofline::of(device, options.ceilings)?;
        report.begin(device.info(), ceilings);
        let AnyDevice::Host(host) = device else {
            continue;
        };
        for case in SimplexCase::all(SimplexForm::ALL, &sweep.precisions) {
            if report.stops() {
                return Ok(report);
            }
            let what = format!("{case}, {label}");
            progress.stage(what.clone());
            let mesh = mesh(&meshes, &case);
            let result = measure_on_host(host, &case, mesh, &sweep.sampling, &ceilings);
            report.add(what, result);
            report.save();
        }
    }
    Ok(report)
}

/// Data common to all measurements of a run.
struct Run<'a> {
    device: &'a Accelerator,
    sampling: Sampling,
    ceilings: Ceilings,
}

impl Run<'_> {
    /// Measures all candidates of a case on the same data.
    fn case<T: Number>(
        &self,
        (case, mesh, candidates): (SimplexCase, &SimplexMesh, &[Candidate]),
        progress: &mut dyn Progress,
        report: &mut Report,
    ) {
        let mut data = match SimplexData::<T>::new(self.device, case, mesh) {
            Ok(data) => data,
            Err(error) => return report.add(case.to_string(), Err(error)),
        };
        for candidate in candidates {
            if report.stops() {
                return;
            }
            progress.detail(&candidate.schedule);
            let result = data.measure(candidate, &self.sampling, &self.ceilings);
            report.add(format!("{case}, {}", candidate.schedule), result);
        }
    }
}
