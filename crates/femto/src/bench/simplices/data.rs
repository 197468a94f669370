//! One case on a device, and the measurement of a candidate on it.

use super::operands::{Buffers, Chosen};
use super::oracle::{Inputs, Numbers, Oracle, error};
use super::row::{Outcome, SimplexRow};
use super::{Candidate, SimplexCase, SimplexMesh};
use crate::Number;
use crate::bench::ladder::time::time;
use crate::bench::timing::since;
use crate::bench::{BenchError, Sampling};
use femto_kernel::family::simplex_quadrature::blocks::BlockLists;
use femto_kernel::family::simplex_quadrature::schedule::Schedule;
use femto_kernel::family::simplex_quadrature::source::{SimplexKernel, Vectors, place, places};
use femto_kernel::family::simplex_quadrature::work::{Counts, work};
use femto_kernel::family::simplex_quadrature::{Element, Shape};
use femto_kernel::roofline::Ceilings;
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Kernel, KernelText, Launch,
};
use femto_platform::device::{Buffer, Device, DeviceError};
use std::time::Instant;

/// The geometry of a mesh and random vectors on a device.
pub struct SimplexData<'a, T: Number> {
    device: &'a Accelerator,
    case: SimplexCase,
    mesh: &'a SimplexMesh,
    element: Element,
    buffers: Buffers<T>,
    oracle: Oracle,
    /// E-vectors of all cells and of the first ones, an L-vector.
    v_of_cells: AcceleratorBuffer<T>,
    v_of_first: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
}

/// A kernel and what it is given.
struct Application<'a> {
    device: &'a Accelerator,
    source: &'a SimplexKernel,
    kernel: &'a Kernel,
    shape: &'a Shape,
    chosen: Chosen,
}

impl<'a, T: Number> SimplexData<'a, T> {
    /// Puts the inputs of a case in this precision on the device: u in [-1, 1), κ in [0.5, 1.5).
    ///
    /// # Errors
    /// No memory.
    pub fn new(
        device: &'a Accelerator,
        case: SimplexCase,
        mesh: &'a SimplexMesh,
    ) -> Result<Self, BenchError> {
        let element = case.element()?;
        let shape = case.shape(&element, Vectors::Element);
        let unknowns = shape.unknowns();
        let numbers = Numbers::random::<T>(mesh, case.components());
        let inputs = Inputs {
            case,
            element: &element,
            mesh,
            positions: &numbers.positions,
            u: &numbers.u,
            kappa: &numbers.kappa,
        };
        let (buffers, oracle) = (Buffers::new(device, &inputs, &shape)?, inputs.oracle());
        let first = oracle.cells.len() / unknowns;
        // Long enough for any number of cells together.
        let len = |cells: usize| places(super::candidate::TOGETHER, cells, unknowns);
        Ok(Self {
            device,
            case,
            mesh,
            buffers,
            v_of_cells: device.zeros(len(mesh.cells()))?,
            v_of_first: device.zeros(len(first))?,
            v: device.zeros(numbers.u.len())?,
            oracle,
            element,
        })
    }

    /// Measures: 1. text and kernel, 2. output, compared, 3. time, 4. row.
    ///
    /// # Errors
    /// [`BenchError::Illegal`] for a candidate that the device does not allow; a text that does not
    /// compile, no memory, an output that is not finite.
    pub fn measure(
        &mut self,
        candidate: &Candidate,
        sampling: &Sampling,
        ceilings: &Ceilings,
    ) -> Result<SimplexRow, BenchError> {
        let (device, case, mesh) = (self.device, self.case, self.mesh);
        let source = case.kernel(candidate, device.features())?;
        let start = Instant::now();
        let kernel = compile(device, &source)?;
        let compile_seconds = since(start);

        let shape = case.shape(&self.element, candidate.vectors);
        let nodal = candidate.vectors != Vectors::Element;
        let fans = match candidate.schedule {
            Schedule::BlockLocal(it) => Some((it.fans_per_block, it.fan_cells)),
            _ => None,
        };
        let lists = fans.and_then(|fans| mesh.lists(fans));
        let places = |lists: &BlockLists| lists.len() * source.schedule.cells_per_block(&shape);
        let application = Application {
            device,
            source: &source,
            kernel: &kernel,
            shape: &shape,
            chosen: Chosen {
                cells: lists.map_or(mesh.cells(), places),
                nodal,
                interleave: [candidate.interleave.data, candidate.interleave.vectors],
                fans,
            },
        };
        let (error, timing) = if nodal {
            let error = self.nodal_error(&application)?;
            let (buffers, v) = (&self.buffers, &mut self.v);
            let run = || application.run(buffers, v);
            (error, time(device, sampling, run)?)
        } else {
            let error = self.element_error(&application)?;
            let (buffers, v) = (&self.buffers, &mut self.v_of_cells);
            let run = || application.run(buffers, v);
            (error, time(device, sampling, run)?)
        };

        let counts = Counts {
            cells: mesh.cells(),
            nodes: mesh.nodes(),
            vertices: mesh.nodes(),
            entries: lists.map_or(0, |lists| lists.list.len()),
            slots: lists.map_or(0, |lists| lists.local.len()),
            filled: lists.map_or(0, |lists| lists.filled),
        };
        let mut work = work(
            &shape,
            &candidate.schedule,
            candidate.vectors,
            case.precision,
            counts,
        );
        if nodal {
            // The output is set to zero first.
            work.bytes_written += (self.v_len() * T::BYTES) as u64;
        }
        let outcome = Outcome {
            shape,
            nodes: mesh.nodes(),
            cells: mesh.cells(),
            couplings: mesh.couplings(),
            device: device.info(),
            cache_bytes: device.features().cache_bytes,
            timing,
            error,
            work,
            usage: kernel.usage(),
            threads: source.block.threads(),
            block_shared_bytes: source.block.shared_bytes(T::PRECISION),
            compile_seconds,
        };
        Ok(SimplexRow::new(&case, candidate, &outcome, ceilings))
    }

