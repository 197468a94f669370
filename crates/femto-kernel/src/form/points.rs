//! A form at the points of a batch of cells, behind one interface for all forms: loops over cells are compiled once,
//! and forms alone for each of theirs.

use super::graph_form::along;
use super::{Form, MAX_FIELDS, Point};
use crate::expr::{Input, Registers};
use crate::scalar::{ForLanes, Lanes, Real};
use fearless_simd::Simd;

/// Most points evaluated together: enough to hide the cost of a call and of an interpreter's decoding, few enough to
/// stay in the first-level cache.
pub const MOST_POINTS: usize = 8;

/// One number at each point.
pub type AtPoints<L> = [L; MOST_POINTS];

/// What [`Points`] hold for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointSizes {
    /// Number of components.
    pub components: usize,
    /// Number of auxiliary fields.
    pub fields: usize,
    /// Whether gradients of the solution are read.
    pub reads_gradients: bool,
    /// Whether f0 and f1 are evaluated.
    pub wanted: [bool; 2],
    /// Whether the map is the same at all points.
    pub constant_map: bool,
}

/// Inputs and outputs of a form at up to [`MOST_POINTS`] points. What a form does not read stays zero.
pub struct Points<L: Lanes, const D: usize> {
    /// Values of the solution; then those of test functions are multiplied by these, w det J f0, if f0 is wanted,
    /// `[component]`.
    pub u: Vec<AtPoints<L>>,
    /// Reference derivatives of the solution; then those of test functions are multiplied by these, w det J J⁻¹ f1, if
    /// f1 is wanted, `[component][axis]`.
    pub grad_u: Vec<[AtPoints<L>; D]>,
    /// Auxiliary fields, `[field]`.
    pub a: Vec<AtPoints<L>>,
    /// Their physical gradients, `[field][axis]`.
    pub grad_a: Vec<[AtPoints<L>; D]>,
    /// Positions, `[axis]`.
    pub x: [AtPoints<L>; D],
    /// J⁻¹, `[point][reference][physical]`; only the first one if the map is constant.
    pub inverse: [[[L; D]; D]; MOST_POINTS],
    /// w det J.
    pub scales: AtPoints<L>,
    /// The time.
    pub time: L,
    /// `[parameter]`
    pub parameters: [L; MAX_FIELDS],
    pub(super) sizes: PointSizes,
    /// The fields at one point. They have the maximum size, since forms may name inputs that they do not use, for
    /// instance multiplied by zero, and that are therefore not given.
    pub(crate) own: ([L; MAX_FIELDS], [[L; D]; MAX_FIELDS]),
    /// Of a form that is interpreted, for one point and for several.
    pub(super) registers: (Registers<L, 1>, Registers<L, MOST_POINTS>),
}

impl<L: Lanes, const D: usize> Points<L, D> {
    /// Room for the points of a form.
    pub fn new(token: L::Token, sizes: PointSizes, form: &dyn PointForm<L, D>) -> Self {
        let zero = L::splat(token, L::Real::from_f64(0.0));
        let zeros = [zero; MOST_POINTS];
        Self {
            u: vec![zeros; sizes.components],
            grad_u: vec![[zeros; D]; sizes.components],
            a: vec![zeros; sizes.fields],
            grad_a: vec![[zeros; D]; sizes.fields],
            x: [zeros; D],
            inverse: [[[zero; D]; D]; MOST_POINTS],
            scales: zeros,
            time: zero,
            parameters: [zero; MAX_FIELDS],
            sizes,
            own: ([zero; MAX_FIELDS], [[zero; D]; MAX_FIELDS]),
            registers: form.registers(zero),
        }
    }

    /// Sets time and parameters.
    #[inline(always)]
    pub fn set_context(&mut self, time: f64, parameters: &[f64]) {
        let zero = self.time;
        self.time = zero.constant(time);
        for (own, &value) in self.parameters.iter_mut().zip(parameters) {
            *own = zero.constant(value);
        }
    }

    /// J⁻¹ at a point.
    #[inline(always)]
    pub(super) fn inverse_at(&self, p: usize) -> &[[L; D]; D] {
        match self.sizes.constant_map {
            true => &self.inverse[0],
            false => &self.inverse[p],
        }
    }

    /// Physical gradients in place of reference derivatives of a field.
    pub fn set_gradients(&mut self, field: usize, count: usize) {
        for p in 0..count.min(MOST_POINTS) {
            let gradient = physical(at(&self.grad_a[field], p), self.inverse_at(p));
            for d in 0..D {
                self.grad_a[field][d][p] = gradient[d];
            }
        }
    }

    /// The values of an input; `None` if it is the same at all points, or was not given to the operator.
    #[inline(always)]
    pub(super) fn input(&self, input: Input) -> Option<&AtPoints<L>> {
        match input {
            Input::Position(axis) => self.x.get(usize::from(axis)),
            Input::Value(component) => self.u.get(usize::from(component)),
            Input::Gradient { component, axis } => along(&self.grad_u, component, axis),
            Input::Field(field) => self.a.get(usize::from(field)),
            Input::FieldGradient { field, axis } => along(&self.grad_a, field, axis),
            Input::Time | Input::Parameter(_) => None,
        }
    }

