//! λ u, κ ∇u on horizontal layers: matrices of the triangle and of the line.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over nodes read like the formulas"
)]

use super::folded::Metric;
use super::{FactorMatrices, HostKernel, Scratch};
use crate::scalar::Lanes;

impl<L: Lanes> HostKernel<L> {
    /// With M and K of the triangle and of the line, and G = J⁻¹ J⁻ᵀ det J:
    /// out = κ Σ G_ab K_ab u M + M u (κ G_zz K + λ det J M).
    ///
    /// Rows and columns of each K sum to zero. They multiply differences to node 0, whose own row is what the others leave: a
    /// constant has no energy, whatever its size, as where derivatives are taken first.
    #[inline(always)]
    pub(super) fn products(
        &self,
        matrices: &FactorMatrices<L::Real>,
        metric: &Metric<'_, L>,
        scratch: &mut Scratch<L>,
    ) {
        let nodes @ [nt, nz] = self.nodes;
        let count = nt * nz;
        let places = &self.places[..count];
        for c in 0..self.components {
            let row = &scratch.nodal[c * count..][..count];
            let products = scratch.products[2 * c * count..][..2 * count].split_at_mut(count);
            self.along_line(&matrices.line, nodes, metric, (row, products));
            // M of the triangle.
            let steep = &scratch.products[(2 * c + 1) * count..][..count];
            let out = &mut scratch.out[c * count..][..count];
            for t in 0..nt {
                let mass = &matrices.triangle[4 * t * nt..][..4 * nt];
                for k in 0..nz {
                    let mut sum = self.zero();
                    for s in 0..nt {
                        sum = steep[s * nz + k].mul_add(self.splat(mass[4 * s]), sum);
                    }
                    out[places[t * nz + k]] = sum;
                }
            }
        }
        if self.wanted[1] {
            self.stiffness_in_plane(&matrices.triangle, nodes, metric, scratch);
        }
    }

    /// From u at the nodes: differences to the first node of the triangle times M of the line, and u (κ G_zz K + λ det J M).
    #[inline(always)]
    fn along_line(
        &self,
        line: &[L::Real],
        [nt, nz]: [usize; 2],
        metric: &Metric<'_, L>,
        (row, (flat, steep)): (&[L], (&mut [L], &mut [L])),
    ) {
        let [values, gradients] = self.wanted;
        let z_up = metric.z[3];
        let (mass, upwards) = (metric.mass * z_up, metric.upwards / z_up);
        let entry = |k: usize, l: usize, n: usize| self.splat(line[2 * (k * nz + l) + n]);
        let at = |t: usize, l: usize| row[self.places[t * nz + l]];
        for t in 0..nt {
            for k in 0..nz {
                let (mut of_values, mut of_differences) = (self.zero(), self.zero());
                for l in 0..nz {
                    if values {
                        of_values = at(t, l).mul_add(entry(k, l, 0), of_values);
                    }
                    if gradients && t > 0 {
                        let difference = at(t, l) - at(0, l);
                        of_differences = difference.mul_add(entry(k, l, 0), of_differences);
                    }
                }
                flat[t * nz + k] = of_differences;
                steep[t * nz + k] = of_values * mass;
            }
            if gradients {
                for k in 1..nz {
                    let mut sum = self.zero();
                    for l in 1..nz {
                        sum = (at(t, l) - at(t, 0)).mul_add(entry(k, l, 1), sum);
                    }
                    steep[t * nz + k] = sum.mul_add(upwards, steep[t * nz + k]);
                    steep[t * nz] = steep[t * nz] - sum * upwards;
                }
            }
        }
    }

    /// Adds κ Σ G_ab K_ab times the differences that [`Self::along_line`] left.
    #[inline(always)]
    fn stiffness_in_plane(
        &self,
        triangle: &[L::Real],
        [nt, nz]: [usize; 2],
        metric: &Metric<'_, L>,
        scratch: &mut Scratch<L>,
    ) {
        let count = nt * nz;
        let [xi, eta, mixed] = metric.in_plane;
        let z_up = metric.z[3];
        let (xi, eta, mixed) = (xi * z_up, eta * z_up, mixed * z_up);
        let entries = &mut scratch.entries[..nt];
        for t in 1..nt {
            for s in 1..nt {
                let own = &triangle[4 * (t * nt + s)..][..4];
                let entry = eta.mul_add(self.splat(own[2]), xi * self.splat(own[1]));
                entries[s] = mixed.mul_add(self.splat(own[3]), entry);
            }
            for c in 0..self.components {
                let flat = &scratch.products[2 * c * count..][..count];
                let out = &mut scratch.out[c * count..][..count];
                for k in 0..nz {
                    let mut sum = self.zero();
                    for s in 1..nt {
                        sum = flat[s * nz + k].mul_add(entries[s], sum);
                    }
                    let (own, first) = (self.places[t * nz + k], self.places[k]);
                    out[own] += sum;
                    out[first] = out[first] - sum;
                }
            }
        }
    }
}
