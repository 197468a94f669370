//! The stages from a problem to its equations on a device.

use super::assembled::{Assembled, Equation, NewtonEquation, add_constants};
use super::choice::Facts;
use super::chosen::{chosen_multigrid, preconditioner};
use super::facets::OnFacets;
use super::loads::{check_rounding, lift};
use super::monitor::Stages;
use super::null_space::{NullSpace, Unheld};
use super::operator_params::jacobian_params;
use super::patience::Patience;
use super::uneven;
use super::{
    Constrained, Discretization, Discretized, Method, PreconditionerChoice, PreconditionerKind,
    Problem, ProblemError, Role, Solution, Stage, StageMonitor,
};
use crate::eigen::eigenvectors;
use crate::operator::{Backend, OperatorError};
use crate::vector::{Projector, VectorOps, download_f64};
use crate::{DataLevel, Number, Operator, OperatorParams, Quadrature};
use femto_element::Cell;
use femto_fem::geometry::{CornerWarning, Geometry, shapes};
use femto_fem::space::{Block, Constraints, SpaceParams};
use femto_kernel::family::fields::FieldKind;
use femto_kernel::form::{CoefficientKind, Inspection};
use femto_kernel::scalar::Precision;
use femto_platform::device::Buffer;

impl<'a> Problem<'a> {
    /// Solves the problem in precision `T` on a device: [`Problem::assemble`] (stages 1 to 6), then
    /// [`Assembled::solve`] (7 to 9).
    ///
    /// # Errors
    /// [`ProblemError::Unsolved`], with the last iterate, if the iterations fail or the monitor stops them;
    /// other errors before the first iteration.
    pub fn solve<T, B>(
        &self,
        device: &B,
        monitor: &mut dyn StageMonitor,
    ) -> Result<Solution, ProblemError>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
    {
        self.assemble::<T, B>(device, monitor)?.solve(monitor)
    }

    /// Assembles the equations:
    ///
    /// 1. geometry: mesh → maps of the cells, checked at the quadrature points
    /// 2. space: mesh, geometry, degree → numbered unknowns; Dirichlet groups → constraints
    /// 3. operator: space, geometry, form and forms on facets → A on the device
    /// 4. loads: b = ∫ φ f + ∫_Γ φ g, and u_D where u is constrained
    /// 5. lifting: for linear forms, b - A u_D, where u_D has no free part; then projected. If constants have no part in
    ///    A u, one is first taken off each component, the middle of its boundary values: the tolerance is relative to
    ///    b, which would otherwise be as large as their distance from zero
    /// 6. preconditioner: for linear forms, the diagonal of A, or operators on spaces of lower degree → M⁻¹;
    ///    for others, the form's exact derivative → the Jacobian on the device
    ///
    /// # Errors
    /// Every [`ProblemError`] but [`ProblemError::Unsolved`].
    pub fn assemble<T, B>(
        &self,
        device: &B,
        monitor: &mut dyn StageMonitor,
    ) -> Result<Assembled<'a, T, B>, ProblemError>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
    {
        device.enter(|| self.discretize(monitor)?.assemble(device, monitor))
    }

    /// The stages that need no device, the first two of [`Problem::assemble`]: they can run while a device
    /// is being opened.
    ///
    /// # Errors
    /// As [`Problem::assemble`].
    pub fn discretize(
        &self,
        monitor: &mut dyn StageMonitor,
    ) -> Result<Discretized<'_, 'a>, ProblemError> {
        let mut stages = Stages(monitor);
        let inspection = self.form.form().trace().inspect();
        self.check_rule(&inspection)?;
        if matches!(
            self.preconditioner,
            PreconditionerKind::Automatic | PreconditionerKind::Multigrid
        ) {
            self.multigrid.check()?;
        }
        let (geometries, warnings) = stages.run(Stage::Geometry, || self.geometries())?;
        let (blocks, constraints) = stages.run(Stage::Space, || self.space(geometries))?;
        stages.0.space(&blocks, &constraints);
        Ok(Discretized {
            problem: self,
            inspection,
            blocks,
            constraints,
            warnings,
        })
    }

    /// Fails if a form of values alone has a rule too low for its degree. Of terms with gradients an operator checks that.
    fn check_rule(&self, inspection: &Inspection) -> Result<(), OperatorError> {
        let shapes = shapes(self.mesh);
        let has_rule = shapes.iter().any(|(cell, _)| !cell.is_tensor_product());
        match has_rule && !inspection.gradients() {
            true => self
                .operator
                .quadrature
                .require(self.degree, |degree| 2 * degree),
            false => Ok(()),
        }
    }

