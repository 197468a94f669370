//! Evaluation of one batch: contractions, the stage, transposed contractions.

use super::stage::{BatchData, Layers, Strided};
use super::sweep::Sweeps;
use super::{HostKernel, Scratch};
use crate::family::batch::Workspace;
use crate::scalar::Lanes;

impl<L: Lanes> HostKernel<L> {
    /// Applies the element operators to `scratch.nodal`, in place.
    #[inline(always)]
    pub(super) fn evaluate(&self, data: &BatchData<L::Real>, scratch: &mut Scratch<L>) {
        let (token, rule) = (self.token, &self.rule);
        if self.stage.whole(token, rule, data, &mut scratch.nodal) {
            return;
        }
        match (self.stage.has_gradients(), self.basis.collocated) {
            (true, true) => {
                let Scratch {
                    nodal,
                    gradients,
                    along,
                    stage,
                    ..
                } = scratch;
                self.gradients(data, nodal, (gradients, along), stage);
            }
            (true, false) => {
                self.interpolate(scratch);
                let Scratch {
                    values,
                    gradients,
                    along,
                    stage,
                    ..
                } = scratch;
                self.gradients(data, values, (gradients, along), stage);
                self.interpolate_transposed(scratch);
            }
            (false, true) => {
                let stride = self.basis.points();
                let layers = Layers {
                    first: 0,
                    count: self.layers.points,
                    values: Strided {
                        data: &mut scratch.nodal,
                        stride,
                        offset: 0,
                    },
                    gradients: [(); 3].map(|()| Strided::none()),
                };
                let workspace = &mut scratch.stage;
                self.stage
                    .run(self.token, &self.rule, data, layers, workspace);
            }
            (false, false) => self.values(data, scratch),
        }
    }

    /// Groups of layers: first layer, and number of layers.
    fn groups(&self, layers: usize) -> impl Iterator<Item = (usize, usize)> {
        let group = self.group;
        (0..layers)
            .step_by(group)
            .map(move |first| (first, group.min(layers - first)))
    }

    /// Interpolates node values in `nodal` to point values in `values`, for all components and fields.
    pub(super) fn interpolate(&self, scratch: &mut Scratch<L>) {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let (nodes, points) = (self.basis.nodes(), self.basis.points());
        let sweep = |inner, source: &[L], target: &mut [L]| {
            (self.sweeps.interp)(self.token, &self.interp, inner, source, target);
        };
        for component in 0..self.inputs() {
            let nodal = &scratch.nodal[component * nodes..][..nodes];
            let values = &mut scratch.values[component * points..][..points];
            let partial = match self.is_solid() {
                true => &mut scratch.partial[..q * g * g],
                false => &mut *values,
            };
            for (first, count) in self.groups(self.layers.nodes) {
                let layer = &mut scratch.layer[..count * q * g];
                sweep(1, &nodal[first * q * q..][..count * q * q], layer);
                sweep(g, layer, &mut partial[first * g * g..][..count * g * g]);
            }
            if self.is_solid() {
                sweep(g * g, &scratch.partial[..q * g * g], values);
            }
        }
    }

    /// The transpose of [`Self::interpolate`].
    fn interpolate_transposed(&self, scratch: &mut Scratch<L>) {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let (nodes, points) = (self.basis.nodes(), self.basis.points());
        let sweep = |inner, source: &[L], target: &mut [L]| {
            let transposed = &self.interp_transposed;
            (self.sweeps.interp_transposed)(self.token, transposed, inner, source, target);
        };
        for component in 0..self.stage.components() {
            let values = &scratch.values[component * points..][..points];
            let partial = match self.is_solid() {
                true => {
                    sweep(g * g, values, &mut scratch.partial[..q * g * g]);
                    &scratch.partial[..q * g * g]
                }
                false => values,
            };
            let nodal = &mut scratch.nodal[component * nodes..][..nodes];
            for (first, count) in self.groups(self.layers.nodes) {
                let layer = &mut scratch.layer[..count * q * g];
                sweep(g, &partial[first * g * g..][..count * g * g], layer);
                sweep(1, layer, &mut nodal[first * q * q..][..count * q * q]);
            }
        }
    }

