//! The multigrid preconditioner of a problem: its form on spaces of lower degree.

use super::null_space::NullSpace;
use super::{Discretization, MultigridLevel, Problem, ProblemError};
use crate::multigrid::Stopwatch;
use crate::multigrid::{self, Cycle, FormLevel, Hierarchy, Multigrid, MultigridError};
use crate::operator::{
    Application, Auxiliary, Backend, DataLevel, Knobs, OperatorError, Quadrature,
};
use crate::solve::{self, Preconditioner as _, Preconditioning};
use crate::vector::{SlantedNodes, VectorOps};
use crate::{Number, OperatorParams};
use femto_element::Degree;
use femto_fem::geometry::shapes;
use femto_fem::space::{Block, Constraints};
use femto_kernel::expr::Input;
use femto_kernel::scalar::Precision;
use femto_platform::device::DeviceError;

/// A preconditioner in any precision, for a solver of `T`.
pub(super) trait Preconditioner<T: Number, B: Backend>: Send + Sync {
    /// Sets the state of a Jacobian, an L-vector.
    fn set_state(&mut self, state: &B::Buffer<T>) -> Result<(), OperatorError>;

    /// Sets the functions that the operators map to zero.
    fn set_null_space(&mut self, null_space: &NullSpace);

    /// Computes what depends on the operators' values: at first, and after changes.
    fn set_up(&mut self) -> Result<(), MultigridError>;

    /// The preconditioner as it was set up; the identity before that.
    fn preconditioning(&self) -> Result<Preconditioning<'_, T, B>, DeviceError>;

    /// The precision of its cycles.
    fn precision(&self) -> Precision;

    /// The levels, finest first.
    fn levels(&self) -> Vec<MultigridLevel>;

    /// The cycle of the levels from a level on, to be timed; `None` before it is set up.
    fn cycle_from(&self, level: usize) -> Result<Option<Application<'_>>, DeviceError>;

    /// Bytes of device memory, apart from vectors.
    fn bytes(&self) -> usize;

    /// Bytes of the vectors of a cycle.
    fn vector_bytes(&self) -> usize;
}

/// In precision `S`, for a solver of `T`.
struct InPrecision<T: Number, S: Number, B: Backend> {
    device: B,
    /// Projects what cycles return in the solver's precision: it may not differ from free vectors by their rounding.
    slanted: SlantedNodes<T, B>,
    hierarchy: Hierarchy<S, B>,
    degrees: Vec<Degree>,
    cycle: Option<Cycle<S, B>>,
}

impl<T: Number, S: Number, B: Backend> InPrecision<T, S, B> {
    fn multigrid<'c>(&'c self, cycle: &'c Cycle<S, B>) -> Multigrid<'c, S, B> {
        Multigrid {
            hierarchy: &self.hierarchy,
            cycle,
        }
    }
}

impl<T, S, B> Preconditioner<T, B> for InPrecision<T, S, B>
where
    T: Number,
    S: Number,
    B: Backend + VectorOps<T> + VectorOps<S>,
{
    fn set_state(&mut self, state: &B::Buffer<T>) -> Result<(), OperatorError> {
        let mut rounded = self.device.zeros(self.hierarchy.sizes()[0])?;
        VectorOps::<S>::convert(&self.device, state, &mut rounded)?;
        self.hierarchy.set_state(rounded)
    }

    fn set_null_space(&mut self, null_space: &NullSpace) {
        self.hierarchy.set_null_space(null_space.combinations());
    }

    fn set_up(&mut self) -> Result<(), MultigridError> {
        self.cycle = Some(self.hierarchy.set_up()?);
        // Memory may be short for its vectors too.
        Preconditioner::<T, B>::preconditioning(self)?;
        Ok(())
    }

    fn preconditioning(&self) -> Result<Preconditioning<'_, T, B>, DeviceError> {
        match &self.cycle {
            None => Ok(Preconditioning::Identity),
            Some(cycle) => {
                let (device, multigrid) = (&self.device, self.multigrid(cycle));
                let mut workspace = solve::Preconditioner::<T, B>::workspace(&multigrid, device)?;
                Ok(Preconditioning::Any(Box::new(move |r, z| {
                    multigrid.apply(r, z, &mut workspace)?;
                    Ok(VectorOps::<T>::project(device, &self.slanted, z)?)
                })))
            }
        }
    }

    fn precision(&self) -> Precision {
        S::PRECISION
    }

    fn levels(&self) -> Vec<MultigridLevel> {
        let degrees = self.degrees.iter().map(|&degree| Some(degree));
        let forms = degrees.zip(self.hierarchy.sizes());
        let below = self.cycle.iter().flat_map(|cycle| cycle.sizes()).skip(1);
        let all = forms.chain(below.map(|unknowns| (None, unknowns)));
        let methods = self.cycle.as_ref().map_or_else(Vec::new, Cycle::methods);
        let convection = self.cycle.as_ref().and_then(Cycle::convection);
        let [forms, own] = [
            self.hierarchy.level_bytes(),
            self.cycle
                .as_ref()
                .map_or_else(Vec::new, Cycle::level_bytes),
        ];
        let bytes = |i| forms.get(i).unwrap_or(&0) + own.get(i).unwrap_or(&0);
        let level = |(i, (degree, unknowns)): (usize, _)| MultigridLevel {
            degree,
            unknowns,
            method: methods.get(i).copied(),
            precision: S::PRECISION,
            bytes: bytes(i),
            set_up_seconds: self.hierarchy.watch.seconds(i),
            convection: convection.filter(|_| degree.is_some_and(|it| it == 1)),
        };
        all.enumerate().map(level).collect()
    }

    fn cycle_from(&self, level: usize) -> Result<Option<Application<'_>>, DeviceError> {
        let Some(cycle) = &self.cycle else {
            return Ok(None);
        };
        let multigrid = self.multigrid(cycle);
        let mut workspace = multigrid.random_from(level)?;
        Ok(Some(Box::new(move || {
            multigrid.run_from(level, &mut workspace)
        })))
    }

    fn bytes(&self) -> usize {
        self.hierarchy.bytes() + self.cycle.as_ref().map_or(0, Cycle::bytes)
    }

    fn vector_bytes(&self) -> usize {
        let cycle = self.cycle.as_ref();
        cycle.map_or(0, |cycle| self.multigrid(cycle).vector_bytes())
    }
}

