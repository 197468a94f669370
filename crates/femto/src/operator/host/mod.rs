//! Operators on the host: threads over chunks, SIMD over the elements of a chunk.
//!
//! Each chunk is copied from the L-vector into a thread's own memory, its batches of elements are evaluated
//! there, and its sums are written back: those of private nodes straight into the output, those of nodes
//! shared with other chunks into a list. Interior nodes of tensor-product cells are neither copied nor summed: their
//! elements read and write them in the L-vectors. After all chunks, the shared nodes are summed from the list in
//! chunk order. So no thread waits for another's sums, each output entry is written once, and results do
//! not depend on the number of threads.

mod ahead;
mod fields;
mod matrices;
mod pack;
mod traverse;

use super::{Backend, Binding, Bound, OperatorError, UnitVectors};
use crate::Number;
use crate::pool::Pool;
use femto_fem::space::{Layout, Restriction};
use femto_kernel::family::EvalContext;
use femto_kernel::family::batch::{ElementKernel, LOCAL_NODES, NodeTable, Workspace, row_len};
use femto_kernel::family::fields::FieldKind;
use femto_kernel::scalar::SimdLevel;
use femto_platform::device::host::{Host, HostBuffer};
use femto_platform::device::{Device, DeviceError};
use fields::split_components;
use matrices::Assembler;
use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::Arc;
use traverse::ElementInput;

/// Maximum number of components of a form on the host.
pub(crate) const MAX_COMPONENTS: usize = 8;

/// An operator bound to the host.
pub struct HostBound<T: Number> {
    host: Host,
    restriction: Arc<Restriction>,
    layout: Layout,
    components: usize,
    /// Numbers of auxiliary fields that an element reads, constants and at points, `[kind]`.
    own_fields: Vec<[usize; 2]>,
    /// Auxiliary fields in the solution's space, `[field][node]`, and their number.
    nodal: Vec<T>,
    fields: usize,
    /// Lengths of a chunk's local vectors: of the solution, and of these fields.
    lens: [usize; 2],
    /// Dimension of the cells.
    dim: usize,
    /// The nodes of an element that its table lists.
    nodes: NodeTable,
    /// One kernel per kind of map.
    kernels: Vec<Box<dyn ElementKernel<T>>>,
    /// The runs of elements of one kind in each chunk, `[chunk]`.
    segments: Vec<Vec<HostSegment>>,
    /// Of element matrices, which are the geometry then.
    assembler: Option<Assembler<T>>,
    /// Packed inputs of the batches.
    arrays: pack::Arrays<T>,
    /// Scratch memory of the threads.
    scratch: Pool<Scratch<T>>,
    /// Contributions of each chunk to shared nodes, `[entry of restriction.interface][component]`; one
    /// array for each concurrent application.
    shared: Pool<HostBuffer<T>>,
}

/// A run of elements of one kind of map, in batches.
#[derive(Clone, Debug)]
struct HostSegment {
    kind: usize,
    elements: Range<usize>,
    /// The start of its batches in the packed arrays.
    start: Offsets,
}

/// Positions in the packed arrays.
#[derive(Clone, Copy, Debug, Default)]
struct Offsets {
    geometry: usize,
    auxiliary: usize,
    tables: usize,
}

/// The memory of one thread.
struct Scratch<T: Number> {
    /// The chunk's input and sums, as local vectors.
    input: HostBuffer<T>,
    sums: HostBuffer<T>,
    /// The chunk's auxiliary fields in the solution's space, likewise.
    nodal: HostBuffer<T>,
    /// One per kernel.
    workspaces: Vec<Workspace>,
}

/// The action of a traversal on each batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Apply,
    Diagonal,
}

impl Backend for Host {
    type Bound<T: Number> = HostBound<T>;

    fn bind<T: Number>(&self, binding: &Binding<'_>) -> Result<HostBound<T>, OperatorError> {
        let (form, level) = (binding.form, SimdLevel::detect());
        let kinds = binding.plan.kinds.iter();
        let kernels = kinds.map(|kind| T::host_kernel(form, &kind.block, level));
        let kernels = kernels.collect();
        let Some(plan) = binding.plan.base.as_deref() else {
            return HostBound::new(self, binding, kernels);
        };
        let params = &binding.params.without_fields();
        let mut bound = HostBound::new(self, &Binding { params, ..*binding }, kernels)?;
        let base = self.bind::<T>(&Binding { plan, ..*binding })?;
        let block = binding.plan.kinds.first();
        bound.assembler = block
            .and_then(|kind| kind.block.matrices())
            .map(|storage| Assembler::new(base, storage));
        bound.assemble(&binding.params.context())?;
        Ok(bound)
    }
}

