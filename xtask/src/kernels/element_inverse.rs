//! Inverses of separable problems on elements.

use anyhow::Result;
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::scalar::{Precision, SimdLevel};
use femto_kernel::vector::element_inverse::{InverseShape, Items, Lines, invert};
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Case, Number, Selection, check_in, check_positive, launch_of};

/// Bounded: degrees 2 and 4 on hexahedra, 5 on quadrilaterals. All: every degree.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let double = limits.fp64;
    let sizes = match selection {
        Selection::All => (3..=16).flat_map(|n| [(2, n), (3, n)]).collect(),
        _ => vec![(3, 3), (3, 5), (2, 6)],
    };
    let shapes = sizes.into_iter();
    let shapes = shapes.map(|(axes, nodes_1d)| InverseShape { axes, nodes_1d });
    let of = |shape| {
        let precisions = [Precision::Fp64, Precision::Fp32].into_iter();
        let precisions = precisions.filter(move |&it| it == Precision::Fp32 || double);
        precisions.map(move |precision| case(language, precision, shape))
    };
    shapes.flat_map(of).collect()
}

fn case(language: Language, precision: Precision, shape: InverseShape) -> Case {
    let InverseShape { axes, nodes_1d } = shape;
    Case {
        name: format!("element inverse {nodes_1d:02} axes={axes} {precision}"),
        text: shape.source(language, precision),
        check: check_in(precision, [check::<f64>, check::<f32>], shape),
    }
}

/// Compares with the host's loops; all numbers are positive, so that nothing cancels.
fn check<T: Number>(device: &Accelerator, module: &Module, shape: &InverseShape) -> Result<()> {
    let tolerance = T::tolerance(1e-14, 1e-5);
    let (elements, components, len) = (37, 2, 211);
    let (n, items) = (shape.nodes_1d, elements * components);
    let seed = rand::random();
    let mut random = StdRng::seed_from_u64(seed);
    // Exact in single precision.
    let mut numbers = |len: usize| -> Vec<f64> {
        let number = |_| f64::from(random.random_range(0.5_f32..1.5));
        (0..len).map(number).collect()
    };
    let (vectors, values) = (numbers(9 * n * n), numbers(9 * n));
    let strengths = numbers(items * (1 + shape.axes));
    let (weights, x) = (numbers(len * components), numbers(len * components));
    let nodes = (0..elements * shape.nodes()).map(|at| (at * 31 % len) as u32);
    let nodes: Vec<u32> = nodes.collect();
    let ends =
        (0..items as u32).map(|item| (item % 9) | ((item / 2 % 9) << 4) | ((item / 3 % 9) << 8));
    let ends: Vec<u32> = ends.collect();
    let upload = |values: &[f64]| T::upload(device, values);
    let mut found = vec![T::from_f64(f64::NAN); items * shape.nodes() + 3];
    let mut e = device.upload(&found)?;
    let reals = [
        upload(&vectors)?,
        upload(&values)?,
        upload(&strengths)?,
        upload(&weights)?,
        upload(&x)?,
    ];
    let [g_vectors, g_values, g_strengths, g_weights, g_x] = &reals;
    let (g_ends, g_nodes) = (device.upload(&ends)?, device.upload(&nodes)?);
    let launch = launch_of(shape.block(), T::PRECISION, shape.blocks(items));
    let arguments = [
        Argument::U32(items as u32),
        Argument::U32(components as u32),
        Argument::input(g_vectors),
        Argument::input(g_values),
        Argument::input(&g_ends),
        Argument::input(g_strengths),
        Argument::input(&g_nodes),
        Argument::input(g_weights),
        Argument::input(g_x),
        Argument::output(&mut e),
    ];
    device.launch(&module.kernel("invert_elements")?, &launch, &arguments)?;
    device.read(&e, &mut found)?;
    let mut wanted = vec![f64::NAN; items * shape.nodes()];
    let mut scratch = vec![f64::NAN; shape.scratch()];
    let lines = Lines {
        vectors: &vectors,
        values: &values,
    };
    let given = Items {
        components,
        first: 0,
        nodes: &nodes,
        ends: &ends,
        strengths: &strengths,
    };
    let to = (&mut scratch[..], &mut wanted[..]);
    invert(
        SimdLevel::detect(),
        (*shape, lines),
        given,
        (&weights, &x),
        to,
    );
    check_positive(&found, &wanted, (tolerance, seed))
}
