//! Host kernels of a form and a storage, and their packed geometry.

use super::HostKernel;
use super::columns::Columns;
use super::entries::Kernel;
use super::factor_sources::{OfDeterminant, OfElement, OfMap, OfPoints, Source};
use super::factor_stage::FactorStage;
use super::form_stage::FormStage;
use super::inputs::FieldSources;
use super::interpreted_stage::InterpretedStage;
use super::metric::{Affine, Metric, Multilinear, Stored};
use super::stage::Stage;
use crate::family::CellMap;
use crate::family::batch::{ElementKernel, in_precision};
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::pack::numbers;
use crate::family::sum_factorization::work::{COLUMNS, Shape};
use crate::form::{Form, PointForm};
use crate::scalar::{AnyLanes, ForLanes, Lanes, SimdLevel, SimdTask, Vectorizable, dispatch};
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
    /// Where coefficients are folded, only on hexahedra, the form itself is ignored: they are packed with the
    /// geometry.
    pub fn build<T, F, const D: usize, const C: usize>(&self, form: &F) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        let maker = StageOf::<F, D, C> {
            shape: self.shape,
            form,
        };
        let stage =
            (!self.shape.storage.is_factors()).then(|| AnyLanes::new::<T, _>(self.level, &maker));
        in_precision::<T, _>(stage, |stage| self.fp64(stage), |stage| self.fp32(stage))
    }

    #[inline(never)]
    fn fp64(&self, stage: Option<AnyLanes>) -> Box<dyn ElementKernel<f64>> {
        dispatch(self.level, Build::new(self, stage))
    }

    #[inline(never)]
    fn fp32(&self, stage: Option<AnyLanes>) -> Box<dyn ElementKernel<f32>> {
        dispatch(self.level, Build::new(self, stage))
    }

    /// Length of an element's packed geometry.
    pub fn geometry_len(&self) -> usize {
        self.shape.geometry_numbers() as usize
    }

    /// Packs one element: `out` is `[geometry_len]`, factors `[point][factor]`, Jacobians of all points before positions.
    /// `coefficients` are λ and κ, if they are folded.
    pub fn pack(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]) {
        let shape = &self.shape;
        let (points, d, storage) = (self.basis.points(), shape.dim, shape.storage);
        let count = self.geometry_len() / points;
        numbers((shape, self.basis), map, coefficients, |(p, n), number| {
            let place = match storage {
                Storage::PointFactors => count * p + n,
                Storage::Jacobians if n < d * d => p * d * d + n,
                Storage::Jacobians => points * d * d + p * d + n - d * d,
                _ => n,
            };
            out[place] = number;
        });
    }
}

/// Makes the stage of a form.
struct StageOf<'a, F, const D: usize, const C: usize> {
    shape: Shape,
    form: &'a F,
}

impl<F, const D: usize, const C: usize> ForLanes for StageOf<'_, F, D, C>
where
    F: Form<D, C> + Clone + 'static,
{
    type Made<L: Lanes> = Box<dyn Stage<L>>;

    fn make<L: Lanes>(&self) -> Box<dyn Stage<L>> {
        match self.shape.storage {
            Storage::Affine => self.of_metric::<L, Affine>(),
            Storage::Multilinear => self.of_metric::<L, Multilinear>(),
            _ => self.of_metric::<L, Stored>(),
        }
    }
}

impl<F, const D: usize, const C: usize> StageOf<'_, F, D, C>
where
    F: Form<D, C> + Clone + 'static,
{
    fn of_metric<L: Lanes, M: Metric<L, D>>(&self) -> Box<dyn Stage<L>> {
        if F::INTERPRETED || L::NARROW {
            return interpreted::<L, M, D>(self.form.at_points(), &self.shape);
        }
        match F::VALUES_ONLY && !self.shape.gradients {
            true => self.compiled::<L, M, false>(),
            false => self.compiled::<L, M, true>(),
        }
    }

    fn compiled<L: Lanes, M: Metric<L, D>, const GRADIENTS: bool>(&self) -> Box<dyn Stage<L>> {
        let shape = &self.shape;
        Box::new(FormStage::<F, M, D, C, GRADIENTS> {
            form: self.form.clone(),
            values: shape.values || !shape.gradients,
            gradients: shape.gradients,
            reads_position: shape.position,
            fields: FieldSources::new(&shape.fields, shape.field_gradients),
            metric: PhantomData,
        })
    }
}

/// Not inlined into the crates with forms.
#[inline(never)]
fn interpreted<L: Lanes, M: Metric<L, D>, const D: usize>(
    form: Box<dyn PointForm<L, D>>,
    shape: &Shape,
) -> Box<dyn Stage<L>> {
    Box::new(InterpretedStage::<L, M, D>::new(form, shape))
}

/// Builds the kernel around a stage once the instruction set is chosen.
struct Build<'a, T> {
    plan: HostPlan<'a>,
    /// `None` where coefficients are folded.
    stage: Option<AnyLanes>,
    precision: PhantomData<T>,
}

impl<'a, T> Build<'a, T> {
    fn new(plan: &HostPlan<'a>, stage: Option<AnyLanes>) -> Self {
        Self {
            plan: *plan,
            stage,
            precision: PhantomData,
        }
    }
}

impl<T: Vectorizable> SimdTask for Build<'_, T> {
    type Output = Box<dyn ElementKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        if self.plan.shape.storage == Storage::Entries {
            return Box::new(Kernel::<T::Lanes<S>>::new(token, &self.plan.shape));
        }
        let stage: Box<dyn Stage<T::Lanes<S>>> = match self.stage {
            Some(stage) => stage.take(),
            None => factor_stage(&self.plan.shape),
        };
        let len = self.plan.geometry_len();
        Box::new(HostKernel::new(token, self.plan.basis, stage, len))
    }
}

fn factor_stage<L: Lanes>(shape: &Shape) -> Box<dyn Stage<L>> {
    match shape.points_1d <= COLUMNS {
        true => factors_of::<L, Columns>(shape),
        false => factors_of::<L, Multilinear>(shape),
    }
}

fn factors_of<L: Lanes, M: Metric<L, 3>>(shape: &Shape) -> Box<dyn Stage<L>> {
    match (shape.storage, shape.values, shape.gradients) {
        (Storage::MapFactors, _, false) => stage::<L, OfDeterminant>(shape),
        (Storage::MapFactors, true, true) => stage::<L, OfMap<M, true>>(shape),
        (Storage::MapFactors, false, true) => stage::<L, OfMap<M, false>>(shape),
        (Storage::ElementFactors, _, false) => stage::<L, OfElement<true, false>>(shape),
        (Storage::ElementFactors, true, true) => stage::<L, OfElement<true, true>>(shape),
        (Storage::ElementFactors, false, true) => stage::<L, OfElement<false, true>>(shape),
        (_, _, false) => stage::<L, OfPoints<true, false>>(shape),
        (_, true, true) => stage::<L, OfPoints<true, true>>(shape),
        (_, false, true) => stage::<L, OfPoints<false, true>>(shape),
    }
}

fn stage<L: Lanes, S: Source<L>>(shape: &Shape) -> Box<dyn Stage<L>> {
    Box::new(FactorStage::<S>::new(shape))
}
