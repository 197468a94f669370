//! One case on a device, and measuring a candidate on it.

use super::operands::{Buffers, Chosen};
use super::oracle::{Inputs, Numbers, Oracle};
use super::record::record;
use super::{Candidate, SimplexCase, SimplexMesh};
use crate::compare::{difference, finite};
use crate::compile::compile;
use crate::record::{Entry, Outcome, kernel_columns};
use crate::timing::{since, time_on_device};
use crate::wavefronts::wavefronts;
use crate::{BenchError, Record, Sampling};
use femto::Number;
use femto_element::tables::DenseTables;
use femto_kernel::family::cell_quadrature::Shape;
use femto_kernel::family::cell_quadrature::blocks::BlockLists;
use femto_kernel::family::cell_quadrature::schedule::Schedule;
use femto_kernel::family::cell_quadrature::source::{place, places};
use femto_kernel::family::cell_quadrature::work::knepley::Model;
use femto_kernel::family::cell_quadrature::work::{Counts, work};
use femto_kernel::family::{KernelSource, Vectors};
use femto_kernel::roofline::{Ceilings, Limit, bound};
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Kernel, Launch};
use femto_platform::device::{Buffer, Device, DeviceError};
use serde_json::json;
use std::time::Instant;

/// The geometry of a mesh and random vectors on a device.
pub struct SimplexData<'a, T: Number> {
    device: &'a Accelerator,
    case: SimplexCase,
    mesh: &'a SimplexMesh,
    element: DenseTables,
    buffers: Buffers<T>,
    oracle: Oracle,
    /// E-vectors of all cells and of the first ones, and an L-vector.
    v_of_cells: AcceleratorBuffer<T>,
    v_of_first: AcceleratorBuffer<T>,
    v: AcceleratorBuffer<T>,
}

/// A kernel with its arguments.
struct Application<'a> {
    device: &'a Accelerator,
    source: &'a KernelSource,
    kernel: &'a Kernel,
    schedule: &'a Schedule,
    shape: &'a Shape,
    chosen: Chosen,
}

impl Application<'_> {
    /// The kernel and its schedule, in words.
    fn described(&self) -> String {
        format!("{}, {}", self.source.name, self.schedule)
    }
}

