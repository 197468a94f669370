//! Transfers and cycles by their definitions, on every cell.

mod matrices;
mod smoothers;

use super::aggregates::NearKernel;
use super::*;
use crate::operator::OperatorError;
use crate::solve::{LinearOperator, Preconditioner};
use crate::vector::{Projector, VectorOps};
use crate::{Operator, OperatorParams};
use femto_element::{Cell, CellType};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::boxes::{AnyBox, BoxMesh};
use femto_fem::mesh::{CellBlock, Mesh};
use femto_fem::space::{Constraints, Layout, SpaceParams};
use femto_kernel::form::{Form, LinearElasticity, Point, Poisson};
use femto_kernel::scalar::Scalar;
use femto_kernel::vector::random;
use femto_platform::device::accelerator::Accelerator;
use femto_platform::device::{Buffer, conformance};

/// An irregular box of straight cells.
fn mesh(cell: Cell) -> Mesh {
    let mesh = AnyBox {
        irregular: (!cell.is_tensor_product()).then_some(5),
        ..AnyBox::unit(cell, 3)
    };
    mesh.build(|[x, y, z]| [x + 0.2 * y, y - 0.1 * z, 0.9 * z])
        .unwrap()
}

fn blocks(mesh: &Mesh, degree: usize, components: usize) -> Vec<Block> {
    let params = SpaceParams {
        degree: degree.into(),
        components,
        ..SpaceParams::default()
    };
    Block::all(mesh, Geometry::of_shapes(mesh).unwrap(), params).unwrap()
}

/// A polynomial of this degree for each component.
fn polynomial(blocks: &[Block], degree: usize) -> Vec<f64> {
    let components = blocks[0].space.components();
    let value = |[x, y, z]: [f64; 3], c: usize| {
        let line = 0.4 + x - 0.7 * y + 0.3 * z + 0.1 * c as f64;
        line.powi(degree as i32) - y
    };
    let positions = Block::node_positions(blocks);
    let values = positions
        .iter()
        .flat_map(|&x| (0..components).map(move |c| value(x, c)));
    values.collect()
}

fn randoms(seed: u32, len: usize) -> Vec<f64> {
    (0..len).map(|n| random::entry(seed, n as u32)).collect()
}

