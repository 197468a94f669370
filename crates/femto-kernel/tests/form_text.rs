//! Forms as text: the same results as forms in Rust, for every kind of number, and errors in words.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a failure shows its seed")]

use fearless_simd::Simd;
use femto_kernel::form::{
    Coefficient, Componentwise, ConvectionDiffusion, Diffusion, Expressions, Form, FormExpressions,
    GraphForm, Jacobian, LinearElasticity, Mass, NeoHookean, NonlinearDiffusion, PLaplacian, Point,
    Poisson, ScreenedPoisson, SymmetricGradient, TracedForm, inspect, trace,
};
use femto_kernel::scalar::{Lanes, Scalar, SimdLevel, SimdTask, Traced, Vectorizable, dispatch};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::cell::RefCell;

/// A form's inputs at a point, as numbers.
#[derive(Clone, Debug)]
struct State<const D: usize, const C: usize> {
    u: [f64; C],
    grad_u: [[f64; D]; C],
    a: Vec<f64>,
    grad_a: Vec<[f64; D]>,
    x: [f64; D],
    time: f64,
    parameters: Vec<f64>,
}

/// Enough fields for the two components of a state, followed by a form's own.
const FIELDS: usize = 5;

impl<const D: usize, const C: usize> State<D, C> {
    fn random(rng: &mut SmallRng) -> Self {
        let slopes = |rng: &mut SmallRng| std::array::from_fn(|_| rng.random_range(-0.3..0.3));
        Self {
            u: std::array::from_fn(|_| rng.random_range(-1.0..1.0)),
            grad_u: std::array::from_fn(|_| slopes(rng)),
            a: (0..FIELDS).map(|_| rng.random_range(0.5..2.0)).collect(),
            grad_a: (0..FIELDS).map(|_| slopes(rng)).collect(),
            x: std::array::from_fn(|_| rng.random_range(-1.0..1.0)),
            time: rng.random_range(0.0..1.0),
            parameters: (0..3).map(|_| rng.random_range(0.5..2.0)).collect(),
        }
    }
}

/// f0, then f1, of every form over lanes that all hold the same state.
struct OverLanes<'a, F, T, const D: usize, const C: usize> {
    form: &'a F,
    state: &'a State<D, C>,
    precision: std::marker::PhantomData<T>,
}

impl<F: Form<D, C>, T: Vectorizable, const D: usize, const C: usize> SimdTask
    for OverLanes<'_, F, T, D, C>
{
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> Vec<f64> {
        let lanes = |value: f64| T::Lanes::<S>::splat(token, T::from_f64(value));
        let outputs = evaluate(self.form, self.state, lanes);
        outputs
            .iter()
            .map(|f| f.lanes()[T::Lanes::<S>::WIDTH - 1].to_f64())
            .collect()
    }
}

/// f0, then f1, in the kind of number made by `make`.
#[inline(always)]
fn evaluate<F: Form<D, C>, S: Scalar, const D: usize, const C: usize>(
    form: &F,
    state: &State<D, C>,
    make: impl Fn(f64) -> S + Copy,
) -> Vec<S> {
    let a: Vec<S> = state.a.iter().map(|&a| make(a)).collect();
    let grad_a: Vec<[S; D]> = state.grad_a.iter().map(|g| g.map(make)).collect();
    let parameters: Vec<S> = state.parameters.iter().map(|&p| make(p)).collect();
    let point = Point {
        u: state.u.map(make),
        grad_u: state.grad_u.map(|g| g.map(make)),
        a: &a,
        grad_a: &grad_a,
        x: state.x.map(make),
        time: make(state.time),
        parameters: &parameters,
    };
    let (f0, f1) = (form.f0(&point), form.f1(&point));
    f0.into_iter().chain(f1.into_iter().flatten()).collect()
}

fn numbers<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    state: &State<D, C>,
) -> Vec<f64> {
    evaluate(form, state, |value| value)
}

#[track_caller]
fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (f, w) in found.iter().zip(wanted) {
        let close = (f - w).abs() <= tolerance * (1.0 + w.abs());
        assert!(close, "{found:?}, not {wanted:?}");
    }
}

