//! Sweeps: one contraction applied along one axis of an array of lanes.
//!
//! Each sweep is compiled with known sizes and fully unrolled for the sizes in [`Sweeps::new`]; other sizes
//! use a plain loop with the same signature.

use super::contraction::contract;
use crate::family::sum_factorization::contraction::Contraction;
use crate::scalar::{Lanes, Real};
use fearless_simd::Simd;

/// `target (+)= M source` along the axis with stride `inner`: source `[outer][inputs][inner]`, target
/// `[outer][outputs][inner]`.
pub(crate) type Sweep<L> =
    fn(<L as Lanes>::Token, &Contraction<<L as Lanes>::Real>, usize, &[L], &mut [L]);

/// `rows = Mᵀ diag(factors) M rows` in place, for M and its transpose: rows `[row][node]`, factors `[row][point]`.
pub(crate) type Scale<L> =
    fn(<L as Lanes>::Token, [&Contraction<<L as Lanes>::Real>; 2], factors: &[L], rows: &mut [L]);

/// The sweeps for given numbers of nodes and points.
pub(crate) struct Sweeps<L: Lanes> {
    /// Nodes to points.
    pub(crate) interp: Sweep<L>,
    /// Points to nodes.
    pub(crate) interp_transposed: Sweep<L>,
    /// Points to points: differentiation (or its transpose).
    pub(crate) grad: Sweep<L>,
    /// Differentiation, added to the target.
    pub(crate) grad_add: Sweep<L>,
    /// Rows of nodes to points, products with factors, and back, for sizes that are compiled in.
    pub(crate) scale: Option<Scale<L>>,
}

impl<L: Lanes> Clone for Sweeps<L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<L: Lanes> Copy for Sweeps<L> {}

impl<L: Lanes> Sweeps<L> {
    /// Sweeps for any sizes.
    pub(crate) fn plain() -> Self {
        Self {
            interp: plain::<L, false>,
            interp_transposed: plain::<L, false>,
            grad: plain::<L, false>,
            grad_add: plain::<L, true>,
            scale: None,
        }
    }

    /// The sweeps for `nodes_1d` and `points_1d`, unrolled if these sizes are compiled in.
    pub(crate) fn new(nodes_1d: usize, points_1d: usize) -> Self {
        let plain = Self::plain();
        macro_rules! square {
            ($($n:literal)*) => {
                match points_1d {
                    $($n => Self {
                        grad: unrolled::<L, $n, $n, true, false>,
                        grad_add: unrolled::<L, $n, $n, true, true>,
                        ..plain
                    },)*
                    _ => plain,
                }
            };
        }
        let square = square!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
        macro_rules! gauss {
            ($($n:literal $g:literal),*) => {
                match (nodes_1d, points_1d) {
                    $(($n, $g) => Self {
                        interp: unrolled::<L, $n, $g, false, false>,
                        interp_transposed: unrolled::<L, $g, $n, false, false>,
                        scale: Some(scale::<L, $n, $g>),
                        ..square
                    },)*
                    _ => square,
                }
            };
        }
        // One point more than nodes, by default; as many on the levels of multigrid.
        gauss!(
            2 3, 3 4, 4 5, 5 6, 6 7, 7 8, 8 9, 9 10, 10 11, 11 12, 12 13, 13 14, 14 15, 15 16, 16 17,
            2 2, 3 3, 4 4, 5 5, 6 6, 7 7, 8 8, 9 9
        )
    }
}

/// The sweep with sizes known at compile time. The stride along η is the length of a row of nodes or of points.
fn unrolled<L: Lanes, const NI: usize, const NO: usize, const ODD: bool, const ADD: bool>(
    token: L::Token,
    matrix: &Contraction<L::Real>,
    inner: usize,
    source: &[L],
    target: &mut [L],
) {
    token.vectorize(
        #[inline(always)]
        || {
            let parts = parts::<_, NI, NO>(matrix);
            let pencil = Pencil::<L, NI, NO, ODD, ADD> { token, parts };
            if inner == 1 {
                let (pencils, _) = source.as_chunks::<NI>();
                let (outputs, _) = target.as_chunks_mut::<NO>();
                for (x, out) in pencils.iter().zip(outputs) {
                    pencil.apply(*x, out);
                }
            } else if inner == NO {
                pencil.blocks::<NO>(source, target);
            } else if inner == NI {
                pencil.blocks::<NI>(source, target);
            } else {
                pencil.planes(inner, source, target);
            }
        },
    );
}

/// The even and odd parts of a matrix, of lengths known at compile time, so that no access to them is bounds-checked.
#[inline(always)]
fn parts<T, const NI: usize, const NO: usize>(matrix: &Contraction<T>) -> (&[T], &[T]) {
    let rows = NO.div_ceil(2);
    (
        &matrix.even[..rows * NI.div_ceil(2)],
        &matrix.odd[..rows * (NI / 2)],
    )
}

