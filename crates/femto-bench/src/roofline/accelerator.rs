//! Measuring the ceilings of accelerators, on their own clocks.

use super::Measure;
use crate::compile::compile;
use crate::timing::{DeviceClock, random};
use femto::accelerator::language;
use femto_kernel::roofline::Ceilings;
use femto_kernel::roofline::probe_text::{
    BLOCK, FLIP, REALS_PER_BLOCK, fma_flops, shared_bytes, source,
};
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{Accelerator, Argument, Kernel, Launch, Module};
use femto_platform::device::{Device, DeviceError};
use std::ops::Range;

/// Number of samples; the best counts.
const SAMPLES: usize = 10;
/// Seconds of samples after which no other is taken: slow devices need no more for one to be good.
const SECONDS: f64 = 0.3;
/// Runs of a kernel in a sample, except on processors.
const REPEATS: usize = 10;
/// Bytes of each of the two buffers: well beyond the cache, within these limits.
const BUFFER_BYTES: Range<u64> = 128 << 20..1 << 30;
/// Size relative to the cache.
const CACHES: u64 = 16;
/// Blocks of the kernels that compute, per compute unit.
const BLOCKS_PER_UNIT: u32 = 8;

impl Measure for Accelerator {
    /// Copy is the better of a kernel and the driver's own copy. The buffers hold random numbers and are
    /// far larger than the cache.
    fn measure(&self) -> Result<Ceilings, DeviceError> {
        measure(self, buffer_bytes(self), SAMPLES)
    }
}

fn buffer_bytes(device: &Accelerator) -> u64 {
    let features = device.features();
    let wanted = CACHES.saturating_mul(features.cache_bytes);
    wanted
        .clamp(BUFFER_BYTES.start, BUFFER_BYTES.end)
        .min(features.memory_bytes / 8)
}

fn measure(
    device: &Accelerator,
    buffer_bytes: u64,
    samples: usize,
) -> Result<Ceilings, DeviceError> {
    let sampler = Sampler {
        clock: DeviceClock::new(device),
        device,
        samples,
    };
    let double = Probes::new(device, Precision::Fp64)?;
    let single = Probes::new(device, Precision::Fp32)?;

    let blocks = (buffer_bytes / 8 / u64::from(REALS_PER_BLOCK)).max(1) as u32;
    let len = blocks as usize * REALS_PER_BLOCK as usize;
    let bytes = 8 * len as u64;
    let from = device.upload(&random::<f64>(len))?;
    let mut to = device.zeros::<f64>(len)?;

    let arguments = &[Argument::input(&from), Argument::output(&mut to)];
    let copy = sampler.probe((&double, "probe_copy"), blocks, 2 * bytes, arguments)?;
    let read = sampler.probe((&double, "probe_read"), blocks, bytes, arguments)?;
    let own_copy = sampler.rate(2 * bytes, || device.copy(&from, &mut to))?;
    let arguments = &[Argument::F64(0.5), Argument::output(&mut to)];
    let write = sampler.probe((&double, "probe_write"), blocks, bytes, arguments)?;

    let blocks = BLOCKS_PER_UNIT * device.features().compute_units.max(1);
    let flops = fma_flops(blocks);
    let numbers = [Argument::F64(0.999), Argument::F64(0.001)];
    let arguments = &[numbers[0], numbers[1], Argument::output(&mut to)];
    let fma_fp64 = sampler.probe((&double, "probe_fma"), blocks, flops, arguments)?;
    let arguments = &[Argument::I32(FLIP), Argument::output(&mut to)];
    let shared = sampler.probe(
        (&double, "probe_shared"),
        blocks,
        shared_bytes(blocks, Precision::Fp64),
        arguments,
    )?;
    let numbers = [Argument::F32(0.999), Argument::F32(0.001)];
    let arguments = &[numbers[0], numbers[1], Argument::output(&mut to)];
    let fma_fp32 = sampler.probe((&single, "probe_fma"), blocks, flops, arguments)?;
    Ok(Ceilings {
        copy: copy.max(own_copy),
        read,
        write,
        fma_fp64,
        fma_fp32,
        shared: Some(shared),
    })
}

/// Takes the best of some samples on the device's own clock.
struct Sampler<'a> {
    clock: DeviceClock<'a>,
    device: &'a Accelerator,
    samples: usize,
}

impl Sampler<'_> {
    /// `amount` per second, after an untimed run.
    fn rate(
        &self,
        amount: u64,
        mut work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        let repeats = match self.device.features().warp {
            0 | 1 => 1,
            _ => REPEATS,
        };
        let (mut best, mut taken) = (f64::INFINITY, 0.0);
        work()?;
        for _ in 0..self.samples {
            let seconds = self
                .clock
                .seconds(&mut || (0..repeats).try_for_each(|_| work()))?;
            best = best.min(seconds / repeats as f64);
            taken += seconds;
            if taken > SECONDS {
                break;
            }
        }
        Ok(amount as f64 / best.max(f64::MIN_POSITIVE))
    }

    /// `amount` per second, with this many blocks of a probe.
    fn probe(
        &self,
        (probes, entry): (&Probes, &str),
        blocks: u32,
        amount: u64,
        arguments: &[Argument<'_>],
    ) -> Result<f64, DeviceError> {
        let (kernel, launch) = probes.kernel(entry, blocks)?;
        self.rate(amount, || self.device.launch(&kernel, &launch, arguments))
    }
}

/// The probes of a precision, compiled.
#[derive(Debug)]
pub(super) struct Probes {
    module: Module,
    precision: Precision,
}

impl Probes {
    pub(super) fn new(device: &Accelerator, precision: Precision) -> Result<Self, DeviceError> {
        let text = source(language(device.features()), precision);
        Ok(Self {
            module: compile(device, "roofline probes", &text)?,
            precision,
        })
    }

    /// A probe, and how to launch this many blocks of it.
    pub(super) fn kernel(&self, entry: &str, blocks: u32) -> Result<(Kernel, Launch), DeviceError> {
        let launch = Launch {
            blocks,
            threads: BLOCK.threads,
            shared_bytes: BLOCK.shared_bytes(self.precision),
        };
        Ok((self.module.kernel(entry)?, launch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_platform::device::conformance::with;

    #[test]
    fn every_rate_of_an_accelerator_is_measured() {
        with(Accelerator::opencl(0), |device| {
            let ceilings = measure(device, 1 << 20, 1).unwrap();
            assert!(ceilings.are_valid(), "{ceilings:?}");
            assert!(ceilings.shared.is_some());
        });
    }
}
