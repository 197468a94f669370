//! Shared libraries, loaded at run time.

use libloading::Library;
use std::ffi::OsStr;

/// Why a library cannot be used.
#[derive(Debug)]
pub(super) enum Missing {
    /// None of the names was found.
    Library(String),
    /// The library lacks a function.
    Function(&'static str),
}

/// The first library of these names or paths that can be loaded.
pub(super) fn open<N: AsRef<OsStr>>(names: &[N]) -> Result<Library, Missing> {
    for name in names {
        // SAFETY: the initialisers of a driver's library are trusted as the driver itself is.
        if let Ok(library) = unsafe { Library::new(name.as_ref()) } {
            return Ok(library);
        }
    }
    let names = names.iter().map(|name| name.as_ref().to_string_lossy());
    Err(Missing::Library(names.collect::<Vec<_>>().join(", ")))
}

/// The pointer type of a C function that may be absent.
pub(super) trait Function {
    /// The type of the function itself.
    type Pointer: Copy;
}

impl<F: Copy> Function for Option<F> {
    type Pointer = F;
}

/// A table of the functions of a library, which it keeps loaded. Those marked `optional` may be absent.
macro_rules! functions {
    (
        $(#[$attribute:meta])*
        $table:ident {
            $($name:ident: $type:ty,)*
        }
        $(optional { $($maybe:ident: $maybe_type:ty,)* })?
    ) => {
        $(#[$attribute])*
        #[allow(non_snake_case)]
        pub(super) struct $table {
            $(pub(super) $name: <$type as $crate::device::library::Function>::Pointer,)*
            $($(pub(super) $maybe: $maybe_type,)*)?
            _library: libloading::Library,
        }

        impl $table {
            /// Looks up every function.
            ///
            /// # Safety
            /// The library's functions must have the types of this table.
            pub(super) unsafe fn new(
                library: libloading::Library,
            ) -> Result<Self, $crate::device::library::Missing> {
                use $crate::device::library::{Function, Missing};
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the caller vouches for the type; the pointer stays valid, for
                        // the table keeps the library loaded.
                        let symbol = unsafe { library.get::<<$type as Function>::Pointer>(name) };
                        *symbol.map_err(|_| Missing::Function(stringify!($name)))?
                    },)*
                    $($($maybe: {
                        let name = concat!(stringify!($maybe), "\0").as_bytes();
                        // SAFETY: as above.
                        let symbol = unsafe { library.get(name) };
                        symbol.ok().map(|symbol| *symbol)
                    },)*)?
                    _library: library,
                })
            }
        }
    };
}
pub(super) use functions;
