//! The levels of lower degree: operators and the transfer between them.

use super::aggregates::NearKernel;
use super::aggregation::{Aggregation, typical};
use super::cycle::Cycle;
use super::smoother::{Inverse, Smoother};
use super::stopwatch::Stopwatch;
use super::strengths::Strengths;
use super::transfer::{Pairing, Transfer};
use super::{MultigridError, MultigridParams, SmootherKind, constrained_matrix};
use crate::operator::{Backend, OperatorError};
use crate::solve::{Jacobi, LinearOperator};
use crate::vector::{Csr, Projector, VectorOps};
use crate::{Number, Operator};
use femto_element::Degree;
use femto_fem::space::{Block, Constraints, Layout};
use femto_platform::device::{DeviceError, DeviceKind};

/// Orders of the smoothers on levels of elements.
const DIAGONAL_ORDER: usize = 3;
const SCHWARZ_ORDER: usize = 6;

/// Numbers of unknowns of degree 1, on the host and on accelerators, from which on it is corrected twice by its aggregates if
/// the form is symmetric and the finer levels are not smoothed by Schwarz (`docs/multigrid.md`). On accelerators a second
/// correction takes long: it is many launches of little work.
const TWICE_FROM: usize = 10_000;
const TWICE_FROM_ON_ACCELERATORS: usize = 1_000_000;

/// A level's space and operator.
#[derive(Debug)]
pub struct FormLevel<T: Number, D: Backend> {
    /// All blocks of the space, its components interleaved, on the elements of the finest level: see
    /// [`Block::of_lower_degree`].
    pub blocks: Vec<Block>,
    /// Where its vectors are zero.
    pub constraints: Constraints,
    /// The operator of a linear form.
    pub operator: Operator<T, D>,
}

/// A level with its constraints on the device.
pub(super) struct ConstrainedLevel<T: Number, D: Backend> {
    pub(super) blocks: Vec<Block>,
    pub(super) operator: Operator<T, D>,
    pub(super) constraints: Constraints,
    pub(super) projector: Projector<T, D>,
}

impl<T: Number, D: Backend + VectorOps<T>> LinearOperator<T, D> for ConstrainedLevel<T, D> {
    fn size(&self) -> usize {
        self.operator.dofs()
    }

    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.operator.apply(u, v)?;
        self.hold(v)
    }
}

impl<T: Number, D: Backend + VectorOps<T>> ConstrainedLevel<T, D> {
    /// Makes a vector zero where it is constrained.
    pub(super) fn hold(&self, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        Ok(self.projector.project(self.operator.device(), v)?)
    }

    /// Makes a vector zero along constrained directions, which cycles of matrices do not; at constrained entries it is.
    pub(super) fn make_free(&self, x: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        let device = self.operator.device();
        Ok(device.project(&self.projector.slanted, x)?)
    }

    /// Whether each entry is constrained, slanted directions apart.
    pub(super) fn is_held(&self) -> Vec<bool> {
        self.constraints.is_held(self.size())
    }

    /// Its matrix, with a typical diagonal entry at constrained entries, whose rows have no other but zeros.
    pub(super) fn matrix(&self) -> Result<Csr, OperatorError> {
        let mut matrix = constrained_matrix(&self.operator, &self.constraints)?;
        let held = self.constraints.entries();
        matrix.set_diagonal(held, 0.0);
        let typical = typical(matrix.diagonal().into_iter());
        matrix.set_diagonal(held, typical);
        Ok(matrix)
    }

