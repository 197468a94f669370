//! The published ladders, step by step, run with numbers that count: where each step of those of simplices keeps its data,
//! so that a translation with the right result and the wrong memory fails; and that hexahedral steps access shared memory
//! as often and have as many barriers as their schedules say.
//!
//! Needs a C++ compiler; without one the tests are left out with a note, unless `FEMTO_REQUIRE` lists `c++`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::print_stderr,
    reason = "a test that leaves something out says so"
)]

mod count;

use count::{Access, Counts, Text, count, count_text};
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::affine_simplex::{self, Matrices, ladder};
use femto_kernel::family::hex_published::ladder::{LaunchPlan, source as ladder_source};
use femto_kernel::family::hex_published::schedule::BlockWork;
use femto_kernel::family::{Limits, Vectors, element_matrix, hex_published};
use femto_kernel::scalar::Precision;

/// Degree, nodes, and elements of a thread and side by side of the steps that are tuned.
const DEGREE: usize = 2;
const NODES: u64 = 10;
const PER_THREAD: u32 = 3;
const ASIDE: u32 = 2;

/// Shared memory, in all texts.
const SHARED: &str = "s_memory";

fn access(reads: u64, writes: u64) -> Access {
    Access { reads, writes }
}

fn affine(step: &ladder::Step) -> Option<Counts> {
    let basis = LagrangeBasis::new(Cell::Tetrahedron, DEGREE).unwrap();
    let rule = rule(Cell::Tetrahedron, 2 * DEGREE).unwrap();
    let tables = DenseTables::in_space(&basis, &rule, 3);
    let problem = affine_simplex::source::KernelSpec {
        matrices: &Matrices::on_devices(&tables, (true, true)).for_kernels(Precision::Fp64),
        components: 1,
        vectors: Vectors::Element {
            listed: step.listed(),
        },
        precision: Precision::Fp64,
        language: Language::OpenCl,
    };
    count(&problem.source(&step.with(PER_THREAD, ASIDE, 1)))
}

/// Karakus, Warburton et al. (2018), "Finite Element Stiffness Matrix Action: monolithic kernel optimization".
#[test]
fn steps_of_affine_tetrahedra_keep_data_where_they_were_published() {
    for step in ladder::steps() {
        let Some(found) = affine(&step) else { return };
        let number = step.number;
        let what = format!("step {number}");
        let matrices = if number < 6 { 10 } else { 7 };
        let elements = u64::from(match number {
            0..7 => 1,
            7 => PER_THREAD,
            _ => PER_THREAD * ASIDE,
        });
        let aside = if number < 8 { 1 } else { u64::from(ASIDE) };
        // u: from global memory for every matrix, then once a column, then once, into shared memory.
        let outputs = elements * NODES;
        let u = match number {
            0..3 => NODES * matrices,
            3 => NODES,
            _ => 1,
        };
        assert_eq!(found.of("g_u"), access(outputs * u, 0), "{what}: u");
        assert_eq!(found.of("g_v"), access(0, outputs), "{what}: v");
        // An entry of a matrix is read once for all elements of a thread, never from shared memory.
        let tables = aside * NODES * NODES * matrices;
        assert_eq!(found.of("g_tables"), access(tables, 0), "{what}: matrices");
        // Factors: in registers, then in shared memory, then in registers again.
        let in_shared = (5..10).contains(&number);
        let factors = if in_shared { elements } else { outputs } * 7;
        assert_eq!(
            found.of("g_geometry"),
            access(factors, 0),
            "{what}: factors"
        );
        let shared = match number {
            0..4 => None,
            _ if in_shared => Some(access(outputs * (NODES + matrices), outputs + 7 * elements)),
            _ => Some(access(outputs * NODES, outputs)),
        };
        assert_eq!(found.get(SHARED), shared, "{what}: shared memory");
        assert_eq!(found.barriers, u64::from(number >= 4), "{what}: barriers");
        // Before the columns, or just in time after them.
        let (factors, entries) = (found.times("g_geometry"), found.times("g_tables"));
        match number {
            10 => assert!(factors.first > entries.last, "{what}: factors late"),
            _ => assert!(factors.last < entries.first, "{what}: factors early"),
        }
        // The factors of all elements of a block one after the other, or an element at a time.
        let own = match number {
            5..9 => elements / aside,
            9 => (7 * elements).div_ceil(NODES * aside),
            _ => 7 * elements / aside,
        };
        assert_eq!(factors.reads, own, "{what}: factors of a thread");
        assert_eq!(found.unconst, number == 0, "{what}: const");
        assert_eq!(found.unrolled, number >= 2, "{what}: unrolled columns");
    }
}

/// Element matrices on E-vectors of one component.
fn stored(nodes: usize) -> element_matrix::source::KernelSpec {
    element_matrix::source::KernelSpec {
        nodes,
        components: 1,
        coupled: 1,
        vectors: Vectors::Element { listed: false },
        precision: Precision::Fp64,
        language: Language::OpenCl,
    }
}