impl<'a, T: Number> SimplexData<'a, T> {
    /// Uploads the inputs of a case in this precision: u in [-1, 1), κ in [0.5, 1.5).
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(
        device: &'a Accelerator,
        case: SimplexCase,
        mesh: &'a SimplexMesh,
    ) -> Result<Self, BenchError> {
        let element = case.element()?;
        let shape = case.shape(&element, Vectors::ELEMENT);
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
        // Long enough for any interleaving.
        let len = |cells: usize| places(super::candidate::INTERLEAVED, cells, unknowns);
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

    /// Measures: 1. text and kernel, 2. output, compared, 3. time, 4. record.
    ///
    /// # Errors
    /// [`BenchError::Illegal`] for a candidate that is illegal on the device; a text that does not compile,
    /// not enough memory, an output that is not finite.
    pub fn measure(
        &mut self,
        candidate: &Candidate,
        sampling: &Sampling,
        ceilings: &Ceilings,
    ) -> Result<Record, BenchError> {
        let (device, case, mesh) = (self.device, self.case, self.mesh);
        let source = case.kernel(candidate, device.features())?;
        let start = Instant::now();
        let kernel = compile(device, &source.name, &source.text)?.kernel("apply")?;
        let compile_seconds = since(start);

        let shape = case.shape(&self.element, candidate.vectors);
        let nodal = candidate.vectors != Vectors::ELEMENT;
        let fans = match candidate.schedule {
            Schedule::BlockLocal(it) => Some((it.fans_per_block, it.fan_cells)),
            _ => None,
        };
        let lists = fans.and_then(|fans| mesh.lists(fans));
        let places = |lists: &BlockLists| lists.len() * source.elements_per_block as usize;
        let application = Application {
            device,
            source: &source,
            kernel: &kernel,
            schedule: &candidate.schedule,
            shape: &shape,
            chosen: Chosen {
                cells: lists.map_or(mesh.cells(), places),
                nodal,
                interleave: [candidate.interleave.data, candidate.interleave.vectors],
                fans,
            },
        };
        let error = match nodal {
            true => self.nodal_error(&application)?,
            false => self.element_error(&application)?,
        };
        let v = match nodal {
            true => &mut self.v,
            false => &mut self.v_of_cells,
        };
        let run = || application.run(&self.buffers, v);
        let timing = time_on_device(device, sampling, run)?;
        let (wavefronts, warning) = wavefronts(device, (&source.name, &source.text), |counting| {
            let counting = Application {
                kernel: &counting.kernel(source.entry)?,
                ..application
            };
            counting.run(&self.buffers, v)
        });

        let counts = Counts {
            cells: mesh.cells(),
            nodes: mesh.nodes(),
            vertices: mesh.nodes(),
            entries: lists.map_or(0, |lists| lists.sums.list.len()),
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
        work.wavefronts = wavefronts;
        if nodal {
            // The output is zeroed first.
            work.bytes_written += (self.v.len() * T::BYTES) as u64;
        }
        let outcome = Outcome {
            precision: case.precision,
            device: device.info(),
            timing,
            error: Some(error),
            work,
            ceilings: *ceilings,
        };
        let mut record = record(&case, mesh, nodal, outcome);
        let memory_seconds = bound(&work, ceilings, case.precision).memory_seconds;
        record.set_bound("bound", Some(memory_seconds));
        record.limit = Limit::Memory;
        record.schedule = candidate.schedule.to_string();
        record.setting.extend(setting(candidate, &shape, &source));
        set_published(&mut record, candidate, &shape);
        let usage = kernel.usage();
        let copied = record.fraction("copy").map(|fraction| 1.0 / fraction - 1.0);
        record.extras.extend([
            // Time relative to a copy of as many bytes.
            ("deviation", json!(copied)),
            // The bytes of an application should be many times larger.
            ("cache_bytes", json!(device.features().cache_bytes)),
            ("warnings", json!(warning)),
        ]);
        let block_bytes = source.block.shared_bytes(T::PRECISION);
        let columns = kernel_columns(usage, block_bytes, compile_seconds);
        record.extras.extend(columns);
        Ok(record)
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
        finite(all.described(), &found)?;
        let wanted = self.oracle.cells.iter().copied();
        Ok(difference(found.into_iter().zip(wanted)))
    }

    /// The error of the L-vector at some nodes; all of it must be finite.
    fn nodal_error(&mut self, all: &Application<'_>) -> Result<f64, BenchError> {
        let mut v = vec![T::from_f64(f64::NAN); self.v.len()];
        self.device.write(&v, &mut self.v)?;
        all.run(&self.buffers, &mut self.v)?;
        self.device.read(&self.v, &mut v)?;
        finite(all.described(), &v)?;
        Ok(self.oracle.nodal_difference(&v))
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
            blocks: source.blocks(self.chosen.cells),
            threads: source.block.threads,
            shared_bytes: source.block.shared_bytes(T::PRECISION),
        };
        let operands = &source.operands;
        let unknown = DeviceError::Unsupported {
            device: device.info().kind.name(),
            what: "be given an operand that this benchmark does not have",
        };
        let arguments = buffers
            .arguments(operands, &self.chosen, v)
            .ok_or(unknown)?;
        device.launch(self.kernel, &launch, &arguments)
    }
}

/// N_bl and N_cb of Knepley et al.'s kernel.
fn batches(schedule: &Schedule) -> Option<(u32, u32)> {
    match schedule {
        Schedule::Transposition(it) => Some((it.blocks_per_batch, it.batches_per_chunk)),
        _ => None,
    }
}

/// The candidate's parameters; the best one is marked later.
fn setting(candidate: &Candidate, shape: &Shape, source: &KernelSource) -> [Entry; 9] {
    let schedule = &candidate.schedule;
    let batches = batches(schedule);
    // E-vectors with stored geometry; or L-vectors with geometry from vertices, and the output zeroed
    // first.
    let vectors = match candidate.vectors {
        Vectors::Element { .. } => "element",
        Vectors::Nodal { .. } => "nodal",
    };
    [
        ("vectors", json!(vectors)),
        ("kernel", json!(schedule.name())),
        ("best", json!(false)),
        ("blocks_per_batch", json!(batches.map(|it| it.0))),
        ("batches_per_chunk", json!(batches.map(|it| it.1))),
        ("threads", json!(source.block.threads())),
        ("cells_per_block", json!(schedule.cells_per_block(shape))),
        ("data_together", json!(candidate.interleave.data)),
        ("vectors_together", json!(candidate.interleave.vectors)),
    ]
}

/// Flops and bytes by Knepley et al.'s equations 7 and 6, with the bytes for E-vectors, and their
/// prediction: these bytes at the rate of a copy.
fn set_published(record: &mut Record, candidate: &Candidate, shape: &Shape) {
    let blocks = batches(&candidate.schedule).map_or(1, |(blocks, _)| blocks);
    let model = Model::new(shape, blocks, record.precision.bytes());
    let cells = record.number("cells").unwrap_or_default() as u64;
    let (flops, seconds) = (cells * model.flops_per_cell(), record.seconds());
    let is_element = candidate.vectors == Vectors::ELEMENT;
    let bytes = is_element.then(|| cells * model.bytes_per_cell());
    let predicted = bytes.map(|bytes| bytes as f64 / record.ceilings.copy);
    record.set_bound("knepley", predicted);
    record.extras.extend([
        ("knepley_flops", json!(flops)),
        ("knepley_flop_rate", json!(flops as f64 / seconds)),
        ("knepley_bytes", json!(bytes)),
        (
            "knepley_byte_rate",
            json!(bytes.map(|it| it as f64 / seconds)),
        ),
        // The error of the prediction.
        (
            "knepley_deviation",
            json!(predicted.map(|it| seconds / it - 1.0)),
        ),
    ]);
}
