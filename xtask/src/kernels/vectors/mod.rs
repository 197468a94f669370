//! The loops over vectors and their sums.

mod sparse;

use anyhow::{Result, ensure};
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::scalar::Precision;
use femto_kernel::vector::source::{self, BLOCK, MOST_BLOCKS, SUMS};
use femto_platform::device::Device;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument, Module};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Case, Number, Selection, check_in, launch_of};

/// One entry, several blocks ending inside a pack, and more than all blocks of a sum at once.
const LENGTHS: [usize; 3] = [1, 5003, 1_100_003];

/// Sums such that the first factor is 0.5, the second 0.75.
const RATIOS: [f64; 4] = [0.6, 0.8, 1.2, 0.0];

/// The text in each precision.
pub(super) fn cases(_: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let precisions = [Precision::Fp64, Precision::Fp32];
    let legal = precisions.into_iter().filter(|_| limits.fp64);
    legal.map(|precision| case(language, precision)).collect()
}

fn case(language: Language, precision: Precision) -> Case {
    Case {
        name: format!("vectors {precision}"),
        text: source::source(language, precision),
        check: check_in(precision, [check::<f64>, check::<f32>], ()),
    }
}

fn check<T: Number>(device: &Accelerator, module: &Module, (): &()) -> Result<()> {
    for len in LENGTHS {
        let seed = rand::random();
        let mut random = StdRng::seed_from_u64(seed);
        let inputs = [(); 4].map(|()| {
            let numbers = (0..len).map(|_| T::from_f64(random.random_range(0.5..1.5)));
            numbers.collect::<Vec<T>>()
        });
        let bench = Bench {
            device,
            module,
            tolerance: T::tolerance(1e-15, 1e-6),
            inputs,
        };
        let outcome = bench.loops().and_then(|()| bench.sums());
        outcome.map_err(|error| error.context(format!("{len} entries, seed {seed}")))?;
    }
    Ok(())
}

/// Vectors of one length.
struct Bench<'a, T> {
    device: &'a Accelerator,
    module: &'a Module,
    tolerance: f64,
    inputs: [Vec<T>; 4],
}