fn apply(transfer: &transfer::Transfer<f64, Host>, x: &[f64]) -> Vec<f64> {
    let host = Host::with_threads(2).unwrap();
    let mut scratch = host.upload(&vec![f64::NAN; transfer.scratch()]).unwrap();
    let mut y = host.upload(&vec![f64::NAN; transfer.rows()]).unwrap();
    transfer
        .apply(&host.upload(x).unwrap(), &mut scratch, false, &mut y)
        .unwrap();
    y.to_vec()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// Prolongation keeps polynomials of the lower degree, and restriction is its transpose.
fn transfers_hold(mesh: &Mesh) {
    let host = Host::with_threads(2).unwrap();
    for (low, high, components) in [(1, 2, 1), (1, 3, 2), (2, 4, 1), (4, 8, 1)] {
        let fine = blocks(mesh, high, components);
        let coarse = Block::of_lower_degree(&fine, low).unwrap();
        let pairing = Pairing::new(&coarse, &fine).unwrap();
        let up = pairing.interpolation(&host, 0).unwrap();
        let down = pairing.transposed(&host, 1).unwrap();
        let found = apply(&up, &polynomial(&coarse, low));
        let worst = largest_difference(&found, &polynomial(&fine, low));
        assert!(worst < 1e-12, "{low} to {high}: {worst:.1e}");
        let (x, y) = (randoms(1, down.rows()), randoms(2, up.rows()));
        let products = [dot(&apply(&up, &x), &y), dot(&x, &apply(&down, &y))];
        let scale = dot(&y, &y);
        assert!(
            (products[0] - products[1]).abs() < 1e-13 * scale,
            "{low} to {high}: {products:?}"
        );
        // The state of a nonlinear form, from above.
        let state = pairing.interpolation(&host, 1).unwrap();
        let found = apply(&state, &polynomial(&fine, low));
        let worst = largest_difference(&found, &polynomial(&coarse, low));
        assert!(worst < 1e-12, "{high} to {low}: {worst:.1e}");
    }
}

#[test]
fn transfers_hold_on_every_cell() {
    for cell in [
        Cell::Quadrilateral,
        Cell::Triangle,
        Cell::Tetrahedron,
        Cell::Hexahedron,
    ] {
        transfers_hold(&mesh(cell));
    }
}

/// The hierarchy of Poisson's operator with u = 0 on two sides.
fn hierarchy<T: crate::Number, D>(
    device: &D,
    mesh: &Mesh,
    (degree, smoother): (usize, SmootherKind),
) -> Hierarchy<T, D>
where
    D: crate::operator::Backend + VectorOps<T>,
{
    let finest = blocks(mesh, degree, 1);
    let cell = finest[0].space.cell();
    let level = |level_degree| {
        let blocks = match level_degree == degree {
            true => finest.clone(),
            false => Block::of_lower_degree(&finest, level_degree).unwrap(),
        };
        let geometry = &blocks[0].geometry;
        let constraints = Constraints::of_blocks(&blocks, &[("xmin", &[0][..]), ("ymax", &[0])]);
        let params = OperatorParams::default();
        let operator =
            Operator::new(device, &blocks[0].space, geometry, &Poisson::<3>, params).unwrap();
        FormLevel {
            constraints: constraints.unwrap(),
            operator,
            blocks,
        }
    };
    let levels = degrees(cell, degree).into_iter().map(level).collect();
    let params = MultigridParams {
        smoother,
        ..MultigridParams::default()
    };
    Hierarchy::new(device, levels, (params, false)).unwrap()
}

/// A degree, a smoother, and whether degree 1 is corrected twice.
type Kind = (usize, SmootherKind, bool);

/// A mesh for each kind of level.
fn samples() -> [(Mesh, Kind); 4] {
    [
        (large(9), (2, SmootherKind::Diagonal, false)),
        (large(9), (2, SmootherKind::Diagonal, true)),
        (large(9), (3, SmootherKind::Schwarz, false)),
        (mesh(Cell::Tetrahedron), (3, SmootherKind::Automatic, false)),
    ]
}

/// z = M⁻¹ r of the cycle on a device.
fn cycle<T: crate::Number, D>(
    device: &D,
    mesh: &Mesh,
    (degree, smoother, twice): Kind,
    inputs: &[Vec<f64>],
) -> Vec<Vec<f64>>
where
    D: crate::operator::Backend + VectorOps<T> + VectorOps<f64>,
{
    device.enter(|| {
        let mut hierarchy = hierarchy::<T, D>(device, mesh, (degree, smoother));
        let mut cycle = hierarchy.set_up().unwrap();
        cycle.twice = twice;
        let multigrid = Multigrid::new(&hierarchy, &cycle).unwrap();
        let mut workspace = Preconditioner::<f64, D>::workspace(&multigrid, device).unwrap();
        let run = |r: &Vec<f64>| {
            let mut held = device.upload(r).unwrap();
            let entries = &hierarchy.levels[0].projector.entries;
            VectorOps::<f64>::set_entries(device, entries, 0.0, &mut held).unwrap();
            let mut z = device.upload(&vec![f64::NAN; r.len()]).unwrap();
            multigrid.apply(&held, &mut z, &mut workspace).unwrap();
            let mut found = vec![f64::NAN; z.len()];
            device.read(&z, &mut found).unwrap();
            found
        };
        inputs.iter().map(run).collect()
    })
}

/// Large enough for a level of aggregates.
fn large(n: usize) -> Mesh {
    BoxMesh::unit_cube(n)
        .build(|[x, y, z]| [x + 0.1 * (3.0 * y).sin(), y, z + 0.1 * x * y])
        .unwrap()
}

#[test]
fn a_cycle_is_symmetric_and_positive() {
    let host = Host::with_threads(2).unwrap();
    for (mesh, kind) in samples() {
        let len = blocks(&mesh, kind.0, 1)[0].space.dofs();
        let inputs = [randoms(3, len), randoms(4, len)];
        let z = cycle::<f64, _>(&host, &mesh, kind, &inputs);
        // Both are zero at constrained entries.
        let [ab, ba] = [dot(&inputs[0], &z[1]), dot(&inputs[1], &z[0])];
        let [aa, bb] = [dot(&inputs[0], &z[0]), dot(&inputs[1], &z[1])];
        assert!((ab - ba).abs() < 1e-12 * aa, "{ab} {ba} {aa}");
        assert!(aa > 0.0 && bb > 0.0 && aa * bb > ab * ab);
    }
}

#[test]
fn the_cycle_of_another_hierarchy_is_refused() {
    let host = Host::with_threads(2).unwrap();
    let of_degree =
        |degree| hierarchy::<f64, _>(&host, &large(3), (degree, SmootherKind::Diagonal));
    let (first, mut other) = (of_degree(2), of_degree(3));
    let cycle = other.set_up().unwrap();
    assert!(Multigrid::new(&other, &cycle).is_ok());
    let error = Multigrid::new(&first, &cycle).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, MultigridError::OtherCycle { .. }),
        "{error}"
    );
}

