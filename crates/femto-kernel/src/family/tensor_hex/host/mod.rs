//! Host loops: SIMD over elements, pencils in registers, layers in the first-level cache.

mod build;
mod contraction;
mod diagonal;
mod metric;
mod stage;
mod sweep;
mod transfer;

pub use build::HexPlan;
pub use transfer::{LOCAL_NODES, LOCAL_STRIDE, MAX_LANES, NodeTable, Nodes};

use super::{Basis, Conditions};
use crate::scalar::Lanes;
use contraction::Contraction;
use core::any::Any;
use fearless_simd::Simd;
use stage::{BatchData, Layers, Rule, Stage, Strided};
use sweep::Sweeps;

/// The scratch memory of one thread.
pub type HexWorkspace = Box<dyn Any + Send>;

/// One batch of elements to work on.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// Number of elements, at most the kernel's lanes.
    pub elements: usize,
    /// Where their nodes are.
    pub nodes: Nodes<'a>,
    /// Packed geometry, [`HexKernel::geometry_len`] numbers.
    pub geometry: &'a [T],
    /// Auxiliary fields constant per element, `[field][lane]`.
    pub auxiliary: &'a [T],
    /// Time and parameters.
    pub conditions: &'a Conditions<'a>,
}

/// A compiled element operator: form, storage of the geometry, precision and instruction set.
pub trait HexKernel<T>: Send + Sync {
    /// Elements per batch.
    fn lanes(&self) -> usize;
    /// Numbers of packed geometry per batch.
    fn geometry_len(&self) -> usize;
    /// Scratch memory for one thread.
    fn workspace(&self) -> HexWorkspace;
    /// Applies the element operators: reads `source`, writes (E-vector) or adds (chunk-local) to
    /// `target`.
    fn apply(&self, batch: &Batch<T>, source: &[T], target: &mut [T], workspace: &mut HexWorkspace);
    /// Adds the diagonals of the element matrices to `target`.
    fn diagonal(&self, batch: &Batch<T>, target: &mut [T], workspace: &mut HexWorkspace);
}

/// The kernel for one kind of lanes.
struct Kernel<L: Lanes> {
    token: L::Token,
    stage: Box<dyn Stage<L>>,
    basis: Basis,
    nodes: NodeTable,
    rule: Rule<L::Real>,
    sweeps: Sweeps<L>,
    interp: Contraction<L::Real>,
    interp_transposed: Contraction<L::Real>,
    grad: Contraction<L::Real>,
    grad_transposed: Contraction<L::Real>,
    /// Layers worked on at a time: few enough to stay in the first-level cache.
    group: usize,
}

/// Scratch arrays of lanes.
struct Scratch<L> {
    /// `[component][node]`.
    nodal: Vec<L>,
    /// Between contractions, one component.
    partial: Vec<L>,
    /// A group of layers between two contractions.
    layer: Vec<L>,
    /// At the points, `[component][point]` (a group of layers when there are no gradients).
    values: Vec<L>,
    /// ∂/∂ξ, ∂/∂η of a group of layers, `[component][layer][j][i]`.
    gradients: [Vec<L>; 2],
    /// ∂/∂ζ at all points, `[component][point]`.
    along: Vec<L>,
}

impl<L: Lanes> Kernel<L> {
    fn new(token: L::Token, basis: &Basis, stage: Box<dyn Stage<L>>) -> Self {
        let (q, g) = (basis.nodes_1d, basis.points_1d);
        let cast = |values: &[f64]| {
            values
                .iter()
                .map(|&value| crate::scalar::Real::from_f64(value))
                .collect()
        };
        Self {
            token,
            stage,
            basis: basis.clone(),
            nodes: NodeTable::new(q),
            rule: Rule {
                points: cast(&basis.points),
                weights: cast(&basis.weights),
            },
            sweeps: Sweeps::new(q, g),
            interp: Contraction::new(&basis.interp_1d, g, q),
            interp_transposed: Contraction::transposed(&basis.interp_1d, q, g),
            grad: Contraction::new(&basis.colloc_grad_1d, g, g),
            grad_transposed: Contraction::transposed(&basis.colloc_grad_1d, g, g),
            group: (160 / (g * g)).clamp(1, g),
        }
    }

