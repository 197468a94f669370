//! Conjugate gradients allocate nothing per iteration, on one thread and on several.

mod common;

use common::hexahedra;
use common::meshes::maps;
use femto::element::{Cell, Degree, MapKind};
use femto::fem::geometry::Geometry;
use femto::fem::space::{Block, Constraints, Space, SpaceParams};
use femto::kernel::form::Poisson;
use femto::multigrid::{FormLevel, Hierarchy, Multigrid, degrees};
use femto::platform::device::host::{Host, HostBuffer};
use femto::platform::device::{Device, DeviceError};
use femto::problem::{Constrained, MultigridParams};
use femto::solve::cg::{CgWorkspace, solve};
use femto::solve::{
    Iteration, Jacobi, LinearOperator, OperatorError, Preconditioner, Preconditioning,
    StopCriteria, System,
};
use femto::vector::{Projector, VectorOps};
use femto::{Operator, OperatorParams};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System as SystemAllocator;
use std::error::Error;
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

/// Half of the inverse of the diagonal, computed in a workspace.
struct Halved {
    host: Host,
    jacobi: Jacobi<f64, Host>,
    size: usize,
}

impl Preconditioner<f64, Host> for Halved {
    type Workspace = HostBuffer<f64>;

    fn workspace(&self, host: &Host) -> Result<HostBuffer<f64>, DeviceError> {
        host.zeros(self.size)
    }
    fn apply(
        &self,
        r: &HostBuffer<f64>,
        z: &mut HostBuffer<f64>,
        half: &mut HostBuffer<f64>,
    ) -> Result<(), OperatorError> {
        self.host.fill(0.0, half)?;
        self.host.axpy(0.5, r, half)?;
        self.jacobi.apply(half, z, &mut ())
    }
}

/// Makes every thread of the host work once: threads initialise themselves on first use.
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

// One test only: others in this process might allocate meanwhile.
#[test]
fn iterations_do_not_allocate() -> Result<(), Box<dyn Error>> {
    for threads in [1, 2, 3] {
        vector_operations(threads)?;
        element_operators(threads)?;
        multigrid(threads)?;
    }
    Ok(())
}

/// A cycle with levels of elements and of aggregates, in single precision.
fn multigrid(threads: usize) -> Result<(), Box<dyn Error>> {
    let host = Host::with_threads(threads)?;
    let mesh = hexahedra(MapKind::Multilinear, [8, 8, 8]);
    let params = SpaceParams {
        degree: 4.into(),
        ..SpaceParams::default()
    };
    let finest = Block::all(&mesh, Geometry::of_shapes(&mesh)?, params)?;
    let level = |degree: Degree| -> Result<_, Box<dyn Error>> {
        let blocks = match degree == 4 {
            true => finest.clone(),
            false => Block::of_lower_degree(&finest, degree)?,
        };
        let Block { space, geometry } = &blocks[0];
        let params = OperatorParams::default();
        Ok(FormLevel {
            constraints: Constraints::of_all_components(space, &["zmin", "zmax"])?,
            operator: Operator::<f32, _>::new(&host, space, geometry, &Poisson::<3>, params)?,
            blocks,
        })
    };
    let levels = degrees(Cell::Hexahedron, 4)
        .into_iter()
        .map(level)
        .collect::<Result<_, _>>()?;
    let mut hierarchy = Hierarchy::new(&host, levels, (MultigridParams::default(), false))?;
    let cycle = hierarchy.set_up()?;
    let multigrid = Multigrid::new(&hierarchy, &cycle)?;
    assert_eq!((hierarchy.sizes().len(), cycle.sizes().len()), (3, 2));
    let Block { space, geometry } = &finest[0];
    let constraints = Constraints::of_all_components(space, &["zmin", "zmax"])?;
    let params = OperatorParams::default();
    let operator = Operator::<f64, _>::new(&host, space, geometry, &Poisson::<3>, params)?;
    let projector = Projector::new(&host, &constraints)?;
    let mut b = host.upload(&vec![1.0; space.dofs()])?;
    projector.project(&host, &mut b)?;
    let constrained = Constrained::new(&operator, &projector);
    let preconditioning = Preconditioning::any(&host, multigrid)?;
    let iterations = preconditioned(&host, (&constrained, preconditioning), &b)?;
    assert!((4..=9).contains(&iterations), "{iterations}");
    Ok(())
}