    /// The value of an input that is the same at all points; NaN if it was not given.
    #[inline(always)]
    pub(super) fn constant(&self, input: Input) -> L {
        let parameter = match input {
            Input::Time => return self.time,
            Input::Parameter(index) => self.parameters.get(usize::from(index)),
            _ => None,
        };
        parameter.copied().unwrap_or(self.time.constant(f64::NAN))
    }

    /// Copies the fields at a point.
    #[inline(always)]
    fn move_to(&mut self, p: usize) {
        for (own, a) in self.own.0.iter_mut().zip(&self.a) {
            *own = a[p];
        }
        for (own, grad_a) in self.own.1.iter_mut().zip(&self.grad_a) {
            *own = at(grad_a, p);
        }
    }
}

/// A form at the points of a batch.
pub trait PointForm<L: Lanes, const D: usize>: Send + Sync {
    /// Registers of an interpreter; none for compiled forms.
    fn registers(&self, _: L) -> (Registers<L, 1>, Registers<L, MOST_POINTS>) {
        Default::default()
    }

    /// Replaces values and derivatives of the solution at the first `count` points by what multiplies those of test
    /// functions, where it is wanted.
    fn evaluate(&self, token: L::Token, count: usize, points: &mut Points<L, D>);
}

/// A form compiled for lanes.
pub(super) struct Compiled<F, const C: usize>(pub(super) F);

impl<L, F, const D: usize, const C: usize> PointForm<L, D> for Compiled<F, C>
where
    L: Lanes,
    F: Form<D, C>,
{
    fn evaluate(&self, token: L::Token, count: usize, points: &mut Points<L, D>) {
        token.vectorize(
            #[inline(always)]
            || {
                for p in 0..count.min(MOST_POINTS) {
                    self.point(p, points);
                }
            },
        );
    }
}

impl<F, const C: usize> Compiled<F, C> {
    #[inline(always)]
    fn point<L: Lanes, const D: usize>(&self, p: usize, points: &mut Points<L, D>)
    where
        F: Form<D, C>,
    {
        let sizes = points.sizes;
        points.move_to(p);
        let zero = points.time.constant(0.0);
        let (mut u, mut grad_u) = ([zero; C], [[zero; D]; C]);
        for c in 0..C {
            u[c] = points.u[c][p];
        }
        if sizes.reads_gradients {
            let inverse = points.inverse_at(p);
            for c in 0..C {
                grad_u[c] = physical(at(&points.grad_u[c], p), inverse);
            }
        }
        let point = Point {
            u,
            grad_u,
            a: &points.own.0,
            grad_a: &points.own.1,
            x: at(&points.x, p),
            time: points.time,
            parameters: &points.parameters,
        };
        let scale = points.scales[p];
        if sizes.wanted[0] {
            let f0 = self.0.f0(&point);
            for c in 0..C {
                points.u[c][p] = f0[c] * scale;
            }
        }
        if sizes.wanted[1] {
            let f1 = self.0.f1(&point);
            let inverse = *points.inverse_at(p);
            for c in 0..C {
                let flux = reference(f1[c], &inverse);
                for r in 0..D {
                    points.grad_u[c][r][p] = flux[r] * scale;
                }
            }
        }
    }
}

/// A vector at one point. Loops in place of the standard library's array methods, which are not forced to inline.
#[inline(always)]
pub(super) fn at<L: Lanes, const D: usize>(all: &[AtPoints<L>; D], p: usize) -> [L; D] {
    let mut own = [all[0][p]; D];
    for d in 1..D {
        own[d] = all[d][p];
    }
    own
}

/// The physical gradient from reference derivatives: J⁻ᵀ g.
#[inline(always)]
pub(crate) fn physical<L: Lanes, const D: usize>(g: [L; D], inverse: &[[L; D]; D]) -> [L; D] {
    let mut gradient = g;
    for d in 0..D {
        gradient[d] = g[0] * inverse[0][d];
        for r in 1..D {
            gradient[d] = g[r].mul_add(inverse[r][d], gradient[d]);
        }
    }
    gradient
}

/// The coefficients of reference derivatives of a test function in a flux: J⁻¹ f.
#[inline(always)]
pub(crate) fn reference<L: Lanes, const D: usize>(f: [L; D], inverse: &[[L; D]; D]) -> [L; D] {
    let mut along = f;
    for r in 0..D {
        along[r] = f[0] * inverse[r][0];
        for d in 1..D {
            along[r] = f[d].mul_add(inverse[r][d], along[r]);
        }
    }
    along
}

/// Makes forms at points.
pub(crate) struct AtPointsOf<'a, F, const D: usize, const C: usize>(pub(crate) &'a F);

impl<F, const D: usize, const C: usize> ForLanes for AtPointsOf<'_, F, D, C>
where
    F: Form<D, C> + Clone + 'static,
{
    type Made<L: Lanes> = Box<dyn PointForm<L, D>>;

    fn make<L: Lanes>(&self) -> Self::Made<L> {
        self.0.at_points()
    }
}
