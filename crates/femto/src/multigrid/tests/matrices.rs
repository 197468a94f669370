//! Matrices of operators, models of elements and tentative prolongations.

use super::*;

/// The matrix times a random vector is the operator's product with it.
fn the_matrix_has_the_products(level: &hierarchy::ConstrainedLevel<f64, Host>) {
    let (blocks, is_held) = (&level.blocks, level.is_held());
    let (host, len) = (level.operator.device(), is_held.len());
    let matrix = level.matrix().unwrap();
    let free = matrix.diagonal().into_iter().zip(&is_held);
    let free: Vec<f64> = free.filter(|it| !it.1).map(|it| it.0).collect();
    let typical = free.iter().sum::<f64>() / free.len() as f64;
    let mut x = host.upload(&randoms(7, len)).unwrap();
    level.hold(&mut x).unwrap();
    let mut wanted = host.zeros(len).unwrap();
    level.apply(&x, &mut wanted).unwrap();
    let product = matrix.product(&x);
    for (row, (&wanted, found)) in wanted.iter().zip(product).enumerate() {
        assert!(
            (found - wanted).abs() < 1e-13,
            "{:?} row {row}: {found} {wanted}",
            blocks[0].space.cell()
        );
        if is_held[row] {
            let entries: Vec<(u32, f64)> = matrix.row(row).collect();
            assert_eq!(entries, [(row as u32, typical)]);
        }
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

/// Tetrahedra around one edge, whose nodes have all others beside them.
#[test]
fn the_matrix_of_many_neighbours_has_the_products() {
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
    let constraints = |_: &[Block]| Constraints::of_entries(vec![4, 7]);
    the_matrix_has_the_products(&elastic(&host, &mesh, constraints));
}

/// Sliding along slanted planes, of which two meet in edges.
#[test]
fn the_matrix_between_slanted_planes_has_the_products() {
    let host = Host::with_threads(2).unwrap();
    let level = elastic(&host, &mesh(Cell::Hexahedron), |blocks| {
        let held = Constraints::of_blocks(blocks, &[("zmin", [0])]).unwrap();
        held.with_normals(blocks, &["xmax", "ymin"]).unwrap()
    });
    assert!(level.constraints.slanted().nodes.len() > 20);
    the_matrix_has_the_products(&level);
    // Directions that are held have an entry too: it is positive definite.
    dense::inverse(&level.matrix().unwrap()).unwrap();
}

fn elastic(
    host: &Host,
    mesh: &Mesh,
    constraints: impl FnOnce(&[Block]) -> Constraints,
) -> hierarchy::ConstrainedLevel<f64, Host> {
    let blocks = blocks(mesh, 1, 3);
    let Block { space, geometry } = &blocks[0];
    let form = LinearElasticity::<3>::from_young(1.0, 0.3);
    let operator = Operator::new(host, space, geometry, &form, OperatorParams::default());
    let constraints = constraints(&blocks);
    hierarchy::ConstrainedLevel {
        operator: operator.unwrap(),
        projector: Projector::new(host, &constraints).unwrap(),
        constraints,
        blocks,
    }
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
    let strong = aggregates::strong(&chain, &kernel);
    let aggregates = aggregates::Aggregates::new(&strong, &kernel);
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
