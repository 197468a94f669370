//! Functions outside their domains and for NaN: the same results in plain numbers, in lanes of every
//! instruction set and precision, and in printed C. `docs/forms.md` lists them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a test says what it skips")]

#[path = "../printed_c/mod.rs"]
mod printed_c;
mod table;

use fearless_simd::Simd;
use femto_kernel::expr::Input;
use femto_kernel::form::{Expressions, Form, FormExpressions, GraphForm, Point, TracedForm};
use femto_kernel::scalar::{Lanes, Real, Scalar, SimdLevel, SimdTask, Vectorizable, dispatch};
use std::marker::PhantomData;
use table::{CASES, NUMBERS};

const COUNT: usize = CASES.len();
type Everything = GraphForm<2, COUNT>;

fn traced() -> TracedForm {
    let expressions = CASES.map(|(text, _)| text.to_owned()).to_vec();
    let expressions = FormExpressions {
        f0: Some(Expressions::Each(expressions)),
        ..FormExpressions::default()
    };
    TracedForm::parse(&expressions, 2, COUNT).unwrap()
}

fn form() -> Everything {
    GraphForm::new(&traced()).unwrap()
}

fn pairs() -> impl Iterator<Item = [f64; 2]> {
    NUMBERS.into_iter().flat_map(|a| NUMBERS.map(|b| [a, b]))
}

/// Compares the results of one kind of number with the table.
fn check<T: Real>(what: &str, mut evaluate: impl FnMut([f64; 2]) -> Vec<f64>) {
    let tolerance = if T::BYTES == 4 { 1e-5 } else { 1e-13 };
    for pair in pairs() {
        let [a, b] = pair.map(|number| T::from_f64(number).to_f64());
        let found = evaluate(pair);
        for ((text, function), found) in CASES.iter().zip(found) {
            let wanted = T::from_f64(function(a, b)).to_f64();
            let close = (found - wanted).abs() <= tolerance * (1.0 + wanted.abs());
            let same = found == wanted || (found.is_nan() && wanted.is_nan());
            assert!(
                close || same,
                "{what}: {text} of {a}, {b} is {found}, not {wanted}"
            );
        }
    }
}

#[inline(always)]
fn evaluate<S: Scalar>(form: &Everything, [a, b]: [S; 2]) -> [S; COUNT] {
    let zero = a.constant(0.0);
    let mut u = [zero; COUNT];
    (u[0], u[1]) = (a, b);
    form.f0(&Point {
        u,
        grad_u: [[zero; 2]; COUNT],
        a: &[],
        grad_a: &[],
        x: [zero; 2],
        time: zero,
        parameters: &[],
    })
}

#[test]
fn plain_numbers_match_the_table() {
    let form = form();
    check::<f64>("f64", |pair| evaluate(&form, pair).to_vec());
}

struct OverLanes<'a, T>(&'a Everything, [f64; 2], PhantomData<T>);

impl<T: Vectorizable> SimdTask for OverLanes<'_, T> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> Vec<f64> {
        let pair = self
            .1
            .map(|number| T::Lanes::<S>::splat(token, T::from_f64(number)));
        evaluate(self.0, pair)
            .iter()
            .map(|f| f.lanes()[0].to_f64())
            .collect()
    }
}

#[test]
fn lanes_match_the_table() {
    let form = form();
    for &level in SimdLevel::available() {
        let name = level.name();
        check::<f64>(name, |pair| {
            dispatch(level, OverLanes(&form, pair, PhantomData::<f64>))
        });
        check::<f32>(name, |pair| {
            dispatch(level, OverLanes(&form, pair, PhantomData::<f32>))
        });
    }
}

#[test]
fn printed_c_matches_the_table() {
    let traced = traced();
    let inputs = [(Input::Value(0), "a"), (Input::Value(1), "b")];
    let points: Vec<_> = pairs().map(|pair| pair.map(c_number).to_vec()).collect();
    let graph = (&traced.graph, &traced.f0[..]);
    let Some(found) = printed_c::run("domain", graph, &inputs, &points) else {
        println!("skipped: there is no C compiler `cc` here");
        return;
    };
    let column = |which: usize| {
        let mut numbers = found.iter().map(move |numbers| numbers[which]);
        move |_| numbers.by_ref().take(COUNT).collect::<Vec<f64>>()
    };
    check::<f64>("C double", column(0));
    check::<f32>("C float", column(1));
}

fn c_number(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NAN".to_owned(),
        f64::INFINITY => "INFINITY".to_owned(),
        f64::NEG_INFINITY => "-INFINITY".to_owned(),
        _ => format!("{number:?}"),
    }
}
