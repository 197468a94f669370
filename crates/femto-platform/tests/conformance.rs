//! Every device passes the shared suite.

use femto_platform::device::{Accelerator, DeviceError, host::Host, null::Null};
use femto_platform::{accelerator_conformance, device_conformance};

device_conformance!(host, Host::new());
device_conformance!(host_with_one_thread, Host::with_threads(1));
device_conformance!(host_with_three_threads, Host::with_threads(3));
device_conformance!(null, Ok::<_, DeviceError>(Null::new()));
accelerator_conformance!(cuda, Accelerator::cuda(0));
accelerator_conformance!(opencl, Accelerator::opencl(0));