    /// The smoother of a level of degree 2 or more.
    fn smoother(
        &self,
        device: &D,
        with: Option<&(SmootherKind, Strengths)>,
        params: MultigridParams,
    ) -> Result<Smoother<T, D>, MultigridError> {
        let mut diagonal = device.zeros(self.size())?;
        self.operator.diagonal(&mut diagonal)?;
        self.projector.set_diagonal(device, &mut diagonal)?;
        // Schwarz needs positive entries too.
        let jacobi = Jacobi::new(device, &diagonal)?;
        let lines = match with {
            Some((SmootherKind::Lines, strengths)) => {
                let wanted = params.smoother == SmootherKind::Lines;
                strengths.lines(self, (&diagonal, wanted))?
            }
            _ => None,
        };
        let (inverse, order) = match (lines, with) {
            (Some(lines), _) => (Inverse::Lines(lines), DIAGONAL_ORDER),
            (None, Some((_, strengths))) if strengths.cell.is_tensor_product() => {
                let schwarz = strengths.schwarz(self, &diagonal)?;
                (Inverse::Elements(schwarz), SCHWARZ_ORDER)
            }
            _ => (Inverse::Diagonal(jacobi), DIAGONAL_ORDER),
        };
        let order = params.order.unwrap_or(order);
        Smoother::new(device, self, inverse, (order, params.safety))
    }
}

/// The transfer between a level and the next one.
pub(super) struct Between<T: Number, D: Backend> {
    pub(super) prolongation: Transfer<T, D>,
    /// Its transpose.
    pub(super) restriction: Transfer<T, D>,
    /// Values at the next level's nodes, for states of nonlinear forms.
    state: Option<Transfer<T, D>>,
}

impl<T: Number, D: Backend + VectorOps<T>> Between<T, D> {
    fn new(
        device: &D,
        [fine, coarse]: [&FormLevel<T, D>; 2],
        has_state: bool,
    ) -> Result<Self, MultigridError> {
        let pairing = Pairing::new(&coarse.blocks, &fine.blocks)?;
        let (coarse, fine) = (0, 1);
        let state = has_state.then(|| pairing.interpolation(device, fine));
        Ok(Self {
            prolongation: pairing.interpolation(device, coarse)?,
            restriction: pairing.transposed(device, fine)?,
            state: state.transpose()?,
        })
    }
}

/// The levels of a space's degrees, finest first, and the data for aggregation below them.
pub struct Hierarchy<T: Number, D: Backend> {
    pub(super) device: D,
    pub(super) levels: Vec<ConstrainedLevel<T, D>>,
    /// Between each level and the next.
    pub(super) between: Vec<Between<T, D>>,
    params: MultigridParams,
    null_space: Vec<Vec<f64>>,
    /// Times its set-up.
    pub(crate) watch: Stopwatch,
}

impl<T: Number, D: Backend + VectorOps<T>> Hierarchy<T, D> {
    /// Connects levels of the [`degrees`](super::degrees), finest first, at least one. `has_state` if
    /// [`Hierarchy::set_state`] will be called.
    ///
    /// # Errors
    /// Parameters out of range, degrees that do not fall to 1, levels on different elements, constraints beyond a level's vectors,
    /// components that are not interleaved, more elements than 32-bit indices can address, or not enough memory.
    pub fn new(
        device: &D,
        levels: Vec<FormLevel<T, D>>,
        (params, has_state): (MultigridParams, bool),
    ) -> Result<Self, MultigridError> {
        let info = device.info();
        if !info.executes {
            let (device, what) = (info.kind.name(), "set up multigrid: it does nothing");
            return Err(DeviceError::Unsupported { device, what }.into());
        }
        params.check()?;
        if levels.is_empty() {
            return Err(MultigridError::NoLevel);
        }
        let mut blocks = levels.iter().flat_map(|level| &level.blocks);
        if blocks.any(|it| it.space.components() > 1 && it.space.layout() == Layout::Blocked) {
            return Err(MultigridError::Layout);
        }
        let degree = |level: &FormLevel<T, D>| level.blocks.first().map(|it| it.space.degree());
        let found: Vec<Degree> = levels.iter().filter_map(degree).collect();
        let falls = found.is_sorted_by(|finer, coarser| coarser.is_lower(*finer));
        let ends = found.last().is_some_and(|&coarsest| coarsest == 1);
        if !falls || found.len() < levels.len() || !ends {
            return Err(MultigridError::Degrees { found });
        }
        let reaches_out = |it: &FormLevel<T, D>| it.constraints.reach() > it.operator.dofs();
        if let Some(at) = levels.iter().position(reaches_out) {
            return Err(MultigridError::OtherConstraints { degree: found[at] });
        }
        let pairs = levels.windows(2);
        let between = pairs.map(|pair| Between::new(device, [&pair[0], &pair[1]], has_state));
        let between = between.collect::<Result<_, _>>()?;
        let mut constrained = Vec::new();
        for level in levels {
            constrained.push(ConstrainedLevel {
                projector: Projector::new(device, &level.constraints)?,
                blocks: level.blocks,
                operator: level.operator,
                constraints: level.constraints,
            });
        }
        Ok(Self {
            device: device.clone(),
            levels: constrained,
            between,
            params,
            null_space: Vec::new(),
            watch: Stopwatch::default(),
        })
    }

