//! Shared libraries that are looked for when the program runs.

use libloading::Library;

/// What `dlopen` found, or why not.
#[derive(Debug)]
pub(super) enum Missing {
    /// None of the names is there.
    Library(String),
    /// The library lacks a function.
    Function(&'static str),
}

/// The first library of these names or paths that can be loaded.
pub(super) fn open(names: &[String]) -> Result<(Library, String), Missing> {
    for name in names {
        // SAFETY: the initialisers of a driver's library are trusted as the driver itself is.
        if let Ok(library) = unsafe { Library::new(name) } {
            return Ok((library, name.clone()));
        }
    }
    Err(Missing::Library(names.join(", ")))
}

/// The pointer behind the type of a C function that may be absent.
pub(super) trait Function {
    /// The type of the function itself.
    type Pointer: Copy;
}

impl<F: Copy> Function for Option<F> {
    type Pointer = F;
}

/// A struct of the functions of a library, which it keeps loaded.
macro_rules! functions {
    ($(#[$attribute:meta])* $table:ident { $($name:ident: $type:ty,)* }) => {
        $(#[$attribute])*
        #[allow(non_snake_case)]
        pub(super) struct $table {
            $(pub(super) $name: <$type as $crate::device::library::Function>::Pointer,)*
            _library: libloading::Library,
        }

        impl $table {
            /// Finds every function.
            ///
            /// # Safety
            /// The functions of the library have the types of this table.
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
                    _library: library,
                })
            }
        }
    };
}
pub(super) use functions;
