//! Systems along lines.

use anyhow::Result;
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::scalar::{Precision, SimdLevel};
use femto_kernel::vector::line_solve::{self, BLOCK, LineFactors, MOST_BAND};
use femto_kernel::vector::sparse::{NO_COLUMN, SLICE};
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Case, Number, Selection, check_in, check_positive, launch_of};

/// Bounded: bands of matrices, and of degrees 2 and 4. All: every degree.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let double = limits.fp64;
    let bands = match selection {
        Selection::All => (1..=MOST_BAND).collect(),
        _ => vec![1, 2, 4],
    };
    let of = |band| {
        let precisions = [Precision::Fp64, Precision::Fp32].into_iter();
        let precisions = precisions.filter(move |&it| it == Precision::Fp32 || double);
        precisions.map(move |precision| case(language, precision, band))
    };
    bands.into_iter().flat_map(of).collect()
}

fn case(language: Language, precision: Precision, band: usize) -> Case {
    Case {
        name: format!("line solve {band:02} {precision}"),
        text: line_solve::source(language, precision, band),
        check: check_in(precision, [check::<f64>, check::<f32>], band),
    }
}

/// Compares with the host's loops; the signs are such that nothing cancels.
fn check<T: Number>(device: &Accelerator, module: &Module, &band: &usize) -> Result<()> {
    let tolerance = T::tolerance(1e-13, 1e-5);
    let (rows, len) = ([17, 5, 1], 211);
    let seed = rand::random();
    let mut random = StdRng::seed_from_u64(seed);
    // Exact in single precision.
    let mut number = || f64::from(random.random_range(0.5_f32..1.5));
    let (mut offsets, mut entries, mut factors) = (vec![0], Vec::new(), Vec::new());
    for rows in rows {
        // The lines of the last lanes are shorter.
        let is_row = |row: usize, lane: usize| lane < 29 || row < rows / 2;
        for row in 0..rows {
            for lane in 0..SLICE {
                let entry = (entries.len() * 31 % len) as u32;
                entries.push(if is_row(row, lane) { entry } else { NO_COLUMN });
            }
            for (k, lane) in (0..=band).flat_map(|k| (0..SLICE).map(move |lane| (k, lane))) {
                let size = if k == 0 { 1.0 } else { -0.5 / band as f64 };
                let counts = k <= row && is_row(row, lane);
                // Rounded, so that both loops have the same numbers.
                let factor = T::from_f64(size * number()).to_f64();
                factors.push(if counts { factor } else { 0.0 });
            }
        }
        offsets.push(entries.len() as u32);
    }
    let x: Vec<f64> = (0..len).map(|_| number()).collect();
    let mut found = vec![T::from_f64(f64::NAN); entries.len() + 3];
    let mut e = device.upload(&found)?;
    let (g_offsets, g_entries) = (device.upload(&offsets)?, device.upload(&entries)?);
    let (g_factors, g_x) = (T::upload(device, &factors)?, T::upload(device, &x)?);
    let launch = launch_of(BLOCK, T::PRECISION, rows.len() as u32);
    let arguments = [
        Argument::input(&g_offsets),
        Argument::input(&g_entries),
        Argument::input(&g_factors),
        Argument::input(&g_x),
        Argument::output(&mut e),
    ];
    device.launch(&module.kernel("solve_lines")?, &launch, &arguments)?;
    device.read(&e, &mut found)?;
    let lines = LineFactors {
        band,
        offsets: &offsets,
        entries: &entries,
        factors: &factors,
    };
    let mut wanted = vec![f64::NAN; entries.len()];
    line_solve::solve(SimdLevel::detect(), lines, &x, (0, &mut wanted));
    check_positive(&found, &wanted, (tolerance, seed))
}
