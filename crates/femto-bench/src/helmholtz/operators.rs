//! The stages that are products with a matrix, by femto's own operators on the same mesh.

use super::record::{Measured, Subject, compare};
use super::{Challenge, How};
use crate::timing::time_apply;
use crate::{BenchError, Record};
use femto::problem::ProblemForm;
use femto::{AnyDevice, OperatorParams, Quadrature};
use femto_element::{Cell, CellType};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::{CellBlock, Layers, Mesh};
use femto_fem::space::{Block, SpaceParams};
use femto_kernel::family::prism_published::{Columns, Schedule, Stage, StageWork};
use femto_kernel::form::{Mass, Poisson, ScreenedPoisson};
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::Usage;

/// Their step in records.
pub(super) const FEMTO: &str = "femto";

/// The stages that are measured, in order.
pub(super) const STAGES: [Stage; 3] = [Stage::Rhs1, Stage::Rhs, Stage::Action];

/// Measures M f, K w₁ and (M + K) w₁ between L-vectors, zeroing included, after comparing each with the oracle. Their bounds
/// are, as those of the ladder, of memory and arithmetic.
///
/// # Errors
/// [`BenchError::Wrong`] for a wrong output; no mesh or operator.
pub fn measure_operators(
    device: &AnyDevice,
    challenge: &Challenge,
    how: How<'_>,
) -> Result<Vec<Record>, BenchError> {
    let Challenge { columns, oracle } = challenge;
    let stages = STAGES
        .into_iter()
        .filter(|stage| how.stages.contains(stage));
    let stages: Vec<Stage> = stages.collect();
    if stages.is_empty() {
        return Ok(Vec::new());
    }
    let mesh = mesh(columns)?;
    let geometries = Geometry::of_shapes(&mesh)?;
    let blocks = Block::all(&mesh, geometries, SpaceParams::default()).map_err(Box::new)?;
    let places = places(columns, &blocks);
    let mut records = Vec::new();
    for stage in stages {
        let screened = ScreenedPoisson { lambda: Some(1.0) };
        let (input, form) = match stage {
            Stage::Rhs1 => (
                Stage::Expression1,
                ProblemForm::interpreted::<_, 3, 1>(&Mass),
            ),
            Stage::Rhs => (Stage::Rhs1, ProblemForm::interpreted::<_, 3, 1>(&Poisson)),
            Stage::Action => (Stage::Rhs1, ProblemForm::interpreted::<_, 3, 1>(&screened)),
            _ => continue,
        };
        let (form, Some(input)) = (form?, oracle.output(input)) else {
            continue;
        };
        let params = OperatorParams {
            quadrature: Quadrature::Exact(4),
            ..OperatorParams::default()
        };
        let operator = device.operator(Precision::Fp64, &blocks, form.form(), params)?;
        let u: Vec<f64> = places.iter().map(|&place| input.values[place]).collect();
        let mut v = vec![f64::NAN; u.len()];
        operator.apply(&u, &mut v)?;
        let mut found = vec![f64::NAN; columns.nodes()];
        for (&place, v) in places.iter().zip(v) {
            found[place] = v;
        }
        let error = compare(oracle, stage, &found)?;
        let timing = time_apply(&*operator, how.sampling)?;
        let subject = Subject {
            name: FEMTO.to_owned(),
            change: "the operators of M, K and M + K",
            schedule: operator.explain(None, None).schedule.join("; "),
            columns,
            device: device.info(),
            ceilings: *how.ceilings,
        };
        records.push(subject.record(Measured {
            stage: stage.name(),
            timing,
            work: StageWork {
                work: operator.work(),
                ..StageWork::new(stage, &Schedule::default(), columns)
            },
            error,
            usage: Usage::default(),
        }));
    }
    Ok(records)
}

/// The same columns as a mesh.
fn mesh(columns: &Columns) -> Result<Mesh, BenchError> {
    let levels = columns.layers() + 1;
    let lowest = columns.coordinates().chunks_exact(3).step_by(levels);
    let vertices: Vec<[f64; 3]> = lowest.map(|x| [x[0], x[1], 0.0]).collect();
    let below = columns.map().iter().step_by(2);
    let triangles = below.map(|&node| node / levels as u32).collect();
    let plane = Mesh {
        coordinates: vertices.into(),
        blocks: vec![CellBlock {
            cell_type: CellType::TRI3,
            nodes: triangles,
            tags: vec![0; columns.triangles()],
        }],
        ..Mesh::default()
    };
    let top = columns.layers() as f64 * Columns::HEIGHT;
    let layers = Layers::uniform(columns.layers());
    Ok(plane.extrude(&layers, |_| 0.0, |_| top).map_err(Box::new)?)
}

/// The Challenge's node of each node of the space.
fn places(columns: &Columns, blocks: &[Block]) -> Vec<usize> {
    let space = &blocks[0].space;
    let mut places = vec![0; space.nodes()];
    for (element, &cell) in space.cells().iter().enumerate() {
        let (triangle, layer) = (
            cell as usize / columns.layers(),
            cell as usize % columns.layers(),
        );
        let lowest = &columns.map()[6 * triangle..][..6];
        let nodes = space.element_nodes(element);
        for ([i, j, k], node) in Cell::Prism.lattice(1).into_iter().zip(nodes) {
            places[node as usize] = lowest[2 * (i + 2 * j) + k] as usize + layer;
        }
    }
    places
}