    fn scratch(&self) -> Scratch<L> {
        let zero = L::splat(self.token, crate::scalar::Real::from_f64(0.0));
        let (q, g, c) = (
            self.basis.nodes_1d,
            self.basis.points_1d,
            self.stage.components(),
        );
        let zeros = |len: usize| vec![zero; len];
        let all = c * g.max(q).pow(3);
        let group = c * self.group * g.max(q).pow(2);
        Scratch {
            nodal: zeros(c * q.pow(3)),
            partial: zeros(all),
            layer: zeros(self.group * g.max(q).pow(2)),
            values: zeros(all),
            gradients: [zeros(group), zeros(group)],
            along: zeros(all),
        }
    }

    /// Element operators on `scratch.nodal`, in place.
    #[inline(always)]
    fn evaluate(&self, data: &BatchData<L::Real>, scratch: &mut Scratch<L>) {
        match (self.stage.has_gradients(), self.basis.collocated) {
            (true, true) => {
                let Scratch {
                    nodal,
                    gradients,
                    along,
                    ..
                } = scratch;
                self.gradients(data, nodal, gradients, along);
            }
            (true, false) => {
                self.interpolate(scratch);
                let Scratch {
                    values,
                    gradients,
                    along,
                    ..
                } = scratch;
                self.gradients(data, values, gradients, along);
                self.interpolate_transposed(scratch);
            }
            (false, true) => {
                let stride = self.basis.points();
                let layers = Layers {
                    first: 0,
                    count: self.basis.points_1d,
                    values: Strided {
                        data: &mut scratch.nodal,
                        stride,
                        offset: 0,
                    },
                    gradients: [(); 3].map(|()| Strided {
                        data: &mut [],
                        stride,
                        offset: 0,
                    }),
                };
                self.stage.run(self.token, &self.rule, data, layers);
            }
            (false, false) => self.values(data, scratch),
        }
    }

    /// Groups of layers: first layer and number.
    fn groups(&self, layers: usize) -> impl Iterator<Item = (usize, usize)> {
        let group = self.group;
        (0..layers)
            .step_by(group)
            .map(move |first| (first, group.min(layers - first)))
    }

    /// Node values in `nodal` to point values in `values`, all components.
    fn interpolate(&self, scratch: &mut Scratch<L>) {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let sweep = |inner, source: &[L], target: &mut [L]| {
            (self.sweeps.interp)(self.token, &self.interp, inner, source, target);
        };
        for component in 0..self.stage.components() {
            let nodal = &scratch.nodal[component * q * q * q..][..q * q * q];
            let partial = &mut scratch.partial[..q * g * g];
            for (first, count) in self.groups(q) {
                let layer = &mut scratch.layer[..count * q * g];
                sweep(1, &nodal[first * q * q..][..count * q * q], layer);
                sweep(g, layer, &mut partial[first * g * g..][..count * g * g]);
            }
            sweep(
                g * g,
                partial,
                &mut scratch.values[component * g * g * g..][..g * g * g],
            );
        }
    }

    /// The transpose of [`Self::interpolate`].
    fn interpolate_transposed(&self, scratch: &mut Scratch<L>) {
        let (q, g) = (self.basis.nodes_1d, self.basis.points_1d);
        let sweep = |inner, source: &[L], target: &mut [L]| {
            let transposed = &self.interp_transposed;
            (self.sweeps.interp_transposed)(self.token, transposed, inner, source, target);
        };
        for component in 0..self.stage.components() {
            let partial = &mut scratch.partial[..q * g * g];
            sweep(
                g * g,
                &scratch.values[component * g * g * g..][..g * g * g],
                partial,
            );
            let nodal = &mut scratch.nodal[component * q * q * q..][..q * q * q];
            for (first, count) in self.groups(q) {
                let layer = &mut scratch.layer[..count * q * g];
                sweep(g, &partial[first * g * g..][..count * g * g], layer);
                sweep(1, layer, &mut nodal[first * q * q..][..count * q * q]);
            }
        }
    }

