//! The published ladder of affine simplices, and matrix units.

use anyhow::{Context, Result};
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::affine_simplex::Matrices;
use femto_kernel::family::affine_simplex::choice::{blocks_of_rows, defaults};
use femto_kernel::family::affine_simplex::ladder;
use femto_kernel::family::affine_simplex::schedule::Schedule;
use femto_kernel::family::affine_simplex::source::{KernelSpec, tables};
use femto_kernel::family::{KernelSource, Limits, MatrixLayout, MatrixStorage, Operand, Vectors};
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};
use std::sync::Arc;

use super::elements::Random;
use super::runner::{close, element_product};
use super::{Case, Number, Selection, check_in};

/// Elements of a check: several blocks, the last one not full.
const ELEMENTS: usize = 23;

/// Elements of a thread, and side by side, of tuned steps.
const TUNED: (u32, u32) = (3, 2);

/// Elements whose matrices are interleaved.
const GROUP: usize = 3;

/// Bounded: each step on a triangle or tetrahedron of low degree, what each degree of tetrahedra runs on matrix units, and
/// element matrices at degrees 3 and 4. All: on both cells, at every degree.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let mut cases = Vec::new();
    for step in ladder::steps() {
        for (index, cell) in [Cell::Triangle, Cell::Tetrahedron].into_iter().enumerate() {
            let degrees = match selection {
                Selection::All => 1..=8,
                Selection::Bounded => 1 + (step.number + index) % 3..=1 + (step.number + index) % 3,
            };
            for degree in degrees {
                let precision = match (step.number + degree) % 2 {
                    0 => Precision::Fp64,
                    _ => Precision::Fp32,
                };
                let blocks = blocks_of_rows(cell.lattice(degree).len(), precision);
                let of = (
                    step.number.to_string(),
                    step.with(TUNED.0, TUNED.1, blocks),
                    step.listed(),
                );
                cases.extend(case(of, precision, (cell, degree), (language, limits)));
            }
        }
    }
    let cells = match selection {
        Selection::All => &[Cell::Tetrahedron, Cell::Triangle][..],
        Selection::Bounded => &[Cell::Tetrahedron],
    };
    for (&cell, degree) in cells
        .iter()
        .flat_map(|cell| (1..=8).map(move |degree| (cell, degree)))
    {
        for precision in [Precision::Fp64, Precision::Fp32] {
            for schedule in defaults(cell.lattice(degree).len(), precision) {
                if schedule.rows().is_none() {
                    let of = ("matrix units".to_owned(), schedule, false);
                    cases.extend(case(of, precision, (cell, degree), (language, limits)));
                }
            }
            if selection == Selection::All || [3, 4].contains(&degree) {
                let made = |triangle| stored(precision, (cell, degree), (triangle, language));
                cases.extend([false, true].map(made).into_iter().flatten());
            }
        }
    }
    cases
}

/// The case of a schedule with its name and whether elements are listed, if it is legal.
fn case(
    (name, schedule, listed): (String, Schedule, bool),
    precision: Precision,
    (cell, degree): (Cell, usize),
    (language, limits): (Language, &Limits),
) -> Option<Case> {
    let matrices = reference_matrices(precision, (cell, degree))?;
    let spec = KernelSpec {
        matrices: &matrices,
        components: 2,
        vectors: Vectors::Element { listed },
        precision,
        language,
    };
    schedule.validate(spec.sizes(), precision, limits).ok()?;
    let source = spec.source(&schedule);
    let text = source.text.clone();
    let made_of = (source, matrices, schedule);
    Some(Case {
        name: format!(
            "affine_simplex/{name} {} N={degree} {precision}",
            cell.name()
        ),
        text,
        check: check_in(precision, [check::<f64>, check::<f32>], made_of),
    })
}

/// The matrices of mass and stiffness.
fn reference_matrices(
    precision: Precision,
    (cell, degree): (Cell, usize),
) -> Option<Arc<Matrices>> {
    let rule = rule(cell, 2 * degree).ok()?;
    let basis = LagrangeBasis::new(cell, degree).ok()?;
    let element = DenseTables::in_space(&basis, &rule, cell.dim());
    Some(Matrices::on_devices(&element, (true, true)).for_kernels(precision))
}

