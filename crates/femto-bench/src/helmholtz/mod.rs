//! The Helmholtz Challenge on extruded prisms: its stages on the host, and its published ladder on accelerators.
//!
//! Weigl, Savitski, Chua, *Helmholtz Challenge* (2014). [`run_all`] measures, on one mesh for all:
//!
//! 1. [`Challenge::new`] extrudes an irregular mesh of triangles, and evaluates the output of every stage from closed
//!    forms.
//! 2. On an accelerator, [`DeviceStages`] keeps all data on the device. A step's stages run on poisoned vectors, and
//!    each output is compared with the oracle's; then each stage is timed alone, and the Challenge as a whole.
//! 3. On a host, [`measure_on_host`] does the same for the serial and the threaded loops.
//! 4. On either, [`measure_operators`] does so for femto's own operators, where a stage is a product with a matrix.

mod device;
mod host;
mod operators;
mod record;
mod view;

pub use device::DeviceStages;
pub use femto_kernel::family::prism_published::host::Variant;
pub use femto_kernel::family::prism_published::{
    Columns, ColumnsError, Stage, Step, source, steps,
};
pub use host::measure_on_host;
pub use operators::measure_operators;

use crate::compile::{compile, in_parallel};
use crate::memory::fits;
use crate::report::{Progress, RunOptions, label};
use crate::simplices::SimplexMesh;
use crate::{BenchError, Report, Sampling, roofline};
use femto::accelerator::{language, limits};
use femto::{AnyDevice, Host};
use femto_kernel::family::prism_published::{Oracle, StageKernels, Vector};
use femto_kernel::roofline::Ceilings;
use femto_platform::device::Device;
use femto_platform::device::accelerator::Accelerator;
use view::HELMHOLTZ;

/// The largest error of an output, relative to the oracle's scale.
pub const TOLERANCE: f64 = 1e-12;

/// Triangles of the authors' mesh "small"; its columns have 100 cells.
pub const SMALL: usize = 302_618;

/// The combinations to measure.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Minimum number of triangles.
    pub triangles: usize,
    /// Layers of cells.
    pub layers: usize,
    /// Steps of the ladder, on accelerators.
    pub steps: Vec<Step>,
    /// Loops of hosts.
    pub variants: Vec<Variant>,
    /// Stages to time; all run once and are compared.
    pub stages: Vec<Stage>,
    /// Number and length of samples.
    pub sampling: Sampling,
}

/// How stages are measured.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Number and length of samples.
    pub sampling: &'a Sampling,
    /// Those of the device.
    pub ceilings: &'a Ceilings,
    /// Stages to time.
    pub stages: &'a [Stage],
}

impl How<'_> {
    /// Whether the Challenge's stages are all timed, and so together.
    fn are_together(&self) -> bool {
        let mut challenge = Stage::CHALLENGE.iter();
        challenge.all(|stage| self.stages.contains(stage))
    }

    /// Whether all stages are timed.
    fn are_all(&self) -> bool {
        Stage::ALL.iter().all(|stage| self.stages.contains(stage))
    }
}

/// The mesh, and the output of every stage on it.
#[derive(Debug)]
pub struct Challenge {
    /// The mesh.
    pub columns: Columns,
    /// The outputs.
    pub oracle: Oracle,
}

impl Challenge {
    /// At least `triangles` irregular triangles of the unit square, in the order of a Hilbert curve, extruded by layers
    /// of the Challenge's height.
    ///
    /// # Errors
    /// Not enough memory; from the mesh generator, the space, or the extrusion.
    pub fn new(triangles: usize, layers: usize) -> Result<Self, BenchError> {
        let what = format!("the Challenge on {triangles} triangles × {layers} layers");
        // Positions; vectors of the oracle, of the host's loops, and one to compare.
        let reals = 3 + Vector::ALL.len() + Vector::ALL.len() + 1;
        let nodes = triangles as f64 / 2.0 * (layers as f64 + 1.0);
        fits(
            &what,
            &Host::with_threads(1)?.info(),
            8.0 * nodes * reals as f64,
        )?;
        let mesh = SimplexMesh::new(2, triangles)?;
        let positions = (0..mesh.nodes() as u32).map(|vertex| mesh.position(vertex));
        let vertices: Vec<[f64; 2]> = positions.map(|[x, y, _]| [x, y]).collect();
        let cells = (0..mesh.cells()).map(|cell| mesh.cell(cell));
        let triangles: Vec<[u32; 3]> = cells.map(|it| [it[0], it[1], it[2]]).collect();
        let columns = Columns::extrude(&vertices, &triangles, layers, Columns::HEIGHT)?;
        let oracle = Oracle::new(&columns);
        Ok(Self { columns, oracle })
    }
}

/// Measures all combinations, even if some fail.
///
/// # Errors
/// No mesh, or no ceilings.
pub fn run_all(
    devices: &[AnyDevice],
    sweep: &Sweep,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    progress.stage(format!(
        "{} triangles and their closed forms",
        sweep.triangles
    ));
    let challenge = Challenge::new(sweep.triangles, sweep.layers)?;
    let mut report = Report::new(HELMHOLTZ, options);
    for device in devices {
        progress.stage(format!("ceilings, {}", label(&device.info())));
        let ceilings = roofline::of(device, options.ceilings)?;
        report.begin(device.info(), ceilings);
        let how = How {
            sampling: &sweep.sampling,
            ceilings: &ceilings,
            stages: &sweep.stages,
        };
        match device {
            AnyDevice::Host(host) => {
                for &variant in &sweep.variants {
                    if report.stops() {
                        return Ok(report);
                    }
                    let what = format!("{}, {}", variant.name(), label(&host.info()));
                    progress.stage(what.clone());
                    report.add_all(what, measure_on_host(host, &challenge, variant, how));
                    report.save();
                }
            }
            AnyDevice::Accelerator(device) => {
                progress.stage(format!("compiling {} texts", sweep.steps.len()));
                compile_all(device, &sweep.steps, sweep.layers);
                let mut stages = DeviceStages::new(device, &challenge)?;
                for step in &sweep.steps {
                    if report.stops() {
                        return Ok(report);
                    }
                    progress.stage(format!("{step}: {}", step.change));
                    report.add_all(step.to_string(), stages.measure(step, how));
                    report.save();
                }
            }
            // Refused above: it has no ceilings.
            AnyDevice::Null(_) => {}
        }
        if report.stops() {
            return Ok(report);
        }
        let what = format!("femto's own operators, {}", label(&device.info()));
        progress.stage(what.clone());
        report.add_all(what, measure_operators(device, &challenge, how));
        report.save();
    }
    Ok(report)
}

/// The text of a step for a device.
fn kernels(device: &Accelerator, step: &Step, layers: usize) -> Result<StageKernels, BenchError> {
    let features = device.features();
    Ok(source(step, layers, language(features), &limits(features))?)
}

/// Compiles the texts of all legal steps into the cache on disk. Ignores failures: measuring reports them again.
fn compile_all(device: &Accelerator, steps: &[Step], layers: usize) {
    in_parallel(steps, |step| {
        if let Ok(kernels) = kernels(device, step, layers) {
            _ = compile(device, &step.to_string(), &kernels.text);
        }
    });
}

#[cfg(test)]
mod tests;
