//! From a form and a storage of the geometry to a kernel and its packed data.

use super::factor_stage::FactorStage;
use super::form_stage::FormStage;
use super::metric::{Affine, Metric, Stored, Trilinear, pack};
use super::stage::Stage;
use super::{HexKernel, Kernel};
use crate::family::tensor_hex::{Basis, ElementGeometry, Storage};
use crate::form::{Form, Inspection};
use crate::scalar::simd::{SimdTask, dispatch};
use crate::scalar::{Lanes, Real, SimdLevel, Vectorizable};
use core::marker::PhantomData;
use fearless_simd::Simd;

/// Everything that fixes a host kernel but the form and the precision.
#[derive(Clone, Copy, Debug)]
pub struct HexPlan<'a> {
    /// The element.
    pub basis: &'a Basis,
    /// How the geometry is kept.
    pub storage: Storage,
    /// Whether values enter or leave the form.
    pub values: bool,
    /// Whether gradients enter or leave the form.
    pub gradients: bool,
    /// Whether the form reads the position.
    pub position: bool,
    /// The instruction set.
    pub level: SimdLevel,
}

impl<'a> HexPlan<'a> {
    /// The plan for a form that was inspected.
    pub fn new<const C: usize>(
        basis: &'a Basis,
        storage: Storage,
        inspection: &Inspection<C>,
        level: SimdLevel,
    ) -> Self {
        Self {
            basis,
            storage,
            values: inspection.values(),
            gradients: inspection.gradients(),
            position: inspection.reads_position,
            level,
        }
    }

    /// The kernel for `form` in precision `T`.
    ///
    /// The factor storages ignore the form itself: its coefficients are packed with the factors.
    pub fn build<T, F, const C: usize>(&self, form: &F) -> Box<dyn HexKernel<T>>
    where
        T: Vectorizable,
        F: Form<3, C> + Clone + 'static,
    {
        dispatch(
            self.level,
            Build::<T, F, C> {
                plan: *self,
                form,
                precision: PhantomData,
            },
        )
    }

    /// Numbers of packed geometry per element.
    pub fn geometry_len(&self) -> usize {
        let (points, factors) = (self.basis.points(), self.factor_count());
        let positions = |count: usize| if self.position { 3 * count } else { 0 };
        match self.storage {
            Storage::Affine => 9 + positions(1),
            Storage::Trilinear => 21 + positions(1),
            Storage::Jacobians => 9 * points + positions(points),
            Storage::ElementFactors => factors,
            Storage::PointFactors => factors * points,
        }
    }

    fn factor_count(&self) -> usize {
        6 * usize::from(self.gradients) + usize::from(self.values)
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
        match (self.storage, geometry) {
            (Storage::Affine, ElementGeometry::Map(c)) => {
                let kept = [c[1], c[2], c[4]]
                    .into_iter()
                    .chain(self.position.then_some(c[0]));
                pack(out, width, lane, 0, kept.flatten());
            }
            (Storage::Trilinear, ElementGeometry::Map(c)) => {
                let kept = c[1..].iter().chain(self.position.then_some(&c[0]));
                pack(out, width, lane, 0, kept.copied().flatten());
            }
            (Storage::Jacobians, ElementGeometry::Points { jacobian, position }) => {
                for (p, j) in jacobian.iter().enumerate() {
                    let columns = [0, 1, 2].map(|column| [0, 1, 2].map(|row| j[row][column]));
                    pack(out, width, lane, 9 * p, columns.into_iter().flatten());
                }
                if self.position {
                    let positions = position.iter().copied().flatten();
                    pack(out, width, lane, 9 * jacobian.len(), positions);
                }
            }
            (Storage::ElementFactors, ElementGeometry::Map(c)) => {
                let jacobian = [0, 1, 2].map(|row| [c[1][row], c[2][row], c[4][row]]);
                pack(
                    out,
                    width,
                    lane,
                    0,
                    self.factors(&jacobian, 1.0, coefficients),
                );
            }
            (Storage::PointFactors, ElementGeometry::Points { jacobian, .. }) => {
                let (n, w) = (self.basis.points_1d, &self.basis.weights);
                let count = self.factor_count();
                for (p, j) in jacobian.iter().enumerate() {
                    let weight = w[p % n] * w[p / n % n] * w[p / (n * n)];
                    let factors = self.factors(j, weight, coefficients);
                    pack(out, width, lane, count * p, factors);
                }
            }
            (storage, _) => unreachable!("geometry of another kind than {storage:?} stores"),
        }
    }

