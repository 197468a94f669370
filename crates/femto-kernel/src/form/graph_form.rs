//! Forms given as graphs.

use super::points::{MOST_POINTS, PointForm, Points, at, physical, reference};
use super::{Form, Point, TracedForm, trace};
use crate::expr::{Input, Program, Registers};
use crate::scalar::{Lanes, Scalar};
use fearless_simd::Simd;

/// A form given by its graph: a parsed text, an integrand of a problem's functions, or a traced ready-made
/// form.
///
/// On the host an interpreter runs the graph, an instruction for many points of many cells at a time; λ u, κ ∇u with
/// constants has a loop of its own. All such forms have the same type, so programs with many forms compile the host's
/// loops only once. Accelerators print the graph, as for every form.
#[derive(Clone, Debug)]
pub struct GraphForm<const D: usize, const C: usize = 1> {
    f0: Program,
    f1: Program,
    /// Both, f0 first.
    both: Program,
    /// Whether it is λ u, κ ∇u with constants.
    isotropic: Option<Isotropic>,
}

impl<const D: usize, const C: usize> GraphForm<D, C> {
    /// The form of a graph; `None` if its dimension or number of components differs.
    pub fn new(traced: &TracedForm) -> Option<Self> {
        let fits = traced.dim == D && traced.f0.len() == C && traced.f1.len() == C * D;
        fits.then(|| Self::of_graph(traced))
    }

    /// The graph of another form.
    pub fn of(form: &impl Form<D, C>) -> Self {
        Self::of_graph(&trace::<_, D, C>(form))
    }

    fn of_graph(traced: &TracedForm) -> Self {
        Self {
            f0: Program::new(&traced.graph, &traced.f0),
            f1: Program::new(&traced.graph, &traced.f1),
            both: Program::new(&traced.graph, &traced.outputs()),
            isotropic: Isotropic::of(traced),
        }
    }
}

impl<const D: usize, const C: usize> Form<D, C> for GraphForm<D, C> {
    const INTERPRETED: bool = true;

    fn at_points<L: Lanes>(&self) -> Box<dyn PointForm<L, D>> {
        match self.isotropic {
            Some(form) => Box::new(form),
            None => Box::new(Interpreted {
                program: self.both.clone(),
                components: C,
            }),
        }
    }

    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        let mut f0 = point.u;
        self.f0.run_point(
            point.time,
            #[inline(always)]
            |input| number(point, input),
            #[inline(always)]
            |component, value| f0[component] = value,
        );
        f0
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        let mut f1 = point.grad_u;
        self.f1.run_point(
            point.time,
            #[inline(always)]
            |input| number(point, input),
            #[inline(always)]
            |i, value| f1[i / D][i % D] = value,
        );
        f1
    }
}

/// The form λ u, κ ∇u with constants.
#[derive(Clone, Copy, Debug)]
struct Isotropic {
    lambda: f64,
    kappa: f64,
}

impl Isotropic {
    fn of(traced: &TracedForm) -> Option<Self> {
        let is_unknown = |input: &Input| matches!(input, Input::Value(_) | Input::Gradient { .. });
        if !traced.inputs().iter().all(is_unknown) {
            return None;
        }
        let coefficients = traced.inspect().coefficients?;
        Some(Self {
            lambda: coefficients.mass.constant()?,
            kappa: coefficients.stiffness.constant()?,
        })
    }
}

impl<L: Lanes, const D: usize> PointForm<L, D> for Isotropic {
    fn evaluate(&self, token: L::Token, count: usize, points: &mut Points<L, D>) {
        token.vectorize(
            #[inline(always)]
            || {
                let lambda = points.time.constant(self.lambda);
                let kappa = points.time.constant(self.kappa);
                let [values, gradients] = points.sizes.wanted;
                for p in 0..count.min(MOST_POINTS) {
                    let (scale, inverse) = (points.scales[p], *points.inverse_at(p));
                    for c in 0..points.sizes.components {
                        if values {
                            points.u[c][p] = points.u[c][p] * (lambda * scale);
                        }
                        if gradients {
                            let gradient = physical(at(&points.grad_u[c], p), &inverse);
                            let along = reference(gradient, &inverse);
                            for r in 0..D {
                                points.grad_u[c][r][p] = along[r] * (kappa * scale);
                            }
                        }
                    }
                }
            },
        );
    }
}

/// A form that an interpreter runs: one program for f0, `[component]`, and f1, `[component][axis]`.
struct Interpreted {
    program: Program,
    components: usize,
}

impl<L: Lanes, const D: usize> PointForm<L, D> for Interpreted {
    fn registers(&self, like: L) -> (Registers<L, 1>, Registers<L, MOST_POINTS>) {
        (self.program.registers(like), self.program.registers(like))
    }

