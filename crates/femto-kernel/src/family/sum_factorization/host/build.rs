//! Host kernels of a form and a storage, and their packed geometry.

use super::HostKernel;
use super::factor_stage::FactorStage;
use super::form_stage::FormStage;
use super::inputs::FieldSources;
use super::metric::{Affine, Metric, Multilinear, Stored, pack};
use super::stage::Stage;
use crate::family::batch::ElementKernel;
use crate::family::sum_factorization::factors::factors;
use crate::family::sum_factorization::work::Shape;
use crate::family::sum_factorization::{ElementGeometry, Storage};
use crate::form::Form;
use crate::scalar::simd::{SimdTask, dispatch};
use crate::scalar::{Lanes, Real, SimdLevel, Vectorizable};
use core::any::Any;
use core::marker::PhantomData;
use fearless_simd::Simd;
use femto_element::tables::TensorTables;

/// The parameters of a host kernel, besides form and precision.
#[derive(Clone, Copy, Debug)]
pub struct HostPlan<'a> {
    /// The element.
    pub basis: &'a TensorTables,
    /// Its sizes and storage.
    pub shape: Shape,
    /// The instruction set.
    pub level: SimdLevel,
}

impl HostPlan<'_> {
    /// The kernel for `form` in precision `T`; D is the dimension of the element.
    ///
    /// The factor storages, only for hexahedra, ignore the form itself: its coefficients are packed with
    /// the factors.
    pub fn build<T, F, const D: usize, const C: usize>(&self, form: &F) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        dispatch(
            self.level,
            Build::<T, F, D, C> {
                plan: *self,
                form,
                precision: PhantomData,
            },
        )
    }

    /// Length of an element's packed geometry.
    pub fn geometry_len(&self) -> usize {
        self.shape.geometry_numbers() as usize
    }

    /// Packs one element into lane `lane` of a batch of `width` lanes: `out` is
    /// `[geometry_len][width]`. `coefficients` are λ and κ, for the factor storages.
    pub fn pack<T: Real>(
        &self,
        (lane, width): (usize, usize),
        geometry: ElementGeometry,
        coefficients: (f64, f64),
        out: &mut [T],
    ) {
        let Shape {
            dim,
            storage,
            values,
            gradients,
            position: with_position,
            ..
        } = self.shape;
        let wanted = (values, gradients);
        match (storage, geometry) {
            (Storage::Affine | Storage::Multilinear, ElementGeometry::Map(c)) => {
                pack(out, width, lane, 0, self.shape.kept(c));
            }
            (Storage::Jacobians, ElementGeometry::Points { jacobian, position }) => {
                let columns = jacobian.iter().flat_map(|j| self.shape.columns(j));
                let positions = position.iter().filter(|_| with_position);
                let positions = positions.flat_map(|x| &x[..dim]).copied();
                pack(out, width, lane, 0, columns.chain(positions));
            }
            (Storage::ElementFactors, ElementGeometry::Map(c)) if dim == 3 => {
                let jacobian = [0, 1, 2].map(|row| [c[1][row], c[2][row], c[4][row]]);
                let factors = factors(&jacobian, 1.0, coefficients, wanted);
                pack(out, width, lane, 0, factors);
            }
            (Storage::PointFactors, ElementGeometry::Points { jacobian, .. }) if dim == 3 => {
                let (n, w) = (self.basis.points_1d, &self.basis.weights);
                let count = self.geometry_len() / jacobian.len();
                for (p, j) in jacobian.iter().enumerate() {
                    let weight = w[p % n] * w[p / n % n] * w[p / (n * n)];
                    let factors = factors(j, weight, coefficients, wanted);
                    pack(out, width, lane, count * p, factors);
                }
            }
            (storage, _) => unreachable!("geometry of another kind than {storage:?} stores"),
        }
    }
}

/// Builds the kernel once the instruction set is chosen.
struct Build<'a, T, F, const D: usize, const C: usize> {
    plan: HostPlan<'a>,
    form: &'a F,
    precision: PhantomData<T>,
}