fn parse<const D: usize, const C: usize>(
    f0: Option<Expressions>,
    f1: Option<Expressions>,
) -> TracedForm {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let expressions = FormExpressions {
        f0,
        f1,
        fields: names(&["kappa", "velocity"]),
        parameters: names(&["mu", "p"]),
    };
    TracedForm::parse(&expressions, D, C).unwrap()
}

/// Compares a form as text with the same form in Rust: its values, those of its derivative, over lanes of
/// each instruction set, and its inspected properties.
#[track_caller]
fn assert_same<F: Form<D, C> + Copy, const D: usize, const C: usize>(
    rust: F,
    f0: Option<Expressions>,
    f1: Option<Expressions>,
) {
    let seed = rand::random();
    println!("seed {seed}");
    let rng = &mut SmallRng::seed_from_u64(seed);
    let traced = parse::<D, C>(f0, f1);
    let text = GraphForm::<D, C>::new(&traced).unwrap();
    let jacobian = (Jacobian(text.clone()), Jacobian(rust));
    for _ in 0..10 {
        let state = State::<D, C>::random(rng);
        let wanted = numbers(&rust, &state);
        assert_close(&numbers(&text, &state), &wanted, 1e-13);
        let slopes = numbers(&jacobian.1, &state);
        assert_close(&numbers(&jacobian.0, &state), &slopes, 1e-12);
        for &level in SimdLevel::available() {
            assert_close(
                &over_lanes::<f64, _, D, C>(level, &text, &state),
                &wanted,
                1e-13,
            );
            assert_close(
                &over_lanes::<f32, _, D, C>(level, &text, &state),
                &wanted,
                1e-5,
            );
            let found = over_lanes::<f64, _, D, C>(level, &jacobian.0, &state);
            assert_close(&found, &slopes, 1e-12);
        }
    }
    let (found, wanted) = (inspect::<_, D, C>(&text), inspect::<_, D, C>(&rust));
    assert_eq!(
        (found.linear, found.symmetric),
        (wanted.linear, wanted.symmetric)
    );
    assert_eq!(found.coefficients.is_some(), wanted.coefficients.is_some());
    assert_eq!(
        (found.auxiliary, found.parameters),
        (wanted.auxiliary, wanted.parameters)
    );
    assert_is_traced_to_itself(&text, &traced);
}

fn over_lanes<T: Vectorizable, F: Form<D, C>, const D: usize, const C: usize>(
    level: SimdLevel,
    form: &F,
    state: &State<D, C>,
) -> Vec<f64> {
    let precision = std::marker::PhantomData::<T>;
    let task = OverLanes {
        form,
        state,
        precision,
    };
    dispatch(level, task)
}

/// A form as text that runs on symbols of its own graph reproduces its nodes.
#[track_caller]
fn assert_is_traced_to_itself<const D: usize, const C: usize>(
    form: &GraphForm<D, C>,
    traced: &TracedForm,
) {
    use femto_kernel::expr::Input;
    let graph = RefCell::new(traced.graph.clone());
    let input = |input| Traced::input(&graph, input);
    let gradient = |component: usize, axis: usize| Input::Gradient {
        component: component as u8,
        axis: axis as u8,
    };
    let slope = |field: usize, axis: usize| Input::FieldGradient {
        field: field as u8,
        axis: axis as u8,
    };
    let a: Vec<Traced> = (0..FIELDS).map(|i| input(Input::Field(i as u8))).collect();
    let grad_a: Vec<[Traced; D]> = (0..FIELDS)
        .map(|i| std::array::from_fn(|axis| input(slope(i, axis))))
        .collect();
    let parameters: Vec<Traced> = (0..3).map(|i| input(Input::Parameter(i))).collect();
    let point = Point {
        u: std::array::from_fn(|c| input(Input::Value(c as u8))),
        grad_u: std::array::from_fn(|c| std::array::from_fn(|axis| input(gradient(c, axis)))),
        a: &a,
        grad_a: &grad_a,
        x: std::array::from_fn(|axis| input(Input::Position(axis as u8))),
        time: input(Input::Time),
        parameters: &parameters,
    };
    let f0 = form.f0(&point).map(Traced::handle);
    let f1 = form.f1(&point).map(|row| row.map(Traced::handle));
    assert_eq!(f0.as_slice(), traced.f0);
    assert_eq!(f1.as_flattened(), traced.f1);
    assert_eq!(trace(form).ops(), traced.ops());
}

