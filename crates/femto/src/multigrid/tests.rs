//! Transfers and cycles by their definitions, on every cell.

use super::aggregates::NearKernel;
use super::*;
use crate::solve::{LinearOperator, Preconditioner};
use crate::vector::{Projector, VectorOps};
use crate::{Operator, OperatorParams};
use femto_element::{Cell, CellType};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::boxes::{AnyBox, BoxMesh};
use femto_fem::mesh::{CellBlock, Mesh};
use femto_fem::space::{Constraints, SpaceParams};
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
        degree,
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
        let worst = found
            .iter()
            .zip(polynomial(&fine, low))
            .map(|(a, b)| (a - b).abs());
        let worst = worst.fold(0.0, f64::max);
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
        let worst = found
            .iter()
            .zip(polynomial(&coarse, low))
            .map(|(a, b)| (a - b).abs());
        assert!(worst.fold(0.0, f64::max) < 1e-12, "{high} to {low}");
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

/// A mesh, a degree and a smoother for each kind of level.
fn samples() -> [(Mesh, (usize, SmootherKind)); 3] {
    [
        (large(9), (2, SmootherKind::Diagonal)),
        (large(9), (3, SmootherKind::Schwarz)),
        (mesh(Cell::Tetrahedron), (3, SmootherKind::Automatic)),
    ]
}