impl<T: Number> HostBound<T> {
    /// Binds kernels, `[kind]`: 1. packed geometry, 2. scratch memory.
    pub(crate) fn new(
        host: &Host,
        binding: &Binding<'_>,
        kernels: Vec<Box<dyn ElementKernel<T>>>,
    ) -> Result<Self, OperatorError> {
        let components = binding.space.components();
        if components > MAX_COMPONENTS {
            return Err(OperatorError::TooManyComponents {
                found: components,
                most: MAX_COMPONENTS,
            });
        }
        let restriction = Arc::clone(binding.space.restriction());
        let packed = pack::Packed::new(host, binding, &kernels)?;
        let params = binding.params;
        let nodal = params.auxiliary_of(FieldKind::Nodal).flatten();
        let nodal: Vec<T> = nodal.map(|&value| T::from_f64(value)).collect();
        let nodes = binding.plan.node_table();
        let fields = params.fields().count(FieldKind::Nodal);
        let lens = [components, fields].map(|count| row_len(count) * LOCAL_NODES);
        let scratch = Pool::default();
        for _ in 0..host.threads() {
            scratch.put(Scratch::new(host, lens, &kernels)?);
        }
        let shared = Pool::default();
        shared.put(host.zeros(restriction.interface.len() * components)?);
        let kinds = binding.plan.kinds.iter();
        let own_fields = kinds.map(|kind| binding.plan.field_numbers(kind)).collect();
        Ok(Self {
            host: host.clone(),
            layout: binding.space.layout(),
            components,
            own_fields,
            nodal,
            dim: binding.space.dim(),
            nodes,
            fields,
            lens,
            kernels,
            segments: packed.segments,
            assembler: None,
            arrays: packed.arrays,
            scratch,
            shared,
            restriction,
        })
    }

    /// Elements of a batch.
    fn lanes(&self) -> usize {
        self.kernels.first().map_or(1, |kernel| kernel.lanes())
    }

    /// Memory for a thread; allocated anew if more threads work than the host has.
    fn take_scratch(&self) -> Result<Scratch<T>, DeviceError> {
        match self.scratch.take() {
            Some(scratch) => Ok(scratch),
            None => Scratch::new(&self.host, self.lens, &self.kernels),
        }
    }

    /// A list for the shared nodes; allocated anew if several applications run at once.
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
        [solution, fields]: [usize; 2],
        kernels: &[Box<dyn ElementKernel<T>>],
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            input: host.zeros(solution)?,
            sums: host.zeros(solution)?,
            nodal: host.zeros(fields)?,
            workspaces: kernels.iter().map(|kernel| kernel.workspace()).collect(),
        })
    }
}

impl<T: Number> Bound<T, Host> for HostBound<T> {
    fn apply(
        &self,
        context: &EvalContext,
        u: &HostBuffer<T>,
        v: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        Ok(self.traverse(Action::Apply, context, u, v)?)
    }

    fn apply_elements(
        &self,
        context: &EvalContext,
        u: &HostBuffer<T>,
        v: &mut HostBuffer<T>,
    ) -> Result<(), OperatorError> {
        Ok(self.traverse_elements(context, ElementInput::Vector(u), v)?)
    }

    /// Without E-vectors for input.
    fn unit_products(
        &self,
        _: &Host,
        context: &EvalContext,
        units: UnitVectors,
    ) -> Result<Vec<Vec<T>>, OperatorError> {
        let column = |column: usize| {
            let mut product = vec![T::default(); units.elements * units.numbers];
            self.traverse_elements(context, ElementInput::Unit(column), &mut product)?;
            Ok(product)
        };
        (0..units.columns).map(column).collect()
    }

    fn diagonal(&self, context: &EvalContext, d: &mut HostBuffer<T>) -> Result<(), OperatorError> {
        Ok(self.traverse(Action::Diagonal, context, &[], d)?)
    }

    fn set_nodal(&mut self, first: usize, u: &HostBuffer<T>) -> Result<(), OperatorError> {
        if let Some(assembler) = &mut self.assembler {
            return assembler.base.set_nodal(first, u);
        }
        let nodes = self.restriction.nodes;
        let (count, width) = split_components(self.layout, self.components);
        for component in 0..self.components {
            let field = &mut self.nodal[(first + component) * nodes..][..nodes];
            let source = &u[component / width * (u.len() / count)..];
            let source = source.iter().skip(component % width).step_by(width);
            for (target, &value) in field.iter_mut().zip(source) {
                *target = value;
            }
        }
        Ok(())
    }

    fn assemble(&mut self, context: &EvalContext) -> Result<(), OperatorError> {
        match self.assembler.take() {
            None => Ok(()),
            Some(assembler) => {
                let done = assembler.assemble(context, self);
                self.assembler = Some(assembler);
                done
            }
        }
    }

    fn bytes(&self) -> usize {
        let base = self.assembler.as_ref().map_or(0, |it| it.base.bytes());
        let [solution, fields] = self.lens;
        let locals = (2 * solution + fields) * self.host.threads();
        let numbers = locals + self.restriction.interface.len() * self.components;
        base + (numbers + self.nodal.len()) * T::BYTES
            + self.arrays.bytes()
            + self.restriction.bytes()
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
