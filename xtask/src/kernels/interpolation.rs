//! Interpolation between degrees.

use anyhow::{Result, ensure};
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::scalar::Precision;
use femto_kernel::vector::interpolation::{InterpolationShape, NO_NODE};
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Case, Number, Selection, check_in, launch_of};

/// Bounded: between degrees 2 and 4 on hexahedra, 1 and 3 on tetrahedra. All: larger and smaller ones as well.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let mut sizes = vec![(3, 3, 5), (3, 5, 3), (1, 4, 20), (1, 20, 4)];
    if selection == Selection::All {
        sizes.extend([
            (3, 2, 3),
            (3, 9, 5),
            (2, 4, 8),
            (2, 2, 3),
            (1, 3, 6),
            (1, 35, 165),
        ]);
    }
    let shapes = sizes.into_iter();
    let shapes = shapes.map(|(axes, from, to)| InterpolationShape { axes, from, to });
    let of = |shape| {
        let precisions = [Precision::Fp64, Precision::Fp32].into_iter();
        precisions.map(move |precision| case(language, precision, shape))
    };
    let double = limits.fp64;
    shapes.flat_map(of).filter(|_| double).collect()
}

fn case(language: Language, precision: Precision, shape: InterpolationShape) -> Case {
    let InterpolationShape { axes, from, to } = shape;
    Case {
        name: format!("interpolation {from:03} {to:03} axes={axes} {precision}"),
        text: shape.source(language, precision),
        check: check_in(precision, [check::<f64>, check::<f32>], shape),
    }
}

/// Compares with the product of the whole matrix.
fn check<T: Number>(
    device: &Accelerator,
    module: &Module,
    shape: &InterpolationShape,
) -> Result<()> {
    let tolerance = T::tolerance(1e-14, 1e-5);
    let (elements, components, len, first) = (37, 2, 501, 3);
    let (inputs, outputs) = (shape.inputs(), shape.outputs());
    let seed = rand::random();
    let mut random = StdRng::seed_from_u64(seed);
    let mut numbers = |count: usize| -> Vec<T> {
        (0..count)
            .map(|_| T::from_f64(random.random_range(-1.0..1.0)))
            .collect()
    };
    let (matrix, x) = (numbers(shape.from * shape.to), numbers(len * components));
    let nodes = (0..elements * inputs).map(|n| match n % 7 {
        0 => NO_NODE,
        _ => (n * 31 % len) as u32,
    });
    let nodes: Vec<u32> = nodes.collect();
    let items = elements * components;
    let mut found = vec![T::from_f64(f64::NAN); first + items * outputs];
    let mut e = device.upload(&found)?;
    let launch = launch_of(shape.block(), T::PRECISION, shape.blocks(items));
    let (g_matrix, g_nodes, g_x) = (
        device.upload(&matrix)?,
        device.upload(&nodes)?,
        device.upload(&x)?,
    );
    let arguments = [
        Argument::U32(items as u32),
        Argument::U32(components as u32),
        Argument::U32(components as u32),
        Argument::U32(1),
        Argument::input(&g_matrix),
        Argument::input(&g_nodes),
        Argument::input(&g_x),
        Argument::U32(first as u32),
        Argument::output(&mut e),
    ];
    device.launch(&module.kernel("interpolate")?, &launch, &arguments)?;
    device.read(&e, &mut found)?;
    let along = |n: usize, len: usize, axis: usize| n / len.pow(axis as u32) % len;
    for (place, &value) in found[first..].iter().enumerate() {
        let (item, q) = (place / outputs, place % outputs);
        let term = |n: usize| -> f64 {
            let factor = |axis| {
                let row = along(q, shape.to, axis);
                matrix[row * shape.from + along(n, shape.from, axis)].to_f64()
            };
            match nodes[item / components * inputs + n] {
                NO_NODE => 0.0,
                node => {
                    let value = x[node as usize * components + item % components].to_f64();
                    value * (0..shape.axes).map(factor).product::<f64>()
                }
            }
        };
        let wanted: f64 = (0..inputs).map(term).sum();
        let value = value.to_f64();
        // Not for NaN.
        let close = (value - wanted).abs() <= tolerance * (inputs as f64).max(8.0);
        ensure!(close, "entry {place} is {value}, not {wanted}; seed {seed}");
    }
    ensure!(
        found[..first].iter().all(|&value| value.to_f64().is_nan()),
        "entries before the first"
    );
    Ok(())
}
