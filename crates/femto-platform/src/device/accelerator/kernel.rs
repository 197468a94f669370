//! Kernel texts and the modules compiled from them.

use super::driver::{Handle, Resource, ResourceKind};
use super::{Accelerator, Launch};
use crate::cache::{Entry, KernelCache, Key};
use crate::device::{DeviceError, KernelError};
use std::sync::Arc;

/// A text to compile, with its name.
#[derive(Clone, Copy, Debug)]
pub struct KernelText<'a> {
    /// The name in errors and reports.
    pub name: &'a str,
    /// A whole translation unit in the language of the device.
    pub text: &'a str,
    /// Compiler options, in addition to the device's own.
    pub options: &'a [String],
}

impl<'a> KernelText<'a> {
    /// A text without options of its own.
    pub const fn new(name: &'a str, text: &'a str) -> Self {
        Self {
            name,
            text,
            options: &[],
        }
    }
}

/// A compiled text. Clones share it.
#[derive(Clone, Debug)]
pub struct Module {
    contents: Arc<Contents>,
}

#[derive(Debug)]
struct Contents {
    module: Arc<Resource>,
    name: String,
    log: String,
    warnings: Vec<String>,
}

/// A kernel of a module, which it keeps alive. Clones share it.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(super) kernel: Arc<Resource>,
    pub(super) module: Module,
    pub(super) entry: Arc<str>,
    usage: Usage,
}

/// Resources of a compiled kernel; `None` if the driver does not report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// 32-bit registers per thread.
    pub registers: Option<u32>,
    /// Bytes of slow memory per thread, such as spilled registers.
    pub local_bytes: Option<u32>,
    /// Bytes of shared memory of a block, as fixed by the text.
    pub shared_bytes: Option<u32>,
    /// Maximum number of threads of a block.
    pub max_threads: Option<u32>,
    /// The block required by the text, if any.
    pub threads: Option<[u32; 3]>,
    /// Number of arguments.
    pub arguments: Option<u32>,
}

impl Accelerator {
    /// The user's cache on disk; none if the compiler has its own, or if there is no place for it.
    pub fn user_cache(&self) -> KernelCache {
        match self.driver.keeps_compiled() {
            true => KernelCache::none(),
            false => KernelCache::user().unwrap_or_default(),
        }
    }

    /// Compiles a text, or takes the result of an earlier run from the cache.
    ///
    /// # Errors
    /// [`KernelError::Compile`] with the compiler's log, [`KernelError::NoFp64`], or a driver error. Cache
    /// failures are warnings of the module.
    pub fn compile(&self, text: &KernelText, cache: &KernelCache) -> Result<Module, DeviceError> {
        self.refuse_while_capturing("compile while work is captured")?;
        let key = self.key(text, None);
        let mut warnings = Vec::new();
        let (module, log) = match self.kept_module(&key, cache, &mut warnings)? {
            Some(kept) => kept,
            None => {
                let _reserved = cache.reserve(&key);
                // A previous holder of the reservation may have made it.
                match self.kept_module(&key, cache, &mut warnings)? {
                    Some(kept) => kept,
                    None => self.new_module(text, &key, cache, &mut warnings)?,
                }
            }
        };
        let name = text.name.to_owned();
        Ok(Module {
            contents: Arc::new(Contents {
                module,
                name,
                log,
                warnings,
            }),
        })
    }

    /// The text as PTX, for programs to edit, or what the cache has of an earlier run; `None` for drivers without it.
    ///
    /// # Errors
    /// As [`Accelerator::compile`]. Cache failures are not told: compiling the text itself does.
    pub fn ptx(
        &self,
        text: &KernelText,
        cache: &KernelCache,
    ) -> Result<Option<String>, DeviceError> {
        let key = self.key(text, Some("PTX"));
        let mut warnings = Vec::new();
        let kept = cache.find(&key, &mut warnings);
        if let Some(kept) = kept.and_then(|entry| String::from_utf8(entry.binary).ok()) {
            return Ok(Some(kept));
        }
        let ptx = self.driver.ptx(text)?;
        if let Some(ptx) = &ptx {
            let entry = Entry {
                log: String::new(),
                binary: ptx.clone().into_bytes(),
            };
            cache.store(&key, &entry, &mut warnings);
        }
        Ok(ptx)
    }

