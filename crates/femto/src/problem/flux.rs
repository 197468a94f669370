//! The flux of a solution as nodal functions.

use super::{Constrained, GridFunction, Problem, ProblemError, ProblemForm};
use crate::operator::{Auxiliary, Backend};
use crate::solve::cg::{self, CgWorkspace};
use crate::solve::{Jacobi, Preconditioning, StopCriteria, StopReason, System};
use crate::vector::{Projector, VectorOps};
use crate::{AnyDevice, DataLevel, Operator, OperatorParams, Quadrature};
use femto_element::Degree;
use femto_fem::space::Constraints;
use femto_kernel::expr::{Graph, Input};
use femto_kernel::form::TracedForm;
use femto_platform::device::{Buffer, check_len};

/// Relative residual of the projections.
const TOLERANCE: f64 = 1e-10;

impl Problem<'_> {
    /// The flux f1(u, ∇u) of the form along each axis, `[axis]`, each a function of the solution's space whose components
    /// are those of the form: κ ∇u, or a column of the stress. It is the L2 projection of f1 on that space, which is
    /// continuous where f1 jumps from cell to cell.
    ///
    /// # Errors
    /// As [`Operator::of_blocks`], or a mass matrix that the rule makes singular.
    pub fn flux<B>(&self, device: &B, u: &GridFunction) -> Result<Vec<GridFunction>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        device.enter(|| self.project_flux(device, u))
    }

    /// As [`Problem::flux`], on any device.
    ///
    /// # Errors
    /// As there; the null device, which only counts.
    pub fn flux_on(
        &self,
        device: &AnyDevice,
        u: &GridFunction,
    ) -> Result<Vec<GridFunction>, ProblemError> {
        match device {
            AnyDevice::Host(host) => self.flux(host, u),
            AnyDevice::Accelerator(device) => self.flux(device, u),
            AnyDevice::Null(_) => Err(ProblemError::of_null_device("find a flux: it does nothing")),
        }
    }

    pub(super) fn project_flux<B>(
        &self,
        device: &B,
        u: &GridFunction,
    ) -> Result<Vec<GridFunction>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let TracedForm { graph, dim, f1, .. } = self.form.form().trace();
        let components = self.form.components();
        let params = self.operator_params(&u.blocks);
        let params = OperatorParams {
            data_level: DataLevel::Automatic,
            is_applied_once: true,
            quadrature: self.rule_of_values(&params),
            ..params
        };
        let mass = {
            let mut graph = Graph::new();
            let f0 = (0..components as u8).map(|component| graph.input(Input::Value(component)));
            let f0 = f0.collect();
            ProblemForm::of_values(graph, f0, dim)?
        };
        let of_mass = OperatorParams {
            scatter: params.scatter,
            ..OperatorParams::default()
        };
        let mass = Operator::<f64, B>::of_blocks(device, &u.blocks, mass.form(), of_mass)?;
        check_len("the solution", u.values.len(), mass.dofs())?;
        let mut diagonal = device.zeros(u.values.len())?;
        mass.diagonal(&mut diagonal)?;
        let jacobi = Jacobi::new(device, &diagonal)?;
        let free = Projector::new(device, &Constraints::default())?;
        let mut system = System {
            device,
            operator: &Constrained::new(&mass, &free),
            preconditioning: Preconditioning::Jacobi(&jacobi),
        };
        let stop = StopCriteria {
            relative_tolerance: TOLERANCE,
            ..StopCriteria::default()
        };
        let mut workspace = CgWorkspace::new(device, u.values.len())?;
        let solution = device.upload(&u.values)?;
        let mut load = diagonal;
        let mut fluxes = Vec::new();
        for axis in 0..dim {
            let along = (0..components).map(|component| f1[component * dim + axis]);
            let form = ProblemForm::of_values(graph.clone(), along.collect(), dim)?;
            let operator =
                Operator::<f64, B>::of_blocks(device, &u.blocks, form.form(), params.clone())?;
            operator.apply(&solution, &mut load)?;
            let mut flux = device.zeros(load.len())?;
            let solved = cg::solve(
                &mut system,
                &load,
                &mut flux,
                &mut workspace,
                &stop,
                &mut (),
            );
            match solved {
                // As good as zero.
                Err(error) if matches!(error.reason, StopReason::Underflow { .. }) => (),
                Err(error) => return Err(ProblemError::Flux(Box::new(error))),
                Ok(_) => (),
            }
            let mut values = vec![0.0; flux.len()];
            device.read(&flux, &mut values)?;
            fluxes.push(GridFunction {
                blocks: u.blocks.clone(),
                values,
            });
        }
        Ok(fluxes)
    }

    /// A rule for products of values with the form's terms: a form of gradients alone may have a lower one. Fields that
    /// are given at the points of the form's rule need that.
    fn rule_of_values(&self, params: &OperatorParams) -> Quadrature {
        let mut fields = params.auxiliary.iter();
        let least = self.degree.map(|degree| 2 * degree + 2);
        match params.quadrature {
            rule if fields.any(|field| matches!(field, Auxiliary::AtPoints(_))) => rule,
            Quadrature::Exact(exact) => Quadrature::Exact(exact.max(least.most())),
            Quadrature::GaussOrExact(exact) => Quadrature::GaussOrExact(Degree::new(
                exact.horizontal.max(least.horizontal),
                exact.vertical.max(least.vertical),
            )),
            rule @ Quadrature::GaussPoints(points) if points > self.degree.most() + 2 => rule,
            _ => Quadrature::exact_to(least),
        }
    }
}
