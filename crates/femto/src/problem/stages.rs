//! The stages of solving a problem.

use super::observer::Watch;
use super::{
    Discretization, ErrorNorms, Exact, Free, Function, GridFunction, Memory, Observer,
    PreconditionerKind, Problem, ProblemError, Solution, Stage, Unsolved,
};
use crate::operator::Backend;
use crate::solve::cg::{self, CgParams, CgWorkspace, System};
use crate::solve::{Identity, Jacobi, Preconditioner};
use crate::vector::VectorOps;
use crate::{Number, Operator, Quadrature};
use femto_fem::geometry::{CornerWarning, Geometry};
use femto_fem::space::{Space, SpaceParams};
use femto_kernel::family::fields::FieldKind;
use femto_kernel::form::{Coefficient, Form, inspect};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A problem with its linear system on a device, ready for the iterations.
pub struct Assembled<'a, T: Number, D: Backend> {
    device: D,
    space: Arc<Space>,
    geometry: Arc<Geometry>,
    warnings: Vec<CornerWarning>,
    operator: Operator<T, D>,
    preconditioner: Box<dyn Preconditioner<T, D> + Send>,
    quadrature: Quadrature,
    time: f64,
    /// The right-hand side, a T-vector.
    b: Vec<f64>,
    /// The values at the constrained nodes.
    boundary_values: Vec<f64>,
    exact: Option<Exact<'a>>,
    solver: CgParams,
}

impl<'a, F: Form<3> + Clone + 'static> Problem<'a, F> {
    /// Solves the problem in precision `T` on a device: [`Problem::assemble`] (stages 1 to 6), then
    /// [`Assembled::solve`] (7 to 9).
    ///
    /// # Errors
    /// [`ProblemError::Unsolved`], with the last iterate, where the iterations fail or the observer
    /// stops them; others before the first iteration.
    pub fn solve<T: Number, D: Backend + VectorOps<T>>(
        &self,
        device: &D,
        observer: &mut dyn Observer,
    ) -> Result<Solution, ProblemError> {
        self.assemble::<T, D>(device, observer)?.solve(observer)
    }

    /// Makes the linear system:
    ///
    /// 1. geometry: mesh → maps of the cells, checked at the quadrature points
    /// 2. space: mesh, geometry, degree, Dirichlet groups → numbered unknowns
    /// 3. operator: space, geometry, form → A on the device
    /// 4. loads: b = ∫ φ f + ∫_Γ φ g, and u_D at the constrained nodes
    /// 5. lifting: b_T = (b - A u_D)_T, where u_D is zero at free nodes
    /// 6. preconditioner: the diagonal of A → M⁻¹
    ///
    /// # Errors
    /// Every [`ProblemError`] but [`ProblemError::Unsolved`].
    pub fn assemble<T: Number, D: Backend + VectorOps<T>>(
        &self,
        device: &D,
        observer: &mut dyn Observer,
    ) -> Result<Assembled<'a, T, D>, ProblemError> {
        device.enter(|| self.stages::<T, D>(device, Watch(observer)))
    }

    fn stages<T: Number, D: Backend + VectorOps<T>>(
        &self,
        device: &D,
        mut watch: Watch<'_>,
    ) -> Result<Assembled<'a, T, D>, ProblemError> {
        let (geometry, warnings) = watch.stage(Stage::Geometry, || self.geometry())?;
        let space = watch.stage(Stage::Space, || self.space(&geometry))?;
        watch.0.space(&space);
        let operator = watch.stage(Stage::Operator, || {
            let params = self.operator.clone();
            Ok(Operator::new(
                device, &space, &geometry, &self.form, params,
            )?)
        })?;
        let on = Discretization {
            space: &space,
            geometry: &geometry,
            quadrature: self.operator.quadrature,
            time: self.operator.time,
        };
        let (mut b, boundary_values) = watch.stage(Stage::Loads, || self.loads(on))?;
        watch.stage(Stage::Lifting, || {
            lift(device, &operator, &mut b, &boundary_values)
        })?;
        let preconditioner = watch.stage(Stage::Preconditioner, || {
            preconditioner(device, &operator, self.preconditioner)
        })?;
        Ok(Assembled {
            device: device.clone(),
            space: Arc::new(space),
            geometry: Arc::new(geometry),
            warnings,
            operator,
            preconditioner,
            quadrature: self.operator.quadrature,
            time: self.operator.time,
            b,
            boundary_values,
            exact: self.exact,
            solver: self.solver,
        })
    }

    fn geometry(&self) -> Result<(Geometry, Vec<CornerWarning>), ProblemError> {
        let basis = self.operator.quadrature.basis(self.degree)?;
        let geometry = Geometry::new(self.mesh)?;
        let warnings = geometry.check(&basis.points)?;
        Ok((geometry, warnings))
    }

    fn space(&self, geometry: &Geometry) -> Result<Space, ProblemError> {
        let params = SpaceParams {
            degree: self.degree,
            dirichlet: self.dirichlet.iter().map(|part| part.tag.clone()).collect(),
            ..SpaceParams::default()
        };
        let space = Space::new(self.mesh, geometry, params)?;
        if space.constrained_nodes().is_empty() && self.ignores_constants() {
            return Err(ProblemError::Singular);
        }
        Ok(space)
    }

    /// Whether the form has no term with u itself, so that A 1 = 0.
    fn ignores_constants(&self) -> bool {
        let inspection = inspect::<_, 3, 1>(&self.form);
        match &inspection.coefficients {
            Some(found) if found.mass == Coefficient::OfFields => {
                let constants = self.operator.auxiliary_of(FieldKind::Cell);
                let cells = constants.map(<[f64]>::len).min().unwrap_or(0);
                (0..cells).all(|cell| found.at(&self.operator.at_cell(cell)).0 == 0.0)
            }
            _ => !inspection.reads_values,
        }
    }

    fn loads(&self, on: Discretization<'_>) -> Result<(Vec<f64>, Vec<f64>), ProblemError> {
        let mut b = on.source(self.source)?;
        for part in &self.neumann {
            on.neumann(&part.tag, part.value, &mut b)?;
        }
        let dirichlet = self.dirichlet.iter();
        let dirichlet: Vec<(&str, &dyn Function)> =
            dirichlet.map(|part| (&part.tag[..], part.value)).collect();
        Ok((b, on.boundary_values(&dirichlet)?))
    }
}