/// [`Scale`] with sizes known at compile time: points stay in registers.
fn scale<L: Lanes, const NI: usize, const NO: usize>(
    token: L::Token,
    [forward, back]: [&Contraction<L::Real>; 2],
    factors: &[L],
    rows: &mut [L],
) {
    token.vectorize(
        #[inline(always)]
        || {
            let forward = parts::<_, NI, NO>(forward);
            let back = parts::<_, NO, NI>(back);
            let (rows, _) = rows.as_chunks_mut::<NI>();
            let (factors, _) = factors.as_chunks::<NO>();
            for (row, factors) in rows.iter_mut().zip(factors) {
                let mut points = contract::<L, NI, NO, false>(token, forward, *row);
                for i in 0..NO {
                    points[i] = points[i] * factors[i];
                }
                *row = contract::<L, NO, NI, false>(token, back, points);
            }
        },
    );
}

/// One contraction, prepared for many pencils.
struct Pencil<'a, L: Lanes, const NI: usize, const NO: usize, const ODD: bool, const ADD: bool> {
    token: L::Token,
    parts: (&'a [L::Real], &'a [L::Real]),
}

impl<L: Lanes, const NI: usize, const NO: usize, const ODD: bool, const ADD: bool>
    Pencil<'_, L, NI, NO, ODD, ADD>
{
    #[inline(always)]
    fn apply(&self, x: [L; NI], out: &mut [L; NO]) {
        let y = contract::<L, NI, NO, ODD>(self.token, self.parts, x);
        for j in 0..NO {
            out[j] = if ADD { out[j] + y[j] } else { y[j] };
        }
    }

    /// Blocks of rows of known length.
    #[inline(always)]
    fn blocks<const ROW: usize>(&self, source: &[L], target: &mut [L]) {
        let (rows, _) = source.as_chunks::<ROW>();
        let (output_rows, _) = target.as_chunks_mut::<ROW>();
        let (blocks, _) = rows.as_chunks::<NI>();
        let (outputs, _) = output_rows.as_chunks_mut::<NO>();
        for (block, out) in blocks.iter().zip(outputs) {
            for p in 0..ROW {
                let mut x = [block[0][p]; NI];
                for m in 1..NI {
                    x[m] = block[m][p];
                }
                let y = contract::<L, NI, NO, ODD>(self.token, self.parts, x);
                for j in 0..NO {
                    out[j][p] = if ADD { out[j][p] + y[j] } else { y[j] };
                }
            }
        }
    }

    /// Blocks of planes of any length.
    #[inline(always)]
    fn planes(&self, inner: usize, mut source: &[L], mut target: &mut [L]) {
        while let Some((block, rest)) = source.split_at_checked(NI * inner)
            && let Some((mut out, tail)) =
                core::mem::take(&mut target).split_at_mut_checked(NO * inner)
        {
            (source, target) = (rest, tail);
            let planes: [&[L]; NI] = core::array::from_fn(|m| &block[m * inner..][..inner]);
            let outputs: [&mut [L]; NO] = core::array::from_fn(|_| {
                let (head, rest) = core::mem::take(&mut out).split_at_mut(inner);
                out = rest;
                head
            });
            for p in 0..inner {
                let mut x = [planes[0][p]; NI];
                for m in 1..NI {
                    x[m] = planes[m][p];
                }
                let y = contract::<L, NI, NO, ODD>(self.token, self.parts, x);
                for j in 0..NO {
                    let out = &mut outputs[j][p];
                    *out = if ADD { *out + y[j] } else { y[j] };
                }
            }
        }
    }
}

/// The sweep for any sizes.
fn plain<L: Lanes, const ADD: bool>(
    token: L::Token,
    matrix: &Contraction<L::Real>,
    inner: usize,
    source: &[L],
    target: &mut [L],
) {
    let (inputs, outputs) = (matrix.inputs, matrix.outputs);
    token.vectorize(
        #[inline(always)]
        || {
            let blocks = source.chunks_exact(inputs * inner);
            for (block, out) in blocks.zip(target.chunks_exact_mut(outputs * inner)) {
                for j in 0..outputs {
                    for p in 0..inner {
                        let mut sum = if ADD {
                            out[j * inner + p]
                        } else {
                            L::splat(token, L::Real::from_f64(0.0))
                        };
                        for m in 0..inputs {
                            let entry = L::splat(token, matrix.dense[j * inputs + m]);
                            sum = block[m * inner + p].mul_add(entry, sum);
                        }
                        out[j * inner + p] = sum;
                    }
                }
            }
        },
    );
}