    pub(super) fn equations<T, B>(
        &self,
        spaces: Discretized<'_, 'a>,
        device: &B,
        mut stages: Stages<'_>,
    ) -> Result<Assembled<'a, T, B>, ProblemError>
    where
        T: Number,
        B: Backend + VectorOps<T> + VectorOps<f64> + VectorOps<f32>,
    {
        let Discretized {
            inspection,
            blocks,
            constraints,
            warnings,
            ..
        } = spaces;
        let params = self.operator_params(&blocks);
        let on = Discretization::of(&blocks, &params);
        self.exact.iter().try_for_each(|exact| exact.check(&on))?;
        let (facets, operator) = stages.run(Stage::Operator, || {
            let facets = self.on_facets(&self.loads_on(on))?;
            let operator = self.bound::<T, B>(device, (&blocks, &facets), params.clone())?;
            Ok((facets, operator))
        })?;
        let (mut b, boundary_values) = stages.run(Stage::Loads, || {
            let (exact, boundary_values) = self.loads((on, &constraints), &facets, device)?;
            let mut b = device.zeros(exact.len())?;
            device.convert(&exact, &mut b)?;
            if device.info().executes && device.norm(&b)? == 0.0 {
                check_rounding::<T>(&download_f64(device, &exact)?, &boundary_values)?;
            }
            Ok((b, boundary_values))
        })?;
        let start = self.start.as_ref();
        let start = start.map(|start| on.interpolate(&Role::Start, start));
        let mut start = start.transpose()?;
        let projector = Projector::new(device, &constraints)?;
        let (linear, symmetric) = (operator.is_linear(), operator.is_symmetric());
        let (method, krylov) = self.solver.methods(linear, symmetric);
        let fields = params.fields();
        let takes_constants =
            method != Method::Newton && facets.is_empty() && self.ignores_constants(&inspection);
        let constants = match takes_constants {
            true => boundary_values.middles(&constraints, self.form.components()),
            false => vec![0.0; self.form.components()],
        };
        let (null_space, unheld) = stages.run(Stage::Lifting, || {
            // The loads alone, by which those balance that boundary values take do too.
            let mut given = None;
            if method != Method::Newton {
                let values = boundary_values.less(&constraints, &constants);
                if symmetric && !values.are_zero() {
                    let mut loads = device.zeros(b.len())?;
                    VectorOps::<T>::copy(device, &b, &mut loads)?;
                    projector.project(device, &mut loads)?;
                    given = Some(loads);
                }
                lift(&operator, &projector, &values, &mut b)?;
            }
            if method == Method::Newton || !symmetric {
                self.check_constants(&inspection, (&constraints, &blocks))?;
                return Ok((None, Unheld::default()));
            }
            let unassembled = || match params.data_level.stores_matrices() {
                true => {
                    let params = OperatorParams {
                        data_level: DataLevel::Automatic,
                        is_applied_once: true,
                        ..params.clone()
                    };
                    self.bound::<T, B>(device, (&blocks, &facets), params)
                        .map(Some)
                }
                false => Ok(None),
            };
            let on = self.loads_on(on);
            let mut found = NullSpace::find(on, &operator, unassembled, &constraints)?;
            let balance = |it: NullSpace| {
                let free = it.balance(device, &constraints, (given.as_ref(), &mut b))?;
                Ok::<_, ProblemError>((it, free))
            };
            Ok((found.free.take().map(balance).transpose()?, found))
        })?;
        if let Some(start) = &mut start {
            add_constants(start, &constants, -1.0);
            if let Some((null_space, _)) = &null_space {
                // Products with it would only be rounding.
                null_space.project(start);
            }
        }
        let unknowns = b.len() - constraints.len();
        let is_jacobian = method == Method::Newton;
        let patience = Patience::new(
            &blocks[0].space,
            (unknowns, is_jacobian),
            (krylov, &self.solver, T::PRECISION),
        );
        // With a term of u itself, or from a good start, Jacobi may take few iterations on any mesh.
        let may_be_few = inspection.reads_values || (start.is_some() && !is_jacobian);
        let facts = Facts {
            krylov,
            symmetric,
            is_newton: is_jacobian,
            has_gradients: inspection.gradients(),
            unknowns,
            device: device.info().kind,
            slow: patience
                .too_many()
                .filter(|_| device.info().executes && !may_be_few),
        };
        let mut choice = PreconditionerChoice::new(self.preconditioner, &facts);
        let later = || {
            let finest = (&blocks[..], &constraints);
            self.multigrid_later(device, finest, is_jacobian)
        };
        let null = null_space.as_ref().map(|(null_space, _)| null_space);
        let equation = stages.run(Stage::Preconditioner, || {
            Ok(match method {
                Method::Newton => Equation::Newton(Box::new(NewtonEquation {
                    multigrid: chosen_multigrid(&mut choice, || later()(None, Precision::Fp32))?,
                    jacobian: self.jacobian(device, (&blocks, &facets), params)?,
                    krylov,
                })),
                _ => {
                    let constrained = Constrained::new(&operator, &projector);
                    let preconditioner =
                        preconditioner((method, &mut choice), &constrained, &|default| {
                            later()(null, default)
                        })?;
                    Equation::Linear(method, preconditioner)
                }
            })
        })?;
        let multigrid = choice.is_watched().then(|| (later(), patience));
        let varies = inspection.reads_position || !facets.is_empty() || !fields.is_empty();
        let may_be_uneven = varies || uneven::differ_in_size(&blocks);
        Ok(Assembled {
            device: device.clone(),
            warnings,
            operator,
            equation,
            preconditioner: choice,
            quadrature: on.quadrature,
            time: on.time,
            scatter: on.scatter,
            b,
            constraints,
            projector,
            boundary_values,
            constants,
            multigrid,
            null_space,
            unheld,
            start,
            exact: self.exact.clone(),
            solver: self.solver,
            may_be_uneven,
            blocks,
        })
    }