    /// A module that the driver assembles from PTX, which keeps it in a cache of its own.
    ///
    /// # Errors
    /// A driver error, as for PTX of a compiler that is newer than the driver.
    pub fn load_ptx(&self, name: &str, ptx: &str) -> Result<Module, DeviceError> {
        self.refuse_while_capturing("load PTX while work is captured")?;
        let module = self.module(self.driver.load_ptx(ptx)?);
        Ok(Module {
            contents: Arc::new(Contents {
                module,
                name: name.to_owned(),
                log: String::new(),
                warnings: Vec::new(),
            }),
        })
    }

    /// The module in the cache, with its log. One that the driver rejects is dropped.
    fn kept_module(
        &self,
        key: &Key,
        cache: &KernelCache,
        warnings: &mut Vec<String>,
    ) -> Result<Option<(Arc<Resource>, String)>, DeviceError> {
        let Some(entry) = cache.find(key, warnings) else {
            return Ok(None);
        };
        match twice(|| self.driver.load(&entry.binary)) {
            Ok(module) => Ok(Some((self.module(module), entry.log))),
            Err(error @ DeviceError::Lost { .. }) => Err(error),
            Err(error) => {
                cache.drop_entry(key, &error, warnings);
                Ok(None)
            }
        }
    }

    /// Compiles a text, and caches the result.
    fn new_module(
        &self,
        text: &KernelText,
        key: &Key,
        cache: &KernelCache,
        warnings: &mut Vec<String>,
    ) -> Result<(Arc<Resource>, String), DeviceError> {
        let built = twice(|| self.driver.build(text, cache.keeps()))?;
        let module = self.module(built.module);
        let entry = Entry {
            log: built.log,
            binary: built.binary.unwrap_or_default(),
        };
        cache.store(key, &entry, warnings);
        Ok((module, entry.log))
    }

    fn module(&self, handle: Handle) -> Arc<Resource> {
        Arc::new(Resource::new(&self.driver, ResourceKind::Module, handle))
    }

    /// A hash of everything that determines the result of compiling a text, to the device's binary or to another `target`.
    pub(crate) fn key(&self, text: &KernelText, target: Option<&str>) -> Key {
        let features = self.features();
        let mut parts = vec![
            self.name(),
            &features.architecture,
            &features.compiler,
            &features.driver,
            text.text,
        ];
        parts.extend(target);
        parts.extend(text.options.iter().map(String::as_str));
        Key::new(&parts)
    }
}

/// Tries twice: compilers with their own cache, such as PoCL's, fail occasionally if several processes use
/// it at once.
fn twice<T>(attempt: impl Fn() -> Result<T, DeviceError>) -> Result<T, DeviceError> {
    let first = attempt();
    match first {
        Ok(_) | Err(DeviceError::Lost { .. }) => first,
        Err(_) => attempt(),
    }
}

impl Module {
    /// The kernel named `entry`.
    ///
    /// # Errors
    /// [`KernelError::NoEntry`], or a driver error.
    pub fn kernel(&self, entry: &str) -> Result<Kernel, DeviceError> {
        let contents = &self.contents;
        let driver = contents.module.driver();
        // SAFETY: the module belongs to this driver and is alive.
        let found = unsafe { driver.kernel(contents.module.handle(), entry) }?;
        let Some((handle, usage)) = found else {
            return Err(DeviceError::Kernel(KernelError::NoEntry {
                kernel: contents.name.clone(),
                entry: entry.to_owned(),
            }));
        };
        let kernel = Resource::new(driver, ResourceKind::Kernel, handle);
        Ok(Kernel {
            kernel: Arc::new(kernel),
            module: self.clone(),
            entry: entry.into(),
            usage,
        })
    }

    /// The name of the module's text.
    pub fn name(&self) -> &str {
        &self.contents.name
    }

    /// The compiler's log of the text, even if compiled in an earlier run.
    pub fn log(&self) -> &str {
        &self.contents.log
    }

    /// Warnings, such as a damaged cache entry.
    pub fn warnings(&self) -> &[String] {
        &self.contents.warnings
    }

    pub(super) fn resource(&self) -> &Arc<Resource> {
        &self.contents.module
    }
}

impl Kernel {
    /// Its resources on the device.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Asks the device for no more shared memory than blocks of launches like this one use, where the rest serves as L1.
    ///
    /// # Errors
    /// A driver error.
    pub fn prefer_l1(&self, launch: &Launch) -> Result<(), DeviceError> {
        let driver = self.kernel.driver();
        // SAFETY: the kernel belongs to this driver and is alive.
        unsafe { driver.prefer_l1(self.kernel.handle(), launch) }
    }

    /// Its name in the text.
    pub fn entry(&self) -> &str {
        &self.entry
    }
}
