//! The host's loops: an item in each lane of vectors.

use super::{InverseShape, Items, LANES, Lines};
use crate::scalar::{Lanes, Real, SimdLevel, SimdTask, Vectorizable, dispatch};
use fearless_simd::Simd;

/// e = w A⁻¹ w x on a run of items: `x` and the weights w are L-vectors of interleaved components, `e` is
/// `[item][node]`, `scratch` has [`InverseShape::scratch`] numbers.
pub fn invert<T: Vectorizable>(
    level: SimdLevel,
    (shape, lines): (InverseShape, Lines<'_, T>),
    items: Items<'_, T>,
    (weights, x): (&[T], &[T]),
    (scratch, e): (&mut [T], &mut [T]),
) {
    let task = Invert {
        shape,
        lines,
        items,
        weights,
        x,
        scratch,
        e,
    };
    dispatch(level, task);
}

/// The arguments of [`invert`].
struct Invert<'a, T> {
    shape: InverseShape,
    lines: Lines<'a, T>,
    items: Items<'a, T>,
    weights: &'a [T],
    x: &'a [T],
    scratch: &'a mut [T],
    e: &'a mut [T],
}

impl<T: Vectorizable> SimdTask for Invert<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        self.in_lanes::<T::Lanes<S>>(token);
    }
}

impl<T: Real> Invert<'_, T> {
    /// Items in the lanes of vectors.
    #[inline(always)]
    fn in_lanes<L: Lanes<Real = T>>(self, token: L::Token) {
        const { assert!(LANES.is_multiple_of(L::WIDTH)) };
        let Self {
            shape,
            lines,
            items,
            weights,
            x,
            scratch,
            e,
        } = self;
        let InverseShape { axes, nodes_1d: n } = shape;
        let (nodes, width, components) = (shape.nodes(), L::WIDTH, items.components);
        let (values, tables) = scratch.split_at_mut(2 * width * nodes);
        let (mut here, mut there) = values.split_at_mut(width * nodes);
        // V, `[axis][node][mode][lane]`, and θ, `[axis][mode][lane]`.
        let (vectors, theta) = tables.split_at_mut(width * axes * n * n);
        // The ends that they belong to.
        let mut tables_of = [None; LANES];
        for (batch, target) in e.chunks_mut(width * nodes).enumerate() {
            let first = items.first + batch * width;
            // Lanes beyond the last item repeat it.
            let last = target.len() / nodes - 1;
            let item = |lane: usize| first + lane.min(last);
            let entries = |lane: usize| {
                let (element, component) = (item(lane) / components, item(lane) % components);
                let nodes = items.nodes[element * nodes..][..nodes].iter();
                nodes.map(move |&node| node as usize * components + component)
            };
            for lane in 0..width {
                let ends = Some(items.ends[item(lane)]);
                if std::mem::replace(&mut tables_of[lane], ends) != ends {
                    for axis in 0..axes {
                        let ends = items.ends(item(lane), axis);
                        let own = lines.values[ends * n..][..n].iter();
                        let to = theta[axis * n * width + lane..].iter_mut();
                        to.step_by(width).zip(own).for_each(|(to, &it)| *to = it);
                        let own = lines.vectors[ends * n * n..][..n * n].iter();
                        let to = vectors[axis * n * n * width + lane..].iter_mut();
                        to.step_by(width).zip(own).for_each(|(to, &it)| *to = it);
                    }
                }
                let to = here[lane..].iter_mut().step_by(width);
                for (entry, to) in entries(lane).zip(to) {
                    *to = weights[entry] * x[entry];
                }
            }
            let strengths = [0, 1, 2, 3].map(|a| {
                let of_lane = |lane| items.strengths[item(lane) * (1 + axes) + a.min(axes)];
                L::from_fn(token, of_lane)
            });
            for vectors in vectors.chunks_exact(width * n * n).rev() {
                contract::<L>(token, (n, vectors, [n, 1]), here, there);
                std::mem::swap(&mut here, &mut there);
            }
            divide::<L>(token, (shape, strengths), theta, here);
            for vectors in vectors.chunks_exact(width * n * n).rev() {
                contract::<L>(token, (n, vectors, [1, n]), here, there);
                std::mem::swap(&mut here, &mut there);
            }
            for (lane, target) in target.chunks_exact_mut(nodes).enumerate() {
                let values = here[lane..].iter().step_by(width);
                for ((to, &value), entry) in target.iter_mut().zip(values).zip(entries(lane)) {
                    *to = weights[entry] * value;
                }
            }
        }
    }
}

