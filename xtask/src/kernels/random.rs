//! The text of random vectors, compared with their numbers on the host.

use anyhow::{Result, ensure};
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::scalar::Precision;
use femto_kernel::vector::random;
use femto_platform::device::accelerator::{Accelerator, Argument, Launch, Module};
use femto_platform::device::{Device, Element};

use super::{Case, Check, Selection};

/// The text in each precision.
pub(super) fn cases(_: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let precisions = [Precision::Fp64, Precision::Fp32];
    let legal = precisions.into_iter().filter(|_| limits.fp64);
    legal.map(|precision| case(language, precision)).collect()
}

fn case(language: Language, precision: Precision) -> Case {
    let check: Check = match precision {
        Precision::Fp64 => {
            Box::new(|device, module| check_random::<f64>(device, module, Precision::Fp64, |x| x))
        }
        Precision::Fp32 => {
            let from = |x| x as f32;
            Box::new(move |device, module| check_random(device, module, Precision::Fp32, from))
        }
    };
    Case {
        name: format!("random {precision}"),
        text: random::source(language, precision),
        check,
    }
}

/// Every entry equals the oracle's exactly, also in a part of a vector.
fn check_random<T: Element + Into<f64>>(
    device: &Accelerator,
    module: &Module,
    precision: Precision,
    from: fn(f64) -> T,
) -> Result<()> {
    let [len, first, count] = [100_003, 777, 1234];
    let seed: u32 = rand::random();
    let run = |entry: &str, len: u32, arguments: &[Argument<'_>]| {
        let launch = Launch {
            blocks: random::blocks_of(precision, len as usize),
            threads: random::BLOCK.threads,
            shared_bytes: 0,
        };
        device.launch(&module.kernel(entry)?, &launch, arguments)
    };
    let mut values = vec![from(f64::NAN); len as usize];
    let mut x = device.upload(&values)?;
    let arguments = [
        Argument::U32(len),
        Argument::U32(seed),
        Argument::output(&mut x),
    ];
    run("random", len, &arguments)?;
    device.read(&x, &mut values)?;
    let mut part = vec![from(f64::NAN); count as usize];
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
        let (value, wanted): (f64, f64) = (value.into(), from(random::entry(seed, index)).into());
        ensure!(
            value == wanted,
            "entry {index} of seed {seed} is {value}, not {wanted}"
        );
    }
    Ok(())
}