    /// κ w det J J⁻¹J⁻ᵀ (rr, rs, rt, ss, st, tt) and λ w det J, whichever the form needs (seed 002,
    /// eq. 10).
    fn factors(
        &self,
        j: &[[f64; 3]; 3],
        weight: f64,
        (mass, stiffness): (f64, f64),
    ) -> impl Iterator<Item = f64> + use<> {
        let column = |c: usize| [j[0][c], j[1][c], j[2][c]];
        let (a, b, c) = (column(0), column(1), column(2));
        let adjugate = [cross(b, c), cross(c, a), cross(a, b)];
        let determinant = dot(a, adjugate[0]);
        let scale = stiffness * weight / determinant;
        let pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
        let metric = pairs.map(|(r, s)| scale * dot(adjugate[r], adjugate[s]));
        let take = if self.gradients { 6 } else { 0 };
        let value = self.values.then_some(mass * weight * determinant);
        metric.into_iter().take(take).chain(value)
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - a[j] * b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Builds the kernel once the instruction set is known.
struct Build<'a, T, F, const C: usize> {
    plan: HexPlan<'a>,
    form: &'a F,
    precision: PhantomData<T>,
}

impl<T, F, const C: usize> SimdTask for Build<'_, T, F, C>
where
    T: Vectorizable,
    F: Form<3, C> + Clone + 'static,
{
    type Output = Box<dyn HexKernel<T>>;

    fn run<S: Simd>(self, token: S) -> Self::Output {
        let HexPlan {
            basis,
            storage,
            values,
            gradients,
            ..
        } = self.plan;
        let stage: Box<dyn Stage<T::Lanes<S>>> = match storage {
            Storage::Affine => self.form_stage::<T::Lanes<S>, Affine>(),
            Storage::Trilinear => self.form_stage::<T::Lanes<S>, Trilinear>(),
            Storage::Jacobians => self.form_stage::<T::Lanes<S>, Stored>(),
            Storage::ElementFactors => factor_stage::<_, true>(C, basis, values, gradients),
            Storage::PointFactors => factor_stage::<_, false>(C, basis, values, gradients),
        };
        Box::new(Kernel::new(token, basis, stage))
    }
}

impl<T, F, const C: usize> Build<'_, T, F, C>
where
    F: Form<3, C> + Clone + 'static,
{
    fn form_stage<L: Lanes, M: Metric<L>>(&self) -> Box<dyn Stage<L>> {
        if self.plan.gradients {
            Box::new(self.stage::<M, true>())
        } else {
            Box::new(self.stage::<M, false>())
        }
    }

    fn stage<M, const GRADIENTS: bool>(&self) -> FormStage<F, M, C, GRADIENTS> {
        FormStage {
            form: self.form.clone(),
            points_1d: self.plan.basis.points_1d,
            values: self.plan.values,
            reads_position: self.plan.position,
            metric: PhantomData,
        }
    }
}

fn factor_stage<L: Lanes, const PER_ELEMENT: bool>(
    components: usize,
    basis: &Basis,
    values: bool,
    gradients: bool,
) -> Box<dyn Stage<L>> {
    let points_1d = basis.points_1d;
    match (values, gradients) {
        (true, true) => Box::new(FactorStage::<true, true, PER_ELEMENT> {
            components,
            points_1d,
        }),
        (false, true) => Box::new(FactorStage::<false, true, PER_ELEMENT> {
            components,
            points_1d,
        }),
        (_, false) => Box::new(FactorStage::<true, false, PER_ELEMENT> {
            components,
            points_1d,
        }),
    }
}
