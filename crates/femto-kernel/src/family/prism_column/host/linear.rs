//! λ u, κ ∇u of degree 1: the formulas of `text/linear.h`.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over corners read like the formulas"
)]

use super::folded::Metric;
use super::{HostKernel, LinearSums, Scratch};
use crate::scalar::{Lanes, Real};

/// What of a prism is the same for all components: symmetric matrices over corners, `[entry]`, others by axes.
struct Prism<L> {
    /// ∫ h λ D φ_t φ_s; ∫ φ_t φ_s / h times what is tested with it.
    mass: [L; 6],
    steep: [L; 6],
    /// n₀ M m and n₁ M t.
    of_slopes: [[L; 2]; 2],
    /// n_j ∫ h M: along ξ, along η, mixed.
    metric: [[L; 3]; 2],
}

impl<L: Lanes> HostKernel<L> {
    /// `SLOPES` of m and t are not zero: none on horizontal layers, m on parallel ones.
    #[inline(always)]
    pub(super) fn linear<const SLOPES: usize>(
        &self,
        sums: &LinearSums<L::Real>,
        metric: &Metric<'_, L>,
        scratch: &mut Scratch<L>,
    ) {
        let zero = self.zero();
        let half = zero.constant(0.5);
        let prism = self.linear_prism::<SLOPES>(sums, metric);
        let places: &[usize; 6] = self.places.as_slice().try_into().expect("six nodes");
        let rows = scratch.nodal.chunks_exact(6);
        for (row, out) in rows.zip(scratch.out.chunks_exact_mut(6)) {
            let (mut u, mut along) = ([[zero; 3]; 2], [[zero; 2]; 2]);
            for t in 0..3 {
                let (low, high) = (row[places[2 * t]], row[places[2 * t + 1]]);
                (u[0][t], u[1][t]) = (half * (high + low), half * (high - low));
                if t > 0 {
                    // Of nodes, so that small differences of large values keep their digits.
                    let (low, high) = (low - row[places[0]], high - row[places[1]]);
                    along[0][t - 1] = half * (high + low);
                    along[1][t - 1] = half * (high - low);
                }
            }
            let mut tested = [[zero; 3]; 2];
            if self.wanted[0] {
                for j in 0..2 {
                    let norm = self.splat(sums.norms[j]);
                    for t in 0..3 {
                        tested[j][t] = norm * row_times(&prism.mass, t, u[j]);
                    }
                }
            }
            if self.wanted[1] {
                self.add_gradients::<SLOPES>(&prism, (u[1], along), &mut tested);
            }
            for t in 0..3 {
                out[places[2 * t]] = half * (tested[0][t] - tested[1][t]);
                out[places[2 * t + 1]] = half * (tested[0][t] + tested[1][t]);
            }
        }
    }

    #[inline(always)]
    fn linear_prism<const SLOPES: usize>(
        &self,
        sums: &LinearSums<L::Real>,
        metric: &Metric<'_, L>,
    ) -> Prism<L> {
        let zero = self.zero();
        let [_, m_xi, m_eta, h, t_xi, t_eta] = *metric.z;
        let mut prism = Prism {
            mass: [zero; 6],
            steep: [zero; 6],
            of_slopes: [[zero; 2]; 2],
            metric: [[zero; 3]; 2],
        };
        let [first, second] = [h + t_xi, h + t_eta];
        if self.wanted[0] {
            for entry in 0..6 {
                if SLOPES < 2 {
                    prism.mass[entry] = metric.mass * h * self.splat(sums.mass[entry]);
                    continue;
                }
                let cubic = &sums.cubic[3 * entry..][..3];
                let sum = first.mul_add(self.splat(cubic[1]), h * self.splat(cubic[0]));
                let sum = second.mul_add(self.splat(cubic[2]), sum);
                prism.mass[entry] = metric.mass * sum;
            }
        }
        if self.wanted[1] {
            let slopes = [[m_xi, m_eta], [t_xi, t_eta]];
            let volume = (h + first + second) * self.splat(L::Real::from_f64(1.0 / 6.0));
            let norms = [self.splat(sums.norms[0]), self.splat(sums.norms[1])];
            let [of_xi, of_eta, mixed] = metric.in_plane;
            // n₀ (κ D + m·M m) + n₁ t·M t.
            let mut steep = norms[0] * metric.upwards;
            for j in 0..SLOPES {
                let [xi, eta] = slopes[j];
                prism.of_slopes[j] = [
                    norms[j] * of_xi.mul_add(xi, mixed * eta),
                    norms[j] * mixed.mul_add(xi, of_eta * eta),
                ];
                let [a, b] = prism.of_slopes[j];
                steep = b.mul_add(eta, a.mul_add(xi, steep));
            }
            for j in 0..2 {
                for n in 0..3 {
                    prism.metric[j][n] = metric.in_plane[n] * volume * norms[j];
                }
            }
            if SLOPES < 2 {
                let factor = steep / h;
                for entry in 0..6 {
                    prism.steep[entry] = factor * self.splat(sums.mass[entry]);
                }
                return prism;
            }
            for point in sums.points.chunks_exact(8) {
                let (xi, eta) = (self.splat(point[0]), self.splat(point[1]));
                let factor = steep / eta.mul_add(t_eta, xi.mul_add(t_xi, h));
                for entry in 0..6 {
                    let product = self.splat(point[2 + entry]);
                    prism.steep[entry] = factor.mul_add(product, prism.steep[entry]);
                }
            }
        }
        prism
    }

    /// Adds what gradients are tested with, with 1 and ζ: from u₁, and from derivatives of u₀ and u₁ along the triangle.
    #[inline(always)]
    fn add_gradients<const SLOPES: usize>(
        &self,
        prism: &Prism<L>,
        (u_1, along): ([L; 3], [[L; 2]; 2]),
        tested: &mut [[L; 3]; 2],
    ) {
        let sixth = self.splat(L::Real::from_f64(1.0 / 6.0));
        let sum = sixth * (u_1[0] + u_1[1] + u_1[2]);
        let mut upwards = self.zero();
        for j in 0..2 {
            let [xi, eta] = along[j];
            let [m_xi, m_eta, mixed] = prism.metric[j];
            let mut of_xi = m_xi.mul_add(xi, mixed * eta);
            let mut of_eta = mixed.mul_add(xi, m_eta * eta);
            if j < SLOPES {
                let [a, b] = prism.of_slopes[j];
                upwards = upwards - b.mul_add(eta, a * xi);
                of_xi = of_xi - a * sum;
                of_eta = of_eta - b * sum;
            }
            tested[j][0] = tested[j][0] - of_xi - of_eta;
            tested[j][1] += of_xi;
            tested[j][2] += of_eta;
        }
        for t in 0..3 {
            tested[1][t] += row_times(&prism.steep, t, u_1);
            if SLOPES > 0 {
                tested[1][t] += sixth * upwards;
            }
        }
    }
}

/// Row t of a symmetric matrix, `[entry]`, times u.
#[inline(always)]
fn row_times<L: Lanes>(matrix: &[L; 6], t: usize, u: [L; 3]) -> L {
    const ENTRY: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];
    let [a, b, c] = ENTRY[t];
    matrix[c].mul_add(u[2], matrix[b].mul_add(u[1], matrix[a] * u[0]))
}