/// The case of the kernel that stores the matrices of elements, in full or as triangles.
fn stored(
    precision: Precision,
    (cell, degree): (Cell, usize),
    (triangle, language): (bool, Language),
) -> Option<Case> {
    let matrices = reference_matrices(precision, (cell, degree))?;
    let storage = MatrixStorage {
        unknowns: matrices.nodes,
        triangle,
    };
    let layout = MatrixLayout {
        storage,
        group: GROUP,
    };
    let spec = KernelSpec {
        matrices: &matrices,
        components: 1,
        vectors: Vectors::ELEMENT,
        precision,
        language,
    };
    let source = spec.matrices_source(layout);
    let text = source.text.clone();
    let stored = if triangle { "triangles" } else { "full" };
    Some(Case {
        name: format!(
            "affine_simplex/matrices {stored} {} N={degree} {precision}",
            cell.name()
        ),
        text,
        check: check_in(
            precision,
            [check_stored::<f64>, check_stored::<f32>],
            (source, matrices, layout),
        ),
    })
}

/// Runs the kernel on random factors and compares all entries with plain sums.
fn check_stored<T: Number>(
    device: &Accelerator,
    module: &Module,
    (source, matrices, layout): &(KernelSource, Arc<Matrices>, MatrixLayout),
) -> Result<()> {
    let mut random = Random::new();
    let (nodes, factors) = (matrices.nodes, matrices.factors());
    let packed = random.vector(ELEMENTS * factors, 0.0, 1.0);
    let geometry = T::upload(device, &packed)?;
    let tables = T::upload(device, &tables(matrices, true))?;
    let on = (device, module, source);
    let stored = vec![0.0; layout.len(ELEMENTS)];
    let stored = element_product::<T>(on, (ELEMENTS, &stored), |operand| match operand {
        Operand::Geometry => Some(Argument::input(&geometry)),
        Operand::Tables => Some(Argument::input(&tables)),
        _ => None,
    })?;
    let all = matrices.all(true);
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for (element, own) in packed.chunks_exact(factors).enumerate() {
        for n in 0..nodes * nodes {
            let terms = own.iter().zip(&all);
            expected.push(terms.map(|(factor, matrix)| factor * matrix[n]).sum());
            found.push(stored[layout.index(element, n / nodes, n % nodes)]);
        }
    }
    close(&found, &expected, T::tolerance(1e-13, 1e-5))
        .with_context(|| format!("seed {}", random.seed))
}

/// Runs a kernel on random factors and vectors, elements in random order if they are listed, and compares the
/// result with plain sums.
fn check<T: Number>(
    device: &Accelerator,
    module: &Module,
    (source, matrices, schedule): &(KernelSource, Arc<Matrices>, Schedule),
) -> Result<()> {
    let mut random = Random::new();
    let (nodes, factors) = (matrices.nodes, matrices.factors());
    let geometry = random.vector(ELEMENTS * factors, 0.0, 1.0);
    let u = random.vector(ELEMENTS * 2 * nodes, 0.0, 1.0);
    let listed = source.operands.contains(&Operand::Elements);
    // A permutation, as 5 and the number of elements have no common factor.
    let place = |element: usize| {
        if listed {
            element * 5 % ELEMENTS
        } else {
            element
        }
    };
    let mut expected = vec![0.0; u.len()];
    for element in 0..ELEMENTS {
        for component in 0..2 {
            let first = (place(element) * 2 + component) * nodes;
            for (m, matrix) in matrices.all(true).iter().enumerate() {
                let factor = geometry[element * factors + m];
                for (row, entries) in matrix.chunks_exact(nodes).enumerate() {
                    let terms = entries.iter().zip(&u[first..]);
                    expected[first + row] += factor * terms.map(|(a, u)| a * u).sum::<f64>();
                }
            }
        }
    }
    let geometry = T::upload(device, &geometry)?;
    let symmetric = schedule.rows().is_none_or(|it| it.symmetric);
    let tables = T::upload(device, &tables(matrices, symmetric))?;
    let list: Vec<u32> = (0..ELEMENTS).map(|element| place(element) as u32).collect();
    let list = device.upload(&list)?;
    let on = (device, module, source);
    let found = element_product::<T>(on, (ELEMENTS, &u), |operand| match operand {
        Operand::Geometry => Some(Argument::input(&geometry)),
        Operand::Tables => Some(Argument::input(&tables)),
        Operand::Elements => Some(Argument::input(&list)),
        _ => None,
    })?;
    close(&found, &expected, T::tolerance(1e-13, 1e-5))
        .with_context(|| format!("seed {}", random.seed))
}