/// Makes the L-vector `b` the T-vector of the system: drops the constrained entries, and subtracts
/// what A makes of the boundary values.
fn lift<T: Number, D: Backend>(
    device: &D,
    operator: &Operator<T, D>,
    b: &mut Vec<f64>,
    boundary_values: &[f64],
) -> Result<(), ProblemError> {
    let free = operator.free_dofs();
    b.truncate(free);
    if boundary_values.iter().all(|&value| value == 0.0) {
        return Ok(());
    }
    let mut u = vec![T::default(); operator.dofs()];
    for (u, &value) in u[free..].iter_mut().zip(boundary_values) {
        *u = T::from_f64(value);
    }
    let mut product = device.zeros(u.len())?;
    operator.apply(&device.upload(&u)?, &mut product)?;
    device.read(&product, &mut u)?;
    for (b, product) in b.iter_mut().zip(&u) {
        *b -= product.to_f64();
    }
    Ok(())
}

fn preconditioner<T: Number, D: Backend + VectorOps<T>>(
    device: &D,
    operator: &Operator<T, D>,
    kind: PreconditionerKind,
) -> Result<Box<dyn Preconditioner<T, D> + Send>, ProblemError> {
    match kind {
        PreconditionerKind::None => Ok(Box::new(Identity)),
        PreconditionerKind::Jacobi => {
            let mut diagonal = device.zeros(operator.free_dofs())?;
            operator.diagonal(&mut diagonal)?;
            Ok(Box::new(Jacobi::new(device, &diagonal)?))
        }
    }
}

