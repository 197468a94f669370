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

use super::vectorized;
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use crate::roofline::Work;
use crate::scalar::{Precision, Real, SimdLevel};

const TEXT: KernelFile = KernelFile {
    name: "vector/element_inverse.c",
    text: include_str!("element_inverse.c"),
};

/// Items that the host solves at once.
pub const LANES: usize = 8;

/// Threads of a block of the kernel, at least, for small elements.
const THREADS: usize = 128;

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
        LANES * (2 * self.nodes() + 2 * self.axes * self.nodes_1d.pow(2))
    }

    /// The work for so many elements and components.
    pub fn work<T: Real>(&self, elements: usize, components: usize) -> Work {
        let (items, nodes) = (elements * components, self.nodes());
        // The input, and the weights before and after; weights are counted once.
        let numbers = items * (2 * nodes + 1 + self.axes);
        let indices = elements * nodes + items;
        Work {
            bytes_read: (numbers * T::BYTES + indices * size_of::<u32>()) as u64,
            bytes_written: (items * nodes * T::BYTES) as u64,
            flops: (items * nodes * (4 * self.axes * self.nodes_1d + 2 * self.axes + 3)) as u64,
            shared_bytes: 0,
        }
    }

    /// Items of a block of the kernel.
    pub fn items_per_block(&self) -> usize {
        (THREADS / self.lines()).max(1)
    }

    /// The block of the kernel.
    pub fn block(&self) -> BlockShape {
        let n = self.nodes_1d;
        let values = self.lines() * (n | 1);
        let per_item = values + self.axes * n * n;
        BlockShape {
            shared_reals: (self.items_per_block() * per_item) as u32,
            ..BlockShape::row((self.items_per_block() * self.lines()) as u32)
        }
    }

    /// Blocks for so many items.
    pub fn blocks(&self, items: usize) -> u32 {
        let blocks = items.div_ceil(self.items_per_block()).max(1);
        blocks.try_into().unwrap_or(u32::MAX)
    }

    /// The text; its kernel is `invert_elements`, with arguments given in `element_inverse.c`.
    pub fn source(&self, language: Language, precision: Precision) -> String {
        let mut source = SourceBuilder::new(language, precision, self.block());
        source.define("AXES", self.axes);
        source.define("N", self.nodes_1d);
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

/// e = w A⁻¹ w x on a run of items: `x` and the weights w are L-vectors of interleaved components, `e` is
/// `[item][node]`, `scratch` has [`InverseShape::scratch`] numbers.
pub fn invert<T: Real>(
    level: SimdLevel,
    (shape, lines): (InverseShape, Lines<'_, T>),
    items: Items<'_, T>,
    (weights, x): (&[T], &[T]),
    (scratch, e): (&mut [T], &mut [T]),
) {
    let InverseShape { axes, nodes_1d: n } = shape;
    let nodes = shape.nodes();
    let (values, matrices) = scratch.split_at_mut(2 * LANES * nodes);
    let (mut here, mut there) = values.split_at_mut(LANES * nodes);
    // Of `[axis][from][to][lane]`, to modes and to nodes.
    let (to_modes, to_nodes) = matrices.split_at_mut(LANES * axes * n * n);
    // The ends that the matrices are of.
    let mut of = [None; LANES];
    for (batch, target) in e.chunks_mut(LANES * nodes).enumerate() {
        let first = items.first + batch * LANES;
        let lanes = target.len() / nodes;
        // Lanes beyond the last item repeat it.
        let item = |lane: usize| first + lane.min(lanes - 1);
        let entries = |lane: usize| {
            let (element, component) = (item(lane) / items.components, item(lane) % items.components);
            let nodes = items.nodes[element * nodes..][..nodes].iter();
            nodes.map(move |&node| node as usize * items.components + component)
        };
        for lane in 0..LANES {
            let ends = Some(items.ends[item(lane)]);
            if std::mem::replace(&mut of[lane], ends) != ends {
                for axis in 0..axes {
                    let vectors = &lines.vectors[items.ends(item(lane), axis) * n * n..][..n * n];
                    for (at, &value) in vectors.iter().enumerate() {
                        let (node, mode) = (at / n, at % n);
                        let own = axis * n * n;
                        to_modes[(own + at) * LANES + lane] = value;
                        to_nodes[(own + mode * n + node) * LANES + lane] = value;
                    }
                }
            }
            for (entry, value) in entries(lane).zip(here[lane..].iter_mut().step_by(LANES)) {
                *value = weights[entry] * x[entry];
            }
        }
        for matrix in to_modes.chunks_exact(LANES * n * n).rev() {
            contract(level, (n, matrix), here, there);
            std::mem::swap(&mut here, &mut there);
        }
        for (lane, strengths) in (0..LANES).map(|lane| {
            let s = &items.strengths[item(lane) * (1 + axes)..][..1 + axes];
            (lane, s)
        }) {
            let theta = |axis: usize| &lines.values[items.ends(item(lane), axis) * n..][..n];
            let [fastest, middle] = [theta(0), theta(1)];
            for (line, values) in here.chunks_exact_mut(LANES * n).enumerate() {
                let mut others = strengths[0] + strengths[2] * middle[line % n];
                if axes == 3 {
                    others += strengths[3] * theta(2)[line / n];
                }
                let values = values[lane..].iter_mut().step_by(LANES);
                for (value, &theta) in values.zip(fastest) {
                    *value = *value / (others + strengths[1] * theta);
                }
            }
        }
        for matrix in to_nodes.chunks_exact(LANES * n * n).rev() {
            contract(level, (n, matrix), here, there);
            std::mem::swap(&mut here, &mut there);
        }
        for (lane, target) in target.chunks_exact_mut(nodes).enumerate() {
            let values = here[lane..].iter().step_by(LANES);
            for ((to, &value), entry) in target.iter_mut().zip(values).zip(entries(lane)) {
                *to = weights[entry] * value;
            }
        }
    }
}

/// `out[line][to] = Σ_from matrix[from][to] input[from][line]` in each lane: the slowest index becomes the fastest.
fn contract<T: Real>(
    level: SimdLevel,
    (n, matrix): (usize, &[T]),
    input: &[T],
    out: &mut [T],
) {
    let lines = input.len() / LANES / n;
    vectorized(
        level,
        #[inline(always)]
        || {
            for (line, out) in out.chunks_exact_mut(LANES * n).enumerate() {
                for (to, out) in out.chunks_exact_mut(LANES).enumerate() {
                    let mut sums = [T::default(); LANES];
                    for from in 0..n {
                        let entries = &matrix[(from * n + to) * LANES..][..LANES];
                        let values = &input[(from * lines + line) * LANES..][..LANES];
                        for lane in 0..LANES {
                            sums[lane] += entries[lane] * values[lane];
                        }
                    }
                    out.copy_from_slice(&sums);
                }
            }
        },
    );
}