#[test]
fn a_cycle_has_the_same_bits_for_any_number_of_threads() {
    for (mesh, kind) in samples() {
        let len = blocks(&mesh, kind.0, 1)[0].space.dofs();
        let inputs = [randoms(5, len)];
        let found = [1, 2, 3].map(|threads| {
            let host = Host::with_threads(threads).unwrap();
            cycle::<f32, _>(&host, &mesh, kind, &inputs)
        });
        assert!(found[0] == found[1] && found[0] == found[2], "{kind:?}");
    }
}

/// On a device that compiles kernels a cycle is the host's, up to rounding.
fn cycles_agree(device: &Accelerator) {
    let host = Host::with_threads(2).unwrap();
    for (mesh, kind) in samples() {
        let len = blocks(&mesh, kind.0, 1)[0].space.dofs();
        let inputs = [randoms(6, len)];
        let here = cycle::<f64, _>(&host, &mesh, kind, &inputs);
        for (there, tolerance) in [
            (cycle::<f64, _>(device, &mesh, kind, &inputs), 1e-11),
            (cycle::<f32, _>(device, &mesh, kind, &inputs), 1e-4),
        ] {
            let largest = here[0].iter().fold(0.0_f64, |m, z| m.max(z.abs()));
            let worst = here[0].iter().zip(&there[0]).map(|(a, b)| (a - b).abs());
            let worst = worst.fold(0.0, f64::max) / largest;
            assert!(worst < tolerance, "{kind:?}: {worst:.1e}");
        }
    }
}

#[test]
fn cycles_agree_on_opencl() {
    conformance::with(Accelerator::opencl(0), |device: &Accelerator| {
        cycles_agree(device)
    });
}

#[test]
fn cycles_agree_on_cuda() {
    conformance::with(Accelerator::cuda(0), |device: &Accelerator| {
        cycles_agree(device)
    });
}

