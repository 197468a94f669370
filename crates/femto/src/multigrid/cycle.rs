//! The cycle, and its use as a preconditioner.

use super::aggregation::{Aggregation, MatrixLevel};
use super::error::MultigridError;
use super::hierarchy::{Between, ConstrainedLevel, Hierarchy};
use super::smoother::Smoother;
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::solve::{LinearOperator, Preconditioner};
use crate::vector::VectorOps;
use femto_platform::device::{Device, DeviceError};
use serde::Serialize;

/// How a cycle treats a level: by a smoother before and after each correction by the next level, or by a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelMethod {
    /// Chebyshev's iteration on the diagonal. Alone on the last level if that is hardly coupled, so that aggregates do
    /// not shrink it.
    Diagonal,
    /// Chebyshev's iteration on Schwarz's method.
    Schwarz,
    /// Chebyshev's iteration on solves along lines of nodes.
    Lines,
    /// The inverse of the last level's matrix.
    Inverse,
}

/// The part of a preconditioner that depends on the operator's values: see [`Hierarchy::set_up`].
pub struct Cycle<T: Number, D: Device> {
    /// Of all levels of the hierarchy but the last.
    pub(super) smoothers: Vec<Smoother<T, D>>,
    /// Degree 1, and what is below.
    pub(super) below: Aggregation<T, D>,
    /// Whether the matrix of degree 1 corrects twice by the aggregates below, and smooths between.
    pub(super) twice: bool,
    /// See [`Cycle::convection`].
    pub(super) convection: Option<f64>,
    /// Those of the hierarchy.
    pub(super) hierarchy_sizes: Vec<usize>,
}

impl<T: Number, D: VectorOps<T>> Cycle<T, D> {
    /// Lengths of the vectors of degree 1 and of the levels below.
    pub fn sizes(&self) -> Vec<usize> {
        self.below.sizes()
    }

    /// What of the matrix A of degree 1 is not symmetric, if its form or one on facets is not:
    /// Σ_ij |a_ij - a_ji|/(2 Σ_i a_ii), on cubes of side h about 3/4 of the Péclet number |b| h/(2 κ) of a cell.
    pub fn convection(&self) -> Option<f64> {
        self.convection
    }

    /// What it does on each level, finest first.
    pub fn methods(&self) -> Vec<LevelMethod> {
        let forms = self.smoothers.iter();
        let matrices = self.below.levels.iter().map(|level| &level.smoother);
        let smoothers = forms.chain(matrices);
        smoothers
            .map(Smoother::method)
            .chain([self.below.coarsest.method()])
            .collect()
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> usize {
        self.level_bytes().iter().sum()
    }

    /// Those of each level, finest first.
    pub(crate) fn level_bytes(&self) -> Vec<usize> {
        let smoothers = self.smoothers.iter().map(Smoother::bytes);
        smoothers.chain(self.below.level_bytes()).collect()
    }
}

/// A hierarchy and its cycle, as a preconditioner of vectors of any precision. Right-hand sides must be zero where the finest
/// level is constrained, as residuals of constrained equations are.
pub struct Multigrid<'a, T: Number, D: Backend> {
    /// The operators and the transfer of the levels.
    pub(crate) hierarchy: &'a Hierarchy<T, D>,
    /// Their smoothers, and the levels below.
    pub(crate) cycle: &'a Cycle<T, D>,
}

impl<'a, T: Number, D: Backend + VectorOps<T>> Multigrid<'a, T, D> {
    /// Of a hierarchy with the cycle that its [`Hierarchy::set_up`] made.
    ///
    /// # Errors
    /// The cycle of a hierarchy with other levels.
    pub fn new(
        hierarchy: &'a Hierarchy<T, D>,
        cycle: &'a Cycle<T, D>,
    ) -> Result<Self, MultigridError> {
        let sizes = hierarchy.sizes();
        match cycle.hierarchy_sizes == sizes {
            true => Ok(Self { hierarchy, cycle }),
            false => Err(MultigridError::OtherCycle {
                found: cycle.hierarchy_sizes.clone(),
                expected: sizes,
            }),
        }
    }
}

/// The vectors of all levels, for [`Multigrid`].
pub struct MultigridWorkspace<T: Number, D: Device> {
    levels: Vec<LevelVectors<T, D>>,
}

