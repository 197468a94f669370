//! Targets of `femto kernel check`: a device, or NVIDIA's compiler alone.

use super::text::Text;
use femto::accelerator;
use femto::kernel::dialect::Language;
use femto::kernel::family::Limits;
use femto::platform::cache::KernelCache;
use femto::platform::device::accelerator::{KernelText, Usage};
use femto::platform::device::cuda::nvrtc::Compiler;
use femto::platform::device::{Accelerator, Device, DeviceError, DeviceId};

/// Higher than any driver's version: the newest compiler is chosen.
const ANY_DRIVER: i32 = 19;

/// A compiler, possibly with its device.
pub(super) enum Target {
    Device {
        device: Accelerator,
        cache: KernelCache,
    },
    Compiler {
        compiler: Compiler,
        architecture: String,
    },
}

/// The result of compiling a text.
pub(super) struct Compiled {
    /// `[entry]`
    pub(super) usage: Vec<Usage>,
    pub(super) warnings: Vec<String>,
}

impl Target {
    /// A device; all texts are compiled anew if `fresh`.
    pub(super) fn device(id: DeviceId, fresh: bool) -> Result<Self, DeviceError> {
        let device = Accelerator::open(id)?;
        let cache = match fresh {
            true => KernelCache::none(),
            false => device.user_cache(),
        };
        Ok(Self::Device { device, cache })
    }

    pub(super) fn compiler(architecture: &str) -> Result<Self, DeviceError> {
        Ok(Self::Compiler {
            compiler: Compiler::find(ANY_DRIVER)?,
            architecture: architecture.to_owned(),
        })
    }

    /// A one-line description.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Device { device, .. } => {
                let (info, features) = (device.info(), device.features());
                let (id, compiler) = (info.id(), &features.compiler);
                let architecture = &features.architecture;
                match *architecture == info.name {
                    true => format!("{id}: {}, {compiler}", info.name),
                    false => format!("{id}: {}, {architecture}, {compiler}", info.name),
                }
            }
            Self::Compiler {
                compiler,
                architecture,
            } => format!("{architecture}, {}, without a device", compiler.version()),
        }
    }

    pub(super) fn language(&self) -> Language {
        match self {
            Self::Device { device, .. } => accelerator::language(device.features()),
            Self::Compiler { .. } => Language::Cuda,
        }
    }

    pub(super) fn limits(&self) -> Limits {
        match self {
            Self::Device { device, .. } => accelerator::limits(device.features()),
            Self::Compiler { architecture, .. } => Limits {
                shared_bytes: shared_bytes(architecture),
                matrix_units: accelerator::has_matrix_units(architecture),
                ..Limits::default()
            },
        }
    }

    /// Compiles a text, and returns the resources used by each of its kernels.
    pub(super) fn compile(&self, name: &str, text: &Text) -> Result<Compiled, DeviceError> {
        let source = KernelText::new(name, &text.text);
        match self {
            Self::Device { device, cache } => {
                let module = device.compile(&source, cache)?;
                let kernels = text.entries.iter().map(|entry| module.kernel(entry));
                let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
                Ok(Compiled {
                    usage: kernels.iter().map(|kernel| kernel.usage()).collect(),
                    warnings: module.warnings().to_vec(),
                })
            }
            Self::Compiler {
                compiler,
                architecture,
            } => {
                let compiled = compiler.compile(&source, architecture)?;
                let usage = text.entries.iter().map(|entry| {
                    let found = compiled.entries.iter().find(|it| it.entry == *entry);
                    found.map_or(Usage::default(), |it| Usage {
                        registers: Some(it.registers),
                        local_bytes: Some(it.stack_bytes),
                        shared_bytes: Some(it.shared_bytes),
                        ..Usage::default()
                    })
                });
                Ok(Compiled {
                    usage: usage.collect(),
                    warnings: Vec::new(),
                })
            }
        }
    }
}

/// Maximum shared memory of a block: CUDA C++ Programming Guide, technical specifications per compute
/// capability. The minimum common to all devices for architectures that are not listed.
fn shared_bytes(architecture: &str) -> u32 {
    let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
    let kibibytes = match &*digits {
        "75" => 64,
        "80" | "87" => 163,
        "86" | "89" | "120" | "121" => 99,
        "90" | "100" | "101" | "103" | "110" => 227,
        _ => 48,
    };
    kibibytes << 10
}
