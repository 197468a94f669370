//! Functions outside their domains and for NaN: the same results in plain numbers, in lanes of every
//! instruction set and precision, and in printed C. `docs/forms.md` lists them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a test says what it skips")]

mod table;

use fearless_simd::Simd;
use femto_kernel::expr::{Dialect, Input, Signature};
use femto_kernel::form::{Expressions, Form, FormExpressions, GraphForm, Point, TracedForm};
use femto_kernel::scalar::{Lanes, Real, Scalar, SimdLevel, SimdTask, Vectorizable, dispatch};
use std::fmt::Write as _;
use std::marker::PhantomData;
use std::process::Command;
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
    let signature = |name| Signature {
        name,
        inputs: &[(Input::Value(0), "a"), (Input::Value(1), "b")],
        result: "f",
    };
    let print = (&traced.graph, &traced.f0);
    let double = print
        .0
        .print::<f64>(print.1, &signature("double_f"), &Dialect::C)
        .unwrap();
    let single = print
        .0
        .print::<f32>(print.1, &signature("single_f"), &Dialect::C)
        .unwrap();
    let mut source = format!(
        "#include <math.h>\n#include <stdio.h>\n{double}{single}int main(void)\n{{\n  \
         double d[{COUNT}];\n  float s[{COUNT}];\n"
    );
    for pair in pairs() {
        let [a, b] = pair.map(c_number);
        _ = writeln!(source, "  double_f({a}, {b}, d);\n  single_f({a}, {b}, s);");
        _ = writeln!(
            source,
            "  for (int i = 0; i < {COUNT}; i++) printf(\"%.17g %.9g\\n\", d[i], s[i]);"
        );
    }
    source.push_str("  return 0;\n}\n");
    let Some(printed) = compile_and_run(&source) else {
        println!("skipped: there is no C compiler `cc` here");
        return;
    };
    let column = |which: usize| {
        let number = move |line: &str| line.split(' ').nth(which).unwrap().parse().unwrap();
        let mut numbers = printed.lines().map(number);
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

/// The standard output of the program, or `None` without a compiler.
#[expect(
    clippy::disallowed_methods,
    reason = "the test, not the crate, writes the file"
)]
fn compile_and_run(source: &str) -> Option<String> {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let (file, program) = (format!("{folder}/domain.c"), format!("{folder}/domain"));
    std::fs::write(&file, source).unwrap();
    let arguments = ["-std=c99", "-O1", "-ffp-contract=off", "-o"];
    let compiler = Command::new("cc")
        .args(arguments)
        .args([&program, &file, "-lm"])
        .output()
        .ok()?;
    let log = String::from_utf8_lossy(&compiler.stderr);
    assert!(compiler.status.success(), "{log}\n{source}");
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success());
    Some(String::from_utf8(run.stdout).unwrap())
}
