//! Products from few factors of each element and the matrices of the reference cell: screened Poisson's equation.

use super::{Found, Kernel, Problem, Sweep, nodes, or};
use crate::element_vectors::{ElementVectors, Subject};
use crate::memory::fits;
use crate::{BenchError, Sampling};
use femto::Number;
use femto::accelerator::{language, limits};
use femto::operator::OperatorError;
use femto::vector::RandomVectors;
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::affine_simplex::choice::{blocks_of_rows, defaults};
use femto_kernel::family::affine_simplex::ladder::{published, steps};
use femto_kernel::family::affine_simplex::schedule::{MatrixUnits, Rows, Schedule};
use femto_kernel::family::affine_simplex::source::{KernelSpec, tables};
use femto_kernel::family::affine_simplex::{Matrices, fragments, orbits};
use femto_kernel::family::{Operand, Vectors};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use std::sync::Arc;

/// Factors of an element: six of the stiffness, one of the mass.
const FACTORS: usize = 7;
/// Most nodes of an element whose sums the registers of a warp hold: those of degree 6.
const MOST_NODES_OF_A_WARP: usize = 84;
/// Seed of the factors; the input's is another.
const GEOMETRY: u32 = 1;

/// Adds the kernels of a problem.
pub(super) fn variants(
    sweep: &Sweep,
    (degree, precision, sides): Problem,
    add: &mut impl FnMut(Option<(usize, &'static str)>, Kernel),
) {
    let tuning = &sweep.tuning;
    let nodes = nodes(degree);
    let (per_thread, aside) = published(nodes, precision);
    let mut tuned = Vec::new();
    for per_thread in or(&tuning.per_thread, per_thread) {
        let aside = or(&tuning.aside, aside).into_iter();
        for aside in aside {
            let registers =
                or(&tuning.blocks_per_unit, blocks_of_rows(nodes, precision)).into_iter();
            tuned.extend(registers.map(|blocks| (per_thread, aside, blocks)));
        }
    }
    if sides == 1 {
        let steps = steps().into_iter();
        for step in steps.filter(|step| sweep.steps.contains(&step.number)) {
            for &(per_thread, aside, blocks_per_unit) in &tuned {
                let kernel = Kernel::Factors {
                    schedule: step.with(per_thread, aside, blocks_per_unit),
                    listed: step.listed(),
                };
                add(Some((step.number, step.change)), kernel);
            }
        }
    }
    let mut own = |schedule| {
        let listed = false;
        add(None, Kernel::Factors { schedule, listed });
    };
    if tuning.unroll.is_empty() && tuning.warps.is_empty() {
        defaults(nodes, precision).into_iter().for_each(&mut own);
    }
    for &unroll in &tuning.unroll {
        for &(elements_per_thread, elements_aside, blocks_per_unit) in &tuned {
            own(Schedule::Rows(Rows {
                unroll,
                elements_per_thread,
                elements_aside,
                blocks_per_unit,
                ..Rows::PLAIN
            }));
        }
    }
    for &warps in &tuning.warps {
        // Registers for twelve warps, or as many as a thread wants.
        for blocks_per_unit in [1, (12 / warps).max(1)] {
            let units = |element_tiles, input_shared, lockstep, together| {
                Schedule::MatrixUnits(MatrixUnits {
                    warps,
                    element_tiles,
                    input_shared,
                    lockstep,
                    together,
                    blocks_per_unit,
                })
            };
            // Above, warps with elements of their own spill, and take long to compile.
            if nodes <= MOST_NODES_OF_A_WARP {
                own(units(1, false, false, false));
                own(units(1, true, false, false));
                own(units(1, true, true, false));
            }
            own(units(1, true, false, true));
            own(units(2, true, false, true));
        }
    }
}

/// The matrices that kernels of a degree and precision read, with mass and stiffness.
pub(super) fn matrices(degree: usize, precision: Precision) -> Result<Arc<Matrices>, BenchError> {
    let cell = Cell::Tetrahedron;
    let basis = LagrangeBasis::new(cell, degree).map_err(OperatorError::from)?;
    let rule = rule(cell, 2 * degree).map_err(OperatorError::from)?;
    let tables = DenseTables::in_space(&basis, &rule, cell.dim());
    Ok(Matrices::on_devices(&tables, (true, true)).for_kernels(precision))
}

/// The problem, on E-vectors.
pub(super) fn spec(
    (matrices, sides): (&Matrices, usize),
    listed: bool,
    precision: Precision,
    language: Language,
) -> KernelSpec<'_> {
    KernelSpec {
        matrices,
        components: sides,
        vectors: Vectors::Element { listed },
        precision,
        language,
    }
}

/// Random factors and vectors of one degree and size on a device.
#[derive(Debug)]
pub(super) struct Factors<'a, T: Number> {
    device: &'a Accelerator,
    matrices: Arc<Matrices>,
    sides: usize,
    vectors: ElementVectors<'a, T>,
    /// With S_ab and S_ba apart, and added up.
    tables: [AcceleratorBuffer<T>; 2],
    fragments: AcceleratorBuffer<T>,
    orbits: AcceleratorBuffer<u16>,
    geometry: AcceleratorBuffer<T>,
    list: AcceleratorBuffer<u32>,
}

