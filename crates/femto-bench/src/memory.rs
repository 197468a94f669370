//! The minimum memory of a measurement.

use super::{BenchError, MeshShape, Params, Physics};
use femto::operator::LevelInputs;
use femto::{DataLevel, FactorPrecision, Host};
use femto_platform::device::{Device, DeviceInfo, DeviceKind};

/// Minimum bytes of mesh and geometry per element: a vertex, its vertices' numbers, its map.
const BYTES_PER_ELEMENT: f64 = 100.0;

/// Fails if the memory of the device, or of the host beside it, is too small.
pub(crate) fn check(
    params: &Params,
    cells: [usize; 3],
    points_1d: usize,
    device: &DeviceInfo,
) -> Result<(), BenchError> {
    let cells = cells.map(|cells| cells as f64);
    let boxes: f64 = cells.iter().product();
    let elements = boxes * params.mesh.cell().per_box() as f64;
    let steps = cells.iter().zip(params.mesh.cell().steps(params.degree));
    let nodes: f64 = steps.map(|(n, steps)| n * steps as f64 + 1.0).product();
    let vectors = 2.0 * nodes * params.benchmark.components() as f64;
    let factors = params.factors.at_points(params.precision);
    let stored = numbers_per_element(params, points_1d, device.kind) * elements;
    let stored = stored * factors.bytes() as f64;
    let bytes = vectors * params.precision.bytes() as f64 + stored;
    let bytes = bytes + BYTES_PER_ELEMENT * elements;
    let what = format!(
        "{} of degree {} at this size",
        params.benchmark, params.degree
    );
    fits(&what, device, bytes)?;
    if device.kind == DeviceKind::Host {
        return Ok(());
    }
    // A device's data are generated on the host.
    let host = Host::with_threads(1)?.info();
    fits(&what, &host, bytes)
}

/// Fails if the device has less memory than this.
pub(crate) fn fits(what: &str, device: &DeviceInfo, bytes: f64) -> Result<(), BenchError> {
    match device.memory_bytes {
        Some(memory) if bytes > memory as f64 => Err(BenchError::TooLarge {
            what: what.to_owned(),
            gigabytes: bytes * 1e-9,
            device: device.id(),
            memory: memory as f64 * 1e-9,
        }),
        _ => Ok(()),
    }
}

/// Least numbers of an element of degree 1, in place of those at its points.
const NUMBERS_OF_DEGREE_1: f64 = 27.0;

/// Numbers stored for every element, at least.
fn numbers_per_element(params: &Params, points_1d: usize, device: DeviceKind) -> f64 {
    let (physics, points) = (params.benchmark.physics(), (points_1d as f64).powi(3));
    let chosen = params.data_level.choose(&LevelInputs {
        device,
        degree: params.degree.most(),
        few_numbers: params.degree == 1,
        mass: physics == Physics::Mass,
        single_factors: params.factors == FactorPrecision::Single,
        scatter: params.scatter,
    });
    match (chosen.level, params.mesh, physics) {
        // Operators check the memory of matrices themselves.
        (DataLevel::Element | DataLevel::Sparse, _, _)
        | (_, MeshShape::Box | MeshShape::Tetrahedra | MeshShape::Columns | MeshShape::Layers, _)
        | (DataLevel::OnTheFly, MeshShape::Sine, _) => 0.0,
        _ if params.degree == 1 => NUMBERS_OF_DEGREE_1,
        (_, _, Physics::Mass) => points,
        (_, _, Physics::Poisson) => 6.0 * points,
        (_, _, Physics::ScreenedPoisson) => 7.0 * points,
    }
}
