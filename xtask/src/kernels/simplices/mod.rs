//! The kernels on triangles and tetrahedra.

mod cells;
pub(super) mod forms;

use anyhow::ensure;
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::cell_quadrature::schedule::{
    BlockLocal, CellPerThread, MatrixUnits, PointAtATime, Schedule, Transposition,
};
use femto_kernel::family::cell_quadrature::source::{Interleave, KernelSpec, source};
use femto_kernel::family::cell_quadrature::{FieldKind, Fields, Shape, Storage};
use femto_kernel::family::{Limits, Operand, Scatter, Vectors};
use femto_kernel::form::{Coefficient, Diffusion, Form, Mass, SymmetricGradient, trace};
use femto_kernel::scalar::Precision;

use super::elements::oracle;
use super::runner::{Run, Value, close, nodal};
use super::{Case, Selection};
use cells::{CELLS, Cells, lists};
use forms::{Everything, KINDS};

const ATOMIC: Vectors = nodal(true, Scatter::Atomic);
const DETERMINISTIC: Vectors = nodal(false, Scatter::Deterministic);
const STORAGES: [Storage; 3] = [Storage::Vertices, Storage::Affine, Storage::Jacobians];

/// Bounded: each schedule with each storage, kind of vectors and precision at low degree. All: every
/// degree with all of them.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let all = selection == Selection::All;
    let mut cases = Vec::new();
    let place = (language, limits);
    for number in (0..7).chain([8, 9]) {
        for (s, storage) in STORAGES.into_iter().enumerate() {
            for (v, vectors) in [Vectors::ELEMENT, ATOMIC, DETERMINISTIC]
                .into_iter()
                .enumerate()
            {
                if !all && (number + s + v) % 3 > 0 {
                    continue;
                }
                let precision = match (number + s) % 2 {
                    0 => Precision::Fp64,
                    _ => Precision::Fp32,
                };
                let degrees = match number {
                    _ if all => 1..=3,
                    // Matrix units are used from here.
                    8 => 3..=3,
                    // Classes of different sizes.
                    9 => 4..=4,
                    _ => 1 + (number + v) % 2..=1 + (number + v) % 2,
                };
                for degree in degrees {
                    let kind = Kind {
                        degree,
                        storage,
                        vectors,
                        precision,
                        number,
                        remainder: None,
                    };
                    cases.extend(kind.case::<_, 2, 2>(Everything, &KINDS, place));
                    cases.extend(kind.case::<_, 3, 1>(Everything, &KINDS, place));
                    if number == 9 {
                        // In fp64 classes of everything need more shared memory than every device has.
                        cases.extend(kind.case::<_, 3, 1>(diffusion(), &CELL, place));
                    }
                }
            }
        }
    }
    cases.extend(knepley_cases(selection, place));
    cases
}

/// With a coefficient for each cell.
fn diffusion<const D: usize>() -> Diffusion<D> {
    let kappa = Coefficient::Auxiliary(0);
    Diffusion { kappa }
}

/// The kind of its field.
const CELL: [FieldKind; 1] = [FieldKind::Cell];

/// The benchmark of Knepley, Rupp, Terrel 2016: degree 1, a variable coefficient, elasticity. Bounded: each in one
/// precision.
fn knepley_cases(selection: Selection, place: (Language, &Limits)) -> Vec<Case> {
    let mut cases = Vec::new();
    for precision in [Precision::Fp32, Precision::Fp64] {
        let single = precision == Precision::Fp32;
        let wanted = |usual: bool| usual || selection == Selection::All;
        for (number, storage, vectors) in [
            (0, Storage::Affine, Vectors::ELEMENT),
            (3, Storage::Affine, Vectors::ELEMENT),
            (6, Storage::Vertices, ATOMIC),
            (7, Storage::Vertices, ATOMIC),
        ] {
            let kind = Kind {
                degree: 1,
                storage,
                vectors,
                precision,
                number,
                remainder: None,
            };
            if wanted(single) {
                // Without gradients too.
                cases.extend(kind.case::<_, 3, 1>(Mass, &[], place));
                cases.extend(kind.case::<_, 2, 1>(diffusion(), &CELL, place));
                cases.extend(kind.case::<_, 3, 3>(SymmetricGradient, &[], place));
            }
            if wanted(!single) {
                cases.extend(kind.case::<_, 3, 1>(diffusion(), &CELL, place));
                let kind = Kind {
                    remainder: Some(|cells, first| {
                        cells.by_host::<_, 2, 2>(&SymmetricGradient, first)
                    }),
                    ..kind
                };
                cases.extend(kind.case::<_, 2, 2>(SymmetricGradient, &[], place));
            }
        }
    }
    cases
}

/// A kernel without its form.
#[derive(Clone, Copy)]
struct Kind {
    degree: usize,
    storage: Storage,
    vectors: Vectors,
    precision: Precision,
    /// Number of the schedule, see [`schedule`].
    number: usize,
    /// The host's results for cells that do not fill a block, if they are compared too.
    remainder: Option<Remainder>,
}