impl<T: Number, D: Backend + VectorOps<T>> Assembled<'_, T, D> {
    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The operator, on L-vectors and T-vectors.
    pub fn operator(&self) -> &Operator<T, D> {
        &self.operator
    }

    /// The right-hand side, a T-vector.
    pub fn right_hand_side(&self) -> &[f64] {
        &self.b
    }

    /// Solves the linear system:
    ///
    /// 7. solve: conjugate gradients on T-vectors from zero
    /// 8. extend: the boundary values behind the T-vector → the L-vector u
    /// 9. errors: u and the exact solution → norms
    ///
    /// # Errors
    /// [`ProblemError::Unsolved`], with the last iterate; memory that is not there.
    pub fn solve(&self, observer: &mut dyn Observer) -> Result<Solution, ProblemError> {
        let mut watch = Watch(observer);
        let (x, outcome) = self.iterate(&mut watch)?;
        let values = watch.last(Stage::Extend, || self.extend(&x))?;
        let u = GridFunction {
            space: Arc::clone(&self.space),
            geometry: Arc::clone(&self.geometry),
            values,
        };
        let errors = match self.exact {
            Some(exact) => Some(watch.last(Stage::Errors, || self.errors(&u, exact))?),
            None => None,
        };
        let (warnings, memory) = (self.warnings.clone(), self.memory());
        match outcome {
            Err(error) => Err(ProblemError::Unsolved(Box::new(Unsolved {
                error,
                u,
                errors,
                warnings,
                memory,
            }))),
            Ok(info) => Ok(Solution {
                u,
                info,
                errors,
                warnings,
                memory,
            }),
        }
    }

    /// The last iterate, and how it went.
    #[expect(clippy::type_complexity, reason = "used once")]
    fn iterate(
        &self,
        watch: &mut Watch<'_>,
    ) -> Result<(D::Buffer<T>, Result<cg::CgInfo, cg::CgError>), ProblemError> {
        if watch.0.stop() {
            return Err(ProblemError::Interrupted {
                stage: Stage::Solve,
            });
        }
        let (device, free) = (&self.device, self.b.len());
        watch.0.begin(Stage::Solve);
        let b: Vec<T> = self.b.iter().map(|&b| T::from_f64(b)).collect();
        let (b, mut x) = (device.upload(&b)?, device.zeros(free)?);
        let mut workspace = CgWorkspace::new(device, free)?;
        let operator = Free(&self.operator);
        let system = System {
            device,
            operator: &operator,
            preconditioner: &*self.preconditioner,
        };
        let mut see = |iteration| {
            watch.0.iteration(iteration);
            match watch.0.stop() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let outcome = cg::solve(&system, &b, &mut x, &mut workspace, &self.solver, &mut see);
        watch.0.end(Stage::Solve);
        Ok((x, outcome))
    }

    fn extend(&self, x: &D::Buffer<T>) -> Result<Vec<f64>, ProblemError> {
        let mut free = vec![T::default(); self.b.len()];
        self.device.read(x, &mut free)?;
        let mut values = Vec::with_capacity(self.operator.dofs());
        values.extend(free.iter().map(|value| value.to_f64()));
        values.extend_from_slice(&self.boundary_values);
        Ok(values)
    }

    fn errors(&self, u: &GridFunction, exact: Exact<'_>) -> Result<ErrorNorms, ProblemError> {
        let on = u.discretization(self.quadrature, self.time);
        self.device.enter(|| on.errors(&u.values, exact))
    }

    fn memory(&self) -> Memory {
        // b, x, the workspace's four and the diagonal on the device; b and u on the host.
        let (free, dofs) = (self.b.len(), self.operator.dofs());
        Memory {
            geometry: self.geometry.bytes(),
            space: self.space.bytes() - self.space.restriction().bytes(),
            operator: self.operator.bytes(),
            vectors: 7 * free * T::BYTES + (free + dofs) * size_of::<f64>(),
        }
    }
}