/// Makes multigrid, which is then to be set up, in this precision if the problem gives none: for a linear form with its null
/// space, or for a Jacobian.
pub(super) type MakeMultigrid<'a, T, B> = dyn Fn(Option<&NullSpace>, Precision) -> Result<AnyPreconditioner<T, B>, ProblemError>
    + Send
    + Sync
    + 'a;

/// A boxed [`Preconditioner`].
pub(super) type AnyPreconditioner<T, B> = Box<dyn Preconditioner<T, B>>;

impl<'a> Problem<'a> {
    /// The levels of a space with these blocks and constraints, in this precision if the problem gives none; of the Jacobian's
    /// operators if `is_jacobian`.
    fn multigrid<T, B>(
        &self,
        device: &B,
        finest: (&[Block], &Constraints),
        (is_jacobian, default): (bool, Precision),
    ) -> Result<AnyPreconditioner<T, B>, ProblemError>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
    {
        let precision = match T::PRECISION {
            Precision::Fp64 if self.needs_double_positions() => Precision::Fp64,
            _ => self.multigrid.precision.unwrap_or(default),
        };
        Ok(match precision {
            Precision::Fp64 => {
                Box::new(self.multigrid_in::<T, f64, B>(device, finest, is_jacobian)?)
            }
            Precision::Fp32 => {
                Box::new(self.multigrid_in::<T, f32, B>(device, finest, is_jacobian)?)
            }
        })
    }

