//! Kernels that count their accesses to memory while they run.

use femto_kernel::dialect::counting::{COUNTS, TAKE_COUNTS, counted, with_counters};
use femto_kernel::roofline::Wavefronts;
use femto_platform::device::accelerator::{
    Accelerator, Argument, Kernel, KernelText, Launch, Module,
};
use femto_platform::device::{Device, DeviceError};

/// A kernel text compiled with calls that count wavefronts of the L1 data path, see [`femto_kernel::dialect::counting`].
#[derive(Debug)]
pub struct Counting {
    module: Module,
    take: Kernel,
}

impl Counting {
    /// Compiles a text; `None` if the device's language is not CUDA C.
    ///
    /// # Errors
    /// From the device, such as a driver that is older than the compiler.
    pub fn new(device: &Accelerator, name: &str, text: &str) -> Result<Option<Self>, DeviceError> {
        let name = format!("{name}, counting");
        let text = with_counters(text);
        let Some(ptx) = device.ptx(&KernelText::new(&name, &text), &device.user_cache())? else {
            return Ok(None);
        };
        let ptx = counted(&ptx).map_err(|error| DeviceError::Driver {
            device: device.info().kind.name(),
            action: "count accesses to memory",
            reason: error.to_string(),
        })?;
        let module = device.load_ptx(&name, &ptx)?;
        let take = module.kernel(TAKE_COUNTS)?;
        Ok(Some(Self { module, take }))
    }

    /// The kernel named `entry`, which does the same as without counting, many times slower.
    ///
    /// # Errors
    /// As [`Module::kernel`].
    pub fn kernel(&self, entry: &str) -> Result<Kernel, DeviceError> {
        self.module.kernel(entry)
    }

    /// What the kernels have counted since the last call.
    ///
    /// # Errors
    /// From the device.
    pub fn take(&self, device: &Accelerator) -> Result<Wavefronts, DeviceError> {
        let launch = Launch {
            blocks: 1,
            threads: [COUNTS as u32, 1, 1],
            shared_bytes: 0,
        };
        let mut counts = device.zeros::<f64>(COUNTS)?;
        device.launch(&self.take, &launch, &[Argument::output(&mut counts)])?;
        let mut found = [0.0; COUNTS];
        device.read(&counts, &mut found)?;
        let [shared, global, reductions] = found.map(|count| count as u64);
        Ok(Wavefronts {
            shared,
            global,
            reductions,
        })
    }
}
