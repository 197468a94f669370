//! The point-wise stage: what happens at the quadrature points of a batch.

use crate::family::batch::{Batch, Conditions};
use crate::scalar::Lanes;

/// Values and reference gradients at the points of a few layers, replaced in place by what
/// multiplies the test function and its reference gradient.
pub(crate) struct Layers<'a, L> {
    /// First layer (index along ζ) and their number.
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// `[component][layer][j][i]`, neighbouring components `stride` apart; unused when the stage
    /// has no values.
    pub(crate) values: Strided<'a, L>,
    /// The same for ∂/∂ξ, ∂/∂η, ∂/∂ζ; unused when the stage has no gradients.
    pub(crate) gradients: [Strided<'a, L>; 3],
}

/// The part of an array over components that belongs to some layers.
pub(crate) struct Strided<'a, L> {
    pub(crate) data: &'a mut [L],
    /// Distance of components.
    pub(crate) stride: usize,
    /// Where the layers start inside a component.
    pub(crate) offset: usize,
}

impl<'a, L> Strided<'a, L> {
    /// The layers of one component and what follows them; empty where there is no data.
    #[inline(always)]
    pub(super) fn component(&mut self, component: usize) -> &mut [L] {
        self.data
            .get_mut(component * self.stride + self.offset..)
            .unwrap_or_default()
    }

    /// One slice of `len` entries per component; empty slices where there is no data.
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

/// One batch's data for the stage: packed geometry, then auxiliary fields `[field][lane]`.
pub(crate) struct BatchData<'a, T> {
    pub(crate) geometry: &'a [T],
    pub(crate) auxiliary: &'a [T],
    pub(crate) conditions: &'a Conditions<'a>,
}

/// What is done at the points: a form on some geometry, or a product with stored factors.
pub(crate) trait Stage<L: Lanes>: Send + Sync {
    /// Number of components.
    fn components(&self) -> usize;
    /// Whether values enter or leave.
    fn has_values(&self) -> bool;
    /// Whether gradients enter or leave.
    fn has_gradients(&self) -> bool;
    /// Works on some layers.
    fn run(
        &self,
        token: L::Token,
        rule: &Rule<L::Real>,
        data: &BatchData<L::Real>,
        layers: Layers<L>,
    );
}

impl<'a, T> BatchData<'a, T> {
    /// What the stage needs of a batch.
    pub(crate) fn of(batch: &Batch<'a, T>) -> Self {
        Self {
            geometry: batch.geometry,
            auxiliary: batch.auxiliary,
            conditions: batch.conditions,
        }
    }
}