fn some<T: Into<Expressions>>(expressions: T) -> Option<Expressions> {
    Some(expressions.into())
}

#[test]
fn scalar_forms_are_the_same_in_text_and_in_rust() {
    let [kappa, mu] = [Coefficient::Auxiliary(0), Coefficient::Parameter(0)];
    assert_same::<_, 3, 1>(Mass, some("u"), None);
    assert_same::<_, 2, 1>(Poisson, None, some("grad(u)"));
    assert_same::<_, 2, 1>(Poisson, None, some(["u_x", "u_y"]));
    assert_same::<_, 3, 1>(Poisson, some("0"), some([["u_x", "u_y", "u_z"]]));
    let screened = ScreenedPoisson { lambda: Some(1.5) };
    assert_same::<_, 3, 1>(screened, some("1.5*u"), some("grad(u)"));
    let screened = ScreenedPoisson { lambda: None };
    assert_same::<_, 3, 1>(screened, some("u * kappa"), some("grad(u)"));
    assert_same::<_, 3, 1>(Diffusion { kappa }, None, some("kappa*grad(u)"));
    assert_same::<_, 2, 1>(Diffusion { kappa: mu }, None, some("grad(u)*mu"));
    let nonlinear = NonlinearDiffusion::default();
    assert_same::<_, 2, 1>(nonlinear, None, some("(1 + u^2)*grad(u)"));
    let convection = ConvectionDiffusion {
        kappa: mu,
        velocity: [Coefficient::Auxiliary(1), 0.5.into()],
    };
    assert_same::<_, 2, 1>(
        convection,
        some("velocity*u_x + u_y/2"),
        some("mu * grad(u)"),
    );
    let square = "(0.01 + u_x^2 + u_y^2 + u_z^2)";
    for (p, power) in [(1.5, "^-0.25"), (4.0, ""), (5.0, "^1.5"), (6.0, "^2")] {
        let form = PLaplacian { p, epsilon: 0.1 };
        let flux = format!("{square}{power} * grad(u)");
        assert_same::<_, 3, 1>(form, None, some(&flux[..]));
    }
}

#[test]
fn systems_are_the_same_in_text_and_in_rust() {
    let [lambda, mu] = [Coefficient::Auxiliary(0), Coefficient::Parameter(0)];
    assert_same::<_, 3, 3>(Componentwise::<_, 3>(Mass), some("u"), None);
    let poisson = Componentwise::<_, 2>(Poisson);
    assert_same::<_, 3, 2>(poisson, None, some(["grad(u0)", "grad(u1)"]));
    let diffusion = Componentwise::<_, 2>(Diffusion { kappa: lambda });
    assert_same::<_, 3, 2>(diffusion, None, some("kappa*grad(u)"));
    let body = LinearElasticity { lambda, mu };
    let trace = "kappa*(u0_x + u1_y)";
    let [s00, s11] = ["u0_x", "u1_y"].map(|slope| format!("{trace} + 2*mu*{slope}"));
    let shear = "mu*(u0_y + u1_x)";
    assert_same::<_, 2, 2>(body, None, some([[&s00, shear], [shear, &s11]]));
    let half = [["u0_x", "(u0_y + u1_x)/2"], ["0.5*(u1_x + u0_y)", "u1_y"]];
    assert_same::<_, 2, 2>(SymmetricGradient, None, some(half));
    let j = "((1 + u0_x)*(1 + u1_y) - u0_y*u1_x)";
    let pressure = format!("(kappa*ln({j}) - mu)/{j}");
    let entries = ["1 + u0_x", "u0_y", "u1_x", "1 + u1_y"];
    let cofactors = ["(1 + u1_y)", "(-u1_x)", "(-u0_y)", "(1 + u0_x)"];
    let stress = |i: usize| format!("mu*({}) + {pressure}*{}", entries[i], cofactors[i]);
    let [s0, s1, s2, s3] = [0, 1, 2, 3].map(stress);
    let body = NeoHookean { lambda, mu };
    assert_same::<_, 2, 2>(body, None, some([[&s0[..], &s1], [&s2, &s3]]));
}