    /// Sets the functions that the operators map to zero, as combinations of those of [`NearKernel`].
    pub(crate) fn set_null_space(&mut self, combinations: Vec<Vec<f64>>) {
        self.null_space = combinations;
    }

    /// Sets the state of a Jacobian on all levels: `state` at the nodes of the finest.
    ///
    /// # Errors
    /// A vector of the wrong length, or fields that the form does not have.
    pub fn set_state(&mut self, state: D::Buffer<T>) -> Result<(), OperatorError> {
        let mut state = state;
        for (i, level) in self.levels.iter_mut().enumerate() {
            level.operator.set_nodal(0, &state)?;
            let transfer = self
                .between
                .get(i)
                .and_then(|between| between.state.as_ref());
            if let Some(transfer) = transfer {
                let mut scratch = self.device.zeros(transfer.scratch())?;
                let mut coarse = self.device.zeros(transfer.rows())?;
                transfer.apply(&state, &mut scratch, false, &mut coarse)?;
                state = coarse;
            }
        }
        Ok(())
    }

    /// Sets the time of the operators on all levels.
    ///
    /// # Errors
    /// As [`Operator::set_time`].
    pub fn set_time(&mut self, time: f64) -> Result<(), OperatorError> {
        let mut levels = self.levels.iter_mut();
        levels.try_for_each(|level| level.operator.set_time(time))
    }

