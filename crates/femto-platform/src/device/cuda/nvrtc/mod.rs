//! NVRTC, NVIDIA's run-time compiler; it needs neither a GPU nor a driver.

mod program;

use super::log::{EntryUsage, entry_usage};
use crate::device::accelerator::KernelText;
use crate::device::library::{self, Missing, functions};
use crate::device::{DeviceError, DeviceKind, KernelError};
use program::OpenProgram;
pub(super) use program::to_c;
use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

type Program = *mut c_void;

/// The type of a function that returns an `nvrtcResult`.
macro_rules! nvrtc {
    ($($argument:ty),*) => { Option<unsafe extern "C" fn($($argument),*) -> c_int> };
}

functions!(
    /// libnvrtc 12 or 13.
    Api {
        nvrtcVersion: nvrtc!(*mut c_int, *mut c_int),
        nvrtcGetNumSupportedArchs: nvrtc!(*mut c_int),
        nvrtcGetSupportedArchs: nvrtc!(*mut c_int),
        nvrtcCreateProgram: nvrtc!(*mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char),
        nvrtcDestroyProgram: nvrtc!(*mut Program),
        nvrtcCompileProgram: nvrtc!(Program, c_int, *const *const c_char),
        nvrtcGetCUBINSize: nvrtc!(Program, *mut usize),
        nvrtcGetCUBIN: nvrtc!(Program, *mut c_char),
        nvrtcGetPTXSize: nvrtc!(Program, *mut usize),
        nvrtcGetPTX: nvrtc!(Program, *mut c_char),
        nvrtcGetProgramLogSize: nvrtc!(Program, *mut usize),
        nvrtcGetProgramLog: nvrtc!(Program, *mut c_char),
        nvrtcGetErrorString: Option<unsafe extern "C" fn(c_int) -> *const c_char>,
    }
);

const NAME: &str = DeviceKind::Cuda.name();
const SUCCESS: c_int = 0;
const ERROR_COMPILATION: c_int = 6;

/// The oldest supported major version of NVRTC and of drivers.
const OLDEST_MAJOR: i32 = 12;

/// Options of every compilation: registers and spills go to the log.
const OPTIONS: [&str; 2] = ["--std=c++17", "--ptxas-options=-v"];

/// A loaded libnvrtc.
pub struct Compiler {
    api: Api,
    version: (i32, i32),
    /// The targets: 90 stands for `sm_90`.
    architectures: Vec<i32>,
}

/// A compiled text.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Machine code for one architecture.
    pub cubin: Vec<u8>,
    /// The compiler's log.
    pub log: String,
    /// Resources of each kernel, in the order of the log.
    pub entries: Vec<EntryUsage>,
}

impl Compiler {
    /// The compiler in a library file.
    ///
    /// # Errors
    /// [`DeviceError::DriverMissing`] if it cannot be loaded, [`DeviceError::DriverTooOld`].
    pub fn open(path: &Path) -> Result<Self, DeviceError> {
        Self::first(&[path])
    }

    /// The compiler of this machine: `$FEMTO_NVRTC`, or the first one found on the library path and in
    /// CUDA's usual folders, of the newest version whose kernels run on a driver of CUDA `driver_major`.
    ///
    /// # Errors
    /// [`DeviceError::DriverMissing`], [`DeviceError::DriverTooOld`].
    pub fn find(driver_major: i32) -> Result<Self, DeviceError> {
        if let Some(path) = std::env::var_os("FEMTO_NVRTC") {
            return Self::first(&[path]);
        }
        Self::first(&candidates(driver_major, |name| std::env::var_os(name))?)
    }

    fn first<N: AsRef<OsStr>>(names: &[N]) -> Result<Self, DeviceError> {
        let loaded = library::open(names).and_then(|library| {
            // SAFETY: the types are those of nvrtc.h, the same in versions 12 and 13.
            unsafe { Api::new(library) }
        });
        let api = loaded.map_err(|missing| match missing {
            Missing::Library(looked_for) => DeviceError::DriverMissing {
                device: NAME,
                looked_for,
                install: "install CUDA's run-time compiler (the Python wheel nvidia-cuda-nvrtc or \
                          the CUDA toolkit) and name libnvrtc in FEMTO_NVRTC",
            },
            Missing::Function(needed) => DeviceError::DriverTooOld {
                library: "libnvrtc".to_owned(),
                needed: needed.to_owned(),
                known: "NVRTC 12 or later is needed".to_owned(),
            },
        })?;
        let mut compiler = Self {
            api,
            version: (0, 0),
            architectures: Vec::new(),
        };
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the answers are single numbers.
        unsafe {
            let version = (compiler.api.nvrtcVersion)(&raw mut major, &raw mut minor);
            compiler.check("tell its version", version)?;
            let counted = (compiler.api.nvrtcGetNumSupportedArchs)(&raw mut count);
            compiler.check("tell its architectures", counted)?;
        }
        compiler.version = (major, minor);
        compiler.architectures = vec![0; usize::try_from(count).unwrap_or(0)];
        let answer = compiler.architectures.as_mut_ptr();
        // SAFETY: the answer has room for as many numbers as it said there are.
        let listed = unsafe { (compiler.api.nvrtcGetSupportedArchs)(answer) };
        compiler.check("tell its architectures", listed)?;
        Ok(compiler)
    }

    /// Name and version, such as `NVRTC 12.9`.
    pub fn version(&self) -> String {
        format!("NVRTC {}.{}", self.version.0, self.version.1)
    }

