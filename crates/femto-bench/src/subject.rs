//! Subjects of measurements: an operator on its vectors, or conjugate gradients with it.

use crate::compare::finite;
use crate::meshed_space::MeshedSpace;
use crate::timing::{random, since, time};
use crate::{BenchError, Benchmark, Params, Timing, VectorKind};
use femto::operator::{Backend, OperatorError};
use femto::problem::Constrained;
use femto::solve::cg::{CgWorkspace, solve};
use femto::solve::{Iteration, Jacobi, Preconditioning, StopCriteria, StopReason, System};
use femto::vector::{Projector, VectorOps};
use femto::{Number, Operator, OperatorParams};
use femto_element::Degree;
use femto_kernel::roofline::Work;
use femto_kernel::vector::{DOT, SET_ENTRIES, UPDATE_DIRECTION_SCALED, UPDATE_RESIDUAL_SCALED};
use femto_platform::device::{Buffer, DeviceKind};
use std::ops::ControlFlow;
use std::time::Instant;

/// Iterations of conjugate gradients in a sample.
const ITERATIONS: usize = 10;
/// Untimed iterations before those, in which an accelerator captures a step.
const FIRST_ITERATIONS: usize = 2;

/// A benchmark's operator on a space.
pub(crate) struct Subject<T: Number, D: Backend> {
    pub(crate) operator: Operator<T, D>,
    /// The projection to vectors that are zero at constrained entries.
    projector: Projector<T, D>,
    /// Number of constrained entries.
    constrained: usize,
    benchmark: Benchmark,
    degree: Degree,
    elements: usize,
}

/// Two numbers of an operator that do not depend on the numbering, for comparison with other codes.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    /// uᵀAu for the interpolant u of sin(x + c) + y z, c the component.
    pub(crate) energy: f64,
    /// ‖Au‖
    pub(crate) norm: f64,
}

impl<T: Number, D: Backend + VectorOps<T>> Subject<T, D> {
    pub(crate) fn new(
        device: &D,
        params: &Params,
        problem: &MeshedSpace,
    ) -> Result<Self, OperatorError> {
        let benchmark = params.benchmark;
        let form = benchmark.form()?;
        let operator_params = OperatorParams {
            quadrature: benchmark.quadrature(),
            data_level: params.data_level,
            factors: params.factors,
            knobs: params.knobs,
            fold_coefficients: params.fold_coefficients,
            scatter: params.scatter,
            ..OperatorParams::default()
        };
        let (space, geometry) = (&problem.space, &problem.geometry);
        let operator = Operator::of_form(device, space, geometry, form.form(), operator_params)?;
        Ok(Self {
            operator,
            projector: Projector::new(device, &problem.constraints)?,
            constrained: problem.constraints.len(),
            benchmark,
            degree: params.degree,
            elements: problem.space.elements(),
        })
    }

    /// Length of the benchmark's vectors.
    pub(crate) fn len(&self) -> usize {
        match self.benchmark.vector() {
            VectorKind::L => self.operator.dofs(),
            VectorKind::E => self.operator.element_dofs(),
        }
    }

    /// The entries of the benchmark's vectors that are not constrained.
    pub(crate) fn unknowns(&self) -> usize {
        self.len() - self.constrained
    }

    /// Counts the wavefronts of one application, where the device can.
    pub(crate) fn count_wavefronts(&self) -> Result<(), OperatorError> {
        match self.benchmark.vector() {
            VectorKind::E => self.operator.count_element_wavefronts(),
            VectorKind::L => self.operator.count_wavefronts(),
        }
    }

    /// Work of one application.
    pub(crate) fn work(&self) -> Work {
        match self.benchmark.vector() {
            VectorKind::E => self.operator.element_work(),
            VectorKind::L => self.operator.work(),
        }
    }

    /// Work of one iteration: one application, and the rest of [`solve`].
    pub(crate) fn iteration_work(&self) -> Work {
        let len = self.operator.dofs();
        let around = [UPDATE_DIRECTION_SCALED, DOT, UPDATE_RESIDUAL_SCALED];
        let vectors: Work = around.iter().map(|cost| cost.work::<T>(len)).sum();
        let constrained = SET_ENTRIES.listed_work::<T>(self.constrained);
        self.operator.work() + constrained + vectors
    }

