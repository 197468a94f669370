//! Interpolation of the values at the nodes of elements, from L-vectors to E-vectors.
//!
//! A matrix is applied along each axis of an element, as in sum factorisation: contracting the slowest index
//! and appending the result as the fastest turns `[k][j][i]` of one degree into that of another in as many
//! steps as there are axes. Elements without axes have one, and a matrix of all their nodes.

use super::{Strides, vectorized};
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder, text};
use crate::roofline::Work;
use crate::scalar::{Precision, Real, SimdLevel};

const TEXT: KernelFile = text!("vector/interpolation.c");

/// Marks positions of elements whose value is taken to be zero.
pub const NO_NODE: u32 = u32::MAX;

/// Elements that the host interpolates at once.
pub const LANES: usize = 8;

/// Threads of a block of the kernel.
const THREADS: usize = 128;

/// Numbers of a line that a thread has in registers; longer ones, of elements without axes, are in shared memory.
const LINE: usize = 16;

/// Values of a block's elements, about, if threads have lines: several for each thread.
const VALUES: usize = 1024;

/// The sizes of an interpolation: of n_from to n_to nodes along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InterpolationShape {
    /// Number of axes.
    pub axes: usize,
    /// Nodes along an axis of the inputs.
    pub from: usize,
    /// Nodes along an axis of the outputs.
    pub to: usize,
}

impl InterpolationShape {
    /// Input values of an element.
    pub fn inputs(&self) -> usize {
        self.from.pow(self.axes as u32)
    }

    /// Output values of an element.
    pub fn outputs(&self) -> usize {
        self.to.pow(self.axes as u32)
    }

    /// Values of an element before each step and after the last.
    fn stages(&self) -> impl Iterator<Item = usize> {
        let (from, to, axes) = (self.from, self.to, self.axes as u32);
        (0..=axes).map(move |done| from.pow(axes - done) * to.pow(done))
    }

    /// Most values of an element at any time.
    fn most(&self) -> usize {
        self.stages().max().unwrap_or(1)
    }

    /// Numbers of scratch memory of [`interpolate`].
    pub fn scratch(&self) -> usize {
        2 * LANES * self.most()
    }

    /// The work for this many elements, each component counted as one.
    pub fn work<T: Real>(&self, elements: usize) -> Work {
        let steps = self.stages().skip(1).map(|outputs| 2 * outputs * self.from);
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let numbers = |count: usize| (elements * count * T::BYTES) as u64;
        Work {
            bytes_read: numbers(inputs) + (elements * inputs * size_of::<u32>()) as u64,
            bytes_written: numbers(outputs),
            flops: (elements * steps.sum::<usize>()) as u64,
            ..Work::default()
        }
    }

    fn has_lines(&self) -> bool {
        self.from <= LINE
    }

    /// Elements of a block of the kernel.
    pub fn elements_per_block(&self) -> usize {
        let values = if self.has_lines() { VALUES } else { THREADS };
        (values / self.most()).max(1)
    }

    /// From element to element in shared memory, of the values after even and after odd numbers of steps: odd, for banks.
    fn pitches(&self) -> [usize; 2] {
        [0, 1].map(|first| self.stages().skip(first).step_by(2).max().unwrap_or(1) | 1)
    }

    /// The block of the kernel.
    pub fn block(&self) -> BlockShape {
        let matrix = if self.has_lines() {
            self.from * self.to
        } else {
            0
        };
        let [even, odd] = self.pitches();
        BlockShape {
            shared_reals: (self.elements_per_block() * (even + odd) + matrix) as u32,
            ..BlockShape::row(THREADS as u32)
        }
    }

    /// Blocks for this many elements, each component counted as one.
    pub fn blocks(&self, elements: usize) -> u32 {
        let blocks = elements.div_ceil(self.elements_per_block()).max(1);
        blocks.try_into().unwrap_or(u32::MAX)
    }

    /// The text; its kernel is `interpolate`, with arguments given in `interpolation.c`.
    pub fn source(&self, language: Language, precision: Precision) -> String {
        let mut source = SourceBuilder::new(language, precision, self.block());
        source.define("AXES", self.axes);
        source.define("FROM", self.from);
        source.define("TO", self.to);
        source.define("INPUTS", self.inputs());
        source.define("OUTPUTS", self.outputs());
        let [even, odd] = self.pitches();
        source.define("EVEN_PITCH", even);
        source.define("ODD_PITCH", odd);
        source.define("LINES", u8::from(self.has_lines()));
        source.define("ELEMENTS", self.elements_per_block());
        source.define("NO_NODE", format!("{NO_NODE}u"));
        source.include(TEXT);
        source.finish()
    }
}

