//! Forms of tests, and a wrapper that keeps them cheap to compile.

use femto::kernel::family::batch::ElementKernel;
use femto::kernel::family::oracle::{CellFields, OracleGeometry};
use femto::kernel::family::{Block, EvalContext};
use femto::kernel::form::{Form, GraphForm, Point, TracedForm, trace};
use femto::kernel::scalar::{Scalar, SimdLevel};
use femto::operator::{AnyForm, Typed};
use femto_element::tables::Tables;

/// Deliberately unnatural: values, gradients, all kinds of fields and their gradients, position, time and
/// parameters, coupled and nonlinear.
#[derive(Clone, Copy)]
pub struct Busy;

impl<const D: usize, const C: usize> Form<D, C> for Busy {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, D, C>) -> [S; C] {
        core::array::from_fn(|c| {
            let next = p.u[(c + 1) % C];
            let slope = p.grad_u[c][D - 1] * p.grad_a[1][0];
            p.u[c] * next * p.a[0] + slope + p.x[1].sin() * p.time + p.x[0]
        })
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, D, C>) -> [[S; D]; C] {
        core::array::from_fn(|c| {
            let kappa = (p.u[c] * p.u[c] + p.a[1] * p.a[1] + 1.0).sqrt();
            core::array::from_fn(|d| {
                let other = p.grad_u[(c + 1) % C][(d + 1) % D];
                p.grad_u[c][d] * kappa + other * p.a[2] + p.parameters[0]
            })
        })
    }
}

/// -Δu + u³.
#[derive(Clone, Copy)]
pub struct Cubic;

impl<const D: usize> Form<D> for Cubic {
    fn f0<S: Scalar>(&self, p: &Point<S, D>) -> [S; 1] {
        [p.u[0].powi(3)]
    }

    fn f1<S: Scalar>(&self, p: &Point<S, D>) -> [[S; D]; 1] {
        p.grad_u
    }
}

/// Conduction with a coefficient in the solution's space: gradients only.
#[derive(Clone, Copy)]
pub struct Conduction;

impl<const D: usize> Form<D> for Conduction {
    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, D>) -> [[S; D]; 1] {
        [p.grad_u[0].map(
            #[inline(always)]
            |g| g * p.a[1],
        )]
    }
}

/// Conduction along each axis with its own field: linear, of factor form only where all fields agree.
#[derive(Clone, Copy)]
pub struct Orthotropic;

impl<const D: usize> Form<D> for Orthotropic {
    fn f0<S: Scalar>(&self, p: &Point<S, D>) -> [S; 1] {
        [p.u[0] + (p.a[0] - p.a[1]) * p.grad_u[0][0]]
    }

    fn f1<S: Scalar>(&self, p: &Point<S, D>) -> [[S; D]; 1] {
        [core::array::from_fn(|d| p.grad_u[0][d] * p.a[d])]
    }
}

/// The zero form.
#[derive(Clone, Copy)]
pub struct Nothing;

impl<const D: usize> Form<D> for Nothing {}

/// The zero form, though it looks nonzero.
#[derive(Clone, Copy)]
pub struct TimesZero;

impl<const D: usize> Form<D> for TimesZero {
    fn f1<S: Scalar>(&self, p: &Point<S, D>) -> [[S; D]; 1] {
        [p.grad_u[0].map(|g| g * 0.0)]
    }
}

/// A form whose graph the host interprets, so that its loops are not compiled; its oracle is the form itself.
/// Accelerators print all forms' graphs anyway.
pub struct Interpreted<F, const D: usize, const C: usize> {
    form: F,
    graph: Typed<GraphForm<D, C>, D, C>,
}

impl<F: Form<D, C>, const D: usize, const C: usize> Interpreted<F, D, C> {
    pub fn new(form: F) -> Self {
        let graph = GraphForm::new(&trace::<F, D, C>(&form)).expect("of these dimensions");
        Self {
            form,
            graph: Typed(graph),
        }
    }
}

impl<F: Form<D, C>, const D: usize, const C: usize> AnyForm for Interpreted<F, D, C> {
    fn trace(&self) -> TracedForm {
        trace::<F, D, C>(&self.form)
    }

    fn host_kernel_fp64(&self, block: &Block, level: SimdLevel) -> Box<dyn ElementKernel<f64>> {
        self.graph.host_kernel_fp64(block, level)
    }

    fn host_kernel_fp32(&self, block: &Block, level: SimdLevel) -> Box<dyn ElementKernel<f32>> {
        self.graph.host_kernel_fp32(block, level)
    }

    fn oracle(
        &self,
        tables: &Tables,
        geometry: OracleGeometry,
        environment: (&CellFields, &EvalContext),
        u: &[f64],
    ) -> Vec<f64> {
        femto::kernel::family::oracle::apply::<F, D, C>(
            &self.form,
            &**tables,
            geometry,
            environment,
            u,
        )
    }
}
