//! `femto bench helmholtz`

use super::conclude;
use super::options::{self, SAMPLE_SECONDS};
use crate::command::open;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::Args;
use femto::platform::device::{self, DeviceId, DeviceKind};
use femto_bench::Sampling;
use femto_bench::helmholtz::{Columns, SMALL, Stage, Step, Sweep, Variant, run_all, steps};

/// Measure the Helmholtz Challenge on extruded prisms: every stage, alone and together.
///
/// Weigl, Savitski, Chua, "Helmholtz Challenge" (2014). On accelerators, the steps of its ladder; on the host, its serial
/// loops, threads over columns, and threads over the cells of a column. Then, on either, femto's own operators, where a
/// stage is a product with a matrix. Every output is compared with closed forms.
#[derive(Debug, Args)]
pub(in crate::command) struct Helmholtz {
    /// The device: `cuda:0`, `opencl:0`, `host`, ...
    #[arg(long, default_value = "cuda:0", value_parser = device::parse)]
    device: DeviceId,
    /// Numbers of host threads, such as `1,2` [default: one per core].
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Minimum number of triangles.
    #[arg(long, default_value_t = SMALL, value_parser = options::count)]
    triangles: usize,
    /// Layers of cells.
    #[arg(long, default_value_t = Columns::LAYERS, value_parser = options::count)]
    layers: usize,
    /// Steps of the ladder, on accelerators [default: all]; femto's own operators follow them.
    #[arg(long, value_delimiter = ',', value_parser = step)]
    steps: Vec<Step>,
    /// Loops of the host [default: all].
    #[arg(
        long, value_delimiter = ',',
        value_parser = options::named(&Variant::ALL, Variant::name)
    )]
    variants: Vec<Variant>,
    /// Stages to time; all run once and are compared [default: all].
    #[arg(
        long, value_delimiter = ',',
        value_parser = options::named(&Stage::ALL, Stage::name)
    )]
    stages: Vec<Stage>,
    /// Number of samples; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    nreps: u32,
    #[command(flatten)]
    common: options::Common,
}

/// A step by its number.
fn step(number: &str) -> Result<Step, String> {
    let all = steps();
    let mut named = all
        .iter()
        .filter(|step| step.number.to_string() == number.trim());
    let most = all.len();
    named
        .next()
        .copied()
        .ok_or_else(|| format!("the ladder has steps 1 to {most}"))
}

impl Helmholtz {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let (steps_given, variants_given) = (!self.steps.is_empty(), !self.variants.is_empty());
        let is_host = self.device.kind == DeviceKind::Host;
        options::check_meaning(&[
            (
                "--steps",
                steps_given && is_host,
                "the host has loops, for --variants",
            ),
            (
                "--variants",
                variants_given && !is_host,
                "accelerators have steps, for --steps",
            ),
        ])?;
        let sweep = Sweep {
            triangles: self.triangles,
            layers: self.layers,
            steps: match &self.steps[..] {
                [] => steps(),
                steps => steps.to_vec(),
            },
            variants: match &self.variants[..] {
                [] => Variant::ALL.to_vec(),
                variants => variants.to_vec(),
            },
            stages: match &self.stages[..] {
                [] => Stage::ALL.to_vec(),
                stages => stages.to_vec(),
            },
            sampling: Sampling {
                samples: self.nreps as usize,
                seconds: SAMPLE_SECONDS,
            },
        };
        let options = self.common.run_options(None)?;
        let mut progress = Progress::new(!console.is_json());
        let devices = open(self.device, &self.threads)?;
        let report = run_all(&devices, &sweep, &options, &mut progress)?;
        conclude(report, progress, console)
    }
}
