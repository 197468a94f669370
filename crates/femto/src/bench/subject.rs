//! What is measured: an operator on its vectors, or conjugate gradients with it.

use super::problem::Problem;
use super::timing::{random, since, time};
use super::{BenchError, Benchmark, Params, Physics, Timing, VectorKind};
use crate::operator::OperatorError;
use crate::problem::Free;
use crate::solve::Jacobi;
use crate::solve::cg::{CgFailure, CgParams, CgWorkspace, Iteration, System, solve};
use crate::vector::VectorOps;
use crate::{Host, Number, Operator, OperatorParams};
use femto_kernel::form::{Componentwise, Form, Mass, Poisson, ScreenedPoisson};
use femto_kernel::roofline::Work;
use femto_kernel::vector::{DOT, PRECONDITION_DOT, UPDATE, XPBY};
use femto_platform::device::Device;
use femto_platform::device::host::HostBuffer;
use std::ops::ControlFlow;
use std::time::Instant;

/// Iterations of conjugate gradients in a sample.
const ITERATIONS: usize = 10;

/// A benchmark's operator on a space.
pub(super) struct Subject<T: Number> {
    pub(super) operator: Operator<T, Host>,
    benchmark: Benchmark,
    degree: usize,
    elements: usize,
}

impl<T: Number> Subject<T> {
    pub(super) fn new(
        host: &Host,
        params: &Params,
        problem: &Problem,
    ) -> Result<Self, OperatorError> {
        const LAMBDA: ScreenedPoisson = ScreenedPoisson { lambda: Some(1.0) };
        let benchmark = params.benchmark;
        let operator = match (benchmark.physics(), benchmark.components()) {
            (Physics::Mass, 3) => bind(host, params, problem, &Componentwise::<_, 3>(Mass)),
            (Physics::Mass, _) => bind(host, params, problem, &Mass),
            (Physics::Poisson, 3) => bind(host, params, problem, &Componentwise::<_, 3>(Poisson)),
            (Physics::Poisson, _) => bind(host, params, problem, &Poisson),
            (Physics::ScreenedPoisson, _) => bind(host, params, problem, &LAMBDA),
        }?;
        Ok(Self {
            operator,
            benchmark,
            degree: params.degree,
            elements: problem.space.elements(),
        })
    }

    /// Length of the benchmark's vectors.
    pub(super) fn len(&self, vector: VectorKind) -> usize {
        match vector {
            VectorKind::L => self.operator.dofs(),
            VectorKind::E => self.operator.element_dofs(),
            VectorKind::T => self.operator.free_dofs(),
        }
    }

    /// Work of one application.
    pub(super) fn work(&self) -> Work {
        match self.benchmark.vector() {
            VectorKind::E => self.operator.element_work(),
            VectorKind::L | VectorKind::T => self.operator.work(),
        }
    }

    /// Work of one iteration: one application on T-vectors and what [`solve`] does around it.
    ///
    /// The application is counted as on L-vectors, which are longer by the constrained entries.
    pub(super) fn iteration_work(&self) -> Work {
        let len = self.operator.free_dofs();
        let around = [PRECONDITION_DOT, XPBY, DOT, UPDATE];
        let vectors: Work = around.iter().map(|cost| cost.work::<T>(len)).sum();
        self.operator.work() + vectors
    }

    /// Seconds of one application on random input; the output, full of NaN before, must be finite.
    pub(super) fn time_apply(&self, params: &Params) -> Result<Timing, BenchError> {
        let (host, operator) = (self.operator.device(), &self.operator);
        let vector = self.benchmark.vector();
        let u = host.upload(&random::<T>(self.len(vector)))?;
        let mut v = host.upload(&vec![T::from_f64(f64::NAN); self.len(vector)])?;
        let mut apply = || match vector {
            VectorKind::E => operator.apply_elements(&u, &mut v),
            VectorKind::L | VectorKind::T => operator.apply(&u, &mut v),
        };
        let timing = time(host, &params.sampling, &mut apply)?;
        self.check(&v)?;
        Ok(timing)
    }

    fn check(&self, v: &[T]) -> Result<(), BenchError> {
        let wrong = v.iter().position(|value| !value.to_f64().is_finite());
        match wrong {
            None => Ok(()),
            Some(index) => Err(BenchError::NotFinite {
                benchmark: self.benchmark,
                index,
                length: v.len(),
                value: v[index].to_f64(),
            }),
        }
    }

    /// Seconds of one iteration with the Jacobi preconditioner, on a random right-hand side.
    pub(super) fn time_iteration(&self, params: &Params) -> Result<Timing, BenchError> {
        let host = self.operator.device();
        let size = self.operator.free_dofs();
        let mut diagonal = host.zeros(size)?;
        self.operator.diagonal(&mut diagonal)?;
        let jacobi = Jacobi::new(host, &diagonal)?;
        let system = System {
            device: host,
            operator: &Free(&self.operator),
            preconditioner: &jacobi,
        };
        let b = host.upload(&random::<T>(size))?;
        let mut x = host.zeros(size)?;
        let mut workspace = CgWorkspace::new(host, size)?;
        let mut sample = || -> Result<f64, BenchError> {
            host.fill(0.0, &mut x)?;
            let per_iteration = seconds_per_iteration(&system, &b, &mut x, &mut workspace)?;
            self.check(&x)?;
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

fn bind<T, F, const C: usize>(
    host: &Host,
    params: &Params,
    problem: &Problem,
    form: &F,
) -> Result<Operator<T, Host>, OperatorError>
where
    T: Number,
    F: Form<3, C> + Clone + 'static,
{
    let operator_params = OperatorParams {
        quadrature: params.benchmark.quadrature(),
        data_level: params.data_level,
        ..OperatorParams::default()
    };
    Operator::new(
        host,
        &problem.space,
        &problem.geometry,
        form,
        operator_params,
    )
}

/// Runs a fixed number of iterations; `None` where there is nothing to iterate on.
///
/// The clock runs from the first residual to the last, so that exactly the iterations are counted
/// and not the way into the loop.
fn seconds_per_iteration<T: Number>(
    system: &System<'_, T, Host>,
    b: &HostBuffer<T>,
    x: &mut HostBuffer<T>,
    workspace: &mut CgWorkspace<T, Host>,
) -> Result<Option<f64>, BenchError> {
    let params = CgParams {
        relative_tolerance: 0.0,
        absolute_tolerance: 0.0,
        max_iterations: ITERATIONS,
    };
    let mut clock: Option<(Instant, f64, usize)> = None;
    let mut watch = |iteration: Iteration| {
        match &mut clock {
            None => clock = Some((Instant::now(), 0.0, 0)),
            Some((start, seconds, number)) => {
                (*seconds, *number) = (since(*start), iteration.number);
            }
        }
        ControlFlow::Continue(())
    };
    match solve(system, b, x, workspace, &params, &mut watch) {
        Ok(_) => (),
        // No residual is small enough for a tolerance of zero.
        Err(error)
            if matches!(
                error.failure,
                CgFailure::NotConverged { .. } | CgFailure::Stagnated { .. }
            ) => {}
        Err(error) => return Err(Box::new(error).into()),
    }
    Ok(clock
        .filter(|&(_, _, iterations)| iterations > 0)
        .map(|(_, seconds, iterations)| seconds / iterations as f64))
}