/// Maximum number of solves until one does not allocate in an iteration.
const ATTEMPTS: usize = 3;

/// Solves with Jacobi's preconditioner; returns the number of iterations, none of which allocated.
fn solve_without_allocating(
    host: &Host,
    operator: &dyn LinearOperator<f64, Host>,
    (diagonal, b): (&HostBuffer<f64>, &HostBuffer<f64>),
) -> Result<usize, Box<dyn Error>> {
    let size = operator.size();
    let halved = Halved {
        host: host.clone(),
        jacobi: Jacobi::new(host, diagonal)?,
        size,
    };
    let mut iterations = 0;
    for preconditioning in [
        Preconditioning::any(host, &halved)?,
        Preconditioning::Jacobi(&halved.jacobi),
    ] {
        iterations = preconditioned(host, (operator, preconditioning), b)?;
    }
    Ok(iterations)
}

fn preconditioned(
    host: &Host,
    (operator, preconditioning): (
        &dyn LinearOperator<f64, Host>,
        Preconditioning<'_, f64, Host>,
    ),
    b: &HostBuffer<f64>,
) -> Result<usize, Box<dyn Error>> {
    let (threads, size) = (host.threads(), operator.size());
    let mut system = System {
        device: host,
        operator,
        preconditioning,
    };
    let mut workspace = CgWorkspace::new(host, size)?;
    // Occasionally a queue of the thread pool grows permanently: seen once with more threads than
    // processors.
    let (mut iterations, mut allocated) = (0, Vec::new());
    while !allocated.contains(&0) {
        assert!(
            allocated.len() < ATTEMPTS,
            "{allocated:?}, {threads} threads"
        );
        let mut x = host.zeros(size)?;
        for _ in 0..20 {
            wake(host, threads, &Barrier::new(threads));
        }
        let mut counts = Vec::with_capacity(1000);
        let mut monitor = |_: Iteration| {
            let stats = ALLOCATOR.stats();
            counts.push(stats.allocations + stats.reallocations);
            ControlFlow::Continue(())
        };
        let stop = StopCriteria::default();
        let info = solve(&mut system, b, &mut x, &mut workspace, &stop, &mut monitor)?;
        assert!(counts[0] > 0, "the allocator does not count");
        iterations = info.iterations();
        allocated.push(counts[counts.len() - 1] - counts[0]);
    }
    Ok(iterations)
}

fn vector_operations(threads: usize) -> Result<(), Box<dyn Error>> {
    const SIZE: usize = 100_000;
    let host = Host::with_threads(threads)?;
    let entries: Vec<f64> = (0..SIZE).map(|i| 1.0 + (i % 1000) as f64).collect();
    let operator = Diagonal {
        host: host.clone(),
        entries: host.upload(&entries)?,
    };
    let ones = host.upload(&[1.0; SIZE])?;
    assert!(solve_without_allocating(&host, &operator, (&ones, &ones))? > 50);
    Ok(())
}

/// Poisson on several chunks of each kind of map, with Dirichlet faces.
fn element_operators(threads: usize) -> Result<(), Box<dyn Error>> {
    let host = Host::with_threads(threads)?;
    for &map in maps(Cell::Hexahedron) {
        let mesh = hexahedra(map, [8, 8, 8]);
        let geometry = Geometry::new(&mesh)?;
        let params = SpaceParams {
            degree: 3.into(),
            chunk_nodes: 2000,
            ..SpaceParams::default()
        };
        let space = Space::new(&mesh, &geometry, params)?;
        assert!(space.restriction().chunks.len() > 4);
        let params = OperatorParams::default();
        let operator = Operator::new(&host, &space, &geometry, &Poisson::<3>, params)?;
        let constraints = Constraints::of_all_components(&space, &["xmin"])?;
        let projector = Projector::new(&host, &constraints)?;
        let constrained = Constrained::new(&operator, &projector);
        let mut diagonal = host.zeros(space.dofs())?;
        constrained.diagonal(&mut diagonal)?;
        let mut b = host.upload(&vec![1.0; space.dofs()])?;
        projector.project(&host, &mut b)?;
        assert!(solve_without_allocating(&host, &constrained, (&diagonal, &b))? > 25);
    }
    Ok(())
}