/// The vectors of a level.
pub(super) struct LevelVectors<T: Number, D: Device> {
    pub(super) b: D::Buffer<T>,
    pub(super) x: D::Buffer<T>,
    /// The smoother's r.
    pub(super) r: D::Buffer<T>,
    /// The smoother's d.
    pub(super) d: D::Buffer<T>,
    /// A d or A x; between the smoothers b - A x.
    pub(super) product: D::Buffer<T>,
    /// E-vectors of restriction and prolongation, the second one also that of Schwarz; empty on levels of matrices.
    pub(super) elements: [D::Buffer<T>; 2],
    /// The smoother's rows of lines; empty unless it has lines.
    pub(super) rows: D::Buffer<T>,
}

/// A level but the coarsest.
enum Level<'a, T: Number, D: Backend> {
    /// Of elements: its operator, the next one's, the transfer between them and the smoother.
    Form {
        fine: &'a ConstrainedLevel<T, D>,
        coarse: &'a ConstrainedLevel<T, D>,
        between: &'a Between<T, D>,
        smoother: &'a Smoother<T, D>,
    },
    /// Of a matrix.
    Matrix(&'a MatrixLevel<T, D>),
}

impl<'a, T: Number, D: Backend + VectorOps<T>> Level<'a, T, D> {
    fn operator(&self) -> &'a dyn LinearOperator<T, D> {
        match self {
            Self::Form { fine, .. } => *fine,
            Self::Matrix(level) => &level.matrix,
        }
    }

    fn smoother(&self) -> &'a Smoother<T, D> {
        match self {
            Self::Form { smoother, .. } => smoother,
            Self::Matrix(level) => &level.smoother,
        }
    }

    /// Lengths of the E-vectors of restriction and prolongation.
    fn elements(&self) -> [usize; 2] {
        match self {
            Self::Form { between, .. } => {
                let Between {
                    restriction,
                    prolongation,
                    ..
                } = between;
                [restriction.scratch(), prolongation.scratch()]
            }
            Self::Matrix(_) => [0, 0],
        }
    }

    /// b of the next level = Pᵀ r, with r in `own.product`.
    fn restrict(
        &self,
        own: &mut LevelVectors<T, D>,
        next: &mut LevelVectors<T, D>,
    ) -> Result<(), OperatorError> {
        match self {
            Self::Form {
                coarse, between, ..
            } => {
                let [elements, _] = &mut own.elements;
                between
                    .restriction
                    .apply(&own.product, elements, false, &mut next.b)?;
                coarse.hold(&mut next.b)
            }
            Self::Matrix(level) => level.restriction.apply(&own.product, &mut next.b),
        }
    }

    /// x = x + P x of the next level.
    fn correct(
        &self,
        own: &mut LevelVectors<T, D>,
        next: &mut LevelVectors<T, D>,
    ) -> Result<(), OperatorError> {
        match self {
            Self::Form {
                fine,
                coarse,
                between,
                ..
            } => {
                coarse.make_free(&mut next.x)?;
                let [_, elements] = &mut own.elements;
                between
                    .prolongation
                    .apply(&next.x, elements, true, &mut own.x)?;
                // On simplices rounding reaches nodes on constrained facets.
                fine.hold(&mut own.x)
            }
            Self::Matrix(level) => Ok(level.prolong(&next.x, &mut own.x)?),
        }
    }
}

impl<T: Number, D: Device> LevelVectors<T, D> {
    fn new(
        device: &D,
        size: usize,
        (elements, rows): ([usize; 2], usize),
    ) -> Result<Self, DeviceError> {
        let [restricted, prolonged] = elements;
        Ok(Self {
            b: device.zeros(size)?,
            x: device.zeros(size)?,
            r: device.zeros(size)?,
            d: device.zeros(size)?,
            product: device.zeros(size)?,
            elements: [device.zeros(restricted)?, device.zeros(prolonged)?],
            rows: device.zeros(rows)?,
        })
    }
}

impl<'a, T: Number, D: Backend + VectorOps<T>> Multigrid<'a, T, D> {
    /// Bytes of the vectors of a cycle, on the device.
    pub fn vector_bytes(&self) -> usize {
        let levels = (0..).map_while(|i| self.level(i));
        let levels = levels.map(|level| {
            let elements: usize = level.elements().iter().sum();
            5 * level.operator().size() + elements + level.smoother().rows()
        });
        let coarsest = &self.cycle.below.coarsest;
        (levels.sum::<usize>() + 5 * coarsest.matrix().rows() + coarsest.rows()) * T::BYTES
    }

