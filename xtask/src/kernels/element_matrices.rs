//! Products with stored matrices of elements: the published ladder, and femto's own schedules.

use anyhow::{Context, Result};
use femto_element::Cell;
use femto_kernel::dialect::Language;
use femto_kernel::family::element_matrix::ladder;
use femto_kernel::family::element_matrix::schedule::{Schedule, default};
use femto_kernel::family::element_matrix::source::KernelSpec;
use femto_kernel::family::{KernelSource, Limits, Operand, Vectors};
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};

use super::elements::Random;
use super::runner::{close, element_product};
use super::{Case, Number, Selection, check_in};

/// Elements of a check: several blocks, the last one not full.
const ELEMENTS: usize = 23;

/// Elements of a block of tuned steps.
const ASIDE: u32 = 3;

/// Bounded: each step and femto's own schedules at low degrees of tetrahedra. All: at every degree.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let degrees = match selection {
        Selection::All => 1..=8,
        Selection::Bounded => 1..=3,
    };
    let mut cases = Vec::new();
    for degree in degrees {
        let nodes = Cell::Tetrahedron.lattice(degree).len();
        for precision in [Precision::Fp64, Precision::Fp32] {
            let spec = |components, coupled| KernelSpec {
                nodes,
                components,
                coupled,
                vectors: Vectors::ELEMENT,
                precision,
                language,
            };
            for step in ladder::steps() {
                let name = format!("{} N={degree} {precision}", step.number);
                cases.extend(case(name, spec(1, 1), step.with(ASIDE), limits));
            }
            for (components, coupled) in [(1, 1), (3, 1), (2, 2), (4, 2)] {
                for triangle in [false, true] {
                    let spec = spec(components, coupled);
                    let schedule = default(spec.sizes(), triangle, precision, limits);
                    let stored = if triangle { "triangle" } else { "full" };
                    let of = format!("{components} of {coupled} coupled");
                    let name = format!("{stored} {of} N={degree} {precision}");
                    cases.extend(case(name, spec, schedule, limits));
                }
            }
        }
    }
    cases
}

/// The case of a schedule, if it is legal.
fn case(name: String, spec: KernelSpec, schedule: Schedule, limits: &Limits) -> Option<Case> {
    let precision = spec.precision;
    schedule.validate(spec.sizes(), precision, limits).ok()?;
    let source = spec.source(&schedule);
    let text = source.text.clone();
    let made_of = (source, spec, schedule);
    Some(Case {
        name: format!("element_matrix/{name}"),
        text,
        check: check_in(precision, [check::<f64>, check::<f32>], made_of),
    })
}

/// Runs a kernel on random matrices and vectors, and compares the result with plain sums.
fn check<T: Number>(
    device: &Accelerator,
    module: &Module,
    (source, spec, schedule): &(KernelSource, KernelSpec, Schedule),
) -> Result<()> {
    let mut random = Random::new();
    let unknowns = spec.sizes().unknowns;
    let layout = spec.layout(schedule);
    let matrices = random.vector(layout.len(ELEMENTS), 0.0, 1.0);
    let u = random.vector(ELEMENTS * spec.nodes * spec.components, 0.0, 1.0);
    let sides = spec.nodes * spec.components / unknowns;
    let mut expected = Vec::new();
    for (side, u) in u.chunks_exact(unknowns).enumerate() {
        for row in 0..unknowns {
            let entry = |column| matrices[layout.index(side / sides, row, column)];
            let terms = u.iter().enumerate();
            expected.push(terms.map(|(column, u)| entry(column) * u).sum::<f64>());
        }
    }
    let matrices = T::upload(device, &matrices)?;
    let on = (device, module, source);
    let found = element_product::<T>(on, (ELEMENTS, &u), |operand| match operand {
        Operand::Matrices => Some(Argument::input(&matrices)),
        _ => None,
    })?;
    close(&found, &expected, T::tolerance(1e-13, 1e-5))
        .with_context(|| format!("seed {}", random.seed))
}