    fn evaluate(&self, token: L::Token, count: usize, points: &mut Points<L, D>) {
        let (mut one, mut many) = core::mem::take(&mut points.registers);
        token.vectorize(
            #[inline(always)]
            || {
                to_physical(count, points);
                match count {
                    1 => self.run(&mut one, 1, points),
                    _ => self.run(&mut many, count, points),
                }
                weigh(count, points);
            },
        );
        points.registers = (one, many);
    }
}

impl Interpreted {
    /// Runs the program at `N` points, of which `count` are given.
    #[inline(always)]
    fn run<L: Lanes, const D: usize, const N: usize>(
        &self,
        registers: &mut Registers<L, N>,
        count: usize,
        points: &mut Points<L, D>,
    ) {
        let inputs = self.program.inputs();
        let read = |i: usize, lanes: &mut [L; N]| match points.input(inputs[i]) {
            Some(all) => {
                for (lane, &value) in lanes.iter_mut().zip(all).take(count) {
                    *lane = value;
                }
            }
            None => lanes.fill(points.constant(inputs[i])),
        };
        self.program.execute(registers, read);
        for (i, lanes) in self.program.results(registers).enumerate() {
            let out = match i.checked_sub(self.components) {
                None if points.sizes.wanted[0] => &mut points.u[i],
                Some(n) if points.sizes.wanted[1] => &mut points.grad_u[n / D][n % D],
                _ => continue,
            };
            for (out, &lane) in out.iter_mut().zip(lanes).take(count) {
                *out = lane;
            }
        }
    }
}

/// Physical gradients in place of reference derivatives of the solution, if they are read.
#[inline(always)]
fn to_physical<L: Lanes, const D: usize>(count: usize, points: &mut Points<L, D>) {
    if points.sizes.reads_gradients {
        for c in 0..points.sizes.components {
            for p in 0..count.min(MOST_POINTS) {
                let gradient = physical(at(&points.grad_u[c], p), points.inverse_at(p));
                for d in 0..D {
                    points.grad_u[c][d][p] = gradient[d];
                }
            }
        }
    }
}

/// Weighs f0 and f1, where they are wanted, and turns f1 to the reference axes.
#[inline(always)]
fn weigh<L: Lanes, const D: usize>(count: usize, points: &mut Points<L, D>) {
    let [values, gradients] = points.sizes.wanted;
    for c in 0..points.sizes.components {
        for p in 0..count.min(MOST_POINTS) {
            let scale = points.scales[p];
            if values {
                points.u[c][p] = points.u[c][p] * scale;
            }
            if gradients {
                let flux = reference(at(&points.grad_u[c], p), points.inverse_at(p));
                for r in 0..D {
                    points.grad_u[c][r][p] = flux[r] * scale;
                }
            }
        }
    }
}

/// The value of an input at a point; NaN if it was not given to the operator.
#[inline(always)]
fn number<S: Scalar, const D: usize, const C: usize>(point: &Point<S, D, C>, input: Input) -> S {
    let found = match input {
        Input::Position(axis) => point.x.get(usize::from(axis)),
        Input::Time => Some(&point.time),
        Input::Parameter(index) => point.parameters.get(usize::from(index)),
        Input::Value(component) => point.u.get(usize::from(component)),
        Input::Gradient { component, axis } => along(&point.grad_u, component, axis),
        Input::Field(field) => point.a.get(usize::from(field)),
        Input::FieldGradient { field, axis } => along(point.grad_a, field, axis),
    };
    match found {
        Some(&value) => value,
        None => point.constant(f64::NAN),
    }
}

#[inline(always)]
pub(super) fn along<S, const D: usize>(gradients: &[[S; D]], which: u8, axis: u8) -> Option<&S> {
    gradients.get(usize::from(which))?.get(usize::from(axis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{NeoHookean, trace};

    #[test]
    fn a_traced_form_is_itself_again() {
        let form = NeoHookean::from_young(3.0, 0.3);
        let traced = trace::<_, 2, 2>(&form);
        let again = GraphForm::<2, 2>::new(&traced).expect("two dimensions and components");
        let grad_u = [[0.1, -0.2], [0.05, 0.3]];
        let point = Point {
            u: [0.3, 0.4],
            grad_u,
            a: &[],
            grad_a: &[],
            x: [0.1, 0.2],
            time: 0.0,
            parameters: &[],
        };
        let (found, wanted) = (again.f1(&point), form.f1(&point));
        for (found, wanted) in found.as_flattened().iter().zip(wanted.as_flattened()) {
            assert!((found - wanted).abs() < 1e-14, "{found} {wanted}");
        }
        assert_eq!(again.f0(&point), [0.0; 2]);
        assert!(GraphForm::<3, 3>::new(&traced).is_none());
    }
}
