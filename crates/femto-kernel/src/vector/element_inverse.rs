//! The inverse of a separable operator on each element, by fast diagonalisation.
//!
//! On a tensor-product element with the matrices K and M of a line,
//!
//! ```text
//! A = s₀ M ⊗ M ⊗ M + s₁ M ⊗ M ⊗ K₁ + s₂ M ⊗ K₂ ⊗ M + s₃ K₃ ⊗ M ⊗ M
//! ```
//! has the eigenvectors V₃ ⊗ V₂ ⊗ V₁ of K v = θ M v, with Vᵀ M V = 1, so that
//!
//! ```text
//! A⁻¹ = (V₃ ⊗ V₂ ⊗ V₁) (s₀ + s₁ θ₁ + s₂ θ₂ + s₃ θ₃)⁻¹ (V₃ ⊗ V₂ ⊗ V₁)ᵀ
//! ```
//! costs six products with matrices of a line (Lynch, Rice and Thomas, Direct solution of partial difference
//! equations by tensor product methods, Numerische Mathematik 6, 1964). The ends of an element's lines differ,
//! at boundaries, and so do K, M, V and θ of each axis.

use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder, text};
use crate::roofline::Work;
use crate::scalar::{Precision, Real};

mod host;

pub use host::invert;

const TEXT: KernelFile = text!("vector/element_inverse.c");

/// Items that the host solves at once, at most: lanes of the widest vectors, a multiple of those of others.
pub const LANES: usize = 16;

/// Threads of a block of the kernel, at least, for small elements.
const THREADS: usize = 128;

/// Numbers of shared memory of a block, at most, unless one item takes more: 32 KiB in double precision.
const SHARED: usize = 4096;

/// Bits of an axis in an item's ends.
pub const ENDS_BITS: usize = 4;

/// The sizes of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InverseShape {
    /// Number of axes, 2 or 3.
    pub axes: usize,
    /// Nodes along an axis.
    pub nodes_1d: usize,
}

impl InverseShape {
    /// Nodes of an element.
    pub fn nodes(&self) -> usize {
        self.nodes_1d.pow(self.axes as u32)
    }

    /// Lines along an axis.
    fn lines(&self) -> usize {
        self.nodes_1d.pow(self.axes as u32 - 1)
    }

    /// Numbers of scratch memory of [`invert`].
    pub fn scratch(&self) -> usize {
        LANES * (2 * self.nodes() + self.axes * self.nodes_1d * (self.nodes_1d + 1))
    }

    /// The work for this many elements and components.
    pub fn work<T: Real>(&self, elements: usize, components: usize) -> Work {
        let (items, nodes) = (elements * components, self.nodes());
        // The input, and the weights before and after; weights are counted once.
        let numbers = items * (2 * nodes + 1 + self.axes);
        let indices = elements * nodes + items;
        Work {
            bytes_read: (numbers * T::BYTES + indices * size_of::<u32>()) as u64,
            bytes_written: (items * nodes * T::BYTES) as u64,
            flops: (items * nodes * (4 * self.axes * self.nodes_1d + 2 * self.axes + 3)) as u64,
            ..Work::default()
        }
    }

    /// Numbers of shared memory of an item.
    fn shared(&self) -> usize {
        let n = self.nodes_1d;
        self.lines() * (n | 1) + self.axes * n * n
    }

    /// Items of a block of the kernel.
    pub fn items_per_block(&self) -> usize {
        let most = SHARED / self.shared();
        (THREADS / self.lines()).min(most).max(1)
    }

    /// The block of the kernel.
    pub fn block(&self) -> BlockShape {
        BlockShape {
            shared_reals: (self.items_per_block() * self.shared()) as u32,
            ..BlockShape::row((self.items_per_block() * self.lines()) as u32)
        }
    }

    /// Blocks for this many items.
    pub fn blocks(&self, items: usize) -> u32 {
        let blocks = items.div_ceil(self.items_per_block()).max(1);
        blocks.try_into().unwrap_or(u32::MAX)
    }

    /// The text; its kernel is `invert_elements`, with arguments given in `element_inverse.c`.
    pub fn source(&self, language: Language, precision: Precision) -> String {
        let mut source = SourceBuilder::new(language, precision, self.block());
        source.define("AXES", self.axes);
        source.define("N", self.nodes_1d);
        source.define("ENDS_BITS", ENDS_BITS);
        source.define("ELEMENTS", self.items_per_block());
        source.include(TEXT);
        source.finish()
    }
}

/// Eigenvectors and eigenvalues of lines with all kinds of ends.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a, T> {
    /// V, `[ends][node][mode]`.
    pub vectors: &'a [T],
    /// θ, `[ends][mode]`.
    pub values: &'a [T],
}

/// A run of items: elements times components.
#[derive(Clone, Copy, Debug)]
pub struct Items<'a, T> {
    /// Number of components; an item is `element * components + component`.
    pub components: usize,
    /// The first item.
    pub first: usize,
    /// Nodes of all elements, `[element][node]`.
    pub nodes: &'a [u32],
    /// Which ends the lines of an item have along each axis, [`ENDS_BITS`] each, the fastest axis in the lowest:
    /// `[item]`.
    pub ends: &'a [u32],
    /// s, `[item][1 + axes]`.
    pub strengths: &'a [T],
}