    fn v_len(&self) -> usize {
        self.mesh.nodes() * self.case.components()
    }

    /// The error of the E-vector of the first cells, all of them.
    fn element_error(&mut self, all: &Application<'_>) -> Result<f64, BenchError> {
        let unknowns = all.shape.unknowns();
        let cells = self.oracle.cells.len() / unknowns;
        let first = Application {
            chosen: Chosen {
                cells,
                ..all.chosen
            },
            ..*all
        };
        let mut v = vec![T::from_f64(f64::NAN); self.v_of_first.len()];
        self.device.write(&v, &mut self.v_of_first)?;
        first.run(&self.buffers, &mut self.v_of_first)?;
        self.device.read(&self.v_of_first, &mut v)?;
        let together = all.chosen.interleave[1];
        let found = |n: usize| v[place(together, n / unknowns, (n % unknowns, unknowns))].to_f64();
        let found: Vec<f64> = (0..self.oracle.cells.len()).map(found).collect();
        check(&found, all.source)?;
        Ok(error(
            found.into_iter().zip(self.oracle.cells.iter().copied()),
        ))
    }

    /// The error of the L-vector at some nodes; all of it must be finite.
    fn nodal_error(&mut self, all: &Application<'_>) -> Result<f64, BenchError> {
        let mut v = vec![T::from_f64(f64::NAN); self.v.len()];
        self.device.write(&v, &mut self.v)?;
        all.run(&self.buffers, &mut self.v)?;
        self.device.read(&self.v, &mut v)?;
        let found: Vec<f64> = v.into_iter().map(|x| x.to_f64()).collect();
        check(&found, all.source)?;
        let components = self.case.components();
        let pairs = self.oracle.nodes.iter().flat_map(|(node, wanted)| {
            let own = &found[*node as usize * components..];
            own.iter().copied().zip(wanted.iter().copied())
        });
        Ok(error(pairs))
    }
}

impl Application<'_> {
    fn run<T: Number>(
        &self,
        buffers: &Buffers<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        let (device, source) = (self.device, self.source);
        if self.chosen.nodal {
            let len = v.len();
            device.fill_zero(v, 0..len)?;
        }
        let launch = Launch {
            blocks: source.schedule.blocks(self.shape, self.chosen.cells),
            threads: source.block.threads,
            shared_bytes: source.block.shared_bytes(T::PRECISION),
        };
        let operands = &source.operands;
        let unknown = DeviceError::Unsupported {
            device: device.info().kind.name(),
            what: "be given an operand that this benchmark has not",
        };
        let arguments = buffers
            .arguments(operands, &self.chosen, v)
            .ok_or(unknown)?;
        device.launch(self.kernel, &launch, &arguments)
    }
}

fn compile(device: &Accelerator, source: &SimplexKernel) -> Result<Kernel, DeviceError> {
    let text = KernelText::new(&source.name, &source.text);
    let cache = KernelCache::user().unwrap_or_default();
    device.compile(&text, &cache)?.kernel("apply")
}

/// All numbers are finite.
fn check(found: &[f64], source: &SimplexKernel) -> Result<(), BenchError> {
    match found.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(index) => Err(BenchError::StepNotFinite {
            step: format!("{}, {}", source.name, source.schedule),
            index,
            length: found.len(),
            value: found[index],
        }),
    }
}