impl<T: Number> Bench<'_, T> {
    fn upload(&self) -> Result<[AcceleratorBuffer<T>; 4]> {
        let [a, b, c, d] = self.inputs.each_ref().map(|v| self.device.upload(v));
        Ok([a?, b?, c?, d?])
    }

    fn len(&self) -> Argument<'static> {
        Argument::U32(self.inputs[0].len() as u32)
    }

    fn launch(&self, entry: &str, blocks: u32, arguments: &[Argument<'_>]) -> Result<()> {
        let launch = launch_of(BLOCK, SUMS, blocks);
        let kernel = self.module.kernel(entry)?;
        Ok(self.device.launch(&kernel, &launch, arguments)?)
    }

    /// Runs a loop without a sum, which changes `y`.
    fn run(&self, entry: &str, arguments: &[Argument<'_>]) -> Result<()> {
        let blocks = source::blocks(T::PRECISION, self.inputs[0].len());
        self.launch(entry, blocks, arguments)
    }

    /// Compares a vector with a formula of the inputs' entries.
    fn expect(
        &self,
        entry: &str,
        found: &AcceleratorBuffer<T>,
        formula: impl Fn([f64; 4]) -> f64,
    ) -> Result<()> {
        self.expect_entries(entry, found, |_, inputs| formula(inputs))
    }

    /// As [`Self::expect`], with the entry's number.
    fn expect_entries(
        &self,
        entry: &str,
        found: &AcceleratorBuffer<T>,
        formula: impl Fn(usize, [f64; 4]) -> f64,
    ) -> Result<()> {
        let mut values = self.inputs[0].clone();
        self.device.read(found, &mut values)?;
        for (i, value) in values.into_iter().enumerate() {
            let wanted = formula(i, self.inputs.each_ref().map(|v| v[i].to_f64()));
            let value = value.to_f64();
            // Not for NaN.
            let close = (value - wanted).abs() <= 8.0 * self.tolerance;
            ensure!(close, "{entry}: entry {i} is {value}, not {wanted}");
        }
        Ok(())
    }

    fn loops(&self) -> Result<()> {
        let (len, value) = (self.len(), Argument::F64(0.3));
        let [x, mut y, mut p, d] = self.upload()?;
        self.run("fill", &[len, value, Argument::output(&mut p)])?;
        self.expect("fill", &p, |_| 0.3)?;
        let count = self.inputs[0].len().div_ceil(2);
        let even: Vec<u32> = (0..count as u32).map(|i| 2 * i).collect();
        let entries = self.device.upload(&even)?;
        let arguments = [
            Argument::U32(count as u32),
            Argument::F64(0.3),
            Argument::input(&entries),
            Argument::output(&mut y),
        ];
        self.launch("set_entries", source::entry_blocks(count), &arguments)?;
        self.expect_entries("set_entries", &y, |i, [_, y, ..]| match i % 2 {
            0 => 0.3,
            _ => y,
        })?;
        let [_, _, mut gathered, _] = self.upload()?;
        let arguments = [
            Argument::U32(count as u32),
            Argument::input(&x),
            Argument::input(&entries),
            Argument::output(&mut gathered),
        ];
        self.launch("gather", source::entry_blocks(count), &arguments)?;
        let [_, mut y, ..] = self.upload()?;
        let arguments = [
            Argument::U32(count as u32),
            Argument::input(&gathered),
            Argument::input(&entries),
            Argument::output(&mut y),
        ];
        self.launch("add_to_entries", source::entry_blocks(count), &arguments)?;
        self.expect_entries("add_to_entries", &y, |i, [x, y, ..]| match i % 2 {
            0 => y + x,
            _ => y,
        })?;
        self.project()?;
        let [_, mut y, ..] = self.upload()?;
        let arguments = [len, value, Argument::input(&x), Argument::output(&mut y)];
        self.run("axpy", &arguments)?;
        self.expect("axpy", &y, |[x, y, ..]| y + 0.3 * x)?;
        let [_, mut y, mut p, _] = self.upload()?;
        let arguments = [len, Argument::input(&x), value, Argument::output(&mut y)];
        self.run("xpby", &arguments)?;
        self.expect("xpby", &y, |[x, y, ..]| x + 0.3 * y)?;
        let [_, mut y, ..] = self.upload()?;
        let arguments = [len, Argument::input(&x), Argument::output(&mut y)];
        self.run("multiply", &arguments)?;
        self.expect("multiply", &y, |[x, y, ..]| y * x)?;
        let exact: Vec<f64> = self.inputs[0].iter().map(|&x| x.to_f64()).collect();
        let g_exact = self.device.upload(&exact)?;
        let [_, mut y, ..] = self.upload()?;
        let arguments = [len, Argument::input(&g_exact), Argument::output(&mut y)];
        self.run("convert", &arguments)?;
        self.expect("convert", &y, |[x, ..]| x)?;
        let single: Vec<f32> = exact.iter().map(|&x| x as f32).collect();
        let g_single = self.device.upload(&single)?;
        let [_, mut y, ..] = self.upload()?;
        let arguments = [len, Argument::input(&g_single), Argument::output(&mut y)];
        self.run("convert_single", &arguments)?;
        self.expect("convert_single", &y, |[x, ..]| f64::from(x as f32))?;
        self.multiply_sparse()?;
        self.chebyshev_step()?;
        let [_, mut y, ..] = self.upload()?;
        let sums = self.device.upload(&RATIOS)?;
        let [zero, one, two] = [0, 1, 2].map(Argument::I32);
        let arguments = [
            len,
            Argument::input(&sums),
            zero,
            two,
            zero,
            one,
            one,
            Argument::input(&d),
            Argument::input(&x),
            Argument::output(&mut p),
            Argument::output(&mut y),
        ];
        self.run("update_direction", &arguments)?;
        self.expect("update_direction", &y, |[_, y, p, _]| y + 0.5 * p)?;
        self.expect("update_direction", &p, |[x, _, p, d]| d * x + 0.6 / 0.8 * p)
    }

    /// At every other node, of as many components as fit, with any matrix.
    fn project(&self) -> Result<()> {
        let [rows, inputs] = [0, 1].map(|input: usize| -> Vec<f64> {
            self.inputs[input].iter().map(|&x| x.to_f64()).collect()
        });
        for count in [2, 3] {
            let all = rows.len() / count;
            let nodes: Vec<u32> = (0..all as u32).step_by(2).collect();
            if nodes.is_empty() {
                continue;
            }
            let factor = |node: usize, i: usize, j: usize| rows[(node + 2 * i + j) % rows.len()];
            let matrices = nodes.iter().flat_map(|&node| {
                let pairs = (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
                pairs.map(move |(i, j)| T::from_f64(factor(node as usize, i, j)))
            });
            let matrices = self.device.upload(&matrices.collect::<Vec<T>>())?;
            let listed = self.device.upload(&nodes)?;
            let [_, mut y, ..] = self.upload()?;
            let arguments = [
                Argument::U32(nodes.len() as u32),
                Argument::U32(count as u32),
                Argument::input(&listed),
                Argument::input(&matrices),
                Argument::output(&mut y),
            ];
            self.launch("project", source::entry_blocks(nodes.len()), &arguments)?;
            self.expect_entries("project", &y, |at, [_, y, ..]| {
                let (node, i) = (at / count, at % count);
                let own = || (0..count).map(|j| factor(node, i, j) * inputs[node * count + j]);
                match node % 2 == 0 && node < all {
                    true => own().sum(),
                    false => y,
                }
            })?;
        }
        Ok(())
    }

    fn chebyshev_step(&self) -> Result<()> {
        let factors = [0.6, 0.7, 1.2].map(Argument::F64);
        for (first, has_product) in [(1, 0), (1, 1), (0, 1)] {
            let [g_x, g_q, _, g_c] = self.upload()?;
            let [mut x, mut d, mut r, _] = self.upload()?;
            let mut arguments = vec![self.len(), Argument::I32(first), Argument::I32(has_product)];
            arguments.extend(factors);
            arguments.extend([&g_c, &g_x, &g_q].map(Argument::input));
            arguments.extend([&mut r, &mut d, &mut x].map(Argument::output));
            self.run("chebyshev_step", &arguments)?;
            // x is also b, and q also d.
            let residual = move |[x, q, r, _]: [f64; 4]| match (first, has_product) {
                (1, 0) => x,
                (1, _) => x - q,
                _ => r - q,
            };
            let direction = move |v: [f64; 4]| {
                let old = if first == 1 { 0.0 } else { 0.6 * v[1] };
                0.7 * v[3] * residual(v) + old
            };
            self.expect("chebyshev_step", &r, residual)?;
            self.expect("chebyshev_step", &d, direction)?;
            self.expect("chebyshev_step", &x, |v| {
                f64::from(has_product) * v[0] + 1.2 * direction(v)
            })?;
        }
        Ok(())
    }

    /// Runs a kernel that leaves sums per block and compares them with those of `terms`.
    fn sum(
        &self,
        entry: &str,
        arguments: &[Argument<'_>],
        terms: &[&dyn Fn([f64; 4]) -> f64],
    ) -> Result<()> {
        let blocks = source::sum_blocks(T::PRECISION, self.inputs[0].len());
        let mut partial = self
            .device
            .upload(&vec![f64::NAN; 2 * MOST_BLOCKS as usize])?;
        let mut sums = self.device.upload(&[7.0, f64::NAN, 7.0, f64::NAN])?;
        let mut arguments = arguments.to_vec();
        arguments.push(Argument::output(&mut partial));
        self.launch(entry, blocks, &arguments)?;
        let arguments = [
            Argument::U32(blocks),
            Argument::input(&partial),
            Argument::I32(0),
            Argument::I32(1),
            Argument::output(&mut sums),
        ];
        self.launch("finish", terms.len() as u32, &arguments)?;
        let mut found = [f64::NAN; 4];
        self.device.read(&sums, &mut found)?;
        for (slot, term) in terms.iter().enumerate() {
            let entries = 0..self.inputs[0].len();
            let of = |i: usize| term(self.inputs.each_ref().map(|v: &Vec<T>| v[i].to_f64()));
            let wanted: f64 = entries.map(of).sum();
            let (sum, before) = (found[2 * slot], found[2 * slot + 1]);
            let close = (sum - wanted).abs() <= self.tolerance.max(1e-12) * wanted;
            ensure!(close, "{entry}: a sum is {sum}, not {wanted}");
            ensure!(before == 7.0, "{entry}: a slot lost the sum before");
        }
        Ok(())
    }

    fn sums(&self) -> Result<()> {
        let len = self.len();
        let [x, mut y, z, d] = self.upload()?;
        let (g_x, g_z, g_d) = (
            Argument::input(&x),
            Argument::input(&z),
            Argument::input(&d),
        );
        self.sum("dot_product", &[len, g_x, g_z], &[&|[x, _, z, _]| x * z])?;
        self.sum("square", &[len, g_x], &[&|[x, ..]| x * x])?;
        let arguments = [len, g_d, g_x, Argument::output(&mut y)];
        self.sum("precondition_dot", &arguments, &[&|[x, _, _, d]| x * d * x])?;
        self.expect("precondition_dot", &y, |[x, _, _, d]| d * x)?;
        let [_, mut y, ..] = self.upload()?;
        self.sum("invert", &[len, Argument::output(&mut y)], &[&|_| 0.0])?;
        self.expect("invert", &y, |[_, y, ..]| 1.0 / y)?;
        let [_, mut y, ..] = self.upload()?;
        let sums = self.device.upload(&RATIOS)?;
        let arguments = [
            len,
            Argument::input(&sums),
            Argument::I32(0),
            Argument::I32(2),
            Argument::I32(1),
            g_d,
            g_z,
            Argument::output(&mut y),
        ];
        let r = |[_, y, z, _]: [f64; 4]| y - 0.5 * z;
        let terms: [&dyn Fn([f64; 4]) -> f64; 2] = [&|v| r(v) * r(v), &|v| r(v) * v[3] * r(v)];
        self.sum("update_residual", &arguments, &terms)?;
        self.expect("update_residual", &y, r)
    }
}
