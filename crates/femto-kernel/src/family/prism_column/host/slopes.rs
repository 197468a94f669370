//! λ u, κ ∇u of degrees that are not both 1 on layers that slope: the formulas of `text/slopes.h`.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over points and axes read like the formulas"
)]

use super::folded::Metric;
use super::{HostKernel, LineModes, Scratch};
use crate::family::batch::chunks;
use crate::form::{AtPoints, MOST_POINTS};
use crate::scalar::{Lanes, Real};

/// A mode of the line at a chunk's points.
#[derive(Clone, Copy)]
pub(super) struct ModeAtPoints<L> {
    /// u_j; then what is tested with it.
    values: AtPoints<L>,
    /// Derivatives along the triangle; then fluxes.
    along: [AtPoints<L>; 2],
    /// s_j.
    upwards: AtPoints<L>,
}

impl<L: Lanes> ModeAtPoints<L> {
    pub(super) fn new(zero: L) -> Self {
        let zeros = [zero; MOST_POINTS];
        Self {
            values: zeros,
            along: [zeros; 2],
            upwards: zeros,
        }
    }
}

/// The map at a chunk's points.
struct MapAtPoints<L> {
    weight: AtPoints<L>,
    inverse: AtPoints<L>,
}

impl<L: Lanes> HostKernel<L> {
    #[inline(always)]
    pub(super) fn sloped(
        &self,
        line: &LineModes<L::Real>,
        metric: &Metric<'_, L>,
        scratch: &mut Scratch<L>,
    ) {
        let [nt, nz] = self.nodes;
        let count = nt * nz;
        let zero = self.zero();
        let Scratch {
            nodal,
            out,
            products,
            modes,
            level,
            ..
        } = scratch;
        let coefficient = |j: usize, k: usize| self.splat(line.coefficients[j * nz + k]);
        for (row, products) in nodal
            .chunks_exact(count)
            .zip(products.chunks_exact_mut(2 * count))
        {
            let (of_modes, sums) = products.split_at_mut(count);
            sums.fill(zero);
            for t in 0..nt {
                let line = &self.places[t * nz..][..nz];
                let first = row[line[0]];
                for j in 0..nz {
                    let mut sum = if j == 0 { first } else { zero };
                    for k in 1..nz {
                        sum = (row[line[k]] - first).mul_add(coefficient(j, k), sum);
                    }
                    of_modes[j * nt + t] = sum;
                }
            }
        }
        for chunk in chunks(self.weights.len()) {
            let mut map = MapAtPoints {
                weight: [zero; MOST_POINTS],
                inverse: [zero; MOST_POINTS],
            };
            for (p, q) in chunk.clone().enumerate() {
                let xi = self.splat(self.positions[2 * q]);
                let eta = self.splat(self.positions[2 * q + 1]);
                let z_up = eta.mul_add(metric.z[5], xi.mul_add(metric.z[4], metric.z[3]));
                map.weight[p] = z_up * self.splat(self.weights[q]);
                if self.wanted[1] {
                    map.inverse[p] = z_up.constant(1.0) / z_up;
                }
            }
            let test = &self.matrices.test;
            for products in products.chunks_exact_mut(2 * count) {
                let (of_modes, sums) = products.split_at_mut(count);
                for (j, mode) in modes.iter_mut().enumerate() {
                    let mut nodal = &of_modes[j * nt..][..nt];
                    let first = nodal[0];
                    if j == 0 {
                        // Without its first value, a constant has no derivative, whatever its size.
                        for (value, mode) in level.iter_mut().zip(nodal) {
                            *value = *mode - first;
                        }
                        nodal = &level[..nt];
                    }
                    let ModeAtPoints { values, along, .. } = mode;
                    if self.wanted[0] {
                        test.to_points(self.token, &chunk, nodal, Some(values), along, &mut []);
                    } else {
                        test.to_points(self.token, &chunk, nodal, None, along, &mut []);
                        self.upwards.to_points(
                            self.token,
                            &chunk,
                            nodal,
                            Some(values),
                            &mut [],
                            &mut [],
                        );
                    }
                    if j == 0 {
                        for value in values {
                            *value += first;
                        }
                    }
                }
                self.modes_at_points(line, metric, &map, modes);
                for (j, mode) in modes.iter().enumerate() {
                    let sums = &mut sums[j * nt..][..nt];
                    let ModeAtPoints { values, along, .. } = mode;
                    if self.wanted[0] {
                        test.add_to_nodes(self.token, &chunk, (Some(values), along), sums, &mut []);
                    } else {
                        test.add_to_nodes(self.token, &chunk, (None, along), sums, &mut []);
                        let values = (Some(values), &[][..]);
                        self.upwards
                            .add_to_nodes(self.token, &chunk, values, sums, &mut []);
                    }
                }
            }
        }
        for (products, out) in products
            .chunks_exact(2 * count)
            .zip(out.chunks_exact_mut(count))
        {
            let sums = &products[count..];
            for t in 0..nt {
                for k in 0..nz {
                    let mut sum = zero;
                    for j in 0..nz {
                        sum = sums[j * nt + t].mul_add(coefficient(j, k), sum);
                    }
                    out[self.places[t * nz + k]] = sum;
                }
            }
        }
    }