/// Karakus, Warburton et al. (2018), "Finite Element Stiffness Matrix Action: to precompute or not to precompute".
#[test]
fn steps_of_element_matrices_keep_data_where_they_were_published() {
    for step in element_matrix::ladder::steps() {
        let problem = stored(NODES as usize);
        let Some(found) = count(&problem.source(&step.with(ASIDE))) else {
            return;
        };
        let what = format!("step {}", step.number);
        let elements = if step.number == 0 {
            1
        } else {
            u64::from(ASIDE)
        };
        let outputs = elements * NODES;
        assert_eq!(found.of("g_u"), access(outputs, 0), "{what}: u");
        assert_eq!(found.of("g_v"), access(0, outputs), "{what}: v");
        let entries = found.of("g_matrices");
        assert_eq!(entries, access(outputs * NODES, 0), "{what}: matrices");
        assert_eq!(
            found.of(SHARED),
            access(outputs * NODES, outputs),
            "{what}: shared memory"
        );
        assert_eq!(found.barriers, 1, "{what}: barriers");
        let stride = if step.number == 2 { outputs } else { NODES };
        assert_eq!(
            found.times("g_matrices").stride,
            stride as i64,
            "{what}: columns"
        );
        assert!(found.unrolled, "{what}: unrolled columns");
    }
}

/// Świrydowicz et al. (2019), eq. 13: reads and writes of shared memory by a block, and barriers.
#[test]
fn hexahedral_steps_access_shared_memory_as_often_as_their_schedules_say() {
    let steps = hex_published::ladder::steps();
    std::thread::scope(|scope| {
        for steps in steps.chunks(steps.len().div_ceil(4)) {
            scope.spawn(|| steps.iter().for_each(compare_block_work));
        }
    });
}

/// Even and odd numbers of nodes.
fn compare_block_work(step: &hex_published::ladder::Step) {
    for degree in [3, 4] {
        let (sizes, limits) = (step.benchmark.sizes(degree), Limits::default());
        let source = ladder_source(step, sizes, Language::OpenCl, Precision::Fp32, &limits);
        let source = source.unwrap();
        let launch = |it: &LaunchPlan| (it.entry, it.block.threads);
        let text = Text {
            text: &source.text,
            parameters: "real lambda, real *g_interp, real *g_grad, real *g_factors, real *g_u, real *g_v, \
                         real *g_scratch",
            launches: source.launches.iter().map(launch).collect(),
            elements: 1,
        };
        let Some(found) = count_text(&text) else {
            return;
        };
        let shared = found.of(SHARED);
        let found = BlockWork {
            reads: shared.reads,
            writes: shared.writes,
            barriers: found.barriers,
        };
        let stated = step.schedule.block_work(sizes);
        assert_eq!(found, stated, "{step}, degree {degree}");
    }
}

/// Flops of an element as the paper's table has them, N = 1..8.
#[test]
fn flops_are_those_published() {
    const TEN: [u64; 8] = [400, 2200, 8400, 25_200, 63_840, 142_800, 290_400, 547_800];
    for (degree, flops) in (1..=8).zip(TEN) {
        let basis = LagrangeBasis::new(Cell::Tetrahedron, degree).unwrap();
        let rule = rule(Cell::Tetrahedron, 2 * degree).unwrap();
        let tables = DenseTables::in_space(&basis, &rule, 3);
        let matrices = Matrices::on_devices(&tables, (true, true));
        assert_eq!(matrices.flops(10), flops, "degree {degree}");
        assert_eq!(matrices.flops(7), flops / 10 * 7, "degree {degree}");
    }
}

/// Nodes per second that 800 GB/s allow with stored matrices, as published: B / (s (N_p + 2)).
#[test]
fn bounds_of_element_matrices_are_those_published() {
    const PUBLISHED: [f64; 8] = [16.7, 8.3, 4.5, 2.7, 1.7, 1.2, 0.8, 0.6];
    const ELEMENTS: usize = 320_000;
    for (degree, published) in (1..=8).zip(PUBLISHED) {
        let nodes = (degree + 1) * (degree + 2) * (degree + 3) / 6;
        let problem = stored(nodes);
        let schedule = element_matrix::ladder::steps()[0].schedule;
        let work = problem.work(&schedule, ELEMENTS);
        assert_eq!(
            problem.layout(&schedule).len(ELEMENTS),
            ELEMENTS * nodes * nodes
        );
        assert_eq!(work.flops, (ELEMENTS * 2 * nodes * nodes) as u64);
        let seconds = (work.bytes_read + work.bytes_written) as f64 / 800e9;
        let rate = (ELEMENTS * nodes) as f64 / seconds / 1e9;
        assert!((rate - published).abs() < 0.05, "degree {degree}: {rate}");
    }
}
