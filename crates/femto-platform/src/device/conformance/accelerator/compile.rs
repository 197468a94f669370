//! Compilers and the cache.

use super::{launch_axpy, read, text};
use crate::cache::{Entry, KernelCache};
use crate::device::accelerator::{Accelerator, KernelText};
use crate::device::{Device, DeviceError, KernelError};

/// A kernel from the cache behaves like a newly compiled one; an entry that the driver rejects is
/// recompiled, with one warning.
pub fn a_kept_kernel_computes(device: &Accelerator) {
    let kind = device.info().kind;
    let folder = format!("femto-conformance-{}-{kind}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    let cache = KernelCache::at(&folder);
    let text = KernelText {
        name: "suite",
        text: &text(device.features().language),
        options: &["-DSHARED_DOUBLES=8".to_owned()],
    };
    let check = |warnings: usize| {
        let module = device.compile(&text, &cache).unwrap();
        assert_eq!(module.warnings().len(), warnings, "{:?}", module.warnings());
        let g_x = device.upload(&[3.0; 40]).unwrap();
        let mut g_y = device.upload(&[1.0; 40]).unwrap();
        let axpy = module.kernel("axpy").unwrap();
        launch_axpy(device, &axpy, 2.0, &g_x, &mut g_y);
        assert_eq!(read(device, &g_y), [7.0; 40]);
        (module.log().to_owned(), axpy.usage())
    };
    let compiled = check(0);
    let kept = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(kept, 1, "nothing was kept");
    assert_eq!(check(0), compiled);
    let entry = Entry {
        log: String::new(),
        binary: b"no kernel".to_vec(),
    };
    cache.store(&device.key(&text, None), &entry, &mut Vec::new());
    // A compiler with its own cache may log nothing the second time.
    let again = check(1);
    assert_eq!(again.1, compiled.1);
    assert_eq!(check(0), again);
    std::fs::remove_dir_all(folder).unwrap();
}

/// The log names the text as in `#line`, and the line.
pub fn a_compile_error_names_file_and_line(device: &Accelerator) {
    let text = text(device.features().language) + "#line 7 \"wrong.c\"\nint x = undeclared;\n";
    let log = refusal(device, &text);
    assert!(log.contains("wrong.c"), "{log}");
    assert!(log.contains(":7") || log.contains("(7)"), "{log}");
    assert!(log.contains("undeclared"), "{log}");
}

fn refusal(device: &Accelerator, text: &str) -> String {
    let text = KernelText::new("broken", text);
    let error = device.compile(&text, &KernelCache::none()).unwrap_err();
    match error {
        DeviceError::Kernel(KernelError::Compile { kernel, log, .. }) if kernel == "broken" => log,
        error => panic!("{error} instead of a compile error"),
    }
}

/// A text that does not compile changes nothing.
pub fn a_failed_compile_leaves_buffers_alone(device: &Accelerator) {
    let axpy = super::compile(device).kernel("axpy").unwrap();
    let g_x = device.upload(&[1.0; 10]).unwrap();
    let mut g_y = device.upload(&[3.0; 10]).unwrap();
    refusal(device, "this is no kernel");
    launch_axpy(device, &axpy, 4.0, &g_x, &mut g_y);
    assert_eq!(read(device, &g_y), [7.0; 10]);
    assert_eq!(read(device, &g_x), [1.0; 10]);
}
