//! The output file of a case.

use super::{Options, Output, OutputTo};
use crate::case::{Case, Field, MistakeKind, VTU, Vector};
use crate::failure::Failure;
use crate::files::check_output;
use femto::fem::geometry::shapes;
use femto::fem::io::IoError;
use femto::fem::mesh::Mesh;
use femto::platform::device::DeviceKind;
use femto::problem::{AnyAssembled, Function, GridFunction, OutputField, write_solution};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The output file, in a folder that exists and is writable.
///
/// # Errors
/// A folder that cannot be created, or a file that cannot be written.
pub(super) fn path(case: &Case, options: &Options) -> Result<Option<PathBuf>, Failure> {
    let path = match &options.output {
        _ if options.device(case).kind == DeviceKind::Null => None,
        OutputTo::Case => case.output.vtu.clone(),
        OutputTo::File(path) => Some(path.clone()),
        OutputTo::Nowhere => None,
    };
    let Some(path) = path else {
        return Ok(None);
    };
    let is_vtu = path.to_string_lossy().ends_with(VTU);
    // What is there may be worse than its name.
    if is_vtu || path.exists() {
        check_output(&path)?;
    }
    match is_vtu {
        true => Ok(Some(path)),
        false => Err(Failure::NotVtu { path }),
    }
}

/// Fails if a file is asked for of the null device.
pub(super) fn check_device(device: DeviceKind, options: &Options) -> Result<(), Failure> {
    let option = match (&options.output, &options.system) {
        (OutputTo::File(_), _) => "--output",
        (_, Some(_)) => "--system",
        _ => return Ok(()),
    };
    match device {
        DeviceKind::Null => Err(Failure::NothingToWrite { option }),
        _ => Ok(()),
    }
}

/// Fails if VTK takes the cells of the output for others.
pub(super) fn check_cells(case: &Case, mesh: &Mesh) -> Result<(), Failure> {
    let degree = case.degree;
    if shapes(mesh).iter().all(|(cell, _)| cell.is_in_vtk(degree)) {
        return Ok(());
    }
    let problem = MistakeKind::Output(IoError::NotInVtk { degree }.to_string());
    let place = case.places.degree.clone();
    Err(case.document.mistake(place, problem).into())
}

/// Writes the equations as a sparse matrix, unless the user stops that.
pub(super) fn write_system(
    system: &dyn AnyAssembled,
    folder: &Path,
    interrupt: &AtomicBool,
) -> Result<(), Failure> {
    let is_stopped = || interrupt.load(Ordering::Relaxed);
    match system.sparse_system()?.write(folder, &is_stopped) {
        Err(_) if is_stopped() => Ok(()),
        written => Ok(written?),
    }
}

/// Writes the solution and the fields that the case asks for; `flux` finds its flux. Also returns why that field is
/// missing if it was not found.
pub(super) fn write(
    case: &Case,
    mesh: &Mesh,
    (u, flux): (
        &GridFunction,
        impl FnOnce() -> Result<Vec<GridFunction>, Failure>,
    ),
    path: &Path,
) -> Result<(Output, Option<Failure>), Failure> {
    let mut fields = fields(case);
    let flux = match fields.contains(&Field::Flux) {
        true => flux(),
        false => Ok(Vec::new()),
    };
    let (flux, lost) = match flux {
        Ok(flux) => (flux, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    if lost.is_some() {
        fields.retain(|field| *field != Field::Flux);
    }
    let components = u.blocks[0].space.components();
    let exact = case.exact.as_ref();
    let exact = exact.map(|exact| functions(exact, components));
    let source = functions(&case.source, components);
    let values = |field| match field {
        Field::Solution => Some(OutputField::Solution),
        Field::Exact => exact.as_deref().map(OutputField::Function),
        Field::Error => exact.as_deref().map(OutputField::Error),
        Field::Source => Some(OutputField::Function(&source)),
        Field::Flux => Some(OutputField::Axes(&flux)),
    };
    let named: Vec<_> = fields
        .iter()
        .filter_map(|&field| Some((field.name(), values(field)?)))
        .collect();
    let not_finite = write_solution(path, mesh, u, &named, 0.0)?;
    let warning = |name| format!("the output's field `{name}` has values that are not finite");
    let written = Output {
        file: path.display().to_string(),
        bytes: std::fs::metadata(path).map_or(0, |data| data.len()),
        fields: named.iter().map(|(name, _)| *name).collect(),
        warnings: not_finite.iter().map(warning).collect(),
    };
    Ok((written, lost))
}

/// The fields requested by the case, or all available ones.
fn fields(case: &Case) -> Vec<Field> {
    if let Some(fields) = &case.output.fields {
        return fields.clone();
    }
    let mut fields = vec![Field::Solution];
    if case.exact.is_some() {
        fields.extend([Field::Exact, Field::Error]);
    }
    if !case.source.is_zero() {
        fields.push(Field::Source);
    }
    fields
}

/// The functions for this many components.
fn functions(vector: &Vector, components: usize) -> Vec<&dyn Function> {
    let last = vector.functions.len() - 1;
    let of = |component: usize| &vector.functions[component.min(last)] as &dyn Function;
    (0..components).map(of).collect()
}
