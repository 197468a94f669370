//! Candidate schedules of the benchmark on simplices.

use super::{SimplexCase, SimplexMesh};
use femto_kernel::family::Scatter;
use femto_kernel::family::Vectors;
use femto_kernel::family::cell_quadrature::schedule::{
    BlockLocal, CellPerThread, PointAtATime, Schedule, Transposition,
};
use femto_kernel::family::cell_quadrature::source::Interleave;

/// A selection of schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All schedules listed here.
    All,
    /// One or two of each kind, known or expected to be the best.
    Best,
    /// Knepley et al.'s Table 2: their kernel with their numbers of blocks per batch and batches per chunk.
    Table2,
}

/// A schedule, its vectors, and the memory layout of arrays over cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// E-vectors, with stored geometry; or L-vectors, with geometry from vertices.
    pub vectors: Vectors,
    /// Interleaving of cells.
    pub interleave: Interleave,
    /// The schedule.
    pub schedule: Schedule,
}

/// L-vectors with the components of a node adjacent, summed by atomic additions.
pub(super) const NODAL: Vectors = Vectors::Nodal {
    interleaved: true,
    scatter: Scatter::Atomic,
};

/// Interleaved cells in arrays read by neighbouring threads: a warp.
pub(super) const INTERLEAVED: usize = 32;

/// Knepley et al.'s Table 2.
const BLOCKS_PER_BATCH: [u32; 6] = [16, 20, 24, 28, 32, 36];
const BATCHES_PER_CHUNK: [u32; 4] = [4, 8, 12, 16];
/// Other numbers of both.
const OTHERS: [(u32, u32); 11] = [
    (1, 4),
    (2, 4),
    (4, 4),
    (8, 4),
    (12, 4),
    (48, 4),
    (64, 4),
    (80, 4),
    (16, 1),
    (32, 1),
    (64, 1),
];
/// Those for which other knobs are varied.
const TURNED: [(u32, u32); 3] = [(32, 8), (64, 4), (64, 1)];
const THREADS: [u32; 3] = [64, 128, 256];
/// Fans per block with lists of nodes, and maximum cells per fan; see [`SimplexMesh::new`].
pub(super) type Fans = (u32, u32);
pub(super) const FANS: [Fans; 11] = [
    (128, 1),
    (256, 1),
    (512, 1),
    (64, 4),
    (128, 4),
    (64, 6),
    (128, 6),
    (256, 6),
    (64, 8),
    (128, 8),
    (256, 8),
];

/// The candidates of a case on a mesh; some are illegal on devices with small blocks.
pub fn candidates(case: &SimplexCase, selection: Selection, mesh: &SimplexMesh) -> Vec<Candidate> {
    match selection {
        Selection::All => {
            let mut all = table2();
            all.extend(transpositions(case.components() > 1));
            all.extend(cell_schedules());
            all.extend(nodal_schedules(mesh));
            all
        }
        Selection::Best => best(case, mesh),
        Selection::Table2 => table2(),
    }
}

pub(super) const fn element(schedule: Schedule, interleave: Interleave) -> Candidate {
    Candidate {
        vectors: Vectors::ELEMENT,
        interleave,
        schedule,
    }
}

/// Knepley et al.'s kernel: a thread per component, and no other knobs.
pub(super) const fn plain((blocks_per_batch, batches_per_chunk): (u32, u32)) -> Transposition {
    Transposition {
        blocks_per_batch,
        batches_per_chunk,
        by_component: true,
        padded: false,
        prefetch: false,
        blocks_per_unit: 1,
    }
}

pub(super) const fn transposition(it: Transposition) -> Candidate {
    element(Schedule::Transposition(it), Interleave::NONE)
}

fn table2() -> Vec<Candidate> {
    let row =
        |blocks: u32| BATCHES_PER_CHUNK.map(|batches| transposition(plain((blocks, batches))));
    BLOCKS_PER_BATCH.into_iter().flat_map(row).collect()
}

