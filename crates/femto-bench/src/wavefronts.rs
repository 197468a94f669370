//! Counting the wavefronts of a benchmark's own kernels.

use femto::accelerator::Counting;
use femto_kernel::roofline::Wavefronts;
use femto_platform::device::DeviceError;
use femto_platform::device::accelerator::Accelerator;

/// What the kernels of a text do in `run`; none on devices that cannot count. With a warning if counting fails, which
/// loses nothing else.
pub(crate) fn wavefronts(
    device: &Accelerator,
    (name, text): (&str, &str),
    run: impl FnOnce(&Counting) -> Result<(), DeviceError>,
) -> (Wavefronts, String) {
    let counted = || {
        let Some(counting) = Counting::new(device, name, text)? else {
            return Ok(Wavefronts::default());
        };
        run(&counting)?;
        counting.take(device)
    };
    match counted() {
        Ok(wavefronts) => (wavefronts, String::new()),
        Err(error) => (Wavefronts::default(), uncounted(&error)),
    }
}

/// A warning that wavefronts were not counted, and why.
pub fn uncounted(error: &dyn std::error::Error) -> String {
    format!("wavefronts were not counted: {error}")
}
