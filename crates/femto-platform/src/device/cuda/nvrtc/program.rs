//! One compilation by NVRTC.

use super::{Compiler, NAME, Program};
use crate::device::DeviceError;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::null;

pub(in crate::device::cuda) fn to_c(text: &str) -> Result<CString, DeviceError> {
    CString::new(text).map_err(|_| DeviceError::Unsupported {
        device: NAME,
        what: "compile a text, name or option that contains a zero byte",
    })
}

/// A program that is released when dropped.
pub(super) struct OpenProgram<'a> {
    compiler: &'a Compiler,
    program: Program,
}

impl<'a> OpenProgram<'a> {
    pub(super) fn new(
        compiler: &'a Compiler,
        source: &CStr,
        name: &CStr,
    ) -> Result<Self, DeviceError> {
        let mut program = std::ptr::null_mut();
        // SAFETY: text and name end with zero and are copied; there are no headers.
        let code = unsafe {
            let create = compiler.api.nvrtcCreateProgram;
            let (source, name) = (source.as_ptr(), name.as_ptr());
            create(&raw mut program, source, name, 0, null(), null())
        };
        compiler.check("take a kernel's text", code)?;
        Ok(Self { compiler, program })
    }

    pub(super) fn compile(&self, options: &[CString]) -> c_int {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program is alive; the list has `count` strings that end with zero.
        unsafe { (self.compiler.api.nvrtcCompileProgram)(self.program, count, pointers.as_ptr()) }
    }

    /// The compiler's log; empty if there is none.
    pub(super) fn log(&self) -> String {
        let api = &self.compiler.api;
        let log = self.bytes(api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog);
        let log = log.unwrap_or_default();
        let text = log.split(|&byte| byte == 0).next().unwrap_or(&[]);
        String::from_utf8_lossy(text).trim_end().to_owned()
    }

    pub(super) fn ptx(&self) -> Result<String, DeviceError> {
        let api = &self.compiler.api;
        let text = self.bytes(api.nvrtcGetPTXSize, api.nvrtcGetPTX)?;
        let text = text.split(|&byte| byte == 0).next().unwrap_or(&[]);
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    pub(super) fn cubin(&self) -> Result<Vec<u8>, DeviceError> {
        let api = &self.compiler.api;
        self.bytes(api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN)
    }

    /// An answer whose length is queried first.
    fn bytes(
        &self,
        ask_len: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        ask: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, DeviceError> {
        let mut len = 0;
        // SAFETY: the program is alive; the answer is one number.
        self.compiler.check("hand out a result", unsafe {
            ask_len(self.program, &raw mut len)
        })?;
        let mut answer = vec![0_u8; len];
        // SAFETY: the program is alive; the answer has room for `len` bytes.
        self.compiler.check("hand out a result", unsafe {
            ask(self.program, answer.as_mut_ptr().cast())
        })?;
        Ok(answer)
    }
}

impl Drop for OpenProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is alive and nobody else's. Errors cannot be reported here.
        unsafe { (self.compiler.api.nvrtcDestroyProgram)(&raw mut self.program) };
    }
}
