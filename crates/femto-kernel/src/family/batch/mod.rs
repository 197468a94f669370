//! Batches of cells, shared by the host loops of all families.
//!
//! A batch has as many cells as the instruction set has lanes; each lane evaluates one cell. A family
//! builds an [`ElementKernel`] from a form, and mesh traversals pass it batches.

mod elements;
mod nodes;
mod orbits;
mod point_classes;
mod point_matrix;
mod rows;
mod runs;
mod transpose;

pub use nodes::{LOCAL_NODES, MAX_LANES, NodeTable, Nodes};
pub(crate) use orbits::Orbits;
pub(crate) use point_classes::Classes;
pub(crate) use point_matrix::{Matrices, PointMatrix, chunks};
pub use rows::row_len;
pub(crate) use rows::{Places, gather, gather_any, scatter, scatter_any};
pub(crate) use transpose::to_lanes;

use crate::family::EvalContext;
use crate::scalar::Vectorizable;
use core::any::Any;
use std::sync::Arc;

/// The scratch memory of one thread. A kernel given another kernel's workspace replaces it by its own.
pub type Workspace = Box<dyn Any + Send>;

/// Tells the scratch arrays of one kernel from those of all others, which may be as long.
#[derive(Clone, Default)]
pub(crate) struct Identity(Arc<()>);

/// Scratch arrays, and the kernel that they were made for.
struct Own<S> {
    owner: Identity,
    scratch: S,
}

impl Identity {
    /// A workspace with a kernel's scratch arrays.
    pub(crate) fn workspace<S: Send + 'static>(&self, scratch: S) -> Workspace {
        let owner = self.clone();
        Box::new(Own { owner, scratch })
    }

    /// The kernel's scratch arrays, `new` ones unless the workspace holds them.
    #[inline]
    pub(crate) fn scratch_of<'a, S: Send + 'static>(
        &self,
        workspace: &'a mut Workspace,
        new: impl FnOnce() -> S,
    ) -> &'a mut S {
        let is_own = |it: &Own<S>| Arc::ptr_eq(&it.owner.0, &self.0);
        if !workspace.downcast_ref().is_some_and(is_own) {
            self.renew(workspace, new);
        }
        let own: Option<&mut Own<S>> = workspace.downcast_mut();
        &mut own.expect("the lines above made it of this type").scratch
    }

    #[cold]
    #[inline(never)]
    fn renew<S: Send + 'static>(&self, workspace: &mut Workspace, new: impl FnOnce() -> S) {
        *workspace = self.workspace(new());
    }
}

/// One batch of cells.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// Number of cells, at most the kernel's lanes.
    pub elements: usize,
    /// Their nodes.
    pub nodes: Nodes<'a>,
    /// Their vertices, for storages that recompute the geometry from them.
    pub vertices: Vertices<'a, T>,
    /// Packed geometry, [`ElementKernel::geometry_len`] numbers.
    pub geometry: &'a [T],
    /// Auxiliary fields constant per cell, `[field][lane]`.
    pub auxiliary: &'a [T],
    /// Auxiliary fields in the solution's space, at the nodes of `nodes`: a source with one component per
    /// field.
    pub nodal: Source<'a, T>,
    /// Auxiliary fields at the quadrature points, `[field][point][lane]`.
    pub points: &'a [T],
    /// Time and parameters.
    pub context: &'a EvalContext<'a>,
}

impl<'a, T> Batch<'a, T> {
    /// The location of its numbers in vectors with this many nodes of an element and components of a node.
    #[inline(always)]
    pub(crate) fn places(&self, nodes_per_element: usize, components: usize) -> Places<'a> {
        Places {
            nodes: self.nodes,
            elements: self.elements,
            nodes_per_element,
            components,
            are_columns: false,
        }
    }
}

/// A vector that a batch reads.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, T> {
    /// An E-vector `[element][component][node]`, cut to the batch, or a local vector: a row of [`row_len`]
    /// numbers for each node, [`LOCAL_NODES`] rows.
    pub numbers: &'a [T],
    /// The L-vector from the chunk's first private node on, a slice with all components of a node or one for
    /// each component: interior nodes are read here if the table has runs of them ([`NodeTable::has_run`]).
    pub private: &'a [&'a [T]],
}

impl<'a, T> Source<'a, T> {
    /// An E-vector, or a local vector of elements whose table lists all nodes.
    pub fn of(numbers: &'a [T]) -> Self {
        Self {
            numbers,
            private: &[],
        }
    }
}

/// A vector that a batch writes.
#[derive(Debug)]
pub struct Target<'a, 'b, T> {
    /// As [`Source::numbers`]. E-vectors are overwritten, local vectors added to.
    pub numbers: &'a mut [T],
    /// As [`Source::private`]. Interior nodes are overwritten, since no other element has them.
    pub private: &'a mut [&'b mut [T]],
}

impl<'a, T> Target<'a, '_, T> {
    /// An E-vector, or a local vector of elements whose table lists all nodes.
    pub fn of(numbers: &'a mut [T]) -> Self {
        Self {
            numbers,
            private: &mut [],
        }
    }
}

/// The vertices of a batch's cells.
#[derive(Clone, Copy, Debug)]
pub struct Vertices<'a, T> {
    /// Coordinates `[vertex][axis]`, in rows of [`row_len`] for the axes of the cells. At least
    /// [`LOCAL_NODES`] rows, so that no index needs a check.
    pub coordinates: &'a [T],
    /// The vertices of each cell, `[vertex of the cell][lane]`; lanes without a cell have valid indices
    /// too.
    pub table: &'a [u16],
}

impl<T> Vertices<'_, T> {
    /// No vertices, for storages that do not read them.
    pub const NONE: Self = Self {
        coordinates: &[],
        table: &[],
    };
}

/// A compiled element operator: form, storage of the geometry, precision and instruction set.
pub trait ElementKernel<T>: Send + Sync {
    /// Cells per batch.
    fn lanes(&self) -> usize;
    /// Numbers of packed geometry per batch.
    fn geometry_len(&self) -> usize;
    /// Scratch memory for one thread.
    fn workspace(&self) -> Workspace;
    /// Applies the element operators.
    fn apply(
        &self,
        batch: &Batch<T>,
        source: Source<T>,
        target: Target<T>,
        workspace: &mut Workspace,
    );
    /// Writes the diagonals of the element matrices, as [`ElementKernel::apply`].
    fn diagonal(&self, batch: &Batch<T>, target: Target<T>, workspace: &mut Workspace);
}

/// A kernel around a form in the precision `T`, by one of two functions that are compiled in this crate, not in every
/// crate with forms.
pub(crate) fn in_precision<T: Vectorizable, Form>(
    form: Form,
    fp64: impl FnOnce(Form) -> Box<dyn ElementKernel<f64>>,
    fp32: impl FnOnce(Form) -> Box<dyn ElementKernel<f32>>,
) -> Box<dyn ElementKernel<T>> {
    let kernel: Box<dyn Any> = match T::BYTES {
        8 => Box::new(fp64(form)),
        _ => Box::new(fp32(form)),
    };
    let kernel = kernel.downcast::<Box<dyn ElementKernel<T>>>();
    *kernel.expect("two precisions have different sizes")
}