    /// Replaces values by what is tested with modes, derivatives along the triangle by fluxes.
    #[inline(always)]
    fn modes_at_points(
        &self,
        line: &LineModes<L::Real>,
        metric: &Metric<'_, L>,
        map: &MapAtPoints<L>,
        modes: &mut [ModeAtPoints<L>],
    ) {
        let (zero, nz) = (self.zero(), modes.len());
        let [values, gradients] = self.wanted;
        let norm = |j: usize| self.splat(line.norms[j]);
        let number = |value: usize| self.splat(L::Real::from_f64(value as f64));
        if gradients {
            for j in 0..nz - 1 {
                let mut sums = [zero; MOST_POINTS];
                for i in (j + 1..nz).step_by(2) {
                    for p in 0..MOST_POINTS {
                        sums[p] += modes[i].values[p];
                    }
                }
                let factor = number(2 * j + 1);
                for p in 0..MOST_POINTS {
                    modes[j].upwards[p] = factor * map.inverse[p] * sums[p];
                }
            }
        }
        for j in 0..nz {
            let factor = if values { norm(j) * metric.mass } else { zero };
            for p in 0..MOST_POINTS {
                modes[j].values[p] = factor * map.weight[p] * modes[j].values[p];
            }
        }
        if !gradients {
            return;
        }
        let [of_xi, of_eta, mixed] = metric.in_plane;
        let [_, m_xi, m_eta, _, t_xi, t_eta] = *metric.z;
        // ζ P_j = above(j) P_{j+1} + below(j) P_{j-1}.
        let ratio = |a: usize, b: usize| self.splat(L::Real::from_f64(a as f64 / b as f64));
        let above = |j: usize| ratio(j + 1, 2 * j + 1);
        let below = |j: usize| ratio(j, 2 * j + 1);
        for j in 0..nz {
            for p in 0..MOST_POINTS {
                let (mut own, mut turned) = (zero, zero);
                if j + 1 < nz {
                    own = modes[j].upwards[p];
                }
                if j > 0 {
                    turned = above(j - 1) * modes[j - 1].upwards[p];
                }
                if j + 2 < nz {
                    turned = modes[j + 1].upwards[p].mul_add(below(j + 1), turned);
                }
                let [xi, eta] = [modes[j].along[0][p], modes[j].along[1][p]];
                let a_xi = xi - m_xi.mul_add(own, t_xi * turned);
                let a_eta = eta - m_eta.mul_add(own, t_eta * turned);
                let weight = norm(j) * map.weight[p];
                modes[j].along[0][p] = weight * of_xi.mul_add(a_xi, mixed * a_eta);
                modes[j].along[1][p] = weight * mixed.mul_add(a_xi, of_eta * a_eta);
            }
        }
        for j in 0..nz - 1 {
            let mut sums = [zero; MOST_POINTS];
            for p in 0..MOST_POINTS {
                let sloped = |i: usize, [xi, eta]: [L; 2]| {
                    xi.mul_add(modes[i].along[0][p], eta * modes[i].along[1][p])
                };
                let weight = norm(j) * map.weight[p] * metric.upwards;
                let twist = [t_xi, t_eta];
                let mut sum = modes[j].upwards[p] * weight - sloped(j, [m_xi, m_eta]);
                sum = sum - sloped(j + 1, twist) * above(j);
                if j > 0 {
                    sum = sum - sloped(j - 1, twist) * below(j);
                }
                sums[p] = sum * number(2 * j + 1) * map.inverse[p];
            }
            for i in (j + 1..nz).step_by(2) {
                for p in 0..MOST_POINTS {
                    modes[i].values[p] += sums[p];
                }
            }
        }
    }
}