    /// Fails unless it supports this architecture, such as `sm_90` or `sm_90a`.
    pub(super) fn check_architecture(&self, architecture: &str) -> Result<(), DeviceError> {
        let number = architecture.trim_start_matches("sm_");
        let number = number.trim_end_matches(|end: char| end.is_ascii_lowercase());
        if self
            .architectures
            .iter()
            .any(|known| known.to_string() == number)
        {
            return Ok(());
        }
        let known = self.architectures.iter().map(|known| format!("sm_{known}"));
        Err(DeviceError::DriverTooOld {
            library: self.version(),
            needed: architecture.to_owned(),
            known: format!("it compiles for {}", known.collect::<Vec<_>>().join(", ")),
        })
    }

    /// Compiles a text to machine code for `architecture`, such as `sm_90`.
    ///
    /// # Errors
    /// [`KernelError::Compile`] with the log, [`DeviceError::DriverTooOld`] for an unknown architecture.
    pub fn compile(&self, text: &KernelText, architecture: &str) -> Result<Compiled, DeviceError> {
        let (program, log) = self.program(text, architecture, architecture)?;
        Ok(Compiled {
            cubin: program.cubin()?,
            entries: entry_usage(&log),
            log,
        })
    }

    /// Compiles a text to PTX for `architecture`, such as `sm_90`.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn ptx(&self, text: &KernelText, architecture: &str) -> Result<String, DeviceError> {
        let target = architecture.replacen("sm_", "compute_", 1);
        let (program, _) = self.program(text, architecture, &target)?;
        program.ptx()
    }

    /// A compiled program and its log. The `target` is the architecture, or its virtual one.
    fn program(
        &self,
        text: &KernelText,
        architecture: &str,
        target: &str,
    ) -> Result<(OpenProgram<'_>, String), DeviceError> {
        self.check_architecture(architecture)?;
        let (source, name) = (to_c(text.text)?, to_c(text.name)?);
        let target = format!("--gpu-architecture={target}");
        let options = OPTIONS.into_iter().chain([target.as_str()]);
        let options = options
            .chain(text.options.iter().map(String::as_str))
            .map(to_c);
        let options = options.collect::<Result<Vec<_>, _>>()?;

        let program = OpenProgram::new(self, &source, &name)?;
        let outcome = program.compile(&options);
        let log = program.log();
        match outcome {
            SUCCESS => {}
            ERROR_COMPILATION => {
                return Err(DeviceError::Kernel(KernelError::Compile {
                    compiler: self.version(),
                    kernel: text.name.to_owned(),
                    architecture: architecture.to_owned(),
                    log,
                }));
            }
            code => self.check("compile", code)?,
        }
        Ok((program, log))
    }

    fn check(&self, action: &'static str, code: c_int) -> Result<(), DeviceError> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: the answer is a constant of the library, or null.
        let reason = unsafe {
            let text = (self.api.nvrtcGetErrorString)(code);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        Err(DeviceError::Driver {
            device: NAME,
            action,
            reason: reason.unwrap_or_else(|| format!("NVRTC error {code}")),
        })
    }
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.version())
    }
}

/// File names to try, best first; [`DeviceError::DriverTooOld`] if the driver runs no version's kernels.
fn candidates(
    driver_major: i32,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<OsString>, DeviceError> {
    if driver_major < OLDEST_MAJOR {
        return Err(DeviceError::DriverTooOld {
            library: format!("NVIDIA's driver of CUDA {driver_major}"),
            needed: format!("CUDA {OLDEST_MAJOR}"),
            known: "a driver of CUDA 12.0 or later is needed".to_owned(),
        });
    }
    let mut folders = vec![PathBuf::new()];
    let set = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    folders.extend(set.map(|folder| Path::new(&folder).join("lib64")));
    folders.push("/usr/local/cuda/lib64".into());
    let names = (OLDEST_MAJOR..=driver_major).rev().map(|major| {
        if cfg!(windows) {
            format!("nvrtc64_{major}0_0.dll")
        } else {
            format!("libnvrtc.so.{major}")
        }
    });
    let paths = names.flat_map(|name| folders.iter().map(move |folder| folder.join(&name)));
    Ok(paths.map(PathBuf::into_os_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_an_error_that_names_it() {
        let error = Compiler::open(Path::new("/nowhere/libnvrtc.so")).unwrap_err();
        let message = error.to_string();
        assert!(matches!(
            error,
            DeviceError::DriverMissing { device: "cuda", .. }
        ));
        assert!(message.contains("/nowhere/libnvrtc.so"), "{message}");
        assert!(message.contains("FEMTO_NVRTC"), "{message}");
    }

    #[test]
    fn newer_versions_come_first_but_none_newer_than_the_driver() {
        let set = |name: &str| (name == "CUDA_HOME").then(|| "/opt/cuda".into());
        let found = candidates(13, set).unwrap();
        if cfg!(target_os = "linux") {
            let wanted = [
                "libnvrtc.so.13",
                "/opt/cuda/lib64/libnvrtc.so.13",
                "/usr/local/cuda/lib64/libnvrtc.so.13",
                "libnvrtc.so.12",
                "/opt/cuda/lib64/libnvrtc.so.12",
                "/usr/local/cuda/lib64/libnvrtc.so.12",
            ];
            assert_eq!(found, wanted);
        }
        assert_eq!(candidates(12, |_| None).unwrap().len(), 2);
    }

    #[test]
    fn a_driver_that_runs_no_version_is_too_old() {
        let error = candidates(11, |_| None).unwrap_err();
        assert!(matches!(error, DeviceError::DriverTooOld { .. }), "{error}");
        let known = "CUDA 11 does not know CUDA 12";
        assert!(error.to_string().contains(known), "{error}");
    }
}