/// Other numbers of blocks and batches, and the other knobs.
fn transpositions(several_components: bool) -> Vec<Candidate> {
    let mut all: Vec<_> = OTHERS.iter().map(|&n| transposition(plain(n))).collect();
    for numbers in TURNED {
        for (by_component, padded, prefetch) in [
            (true, true, false),
            (true, false, true),
            (true, true, true),
            (false, false, false),
            (false, true, false),
            (false, false, true),
            (false, true, true),
        ] {
            if by_component || several_components {
                all.push(transposition(Transposition {
                    by_component,
                    padded,
                    prefetch,
                    ..plain(numbers)
                }));
            }
        }
    }
    all
}

pub(super) const fn cells(threads: u32, staged: bool, padded: bool) -> Schedule {
    Schedule::CellPerThread(CellPerThread {
        threads,
        staged,
        padded,
        blocks_per_unit: 1,
    })
}

pub(super) const fn together(data: usize, vectors: usize) -> Interleave {
    Interleave { data, vectors }
}

/// The other kernels on E-vectors.
fn cell_schedules() -> Vec<Candidate> {
    let mut all = Vec::new();
    for threads in THREADS {
        for (staged, padded) in [(false, false), (true, false), (true, true)] {
            all.push(element(cells(threads, staged, padded), Interleave::NONE));
        }
        for interleave in [together(INTERLEAVED, 1), together(INTERLEAVED, INTERLEAVED)] {
            all.push(element(cells(threads, false, false), interleave));
        }
    }
    for cells_per_block in [16, 32, 64] {
        let points = PointAtATime {
            cells_per_block,
            blocks_per_unit: 1,
        };
        all.push(element(Schedule::PointAtATime(points), Interleave::NONE));
    }
    all
}

fn nodal(schedule: Schedule, data: usize) -> Candidate {
    Candidate {
        vectors: NODAL,
        interleave: together(data, 1),
        schedule,
    }
}

fn block_local(
    mesh: &SimplexMesh,
    fans: Fans,
    (threads, blocks_per_unit): (u32, u32),
) -> Candidate {
    let lists = BlockLocal {
        threads,
        fans_per_block: fans.0,
        fan_cells: fans.1,
        block_nodes: mesh.block_nodes(fans),
        blocks_ahead: BlockLocal::AHEAD,
        blocks_per_unit,
    };
    nodal(Schedule::BlockLocal(lists), 1)
}

fn nodal_schedules(mesh: &SimplexMesh) -> Vec<Candidate> {
    let mut all = Vec::new();
    for threads in THREADS {
        for data in [1, INTERLEAVED] {
            all.push(nodal(cells(threads, false, false), data));
        }
    }
    for fans in [(128, 4), (128, 6), (128, 8)] {
        for blocks_per_unit in [4, 5, 6, 8] {
            all.push(block_local(mesh, fans, (128, blocks_per_unit)));
        }
    }
    for fans in FANS {
        for threads in THREADS {
            // Fans of several cells need as many threads.
            let suits = if fans.1 == 1 {
                threads <= fans.0
            } else {
                threads == fans.0
            };
            if suits {
                all.push(block_local(mesh, fans, (threads, 1)));
            }
        }
    }
    all
}

/// To be updated with new measurements.
fn best(case: &SimplexCase, mesh: &SimplexMesh) -> Vec<Candidate> {
    vec![
        transposition(plain((32, 8))),
        transposition(Transposition {
            by_component: case.components() == 1,
            ..plain((64, 1))
        }),
        element(cells(128, false, false), Interleave::NONE),
        element(cells(128, true, true), Interleave::NONE),
        element(cells(128, false, false), together(INTERLEAVED, INTERLEAVED)),
        nodal(cells(128, false, false), 1),
        nodal(cells(128, false, false), INTERLEAVED),
        block_local(mesh, (256, 1), (128, 1)),
        block_local(mesh, (128, 4), (128, 1)),
        block_local(mesh, (128, 4), (128, 6)),
        block_local(mesh, (128, 8), (128, 1)),
        block_local(mesh, (128, 8), (128, 8)),
        block_local(mesh, (128, 6), (128, 1)),
        block_local(mesh, (128, 6), (128, 6)),
        block_local(mesh, (128, 6), (128, 8)),
    ]
}