/// z = M⁻¹ r of the cycle on a device.
fn cycle<T: crate::Number, D>(
    device: &D,
    mesh: &Mesh,
    kind: (usize, SmootherKind),
    inputs: &[Vec<f64>],
) -> Vec<Vec<f64>>
where
    D: crate::operator::Backend + VectorOps<T> + VectorOps<f64>,
{
    device.enter(|| {
        let mut hierarchy = hierarchy::<T, D>(device, mesh, kind);
        let cycle = hierarchy.set_up().unwrap();
        let multigrid = Multigrid {
            hierarchy: &hierarchy,
            cycle: &cycle,
        };
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

/// The probed matrix times a random vector is the operator's product with it.
fn the_matrix_has_the_products(level: &hierarchy::ConstrainedLevel<f64, Host>) {
    let (blocks, is_held) = (&level.blocks, level.is_held());
    let (host, len) = (level.operator.device(), is_held.len());
    let matrix = level.probe(&Graph::new(blocks)).matrix(host).unwrap();
    let mut x = host.upload(&randoms(7, len)).unwrap();
    level.hold(&mut x).unwrap();
    let mut wanted = host.zeros(len).unwrap();
    level.apply(&x, &mut wanted).unwrap();
    for (row, &wanted) in wanted.iter().enumerate() {
        let found: f64 = matrix
            .row(row)
            .map(|(column, a)| a * x[column as usize])
            .sum();
        assert!(
            (found - wanted).abs() < 1e-13,
            "{:?} row {row}: {found} {wanted}",
            blocks[0].space.cell()
        );
        let identity = is_held[row].then_some(1.0);
        assert_eq!(
            matrix.diagonal()[row],
            identity.unwrap_or(matrix.diagonal()[row])
        );
    }
}

#[test]
fn the_matrix_of_an_operator_has_its_products() {
    let host = Host::with_threads(2).unwrap();
    for cell in [Cell::Hexahedron, Cell::Tetrahedron] {
        let hierarchy = hierarchy::<f64, _>(&host, &mesh(cell), (1, SmootherKind::Automatic));
        the_matrix_has_the_products(&hierarchy.levels[0]);
    }
}

/// Tetrahedra around one edge: as many colours as nodes, more than are probed at a time.
#[test]
fn the_matrix_of_many_colours_has_the_products() {
    let (host, around) = (Host::with_threads(2).unwrap(), 100_u32);
    let rim =
        (0..around).map(|n| (f64::from(n) / f64::from(around) * std::f64::consts::TAU).sin_cos());
    let mut coordinates = vec![[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]];
    coordinates.extend(rim.map(|(y, x)| [8.0 * x, 8.0 * y, 0.0]));
    let nodes = (0..around).flat_map(|n| [0, 1, 2 + n, 2 + (n + 1) % around]);
    let mesh = Mesh {
        coordinates,
        blocks: vec![CellBlock {
            cell_type: CellType::TET4,
            nodes: nodes.collect(),
            tags: vec![0; around as usize],
        }],
        ..Mesh::default()
    };
    let blocks = blocks(&mesh, 1, 3);
    let Block { space, geometry } = &blocks[0];
    let form = LinearElasticity::<3>::from_young(1.0, 0.3);
    let operator = Operator::new(&host, space, geometry, &form, OperatorParams::default());
    let constraints = Constraints::of_entries(vec![4, 7]);
    the_matrix_has_the_products(&hierarchy::ConstrainedLevel {
        operator: operator.unwrap(),
        projector: Projector::new(&host, &constraints).unwrap(),
        constraints,
        blocks,
    });
}

/// On one box the model is the operator, whatever the strengths of its axes, and its inverse is exact.
#[test]
fn schwarz_is_exact_on_one_box() {
    let host = Host::with_threads(2).unwrap();
    for (cell, dim) in [(Cell::Quadrilateral, 2), (Cell::Hexahedron, 3)] {
        let mesh = AnyBox {
            upper: [2.0, 0.3, 0.7][..dim].to_vec(),
            ..AnyBox::unit(cell, 1)
        };
        let mesh = mesh.build(|x| x).unwrap();
        let level = |degree: usize, components: usize| {
            let blocks = blocks(&mesh, degree, components);
            let Block { space, geometry } = &blocks[0];
            // Different on every axis of every component.
            let params = OperatorParams::default();
            let operator = match dim {
                2 => Operator::new(&host, space, geometry, &Layered::<2>, params),
                _ => Operator::new(&host, space, geometry, &Layered::<3>, params),
            };
            let tags = [("xmax", &[0][..]), ("ymin", &[1][..])];
            let constraints = Constraints::of_blocks(&blocks, &tags).unwrap();
            FormLevel {
                constraints,
                operator: operator.unwrap(),
                blocks,
            }
        };
        let levels = vec![level(4, 2), level(1, 2)];
        let params = (MultigridParams::default(), false);
        let hierarchy = Hierarchy::<f64, _>::new(&host, levels, params).unwrap();
        let [fine, base] = &hierarchy.levels[..] else {
            panic!("two levels")
        };
        let mut diagonal = host.zeros(fine.size()).unwrap();
        fine.operator.diagonal(&mut diagonal).unwrap();
        let strengths = schwarz::Strengths::new(base).unwrap().unwrap();
        assert!(strengths.stretched());
        let schwarz = strengths.schwarz(fine, &diagonal).unwrap();
        let mut x = host.upload(&randoms(8, fine.size())).unwrap();
        fine.hold(&mut x).unwrap();
        let mut product = host.zeros(fine.size()).unwrap();
        fine.apply(&x, &mut product).unwrap();
        let mut elements = host.upload(&vec![f64::NAN; schwarz.scratch()]).unwrap();
        let mut found = host.upload(&vec![f64::NAN; fine.size()]).unwrap();
        schwarz.apply(&product, &mut elements, &mut found).unwrap();
        let worst = found.iter().zip(&*x).map(|(a, b)| (a - b).abs());
        let worst = worst.fold(0.0, f64::max);
        assert!(worst < 1e-11, "{cell:?}: {worst:.1e}");
    }
}

/// -Σ_a ∂_a (s_a ∂_a u) + λ u with other s, λ for each component.
#[derive(Clone)]
struct Layered<const D: usize>;

impl<const D: usize> Form<D, 2> for Layered<D> {
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, 2>) -> [S; 2] {
        [point.u[0] * 3.0, point.u[1] * 5.0]
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, 2>) -> [[S; D]; 2] {
        let mut flux = point.grad_u;
        for (c, flux) in flux.iter_mut().enumerate() {
            for (a, flux) in flux.iter_mut().enumerate() {
                *flux = *flux * (1.0 + a as f64 + 10.0 * c as f64);
            }
        }
        flux
    }
}

/// The next level has the functions: T times the coarse ones gives the fine ones.
#[test]
fn tentative_prolongation_keeps_rigid_motions() {
    let mesh = mesh(Cell::Tetrahedron);
    let blocks = blocks(&mesh, 1, 3);
    let positions = Block::node_positions(&blocks);
    let mut is_held = vec![false; blocks[0].space.dofs()];
    is_held[..9].fill(true);
    let kernel = NearKernel::new(&is_held, 3, Some(&positions));
    // A chain of nodes.
    let len = is_held.len();
    let chain = crate::vector::Csr::by_rows((len, len), |row, entries| {
        let near = row.saturating_sub(3)..(row + 4).min(len);
        let entry = |column| if column == row { 6.0 } else { -1.0 };
        entries.extend(near.map(|column| (column as u32, entry(column))));
    });
    let aggregates = aggregates::Aggregates::new(&chain, &kernel);
    let (tentative, coarse) = kernel.tentative(&aggregates);
    assert!(aggregates.count * 2 < positions.len());
    for row in 0..len {
        for mode in 0..6 {
            let terms = tentative.row(row);
            let found: f64 = terms
                .map(|(column, t)| t * coarse.values[column as usize * 6 + mode])
                .sum();
            let wanted = kernel.values[row * 6 + mode];
            assert!(
                (found - wanted).abs() < 1e-12,
                "row {row}, mode {mode}: {found} {wanted}"
            );
        }
    }
}
