//! Functions outside their domains: the same results on the device as on the host.

use anyhow::{Context, Result, ensure};
use femto_kernel::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use femto_kernel::family::Limits;
use femto_kernel::form::{Expressions, Form, FormExpressions, GraphForm, Point, TracedForm};
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};

use super::{Case, Number, Selection, check_in, launch_of};

/// The table that `crates/femto-kernel/tests/domain` compares the host's functions with.
#[path = "../../../crates/femto-kernel/tests/domain/table.rs"]
mod table;

use table::{CASES, NUMBERS};

const DRIVER: KernelFile = KernelFile {
    name: "xtask/src/kernels/domain.c",
    text: include_str!("domain.c"),
};
/// The names of the cases, without the precision.
pub(super) const NAME: &str = "domains of functions";
const DIM: usize = 2;
const COUNT: usize = CASES.len();
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
        f0: Some(Expressions::Each(
            CASES.map(|(text, _)| text.to_owned()).to_vec(),
        )),
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
    Ok(Case {
        name: format!("{NAME} {precision}"),
        text: source.finish(),
        check: check_in(precision, [check::<f64>, check::<f32>], form),
    })
}

fn check<T: Number>(device: &Accelerator, module: &Module, form: &Functions) -> Result<()> {
    let tolerance = T::tolerance(1e-13, 1e-5);
    let pairs: Vec<[f64; 2]> = NUMBERS
        .iter()
        .flat_map(|&a| NUMBERS.map(|b| [a, b]))
        .collect();
    let input = T::upload(device, pairs.as_flattened())?;
    let mut found = vec![T::from_f64(-77.0); pairs.len() * COUNT];
    let mut output = device.upload(&found)?;
    let blocks = (pairs.len() as u32).div_ceil(BLOCK.threads());
    let launch = launch_of(BLOCK, T::PRECISION, blocks);
    let arguments = [
        Argument::input(&input),
        Argument::output(&mut output),
        Argument::U32(pairs.len() as u32),
    ];
    device.launch(&module.kernel("functions")?, &launch, &arguments)?;
    device.read(&output, &mut found)?;
    let mut faults = Vec::new();
    for (pair, found) in pairs.iter().zip(found.chunks_exact(COUNT)) {
        let pair = pair.map(|number| T::from_f64(number).to_f64());
        for (((text, _), wanted), &found) in CASES.iter().zip(on_host(form, pair)).zip(found) {
            let (found, wanted) = (found.to_f64(), T::from_f64(wanted).to_f64());
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