/// Divides values at modes by sums of eigenvalues θ times strengths.
#[inline(always)]
fn divide<L: Lanes>(
    token: L::Token,
    (shape, strengths): (InverseShape, [L; 4]),
    theta: &[L::Real],
    values: &mut [L::Real],
) {
    let InverseShape { axes, nodes_1d: n } = shape;
    let width = L::WIDTH;
    let theta = |axis: usize, mode: usize| {
        let at = &theta[(axis * n + mode) * width..][..width];
        strengths[1 + axis] * L::load(token, at)
    };
    for (line, values) in values.chunks_exact_mut(width * n).enumerate() {
        let mut others = strengths[0] + theta(1, line % n);
        if axes == 3 {
            others += theta(2, line / n);
        }
        for (mode, values) in values.chunks_exact_mut(width).enumerate() {
            let value = L::load(token, values) / (others + theta(0, mode));
            values.copy_from_slice(value.lanes());
        }
    }
}

/// Lines that [`contract`] takes at once, and numbers of each.
const BLOCK: [usize; 2] = [4, 2];

/// `out[line][to] = Σ_from matrix[from][to] input[from][line]` in each lane: the slowest index becomes the fastest. The
/// strides of the matrix are those of `from` and `to`.
#[inline(always)]
fn contract<L: Lanes>(
    token: L::Token,
    with: (usize, &[L::Real], [usize; 2]),
    input: &[L::Real],
    out: &mut [L::Real],
) {
    let n = with.0;
    let lines = input.len() / L::WIDTH / n;
    let (whole, even) = (lines - lines % BLOCK[0], n - n % BLOCK[1]);
    for line in (0..whole).step_by(BLOCK[0]) {
        for to in (0..even).step_by(BLOCK[1]) {
            add_up::<L, { BLOCK[0] }, { BLOCK[1] }>(token, with, (line, to), input, out);
        }
        for to in even..n {
            add_up::<L, { BLOCK[0] }, 1>(token, with, (line, to), input, out);
        }
    }
    for line in whole..lines {
        for to in 0..n {
            add_up::<L, 1, 1>(token, with, (line, to), input, out);
        }
    }
}

/// `LINES` times `NUMBERS` sums of [`contract`], from a line and a number on.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "with iterators the sums are not kept in registers"
)]
fn add_up<L: Lanes, const LINES: usize, const NUMBERS: usize>(
    token: L::Token,
    (n, matrix, strides): (usize, &[L::Real], [usize; 2]),
    (line, to): (usize, usize),
    input: &[L::Real],
    out: &mut [L::Real],
) {
    let width = L::WIDTH;
    let lines = input.len() / width / n;
    let mut sums = [[L::splat(token, L::Real::default()); NUMBERS]; LINES];
    for from in 0..n {
        let values = &input[(from * lines + line) * width..][..LINES * width];
        for number in 0..NUMBERS {
            let at = from * strides[0] + (to + number) * strides[1];
            let entry = L::load(token, &matrix[at * width..][..width]);
            for own in 0..LINES {
                let value = L::load(token, &values[own * width..][..width]);
                sums[own][number] = entry.mul_add(value, sums[own][number]);
            }
        }
    }
    for own in 0..LINES {
        for number in 0..NUMBERS {
            let out = &mut out[((line + own) * n + to + number) * width..][..width];
            out.copy_from_slice(sums[own][number].lanes());
        }
    }
}