impl<T, F, const D: usize, const C: usize> SimdTask for Build<'_, T, F, D, C>
where
    T: Vectorizable,
    F: Form<D, C> + Clone + 'static,
{
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, _: S) -> Self::Output {
        let stage: Box<dyn Stage<T::Lanes<S>>> = match self.plan.shape.storage {
            Storage::Affine => self.form_stage::<T::Lanes<S>, Affine>(),
            Storage::Multilinear => self.form_stage::<T::Lanes<S>, Multilinear>(),
            Storage::Jacobians => self.form_stage::<T::Lanes<S>, Stored>(),
            Storage::ElementFactors | Storage::PointFactors => return finish(&self.plan, None),
        };
        finish(&self.plan, Some(Box::new(stage)))
    }
}

/// The stage of a form, a `Box<dyn Stage<T::Lanes<S>>>` of the plan's instruction set; `None` for factors.
type AnyStage = Option<Box<dyn Any>>;

/// The kernel of a stage.
///
/// Everything but the form's stage is the same for all forms and is compiled here once, not in every crate
/// with forms.
fn finish<T: Vectorizable>(plan: &HostPlan, stage: AnyStage) -> Box<dyn ElementKernel<T>> {
    let kernel: Box<dyn Any> = match T::BYTES {
        8 => Box::new(finish_fp64(plan, stage)),
        _ => Box::new(finish_fp32(plan, stage)),
    };
    let kernel = kernel.downcast::<Box<dyn ElementKernel<T>>>();
    *kernel.expect("two precisions have different sizes")
}

#[inline(never)]
fn finish_fp64(plan: &HostPlan, stage: AnyStage) -> Box<dyn ElementKernel<f64>> {
    dispatch(plan.level, Finish::new(plan, stage))
}

#[inline(never)]
fn finish_fp32(plan: &HostPlan, stage: AnyStage) -> Box<dyn ElementKernel<f32>> {
    dispatch(plan.level, Finish::new(plan, stage))
}

/// Builds the kernel around a stage.
struct Finish<'a, T> {
    plan: &'a HostPlan<'a>,
    stage: AnyStage,
    precision: PhantomData<T>,
}

impl<'a, T> Finish<'a, T> {
    fn new(plan: &'a HostPlan<'a>, stage: AnyStage) -> Self {
        Self {
            plan,
            stage,
            precision: PhantomData,
        }
    }
}

impl<T: Vectorizable> SimdTask for Finish<'_, T> {
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        let shape = self.plan.shape;
        let stage: Box<dyn Stage<T::Lanes<S>>> = match self.stage {
            Some(stage) => *stage
                .downcast()
                .expect("an instruction set has one kind of lanes"),
            None if shape.storage == Storage::ElementFactors => factor_stage::<_, true>(shape),
            None => factor_stage::<_, false>(shape),
        };
        let len = self.plan.geometry_len();
        Box::new(HostKernel::new(token, self.plan.basis, stage, len))
    }
}

impl<T, F, const D: usize, const C: usize> Build<'_, T, F, D, C>
where
    F: Form<D, C> + Clone + 'static,
{
    fn form_stage<L: Lanes, M: Metric<L, D>>(&self) -> Box<dyn Stage<L>> {
        let shape = &self.plan.shape;
        Box::new(FormStage::<F, M, D, C> {
            form: self.form.clone(),
            values: shape.values || !shape.gradients,
            gradients: shape.gradients,
            reads_position: shape.position,
            fields: FieldSources::new(&shape.fields, shape.field_gradients),
            metric: PhantomData,
        })
    }
}

fn factor_stage<L: Lanes, const PER_ELEMENT: bool>(shape: Shape) -> Box<dyn Stage<L>> {
    let components = shape.components;
    match (shape.values, shape.gradients) {
        (true, true) => Box::new(FactorStage::<true, true, PER_ELEMENT> { components }),
        (false, true) => Box::new(FactorStage::<false, true, PER_ELEMENT> { components }),
        (_, false) => Box::new(FactorStage::<true, false, PER_ELEMENT> { components }),
    }
}
