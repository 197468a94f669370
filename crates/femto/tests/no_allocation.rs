//! Conjugate gradients allocate nothing per iteration, on one thread and on several.

use femto::platform::device::Device;
use femto::platform::device::host::{Host, HostBuffer};
use femto::solve::cg::{CgParams, CgWorkspace, System, solve};
use femto::solve::{Jacobi, LinearOperator, OperatorError};
use femto::vector::VectorOps;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System as SystemAllocator;
use std::ops::ControlFlow;
use std::sync::Barrier;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<SystemAllocator> = &INSTRUMENTED_SYSTEM;

/// A diagonal matrix, applied with the vector operations themselves.
struct Diagonal {
    host: Host,
    entries: HostBuffer<f64>,
}

impl LinearOperator<f64, Host> for Diagonal {
    fn size(&self) -> usize {
        self.entries.len()
    }
    fn apply(&self, u: &HostBuffer<f64>, v: &mut HostBuffer<f64>) -> Result<(), OperatorError> {
        self.host.copy(u, v)?;
        Ok(self.host.multiply(&self.entries, v)?)
    }
}

/// Makes every thread of the host work once: a thread sets itself up when it first does.
fn wake(host: &Host, threads: usize, all_awake: &Barrier) {
    if threads == 1 {
        all_awake.wait();
    } else {
        let half = threads / 2;
        host.join(
            || wake(host, half, all_awake),
            || wake(host, threads - half, all_awake),
        );
    }
}

// One test only: others in this process would allocate meanwhile.
#[test]
fn iterations_do_not_allocate() {
    const SIZE: usize = 100_000;
    for threads in [1, 2, 3] {
        let host = Host::with_threads(threads).unwrap();
        let entries: Vec<f64> = (0..SIZE).map(|i| 1.0 + (i % 1000) as f64).collect();
        let operator = Diagonal {
            host: host.clone(),
            entries: host.upload(&entries).unwrap(),
        };
        let ones = host.upload(&[1.0; SIZE]).unwrap();
        let jacobi = Jacobi::new(&host, &ones).unwrap();
        let system = System {
            device: &host,
            operator: &operator,
            preconditioner: &jacobi,
        };
        let mut workspace = CgWorkspace::new(&host, SIZE).unwrap();
        let mut x = host.zeros(SIZE).unwrap();
        for _ in 0..20 {
            wake(&host, threads, &Barrier::new(threads));
        }

        let mut counts = Vec::with_capacity(1000);
        let mut observer = |_| {
            let stats = ALLOCATOR.stats();
            counts.push(stats.allocations + stats.reallocations);
            ControlFlow::Continue(())
        };
        let params = CgParams::default();
        let info = solve(
            &system,
            &ones,
            &mut x,
            &mut workspace,
            &params,
            &mut observer,
        )
        .unwrap();
        assert!(info.iterations > 50);
        assert!(counts[0] > 0, "the allocator does not count");
        assert_eq!(counts.last(), counts.first(), "{threads} threads");
    }
}