    /// Whether a form or a Robin term reads positions so far from the origin that fp32 rounds them by a hundredth of a cell or
    /// more.
    pub fn needs_double_positions(&self) -> bool {
        let forms = self.facets.iter().map(|part| part.form.form());
        let mut forms = forms.chain([self.form.form()]);
        let in_forms = forms.any(|form| form.trace().inspect().reads_position);
        let components = self.form.components();
        let alphas = self
            .robin
            .iter()
            .map(|part| part.alpha.of_components(components));
        // Wrong numbers of them are found elsewhere.
        let mut alphas = alphas.flat_map(Result::unwrap_or_default).flatten();
        let is_position = |input: &Input| matches!(input, Input::Position(_));
        let in_alphas = alphas.any(|alpha| {
            let program = alpha.as_program();
            program.is_some_and(|program| program.inputs().iter().any(is_position))
        });
        if !in_forms && !in_alphas {
            return false;
        }
        let shapes = shapes(self.mesh);
        let blocks = shapes.iter().flat_map(|(_, blocks)| blocks);
        let cells: usize = blocks.map(|&block| self.mesh.blocks[block].len()).sum();
        let along = (cells as f64).powf(1.0 / self.form.dim() as f64);
        let nodes = shapes.iter().flat_map(|(_, blocks)| blocks);
        let nodes = nodes.flat_map(|&block| self.mesh.blocks[block].nodes.all());
        let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
        for x in nodes.filter_map(|node| self.mesh.coordinates.get(node as usize)) {
            for ([low, high], x) in bounds.iter_mut().zip(x) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        bounds[..self.form.dim()].iter().any(|[low, high]| {
            let rounding = f64::from(f32::EPSILON) * low.abs().max(high.abs());
            100.0 * rounding >= (high - low) / along
        })
    }

    fn multigrid_in<T, S, B>(
        &self,
        device: &B,
        (finest, constraints): (&[Block], &Constraints),
        is_jacobian: bool,
    ) -> Result<InPrecision<T, S, B>, ProblemError>
    where
        T: Number,
        S: Number,
        B: Backend + VectorOps<S> + VectorOps<f64>,
    {
        let mut cells = finest.iter().map(|block| block.space.cell());
        let simplex = cells.find(|cell| !cell.is_tensor_product());
        let cell = simplex.unwrap_or(finest[0].space.cell());
        let degrees = multigrid::degrees(cell, self.degree);
        let slanted = SlantedNodes::new(device, constraints.slanted())?;
        let mut levels = Vec::new();
        let mut watch = Stopwatch::new(self.clock);
        for &degree in &degrees {
            let mut level = Problem {
                degree,
                ..self.clone()
            };
            let (blocks, constraints) = if degree == self.degree {
                (finest.to_vec(), constraints.clone())
            } else {
                let blocks = Block::of_lower_degree(finest, degree)?;
                let constraints = self.constraints(&blocks)?;
                (blocks, constraints)
            };
            level.operator = self.operator_on(&blocks, finest)?;
            let params = level.operator_params(&blocks);
            let on = Discretization::of(&blocks, &params);
            let facets = level.on_facets(&level.loads_on(on))?;
            let operator = match is_jacobian {
                true => level.jacobian(device, (&blocks, &facets), params)?,
                false => level.bound(device, (&blocks, &facets), params)?,
            };
            levels.push(FormLevel {
                blocks,
                constraints,
                operator,
            });
            watch.lap(levels.len() - 1);
        }
        let mut hierarchy = Hierarchy::new(device, levels, (self.multigrid, is_jacobian))?;
        watch.lap(0);
        hierarchy.watch = watch;
        Ok(InPrecision {
            device: device.clone(),
            slanted,
            hierarchy,
            degrees,
            cycle: None,
        })
    }

    /// The parameters of the operator on a level: fields in the solution's space are evaluated at its nodes.
    fn operator_on(
        &self,
        blocks: &[Block],
        finest: &[Block],
    ) -> Result<OperatorParams, MultigridError> {
        let field = |(field, auxiliary): (usize, &Auxiliary)| match auxiliary {
            Auxiliary::PerCell(_) => Ok(auxiliary.clone()),
            Auxiliary::Nodal(values) => {
                let values = multigrid::at_nodes(finest, blocks, values)?;
                Ok(Auxiliary::Nodal(values))
            }
            Auxiliary::AtPoints(_) => Err(MultigridError::FieldAtPoints { field }),
        };
        let fields = self.operator.auxiliary.iter().enumerate().map(field);
        Ok(OperatorParams {
            auxiliary: fields.collect::<Result<_, _>>()?,
            // Measured for the finest degree.
            knobs: Knobs::default(),
            quadrature: self.level_quadrature(blocks),
            // The matrix of degree 1 is made anyway, and above it products with elements are faster.
            data_level: match self.operator.data_level {
                DataLevel::Sparse => DataLevel::Automatic,
                level => level,
            },
            ..self.operator.clone()
        })
    }

    /// The rule of a level, the finest too: degree + 1 points along each axis in place of the default's degree + 2.
    /// Iterations are as many, and cheaper. (With collocated points they are twice as many.)
    fn level_quadrature(&self, blocks: &[Block]) -> Quadrature {
        let space = &blocks[0].space;
        let mut cells = blocks.iter().map(|block| block.space.cell());
        match self.operator.quadrature {
            Quadrature::Gauss if cells.all(|cell| cell.is_tensor_product()) => {
                Quadrature::GaussPoints(space.degree().horizontal + 1)
            }
            given => given,
        }
    }

    /// Makes what [`Problem::multigrid`] does, at once or later.
    pub(super) fn multigrid_later<T, B>(
        &self,
        device: &B,
        (blocks, constraints): (&[Block], &Constraints),
        is_jacobian: bool,
    ) -> Box<MakeMultigrid<'a, T, B>>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
    {
        let (problem, device) = (self.clone(), device.clone());
        let (blocks, constraints) = (blocks.to_vec(), constraints.clone());
        Box::new(move |null_space, default| {
            let finest = (&blocks[..], &constraints);
            let mut multigrid = problem.multigrid(&device, finest, (is_jacobian, default))?;
            if let Some(null_space) = null_space {
                multigrid.set_null_space(null_space);
            }
            Ok(multigrid)
        })
    }
}
