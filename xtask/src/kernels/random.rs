//! The text of random vectors, compared with their numbers on the host.

use anyhow::{Result, ensure};
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::scalar::Precision;
use femto_kernel::vector::random;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};

use super::{Case, Number, Selection, check_in, launch_of};

/// The text in each precision.
pub(super) fn cases(_: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let precisions = [Precision::Fp64, Precision::Fp32];
    let legal = precisions.into_iter().filter(|_| limits.fp64);
    legal.map(|precision| case(language, precision)).collect()
}

fn case(language: Language, precision: Precision) -> Case {
    Case {
        name: format!("random {precision}"),
        text: random::source(language, precision),
        check: check_in(precision, [check::<f64>, check::<f32>], ()),
    }
}

/// Every entry equals the oracle's exactly, also in a part of a vector.
fn check<T: Number>(device: &Accelerator, module: &Module, (): &()) -> Result<()> {
    let [len, first, count] = [100_003, 777, 1234];
    let seed: u32 = rand::random();
    let run = |entry: &str, len: u32, arguments: &[Argument<'_>]| {
        let blocks = random::blocks_of(T::PRECISION, len as usize);
        let launch = launch_of(random::BLOCK, T::PRECISION, blocks);
        device.launch(&module.kernel(entry)?, &launch, arguments)
    };
    let mut values = vec![T::from_f64(f64::NAN); len as usize];
    let mut x = device.upload(&values)?;
    let arguments = [
        Argument::U32(len),
        Argument::U32(seed),
        Argument::output(&mut x),
    ];
    run("random", len, &arguments)?;
    device.read(&x, &mut values)?;
    let mut part = vec![T::from_f64(f64::NAN); count as usize];
    let mut y = device.upload(&part)?;
    let arguments = [
        Argument::U32(count),
        Argument::U32(first),
        Argument::input(&x),
        Argument::output(&mut y),
    ];
    run("pick", count, &arguments)?;
    device.read(&y, &mut part)?;
    let all = (0..).zip(&values).chain((first..).zip(&part));
    for (index, &value) in all {
        let wanted = T::from_f64(random::entry(seed, index));
        ensure!(
            value == wanted,
            "entry {index} of seed {seed} is {value}, not {wanted}"
        );
    }
    Ok(())
}