/// Interpolates the values of `x` at the nodes of a run of elements to `e`,
/// `[element][component][outputs]`. `nodes` has their nodes, `[element][inputs]`, with [`NO_NODE`] for
/// positions whose value is zero; `matrix` is `[to][from]`; `scratch` has
/// [`InterpolationShape::scratch`] numbers.
pub fn interpolate<T: Real>(
    level: SimdLevel,
    (shape, matrix): (InterpolationShape, &[T]),
    (nodes, strides): (&[u32], Strides),
    x: &[T],
    (scratch, e): (&mut [T], &mut [T]),
) {
    let (inputs, outputs) = (shape.inputs(), shape.outputs());
    let (mut here, mut there) = scratch.split_at_mut(LANES * shape.most());
    let batches = nodes.chunks(LANES * inputs);
    let targets = e.chunks_mut(LANES * outputs * strides.components);
    for (nodes, target) in batches.zip(targets) {
        for component in 0..strides.components {
            let offset = component * strides.component;
            for (lane, nodes) in nodes.chunks_exact(inputs).enumerate() {
                for (&node, value) in nodes.iter().zip(here[lane..].iter_mut().step_by(LANES)) {
                    *value = match node {
                        NO_NODE => T::default(),
                        node => x[node as usize * strides.node + offset],
                    };
                }
            }
            for values in shape.stages().take(shape.axes) {
                contract(level, (shape, matrix), &here[..LANES * values], there);
                std::mem::swap(&mut here, &mut there);
            }
            let elements = target.chunks_exact_mut(outputs * strides.components);
            for (lane, element) in elements.enumerate() {
                let own = element[component * outputs..][..outputs].iter_mut();
                let values = here[lane..].iter().step_by(LANES);
                own.zip(values).for_each(|(own, &value)| *own = value);
            }
        }
    }
}

/// `out[l][to] = Σ_n matrix[to][n] input[n][l]` for all lanes, `[..][LANES]`.
fn contract<T: Real>(
    level: SimdLevel,
    (shape, matrix): (InterpolationShape, &[T]),
    input: &[T],
    out: &mut [T],
) {
    let lines = input.len() / LANES / shape.from;
    vectorized(
        level,
        #[inline(always)]
        || {
            for (l, out) in out
                .chunks_exact_mut(LANES * shape.to)
                .take(lines)
                .enumerate()
            {
                let rows = matrix.chunks_exact(shape.from);
                for (row, out) in rows.zip(out.chunks_exact_mut(LANES)) {
                    let mut sums = [T::default(); LANES];
                    for (n, &entry) in row.iter().enumerate() {
                        let values = &input[(n * lines + l) * LANES..][..LANES];
                        for (sum, &value) in sums.iter_mut().zip(values) {
                            *sum += entry * value;
                        }
                    }
                    out.copy_from_slice(&sums);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the product with the whole matrix.
    fn check<T: Real>(level: SimdLevel, shape: InterpolationShape, tolerance: f64) {
        let (elements, components) = (2 * LANES + 3, 2);
        let (inputs, outputs) = (shape.inputs(), shape.outputs());
        let number = |n: usize| super::super::random::entry(7, n as u32);
        let matrix: Vec<f64> = (0..shape.from * shape.to).map(number).collect();
        let nodes: Vec<u32> = (0..elements * inputs)
            .map(|n| {
                if n % 5 == 0 {
                    NO_NODE
                } else {
                    (n * 13 % 97) as u32
                }
            })
            .collect();
        let x: Vec<f64> = (0..97 * components).map(|n| number(n + 1000)).collect();
        let strides = Strides {
            components,
            node: components,
            component: 1,
        };
        let of = |values: &[f64]| values.iter().map(|&v| T::from_f64(v)).collect::<Vec<T>>();
        let mut e = vec![T::from_f64(f64::NAN); elements * components * outputs];
        let mut scratch = vec![T::from_f64(f64::NAN); shape.scratch()];
        let to = (&mut scratch[..], &mut e[..]);
        interpolate(level, (shape, &of(&matrix)), (&nodes, strides), &of(&x), to);
        let along = |n: usize, len: usize, axis: usize| n / len.pow(axis as u32) % len;
        for (place, found) in e.iter().enumerate() {
            let (element, c, q) = (
                place / (components * outputs),
                place / outputs % components,
                place % outputs,
            );
            let wanted: f64 = (0..inputs)
                .map(|n| {
                    let node = nodes[element * inputs + n];
                    let factor = |axis| {
                        let row = along(q, shape.to, axis);
                        matrix[row * shape.from + along(n, shape.from, axis)]
                    };
                    match node {
                        NO_NODE => 0.0,
                        node => {
                            let value = x[node as usize * components + c];
                            value * (0..shape.axes).map(factor).product::<f64>()
                        }
                    }
                })
                .sum();
            let error = (found.to_f64() - wanted).abs();
            assert!(error < tolerance, "{shape:?} {place}: {found} {wanted}");
        }
    }

    #[test]
    fn axes_are_interpolated_one_after_the_other() {
        for &level in SimdLevel::available() {
            for (axes, from, to) in [(3, 3, 5), (3, 5, 3), (2, 2, 4), (1, 4, 20), (1, 20, 4)] {
                let shape = InterpolationShape { axes, from, to };
                check::<f64>(level, shape, 1e-13);
                check::<f32>(level, shape, 1e-4);
            }
        }
    }

    #[test]
    fn work_counts_numbers_nodes_and_steps() {
        let (axes, from, to) = (2, 2, 3);
        let work = InterpolationShape { axes, from, to }.work::<f32>(10);
        assert_eq!((work.bytes_read, work.bytes_written), (320, 360));
        assert_eq!(work.flops, 10 * (6 * 4 + 9 * 4));
    }
}