/// Once applied, a cycle is work that can be captured, so it neither allocates nor reads anything back; launched again it
/// corrects what the residual holds then.
fn cycles_are_captured(device: &Accelerator) {
    if !device.features().graphs {
        return;
    }
    for (mesh, (degree, smoother, twice)) in samples() {
        let mut hierarchy = hierarchy::<f32, _>(device, &mesh, (degree, smoother));
        let mut cycle = hierarchy.set_up().unwrap();
        cycle.twice = twice;
        let multigrid = Multigrid::new(&hierarchy, &cycle).unwrap();
        let mut workspace = Preconditioner::<f64, _>::workspace(&multigrid, device).unwrap();
        let len = blocks(&mesh, degree, 1)[0].space.dofs();
        let residual = |seed| {
            let mut r = device.upload(&randoms(seed, len)).unwrap();
            let entries = &hierarchy.levels[0].projector.entries;
            VectorOps::<f64>::set_entries(device, entries, 0.0, &mut r).unwrap();
            r
        };
        let (mut r, other) = (residual(7), residual(8));
        let mut z = device.upload(&vec![f64::NAN; len]).unwrap();
        let mut read = vec![0.0; len];
        multigrid.apply(&other, &mut z, &mut workspace).unwrap();
        device.read(&z, &mut read).unwrap();
        let wanted = read.clone();
        let mut apply = || {
            let applied = multigrid.apply(&r, &mut z, &mut workspace);
            applied.map_err(|error| match error {
                OperatorError::Device(error) => error,
                other => panic!("{other}"),
            })
        };
        let graph = device.capture(&mut apply).unwrap();
        VectorOps::<f64>::copy(device, &other, &mut r).unwrap();
        VectorOps::<f64>::fill(device, f64::NAN, &mut z).unwrap();
        device.launch_graph(&graph).unwrap();
        device.read(&z, &mut read).unwrap();
        let largest = wanted.iter().fold(0.0_f64, |m, z| m.max(z.abs()));
        let differences = read.iter().zip(&wanted).map(|(a, b)| (a - b).abs());
        let worst = differences.fold(0.0, f64::max) / largest;
        // A NaN is not small.
        assert!(
            read.iter().all(|z| z.is_finite()) && worst < 1e-5,
            "degree {degree}: {worst:.1e}"
        );
    }
}

#[test]
fn cycles_are_captured_on_cuda() {
    conformance::with(Accelerator::cuda(0), |device: &Accelerator| {
        cycles_are_captured(device)
    });
}

#[test]
fn parameters_and_layouts_are_checked() {
    let host = Host::with_threads(1).unwrap();
    let mesh = mesh(Cell::Hexahedron);
    let refusal_of = |(layout, degree, held): (Layout, usize, u32), params: MultigridParams| {
        let space = SpaceParams {
            components: 3,
            layout,
            degree: degree.into(),
            ..SpaceParams::default()
        };
        let blocks = Block::all(&mesh, Geometry::of_shapes(&mesh).unwrap(), space).unwrap();
        let Block { space, geometry } = &blocks[0];
        let form = LinearElasticity::<3>::from_young(1.0, 0.25);
        let operator = Operator::new(&host, space, geometry, &form, OperatorParams::default());
        let level = FormLevel {
            constraints: Constraints::of_entries(vec![0, 1, held]),
            operator: operator.unwrap(),
            blocks,
        };
        Hierarchy::<f64, _>::new(&host, vec![level], (params, false)).err()
    };
    let refusal = |layout, params| refusal_of((layout, 1, 2), params);
    let wrong = MultigridParams {
        safety: f64::NAN,
        ..MultigridParams::default()
    };
    let [interleaved, blocked] = [Layout::Interleaved, Layout::Blocked];
    assert_eq!(refusal(interleaved, MultigridParams::default()), None);
    let found = refusal(blocked, MultigridParams::default());
    assert_eq!(found, Some(MultigridError::Layout));
    let found = refusal(interleaved, wrong);
    assert!(matches!(found, Some(MultigridError::Safety { .. })));
    let found = refusal_of((interleaved, 2, 2), MultigridParams::default());
    assert_eq!(
        found,
        Some(MultigridError::Degrees {
            found: vec![2.into()]
        })
    );
    let found = refusal_of((interleaved, 1, 1 << 20), MultigridParams::default());
    assert_eq!(
        found,
        Some(MultigridError::OtherConstraints { degree: 1.into() })
    );
}
