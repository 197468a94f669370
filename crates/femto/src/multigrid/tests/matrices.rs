//! Matrices of operators, and tentative prolongations.

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
        // Rows of a node have whole blocks in common.
        let components = blocks[0].space.components();
        let columns = matrix.row_columns(row);
        assert_eq!(columns, matrix.row_columns(row - row % components));
        for block in columns.chunks(components) {
            let first = block[0] - block[0] % components as u32;
            assert!(block.iter().copied().eq(first..first + components as u32));
        }
        if is_held[row] {
            let entries = matrix.row(row).filter(|entry| entry.1 != 0.0);
            let entries: Vec<(u32, f64)> = entries.collect();
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
        coordinates: coordinates.into(),
        blocks: vec![CellBlock {
            cell_type: CellType::TET4,
            nodes: nodes.collect(),
            tags: vec![0; around as usize],
        }],
        ..Mesh::default()
    };
    // A node wholly, another in part.
    let constraints = |_: &[Block]| Constraints::of_entries(vec![4, 9, 10, 11]);
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
        let node = row / 3;
        let near = node.saturating_sub(1) * 3..(node * 3 + 6).min(len);
        let entry = |column: usize| match column.abs_diff(row) {
            0 => 6.0,
            distance => -f64::from(u8::from(distance <= 3)),
        };
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