impl<T> Items<'_, T> {
    /// The ends along an axis.
    fn ends(&self, item: usize, axis: usize) -> usize {
        (self.ends[item] >> (ENDS_BITS * axis)) as usize & ((1 << ENDS_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{SimdLevel, Vectorizable};
    use crate::vector::random;

    /// Random tables and strengths, and the product with each factor written out.
    fn check<T: Vectorizable>(level: SimdLevel, shape: InverseShape, tolerance: f64) {
        let InverseShape { axes, nodes_1d: n } = shape;
        let (elements, components, len) = (LANES + 3, 2, 61);
        let (items, nodes) = (elements * components, shape.nodes());
        let number = |seed: u32, at: usize| random::entry(seed, at as u32);
        let numbers =
            |seed: u32, len: usize| -> Vec<f64> { (0..len).map(|at| number(seed, at)).collect() };
        let positive = |seed: u32, len: usize| -> Vec<f64> {
            numbers(seed, len).into_iter().map(|x| 2.0 + x).collect()
        };
        let (vectors, values) = (numbers(1, 9 * n * n), positive(2, 9 * n));
        let strengths = positive(3, items * (1 + axes));
        let (weights, x) = (positive(4, len * components), numbers(5, len * components));
        let list: Vec<u32> = (0..elements * nodes)
            .map(|at| (at * 7 % len) as u32)
            .collect();
        let ends: Vec<u32> = (0..items as u32)
            .map(|item| (item % 9) | ((item / 2 % 9) << 4) | ((item / 3 % 9) << 8))
            .collect();
        let of = |values: &[f64]| values.iter().map(|&v| T::from_f64(v)).collect::<Vec<T>>();
        let (vectors_t, values_t, strengths_t) = (of(&vectors), of(&values), of(&strengths));
        let lines = Lines {
            vectors: &vectors_t,
            values: &values_t,
        };
        let first = 3;
        let run = Items {
            components,
            first,
            nodes: &list,
            ends: &ends,
            strengths: &strengths_t,
        };
        let mut e = vec![T::from_f64(f64::NAN); (items - first) * nodes];
        let mut scratch = vec![T::from_f64(f64::NAN); shape.scratch()];
        invert(
            level,
            (shape, lines),
            run,
            (&of(&weights), &of(&x)),
            (&mut scratch, &mut e),
        );
        let along = |node: usize, axis: usize| node / n.pow(axis as u32) % n;
        for item in first..items {
            let kind = |axis: usize| ((ends[item] >> (4 * axis)) & 15) as usize;
            let entry = |node: usize| {
                list[item / components * nodes + node] as usize * components + item % components
            };
            let factor = |node: usize, mode: usize| {
                let of_axis = |axis: usize| {
                    let row = kind(axis) * n + along(node, axis);
                    vectors[row * n + along(mode, axis)]
                };
                (0..axes).map(of_axis).product::<f64>()
            };
            let own = &strengths[item * (1 + axes)..];
            let at_mode = |mode: usize| {
                let theta = |axis: usize| values[kind(axis) * n + along(mode, axis)];
                let sum = own[0]
                    + (0..axes)
                        .map(|axis| own[1 + axis] * theta(axis))
                        .sum::<f64>();
                let input = |node: usize| weights[entry(node)] * x[entry(node)];
                (0..nodes)
                    .map(|node| factor(node, mode) * input(node))
                    .sum::<f64>()
                    / sum
            };
            let at_modes: Vec<f64> = (0..nodes).map(at_mode).collect();
            for node in 0..nodes {
                let terms = at_modes.iter().enumerate();
                let sum: f64 = terms.map(|(mode, value)| factor(node, mode) * value).sum();
                let (found, wanted) =
                    (e[(item - first) * nodes + node], weights[entry(node)] * sum);
                let error = (found.to_f64() - wanted).abs();
                assert!(
                    error < tolerance * wanted.abs().max(1.0),
                    "{shape:?} item {item}, node {node}: {found} {wanted}"
                );
            }
        }
    }

    #[test]
    fn blocks_fit_every_device() {
        for (axes, nodes_1d) in [2, 3]
            .into_iter()
            .flat_map(|axes| (3..=16).map(move |n| (axes, n)))
        {
            let block = InverseShape { axes, nodes_1d }.block();
            assert!(block.shared_bytes(Precision::Fp64) <= 48 << 10);
            assert!(block.threads() <= 256);
        }
    }

    #[test]
    fn separable_operators_are_inverted_along_each_axis() {
        for &level in SimdLevel::available() {
            for (axes, nodes_1d) in [(2, 3), (2, 9), (3, 3), (3, 5)] {
                let shape = InverseShape { axes, nodes_1d };
                check::<f64>(level, shape, 1e-12);
                check::<f32>(level, shape, 1e-3);
            }
        }
    }
}
