//! The interface of point-wise stages to the contractions around them.

use crate::family::EvalContext;
use crate::family::batch::{Batch, Workspace};
use crate::scalar::Lanes;

/// Values and reference gradients at the points of a few layers, replaced in place by the coefficients of
/// the test function and its reference gradient.
pub(crate) struct Layers<'a, L> {
    /// First layer (index along ζ), and number of layers.
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// `[component][layer][j][i]`, with components `stride` apart, then auxiliary fields at the nodes;
    /// components are unused if the stage has no values.
    pub(crate) values: Strided<'a, L>,
    /// Likewise for ∂/∂ξ, ∂/∂η, ∂/∂ζ; unused if the stage has no gradients, the last one also on
    /// quadrilaterals.
    pub(crate) gradients: [Strided<'a, L>; 3],
}

/// The part of an array over components that belongs to some layers.
pub(crate) struct Strided<'a, L> {
    pub(crate) data: &'a mut [L],
    /// Stride between components.
    pub(crate) stride: usize,
    /// The start of the layers within a component.
    pub(crate) offset: usize,
}

impl<'a, L> Strided<'a, L> {
    /// No data.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self {
            data: &mut [],
            stride: 0,
            offset: 0,
        }
    }

    /// `len` entries of the layers of each of C components, from number `first` on; empty without data.
    #[inline(always)]
    pub(super) fn components<const C: usize>(&mut self, first: usize, len: usize) -> [&mut [L]; C] {
        let data = self.data.get_mut(first * self.stride..).unwrap_or_default();
        let mut components = data.chunks_mut(self.stride.max(1));
        core::array::from_fn(|_| match components.next() {
            Some(component) => &mut component[self.offset..][..len],
            None => &mut [],
        })
    }

    /// The first components, and the rest.
    #[inline(always)]
    pub(super) fn split_at(self, components: usize) -> (Self, Self) {
        let Self {
            data,
            stride,
            offset,
        } = self;
        let at = (components * stride).min(data.len());
        let (data, rest) = data.split_at_mut(at);
        let with = |data| Self {
            data,
            stride,
            offset,
        };
        (with(data), with(rest))
    }

    /// Entry `p` of the layers of a component.
    #[inline(always)]
    pub(super) fn at(&self, component: usize, p: usize) -> L
    where
        L: Copy,
    {
        self.data[component * self.stride + self.offset + p]
    }

    /// Likewise, to write it.
    #[inline(always)]
    pub(super) fn at_mut(&mut self, component: usize, p: usize) -> &mut L {
        &mut self.data[component * self.stride + self.offset + p]
    }

    /// One slice of `len` entries per component; empty slices without data.
    #[inline(always)]
    pub(super) fn split<const C: usize>(self, len: usize) -> [&'a mut [L]; C] {
        let Self {
            data,
            stride,
            offset,
        } = self;
        let mut components = data.chunks_mut(stride.max(1));
        core::array::from_fn(|_| match components.next() {
            Some(component) => &mut component[offset..offset + len],
            None => &mut [],
        })
    }
}

/// The tensor rule of the points, in the precision of the kernel.
#[derive(Clone)]
pub(crate) struct Rule<T> {
    pub(crate) points: Vec<T>,
    pub(crate) weights: Vec<T>,
}

/// One batch's data for the stage: packed geometry; auxiliary fields constant per element `[field][lane]`,
/// and at the points `[field][point_count][lane]`.
pub(crate) struct BatchData<'a, T> {
    pub(crate) geometry: &'a [T],
    pub(crate) auxiliary: &'a [T],
    pub(crate) points: &'a [T],
    pub(crate) point_count: usize,
    pub(crate) context: &'a EvalContext<'a>,
}

/// A point-wise stage: a form with a metric, or a product with factors.
pub(crate) trait Stage<L: Lanes>: Send + Sync {
    /// Number of components.
    fn components(&self) -> usize;
    /// Number of auxiliary fields at the nodes, which follow the components in arrays.
    fn nodal_fields(&self) -> usize {
        0
    }
    /// Whether the gradient of the n-th field at the nodes is read.
    fn differentiates(&self, _n: usize) -> bool {
        false
    }
    /// Whether the stage uses values.
    fn has_values(&self) -> bool;
    /// Whether the stage uses gradients.
    fn has_gradients(&self) -> bool;
    /// Evaluates some layers; stages with arrays of their own keep them in the workspace.
    fn run(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: Layers<L>,
        workspace: &mut Workspace,
    );
    /// Writes the factors of values at the points of `count` layers from number `first` on, `[layer][j][i]`, if the stage
    /// multiplies values by factors and does nothing else; false if not.
    fn value_factors(
        &self,
        _: L::Token,
        _: &Rule<L::Real>,
        _: &BatchData<L::Real>,
        _layers: (usize, usize),
        _out: &mut [L],
    ) -> bool {
        false
    }
    /// Evaluates whole hexahedra of degree 1, from values at the nodes `[component][node]`, in place; false if the stage
    /// does not.
    fn whole(
        &self,
        _: L::Token,
        _: &Rule<L::Real>,
        _: &BatchData<L::Real>,
        _nodal: &mut [L],
    ) -> bool {
        false
    }
}

impl<'a, T> BatchData<'a, T> {
    /// The inputs of the stage from a batch whose elements have `point_count` points.
    pub(crate) fn of(batch: &Batch<'a, T>, point_count: usize) -> Self {
        Self {
            geometry: batch.geometry,
            auxiliary: batch.auxiliary,
            points: batch.points,
            point_count,
            context: batch.context,
        }
    }
}
