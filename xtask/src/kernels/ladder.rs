//! The published ladders of the hexahedral kernels.

use anyhow::{Context, Result};
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::family::hex_published::ladder::oracle::Oracle;
use femto_kernel::family::hex_published::ladder::{self, LadderKernel, Step};
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Module};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::runner::close;
use super::{Case, Number, Selection, check_in, launch_of};

/// Degrees of the bounded selection, in turn; high ones take long to compile.
const DEGREES: [u32; 3] = [1, 2, 3];

/// A degree with padded rows of nodes, for the last step of each ladder.
const PADDED: u32 = 7;

/// A step for elements of a degree.
#[derive(Clone, Copy)]
struct Variant {
    step: Step,
    degree: u32,
    precision: Precision,
}

/// Bounded: each step at one of a few degrees, and the last of each ladder in single precision and at a
/// degree with padding. All: every degree, in both precisions.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let variants = match selection {
        Selection::Bounded => bounded(),
        Selection::All => all(),
    };
    variants
        .into_iter()
        .filter_map(|variant| case(variant, language, limits))
        .collect()
}

fn bounded() -> Vec<Variant> {
    let variant = |step, degree, precision| Variant {
        step,
        degree,
        precision,
    };
    let steps = ladder::steps();
    let next = steps.iter().skip(1).map(Some).chain([None]);
    let last = steps.iter().zip(next).filter(|(step, next)| {
        next.is_none_or(|next| (next.benchmark, next.threads) != (step.benchmark, step.threads))
    });
    let last = last.flat_map(|(&step, _)| {
        [(PADDED, Precision::Fp64), (2, Precision::Fp32)]
            .map(|(degree, precision)| variant(step, degree, precision))
    });
    let each = steps.iter().zip(DEGREES.iter().cycle());
    each.map(|(&step, &degree)| variant(step, degree, Precision::Fp64))
        .chain(last)
        .collect()
}

fn all() -> Vec<Variant> {
    let mut variants = Vec::new();
    for step in ladder::steps() {
        for precision in [Precision::Fp64, Precision::Fp32] {
            variants.extend((1..=15).map(|degree| Variant {
                step,
                degree,
                precision,
            }));
        }
    }
    variants
}

/// The case of a variant, if it is legal.
fn case(variant: Variant, language: Language, limits: &Limits) -> Option<Case> {
    let Variant {
        step,
        degree,
        precision,
    } = variant;
    let sizes = step.benchmark.sizes(degree);
    let kernel = ladder::source(&step, sizes, language, precision, limits).ok()?;
    let text = kernel.text.clone();
    let made_of = (kernel, variant);
    Some(Case {
        name: format!("{step} N={degree:02} {precision}"),
        text,
        check: check_in(precision, [check::<f64>, check::<f32>], made_of),
    })
}

/// Elements of a check: several blocks.
const ELEMENTS: u32 = 3;

/// Runs a kernel on random data and compares the result with the host's.
fn check<T: Number>(
    device: &Accelerator,
    module: &Module,
    (kernel, variant): &(LadderKernel, Variant),
) -> Result<()> {
    let seed = rand::random();
    let problem = random_case(*variant, &mut StdRng::seed_from_u64(seed));
    let upload = |values: &[f64]| T::upload(device, values);
    let poison = |len: usize| upload(&vec![f64::NAN; len]);
    let (interp, grad) = (upload(&problem.interp)?, upload(&problem.grad)?);
    let (factors, u) = (upload(&problem.factors)?, upload(&problem.u)?);
    let mut v = poison(problem.u.len())?;
    let reals = (ELEMENTS * kernel.scratch_reals_per_element).max(1);
    let mut scratch = poison(reals as usize)?;
    for launch in &kernel.launches {
        let shape = launch_of(launch.block, T::PRECISION, ELEMENTS);
        let arguments = [
            T::ARGUMENT(T::from_f64(problem.lambda)),
            Argument::input(&interp),
            Argument::input(&grad),
            Argument::input(&factors),
            Argument::input(&u),
            Argument::output(&mut v),
            Argument::output(&mut scratch),
        ];
        device.launch(&module.kernel(launch.entry)?, &shape, &arguments)?;
    }
    let mut found = vec![T::from_f64(f64::NAN); problem.u.len()];
    device.read(&v, &mut found)?;

    let found: Vec<f64> = found.into_iter().map(T::to_f64).collect();
    let tolerance = T::tolerance(1e-12, 1e-4);
    close(&found, &problem.apply(variant), tolerance).with_context(|| format!("seed {seed}"))
}

/// Random numbers throughout, with matrices as symmetric as those of polynomials.
fn random_case(variant: Variant, random: &mut StdRng) -> LadderCase {
    let benchmark = variant.step.benchmark;
    let sizes = benchmark.sizes(variant.degree);
    let (q, g) = (sizes.nodes_1d as usize, sizes.points_1d as usize);
    let mut numbers =
        |len| -> Vec<f64> { (0..len).map(|_| random.random_range(-1.0..1.0)).collect() };
    let elements = ELEMENTS as usize;
    let mut interp = numbers(g * q);
    let mut grad = numbers(g * g);
    for (matrix, sign) in [(&mut interp, 1.0), (&mut grad, -1.0)] {
        let last = matrix.len() - 1;
        for n in 0..=last / 2 {
            let odd = sign < 0.0 && 2 * n == last;
            matrix[last - n] = if odd { 0.0 } else { sign * matrix[n] };
        }
    }
    LadderCase {
        lambda: numbers(1)[0],
        interp,
        grad,
        factors: numbers(elements * (benchmark.factors() * sizes.points()) as usize),
        u: numbers(elements * sizes.nodes() as usize),
    }
}

/// The data of [`ELEMENTS`] elements. The matrices need not be those of polynomials.
struct LadderCase {
    lambda: f64,
    /// `[points_1d][nodes_1d]`
    interp: Vec<f64>,
    /// `[points_1d][points_1d]`
    grad: Vec<f64>,
    /// `[element][factor][k][j][i]`
    factors: Vec<f64>,
    /// `[element][k][j][i]`
    u: Vec<f64>,
}

impl LadderCase {
    /// v = A u, `[element][k][j][i]`.
    fn apply(&self, variant: &Variant) -> Vec<f64> {
        let benchmark = variant.step.benchmark;
        let oracle = Oracle {
            benchmark,
            sizes: benchmark.sizes(variant.degree),
            interp: &self.interp,
            grad: &self.grad,
            lambda: self.lambda,
        };
        let elements = ELEMENTS as usize;
        let factors = self.factors.chunks_exact(self.factors.len() / elements);
        let u = self.u.chunks_exact(self.u.len() / elements);
        factors
            .zip(u)
            .flat_map(|(factors, u)| oracle.element(factors, u))
            .collect()
    }
}