    /// Computes gradients of point values `u`, runs the stage, and returns to `u`, in place.
    #[inline(always)]
    fn gradients(
        &self,
        data: &BatchData<L::Real>,
        u: &mut [L],
        ([gx, gy], gz): (&mut [Vec<L>; 2], &mut [L]),
        workspace: &mut Workspace,
    ) {
        let g = self.basis.points_1d;
        let (plane, stride) = (g * g, self.basis.points());
        let components = self.stage.components();
        let Sweeps {
            grad: set,
            grad_add: add,
            ..
        } = self.sweeps;
        let (token, d, dt) = (self.token, &self.grad, &self.grad_transposed);
        let differentiated = || (0..self.inputs()).filter(|&input| self.differentiates(input));
        for input in differentiated().filter(|_| self.is_solid()) {
            let (u, gz) = (&u[input * stride..], &mut gz[input * stride..]);
            set(token, d, plane, &u[..stride], &mut gz[..stride]);
        }
        for (first, count) in self.groups(self.layers.points) {
            let (offset, len) = (first * plane, count * plane);
            for component in differentiated() {
                let u = &u[component * stride + offset..][..len];
                set(token, d, 1, u, &mut gx[component * len..][..len]);
                set(token, d, g, u, &mut gy[component * len..][..len]);
            }
            let layers = Layers {
                first,
                count,
                values: Strided {
                    data: &mut *u,
                    stride,
                    offset,
                },
                gradients: [
                    Strided {
                        data: &mut gx[..],
                        stride: len,
                        offset: 0,
                    },
                    Strided {
                        data: &mut gy[..],
                        stride: len,
                        offset: 0,
                    },
                    Strided {
                        data: &mut *gz,
                        stride,
                        offset,
                    },
                ],
            };
            self.stage.run(token, &self.rule, data, layers, workspace);
            let first_back = if self.stage.has_values() { add } else { set };
            for component in 0..components {
                let u = &mut u[component * stride + offset..][..len];
                first_back(token, dt, 1, &gx[component * len..][..len], u);
                add(token, dt, g, &gy[component * len..][..len], u);
            }
        }
        let back = if self.is_solid() { components } else { 0 };
        for (u, gz) in u
            .chunks_exact_mut(stride)
            .zip(gz.chunks_exact(stride))
            .take(back)
        {
            add(token, dt, plane, gz, u);
        }
    }

    /// Values only: along ζ first, so that a group of layers passes through interpolation, stage and
    /// transpose while it is in cache.
    fn values(&self, data: &BatchData<L::Real>, scratch: &mut Scratch<L>) {
        let Scratch {
            nodal,
            partial,
            layer,
            values,
            stage,
            ..
        } = scratch;
        let layers = (&mut layer[..], &mut values[..]);
        if !self.is_solid() {
            self.values_of_layers(data, nodal, layers, stage);
            return;
        }
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let (nodes, len) = (self.basis.nodes(), g * q * q);
        let Sweeps {
            interp,
            interp_transposed,
            ..
        } = self.sweeps;
        let inputs = nodal.chunks_exact(nodes).zip(partial.chunks_exact_mut(len));
        for (nodal, partial) in inputs.take(self.inputs()) {
            interp(self.token, &self.interp, q * q, nodal, partial);
        }
        if !self.scaled_layers(data, partial, (&mut *layers.0, &mut *layers.1)) {
            self.values_of_layers(data, partial, layers, stage);
        }
        let outputs = nodal.chunks_exact_mut(nodes).zip(partial.chunks_exact(len));
        for (nodal, partial) in outputs.take(self.stage.components()) {
            interp_transposed(self.token, &self.interp_transposed, q * q, partial, nodal);
        }
    }

    /// The other two axes, in place, as in [`Self::values_of_layers`], if the stage multiplies values by factors: rows stay
    /// in registers from interpolation along ξ to its transpose. False if it does more, or sizes are not compiled in.
    fn scaled_layers(
        &self,
        data: &BatchData<L::Real>,
        partial: &mut [L],
        (layer, factors): (&mut [L], &mut [L]),
    ) -> bool {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let Sweeps {
            interp,
            interp_transposed,
            scale,
            ..
        } = self.sweeps;
        let Some(scale) = scale else {
            return false;
        };
        let (token, forward, back) = (self.token, &self.interp, &self.interp_transposed);
        let all = self.layers.points;
        for (first, count) in self.groups(all) {
            let factors = &mut factors[..count * g * g];
            if !(self.stage).value_factors(token, &self.rule, data, (first, count), factors) {
                return false;
            }
            let between = &mut layer[..count * g * q];
            for component in 0..self.stage.components() {
                let layers = &mut partial[(component * all + first) * q * q..][..count * q * q];
                interp(token, forward, q, layers, between);
                scale(token, [forward, back], factors, between);
                interp_transposed(token, back, q, between, layers);
            }
        }
        true
    }

    /// The other two axes, in place: `partial` is `[component][layer of points][nodes_1d][nodes_1d]`.
    fn values_of_layers(
        &self,
        data: &BatchData<L::Real>,
        partial: &mut [L],
        (layer, values): (&mut [L], &mut [L]),
        workspace: &mut Workspace,
    ) {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let (inputs, components) = (self.inputs(), self.stage.components());
        let Sweeps {
            interp,
            interp_transposed,
            ..
        } = self.sweeps;
        let (token, forward, back) = (self.token, &self.interp, &self.interp_transposed);
        let all = self.layers.points;
        for (first, count) in self.groups(all) {
            let len = count * g * g;
            for component in 0..inputs {
                let layers = &partial[(component * all + first) * q * q..][..count * q * q];
                let between = &mut layer[..count * q * g];
                interp(token, forward, 1, layers, between);
                interp(
                    token,
                    forward,
                    g,
                    between,
                    &mut values[component * len..][..len],
                );
            }
            let layers = Layers {
                first,
                count,
                values: Strided {
                    data: &mut values[..inputs * len],
                    stride: len,
                    offset: 0,
                },
                gradients: [(); 3].map(|()| Strided::none()),
            };
            self.stage
                .run(self.token, &self.rule, data, layers, workspace);
            for component in 0..components {
                let between = &mut layer[..count * q * g];
                interp_transposed(token, back, g, &values[component * len..][..len], between);
                let layers = &mut partial[(component * all + first) * q * q..][..count * q * q];
                interp_transposed(token, back, 1, between, layers);
            }
        }
    }
}
