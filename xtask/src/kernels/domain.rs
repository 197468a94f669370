//! Functions outside their domains: the same results on the device as on the host.

use anyhow::{Context, Result, ensure};
use femto_kernel::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use femto_kernel::family::Limits;
use femto_kernel::form::{Expressions, Form, FormExpressions, GraphForm, Point, TracedForm};
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{Accelerator, Argument, Launch, Module};
use femto_platform::device::{Device, Element};

use super::{Case, Check, Selection};

/// Every function, for arbitrary numbers; `crates/femto-kernel/tests/domain.rs` compares the host's with a
/// table.
const FUNCTIONS: [&str; 24] = [
    "sqrt(u0)",
    "abs(u0)",
    "exp(u0)",
    "ln(u0)",
    "sin(u0)",
    "cos(u0)",
    "tan(u0)",
    "sinh(u0)",
    "cosh(u0)",
    "tanh(u0)",
    "u0 + u1",
    "u0 * u1",
    "u0 / u1",
    "u0 ^ u1",
    "u0 ^ 3",
    "u0 ^ -2",
    "u0 ^ 0.5",
    "2 ^ u0",
    "min(u0, u1)",
    "max(u0, u1)",
    "min(u0, 0.5)",
    "select(u0 < u1, 1, 2)",
    "select(u0 <= u1, 1, 2)",
    "select(u0 >= u1, u0, u1)",
];

const NUMBERS: [f64; 17] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.3,
    1e-3,
    20.0,
    100.0,
    -1000.0,
];

const DRIVER: KernelFile = KernelFile {
    name: "xtask/src/kernels/domain.c",
    text: include_str!("domain.c"),
};
const DIM: usize = 2;
const COUNT: usize = FUNCTIONS.len();
const BLOCK: BlockShape = BlockShape::row(64);
type Functions = GraphForm<DIM, COUNT>;

/// One case in each precision, only to be run: its registers are irrelevant.
pub(super) fn cases(_: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let is_run = language == Language::OpenCl && limits.fp64;
    let precisions = [Precision::Fp64, Precision::Fp32].into_iter();
    let made = precisions
        .filter(|_| is_run)
        .map(|precision| case(language, precision));
    // The expressions are constants, checked by `the_functions_are_a_form`.
    made.filter_map(Result::ok).collect()
}

fn traced() -> Result<TracedForm> {
    let expressions = FormExpressions {
        f0: Some(Expressions::Each(FUNCTIONS.map(str::to_owned).to_vec())),
        ..FormExpressions::default()
    };
    Ok(TracedForm::parse(&expressions, DIM, COUNT)?)
}

fn case(language: Language, precision: Precision) -> Result<Case> {
    let traced = traced()?;
    let form = Functions::new(&traced).context("the functions have other sizes")?;
    let mut source = SourceBuilder::new(language, precision, BLOCK);
    source.define("FUNCTIONS", COUNT);
    source.define("DIM", DIM);
    source.code("form", &traced.point_function(precision, language)?);
    source.include(DRIVER);
    let check: Check = match precision {
        Precision::Fp64 => {
            Box::new(move |device, module| check(device, module, &form, (|number| number, 1e-13)))
        }
        Precision::Fp32 => Box::new(move |device, module| {
            check(device, module, &form, (|number| number as f32, 1e-5))
        }),
    };
    Ok(Case {
        name: format!("domains of functions {precision}"),
        text: source.finish(),
        check,
    })
}

/// Conversion from f64, and the relative tolerance.
type Number<T> = (fn(f64) -> T, f64);

fn check<T: Element + Into<f64>>(
    device: &Accelerator,
    module: &Module,
    form: &Functions,
    (from, tolerance): Number<T>,
) -> Result<()> {
    let pairs: Vec<[f64; 2]> = NUMBERS
        .iter()
        .flat_map(|&a| NUMBERS.map(|b| [a, b]))
        .collect();
    let numbers: Vec<T> = pairs.iter().flatten().map(|&number| from(number)).collect();
    let input = device.upload(&numbers)?;
    let mut found = vec![from(-77.0); pairs.len() * COUNT];
    let mut output = device.upload(&found)?;
    let launch = Launch {
        blocks: (pairs.len() as u32).div_ceil(BLOCK.threads()),
        threads: BLOCK.threads,
        shared_bytes: 0,
    };
    let arguments = [
        Argument::input(&input),
        Argument::output(&mut output),
        Argument::U32(pairs.len() as u32),
    ];
    device.launch(&module.kernel("functions")?, &launch, &arguments)?;
    device.read(&output, &mut found)?;
    let mut faults = Vec::new();
    for (pair, found) in pairs.iter().zip(found.chunks_exact(COUNT)) {
        let pair = pair.map(|number| from(number).into());
        for ((text, wanted), &found) in FUNCTIONS.iter().zip(on_host(form, pair)).zip(found) {
            let (found, wanted): (f64, f64) = (found.into(), from(wanted).into());
            let close = (found - wanted).abs() <= tolerance * (1.0 + wanted.abs());
            let same = found == wanted || (found.is_nan() && wanted.is_nan());
            if !close && !same {
                let [a, b] = pair;
                faults.push(format!("{text} of {a}, {b} is {found}, not {wanted}"));
            }
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n  "));
    Ok(())
}

fn on_host(form: &Functions, [a, b]: [f64; 2]) -> [f64; COUNT] {
    let mut u = [0.0; COUNT];
    (u[0], u[1]) = (a, b);
    form.f0(&Point {
        u,
        grad_u: [[0.0; DIM]; COUNT],
        a: &[],
        grad_a: &[],
        x: [0.0; DIM],
        time: 0.0,
        parameters: &[],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_are_a_form() -> Result<()> {
        traced()?;
        assert_eq!(
            cases(Selection::All, Language::OpenCl, &Limits::default()).len(),
            2
        );
        Ok(())
    }
}
