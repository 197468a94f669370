//! Matrices, factors and vectors of one degree and size, and measuring a kernel on them.

use super::Variant;
use crate::element_vectors::{ElementVectors, Subject};
use crate::memory::fits;
use crate::{BenchError, Record, Sampling};
use femto::Number;
use femto::accelerator::{language, limits};
use femto::operator::OperatorError;
use femto::vector::RandomVectors;
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::affine_simplex::schedule::Schedule;
use femto_kernel::family::affine_simplex::source::{KernelSpec, tables};
use femto_kernel::family::affine_simplex::{Matrices, fragments};
use femto_kernel::family::{KernelSource, Operand, Vectors};
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use serde_json::json;

/// Factors of an element: six of the stiffness, one of the mass.
pub(super) const FACTORS: usize = 7;
/// Seed of the factors; the input's is another.
const GEOMETRY: u32 = 1;

/// The matrices of a degree, with mass and stiffness.
pub(super) fn matrices(degree: usize) -> Result<Matrices, BenchError> {
    let cell = Cell::Tetrahedron;
    let basis = LagrangeBasis::new(cell, degree).map_err(OperatorError::from)?;
    let rule = rule(cell, 2 * degree).map_err(OperatorError::from)?;
    let tables = DenseTables::in_space(&basis, &rule, cell.dim());
    Ok(Matrices::with(&tables, true, true))
}

/// The kernel's source, on E-vectors.
pub(super) fn source(
    (matrices, precision): (&Matrices, Precision),
    variant: &Variant,
    language: Language,
) -> KernelSource {
    let problem = KernelSpec {
        matrices,
        components: 1,
        vectors: Vectors::Element {
            listed: variant.step.is_some_and(|step| step.listed),
        },
        precision,
        language,
    };
    problem.source(&variant.schedule)
}

/// Random factors and vectors of one degree and size on a device.
#[derive(Debug)]
pub struct TetrahedraData<'a, T: Number> {
    device: &'a Accelerator,
    degree: usize,
    matrices: Matrices,
    vectors: ElementVectors<'a, T>,
    /// With S_ab and S_ba apart, and added up.
    tables: [AcceleratorBuffer<T>; 2],
    fragments: AcceleratorBuffer<T>,
    geometry: AcceleratorBuffer<T>,
    list: AcceleratorBuffer<u32>,
}

impl<'a, T: Number> TetrahedraData<'a, T> {
    /// Generates them, `[element][factor]` and `[element][node]`.
    ///
    /// # Errors
    /// A degree out of range, or not enough memory.
    pub fn new(
        device: &'a Accelerator,
        degree: usize,
        elements: usize,
    ) -> Result<Self, BenchError> {
        let matrices = matrices(degree)?;
        let nodes = matrices.nodes;
        let bytes = elements as f64 * ((2 * nodes + FACTORS) * T::BYTES + 4) as f64;
        let what = format!("tetrahedra of degree {degree} at this size");
        fits(&what, &device.info(), bytes)?;
        let mut vectors = ElementVectors::<T>::new(device, elements, nodes)?;
        let all = matrices.all(true);
        vectors.expect(|element, u| {
            let factor = |m| RandomVectors::<T>::entry(GEOMETRY, element * FACTORS + m);
            let factors: Vec<f64> = (0..FACTORS).map(factor).collect();
            let row = |n: usize| -> f64 {
                let terms = factors.iter().zip(&all).map(|(factor, matrix)| {
                    let row = matrix[n * nodes..][..nodes].iter();
                    factor * row.zip(u).map(|(a, u)| a * u).sum::<f64>()
                });
                terms.sum()
            };
            (0..nodes).map(row).collect()
        });
        let upload = |values: Vec<f64>| {
            device.upload(&values.into_iter().map(T::from_f64).collect::<Vec<T>>())
        };
        let list: Vec<u32> = (0..elements as u32).collect();
        Ok(Self {
            device,
            degree,
            tables: [
                upload(tables(&matrices, false))?,
                upload(tables(&matrices, true))?,
            ],
            fragments: upload(fragments(&matrices, T::PRECISION))?,
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
    pub fn measure(
        &mut self,
        variant: &Variant,
        sampling: &Sampling,
        ceilings: &Ceilings,
    ) -> Result<Record, BenchError> {
        let (features, schedule) = (self.device.features(), &variant.schedule);
        let language = language(features);
        let problem = KernelSpec {
            matrices: &self.matrices,
            components: 1,
            vectors: Vectors::ELEMENT,
            precision: T::PRECISION,
            language,
        };
        schedule.validate(problem.sizes(), T::PRECISION, &limits(features))?;
        let subject = Subject {
            name: "tetrahedra",
            schedule: schedule.to_string(),
            source: source((&self.matrices, T::PRECISION), variant, language),
            work: problem.work(schedule, self.vectors.elements),
            sampling,
            ceilings,
        };
        let [apart, symmetric] = &self.tables;
        let tables = match schedule {
            Schedule::Rows(rows) if !rows.symmetric => apart,
            _ => symmetric,
        };
        let mut record = self.vectors.measure(subject, |operand| match operand {
            Operand::Geometry => Some(Argument::input(&self.geometry)),
            Operand::Tables => Some(Argument::input(tables)),
            Operand::Fragments => Some(Argument::input(&self.fragments)),
            Operand::Elements => Some(Argument::input(&self.list)),
            _ => None,
        })?;
        let rows = schedule.rows();
        record.setting = vec![
            ("step", json!(variant.step.map(|step| step.number))),
            ("change", json!(variant.step.map(|step| step.change))),
            ("degree", json!(self.degree)),
            ("elements", json!(self.vectors.elements)),
            ("nodes", json!(self.vectors.elements * self.matrices.nodes)),
            ("per_thread", json!(rows.map(|it| it.elements_per_thread))),
            ("aside", json!(rows.map(|it| it.elements_aside))),
            ("unroll", json!(rows.map(|it| it.unroll))),
        ];
        Ok(record)
    }
}