#[test]
fn a_neo_hookean_body_in_space_as_text() {
    let f = |i: usize, j: usize| {
        let slope = format!("u{i}_{}", ["x", "y", "z"][j]);
        if i == j {
            format!("(1 + {slope})")
        } else {
            slope
        }
    };
    let cofactor = |i: usize, j: usize| {
        let [a, b, c, d] = [(i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3];
        format!("({}*{} - {}*{})", f(a, c), f(b, d), f(a, d), f(b, c))
    };
    let row = |j: usize| format!("{}*{}", f(0, j), cofactor(0, j));
    let j = format!("({} + {} + {})", row(0), row(1), row(2));
    let stress = |i: usize, k: usize| {
        format!(
            "mu*{} + (kappa*ln({j}) - mu)/{j}*{}",
            f(i, k),
            cofactor(i, k)
        )
    };
    let rows = (0..3).map(|i| (0..3).map(|k| stress(i, k)).collect());
    let body = NeoHookean {
        lambda: Coefficient::Auxiliary(0),
        mu: Coefficient::Parameter(0),
    };
    assert_same::<_, 3, 3>(body, None, Some(Expressions::Matrix(rows.collect())));
}

/// Reads every input of a form.
#[derive(Clone, Copy)]
struct Everything;
impl Form<2, 2> for Everything {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 2, 2>) -> [S; 2] {
        [0, 1].map(|c| p.u[c] * p.grad_a[0][1] + p.x[0].sin() * p.time + p.parameters[1])
    }
    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, 2, 2>) -> [[S; 2]; 2] {
        let flux = |c: usize, d: usize| {
            let limited = p.grad_u[c][d].min(p.a[1]).abs();
            let below = p.u[0].less(p.u[c] * 0.5 + p.x[1]);
            limited.sqrt() * p.grad_a[1][d] + S::select(below, p.grad_u[c][0], p.u[1])
        };
        [0, 1].map(|c| [0, 1].map(|d| flux(c, d)))
    }
}

#[test]
fn texts_can_read_every_input() {
    let f0 = "u*kappa_y + sin(x)*t + p";
    let f1 = "sqrt(abs(min(grad(u), velocity)))*grad(velocity) + select(u0 < u/2 + y, u_x, u1)";
    assert_same::<_, 2, 2>(Everything, some(f0), some(f1));
}

/// Random sequences of words must give a form or an error.
#[test]
fn nothing_that_is_read_panics() {
    const WORDS: [&str; 20] = [
        "u", "u0", "u1_x", "grad(", "grad(u)", "kappa", "mu", "(", ")", "+", "-", "*", "/", "^",
        ",", "select(", "<", "2", "x", "grad",
    ];
    let seed = rand::random();
    println!("seed {seed}");
    let rng = &mut SmallRng::seed_from_u64(seed);
    let mut accepted = 0;
    for _ in 0..60_000 {
        let mut text = || -> String {
            let length = rng.random_range(1..8);
            (0..length)
                .map(|_| WORDS[rng.random_range(0..WORDS.len())])
                .collect()
        };
        let expressions = FormExpressions {
            f0: some(&text()[..]),
            f1: some(&text()[..]),
            fields: vec!["kappa".to_owned()],
            parameters: vec!["mu".to_owned()],
        };
        if let Ok(traced) = TracedForm::parse(&expressions, 2, 2) {
            let form = GraphForm::<2, 2>::new(&traced).unwrap();
            numbers(&form, &State::random(rng));
            accepted += 1;
        }
    }
    // About forty are.
    assert!(accepted > 5, "{accepted}");
}
