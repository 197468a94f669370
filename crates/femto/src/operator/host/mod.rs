//! Operators on the host: threads over chunks, SIMD over the elements of a chunk.
//!
//! One chunk after the other is copied from the L-vector into a thread's own memory, its batches of
//! elements are evaluated there, and its sums go back: those of private nodes straight into the
//! output, those of nodes shared with other chunks into a list. When all chunks are done, the shared
//! nodes are summed from the list in chunk order. So no thread waits for another's sums, each output
//! entry is written once, and results do not depend on the number of threads.

mod fields;
mod pack;
mod pool;
mod traverse;

use super::{Backend, Binding, Bound, OperatorError};
use crate::Number;
use femto_fem::space::{Layout, Restriction};
use femto_kernel::family::batch::{Conditions, ElementKernel, LOCAL_STRIDE, NodeTable, Workspace};
use femto_kernel::form::Form;
use femto_kernel::scalar::SimdLevel;
use femto_platform::device::host::{Host, HostBuffer};
use femto_platform::device::{Device, DeviceError};
use pool::Pool;
use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::Arc;

/// Most components of a form on the host.
pub(crate) const MAX_COMPONENTS: usize = 8;

/// An operator bound to the host.
pub struct HostBound<T: Number> {
    host: Host,
    restriction: Arc<Restriction>,
    layout: Layout,
    components: usize,
    /// Number of auxiliary fields.
    fields: usize,
    /// Which nodes of an element the tables index.
    nodes: NodeTable,
    /// One kernel per kind of map.
    kernels: Vec<Box<dyn ElementKernel<T>>>,
    /// `[chunk]`, the chunk's runs of elements of one kind.
    segments: Vec<Vec<HostSegment>>,
    /// What the batches read.
    arrays: pack::Arrays<T>,
    /// Memory of the threads.
    scratch: Pool<Scratch<T>>,
    /// What each chunk adds to nodes it shares, `[entry of restriction.interface][component]`; one
    /// for each application under way.
    shared: Pool<HostBuffer<T>>,
}

/// A run of elements of one kind of map, in batches.
#[derive(Clone, Debug)]
struct HostSegment {
    kind: usize,
    elements: Range<usize>,
    /// Where its batches start.
    start: Offsets,
}

/// Places in the packed arrays.
#[derive(Clone, Copy, Debug, Default)]
struct Offsets {
    geometry: usize,
    auxiliary: usize,
    tables: usize,
}

/// The memory of one thread.
struct Scratch<T: Number> {
    /// The chunk's input and sums, `[component][LOCAL_STRIDE]`.
    input: HostBuffer<T>,
    sums: HostBuffer<T>,
    /// One per kernel.
    workspaces: Vec<Workspace>,
}

/// What a traversal does with each batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Apply,
    Diagonal,
}

impl Backend for Host {
    type Bound<T: Number> = HostBound<T>;

    fn bind<T, F, const C: usize>(
        &self,
        binding: &Binding<'_, F, C>,
    ) -> Result<HostBound<T>, OperatorError>
    where
        T: Number,
        F: Form<3, C> + Clone + 'static,
    {
        HostBound::new(self, binding, SimdLevel::detect())
    }
}

impl<T: Number> HostBound<T> {
    /// Binds for one instruction set: 1. kernels, 2. packed geometry, 3. scratch memory.
    pub(crate) fn new<F, const C: usize>(
        host: &Host,
        binding: &Binding<'_, F, C>,
        level: SimdLevel,
    ) -> Result<Self, OperatorError>
    where
        F: Form<3, C> + Clone + 'static,
    {
        if C > MAX_COMPONENTS {
            return Err(OperatorError::TooManyComponents {
                found: C,
                most: MAX_COMPONENTS,
            });
        }
        let restriction = binding.space.shared_restriction();
        let packed = pack::Packed::new(host, binding, level)?;
        let scratch = Pool::default();
        for _ in 0..host.threads() {
            scratch.put(Scratch::new(host, C, &packed.kernels)?);
        }
        let shared = Pool::default();
        shared.put(host.zeros(restriction.interface.len() * C)?);
        Ok(Self {
            host: host.clone(),
            layout: binding.space.layout(),
            components: C,
            fields: binding.plan.auxiliary,
            nodes: NodeTable::new(binding.space.nodes_1d()),
            kernels: packed.kernels,
            segments: packed.segments,
            arrays: packed.arrays,
            scratch,
            shared,
            restriction,
        })
    }

    /// Memory for a thread; made anew where more threads work than the host has.
    fn take_scratch(&self) -> Result<Scratch<T>, DeviceError> {
        match self.scratch.take() {
            Some(scratch) => Ok(scratch),
            None => Scratch::new(&self.host, self.components, &self.kernels),
        }
    }

    /// A list for the shared nodes; made anew where several applications run at once.
    fn take_shared(&self) -> Result<HostBuffer<T>, DeviceError> {
        match self.shared.take() {
            Some(shared) => Ok(shared),
            None => self
                .host
                .zeros(self.restriction.interface.len() * self.components),
        }
    }
}

impl<T: Number> Scratch<T> {
    fn new(
        host: &Host,
        components: usize,
        kernels: &[Box<dyn ElementKernel<T>>],
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            input: host.zeros(LOCAL_STRIDE * components)?,
            sums: host.zeros(LOCAL_STRIDE * components)?,
            workspaces: kernels.iter().map(|kernel| kernel.workspace()).collect(),
        })
    }
}

impl<T: Number> Bound<T, Host> for HostBound<T> {
    fn apply(
        &self,
        conditions: &Conditions,
        u: &HostBuffer<T>,
        v: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        Ok(self.traverse(Action::Apply, conditions, u, v)?)
    }

    fn apply_elements(
        &self,
        conditions: &Conditions,
        u: &HostBuffer<T>,
        v: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        Ok(self.traverse_elements(conditions, u, v)?)
    }

    fn diagonal(
        &self,
        conditions: &Conditions,
        d: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        Ok(self.traverse(Action::Diagonal, conditions, &[], d)?)
    }

    fn bytes(&self) -> usize {
        let locals = 2 * LOCAL_STRIDE * self.host.threads();
        let numbers = (locals + self.restriction.interface.len()) * self.components;
        numbers * T::BYTES + self.arrays.bytes() + self.restriction.bytes()
    }
}

impl<T: Number> Debug for HostBound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBound")
            .field("host", &self.host)
            .field("components", &self.components)
            .field("chunks", &self.segments.len())
            .finish_non_exhaustive()
    }
}
