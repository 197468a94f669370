//! Products with stored matrices of elements.

use super::{Found, Kernel, Problem, Sweep, nodes, or};
use crate::element_vectors::{ElementVectors, Subject};
use crate::memory::fits;
use crate::{BenchError, Sampling};
use femto::Number;
use femto::accelerator::{language, limits};
use femto::vector::RandomVectors;
use femto_kernel::dialect::Language;
use femto_kernel::family::element_matrix::ladder::{published, steps};
use femto_kernel::family::element_matrix::schedule::{Schedule, default};
use femto_kernel::family::element_matrix::source::KernelSpec;
use femto_kernel::family::{Operand, Vectors};
use femto_kernel::roofline::Ceilings;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument};

/// Seed of the matrices; the input's is another.
const MATRICES: u32 = 1;

/// The problem, on E-vectors.
pub(super) fn spec((degree, precision, sides): Problem, language: Language) -> KernelSpec {
    KernelSpec {
        nodes: nodes(degree),
        components: sides,
        coupled: 1,
        vectors: Vectors::ELEMENT,
        precision,
        language,
    }
}

/// Adds the kernels of a problem with full matrices, or with triangles.
pub(super) fn variants(
    sweep: &Sweep,
    problem: Problem,
    (triangle, device): (bool, &Accelerator),
    add: &mut impl FnMut(Option<(usize, &'static str)>, Kernel),
) {
    let (degree, precision, sides) = problem;
    let (tuning, features) = (&sweep.tuning, device.features());
    if sides == 1 && !triangle {
        let steps = steps().into_iter();
        for step in steps.filter(|step| sweep.steps.contains(&step.number)) {
            for aside in or(&tuning.aside, published(degree)) {
                for blocks_per_unit in or(&tuning.blocks_per_unit, step.schedule.blocks_per_unit) {
                    let kernel = Kernel::Matrices(Schedule {
                        blocks_per_unit,
                        ..step.with(aside)
                    });
                    add(Some((step.number, step.change)), kernel);
                }
            }
        }
    }
    let sizes = spec(problem, language(features)).sizes();
    let own = default(sizes, triangle, precision, &limits(features));
    for elements_aside in or(&tuning.aside, own.elements_aside) {
        for unroll in or(&tuning.unroll, own.unroll) {
            for prefetch in or(&tuning.prefetch, own.prefetch) {
                for blocks_per_unit in or(&tuning.blocks_per_unit, own.blocks_per_unit) {
                    let schedule = Schedule {
                        elements_aside,
                        unroll,
                        prefetch,
                        blocks_per_unit,
                        ..own
                    };
                    add(None, Kernel::Matrices(schedule));
                }
            }
        }
    }
}

/// Measures a kernel on random matrices.
///
/// # Errors
/// [`BenchError::Illegal`] for a schedule that the device cannot run; not enough memory; a text that does not compile,
/// an output that is not finite.
pub(super) fn measure<T: Number>(
    device: &Accelerator,
    (problem, elements): (Problem, usize),
    schedule: &Schedule,
    (sampling, ceilings): (&Sampling, &Ceilings),
) -> Result<Found, BenchError> {
    let (degree, _, sides) = problem;
    let spec = spec(problem, language(device.features()));
    schedule.validate(spec.sizes(), T::PRECISION, &limits(device.features()))?;
    let layout = spec.layout(schedule);
    let (unknowns, len) = (spec.nodes, layout.len(elements));
    let numbers = len + 2 * elements * unknowns * sides;
    let what = format!("{elements} matrices of tetrahedra of degree {degree}");
    fits(&what, &device.info(), (numbers * T::BYTES) as f64)?;
    let mut vectors = ElementVectors::<T>::new(device, elements, unknowns * sides)?;
    let matrices = vectors.random.make(MATRICES, len)?;
    vectors.expect(|element, u| {
        let entry = |row, column| {
            let index = layout.index(element, row, column);
            RandomVectors::<T>::entry(MATRICES, index)
        };
        let product = |u: &[f64], row| -> f64 {
            let terms = u.iter().enumerate();
            terms.map(|(column, u)| entry(row, column) * u).sum()
        };
        let of_side = |u| (0..unknowns).map(move |row| product(u, row));
        u.chunks_exact(unknowns).flat_map(of_side).collect()
    });
    let subject = Subject {
        name: "tet",
        schedule: schedule.to_string(),
        work: spec.work(schedule, elements),
        sampling,
        ceilings,
    };
    let record =
        vectors.measure_source(subject, &spec.source(schedule), |operand| match operand {
            Operand::Matrices => Some(Argument::input(&matrices)),
            Operand::ComponentStride => Some(Argument::U32(0)),
            _ => None,
        })?;
    let bytes = len * T::BYTES;
    Ok(Found { record, bytes })
}
