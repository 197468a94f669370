//! A device's reported properties against its actual loops.

use femto::Host;
use femto::kernel::scalar::SimdLevel;
use femto::platform::device::Device;

#[test]
fn reports_name_the_instructions_that_are_dispatched() {
    let host = Host::with_threads(1).unwrap();
    assert_eq!(host.info().simd, SimdLevel::detect().name());
}
