//! Host loops for hexahedra and quadrilaterals: SIMD over elements, pencils in registers, layers in the L1
//! cache.

mod build;
mod columns;
mod contraction;
mod diagonal;
mod entries;
mod evaluate;
mod factor_sources;
mod factor_stage;
mod form_stage;
mod inputs;
mod interpreted_stage;
pub(super) mod metric;
mod stage;
mod sweep;
mod whole;

pub use build::HostPlan;

use super::contraction::Contraction;
use crate::family::batch::{Batch, ElementKernel, Identity, NodeTable, Source, Target, Workspace};
use crate::scalar::Lanes;
use diagonal::Products;
use fearless_simd::Simd;
use femto_element::tables::TensorTables;
use stage::{BatchData, Rule, Stage};
use sweep::Sweeps;

/// The kernel for one kind of lanes.
struct HostKernel<L: Lanes> {
    token: L::Token,
    identity: Identity,
    stage: Box<dyn Stage<L>>,
    basis: TensorTables,
    /// Numbers of packed geometry per element.
    geometry_len: usize,
    nodes: NodeTable,
    rule: Rule<L::Real>,
    sweeps: Sweeps<L>,
    interp: Contraction<L::Real>,
    interp_transposed: Contraction<L::Real>,
    grad: Contraction<L::Real>,
    grad_transposed: Contraction<L::Real>,
    products: Products<L::Real>,
    /// Layers of nodes and of points along k: one each in a quadrilateral.
    layers: Layers1d,
    /// Layers processed together: few enough to stay in the first-level cache.
    group: usize,
}

/// Layers of nodes and of points along k.
#[derive(Clone, Copy, Debug)]
struct Layers1d {
    nodes: usize,
    points: usize,
}

/// Scratch arrays of lanes. Auxiliary fields at the nodes follow the components.
struct Scratch<L> {
    /// `[component][node]`.
    nodal: Vec<L>,
    /// One component, between contractions.
    partial: Vec<L>,
    /// A group of layers between two contractions.
    layer: Vec<L>,
    /// At the points, `[component][point]` (a group of layers when there are no gradients).
    values: Vec<L>,
    /// ∂/∂ξ, ∂/∂η of a group of layers, `[component][layer][j][i]`.
    gradients: [Vec<L>; 2],
    /// ∂/∂ζ at all points, `[component][point]`.
    along: Vec<L>,
    /// Responses of the stage, allocated when a diagonal is first computed.
    responses: Vec<L>,
    /// The stage's own.
    stage: Workspace,
}

impl<L: Lanes> HostKernel<L> {
    fn new(
        token: L::Token,
        basis: &TensorTables,
        stage: Box<dyn Stage<L>>,
        geometry_len: usize,
    ) -> Self {
        let (q, g) = (basis.nodes_1d, basis.points_1d);
        let cast = |values: &[f64]| {
            values
                .iter()
                .map(|&value| crate::scalar::Real::from_f64(value))
                .collect()
        };
        let layers = match basis.cell.dim() {
            2 => Layers1d {
                nodes: 1,
                points: 1,
            },
            _ => Layers1d {
                nodes: q,
                points: g,
            },
        };
        Self {
            token,
            identity: Identity::default(),
            stage,
            basis: basis.clone(),
            geometry_len,
            nodes: NodeTable::tensor(basis.cell.dim(), q),
            rule: Rule {
                points: cast(&basis.points),
                weights: cast(&basis.weights),
            },
            sweeps: Sweeps::new(q, g),
            interp: Contraction::new(&basis.interp_1d, g, q),
            interp_transposed: Contraction::transposed(&basis.interp_1d, q, g),
            grad: Contraction::new(&basis.colloc_grad_1d, g, g),
            grad_transposed: Contraction::transposed(&basis.colloc_grad_1d, g, g),
            products: Products::new(basis),
            layers,
            group: (160 / (g * g)).clamp(1, layers.points),
        }
    }

    /// Number of components and auxiliary fields at the nodes.
    fn inputs(&self) -> usize {
        self.stage.components() + self.stage.nodal_fields()
    }

    /// Whether derivatives of an input, a component or a field, are needed.
    fn differentiates(&self, input: usize) -> bool {
        match input.checked_sub(self.stage.components()) {
            None => true,
            Some(field) => self.stage.differentiates(field),
        }
    }

    /// Length of an element's vector.
    fn unknowns(&self) -> usize {
        self.stage.components() * self.basis.nodes()
    }

    /// Reads the auxiliary fields at the nodes, after the components.
    #[inline(always)]
    fn gather_fields(&self, batch: &Batch<L::Real>, nodal: &mut [L]) {
        let fields = &mut nodal[self.unknowns()..];
        if !fields.is_empty() {
            let (elements, nodes) = (batch.elements, &batch.nodes);
            self.nodes
                .gather(self.token, elements, nodes, batch.nodal, fields);
        }
    }

    /// Whether elements have layers along k and derivatives along ζ.
    fn is_solid(&self) -> bool {
        self.basis.cell.dim() == 3
    }

    fn scratch(&self) -> Scratch<L> {
        let zero = L::splat(self.token, crate::scalar::Real::from_f64(0.0));
        let (q, g, c) = (self.basis.nodes_1d, self.basis.points_1d, self.inputs());
        let zeros = |len: usize| vec![zero; len];
        let all = c * self.layers.points.max(self.layers.nodes) * g.max(q).pow(2);
        let group = c * self.group * g.max(q).pow(2);
        Scratch {
            nodal: zeros(c * self.basis.nodes()),
            partial: zeros(all),
            layer: zeros(self.group * g.max(q).pow(2)),
            values: zeros(all),
            gradients: [zeros(group), zeros(group)],
            along: zeros(all),
            responses: Vec::new(),
            stage: Box::new(()),
        }
    }
}

impl<L: Lanes> ElementKernel<L::Real> for HostKernel<L> {
    fn lanes(&self) -> usize {
        L::WIDTH
    }

    fn geometry_len(&self) -> usize {
        self.geometry_len * L::WIDTH
    }

    fn workspace(&self) -> Workspace {
        self.identity.workspace(self.scratch())
    }

    fn apply(
        &self,
        batch: &Batch<L::Real>,
        source: Source<L::Real>,
        target: Target<L::Real>,
        workspace: &mut Workspace,
    ) {
        let scratch = self.identity.scratch_of(workspace, || self.scratch());
        let data = BatchData::of(batch, self.basis.points());
        let unknowns = self.unknowns();
        self.token.vectorize(
            #[inline(always)]
            || {
                let nodal = &mut scratch.nodal[..unknowns];
                self.nodes
                    .gather(self.token, batch.elements, &batch.nodes, source, nodal);
                self.gather_fields(batch, &mut scratch.nodal);
                self.evaluate(&data, scratch);
                let nodal = &scratch.nodal[..unknowns];
                self.nodes
                    .scatter(batch.elements, &batch.nodes, nodal, target);
            },
        );
    }

    fn diagonal(&self, batch: &Batch<L::Real>, target: Target<L::Real>, workspace: &mut Workspace) {
        let scratch = self.identity.scratch_of(workspace, || self.scratch());
        let data = BatchData::of(batch, self.basis.points());
        self.token.vectorize(
            #[inline(always)]
            || {
                self.gather_fields(batch, &mut scratch.nodal);
                self.element_diagonals(&data, scratch);
                let nodal = &scratch.nodal[..self.unknowns()];
                self.nodes
                    .scatter(batch.elements, &batch.nodes, nodal, target);
            },
        );
    }
}
