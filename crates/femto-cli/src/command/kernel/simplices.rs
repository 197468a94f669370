//! The texts of the kernels on simplices.

use super::catalog::Simplices;
use super::text::Text;
use femto::element::Cell;
use femto::element::basis::LagrangeBasis;
use femto::element::quadrature::rule;
use femto::element::tables::DenseTables;
use femto::kernel::dialect::Language;
use femto::kernel::family::Limits;
use femto::kernel::family::Scatter;
use femto::kernel::family::Vectors;
use femto::kernel::family::cell_quadrature::schedule::{
    BlockLocal, CellPerThread, MatrixUnits, PointAtATime, Schedule, Transposition,
};
use femto::kernel::family::cell_quadrature::source::{Interleave, KernelSpec, source};
use femto::kernel::family::cell_quadrature::{FieldKind, Fields, Shape, Storage};
use femto::kernel::form::{Coefficient, Diffusion, trace};
use femto::kernel::scalar::Precision;
use femto::operator::OperatorError;

/// Tetrahedra with as many points as Poisson's equation needs.
fn element(which: Simplices) -> Result<DenseTables, OperatorError> {
    let cell = Cell::Tetrahedron;
    let degree = match which {
        Simplices::Units => 3,
        Simplices::Classes => 5,
        _ => 1,
    };
    Ok(DenseTables::new(
        &LagrangeBasis::new(cell, degree)?,
        &rule(cell, 2 * (degree - 1))?,
    ))
}

/// A schedule, its vectors, the memory layout of cells, and the source of the geometry.
fn schedule(which: Simplices, shape: &Shape) -> (Schedule, Vectors, Interleave) {
    let together = Interleave {
        data: 32,
        vectors: 32,
    };
    let (element, blocks_per_unit) = (Vectors::ELEMENT, 1);
    match which {
        Simplices::Transposition => {
            let transposition = Transposition {
                blocks_per_batch: Transposition::blocks_for(shape, true, 192),
                batches_per_chunk: 8,
                by_component: true,
                padded: true,
                prefetch: true,
                blocks_per_unit,
            };
            let schedule = Schedule::Transposition(transposition);
            (schedule, element, Interleave::NONE)
        }
        Simplices::Cell => {
            let cells = CellPerThread {
                threads: 128,
                staged: false,
                padded: false,
                blocks_per_unit,
            };
            (Schedule::CellPerThread(cells), element, together)
        }
        Simplices::Point => {
            let points = PointAtATime {
                cells_per_block: 32,
                blocks_per_unit,
            };
            (Schedule::PointAtATime(points), element, together)
        }
        Simplices::Blocks => {
            let blocks = BlockLocal {
                threads: 128,
                fans_per_block: 128,
                fan_cells: 6,
                block_nodes: 384,
                blocks_ahead: BlockLocal::AHEAD,
                blocks_per_unit,
            };
            let nodal = Vectors::Nodal {
                interleaved: true,
                scatter: Scatter::Atomic,
            };
            (Schedule::BlockLocal(blocks), nodal, together)
        }
        Simplices::Units => {
            let units = MatrixUnits {
                warps: 2,
                of_classes: false,
                blocks_per_unit: 4,
            };
            (Schedule::MatrixUnits(units), element, Interleave::NONE)
        }
        Simplices::Classes => {
            let units = MatrixUnits::with_classes(4);
            (Schedule::MatrixUnits(units), element, Interleave::NONE)
        }
    }
}

/// The text of a kernel for a device with these limits.
///
/// # Errors
/// A schedule that is illegal under these limits.
pub(super) fn text(
    which: Simplices,
    (precision, language): (Precision, Language),
    limits: &Limits,
) -> Result<Text, OperatorError> {
    let element = element(which)?;
    let form = trace::<_, 3, 1>(&Diffusion {
        kappa: Coefficient::Auxiliary(0),
    });
    let storage = match which {
        Simplices::Blocks => Storage::Vertices,
        _ => Storage::Affine,
    };
    let fields = Fields::new(&[FieldKind::Cell]);
    let shape = Shape::new(&element, &form.inspect(), fields, storage);
    let (schedule, vectors, interleave) = schedule(which, &shape);
    schedule.validate(&shape, (vectors, interleave), precision, limits)?;
    let point_form = form.point_function(precision, language)?;
    let problem = KernelSpec {
        element: &element,
        shape,
        vectors,
        interleave,
        point_form: &point_form,
        precision,
        language,
    };
    let kernel = source(&problem, &schedule);
    Ok(Text::of_kernel(kernel, precision, schedule.to_string()))
}