    /// The operator of the form and of the terms on facets.
    pub(super) fn bound<T: Number, B: Backend + VectorOps<T>>(
        &self,
        device: &B,
        (blocks, facets): (&[Block], &[OnFacets<'_>]),
        params: OperatorParams,
    ) -> Result<Operator<T, B>, ProblemError> {
        let mut operator = Operator::of_blocks(device, blocks, self.form.form(), params)?;
        facets
            .iter()
            .try_for_each(|term| term.add_to(&mut operator))?;
        Ok(operator)
    }

    /// The Jacobian of the form and of the terms on facets, whose operator has these parameters.
    pub(super) fn jacobian<T: Number, B: Backend + VectorOps<T>>(
        &self,
        device: &B,
        (blocks, facets): (&[Block], &[OnFacets<'_>]),
        params: OperatorParams,
    ) -> Result<Operator<T, B>, ProblemError> {
        let params = OperatorParams {
            data_level: self.operator.data_level,
            ..jacobian_params(params, &blocks[0].space)
        };
        let form = self.form.jacobian()?;
        let mut jacobian = Operator::of_blocks(device, blocks, &*form, params)?;
        facets
            .iter()
            .try_for_each(|term| term.add_jacobian_to(&mut jacobian))?;
        Ok(jacobian)
    }

    fn geometries(&self) -> Result<(Vec<Geometry>, Vec<CornerWarning>), ProblemError> {
        let geometries = Geometry::of_shapes(self.mesh)?;
        let mut warnings = Vec::new();
        for geometry in &geometries {
            let cell = geometry.cell();
            let quadrature = match cell.is_tensor_product() {
                true => self.operator.quadrature,
                false => Quadrature::Gauss,
            };
            // Points of other cells are collapsed from those on a line.
            femto_element::basis::check(cell, self.degree).map_err(OperatorError::from)?;
            let points = quadrature.tables(Cell::Line, self.degree.most())?.points;
            warnings.extend(geometry.check(&points)?);
        }
        Ok((geometries, warnings))
    }

    pub(super) fn space(
        &self,
        geometries: Vec<Geometry>,
    ) -> Result<(Vec<Block>, Constraints), ProblemError> {
        let params = SpaceParams {
            degree: self.degree,
            components: self.form.components(),
            ..SpaceParams::default()
        };
        let blocks = Block::all(self.mesh, geometries, params)?;
        let constraints = self.constraints(&blocks)?;
        self.check_fluxes(&blocks)?;
        Ok((blocks, constraints))
    }

    /// Fails if nothing determines a constant. The null spaces of linear symmetric forms are found by
    /// [`NullSpace::find`] instead.
    fn check_constants(
        &self,
        inspection: &Inspection,
        (constraints, blocks): (&Constraints, &[Block]),
    ) -> Result<(), ProblemError> {
        if !self.ignores_constants(inspection) {
            return Ok(());
        }
        let count = self.form.components();
        // The sum of projections to what is held.
        let mut held = vec![0.0; count * count];
        for component in 0..count {
            let is_held = constraints.has_component(&blocks[0].space, component);
            if is_held || self.facets_hold(component)? {
                held[component * (count + 1)] += 1.0;
            }
        }
        for (_, projector) in constraints.slanted().iter() {
            for (at, (held, free)) in held.iter_mut().zip(projector).enumerate() {
                *held += f64::from(at % (count + 1) == 0) - free;
            }
        }
        let vectors = eigenvectors(held, count);
        let most = vectors.iter().fold(0.0, |most: f64, it| most.max(it.0));
        match vectors.into_iter().find(|it| it.0 <= 1e-10 * most) {
            None => Ok(()),
            Some((_, free)) => {
                let mut components = 0..count;
                let component = components.find(|&c| free[c].abs() > 0.5);
                let component = component.filter(|_| count > 1);
                Err(ProblemError::Singular { component })
            }
        }
    }

    /// Whether the form has no term with u itself, so that A(u + constant) = A(u).
    fn ignores_constants(&self, inspection: &Inspection) -> bool {
        match &inspection.coefficients {
            Some(found) if found.mass == CoefficientKind::OfFields => {
                let constants = self.operator.auxiliary_of(FieldKind::Cell);
                let cells = constants.map(<[f64]>::len).min().unwrap_or(0);
                cells > 0 && (0..cells).all(|cell| found.at(&self.operator.at_cell(cell)).0 == 0.0)
            }
            _ => !inspection.reads_values,
        }
    }
}
