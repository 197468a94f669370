//! The published ladder of the Helmholtz Challenge on extruded prisms.

use anyhow::{Result, bail, ensure};
use femto_fem::mesh::boxes::SimplexBox;
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::family::prism_published::{
    Columns, Oracle, Schedule, Stage, StageKernels, Vector, source, steps,
};
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument, Module};

use super::{Case, Selection, launch_of};

/// Every step, for columns as high as the Challenge's.
pub(super) fn cases(_: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let legal = steps().into_iter().filter_map(|step| {
        let kernels = source(&step, Columns::LAYERS, language, limits).ok()?;
        Some(Case {
            name: step.to_string(),
            text: kernels.text.clone(),
            check: Box::new(move |device, module| check(device, module, &kernels, &step.schedule)),
        })
    });
    legal.collect()
}

/// An irregular mesh of a few triangles.
fn columns() -> Result<Columns> {
    let plane = SimplexBox {
        irregular: Some(rand::random()),
        ..SimplexBox::unit_square(4)
    };
    let plane = plane.build(|x| x)?;
    let vertices: Vec<[f64; 2]> = plane.coordinates.iter().map(|x| [x[0], x[1]]).collect();
    let nodes = plane.blocks[0].cells();
    let triangles: Vec<[u32; 3]> = nodes.map(|it| [it[0], it[1], it[2]]).collect();
    Ok(Columns::extrude(
        &vertices,
        &triangles,
        Columns::LAYERS,
        Columns::HEIGHT,
    )?)
}

/// Runs all stages on poisoned vectors and compares the output of each with the oracle.
fn check(
    device: &Accelerator,
    module: &Module,
    kernels: &StageKernels,
    schedule: &Schedule,
) -> Result<()> {
    let columns = columns()?;
    let oracle = Oracle::new(&columns);
    let map = device.upload(columns.map())?;
    let coordinates = device.upload(columns.coordinates())?;
    let nodes = columns.nodes();
    let poison = vec![f64::NAN; nodes];
    let mut vectors = Vec::new();
    for _ in Vector::ALL {
        vectors.push(device.upload(&poison)?);
    }
    let Ok(mut vectors) = <[AcceleratorBuffer<f64>; Vector::ALL.len()]>::try_from(vectors) else {
        bail!("as many buffers as vectors");
    };
    for stage in schedule.stages() {
        let zeroed: &[Vector] = match stage {
            Stage::Zero => &Vector::SUMS,
            Stage::Action => &[Vector::Lhs],
            _ => &[],
        };
        for &vector in zeroed {
            device.fill_zero(&mut vectors[vector as usize], 0..nodes)?;
        }
        let (Some(entry), Some(bound)) = (stage.entry(), stage.bind(schedule, &mut vectors)) else {
            continue;
        };
        let blocks = kernels.blocks(stage, &columns);
        let launch = launch_of(kernels.block, Precision::Fp64, blocks);
        let arguments = [
            Argument::input(&map),
            Argument::input(&coordinates),
            Argument::input(bound.input),
            Argument::input(bound.copy),
            Argument::output(bound.output),
        ];
        device.launch(&module.kernel(entry)?, &launch, &arguments)?;
        let mut found = vec![f64::NAN; nodes];
        device.read(bound.output, &mut found)?;
        let error = oracle.output(stage).map_or(0.0, |it| it.error(&found));
        ensure!(error < 1e-13, "{stage}: error {error:e}");
    }
    Ok(())
}
