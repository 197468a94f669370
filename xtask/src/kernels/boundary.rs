//! The data of a boundary: functions at points, and integrals over facets.

use anyhow::Result;
use femto_kernel::boundary::source::{self, BLOCK};
use femto_kernel::boundary::{FacetSums, PointFunction};
use femto_kernel::dialect::Language;
use femto_kernel::expr::{Graph, Program, Symbols, Values, parse};
use femto_kernel::family::Limits;
use femto_kernel::roofline::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, Argument, Launch, Module};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::pencils::close;
use super::{Case, Selection};

/// A function with everything in it that a text may print.
const FUNCTION: &str = "select(x < y, exp(-t)*sin(pi*x), (x^3 - y)/(1 + z^2)) + max(z, t)^0.3";

/// Points, and nodes, of a check.
const COUNT: usize = 1003;

/// Operators of boundaries are in double precision only.
pub(super) fn cases(_: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let legal = [values_case, facets_case]
        .into_iter()
        .filter(|_| limits.fp64);
    // The function is a constant, which `the_function_can_be_printed` reads.
    legal.filter_map(|case| case(language).ok()).collect()
}

fn program() -> Result<Program> {
    let mut graph = Graph::new();
    let value = parse(&mut graph, FUNCTION, &Symbols::position().and_time())?;
    Ok(Program::new(&graph, &[value]))
}

fn values_case(language: Language) -> Result<Case> {
    let program = program()?;
    let function = PointFunction::new(&program)?;
    Ok(Case {
        name: "boundary values fp64".to_owned(),
        text: source::values(&function, language, Precision::Fp64)?,
        check: Box::new(move |device, module| {
            with_seed(|random| check_values(device, module, &program, random))
        }),
    })
}

fn facets_case(language: Language) -> Result<Case> {
    Ok(Case {
        name: "boundary facets fp64".to_owned(),
        text: source::facets(language, Precision::Fp64),
        check: Box::new(|device, module| with_seed(|random| check_facets(device, module, random))),
    })
}

fn check_values(
    device: &Accelerator,
    module: &Module,
    program: &Program,
    random: &mut StdRng,
) -> Result<()> {
    let positions: Vec<[f64; 3]> = (0..COUNT).map(|_| random.random()).collect();
    let time: f64 = random.random();
    let given = Values {
        time,
        parameters: &[],
    };
    let mut wanted = vec![0.0; COUNT];
    program.evaluate(&positions, &given, &mut wanted)?;
    let positions = device.upload(positions.as_flattened())?;
    // The last one is beyond the points.
    let mut values = device.upload(&[-1.0; COUNT + 1])?;
    let arguments = [
        Argument::input(&positions),
        Argument::F64(time),
        Argument::output(&mut values),
        Argument::U32(COUNT as u32),
    ];
    device.launch(&module.kernel("values")?, &launch(), &arguments)?;
    wanted.push(-1.0);
    let mut found = [f64::NAN; COUNT + 1];
    device.read(&values, &mut found)?;
    close(&found, &wanted)
}

/// Any facets and rows of the basis for each node, for some none.
fn check_facets(device: &Accelerator, module: &Module, random: &mut StdRng) -> Result<()> {
    let (points, facets, rows) = (5, 300, 12);
    let mut offsets = vec![0_u32];
    for node in 0..COUNT {
        offsets.push(offsets[node] + random.random_range(0..6));
    }
    let contributions = (0..offsets[COUNT])
        .flat_map(|_| [random.random_range(0..facets), random.random_range(0..rows)]);
    let contributions: Vec<u32> = contributions.collect();
    let mut numbers = |count: u32| -> Vec<f64> {
        let count = count as usize * points;
        (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
    };
    let (basis, weights, values) = (numbers(rows), numbers(facets), numbers(facets));
    let mut wanted = vec![0.0; COUNT];
    let oracle = FacetSums {
        points,
        offsets: &offsets,
        contributions: &contributions,
        basis: &basis,
        weights: &weights,
    };
    oracle.sum(&values, 0, &mut wanted);
    let (offsets, contributions) = (device.upload(&offsets)?, device.upload(&contributions)?);
    let (basis, weights) = (device.upload(&basis)?, device.upload(&weights)?);
    let values = device.upload(&values)?;
    // The last one is beyond the nodes.
    let mut sums = device.upload(&[-1.0; COUNT + 1])?;
    let arguments = [
        Argument::input(&offsets),
        Argument::input(&contributions),
        Argument::input(&basis),
        Argument::input(&weights),
        Argument::input(&values),
        Argument::output(&mut sums),
        Argument::U32(points as u32),
        Argument::U32(COUNT as u32),
    ];
    device.launch(&module.kernel("facets")?, &launch(), &arguments)?;
    wanted.push(-1.0);
    let mut found = [f64::NAN; COUNT + 1];
    device.read(&sums, &mut found)?;
    close(&found, &wanted)
}

/// Runs a check with fresh random numbers; its error tells their seed.
fn with_seed(check: impl FnOnce(&mut StdRng) -> Result<()>) -> Result<()> {
    let seed = rand::random();
    check(&mut StdRng::seed_from_u64(seed)).map_err(|error| error.context(format!("seed {seed}")))
}

fn launch() -> Launch {
    Launch {
        blocks: (COUNT as u32).div_ceil(BLOCK.threads()),
        threads: BLOCK.threads,
        shared_bytes: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_can_be_printed() -> Result<()> {
        values_case(Language::Cuda)?;
        let cases = cases(Selection::All, Language::OpenCl, &Limits::default());
        assert_eq!(cases.len(), 2);
        Ok(())
    }
}
