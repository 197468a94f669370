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

/// Checks that an output is none of the other files. Files that do not exist are told apart by folder and name.
pub(crate) fn check_separate(output: &Path, others: &[PathBuf]) -> Result<(), Failure> {
    let place = |path: &Path| {
        let there = std::fs::canonicalize(path);
        let folder = || {
            std::path::absolute(path)
                .ok()?
                .parent()?
                .canonicalize()
                .ok()
        };
        there
            .ok()
            .or_else(|| Some(folder()?.join(path.file_name()?)))
    };
    let own = place(output);
    match others
        .iter()
        .any(|other| own.is_some() && place(other) == own)
    {
        true => Err(Failure::WrittenOver {
            path: output.into(),
        }),
        false => Ok(()),
    }
}