impl<'a, T: Number> Factors<'a, T> {
    /// Generates them, `[element][factor]` and `[element][right-hand side][node]`.
    ///
    /// # Errors
    /// A degree out of range, or not enough memory.
    pub(super) fn new(
        device: &'a Accelerator,
        (degree, sides): (usize, usize),
        elements: usize,
    ) -> Result<Self, BenchError> {
        let matrices = matrices(degree, T::PRECISION)?;
        let nodes = matrices.nodes;
        let bytes = elements as f64 * ((2 * nodes * sides + FACTORS) * T::BYTES + 4) as f64;
        let what = format!("tetrahedra of degree {degree} at this size");
        fits(&what, &device.info(), bytes)?;
        let mut vectors = ElementVectors::<T>::new(device, elements, nodes * sides)?;
        let all = matrices.all(true);
        vectors.expect(|element, u| {
            let factor = |m| RandomVectors::<T>::entry(GEOMETRY, element * FACTORS + m);
            let factors: Vec<f64> = (0..FACTORS).map(factor).collect();
            let row = |u: &[f64], n: usize| -> f64 {
                let terms = factors.iter().zip(&all).map(|(factor, matrix)| {
                    let row = matrix[n * nodes..][..nodes].iter();
                    factor * row.zip(u).map(|(a, u)| a * u).sum::<f64>()
                });
                terms.sum()
            };
            let of_side = |u| (0..nodes).map(move |n| (u, n));
            let rows = u.chunks_exact(nodes).flat_map(of_side);
            rows.map(|(u, n)| row(u, n)).collect()
        });
        let upload = |values: Vec<f64>| {
            device.upload(&values.into_iter().map(T::from_f64).collect::<Vec<T>>())
        };
        let list: Vec<u32> = (0..elements as u32).collect();
        Ok(Self {
            device,
            sides,
            tables: [
                upload(tables(&matrices, false))?,
                upload(tables(&matrices, true))?,
            ],
            fragments: upload(fragments(&matrices, T::PRECISION))?,
            orbits: device.upload(&orbits(&matrices.symmetry))?,
            geometry: vectors.random.make(GEOMETRY, elements * FACTORS)?,
            list: device.upload(&list)?,
            vectors,
            matrices,
        })
    }

    /// Measures a kernel.
    ///
    /// # Errors
    /// [`BenchError::Illegal`] for a schedule that is illegal for the degree or the device; a text that does not
    /// compile, an output that is not finite.
    pub(super) fn measure(
        &mut self,
        schedule: &Schedule,
        listed: bool,
        (sampling, ceilings): (&Sampling, &Ceilings),
    ) -> Result<Found, BenchError> {
        let features = self.device.features();
        let of = (&*self.matrices, self.sides);
        let spec = spec(of, listed, T::PRECISION, language(features));
        schedule.validate(spec.sizes(), T::PRECISION, &limits(features))?;
        let elements = self.vectors.elements;
        let subject = Subject {
            name: "tet",
            schedule: schedule.to_string(),
            work: spec.work(schedule, elements),
            sampling,
            ceilings,
        };
        let [apart, symmetric] = &self.tables;
        let tables = match schedule {
            Schedule::Rows(rows) if !rows.symmetric => apart,
            _ => symmetric,
        };
        let record = self
            .vectors
            .measure_source(subject, &spec.source(schedule), |operand| match operand {
                Operand::Geometry => Some(Argument::input(&self.geometry)),
                Operand::Tables => Some(Argument::input(tables)),
                Operand::Fragments => Some(Argument::input(&self.fragments)),
                Operand::Orbits => Some(Argument::input(&self.orbits)),
                Operand::Elements => Some(Argument::input(&self.list)),
                Operand::ComponentStride => Some(Argument::U32(0)),
                _ => None,
            })?;
        let bytes = elements * FACTORS * T::BYTES;
        Ok(Found { record, bytes })
    }
}
