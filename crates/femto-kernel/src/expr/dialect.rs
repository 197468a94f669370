//! The C of printed functions.
//!
//! [`Language`] is the choice of a compiler, and a page of words for the texts of whole kernels. A [`Dialect`] is the
//! little that the printer of a graph needs to know: how functions and pointers are declared. Every language has one,
//! and so has ISO C, in which no kernel is written, but in which tests compile what is printed.

use super::Input;
use crate::dialect::Language;

/// The differences between languages of the C family in the printed functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The start of a function definition.
    pub function: &'static str,
    /// The start of the type of a pointer to the results.
    pub pointer: &'static str,
    /// Whether mathematical functions of single precision have names of their own (`sinf`).
    pub suffixed: bool,
}

impl Dialect {
    /// ISO C.
    pub const C: Self = Self {
        function: "static inline",
        pointer: "",
        suffixed: true,
    };
    /// CUDA C.
    pub const CUDA: Self = Self {
        function: "static __device__ __forceinline__",
        pointer: "",
        suffixed: true,
    };
    /// OpenCL C.
    pub const OPENCL: Self = Self {
        function: "static inline",
        pointer: "__private ",
        suffixed: false,
    };
}

impl From<Language> for Dialect {
    fn from(language: Language) -> Self {
        match language {
            Language::Cuda => Self::CUDA,
            Language::OpenCl => Self::OPENCL,
        }
    }
}

/// The interface of a printed function: `void name(const T input, ..., T *result)`.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    /// The name of the function.
    pub name: &'a str,
    /// The arguments; may include inputs that the function does not use.
    pub inputs: &'a [(Input, &'a str)],
    /// The name of the array that receives the outputs. Temporaries are called `t0`, `t1`, ...
    pub result: &'a str,
}