    /// Sets the parameters of the operators on all levels.
    ///
    /// # Errors
    /// As [`Operator::set_parameters`].
    pub fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), OperatorError> {
        let mut levels = self.levels.iter_mut();
        levels.try_for_each(|level| level.operator.set_parameters(parameters))
    }

    /// Computes the smoothers, and the levels below degree 1. Call it again after [`Hierarchy::set_state`],
    /// [`Hierarchy::set_time`] or [`Hierarchy::set_parameters`].
    ///
    /// # Errors
    /// A matrix that is not positive definite, or not enough memory.
    pub fn set_up(&mut self) -> Result<Cycle<T, D>, MultigridError> {
        let hierarchy_sizes = self.sizes();
        let (device, params, watch) = (&self.device, self.params, &mut self.watch);
        watch.start();
        let (base, levels) = self.levels.split_last().ok_or(MultigridError::NoLevel)?;
        let strengths = match levels {
            [] => None,
            [finest, ..] => {
                let degree = finest.blocks[0].space.degree();
                strengths((base, degree), params.smoother)?
            }
        };
        let mut smoothers = Vec::new();
        for (i, level) in levels.iter().enumerate() {
            smoothers.push(level.smoother(device, strengths.as_ref(), params)?);
            watch.lap(i);
        }
        let is_held = base.is_held();
        let enough = match device.info().kind {
            DeviceKind::Host => TWICE_FROM,
            _ => TWICE_FROM_ON_ACCELERATORS,
        };
        let matrix = base.matrix()?;
        let symmetric = base.operator.is_symmetric();
        let is_schwarz = matches!(strengths, Some((SmootherKind::Schwarz, _)));
        let twice = symmetric && !levels.is_empty() && !is_schwarz && base.size() >= enough;
        // Those of a matrix that is not symmetric need not be positive definite.
        let along_lines = symmetric && params.smoother != SmootherKind::Diagonal;
        let convection = (!symmetric).then(|| skew_part(&matrix, &is_held));
        let components = base.blocks[0].space.components();
        let rotates = NearKernel::rotates(&base.blocks);
        let positions = rotates.then(|| Block::node_positions(&base.blocks));
        let mut kernel = NearKernel::new(&is_held, components, positions.as_deref());
        kernel.project(base.constraints.slanted());
        let kernels = (kernel, &self.null_space[..]);
        Ok(Cycle {
            smoothers,
            below: Aggregation::new(
                device,
                matrix,
                kernels,
                (params.safety, along_lines),
                (watch, levels.len()),
            )?,
            twice,
            convection,
            hierarchy_sizes,
        })
    }

    /// Lengths of the vectors of all degrees, finest first.
    pub fn sizes(&self) -> Vec<usize> {
        self.levels.iter().map(LinearOperator::size).collect()
    }

    /// Bytes of device memory, apart from those of [`Hierarchy::set_up`].
    pub fn bytes(&self) -> usize {
        self.level_bytes().iter().sum()
    }

    /// Those of each degree, finest first, with the transfer to the next.
    pub(crate) fn level_bytes(&self) -> Vec<usize> {
        let levels = self.levels.iter();
        let levels = levels.map(|level| level.operator.bytes() + level.projector.bytes());
        let mut bytes: Vec<usize> = levels.collect();
        for (bytes, between) in bytes.iter_mut().zip(&self.between) {
            let state = between.state.as_ref().map_or(0, Transfer::bytes);
            *bytes += between.prolongation.bytes() + between.restriction.bytes() + state;
        }
        bytes
    }
}

/// What other smoothing than with the diagonal needs from the level of degree 1, for a finest one of this degree, if it is
/// wanted.
fn strengths<T: Number, D: Backend + VectorOps<T>>(
    (base, degree): (&ConstrainedLevel<T, D>, Degree),
    wanted: SmootherKind,
) -> Result<Option<(SmootherKind, Strengths)>, MultigridError> {
    if wanted == SmootherKind::Diagonal {
        return Ok(None);
    }
    let Some(strengths) = Strengths::new(base)? else {
        return match wanted {
            SmootherKind::Schwarz => Err(MultigridError::NoSchwarz),
            SmootherKind::Lines => Err(MultigridError::NoLines),
            _ => Ok(None),
        };
    };
    let strengths = strengths.of_degree(degree);
    match wanted {
        SmootherKind::Schwarz if !strengths.cell.is_tensor_product() => {
            Err(MultigridError::NoSchwarz)
        }
        SmootherKind::Automatic => Ok(match strengths.best(base)? {
            SmootherKind::Diagonal => None,
            best => Some((best, strengths)),
        }),
        wanted => Ok(Some((wanted, strengths))),
    }
}

/// Σ_ij |a_ij - a_ji|/(2 Σ_i a_ii) over the rows of unknowns that are not held: A and its transpose have entries at the
/// same places.
fn skew_part(matrix: &Csr, is_held: &[bool]) -> f64 {
    let transposed = matrix.transposed();
    let (mut skew, mut diagonal) = (0.0, 0.0);
    for row in (0..matrix.rows()).filter(|&row| !is_held[row]) {
        for ((column, a), (_, b)) in matrix.row(row).zip(transposed.row(row)) {
            skew += (a - b).abs();
            diagonal += if column as usize == row { 2.0 * a } else { 0.0 };
        }
    }
    match diagonal > 0.0 {
        true => skew / diagonal,
        false => 0.0,
    }
}