    /// From point values `u` the gradients, the stage, and back into `u`, in place.
    #[inline(always)]
    fn gradients(
        &self,
        data: &BatchData<L::Real>,
        u: &mut [L],
        [gx, gy]: &mut [Vec<L>; 2],
        gz: &mut [L],
    ) {
        let g = self.basis.points_1d;
        let (plane, stride, components) = (g * g, g * g * g, self.stage.components());
        let Sweeps {
            grad: set,
            grad_add: add,
            ..
        } = self.sweeps;
        let (token, d, dt) = (self.token, &self.grad, &self.grad_transposed);
        for (u, gz) in u
            .chunks_exact(stride)
            .zip(gz.chunks_exact_mut(stride))
            .take(components)
        {
            set(token, d, plane, u, gz);
        }
        for (first, count) in self.groups(g) {
            let (offset, len) = (first * plane, count * plane);
            for component in 0..components {
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
            self.stage.run(token, &self.rule, data, layers);
            let first_back = if self.stage.has_values() { add } else { set };
            for component in 0..components {
                let u = &mut u[component * stride + offset..][..len];
                first_back(token, dt, 1, &gx[component * len..][..len], u);
                add(token, dt, g, &gy[component * len..][..len], u);
            }
        }
        for (u, gz) in u
            .chunks_exact_mut(stride)
            .zip(gz.chunks_exact(stride))
            .take(components)
        {
            add(token, dt, plane, gz, u);
        }
    }

    /// Values only: along ζ first, so that a group of layers passes through interpolation, stage and
    /// transpose while it is in cache.
    fn values(&self, data: &BatchData<L::Real>, scratch: &mut Scratch<L>) {
        let (q, g, components) = (
            self.basis.nodes_1d,
            self.basis.points_1d,
            self.stage.components(),
        );
        let Sweeps {
            interp,
            interp_transposed,
            ..
        } = self.sweeps;
        let (token, forward, back) = (self.token, &self.interp, &self.interp_transposed);
        let Scratch {
            nodal,
            partial,
            layer,
            values,
            ..
        } = scratch;
        for component in 0..components {
            let nodal = &nodal[component * q * q * q..][..q * q * q];
            interp(
                token,
                forward,
                q * q,
                nodal,
                &mut partial[component * g * q * q..][..g * q * q],
            );
        }
        for (first, count) in self.groups(g) {
            let len = count * g * g;
            for component in 0..components {
                let layers = &partial[(component * g + first) * q * q..][..count * q * q];
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
                    data: &mut values[..components * len],
                    stride: len,
                    offset: 0,
                },
                gradients: [(); 3].map(|()| Strided {
                    data: &mut [],
                    stride: len,
                    offset: 0,
                }),
            };
            self.stage.run(token, &self.rule, data, layers);
            for component in 0..components {
                let between = &mut layer[..count * q * g];
                interp_transposed(token, back, g, &values[component * len..][..len], between);
                let layers = &mut partial[(component * g + first) * q * q..][..count * q * q];
                interp_transposed(token, back, 1, between, layers);
            }
        }
        for component in 0..components {
            let nodal = &mut nodal[component * q * q * q..][..q * q * q];
            let partial = &partial[component * g * q * q..][..g * q * q];
            interp_transposed(token, back, q * q, partial, nodal);
        }
    }
}

/// The scratch arrays inside a workspace, made anew if the workspace is of another kernel.
fn scratch_of<'a, L: Lanes>(
    kernel: &Kernel<L>,
    workspace: &'a mut HexWorkspace,
) -> &'a mut Scratch<L> {
    if !workspace.is::<Scratch<L>>() {
        *workspace = Box::new(kernel.scratch());
    }
    workspace
        .downcast_mut()
        .expect("the line above made it of this type")
}

impl<L: Lanes> HexKernel<L::Real> for Kernel<L> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        self.stage.geometry_len() * L::WIDTH
    }

    fn workspace(&self) -> HexWorkspace {
        Box::new(self.scratch())
    }

    fn apply(
        &self,
        batch: &Batch<L::Real>,
        source: &[L::Real],
        target: &mut [L::Real],
        workspace: &mut HexWorkspace,
    ) {
        let scratch = scratch_of(self, workspace);
        let data = BatchData::of(batch);
        self.token.vectorize(
            #[inline(always)]
            || {
                let nodal = &mut scratch.nodal;
                self.nodes
                    .gather(self.token, batch.elements, &batch.nodes, source, nodal);
                self.evaluate(&data, scratch);
                self.nodes
                    .scatter(batch.elements, &batch.nodes, &scratch.nodal, target);
            },
        );
    }

    fn diagonal(
        &self,
        batch: &Batch<L::Real>,
        target: &mut [L::Real],
        workspace: &mut HexWorkspace,
    ) {
        let scratch = scratch_of(self, workspace);
        self.element_diagonals(&BatchData::of(batch), scratch);
        self.nodes
            .scatter(batch.elements, &batch.nodes, &scratch.nodal, target);
    }
}
