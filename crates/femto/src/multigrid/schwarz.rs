//! Additive Schwarz smoothing on tensor-product elements: a separable model of the operator is solved on each.
//!
//! ```text
//! M⁻¹ = Σ_e σ_e W R_eᵀ A_e⁻¹ R_e W,    A_e = s₀ M ⊗ M ⊗ M + s₁ M ⊗ M ⊗ K + s₂ M ⊗ K ⊗ M + s₃ K ⊗ M ⊗ M
//! ```
//! R_e takes all nodes of element e, those on its boundary included, which neighbours share (Lottes and Fischer, Hybrid
//! multigrid/Schwarz algorithms for the spectral element method, Journal of Scientific Computing 24, 2005, take nodes
//! of the neighbours as well). A_e⁻¹ is found by fast diagonalisation ([`ElementInverse`]).
//!
//! **Strengths.** s_a is the energy (ξ_a, A ξ_a) of a reference coordinate on the element, which holds the map and any
//! coefficient, and s₀ that of 1. On sheared elements it is too large; W makes up for that.
//!
//! **Lines.** At an end that a neighbour shares, M has its part as well, as if it were equal, and K a half of it; a free
//! end has none, and at an end that is held the value is zero.
//!
//! **Weights.** W² = (diagonal of Σ_e R_eᵀ A_e R_e)/(diagonal of A)/(Σ_e σ_e), node by node, with A_e of the element alone,
//! without the neighbours' part of shared ends. σ_e, the sum of its strengths, is its share of a node: a soft element, which
//! alone would move far, has little of what a stiff neighbour holds.
//!
//! At nodes with constrained directions the sum is projected.

use super::MultigridError;
use super::hierarchy::ConstrainedLevel;
use super::modes::{Line, all_free, ends};
use super::strengths::Strengths;
use crate::Number;
use crate::elements::places;
use crate::operator::Backend;
use crate::vector::{ElementInverse, SlantedNodes, SparseMatrix, VectorOps};
use femto_fem::parallel;
use femto_kernel::vector::element_inverse::{InverseShape, Items, Lines};
use femto_platform::device::{Device, DeviceError};
use std::sync::Arc;

/// The part of the strengths of axes that is added to that of the mass where all ends are free: there A_e may have no
/// inverse.
const ADDED: f64 = 1e-3;

/// M⁻¹.
pub(super) struct Schwarz<T: Number, D: Device> {
    device: D,
    inverse: ElementInverse<T, D>,
    /// Of an E-vector's entries at each node.
    sums: SparseMatrix<T, D>,
    slanted: Arc<SlantedNodes<T, D>>,
}

impl<T: Number, D: VectorOps<T>> Schwarz<T, D> {
    /// z = M⁻¹ r; `elements` is an E-vector.
    pub(super) fn apply(
        &self,
        r: &D::Buffer<T>,
        elements: &mut D::Buffer<T>,
        z: &mut D::Buffer<T>,
    ) -> Result<(), DeviceError> {
        self.device.invert_elements(&self.inverse, r, elements)?;
        self.device
            .multiply_sparse(&self.sums, elements, false, z)?;
        self.device.project(&self.slanted, z)
    }

    /// Length of the E-vector.
    pub(super) fn scratch(&self) -> usize {
        self.sums.columns()
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> usize {
        self.inverse.bytes() + self.sums.bytes()
    }
}

impl Strengths {
    /// The smoother of a level of degree 2 or more, from the diagonal of its matrix.
    pub(super) fn schwarz<T: Number, D: Backend + VectorOps<T>>(
        &self,
        level: &ConstrainedLevel<T, D>,
        diagonal: &D::Buffer<T>,
    ) -> Result<Schwarz<T, D>, MultigridError> {
        let device = level.operator.device();
        let space = &level.blocks[0].space;
        let (axes, components) = (self.cell.dim(), self.components);
        let shape = InverseShape {
            axes,
            nodes_1d: space.degree().horizontal + 1,
        };
        let per_element = shape.nodes();
        let nodes = space.listed_nodes();
        let size = (nodes.len() * components, space.dofs());
        let too_large = |_| MultigridError::TooLarge { entries: size.0 };
        u32::try_from(size.0).map_err(too_large)?;
        let entry = |item: usize, node: usize| {
            let node = nodes[item / components * per_element + node] as usize;
            node * components + item % components
        };
        let places = places(level.blocks.iter().map(|block| &block.space));
        let is_held = level.is_held();
        let ends_of = |item: usize| {
            ends(shape, |node| {
                let entry = entry(item, node);
                (is_held[entry], places.row_columns(entry).len())
            })
        };
        let items = space.elements() * components;
        let ends = parallel::map(items, ends_of);
        let line = Line::new(space.degree().horizontal)?;
        // Diagonals of the products of M and K, `[node][1 + axes]`.
        let diagonals: Vec<f64> = (0..per_element * (1 + axes))
            .map(|at| {
                let (node, a) = (at / (1 + axes), at % (1 + axes));
                let along = |axis: usize| node / shape.nodes_1d.pow(axis as u32) % shape.nodes_1d;
                let factor = |axis: usize| line.diagonal(axis + 1 == a, along(axis));
                (0..axes).map(factor).product()
            })
            .collect();
        // The diagonal of Σ R_eᵀ A_e R_e.
        let part = |&place: &u32| -> f64 {
            let (item, node) = (place as usize / per_element, place as usize % per_element);
            let own = &diagonals[node * (1 + axes)..][..1 + axes];
            self.of_item(item).iter().zip(own).map(|(s, d)| s * d).sum()
        };
        let share = |item: usize| self.of_item(item).iter().sum::<f64>();
        let mut exact = vec![T::default(); space.dofs()];
        device.read(diagonal, &mut exact)?;
        let weight = |entry: usize| {
            let places = places.row_columns(entry);
            let model: f64 = places.iter().map(part).sum();
            let shares = places.iter().map(|&it| share(it as usize / per_element));
            let square = model / (exact[entry].to_f64() * shares.sum::<f64>());
            match is_held[entry] || places.is_empty() {
                true => T::default(),
                false => T::from_f64(square.max(0.0).sqrt()),
            }
        };
        let weights: Vec<T> = parallel::map(space.dofs(), weight);
        let all_free = all_free(axes);
        let relative = |item: usize| {
            let own = self.of_item(item);
            let least = own[1..].iter().copied().fold(f64::INFINITY, f64::min);
            let more = if ends[item] == all_free {
                ADDED * least
            } else {
                0.0
            };
            let (first, share) = ([own[0] + more], share(item));
            let all = first.into_iter().chain(own[1..].iter().copied());
            all.map(move |strength| T::from_f64(strength / share))
        };
        let mut strengths = vec![T::default(); self.values.len()];
        parallel::chunks(&mut strengths, self.functions(), |item, own| {
            own.iter_mut()
                .zip(relative(item))
                .for_each(|(own, it)| *own = it);
        });
        let (vectors, values) = line.tables();
        let lines = Lines {
            vectors: &vectors,
            values: &values,
        };
        let items = Items {
            components,
            first: 0,
            nodes: &nodes,
            ends: &ends,
            strengths: &strengths,
        };
        Ok(Schwarz {
            device: device.clone(),
            inverse: ElementInverse::new(device, (shape, lines), items, &weights)?,
            sums: SparseMatrix::of_ones(device, &places)?,
            slanted: level.projector.slanted.clone(),
        })
    }
}
