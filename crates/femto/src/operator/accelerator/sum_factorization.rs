//! sum_factorization on accelerators: folded factors, or a printed form.

use super::family::Family;
use super::pack::Packer;
use crate::Number;
use crate::operator::tables::{Shape as AnyShape, Tables};
use crate::operator::{Binding, OperatorError};
use femto_element::tables::TensorTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::sum_factorization::kernel::{Knobs, PointStep, Problem, Schedule};
use femto_kernel::family::sum_factorization::work::Shape;
use femto_kernel::family::sum_factorization::{ElementGeometry, Storage};
use femto_kernel::family::{
    FactorPrecision, KernelSource, Limits, Operand, ScheduleError, Vectors,
};
use femto_kernel::form::TracedForm;
use femto_kernel::roofline::Work;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use femto_platform::device::{Buffer, Device, DeviceError};

/// The family for one operator.
#[derive(Debug)]
pub(super) struct SumFactorization<T: Number> {
    basis: TensorTables,
    /// The form, where it is printed; otherwise its coefficients are folded.
    form: Option<TracedForm>,
    factors: FactorPrecision,
    language: Language,
    /// With any only the first schedule is tried, with these knobs.
    knobs: Knobs,
    /// The quadrature rule: points and weights, `[points_1d][2]`.
    rule: AcceleratorBuffer<T>,
}

/// The data of a block.
#[derive(Debug)]
pub(super) struct Data<T: Number> {
    pub(super) shape: Shape,
    geometry: Stored<T>,
}

/// Packed geometry on the device, in single precision where factors are stored so.
#[derive(Debug)]
enum Stored<T: Number> {
    Same(AcceleratorBuffer<T>),
    Single(AcceleratorBuffer<f32>),
}

impl<T: Number> SumFactorization<T> {
    pub(super) fn new(
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        language: Language,
    ) -> Result<Self, OperatorError> {
        let plan = binding.plan;
        let Tables::Hex(basis) = &plan.tables else {
            return Err(OperatorError::NoKernel);
        };
        let rule = basis.points.iter().zip(&basis.weights);
        let rule: Vec<T> = rule.flat_map(|(&x, &w)| [x, w].map(T::from_f64)).collect();
        Ok(Self {
            basis: basis.clone(),
            form: match plan.coefficients {
                Some(_) => None,
                None => Some(plan.form.clone()),
            },
            factors: plan.factors,
            language,
            knobs: binding.params.knobs,
            rule: device.upload(&rule)?,
        })
    }

    pub(super) fn problem(&self, shape: Shape, vectors: Vectors) -> Problem<'_> {
        Problem {
            basis: &self.basis,
            shape,
            step: match &self.form {
                None => PointStep::Factors(self.factors),
                Some(form) => PointStep::Form(form),
            },
            vectors,
            precision: T::PRECISION,
            language: self.language,
        }
    }

    fn geometry<N: Number>(&self, packer: &Packer<'_>, problem: &Problem<'_>) -> Vec<N> {
        let (binding, points) = (packer.binding, &self.basis.points);
        let at_points = match problem.shape.storage {
            Storage::PointFactors | Storage::Jacobians => true,
            Storage::Affine | Storage::Trilinear | Storage::ElementFactors => false,
        };
        packer.geometry(problem.geometry_len(), |cell, at, out| {
            let map;
            let geometry = if at_points {
                binding.geometry.at_points(cell, points, at);
                ElementGeometry::Points {
                    jacobian: &at.jacobian,
                    position: &at.position,
                }
            } else {
                map = binding.geometry.trilinear_coefficients(cell);
                ElementGeometry::Map(&map)
            };
            problem.pack(geometry, binding.coefficients(cell), out);
        })
    }
}

impl<T: Number> Family<T> for SumFactorization<T> {
    const WRITES_INSIDE: bool = true;
    type Schedule = Schedule;
    type Data = Data<T>;

    fn pack(&self, packer: &Packer<'_>) -> Result<Data<T>, OperatorError> {
        let AnyShape::Hex(shape) = packer.shape else {
            return Err(OperatorError::NoKernel);
        };
        let problem = self.problem(shape, Vectors::ELEMENT);
        let upload = || -> Result<Stored<T>, DeviceError> {
            Ok(match problem.has_rounded_factors() {
                true => Stored::Single(packer.device.upload(&self.geometry(packer, &problem))?),
                false => Stored::Same(packer.device.upload(&self.geometry(packer, &problem))?),
            })
        };
        Ok(Data {
            shape,
            geometry: upload()?,
        })
    }

    fn reads_fields(&self) -> bool {
        self.form.is_some()
    }

    fn schedules(&self, data: &Data<T>, vectors: Vectors, limits: &Limits) -> Vec<Schedule> {
        let mut schedules = self.problem(data.shape, vectors).schedules(limits);
        if !self.knobs.is_empty() {
            schedules.truncate(1);
        }
        let turn = |schedule: &mut Schedule| {
            // A schedule without a knob stays as it is; the plan lets knobs through for factors alone.
            *schedule = self.knobs.turn(*schedule).unwrap_or(*schedule);
        };
        schedules.iter_mut().for_each(turn);
        schedules
    }

    fn validate(
        &self,
        data: &Data<T>,
        schedule: &Schedule,
        vectors: Vectors,
        limits: &Limits,
    ) -> Result<(), ScheduleError> {
        schedule.validate(&self.problem(data.shape, vectors), limits)
    }

    fn source(
        &self,
        data: &Data<T>,
        schedule: &Schedule,
        vectors: Vectors,
    ) -> Result<KernelSource, OperatorError> {
        Ok(self.problem(data.shape, vectors).source(schedule)?)
    }

    fn diagonal_source(
        &self,
        data: &Data<T>,
        vectors: Vectors,
    ) -> Result<KernelSource, OperatorError> {
        Ok(self.problem(data.shape, vectors).diagonal_source()?)
    }

    fn argument<'a>(
        &'a self,
        data: &'a Data<T>,
        _: &KernelSource,
        operand: Operand,
    ) -> Option<Argument<'a>> {
        match operand {
            Operand::Geometry => Some(match &data.geometry {
                Stored::Same(numbers) => Argument::input(numbers),
                Stored::Single(numbers) => Argument::input(numbers),
            }),
            Operand::Rule => Some(Argument::input(&self.rule)),
            _ => None,
        }
    }

    fn work(&self, data: &Data<T>, schedule: &Schedule, vectors: Vectors, elements: usize) -> Work {
        let element = self.problem(data.shape, vectors).element_work(schedule);
        let nodes = (elements * self.basis.nodes()) as u64;
        let numbers = nodes * (data.shape.components * T::BYTES) as u64;
        let (bytes_read, bytes_written) = match vectors {
            Vectors::Element { .. } => (numbers, numbers),
            Vectors::Nodal { .. } => (nodes * size_of::<u32>() as u64, 0),
        };
        element * elements as u64
            + Work {
                bytes_read,
                bytes_written,
                ..Work::default()
            }
    }

    fn bytes(&self, data: &Data<T>) -> usize {
        match &data.geometry {
            Stored::Same(numbers) => numbers.len() * T::BYTES,
            Stored::Single(numbers) => numbers.len() * size_of::<f32>(),
        }
    }

    fn shared_bytes(&self) -> (usize, usize) {
        (self.rule.len() * T::BYTES, 0)
    }
}
