//! Operators on the host: threads over chunks, SIMD over the elements of a chunk.
//!
//! One chunk after the other is copied from the L-vector into a thread's own memory, its batches of
//! elements are evaluated there, and its sums go back: those of private nodes straight into the
//! output, those of nodes shared with other chunks into a list. When all chunks are done, the shared
//! nodes are summed from the list in chunk order. So nothing is locked, no atomics are needed, each
//! output entry is written once, and results do not depend on the number of threads.

mod fields;
mod pack;
mod traverse;

use super::{Backend, Binding, Bound, OperatorError};
use crate::Number;
use femto_fem::space::{Layout, Restriction};
use femto_kernel::family::tensor_hex::Conditions;
use femto_kernel::family::tensor_hex::host::{HexKernel, HexWorkspace, LOCAL_STRIDE, NodeTable};
use femto_kernel::form::Form;
use femto_kernel::scalar::SimdLevel;
use femto_platform::device::Device;
use femto_platform::device::host::{Host, HostBuffer};
use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    kernels: Vec<Box<dyn HexKernel<T>>>,
    /// `[chunk]`, the chunk's runs of elements of one kind.
    segments: Vec<Vec<HostSegment>>,
    /// What the batches read.
    arrays: pack::Arrays<T>,
    /// One per thread.
    scratch: Vec<Mutex<Scratch<T>>>,
    /// What each chunk adds to nodes it shares, `[entry of restriction.interface][component]`.
    shared: Mutex<HostBuffer<T>>,
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
    workspaces: Vec<HexWorkspace>,
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
        let scratch = (0..host.threads())
            .map(|_| {
                Ok(Mutex::new(Scratch {
                    input: host.zeros(LOCAL_STRIDE * C)?,
                    sums: host.zeros(LOCAL_STRIDE * C)?,
                    workspaces: packed
                        .kernels
                        .iter()
                        .map(|kernel| kernel.workspace())
                        .collect(),
                }))
            })
            .collect::<Result<_, OperatorError>>()?;
        let shared = host.zeros(restriction.interface.len() * C)?;
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
            shared: Mutex::new(shared),
            restriction,
        })
    }

    /// This thread's scratch memory. No work is waited for while it is held.
    fn scratch(&self) -> MutexGuard<'_, Scratch<T>> {
        let index = self.host.thread_index() % self.scratch.len();
        self.scratch[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Number> Bound<T, Host> for HostBound<T> {
    fn apply(
        &self,
        conditions: &Conditions,
        u: &HostBuffer<T>,
        v: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.traverse(Action::Apply, conditions, u, v);
        Ok(())
    }

    fn apply_elements(
        &self,
        conditions: &Conditions,
        u: &HostBuffer<T>,
        v: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.traverse_elements(conditions, u, v);
        Ok(())
    }

    fn diagonal(
        &self,
        conditions: &Conditions,
        d: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        self.traverse(Action::Diagonal, conditions, &[], d);
        Ok(())
    }

    fn bytes(&self) -> usize {
        let numbers = self.scratch.len() * 2 * self.components * LOCAL_STRIDE;
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
