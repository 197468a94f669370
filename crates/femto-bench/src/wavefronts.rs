//! Counting the wavefronts of a benchmark's own kernels.

use femto::accelerator::Counting;
use femto_kernel::roofline::Wavefronts;
use femto_platform::device::DeviceError;
use femto_platform::device::accelerator::Accelerator;

/// What the kernels of a text do in `run`. None where they cannot be counted: then the columns are empty, and bounds are
/// without.
pub(crate) fn wavefronts(
    device: &Accelerator,
    (name, text): (&str, &str),
    run: impl FnOnce(&Counting) -> Result<(), DeviceError>,
) -> Wavefronts {
    let counted = || {
        let Some(counting) = Counting::new(device, name, text)? else {
            return Ok(Wavefronts::default());
        };
        run(&counting)?;
        counting.take(device)
    };
    counted().unwrap_or_else(|_: DeviceError| Wavefronts::default())
}