    /// Applies the operator to vectors of the benchmark's kind.
    pub(crate) fn apply(
        &self,
        u: &D::Buffer<T>,
        v: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError> {
        match self.benchmark.vector() {
            VectorKind::E => self.operator.apply_elements(u, v),
            VectorKind::L => self.operator.apply(u, v),
        }
    }

    /// The output of one application to `u`, checked to be fully written.
    pub(crate) fn output(&self, u: &[T]) -> Result<Vec<T>, BenchError> {
        let device = self.operator.device();
        let u = device.upload(u)?;
        let mut v = device.upload(&vec![T::from_f64(f64::NAN); u.len()])?;
        self.apply(&u, &mut v)?;
        self.finite(&v)
    }

    /// One application to a known input; `None` on E-vectors.
    pub(crate) fn probe(&self, problem: &MeshedSpace) -> Result<Option<Probe>, BenchError> {
        if self.benchmark.vector() == VectorKind::E {
            return Ok(None);
        }
        let space = &problem.space;
        let mut u = vec![T::default(); self.len()];
        for (node, [x, y, z]) in space
            .node_positions(&problem.geometry)
            .into_iter()
            .enumerate()
        {
            for component in 0..space.components() {
                let value = (x + component as f64).sin() + y * z;
                u[space.entry(node, component)] = T::from_f64(value);
            }
        }
        let v = self.output(&u)?;
        let sum = |u: &[T]| -> f64 { u.iter().zip(&v).map(|(u, v)| u.to_f64() * v.to_f64()).sum() };
        Ok(Some(Probe {
            energy: sum(&u),
            norm: sum(&v).sqrt(),
        }))
    }

    /// Seconds of one application to random input; the output, initially NaN, must be finite.
    pub(crate) fn time_apply(&self, params: &Params) -> Result<Timing, BenchError> {
        let device = self.operator.device();
        let len = self.len();
        let u = device.upload(&random::<T>(len))?;
        let mut v = device.upload(&vec![T::from_f64(f64::NAN); len])?;
        let timing = time(device, &params.sampling, || self.apply(&u, &mut v))?;
        self.finite(&v)?;
        Ok(timing)
    }

    /// The values of an output.
    fn finite(&self, v: &D::Buffer<T>) -> Result<Vec<T>, BenchError> {
        let mut values = vec![T::default(); v.len()];
        self.operator.device().read(v, &mut values)?;
        finite(self.benchmark, &values)?;
        Ok(values)
    }
}

impl<T: Number, D: Backend + VectorOps<T>> Subject<T, D> {
    /// Seconds of one iteration with the Jacobi preconditioner, on a random right-hand side.
    pub(crate) fn time_iteration(&self, params: &Params) -> Result<Timing, BenchError> {
        let device = self.operator.device();
        let size = self.operator.dofs();
        let operator = Constrained::new(&self.operator, &self.projector);
        let mut diagonal = device.zeros(size)?;
        operator.diagonal(&mut diagonal)?;
        let jacobi = Jacobi::new(device, &diagonal)?;
        let mut system = System {
            device,
            operator: &operator,
            preconditioning: Preconditioning::Jacobi(&jacobi),
        };
        let mut b = device.upload(&random::<T>(size))?;
        self.projector.project(device, &mut b)?;
        let mut x = device.zeros(size)?;
        let mut workspace = CgWorkspace::new(device, size)?;
        let mut sample = || -> Result<f64, BenchError> {
            device.fill(0.0, &mut x)?;
            let per_iteration = seconds_per_iteration(&mut system, &b, &mut x, &mut workspace)?;
            self.finite(&x)?;
            per_iteration.ok_or(BenchError::NothingToSolve {
                benchmark: self.benchmark,
                degree: self.degree,
                elements: self.elements,
            })
        };
        sample()?;
        let samples = (0..params.sampling.samples.max(1)).map(|_| sample());
        let samples = samples.collect::<Result<_, _>>()?;
        Ok(Timing::of(samples, ITERATIONS))
    }
}

/// Runs a fixed number of iterations; `None` if there is nothing to iterate on.
///
/// The clock runs from one residual to the last, so that only iterations are timed, not the set-up of the
/// loop.
fn seconds_per_iteration<T: Number, D: VectorOps<T>>(
    system: &mut System<'_, T, D>,
    b: &D::Buffer<T>,
    x: &mut D::Buffer<T>,
    workspace: &mut CgWorkspace<T, D>,
) -> Result<Option<f64>, BenchError> {
    let first = match system.device.info().kind {
        DeviceKind::Host => 0,
        _ => FIRST_ITERATIONS,
    };
    let stop = StopCriteria {
        relative_tolerance: 0.0,
        absolute_tolerance: 0.0,
        max_iterations: first + ITERATIONS,
        ..StopCriteria::default()
    };
    let mut clock: Option<(Instant, f64, usize)> = None;
    let mut monitor = |iteration: Iteration| {
        match &mut clock {
            None if iteration.number == first => clock = Some((Instant::now(), 0.0, 0)),
            None => (),
            Some((start, seconds, count)) => {
                (*seconds, *count) = (since(*start), iteration.number - first);
            }
        }
        ControlFlow::Continue(())
    };
    match solve(system, b, x, workspace, &stop, &mut monitor) {
        Ok(_) => (),
        // No residual is small enough for a tolerance of zero.
        Err(error)
            if matches!(
                error.reason,
                StopReason::NotConverged { .. } | StopReason::Stagnated { .. }
            ) => {}
        Err(error) => return Err(Box::new(error).into()),
    }
    Ok(clock
        .filter(|&(_, _, iterations)| iterations > 0)
        .map(|(_, seconds, iterations)| seconds / iterations as f64))
}