    /// Level `i`, 0 the finest; `None` for the coarsest.
    fn level(&self, i: usize) -> Option<Level<'a, T, D>> {
        let (hierarchy, cycle) = (self.hierarchy, self.cycle);
        let matrix = i.checked_sub(hierarchy.between.len());
        match matrix {
            Some(matrix) => cycle.below.levels.get(matrix).map(Level::Matrix),
            None => Some(Level::Form {
                fine: &hierarchy.levels[i],
                coarse: &hierarchy.levels[i + 1],
                between: &hierarchy.between[i],
                smoother: &cycle.smoothers[i],
            }),
        }
    }

    /// The vectors of the levels from `level` on, with a random right-hand side, for [`Multigrid::run_from`].
    ///
    /// # Errors
    /// Not enough memory.
    pub fn random_from(&self, level: usize) -> Result<MultigridWorkspace<T, D>, DeviceError> {
        let mut workspace = self.workspace_from(level)?;
        if let Some(finest) = workspace.levels.first_mut() {
            self.hierarchy.device.randomise(1, &mut finest.b)?;
        }
        Ok(workspace)
    }

    /// Runs the cycle of the levels from `level` on, with their vectors alone.
    ///
    /// # Errors
    /// From the operators and the device.
    pub fn run_from(
        &self,
        level: usize,
        workspace: &mut MultigridWorkspace<T, D>,
    ) -> Result<(), OperatorError> {
        self.run(level, &mut workspace.levels)
    }

    fn workspace_from(&self, first: usize) -> Result<MultigridWorkspace<T, D>, DeviceError> {
        let device = &self.hierarchy.device;
        let mut levels = Vec::new();
        while let Some(level) = self.level(first + levels.len()) {
            levels.push(LevelVectors::new(
                device,
                level.operator().size(),
                (level.elements(), level.smoother().rows()),
            )?);
        }
        let coarsest = &self.cycle.below.coarsest;
        let (size, rows) = (coarsest.matrix().rows(), coarsest.rows());
        levels.push(LevelVectors::new(device, size, ([0, 0], rows))?);
        Ok(MultigridWorkspace { levels })
    }

    /// x = cycle(b) on level `i`, whose vectors are the first.
    fn run(&self, i: usize, vectors: &mut [LevelVectors<T, D>]) -> Result<(), OperatorError> {
        let Some((own, rest)) = vectors.split_first_mut() else {
            return Ok(());
        };
        let (Some(level), Some(_)) = (self.level(i), rest.first()) else {
            return self.cycle.below.coarsest.solve(own);
        };
        let (operator, smoother) = (level.operator(), level.smoother());
        smoother.start(operator, own)?;
        let corrections = match self.cycle.twice && i == self.hierarchy.between.len() {
            true => 2,
            false => 1,
        };
        for _ in 0..corrections {
            operator.apply(&own.x, &mut own.product)?;
            let device = &self.hierarchy.device;
            device.xpby(&own.b, -1.0, &mut own.product)?;
            level.restrict(own, &mut rest[0])?;
            self.run(i + 1, rest)?;
            level.correct(own, &mut rest[0])?;
            smoother.improve(operator, own)?;
        }
        Ok(())
    }
}

impl<S, T, D> Preconditioner<S, D> for Multigrid<'_, T, D>
where
    S: Number,
    T: Number,
    D: Backend + VectorOps<S> + VectorOps<T>,
{
    type Workspace = MultigridWorkspace<T, D>;

    fn workspace(&self, _: &D) -> Result<Self::Workspace, DeviceError> {
        self.workspace_from(0)
    }

    fn apply(
        &self,
        r: &D::Buffer<S>,
        z: &mut D::Buffer<S>,
        workspace: &mut Self::Workspace,
    ) -> Result<(), OperatorError> {
        let device = &self.hierarchy.device;
        let Some(finest) = workspace.levels.first_mut() else {
            return Ok(());
        };
        VectorOps::<T>::convert(device, r, &mut finest.b)?;
        self.run(0, &mut workspace.levels)?;
        let x = &mut workspace.levels[0].x;
        self.hierarchy.levels[0].make_free(x)?;
        Ok(VectorOps::<S>::convert(device, x, z)?)
    }
}
