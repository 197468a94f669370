//! Files that commands write.

use crate::failure::Failure;
use femto::fem::io::check_writable;
use std::path::{Path, PathBuf};

/// Makes a folder unless it is there.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|source| Failure::Folder {
        path: folder.to_owned(),
        source,
    })
}

/// Checks that a file can be written, whose folder is made if need be.
pub(crate) fn check_output(path: &Path) -> Result<(), Failure> {
    path.parent().map(make_folder).transpose()?;
    Ok(check_writable(path)?)
}

/// Checks that an output is none of the inputs.
pub(crate) fn check_separate(output: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    let place = |path: &Path| std::fs::canonicalize(path).ok();
    let own = place(output);
    match inputs
        .iter()
        .any(|input| own.is_some() && place(input) == own)
    {
        true => Err(Failure::WrittenOver {
            path: output.into(),
        }),
        false => Ok(()),
    }
}