/// The host's results for the cells from a first one on, `[cell][component][node]`.
type Remainder = fn(&Cells<'_>, usize) -> Vec<f64>;

/// The same interleaving for all rows of numbers of cells.
const fn interleave(together: usize) -> Interleave {
    Interleave {
        data: together,
        vectors: together,
    }
}

/// One of the schedules, with each knob on and off, and cells interleaved or not.
fn schedule(number: usize, shape: &Shape) -> (Schedule, Interleave) {
    let transposition = |by_component, set| {
        let transposition = Transposition {
            blocks_per_batch: Transposition::blocks_for(shape, by_component, 24),
            batches_per_chunk: 3,
            by_component,
            padded: set,
            prefetch: set,
            blocks_per_unit: 1,
        };
        (Schedule::Transposition(transposition), Interleave::NONE)
    };
    let cell_per_thread = |staged, together| {
        let cells = CellPerThread {
            threads: 32,
            staged,
            padded: true,
            blocks_per_unit: 1,
        };
        (Schedule::CellPerThread(cells), interleave(together))
    };
    let block_local = |fan_cells| {
        let fans_per_block = 64;
        let (lists, _) = lists(shape.nodes, (fans_per_block, fan_cells));
        let most = lists.most_nodes as u32;
        let blocks = BlockLocal {
            threads: 32,
            fans_per_block,
            fan_cells,
            block_nodes: most.next_multiple_of(32),
            blocks_ahead: 1,
            blocks_per_unit: 1,
        };
        (Schedule::BlockLocal(blocks), interleave(32))
    };
    match number {
        0 => transposition(true, true),
        1 => transposition(false, false),
        2 => cell_per_thread(true, 1),
        3 => cell_per_thread(false, 32),
        4 => {
            let points = PointAtATime {
                cells_per_block: 8,
                blocks_per_unit: 1,
            };
            (Schedule::PointAtATime(points), interleave(4))
        }
        // Both precisions, see `cases`.
        5 | 6 => block_local(1),
        7 => block_local(4),
        8 => {
            let units = MatrixUnits {
                warps: 2,
                of_classes: false,
                blocks_per_unit: 1,
            };
            (Schedule::MatrixUnits(units), Interleave::NONE)
        }
        _ => {
            let units = MatrixUnits::with_classes(1);
            (Schedule::MatrixUnits(units), Interleave::NONE)
        }
    }
}

impl Kind {
    fn element(&self, dim: usize) -> DenseTables {
        let cell = [Cell::Triangle, Cell::Tetrahedron][dim - 2];
        let rule = rule(cell, 2 * self.degree - 2).expect("degrees up to 3");
        DenseTables::new(
            &LagrangeBasis::new(cell, self.degree).expect("degrees up to 3"),
            &rule,
        )
    }

    fn case<F, const D: usize, const C: usize>(
        self,
        form: F,
        kinds: &[FieldKind],
        (language, limits): (Language, &Limits),
    ) -> Option<Case>
    where
        F: Form<D, C> + Clone + 'static,
    {
        let element = self.element(D);
        let traced = trace::<F, D, C>(&form);
        let oracle = oracle::<F, D, C>(form, element.clone());
        let inspection = traced.inspect();
        let name = match kinds.len() {
            0 if !inspection.writes_gradients => "mass",
            0 => "elasticity",
            1 => "diffusion",
            _ => "everything",
        };
        let fields = Fields::new(kinds);
        let shape = Shape::new(&element, &inspection, fields, self.storage);
        let (schedule, interleave) = schedule(self.number, &shape);
        let place = (self.vectors, interleave);
        schedule
            .validate(&shape, place, self.precision, limits)
            .ok()?;
        let text = traced
            .point_function(self.precision, language)
            .expect("all constants are finite");
        let problem = KernelSpec {
            element: &element,
            shape,
            vectors: self.vectors,
            interleave,
            point_form: &text,
            precision: self.precision,
            language,
        };
        let kernel = source(&problem, &schedule);
        Some(Case {
            name: self.name(&schedule, name, (D, C)),
            text: kernel.text.clone(),
            check: Box::new(move |device, module| {
                let cells = Cells::new(&element, &shape);
                let (mut arrays, places) = cells.arrays(&schedule, interleave);
                if let Schedule::MatrixUnits(it) = schedule {
                    let (fragments, orbits) = it.tables(&element, self.precision);
                    arrays.push((Operand::Fragments, Value::Reals(fragments)));
                    let orbits = orbits.map(|orbits| (Operand::Orbits, Value::U16(orbits)));
                    arrays.extend(orbits);
                }
                let mut run = Run {
                    elements: &cells.elements,
                    kernel: &kernel,
                    vectors: self.vectors,
                    interleave,
                    precision: self.precision,
                    arrays,
                    written: cells.written(&schedule, self.vectors),
                    places,
                };
                let tolerance = match self.precision {
                    Precision::Fp64 => 1e-13,
                    Precision::Fp32 => 1e-5,
                };
                run.check((device, module), &oracle, tolerance)?;
                let remains = matches!(schedule, Schedule::Transposition(_))
                    && self.vectors == Vectors::ELEMENT
                    && self.precision == Precision::Fp64;
                if remains {
                    // Only full blocks; the host evaluates the rest, if requested.
                    let full = schedule.cells_of_full_blocks(&shape, CELLS);
                    ensure!(0 < full && full < CELLS, "{full} cells are in full blocks");
                    run.places = full;
                    run.check((device, module), &oracle, tolerance)?;
                    if let Some(remainder) = self.remainder {
                        // Relative to the largest value of all cells, here too.
                        let expected = run.expected(&oracle);
                        let found = [expected[..full].concat(), remainder(&cells, full)];
                        close(&found.concat(), &expected.concat(), tolerance)?;
                    }
                }
                Ok(())
            }),
        })
    }

    fn name(&self, schedule: &Schedule, form: &str, (d, c): (usize, usize)) -> String {
        let vectors = match self.vectors {
            Vectors::Element { .. } => "element",
            ATOMIC => "nodal",
            Vectors::Nodal { .. } => "deterministic",
        };
        let (schedule, number) = (schedule.name(), self.number);
        let (degree, storage, precision) = (self.degree, self.storage, self.precision);
        format!(
            "{schedule}/{number} {form} {storage:?} {vectors} D={d} C={c} N={degree} {precision}"
        )
    }
}
